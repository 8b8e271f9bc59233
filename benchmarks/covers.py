"""Greedy covers on public data: what they lose before and after refinement, against the bound.

    python benchmarks/covers.py adult --k 5 50
    python benchmarks/covers.py suppression --k 2 4 8 16 32 64 128

`adult` has nine attributes with their hierarchies and is measured in LM. `suppression` has the same
attributes of both files, suppressed or kept, and counts suppressed cells; beside it stands a greedy
method that takes patterns of kept columns by their number of stars. Reads the folder named by
SQLANON_DATA, or ../shared/data.
"""

import argparse
import os
import time
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy

DATA = Path(os.environ.get("SQLANON_DATA", Path(__file__).parent.parent.parent / "shared/data"))
COLUMNS = (
    "sex", "age", "race", "marital_status", "education", "native_country", "workclass",
    "occupation", "income",
)  # fmt: skip
FILES = {"adult": ["adult.csv.gz"], "suppression": ["adult.csv.gz", "adult_test.csv.gz"]}
LOSS = {"adult": "lm", "suppression": "suppressed-cells"}


def people(connection, task):
    known = " AND ".join(f"{n} <> '?'" for n in ("workclass", "occupation", "native_country"))
    chosen = ", ".join(f"rtrim({name}, '.') AS {name}" for name in COLUMNS)
    connection.execute(
        f"CREATE TABLE people AS SELECT {chosen} FROM read_csv(?, all_varchar = true) "
        f"WHERE {known}",
        [[str(DATA / name) for name in FILES[task]]],
    )


def policy(task, k):
    def hierarchy(name):
        if task == "suppression":
            return Hierarchy.suppression()
        return Hierarchy.from_file(DATA / "adult_hierarchies" / f"{name}.csv")

    return Policy({name: hierarchy(name) for name in COLUMNS}, models=[KAnonymity(k)])


def by_patterns(connection, k):
    """Suppressed cells of a greedy method that takes patterns by number of stars, then in order."""
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM people").fetchall()
    columns = zip(*rows, strict=True)
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in columns], axis=1)
    cells, width = 0, len(COLUMNS)
    for stars in range(width + 1):
        for kept in combinations(range(width), width - stars):
            if not len(codes):
                return cells
            key = np.zeros(len(codes), np.int64)
            for column in kept:
                key = key * 100 + codes[:, column]
            _, group, size = np.unique(key, return_inverse=True, return_counts=True)
            taken = size[group] >= k
            cells += stars * int(taken.sum())
            codes = codes[~taken]
    return cells + width * len(codes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=FILES)
    parser.add_argument("--k", type=int, nargs="+", required=True)
    options = parser.parse_args()
    connection = duckdb.connect(config={"threads": 2})
    people(connection, options.task)
    loss = LOSS[options.task]
    for k in options.k:
        if options.task == "suppression":
            print(f"k = {k}: patterns by number of stars {by_patterns(connection, k):,}")
        for method in ("direct-cover", "set-cover"):
            found = {}
            for refine in (False, True):
                start = time.perf_counter()
                plan = sqlanon.plan(
                    connection, "people", policy(options.task, k),
                    method=method, loss=loss, refine=refine,
                )  # fmt: skip
                found[refine] = plan.report, time.perf_counter() - start
            report, seconds = found[True]
            key = loss.replace("-", "_")
            print(
                f"k = {k}, {method}: {found[False][0].loss[key]:.6g} in {found[False][1]:.1f} s, "
                f"refined {report.loss[key]:.6g} in {seconds:.1f} s, "
                f"bound {report.lower_bound:.6g}",
                flush=True,
            )


if __name__ == "__main__":
    main()
