"""Risk by subset of columns on public data: seconds, and the ratio to one GROUP BY.

    python benchmarks/risk.py
    python benchmarks/risk.py --max-columns 5 --every-subset
    python benchmarks/risk.py --growth 15,50,100,150,300 --records 1000
    python benchmarks/risk.py --people 10000000

All 15 columns of Adult, every set of at most so many of them. Reads the folder named by
SQLANON_DATA, or ../shared/data. The ratio is taken within one run: one GROUP BY of all columns of
the same table, as it stands, by the same connection's settings.

With --growth, random tables of so many columns of ten values instead, beside a check of the same.
With --people, so many generated people with survey weights and households: risk without sets of
columns, in processor time of one GROUP BY of its columns.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from sqlglot import exp

import sqlanon
from sqlanon import Policy
from sqlanon.demo import census

DATA = Path(os.environ.get("SQLANON_DATA", Path(__file__).parent.parent.parent / "shared/data"))
ADULT = DATA / "adult.csv.gz"


def timed(action):
    """Seconds that an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def process_seconds(names, options):
    """Seconds of the command as a process of its own, from the compressed file to its exit."""
    call = [sys.executable, "-c", "from sqlanon.cli import app; app()", "risk", str(ADULT)]
    call += ["--qi", ",".join(names), "--json", *options]
    started = time.perf_counter()
    result = subprocess.run(call, check=True, capture_output=True, text=True)
    json.loads(result.stdout)
    return time.perf_counter() - started


def growth(widths, records, runs):
    """Prints how risk and check grow with the number of columns."""
    print(f"{records:,} records\ncolumns  sets looked at  risk [s]  check [s]")
    for width in widths:
        names = [f"c{place}" for place in range(width)]
        cells = ", ".join(f"hash(i, {place}) % 10 AS c{place}" for place in range(width))
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE wide AS SELECT {cells} FROM range({records}) AS r(i)")
            found = [sqlanon.risk(connection, Policy(names), table="wide") for _ in range(runs)]
            checked = [sqlanon.check(connection, Policy(names), table="wide") for _ in range(runs)]
        risk, check = (statistics.median(r.seconds for r in each) for each in (found, checked))
        looked_at = found[0].subsets.looked_at
        print(f"{width:>7}  {looked_at:>14,}  {risk:>8.2f}  {check:>9.2f}", flush=True)


def weighted(records):
    """Prints what risk without sets costs, with weights and households and without."""
    names = ", ".join(f'"{name}"' for name in census.QUASI_IDENTIFIERS)
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(f"{folder}/db") as connection:
        for statement in census.statements(exp.to_table("census"), records):
            connection.execute(statement.text)
        connection.execute(
            "CREATE TABLE people AS SELECT *, rowid // 3 AS household, 10 + hash(rowid) % 90 AS "
            "weight FROM census"
        )

        def processor(action):
            started = time.process_time()
            action()
            return time.process_time() - started

        query = f"SELECT count(*) FROM (SELECT count(*) FROM people GROUP BY {names})"
        group = processor(lambda: connection.execute(query).fetchall())
        print(f"{records:,} people: GROUP BY {group:.1f} s of processor time")
        for asked in ({}, {"weight": "weight"}, {"weight": "weight", "household": "household"}):
            policy = Policy(census.QUASI_IDENTIFIERS, **asked)
            taken = processor(
                lambda policy=policy: sqlanon.risk(
                    connection, policy, table="people", max_columns=0
                )
            )
            print(f"risk with {', '.join(asked) or 'neither'}: {taken:.1f} s = "
                  f"{taken / group:.1f} GROUP BYs", flush=True)  # fmt: skip


def main():
    """Prints medians of the runs asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-columns", type=int)
    parser.add_argument("--every-subset", action="store_true")
    parser.add_argument("--identifying", type=float, default=0.05)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--growth", metavar="COLUMNS,...")
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--people", type=int)
    arguments = parser.parse_args()
    if arguments.people is not None:
        weighted(arguments.people)
        return
    if arguments.growth:
        widths = [int(width) for width in arguments.growth.split(",")]
        growth(widths, arguments.records, arguments.runs)
        return
    if not ADULT.exists():
        sys.exit(f"skipped: {ADULT} is not there; name its folder with SQLANON_DATA")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS FROM read_csv(?)", [str(ADULT)])
    names = [name for name, *_ in connection.execute("DESCRIBE people").fetchall()]
    query = f"SELECT count(*) FROM (SELECT count(*) FROM people GROUP BY {', '.join(names)})"
    group = statistics.median(
        timed(lambda: connection.execute(query).fetchall()) for _ in range(11)
    )
    asked = {
        "max_columns": arguments.max_columns,
        "every_subset": arguments.every_subset,
        "identifying": arguments.identifying,
    }
    reports, processor = [], []
    for _ in range(arguments.runs):
        started = time.process_time()
        reports.append(sqlanon.risk(connection, Policy(names), table="people", **asked))
        processor.append(time.process_time() - started)
    seconds = statistics.median(report.seconds for report in reports)
    subsets = reports[0].subsets
    print(
        f"{len(names)} columns, sets of up to {subsets.largest}: {subsets.looked_at:,} sets, "
        f"{subsets.search['counted']:,} counted, {subsets.search['rolled_up']:,} rolled up, "
        f"{len(subsets.minimal):,} minimal identifying sets"
    )
    print(
        f"risk {seconds:.2f} s ({statistics.median(processor):.2f} s of processor time) = "
        f"{seconds / group:.0f} GROUP BYs of {group * 1000:.1f} ms, "
        f"{seconds / subsets.search['counted'] / group:.2f} for each set counted"
    )
    options = ["--identifying", str(arguments.identifying)]
    options += [] if arguments.max_columns is None else ["--max-columns", str(subsets.largest)]
    options += ["--every-subset"] if arguments.every_subset else []
    whole = statistics.median(process_seconds(names, options) for _ in range(arguments.runs))
    print(f"whole process {whole:.2f} s")


if __name__ == "__main__":
    main()
