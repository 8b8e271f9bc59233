"""An intermediate on Spark or Sail: seconds to bring it here against those of a statement there.

    python benchmarks/fetching.py --remote sail --rows 10000 100000 1000000 5000000

An intermediate has what most have, whole numbers. A statement on it sums one column by another, of
a thousand values, as a search asks of the combinations of a table dozens of times; medians.
"""

import argparse
import statistics
import tempfile
import time

import duckdb
from cores import available, limited
from sqlglot import exp

from sqlanon.engine.open import open_source


def seconds(runs, call, *arguments):
    """The median of some runs, but for a first one."""
    taken = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        call(*arguments)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[1:])


def main():
    """Generates, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--remote", default="sail", help="sail, or local[N] for Spark in Java")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--cores", type=int, default=available())
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    print("| rows | to bring them here | a statement there | statements | a statement here |")
    print("|---|---|---|---|---|")
    with limited(given.cores), tempfile.TemporaryDirectory() as folder:
        duckdb.sql(
            f"SELECT range * 8191 AS code, range % 1000 AS place, range % 7 AS size "
            f"FROM range({max(given.rows)})"
        ).write_parquet(f"{folder}/rows.parquet")
        with open_source(folder, engine="spark", remote=given.remote, local_rows=0) as opened:
            engine = opened.engine
            for rows in given.rows:
                query = exp.select("code", "place", "size").from_(opened.table.copy()).limit(rows)
                table, count = engine.materialize_counted("rows", query)
                assert count == rows
                asked = exp.select("place", exp.Sum(this=exp.column("size"))).group_by("place")
                there = seconds(given.runs, engine.rows, asked.from_(table))
                fetched = seconds(given.runs, lambda t: engine.drop(engine.brought(t)), table)
                here = seconds(given.runs, engine.rows, asked.from_(engine.brought(table)))
                print(
                    f"| {rows:,} | {fetched:.3f} s | {there:.3f} s | {fetched / there:.1f} "
                    f"| {here:.3f} s |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
