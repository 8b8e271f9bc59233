"""Annealing and partial domain: what Khaitan's algorithms gain, and what that costs.

    python benchmarks/annealing.py gains --table students
    python benchmarks/annealing.py gains --table adult --k 10
    python benchmarks/annealing.py losses --k 10 --records 10000
    python benchmarks/annealing.py partial --k 5 50

`gains` draws figures 3 to 5 of Khaitan, Babu, Jena and Majhi as tables: clusters of k records are
annealed for more and more iterations towards an entropy that none can reach, or a distance of 0,
and the gain is that of the mean over the clusters. E(v) is the tree measure over the purity gained.
`losses` compares what models lose under `--improve anneal` and without it. `partial` compares E and
the tree measure of the best full-domain node by E with those of `partial-domain`. Seconds are of
processor time. Students are made up; Adult is read from the folder named by SQLANON_DATA, or
../shared/data, with its occupation as the sensitive attribute.
"""

import argparse
import math
import time
from dataclasses import replace

import duckdb
import numpy as np
from adult import NINE, complete, full

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, TCloseness
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.methods.clustering.releases import problem_of
from sqlanon.methods.local import encode_records
from sqlanon.methods.options import PASSES
from sqlanon.methods.registry import Options
from sqlanon.microdata.binding import bind
from sqlanon.microdata.sensitive import resolved_sensitive
from sqlanon.policy.policy import Sensitive
from sqlanon.search.clustering.annealing import anneal, states
from sqlanon.search.clustering.clustering_problem import Clustering, records_of
from sqlanon.search.clustering.effort import Schedule
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.refinement import refine

