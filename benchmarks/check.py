"""Check of ten million generated people against one GROUP BY of the same run.

    python benchmarks/check.py --records 10000000 --memory-limit 2GB

Prints seconds and ratios: `check` with every figure of two sensitive columns (k, l, t; both have
an order) against a GROUP BY of the quasi-identifiers and these, and with k alone against a GROUP
BY of the quasi-identifiers. Whole processes, so start-up counts.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.demo import census

SENSITIVE = ("diagnosis", "income")


def write(folder, records):
    """The table `people`, and a policy that orders the diagnoses."""
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in census.statements(exp.to_table("people"), records):
            connection.execute(statement.text)
        found = connection.execute("SELECT DISTINCT diagnosis FROM people ORDER BY 1").fetchall()
    order = [value for (value,) in found if value is not None]
    policy = {"quasi_identifiers": list(census.QUASI_IDENTIFIERS)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in policy.items()]
    lines += ["[sensitive]", f"diagnosis = {{ order = {json.dumps(order)} }}", "income = {}"]
    (folder / "sensitive.toml").write_text("\n".join(lines), encoding="utf-8")
    return path


def group_by(path, columns, memory_limit):
    """Seconds of one GROUP BY in a session of its own, the second time."""
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT count(*), min(n) FROM (SELECT count(*) AS n FROM people GROUP BY {names})"
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute(f"SET memory_limit = '{memory_limit}'")
        for _ in range(2):
            started = time.perf_counter()
            connection.execute(query).fetchall()
            seconds = time.perf_counter() - started
    return seconds


def check(path, *options):
    """Seconds of one check, from command to exit."""
    call = [sys.executable, "-c", "from sqlanon.cli import app; app()", "check", str(path)]
    started = time.perf_counter()
    subprocess.run([*call, "people", *options, "--json"], check=True, capture_output=True)
    return time.perf_counter() - started


def main():
    """Generates, measures in turns, prints medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    limit = ["--memory-limit", arguments.memory_limit]
    quasi = census.QUASI_IDENTIFIERS
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), arguments.records)
        for name, columns, options in (
            ("k, l, t", (*quasi, *SENSITIVE), ["--policy", f"{folder}/sensitive.toml"]),
            ("k alone", quasi, ["--qi", ",".join(quasi)]),
        ):
            ratios = []
            for _ in range(arguments.runs):
                base = group_by(path, columns, arguments.memory_limit)
                whole = check(path, *options, *limit)
                ratios.append(whole / base)
                print(f"{name}: GROUP BY {base:.2f} s, check {whole:.2f} s")
            print(f"{name}: {statistics.median(ratios):.2f} times the GROUP BY")


if __name__ == "__main__":
    main()
