"""Mondrian against other programs, and against the published table of a comparison.

    python benchmarks/mondrian.py peers --k 5 50
    python benchmarks/mondrian.py table

`peers` needs anonypy and polarfrost (`pip install --no-deps anonypy polarfrost`): the same records,
age as a number and all other columns as categories; the loss of every partition is that of the
closures of its parts in the same hierarchies. What is not installed is left out, with a line.
`table` are the fourteen columns of Adult without fnlwgt, suppression only.
"""

import argparse
import importlib
import importlib.util
import sys
import time
import types
from contextlib import contextmanager

import duckdb
import numpy as np
from adult import FOURTEEN, NINE, complete, full

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.loss.cells import CellCosts
from sqlanon.microdata.binding import bind
from sqlanon.search.clustering.taxonomy import Taxonomy

PUBLISHED = {
    2: (11136, 61), 3: (7306, 61), 4: (5432, 61), 5: (4325, 61), 6: (3597, 61), 7: (3053, 61),
    8: (2663, 61), 9: (2368, 69), 10: (2145, 69), 25: (850, 90), 50: (430, 135), 100: (209, 242),
}  # fmt: skip
"""Classes and the largest one of Mondrian in 004's Table 1."""
NUMBERS = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")


def loss_of(subject, rows, parts):
    """The Loss Metric of parts of rows, each a list of row numbers."""
    weights = [1.0] * len(subject.trees)
    costs = CellCosts.of("lm", subject.trees, weights=weights, records=len(rows))
    total = 0
    for column, tree in enumerate(subject.trees):
        taxonomy = Taxonomy.of(tree, costs.costs[column])
        place = {leaf: number for number, leaf in enumerate(tree.leaves)}
        leaf = np.array([place[str(row[column])] for row in rows])
        for part in parts:
            own = leaf[part]
            node = taxonomy.closure(own.min(keepdims=True), own.max(keepdims=True))[0]
            total += int(taxonomy.cost[node]) * len(own)
    return costs.loss(total, len(rows))


def of_anonypy(frame, k):
    """Its parts, as arrays of row numbers."""
    mondrian = importlib.import_module("anonypy.mondrian")
    found = mondrian.Mondrian(frame, list(frame.columns)).partition(k=k)
    return [part.to_numpy() for part in found]


@contextmanager
def spark_or_nothing():
    """Empty modules in place of pyspark, where it is not installed and only has to be imported."""
    names = ("pyspark", "pyspark.sql", "pyspark.sql.functions")
    if "pyspark" in sys.modules or importlib.util.find_spec("pyspark") is not None:
        yield
        return
    modules = {name: types.ModuleType(name) for name in names}
    modules[names[-1]].pandas_udf = modules[names[-1]].PandasUDFType = None
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]


def of_polarfrost(frame, k):
    """Its parts: rows are told apart by a column that it carries along as the sensitive one."""
    polars = importlib.import_module("polars")
    with spark_or_nothing():
        mondrian = importlib.import_module("polarfrost.mondrian")
    names = [name for name in frame.columns if name != "age"]
    held = polars.from_pandas(frame.astype(dict.fromkeys(names, str)).assign(row=range(len(frame))))
    found = mondrian.mondrian_k_anonymity_polars(held, list(frame.columns), "row", k, names)
    return [np.array(list(map(int, text.split(",")))) for text in found["row"]]


def peers(arguments):
    """Loss and seconds of each program, on the same records."""
    connection = duckdb.connect()
    complete(connection, NINE, most=arguments.records)
    hierarchies = {name: full(name) for name in NINE}
    for k in arguments.k:
        policy = Policy(hierarchies, models=[KAnonymity(k)])
        engine = DuckDB(connection)
        subject = bind(engine, engine.tables.resolve("people"), policy=policy)
        for cuts in ("best", "nodes", "median"):
            started, used = time.perf_counter(), time.process_time()
            report = sqlanon.anonymize(
                connection, policy, table="people", method="mondrian", cuts=cuts, into="released"
            )
            seconds, used = time.perf_counter() - started, time.process_time() - used
            connection.execute("DROP TABLE released")
            print(
                f"k = {k}: sqlanon {cuts}: lm {report.loss['lm']:.4f}, {report.statistics.classes} "
                f"classes, {seconds:.2f} s ({used:.2f} s of processor time), published and checked"
            )
        rows = connection.execute(f"SELECT {', '.join(NINE)} FROM people").fetchall()
        pandas = importlib.import_module("pandas")
        frame = pandas.DataFrame(rows, columns=NINE)
        frame["age"] = frame["age"].astype(int)
        frame = frame.astype({name: "category" for name in NINE if name != "age"})
        for name, parts_of in (("anonypy", of_anonypy), ("polarfrost", of_polarfrost)):
            try:
                started, used = time.perf_counter(), time.process_time()
                parts = parts_of(frame, k)
            except ImportError as error:
                print(f"k = {k}: {name} is left out: {error}")
                continue
            seconds, used = time.perf_counter() - started, time.process_time() - used
            lost = loss_of(subject, rows, parts)
            print(
                f"k = {k}: {name}: lm {lost:.4f}, {len(parts)} parts, {seconds:.2f} s "
                f"({used:.2f} s of processor time), partition alone"
            )


def table(arguments):
    """Classes and the largest of each rule against the published figures."""
    names = [name for name in FOURTEEN if name != "fnlwgt"] + ["income"]
    connection = duckdb.connect()
    complete(connection, names, most=arguments.records)
    for name in NUMBERS:
        connection.execute(f"ALTER TABLE people ALTER {name} TYPE INTEGER")
    print("k: published classes, largest; by rule parts, classes, largest, suppressed cells")
    for k in arguments.k or PUBLISHED:
        shown = []
        for cuts in ("median", "nodes", "best"):
            policy = Policy(
                {name: Hierarchy.suppression() for name in names}, models=[KAnonymity(k)]
            )
            report = sqlanon.plan(
                connection,
                policy,
                table="people",
                method="mondrian",
                cuts=cuts,
                loss="suppressed-cells",
            ).report
            own = report.statistics
            figures = report.search.parts, own.classes, own.largest, report.suppressed_cells
            shown.append(f"{cuts} {figures}")
        print(f"{k}: {PUBLISHED.get(k)}; {'; '.join(shown)}")


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("peers", "table"))
    parser.add_argument("--k", type=int, nargs="+")
    parser.add_argument("--records", type=int)
    arguments = parser.parse_args()
    if arguments.what == "table":
        table(arguments)
        return
    arguments.k = arguments.k or [5, 50]
    peers(arguments)


if __name__ == "__main__":
    main()
