"""Greedy covers on public data: what they lose before and after refinement, against the bound.

    python benchmarks/covers.py adult --k 5 50
    python benchmarks/covers.py suppression --k 2 4 8 16 32 64 128
    python benchmarks/covers.py blocks --k 5 50
    python benchmarks/covers.py growth --k 50
    python benchmarks/covers.py wide --k 50
    python benchmarks/covers.py limit --k 5 50
    python benchmarks/covers.py starts --k 5 50

`adult` has nine attributes with their hierarchies and is measured in LM. `suppression` has the same
attributes of both files, suppressed or kept, and counts suppressed cells; beside it stands a greedy
method that takes patterns of kept columns by their number of stars; seconds are of processor time,
mining included. Reads the folder named by SQLANON_DATA, or ../shared/data.
"""

import argparse
import resource
import time
from dataclasses import replace
from itertools import combinations

import duckdb
import numpy as np
from adult import DATA, FOURTEEN, coarse, complete, full
from adult import NINE as COLUMNS
from people import GENERATED, generated

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.methods.clustering.pricing import Mine
from sqlanon.methods.clustering.releases import problem_of
from sqlanon.microdata.binding import bind
from sqlanon.search.clustering.direct_cover import Cheapest, direct_cover
from sqlanon.search.clustering.dual_bound import dual_bound
from sqlanon.search.clustering.reduced_cost_cover import reduced_cost_cover
from sqlanon.search.clustering.refinement import refine as refined
from sqlanon.search.clustering.set_cover import set_cover

ONE, BOTH = ["adult.csv.gz"], ["adult.csv.gz", "adult_test.csv.gz"]
TASKS = "adult", "suppression", "blocks", "growth", "wide", "limit", "starts"
FILES = {task: BOTH if task == "suppression" else ONE for task in TASKS}
LOSS = {"adult": "lm", "suppression": "suppressed-cells"}
BLOCKS = (30_162, 15_000, 7_500, 3_000)
LIMIT = 0.05


def people(connection, task, copies=1, *, most=None):
    first = "" if most is None else f"LIMIT {most * copies}"
    known = " AND ".join(f"{n} <> '?'" for n in ("workclass", "occupation", "native_country"))
    chosen = ", ".join(f"rtrim({name}, '.') AS {name}" for name in COLUMNS)
    connection.execute(
        f"CREATE OR REPLACE TABLE people AS SELECT {chosen} "
        f"FROM read_csv(?, all_varchar = true), range({copies}) WHERE {known} {first}",
        [[str(DATA / name) for name in FILES[task]]],
    )


def policy(task, k):
    def hierarchy(name):
        if task == "suppression":
            return Hierarchy.suppression()
        return full(name)

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


