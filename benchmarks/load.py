"""How fast rows come in: a million from Python's memory, and compressed files of public data.

Also, how many times as long a check takes where columns are dropped by name, which are hashed to
tell whether persons have several records, as where they are not read.

    python benchmarks/load.py ../shared/data

Prints seconds, medians of five turns; no more than 15 for the rows, 2 for Adult and 10 for the
health survey are what users of a laptop can live with.
"""

import argparse
import gzip
import statistics
import time
from functools import partial
from pathlib import Path

import duckdb

import sqlanon
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.source import open_source
from sqlanon.engine.duckdb.syntax import type_of

ROWS = 1_000_000


def load(rows):
    """Fills a table of two columns from Python's memory."""
    engine = DuckDB(duckdb.connect())
    with engine.workspace():
        columns = {"a": range(rows), "b": ["x", None] * (rows // 2)}
        engine.load_rows("big", columns, {"b": type_of("VARCHAR")})


def read(path):
    """Opens a file, which decides on types by reading all of it."""
    with open_source(path):
        pass


def check(path, **left_out):
    """Checks the first column of a file."""
    sqlanon.check(path, {"k": 1, "quasi_identifiers": {columns_of(path)[0]: {}}, **left_out})


def columns_of(path):
    """The names in the header of a compressed CSV file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.readline().strip().split(",")


def median(turns, work, *arguments):
    """Median seconds of some turns."""
    seconds = []
    for _ in range(turns):
        started = time.perf_counter()
        work(*arguments)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--files", nargs="+", default=["adult", "ihis_like"])
    given = parser.parse_args()
    print(f"{given.rows:,} rows: {median(given.runs, load, given.rows):.2f} s")
    for name in given.files:
        path = given.data / f"{name}.csv.gz"
        unread = median(given.runs, partial(check, others="drop"), path)
        hashed = median(given.runs, partial(check, drop=columns_of(path)[1:]), path)
        print(
            f"{name}: {median(given.runs, read, path):.2f} s; dropped {hashed / unread:.2f} times"
        )


if __name__ == "__main__":
    main()
