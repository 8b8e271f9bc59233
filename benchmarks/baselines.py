"""The algorithms that the covers are measured against, as published: losses and seconds by k.

    python benchmarks/baselines.py adult
    python benchmarks/baselines.py adult --loss monotone-entropy
    python benchmarks/baselines.py nursery
    python benchmarks/baselines.py adult14 --k 100 --records 10000
    python benchmarks/baselines.py attributes
    python benchmarks/baselines.py suppression

`adult` (nine hierarchies), `adult14` (fourteen attributes, their coarsest levels) and `nursery` are
figures 9.1 to 9.6 of Kenig 2009, `attributes` is figure 9.4: the seconds of a cover by number of
attributes, and of suppression alone. `suppression` is figure 12 of Park and Shim 2007: cells of
nine attributes of both files of Adult, suppressed or kept. Nothing is refined unless --refine says
so; seconds are of processor time, mining and neighbours included. Reads the folder named by
SQLANON_DATA, or ../shared/data.
"""

import argparse
import time

import duckdb
from adult import DATA, FOURTEEN, NINE, coarse, complete, full

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy

METHODS = (
    "set-cover", "direct-cover", "agglomerative", "agglomerative-modified", "forest",
    "diameter-cover",
)  # fmt: skip
NURSERY = (
    "parents", "has_nurs", "form", "children", "housing", "finance", "social", "health",
)  # fmt: skip
ELEVEN = tuple(n for n in FOURTEEN if n not in ("fnlwgt", "capital_gain", "capital_loss"))
EIGHT = tuple(n for n in ELEVEN if n not in ("education_num", "hours_per_week", "native_country"))
FIVE = tuple(n for n in EIGHT if n not in ("marital_status", "relationship", "race"))
FIGURE_9, FIGURE_12 = (50, 75, 100, 150, 200), (2, 4, 8, 16, 32, 64, 128)


def taxonomy(name):
    """A column's hierarchy of Nursery; suppression without a file."""
    path = DATA / "nursery_hierarchies" / f"{name}.csv"
    return Hierarchy.from_file(path) if path.exists() else Hierarchy.suppression()


def nursery(connection, names, *, most=None):
    """Creates the table of Nursery's records, or of the first."""
    first = "" if most is None else f"LIMIT {most}"
    connection.execute(
        f"CREATE OR REPLACE TABLE people AS SELECT {', '.join(names)} "
        f"FROM read_csv(?, all_varchar = true) {first}",
        [str(DATA / "nursery.csv.gz")],
    )


def both(connection, names, *, most=None):
    """Creates the table of the complete records of both files of Adult."""
    complete(connection, names, most=most)
    known = " AND ".join(f"{n} <> '?'" for n in ("workclass", "occupation", "native_country"))
    chosen = ", ".join(f"rtrim({name}, '.') AS {name}" for name in names)
    if most is None:
        connection.execute(
            f"INSERT INTO people SELECT {chosen} FROM read_csv(?, all_varchar = true) "
            f"WHERE {known}",
            [str(DATA / "adult_test.csv.gz")],
        )


def suppression(_):
    return Hierarchy.suppression()


TASKS = {
    "adult": (complete, NINE, full, FIGURE_9),
    "adult14": (complete, FOURTEEN, coarse, FIGURE_9),
    "nursery": (nursery, NURSERY, taxonomy, FIGURE_9),
    "suppression": (both, NINE, suppression, FIGURE_12),
}


def row(connection, policy, title, *, method, given):
    """Prints what a method loses and takes."""
    start = time.process_time()
    try:
        report = sqlanon.plan(
            connection, policy, table="people", method=method, loss=given.loss, refine=given.refine
        ).report
    except sqlanon.SqlanonError as error:
        print(f"| {title} | {method} | {error} |", flush=True)
        return
    seconds, loss = time.process_time() - start, report.loss[given.loss.replace("-", "_")]
    figures = f"{loss:,.0f}" if given.loss == "suppressed-cells" else f"{loss:.4f}"
    print(
        f"| {title} | {method} | {figures} | {loss / report.lower_bound:.2f} | "
        f"{report.statistics.classes:,} | {report.statistics.largest:,} | {seconds:.1f} s |",
        flush=True,
    )


def by_k(connection, given):
    """Every method for every k."""
    make, names, hierarchy, sizes = TASKS[given.task]
    make(connection, names, most=given.records)
    for k in given.k or sizes:
        policy = Policy({name: hierarchy(name) for name in names}, models=[KAnonymity(k)])
        for method in given.methods:
            row(connection, policy, f"{k}", method=method, given=given)


def by_attributes(connection, given):
    """A cover by number of attributes, and of suppression alone."""
    cases = [(names, coarse) for names in (FOURTEEN, ELEVEN, EIGHT, FIVE)]
    for names, hierarchy in [*cases, (FOURTEEN, suppression)]:
        complete(connection, names, most=given.records)
        title = f"{len(names)} {'flat' if hierarchy is suppression else 'attributes'}"
        for k in given.k or FIGURE_9:
            policy = Policy({name: hierarchy(name) for name in names}, models=[KAnonymity(k)])
            for method in given.methods:
                row(connection, policy, f"{title}, {k}", method=method, given=given)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=[*TASKS, "attributes"])
    parser.add_argument("--k", type=int, nargs="+")
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--loss")
    parser.add_argument("--records", type=int, help="only the first of them")
    parser.add_argument("--refine", action="store_true")
    given = parser.parse_args()
    given.loss = given.loss or ("suppressed-cells" if given.task == "suppression" else "lm")
    given.methods = given.methods or (
        ("set-cover",) if given.task == "attributes" else METHODS
    )  # fmt: skip
    print("| | method | loss | times the bound | classes | largest | processor time |")
    print("|---|---|---|---|---|---|---|")
    connection = duckdb.connect(config={"threads": 2})
    (by_attributes if given.task == "attributes" else by_k)(connection, given)


if __name__ == "__main__":
    main()
