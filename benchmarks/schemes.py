"""Generalization schemes on Adult: directions, flexibility, quality and prunings.

    python benchmarks/schemes.py direction
    python benchmarks/schemes.py columns
    python benchmarks/schemes.py quality --loss hdm
    python benchmarks/schemes.py prunings --schemes gops gsps

After figures 10 to 13 of Li and Li 2007, "Towards optimal k-anonymization": 30,162 complete
records, age in fifteen intervals of five years, in threes; searches alone, in memory over the
distinct combinations. Reads the folder named by SQLANON_DATA, or ../shared/data.
"""

import argparse
import csv
import time
from dataclasses import dataclass
from fractions import Fraction

import adult
import duckdb
import numpy as np
from prunings import ONE_BY_ONE, Prunings, bottom_up, top_down

from sqlanon.deadline import Deadline
from sqlanon.hierarchy.tree import Tree
from sqlanon.methods.registry import METHODS
from sqlanon.policy.schemes import SCHEMES
from sqlanon.search.lattice.schemes.branch_and_bound import best_recoding
from sqlanon.search.lattice.schemes.domain import Domain
from sqlanon.search.lattice.schemes.scheme_problem import CellPrices, SchemeOutcome, SchemeProblem

COLUMNS = (
    "age", "marital_status", "race", "sex", "workclass", "education", "native_country",
)  # fmt: skip
DIRECTIONS = {"up": bottom_up, "down": top_down}


def by_column(problem, _, *, deadline):
    """The search by column, which is the default; it has no prunings to choose."""
    return best_recoding(problem, deadline=deadline)


SEARCHES = DIRECTIONS | {"columns": by_column}
MIXED = "sps-ordered-age"


@dataclass(frozen=True)
class Ran:
    """A search and the time that it took on one core [seconds]."""

    outcome: SchemeOutcome
    seconds: float

    def told(self, unit):
        """Seconds, recodings and what is proven, as cells of a table."""
        found = self.outcome
        cost = f"{found.value:,}" if unit == 1 else f"{found.value / unit:,.1f}"
        gap = "proven" if found.proven else f"gap {1 - found.bound / max(found.value, 1):.1%}"
        return f"{self.seconds:.2f} s | {found.checked:,} | {cost} | {gap}"


