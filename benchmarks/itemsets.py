"""Closed frequent generalized itemsets on public data, against an itemset miner in the same run.

    python benchmarks/itemsets.py adult
    python benchmarks/itemsets.py wide
    python benchmarks/itemsets.py growth

`adult` has nine attributes with their hierarchies, `wide` fourteen. `growth` shows what the cost
grows with: records, which are those of Adult over again or generated people, and attributes.
Reads the folder named by SQLANON_DATA, or ../shared/data. The miner is an FP-growth in C; it gets
each record as a transaction of all nodes above its values, and tells itemsets without their
members.
"""

import argparse
import resource
import sys
import tempfile
import time

import duckdb
import fim
from adult import DATA, FOURTEEN, NINE, coarse, complete, full
from people import GENERATED, generated

from sqlanon import KAnonymity, Policy
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.methods.itemsets import MiningRequest, mined
from sqlanon.microdata.binding import bind
from sqlanon.microdata.encoding import encode_subject

# Kenig 2009, chapter 9: the versions of Adult with fewer attributes.
ELEVEN = tuple(n for n in FOURTEEN if n not in ("fnlwgt", "capital_gain", "capital_loss"))
EIGHT = tuple(n for n in ELEVEN if n not in ("education_num", "hours_per_week", "native_country"))
FIVE = tuple(n for n in EIGHT if n not in ("marital_status", "relationship", "race"))


class Run:
    """One mining, and what it took."""

    def __init__(self, connection, hierarchies, k):
        engine, policy = DuckDB(connection), Policy(hierarchies, models=[KAnonymity(k)])
        with engine.workspace():
            started = time.perf_counter()
            self.subject = bind(engine, engine.tables.resolve("people"), policy=policy)
            self.encoded = encode_subject(engine, self.subject, policy)
            self.encode = time.perf_counter() - started
            wanted = MiningRequest(k, "closed", self.subject.low, self.subject.high)
            started, processor = time.perf_counter(), time.process_time()
            self.found = mined(engine, self.encoded, trees=self.subject.trees, wanted=wanted)
            self.seconds = time.perf_counter() - started
            self.processor = time.process_time() - processor
            started = time.perf_counter()
            self.found.fetch(engine)
            self.fetch = time.perf_counter() - started

    def row(self, name):
        """One row of a table in Markdown."""
        cells = (
            name, f"{self.subject.records:,}", f"{self.encoded.rows:,}", f"{self.found.count:,}",
            f"{self.found.memberships:,}", f"{self.seconds:.1f} s", f"{self.processor:.1f} s",
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"

    def line(self):
        """What was found, and what it took."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        return (
            f"{self.subject.records:,} records, {self.encoded.rows:,} combinations: "
            f"{self.found.count:,} itemsets, {self.found.memberships:,} memberships, "
            f"mined in {self.seconds:.2f} s ({self.processor:.2f} s of processor time), "
            f"encoded in {self.encode:.2f} s, fetched in {self.fetch:.2f} s, peak {peak:.2f} GB"
        )


def nodes_above(tree):
    """Per value its nodes below the top: the first leaf and the number of leaves tell them."""
    above = {leaf: set() for leaf in tree.leaves}
    for level, nodes in enumerate(tree.nodes):
        sizes = tree.sizes(level)
        for leaf, node in zip(tree.leaves, nodes, strict=True):
            if sizes[node] < len(tree.leaves):
                above[leaf].add((tree.column, nodes.index(node), sizes[node]))
    return above


def transactions(connection, trees):
    """Each record as the numbers of all nodes above its values but the tops."""
    above, numbers = [nodes_above(tree) for tree in trees], {}
    names = ", ".join(f'"{tree.column}"' for tree in trees)
    return [
        [
            numbers.setdefault(node, len(numbers))
            for nodes, value in zip(above, row, strict=True)
            for node in nodes[value]
        ]
        for row in connection.execute(f"SELECT {names} FROM people").fetchall()
    ]


def against_miner(connection, hierarchies, k, runs):
    """Prints a run, and its ratio to the miner's seconds within it."""
    for _ in range(runs):
        run = Run(connection, hierarchies, k)
        print(f"k = {k}: {run.line()}")
        given = transactions(connection, run.subject.trees)
        started = time.perf_counter()
        sets = fim.fpgrowth(given, target="c", supp=-k, zmin=1, report="a")
        miner = time.perf_counter() - started
        print(f"  miner: {len(sets):,} sets in {miner:.2f} s; {run.seconds / miner:.1f} times")


def main():
    """Prints what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["adult", "wide", "growth"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--records", type=int, help="only the first of them, and so many made up")
    parser.add_argument("--memory-limit", default="4GB")
    arguments = parser.parse_args()
    if not (DATA / "adult.csv.gz").exists():
        sys.exit(f"skipped: {DATA} has no adult.csv.gz; name its folder with SQLANON_DATA")
    with tempfile.TemporaryDirectory() as folder:
        limits = {"memory_limit": arguments.memory_limit, "temp_directory": folder}
        connection = duckdb.connect(config=limits)
        if arguments.what == "adult":
            complete(connection, NINE, most=arguments.records)
            for k in (50, 5):
                against_miner(connection, {name: full(name) for name in NINE}, k, arguments.runs)
        elif arguments.what == "wide":
            complete(connection, FOURTEEN, most=arguments.records)
            hierarchies = {name: coarse(name) for name in FOURTEEN}
            against_miner(connection, hierarchies, 50, arguments.runs)
        else:
            print("| | records | different | itemsets | memberships | mined | processor time |")
            most = arguments.records
            for row in (*by_records(connection, most), *by_attributes(connection, most)):
                print(row, flush=True)
        connection.close()


def by_records(connection, most):
    """The growth with records: the same ones over again, and different people."""
    for copies in (1, 2, 3, 4):
        complete(connection, NINE, copies, most=most)
        yield Run(connection, {name: full(name) for name in NINE}, 50).row("copied")
    for hierarchies in generated(connection, [most] if most else GENERATED):
        yield Run(connection, hierarchies, 50).row("generated")


def by_attributes(connection, most):
    """The growth with attributes, of the same records."""
    for names in (FIVE, EIGHT, ELEVEN, FOURTEEN):
        complete(connection, names, most=most)
        yield Run(connection, {n: coarse(n) for n in names}, 50).row(f"{len(names)} attributes")


if __name__ == "__main__":
    main()