def by_blocks(connection, k, records):
    """Prints what it costs to cover each block on its own."""
    for most in BLOCKS if records is None else (records, records // 2):
        for refine in (False, True):
            start, processor = time.perf_counter(), time.process_time()
            report = sqlanon.plan(
                connection, policy("adult", k), table="people",
                method="direct-cover", loss="lm", refine=refine, block_records=most,
            ).report  # fmt: skip
            print(
                f"k = {k}, blocks of up to {most:,}, refine {refine}: {report.loss['lm']:.6g} in "
                f"{time.perf_counter() - start:.1f} s ({time.process_time() - processor:.1f} s of "
                f"processor time), {report.statistics.classes:,} classes, {report.notes}",
                flush=True,
            )


def by_limit(connection, k, records):
    """Prints what covers lose beside the best full-domain recoding, with a suppression limit."""
    for limit in (0.0, LIMIT):
        asked = replace(policy("adult", k), suppression_limit=limit)
        for method in ("incognito", "direct-cover", "set-cover"):
            start = time.process_time()
            report = sqlanon.plan(
                connection, asked, table="people", method=method, loss="lm"
            ).report
            print(
                f"k = {k}, limit {limit:g}, {method}: {report.loss['lm']:.6g} in "
                f"{time.process_time() - start:.1f} s, {report.suppressed_records:,} suppressed",
                flush=True,
            )


def by_records(connection, k, records):
    """Prints what a cover and its refinement take for more and more records."""
    for copies in (1, 2, 3, 4):
        people(connection, "growth", copies, most=records)
        stages(connection, policy("adult", k), "copied")
    for hierarchies in generated(connection, [records] if records else GENERATED):
        stages(connection, Policy(hierarchies, models=[KAnonymity(k)], others="drop"), "generated")


def stages(connection, policy, name):
    """Prints one row: losses, and what mining, bound, cover and refinement take.

    The seconds are of processor time, but for the last ones: all stages by the clock.
    """
    engine, seconds = DuckDB(connection), [time.process_time()]
    start = time.perf_counter()
    with engine.workspace():
        subject = bind(engine, engine.tables.resolve("people"), policy=policy)
        mine = Mine.of(engine, subject, policy=policy, loss="lm")
        problem = problem_of(mine.read)
        candidates = mine.candidates(problem)
        seconds.append(time.process_time())
        bounds = Cheapest.of(problem, candidates).cost
        seconds.append(time.process_time())
        found = direct_cover(problem, candidates)
        seconds.append(time.process_time())
        better = refined(problem, found, bounds=bounds)
        seconds.append(time.process_time())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    units = int(bounds.sum()), found.loss(problem), better.loss(problem)
    losses = [mine.read.costs.loss(each, problem.records) for each in units]
    cells = (
        name, f"{problem.records:,}", f"{mine.encoded.rows:,}", f"{len(candidates):,}",
        *(f"{own:.4f}" for own in losses), *(f"{own:.1f} s" for own in np.diff(seconds)),
        f"{time.perf_counter() - start:.1f} s", f"{peak:.1f} GB",
    )  # fmt: skip
    print(f"| {' | '.join(cells)} |", flush=True)


def by_start(connection, k, records):
    """Prints what covers lose before and after a refinement of each by itself, by quick prices."""
    engine = DuckDB(connection)
    with engine.workspace():
        subject = bind(engine, engine.tables.resolve("people"), policy=policy("adult", k))
        mine = Mine.of(engine, subject, policy=policy("adult", k), loss="lm")
        problem = problem_of(mine.read)
        candidates = mine.candidates(problem)
    duals = dual_bound(problem, candidates)
    covers = {
        "direct-cover": lambda: direct_cover(problem, candidates),
        "set-cover": lambda: set_cover(problem, candidates)[0],
        "reduced cost": lambda: reduced_cost_cover(problem, candidates, duals=duals),
    }
    for name, cover in covers.items():
        start = time.process_time()
        found = cover()
        middle = time.process_time()
        better = refined(problem, found, bounds=duals.price)
        losses = [
            mine.read.costs.loss(own.loss(problem), problem.records) for own in (found, better)
        ]
        print(
            f"k = {k}, {name}: {losses[0]:.6g} in {middle - start:.1f} s, refined {losses[1]:.6g} "
            f"in {time.process_time() - middle:.1f} s",
            flush=True,
        )


def wide(connection, k, records):
    """Prints what a cover of fourteen attributes takes."""
    complete(connection, FOURTEEN, most=records)
    stages(connection, Policy({n: coarse(n) for n in FOURTEEN}, models=[KAnonymity(k)]), "wide")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=FILES)
    parser.add_argument("--k", type=int, nargs="+", required=True)
    parser.add_argument("--records", type=int, help="only the first of them, and so many made up")
    options = parser.parse_args()
    connection = duckdb.connect(config={"threads": 2})
    people(connection, options.task, most=options.records)
    tables = {
        "blocks": by_blocks, "growth": by_records, "wide": wide, "limit": by_limit,
        "starts": by_start,
    }  # fmt: skip
    printed = tables.get(options.task)
    if printed:
        for k in options.k:
            printed(connection, k, options.records)
        return
    loss = LOSS[options.task]
    for k in options.k:
        if options.task == "suppression":
            print(f"k = {k}: patterns by number of stars {by_patterns(connection, k):,}")
        for method in ("direct-cover", "set-cover"):
            found = {}
            for refine in (False, True):
                start = time.process_time()
                plan = sqlanon.plan(
                    connection, policy(options.task, k), table="people",
                    method=method, loss=loss, refine=refine,
                )  # fmt: skip
                found[refine] = plan.report, time.process_time() - start
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
