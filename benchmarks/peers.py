"""Distributed Mondrians of others beside sqlanon's: loss and seconds on the same rows and cores.

    PYTHONPATH=FOLDER python benchmarks/peers.py --records 20000 --k 5 --cores 2

FOLDER has polarfrost, and what mosaicrown needs (`pip install --no-deps --target FOLDER polarfrost
binpacking scipy`), and the files of `distributed/mondrian` of github.com/mosaicrown/mondrian in
`FOLDER/mosaicrown`. Each tool works in this process, which the system keeps to its cores, without a
cluster; no function of theirs is changed, but not all are called:

- mosaicrown: `partition_dataframe` with its `norm_span` and `is_k_anonymous`, as its job does for
  `fragmentation: mondrian`: first into as many fragments as there are cores, then each fragment by
  itself, here one after the other where Spark would do them side by side. Here, too, the spans of
  the whole table are worked out, for which it asks Spark. It writes no labels: with pandas 3 its
  code cannot put a text in the place of a number.
- polarfrost: `mondrian_k_anonymity_polars`. Row numbers stand in the place of its sensitive column,
  so that it names the rows of its classes. It halves the values of a category in an order that
  Polars leaves open, so that another version may come to another loss. On Spark it cuts the whole
  table in one task, and categories by another rule, which is not measured.
- sqlanon: all of `anonymize`, from the frame to the checked frame.

Loss is the mean over cells of (values that a class has, less one) / (values that there are, less
one), of numbers by range, computed from the original values of each class, labels aside.
"""

import argparse
import contextlib
import functools
import io
import os
import sys
import time

import duckdb
from cores import available, limited
from sqlglot import exp

import sqlanon
from sqlanon.demo import census

NUMBERS = ["age"]
TEXTS = ["education", "marital_status", "sex"]
NAMES = [*NUMBERS, *TEXTS]


def loss_of(frame, classes):
    """The loss of classes, each a list of row numbers."""
    total = 0.0
    for name in NAMES:
        column = frame[name].to_numpy()
        for rows in classes:
            total += len(rows) * (spread(column[rows], name) / spread(column, name))
    return total / (len(frame) * len(NAMES))


def spread(values, name):
    """How many values there are besides one."""
    return values.max() - values.min() if name in NUMBERS else len(set(values)) - 1


def of_sqlanon(frame, k, method):
    """Classes of a release that carries row numbers."""
    numbered = frame.assign(row=range(len(frame)))
    rules = {"age": "intervals:5,10,20,40", **{name: {} for name in TEXTS}}
    policy = {"k": k, "quasi_identifiers": rules, "keep": ["row"]}
    released = sqlanon.anonymize(numbered, policy, method=method)
    return [list(rows) for _, rows in released.groupby(NAMES)["row"]]


def of_mosaicrown(frame, k, cores):
    """Classes of its cuts within fragments."""
    sys.path[:0] = [f"{each}/mosaicrown" for each in sys.path]
    from mondrian import partition_dataframe
    from score import norm_span
    from validation import get_validation_function

    table = frame.astype(dict.fromkeys(TEXTS, "category"))
    spans = {name: spread(table[name].to_numpy(), name) + (name in TEXTS) for name in NAMES}
    score = functools.partial(norm_span, total_spans=spans, categoricals_with_order={})
    valid, fragments = get_validation_function(k, None), [table.index]
    for most in (cores, float("inf")):
        found = []
        for rows in fragments:
            part = table.loc[rows].reset_index(drop=True)
            with contextlib.redirect_stdout(io.StringIO()):
                cut, _ = partition_dataframe(part, NAMES, [], score, valid, k=k, partitions=most)
            found += [rows[each] for each in cut]
        fragments = found
    return [list(rows) for rows in fragments]


def of_polarfrost(frame, k):
    """Classes of its cuts; row numbers are what it takes for sensitive."""
    import polars
    from polarfrost.mondrian import mondrian_k_anonymity_polars

    numbered = polars.from_pandas(frame.assign(row=range(len(frame))))
    found = mondrian_k_anonymity_polars(numbered, NAMES, "row", k, TEXTS)
    return [[int(row) for row in rows.split(",")] for rows in found["row"]]


def processor():
    """Processor seconds of this process and of those that it began and that have ended."""
    return sum(os.times()[:4])


def main():
    """Generates, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--cores", type=int, default=available())
    given = parser.parse_args()
    connection = duckdb.connect()
    for statement in census.statements(exp.to_table("people"), given.records):
        connection.execute(statement.text)
    frame = connection.sql(f"SELECT {', '.join(NAMES)} FROM people").df()
    frame = frame.dropna().reset_index(drop=True)
    frame = frame.astype({"age": int, **dict.fromkeys(TEXTS, object)})
    print(f"{len(frame):,} records, k = {given.k}, {given.cores} cores\n")
    print("| | loss | classes | processor s | s |")
    print("|---|---|---|---|---|")
    tools = {
        "sqlanon mondrian": lambda: of_sqlanon(frame, given.k, "mondrian"),
        "sqlanon anytime": lambda: of_sqlanon(frame, given.k, "anytime"),
        "mosaicrown": lambda: of_mosaicrown(frame, given.k, given.cores),
        "polarfrost": lambda: of_polarfrost(frame, given.k),
    }
    with limited(given.cores):
        for name, tool in tools.items():
            started, clock = processor(), time.perf_counter()
            try:
                found = tool()
            except ImportError:
                print(f"| {name} | not installed | | | |")
                continue
            used, taken = processor() - started, time.perf_counter() - clock
            assert sorted(row for rows in found for row in rows) == list(range(len(frame)))
            assert min(map(len, found)) >= given.k
            print(
                f"| {name} | {loss_of(frame, found):.4f} | {len(found):,} | {used:.1f} "
                f"| {taken:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