GRADES = ["A", "B", "C", "D", "P", "F"]
STUDENTS = """
    CREATE OR REPLACE TABLE people AS
    WITH drawn AS (
        SELECT range AS student, hash(range, 1) % 1000 AS a, hash(range, 2) % 1000 AS b,
            hash(range, 3) % 1000 AS c, hash(range, 4) % 1000 AS d, hash(range, 5) % 1000 AS e
        FROM range({records})
    )
    SELECT (17 + a * a // 90000)::INTEGER AS age, if(b < 480, 'f', 'm') AS sex,
        'D' || lpad((c * c // 41000)::VARCHAR, 2, '0') AS department,
        'T' || lpad((d * d * d // 25000000)::VARCHAR, 2, '0') AS town, (1 + c % 4)::INTEGER AS year,
        ['A', 'B', 'C', 'D', 'P', 'F'][1 + least(5, e * (500 + c) // 250000)::INTEGER] AS grade
    FROM drawn
"""
"""Students whose grades are better in the departments that more of them are in."""
STEPS = (0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Iterations for each record."""


def table(connection, name, records):
    """Creates a table; its hierarchies and its sensitive attribute with the order of its values."""
    if name == "students":
        connection.execute(STUDENTS.format(records=records or 5_000))
        hierarchies = {
            "age": Hierarchy.intervals(2, 4, 8), "sex": Hierarchy.suppression(),
            "department": Hierarchy.prefix(2, 1), "town": Hierarchy.prefix(2, 1),
            "year": Hierarchy.intervals(2),
        }  # fmt: skip
        return hierarchies, {"grade": Sensitive(order=GRADES)}
    complete(connection, NINE, most=records)
    hierarchies = {each: full(each) for each in NINE if each != "occupation"}
    found = connection.execute("SELECT DISTINCT occupation FROM people ORDER BY ALL").fetchall()
    return hierarchies, {"occupation": Sensitive(order=[each for (each,) in found])}


def read(connection, policy, loss):
    """A table in codes, and the problem of clustering it."""
    engine = DuckDB(connection)
    with engine.workspace():
        bound = replace(policy, sensitive=resolved_sensitive(engine, policy))
        subject = bind(engine, engine.tables.resolve("people"), policy=bound)
        encoded = encode_records(engine, subject, policy=bound, loss=loss)
        return encoded, problem_of(encoded)


def utility(problem, encoded, label):
    """E(v): the tree measure over what the purity of the clusters gains."""
    demand = problem.demand.every[0]
    values = problem.demand.values[:, 0]
    purity = sum(
        (np.bincount(values[records]) ** 2).sum() / len(records) for records in records_of(label)
    )
    gain = purity / problem.records - (demand.shares**2).sum()
    alone = replace(problem, demand=None)
    cost = Clustering.of(alone, label).loss(alone)
    return encoded.costs.loss(cost, problem.records) / gain


def gains(connection, given):
    """Prints a row for each number of iterations."""
    hierarchies, sensitive = table(connection, given.table, given.records)
    values = len(next(iter(sensitive.values())).order)
    for model in (LDiversity(values, "entropy"), TCloseness(0.0, "ordered")):
        policy = Policy(
            hierarchies, sensitive=sensitive, models=[KAnonymity(given.k[0]), model], others="drop"
        )
        encoded, problem = read(connection, policy, "tree")
        alone = replace(problem, demand=None)
        first = refine(alone, cut_clusters(alone))
        (before,) = states(problem.demand, first.label)
        start = math.log(before.mean) if model.family == "l" else before.mean
        print(
            f"{given.table}, k = {given.k[0]}: {len(first.sizes):,} clusters, mean "
            f"{'entropy' if model.family == 'l' else 'distance'} {start:.4f}, "
            f"E {utility(problem, encoded, first.label):.4f}"
        )
        for step in STEPS[1:]:
            iterations = round(step * problem.records)
            cells = [f"{iterations:,}"]
            for weight in (0.0, 1.0):
                began = time.process_time()
                schedule = Schedule(iterations, weight=weight)
                found = anneal(alone, problem.demand, label=first.label, schedule=schedule)
                seconds = time.process_time() - began
                (after,) = states(problem.demand, found.label)
                now = math.log(after.mean) if model.family == "l" else after.mean
                cells += [
                    f"{abs(now / start - 1):.1%}",
                    f"{utility(problem, encoded, found.label):.3f}", f"{seconds:.1f} s",
                ]  # fmt: skip
            print(f"| {' | '.join(cells)} |", flush=True)


def losses(connection, given):
    """Prints what models lose with annealing and without it."""
    hierarchies, sensitive = table(connection, given.table, given.records)
    models = (LDiversity(4, "entropy"), TCloseness(0.4), TCloseness(0.2, "ordered"))
    for k in given.k:
        for model in models:
            policy = Policy(
                hierarchies, sensitive=sensitive, models=[KAnonymity(k), model], others="drop"
            )
            for weight in (0.0, 1.0):
                began = time.process_time()
                report = sqlanon.plan(
                    connection, policy, table="people",
                    method=given.method, improve="anneal", loss_weight=weight,
                    passes=given.passes,
                ).report  # fmt: skip
                annealing = report.search.annealing
                (state,), loss = annealing.models, annealing.loss
                cells = (
                    f"{k}", model.describe(), f"{weight:g}",
                    f"{state.before.failing:,} of {state.clusters:,}",
                    f"{state.after.failing:,}", f"{loss.clusters_of_k:.4f}",
                    f"{loss.annealed:.4f}", f"{loss.ordinary:.4f}",
                    f"{time.process_time() - began:.0f} s",
                )  # fmt: skip
                print(f"| {' | '.join(cells)} |", flush=True)


def partial(connection, given):
    """Prints E of the best node of the full domain and of groups with nodes of their own."""
    hierarchies, sensitive = table(connection, given.table, given.records)
    ways = (
        {"method": "incognito", "loss": "utility"},
        {"method": "partial-domain", "loss": "tree", "refine": False},
        {"method": "partial-domain", "loss": "tree"},
    )
    for k in given.k:
        policy = Policy(hierarchies, sensitive=sensitive, models=[KAnonymity(k)], others="drop")
        for way in ways:
            began = time.process_time()
            report = sqlanon.plan(connection, policy, table="people", **way).report
            name = way["method"] + (", refined" if way.get("refine", way["loss"] == "tree") else "")
            cells = (
                f"{k}", name, f"{report.loss['utility']:.3f}", f"{report.loss['tree']:.4f}",
                f"{report.loss['purity_gain']:.4f}", f"{report.loss['lm']:.4f}",
                f"{report.statistics.classes:,}", f"{time.process_time() - began:.1f} s",
            )  # fmt: skip
            print(f"| {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("gains", "losses", "partial"))
    parser.add_argument("--table", choices=("students", "adult"), default="adult")
    parser.add_argument("--k", type=int, nargs="+", default=[10])
    parser.add_argument("--records", type=int, help="only the first of them, and so many made up")
    parser.add_argument("--method", default="direct-cover")
    parser.add_argument("--passes", type=int, default=PASSES, help="of refinement")
    given = parser.parse_args()
    Options.of(given.method)
    connection = duckdb.connect(config={"threads": 2})
    {"gains": gains, "losses": losses, "partial": partial}[given.task](connection, given)


if __name__ == "__main__":
    main()
