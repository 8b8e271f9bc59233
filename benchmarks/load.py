"""How fast rows come in: a million from Python's memory, and compressed files of public data.

    python benchmarks/load.py ../shared/data

Prints seconds, medians of five turns; no more than 15 for the rows, 2 for Adult and 10 for the
health survey are what users of a laptop can live with.
"""

import argparse
import statistics
import time
from pathlib import Path

import duckdb

from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.source import open_source
from sqlanon.engine.duckdb.syntax import type_of

ROWS = 1_000_000


def load():
    """Fills a table of two columns from Python's memory."""
    engine = DuckDB(duckdb.connect())
    with engine.workspace():
        columns = {"a": range(ROWS), "b": ["x", None] * (ROWS // 2)}
        engine.load_rows("big", columns, {"b": type_of("VARCHAR")})


def read(path):
    """Opens a file, which decides on types by reading all of it."""
    with open_source(path):
        pass


def median(work, *arguments):
    """Median seconds of five turns."""
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        work(*arguments)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    folder = parser.parse_args().data
    print(f"{ROWS:,} rows: {median(load):.2f} s")
    for name in ("adult", "ihis_like"):
        print(f"{name}: {median(read, folder / f'{name}.csv.gz'):.2f} s")


if __name__ == "__main__":
    main()