def rows_of(names):
    """The distinct combinations of some columns with their records."""
    connection = duckdb.connect()
    adult.complete(connection, names)
    age = "REPLACE ((least(age::INTEGER, 89) - 15) // 5 AS age)" if "age" in names else ""
    listed = ", ".join(f"{name}::VARCHAR" for name in names)
    found = connection.execute(
        f"SELECT {listed}, count(*) FROM (SELECT * {age} FROM people) GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    connection.close()
    return found


def tree_of(name):
    """The hierarchy of a column."""
    if name == "age":
        return Tree.grow(name, [(str(age), str(age // 3), "*") for age in range(15)])
    path = adult.DATA / "adult_hierarchies" / f"{name}.csv"
    with path.open(encoding="utf-8") as lines:
        return Tree.grow(name, [tuple(row) for row in csv.reader(lines, delimiter=";")])


def schemes_of(scheme, names):
    """The scheme of each column."""
    if scheme == MIXED:
        return ["ops" if name == "age" else "sps" for name in names]
    return [scheme] * len(names)


def problem_of(names, scheme, k, arguments):
    """Adult's columns under schemes."""
    rows, trees = rows_of(names), [tree_of(name) for name in names]
    sizes = np.array([row[-1] for row in rows])
    places = [{leaf: place for place, leaf in enumerate(tree.leaves)} for tree in trees]
    leaves = np.array([[own[row[c]] for c, own in enumerate(places)] for row in rows])
    domains = []
    for column, (tree, own) in enumerate(zip(trees, schemes_of(scheme, names), strict=True)):
        counts = np.bincount(leaves[:, column], sizes, len(tree.leaves)).astype(int)
        domains.append(Domain.of(own, tree, counts.tolist()))
    units = np.stack([d.unit[leaves[:, c]] for c, d in enumerate(domains)], axis=1)
    records, prices = int(sizes.sum()), None
    if arguments.loss != "discernibility":
        shares = [Fraction(1, len(names))] * len(names)
        prices = CellPrices.of(arguments.loss, shares=shares, records=records)
    allowance = int(arguments.limit * records)
    return SchemeProblem(tuple(domains), units, sizes, k, allowance, prices)


def run(search, problem, arguments, prunings=None):
    """One search."""
    started = time.process_time()
    outcome = search(problem, prunings, deadline=Deadline.after(arguments.time_limit))
    return Ran(outcome, time.process_time() - started)


def started(problem, arguments):
    """Prunings that start from what the search by column finds, where that is asked for."""
    if not arguments.start:
        return None
    found = best_recoding(problem, deadline=Deadline.after(arguments.time_limit)).partitions
    return Prunings(start=found)


def unit_of(problem):
    """What a printed cost is counted in: pairs of records, or records that say nothing."""
    return 1 if problem.prices is None else problem.prices.whole


def direction(arguments):
    """Figure 10 (a): bottom-up against top-down by k."""
    print("| scheme | k | direction | search | recodings | cost | | down / up |")
    print("|---|---|---|---|---|---|---|---|")
    for scheme in arguments.schemes:
        for k in arguments.k:
            compare(scheme, k, COLUMNS[: arguments.columns], arguments, k)


def columns(arguments):
    """Figures 10 (b) and 11 (a): bottom-up against top-down by quasi-identifiers."""
    print("| scheme | columns | direction | search | recodings | cost | | down / up |")
    print("|---|---|---|---|---|---|---|---|")
    for scheme in arguments.schemes:
        for number in range(2, arguments.columns + 1):
            for k in arguments.k:
                compare(scheme, k, COLUMNS[:number], arguments, number)


def compare(scheme, k, names, arguments, heading):
    """Both directions of one problem, in turn, and their ratio."""
    problem = problem_of(names, scheme, k, arguments)
    ran = {name: run(search, problem, arguments) for name, search in DIRECTIONS.items()}
    ratio = ran["down"].seconds / ran["up"].seconds
    for name, own in ran.items():
        last = f"{ratio:.2f}" if name == "down" else ""
        print(
            f"| {scheme} | {heading} | {name} | {own.told(unit_of(problem))} | {last} |", flush=True
        )


def quality(arguments):
    """Figures 11 (b) and 12: what flexibility takes and what it saves, by k."""
    print("| k | scheme | search | recodings | cost | | of bhs |")
    print("|---|---|---|---|---|---|---|")
    names = COLUMNS[: arguments.columns]
    for k in arguments.k:
        first = None
        for scheme in arguments.schemes:
            problem = problem_of(names, scheme, k, arguments)
            own = run(SEARCHES[arguments.search], problem, arguments, started(problem, arguments))
            first = first or own.outcome.value
            told = own.told(unit_of(problem))
            print(f"| {k} | {scheme} | {told} | {own.outcome.value / first:.1%} |", flush=True)


def prunings(arguments):
    """Figure 13: each pruning left out by itself, and all but bounds left out."""
    print("| scheme | k | left out | search | recodings | cost | | saved: time | recodings |")
    print("|---|---|---|---|---|---|---|---|---|")
    kinds = {name: Prunings(**{name: False}) for name in ONE_BY_ONE}
    kinds["all of these"] = Prunings(**dict.fromkeys(ONE_BY_ONE, False))
    kinds["none, and 100 random"] = Prunings(random=100)
    for scheme in arguments.schemes:
        for k in arguments.k:
            problem = problem_of(COLUMNS[: arguments.columns], scheme, k, arguments)
            search, unit = SEARCHES[arguments.search], unit_of(problem)
            every = run(search, problem, arguments)
            print(f"| {scheme} | {k} | none | {every.told(unit)} | | |", flush=True)
            if every.outcome.partitions is not None:
                kinds["none, and this result first"] = Prunings(start=every.outcome.partitions)
            for name, left in kinds.items():
                own = run(search, problem, arguments, left)
                saved = 1 - every.seconds / own.seconds
                fewer = 1 - every.outcome.checked / own.outcome.checked
                cells = f"{name} | {own.told(unit)} | {saved:.0%} | {fewer:.0%}"
                print(f"| {scheme} | {k} | {cells} |", flush=True)


TABLES = {
    "direction": (direction, ["ops", MIXED], [2, 5, 10, 20, 50]),
    "columns": (columns, ["ghs", "ops"], [5]),
    "quality": (quality, ["bhs", "ghs", "gops", "ops", "gsps", MIXED], [2, 5, 10, 20, 50]),
    "prunings": (prunings, ["ops", "gsps"], [5]),
}


def main():
    """Prints a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--schemes", nargs="+", choices=[*SCHEMES, MIXED])
    parser.add_argument("--k", nargs="+", type=int)
    parser.add_argument("--columns", type=int, choices=range(1, 8), default=4)
    parser.add_argument("--search", choices=SEARCHES, default="down", help="quality, prunings")
    parser.add_argument("--start", action="store_true", help="quality: from the default's result")
    parser.add_argument("--loss", choices=METHODS["scheme"].losses, default="discernibility")
    parser.add_argument("--limit", type=Fraction, default=Fraction(0), help="share suppressed")
    parser.add_argument("--time-limit", type=float, default=60.0, help="of each search [seconds]")
    arguments = parser.parse_args()
    table, schemes, ks = TABLES[arguments.table]
    arguments.schemes, arguments.k = arguments.schemes or schemes, arguments.k or ks
    table(arguments)


if __name__ == "__main__":
    main()
