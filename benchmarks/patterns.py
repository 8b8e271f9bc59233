"""Patterns on public data: the published table, and how far it is from the optimum.

    python benchmarks/patterns.py table
    python benchmarks/patterns.py exact --time-limit 60
    python benchmarks/patterns.py models --time-limit 60

Reads the folder named by SQLANON_DATA, or ../shared/data.
"""

import argparse
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import sqlanon
from sqlanon import KAnonymity, LDiversity, Policy, TCloseness
from sqlanon.reports.search import PatternSearch

DATA = Path(os.environ.get("SQLANON_DATA", Path(__file__).parent.parent.parent / "shared/data"))
ADULT = DATA / "adult.csv.gz"
NINE = [
    "age",
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "race",
    "sex",
    "native_country",
    "income",
]
ALL = [
    *NINE[:3],
    "education_num",
    *NINE[3:5],
    "relationship",
    *NINE[5:7],
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    *NINE[7:],
]
KS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 25, 50, 75, 100)


def seconds_used():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(arguments):
    """Table 1 of Bredereck, Nichterlein, Niedermeier 2013, each k in a process of its own."""
    for k in arguments.k:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", "from sqlanon.cli import app; app()", "anonymize"]
            command += [str(ADULT), "--qi", ",".join(ALL), "--drop", "fnlwgt", "--k", str(k)]
            command += ["--method", "pattern-greedy", "--patterns", "all", "--json"]
            command += ["--output", f"{folder}/out.parquet"]
            started, used = time.perf_counter(), seconds_used()
            result = subprocess.run(command, capture_output=True, check=True, text=True)
            whole = time.perf_counter() - started
        document = json.loads(result.stdout)
        found = document["search"]
        print(
            f"k={k}: {found['clusters']} types, average {found['average_cluster']:.3f}, maximum "
            f"{found['maximum_cluster']}, left over {found['left_over']}; "
            f"usefulness {found['usefulness_of_values']:.3f}; search "
            f"{document['seconds']['search']:.2f} s, whole {whole:.2f} s, "
            f"processor {seconds_used() - used:.2f} s",
            flush=True,
        )


def sample(connection, rows):
    """Distinct rows of nine columns, drawn with a seed."""
    columns = ", ".join(NINE)
    found = connection.execute(
        f"SELECT DISTINCT {columns} FROM read_csv('{ADULT}') ORDER BY ALL"
    ).fetchall()
    drawn = random.Random(0).sample(found, rows)
    connection.execute(f"CREATE TABLE drawn AS SELECT {columns} FROM read_csv('{ADULT}') LIMIT 0")
    connection.executemany(f"INSERT INTO drawn VALUES ({', '.join('?' * len(NINE))})", drawn)


def drawn_patterns(names):
    """Nineteen patterns drawn with a seed, and full suppression last."""
    every = [c for width in range(1, len(names)) for c in itertools.combinations(names, width)]
    return [*map(list, random.Random(0).sample(every, 19)), ["none"]]


def compare(connection, policy, patterns, arguments):
    """The heuristic and the optimum by one policy, a line each."""
    for method in ("pattern-greedy", "pattern-exact"):
        report = sqlanon.plan(
            connection,
            policy,
            table="drawn",
            method=method,
            patterns=patterns,
            loss="suppressed-cells",
            time_limit=arguments.time_limit if method == "pattern-exact" else None,
        ).report
        models = ", ".join(result.model for result in report.models)
        search = report.search
        ended = "out of time, before patterns were tried"
        if isinstance(search, PatternSearch):
            ended = f"gap {search.gap}, left over {search.left_over}"
        print(
            f"k={policy.k}, {models}, {method}: {report.loss['suppressed_cells']:,.0f} suppressed "
            f"cells, at least {report.lower_bound}, {ended}, "
            f"search {report.seconds['search']:.2f} s",
            flush=True,
        )


def exact(arguments):
    """The heuristic against the optimum by 20 patterns."""
    connection = duckdb.connect()
    sample(connection, arguments.rows or 2000)
    for k in (3, 5, 10):
        policy = Policy(NINE, models=[KAnonymity(k)])
        compare(connection, policy, drawn_patterns(NINE), arguments)


def models(arguments):
    """The same under models of occupation, on fewer records."""
    connection = duckdb.connect()
    sample(connection, arguments.rows or 200)
    others = [name for name in NINE if name != "occupation"]
    for model in (
        LDiversity(3),
        LDiversity(2, "entropy"),
        LDiversity(3, "recursive", c=2.0),
        TCloseness(0.5),
    ):
        policy = Policy(others, ["occupation"], models=[KAnonymity(3), model])
        compare(connection, policy, drawn_patterns(others), arguments)


def main():
    """Runs one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["table", "exact", "models"])
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--k", type=int, nargs="+", default=KS, help="of the table")
    parser.add_argument("--rows", type=int, help="of exact and models")
    arguments = parser.parse_args()
    {"table": table, "exact": exact, "models": models}[arguments.what](arguments)


if __name__ == "__main__":
    main()
