"""Large neighbourhood search on public data: what is lost after so many pools, and its ratio.

    python benchmarks/neighbourhoods.py adult --k 5 50 --pools 4000
    python benchmarks/neighbourhoods.py suppression --k 4 32 --pools 4000

The tables are those of `bounds.py`. It begins with the better of two covers, refined; a row has the
seconds of processor time of the search alone, and the ratio to the bound that stands above.
"""

import argparse
import time

import duckdb
from adult import full
from bounds import TABLES, people

from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.methods.clustering.pricing import Mine
from sqlanon.methods.clustering.releases import problem_of
from sqlanon.microdata.binding import bind
from sqlanon.search.clustering.direct_cover import direct_cover
from sqlanon.search.clustering.dual_bound import Ascent, dual_bound
from sqlanon.search.clustering.reduced_cost_cover import reduced_cost_cover
from sqlanon.search.clustering.refinement import refine
from sqlanon.search.clustering.repartition import repartitioned


def searched(connection, task, *, k, pools, effort):
    """Prints what is lost every 250 pools."""
    _, columns, loss = TABLES[task]
    hierarchy = full if task == "adult" else lambda _: Hierarchy.suppression()
    policy = Policy({name: hierarchy(name) for name in columns}, models=[KAnonymity(k)])
    engine = DuckDB(connection)
    with engine.workspace():
        subject = bind(engine, engine.tables.resolve("people"), policy=policy)
        mine = Mine.of(engine, subject, policy=policy, loss=loss)
        problem = problem_of(mine.read)
        candidates = mine.candidates(problem)
    duals = dual_bound(problem, candidates, effort=Ascent[effort.upper()])
    covers = (
        direct_cover(problem, candidates),
        reduced_cost_cover(problem, candidates, duals=duals),
    )
    parts = [refine(problem, cover, bounds=duals.price) for cover in covers]
    before = min(parts, key=lambda each: each.loss(problem))

    def print_row(done, units):
        own = mine.read.costs.loss(units, problem.records)
        print(
            f"| {k} | {done:,} | {own:.6g} | {units / max(duals.total, 1):.4f} | "
            f"{time.process_time() - start:.1f} s |",
            flush=True,
        )

    bound = mine.read.costs.loss(duals.total, problem.records)
    print(f"k = {k}: {problem.records:,} records, at least {bound:.6g}", flush=True)
    start = time.process_time()
    print_row(0, before.loss(problem))
    done = repartitioned(problem, before, price=duals.price, pools=pools, tell=print_row)
    print_row(done.pools, done.clusters.loss(problem))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=TABLES)
    parser.add_argument("--k", type=int, nargs="+", required=True)
    parser.add_argument("--pools", type=int, default=2_000)
    parser.add_argument("--effort", default="full", choices=["quick", "full"])
    parser.add_argument("--records", type=int, help="only the first of them")
    options = parser.parse_args()
    connection = duckdb.connect(config={"threads": 2})
    people(connection, options.task, most=options.records)
    for k in options.k:
        searched(connection, options.task, k=k, pools=options.pools, effort=options.effort)


if __name__ == "__main__":
    main()
