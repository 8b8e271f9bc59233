"""Distributed Mondrians of others beside sqlanon's: loss and processor seconds on the same rows.

    PYTHONPATH=FOLDER python benchmarks/peers.py --records 20000 --k 5

FOLDER has polarfrost and binpacking (`pip install --target FOLDER polarfrost binpacking`; without
its NumPy and pandas), and `distributed/mondrian` of github.com/mosaicrown/mondrian as `mosaicrown`.
That one cuts the table by its own rule into as many fragments as there are cores, and each fragment
alone in pandas; polarfrost cuts it in one task. Both take their code as it is, without a cluster.

Loss is the mean over cells of (values that a class has, less one) / (values that there are, less
one), of numbers by range, computed from the original values of each class, labels aside.
"""

import argparse
import contextlib
import functools
import io
import sys
import time

import duckdb
import pandas as pd
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


def of_mosaicrown(frame, k, cores=2):
    """Classes of its cuts within fragments."""
    sys.path[:0] = [f"{each}/mosaicrown" for each in sys.path]
    from mondrian import partition_dataframe

    def valid(_, rows, __):
        return len(rows) >= k

    table = frame.astype(dict.fromkeys(TEXTS, "category"))
    fragments = [table.index]
    for step in (cores, float("inf")):
        found = []
        for rows in fragments:
            part = table.loc[rows].reset_index(drop=True)
            spans = {name: spread(part[name].to_numpy(), name) or 1 for name in NAMES}
            # As its `norm_span`, which needs SciPy beside it.
            score = functools.partial(share, spans=spans)
            with contextlib.redirect_stdout(io.StringIO()):
                cut, _ = partition_dataframe(part, NAMES, [], score, valid, k=k, partitions=step)
            found += [rows[each] for each in cut]
        fragments = found
    return [list(rows) for rows in fragments]


def share(column, spans):
    """Its score of a column of a part: how much of the whole it spans, and how many values."""
    return spread(column.to_numpy(), column.name) / spans[column.name], column.nunique()


def of_polarfrost(frame, k):
    """Its rows are classes; their values come from its own labels."""
    import polars
    from polarfrost.mondrian import mondrian_k_anonymity_polars

    return mondrian_k_anonymity_polars(polars.from_pandas(frame), NAMES, "diagnosis", k, TEXTS)


def loss_of_rows(frame, rows):
    """The loss of polarfrost's rows."""
    total = 0.0
    for row in rows.iter_rows(named=True):
        for name in NAMES:
            if name in NUMBERS:
                low, high = row[name].split("-")
                own = int(high) - int(low)
            else:
                own = len(row[name].split(",")) - 1
            total += row["count"] * own / spread(frame[name].to_numpy(), name)
    return total / (len(frame) * len(NAMES))


def main():
    """Generates, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--k", type=int, default=5)
    given = parser.parse_args()
    connection = duckdb.connect()
    for statement in census.statements(exp.to_table("people"), given.records):
        connection.execute(statement.text)
    frame = connection.sql(f"SELECT {', '.join(NAMES)}, diagnosis FROM people").df()
    frame = frame.dropna().reset_index(drop=True)
    frame = frame.astype({"age": int, **dict.fromkeys(TEXTS, object)})
    print(f"{len(frame):,} records, k = {given.k}\n")
    print("| | loss | classes | processor s | s |")
    print("|---|---|---|---|---|")
    plain = pd.DataFrame(frame[NAMES])
    tools = {
        "sqlanon mondrian": lambda: of_sqlanon(plain, given.k, "mondrian"),
        "sqlanon anytime": lambda: of_sqlanon(plain, given.k, "anytime"),
        "mosaicrown": lambda: of_mosaicrown(plain, given.k),
        "polarfrost": lambda: of_polarfrost(frame, given.k),
    }
    for name, tool in tools.items():
        started, clock = time.process_time(), time.perf_counter()
        try:
            found = tool()
        except ImportError:
            print(f"| {name} | not installed | | | |")
            continue
        used, taken = time.process_time() - started, time.perf_counter() - clock
        if isinstance(found, list):
            assert sorted(row for rows in found for row in rows) == list(range(len(frame)))
            assert min(map(len, found)) >= given.k
        loss = loss_of(frame, found) if isinstance(found, list) else loss_of_rows(frame, found)
        print(f"| {name} | {loss:.4f} | {len(found):,} | {used:.1f} | {taken:.1f} |", flush=True)


if __name__ == "__main__":
    main()
