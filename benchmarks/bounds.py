"""Lower bounds on public data: what they prove, beside the cheapest itemset of each record.

    python benchmarks/bounds.py adult --k 5 50
    python benchmarks/bounds.py suppression --k 4 32
    python benchmarks/bounds.py census --k 10
    python benchmarks/bounds.py adult --k 2 5 10 20 50 100 --plans quick full
    python benchmarks/bounds.py adult --k 5 --plans full --improve 300
    python benchmarks/bounds.py wide --k 50 --plans columns full
    python benchmarks/bounds.py generated --k 5 50 --plans quick full default

`adult` has nine attributes with their hierarchies and is measured in LM. `suppression` has the same
attributes of both files, suppressed or kept, and counts suppressed cells; `census` does so with
nine attributes of Census-Income, 199,523 records; `wide` is Adult with fourteen attributes, in LM;
`generated` are the demo's 20,000 people, in LM, nobody left out.
Seconds are of processor time, mining among them; the first row of each k is the bound of the
cheapest itemsets. With `--plans` the rows are what direct-cover loses by each of these efforts, the
bound and the ratio; `--improve` adds a large neighbourhood search that ends so many seconds after
the start. Reads the folder named by SQLANON_DATA, or ../shared/data.
"""

import argparse
import resource
import time

import duckdb
from adult import DATA, FOURTEEN, NINE, coarse, complete, full
from people import generated

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.demo import census
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.methods.clustering.pricing import Mine
from sqlanon.methods.clustering.releases import problem_of
from sqlanon.microdata.binding import bind
from sqlanon.search.clustering.direct_cover import Cheapest
from sqlanon.search.clustering.dual_bound import Ascent, dual_bound

CENSUS = (
    "sex", "age", "race", "marital_status", "education", "country_of_birth_self",
    "class_of_worker", "major_occupation_code", "income",
)  # fmt: skip
ONE, BOTH = ["adult.csv.gz"], ["adult.csv.gz", "adult_test.csv.gz"]
TABLES = {
    "adult": (ONE, NINE, "lm"),
    "suppression": (BOTH, NINE, "suppressed-cells"),
    "census": (["census_income.csv.gz"], CENSUS, "suppressed-cells"),
    "wide": (ONE, FOURTEEN, "lm"),
    "generated": ([], census.QUASI_IDENTIFIERS, "lm"),
}


def people(connection, task, *, most):
    """Creates the table; Adult without records that miss a value."""
    files, columns, _ = TABLES[task]
    if task == "generated":
        next(iter(generated(connection, [most or 20_000])))
        return
    if task == "wide":
        complete(connection, FOURTEEN, most=most)
        return
    known = " AND ".join(f"{n} <> '?'" for n in ("workclass", "occupation", "native_country"))
    chosen = ", ".join(f"rtrim({name}, '.') AS {name}" for name in columns)
    connection.execute(
        f"CREATE TABLE people AS SELECT {chosen} FROM read_csv(?, all_varchar = true) "
        f"{'' if task == 'census' else f'WHERE {known}'} {'' if most is None else f'LIMIT {most}'}",
        [[str(DATA / name) for name in files]],
    )


def printed(name, loss, seconds, beside):
    """Prints a row."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"| {name} | {loss:.6g} | {seconds:.1f} s | {beside} | {peak:.1f} GB |", flush=True)


def asked(task, k):
    """The policy and the loss."""
    _, columns, loss = TABLES[task]
    own = {"adult": full, "wide": coarse}.get(task, lambda _: Hierarchy.suppression())
    if task == "generated":
        own = next(iter(generated(duckdb.connect(), [census.MIN_HIDDEN]))).__getitem__
    hierarchies = {name: own(name) for name in columns}
    return Policy(hierarchies, models=[KAnonymity(k)], others="drop"), loss


def plans(connection, task, *, k, efforts, improve):
    """Prints what direct-cover loses and proves at one k."""
    policy, loss = asked(task, k)
    ways = [{} if effort == "default" else {"bound": effort} for effort in efforts]
    if improve is not None:
        ways.append(ways[-1] | {"improve": "lns", "time_limit": improve})
    for way in ways:
        start, clock = time.process_time(), time.perf_counter()
        own = {"method": "direct-cover", "loss": loss, **way}
        found = sqlanon.plan(connection, policy, table="people", **own).report
        beside = (
            f"bound {found.lower_bound:.6g} | {found.ratio:.4f} times | "
            f"{time.perf_counter() - clock:.1f} s by the clock"
        )
        name = f"k = {k}, {' '.join(map(str, way.values())) or f'default ({found.search.bound})'}"
        lost = found.loss[loss.replace("-", "_")]
        printed(name, lost, time.process_time() - start, beside)


def bounds(connection, task, *, k, efforts):
    """Prints what each effort proves at one k."""
    policy, loss = asked(task, k)
    engine, start = DuckDB(connection), time.process_time()
    with engine.workspace():
        subject = bind(engine, engine.tables.resolve("people"), policy=policy)
        mine = Mine.of(engine, subject, policy=policy, loss=loss)
        problem = problem_of(mine.read)
        candidates = mine.candidates(problem)
        mined = time.process_time() - start
        total = int(Cheapest.of(problem, candidates).cost.sum())
    first = mine.read.costs.loss(total, problem.records)
    beside = f"{problem.records:,} records, {len(candidates):,} itemsets, mined in {mined:.1f} s"
    printed(f"k = {k}, cheapest itemsets", first, time.process_time() - start, beside)
    for effort in efforts:
        start = time.process_time() - mined
        found = dual_bound(problem, candidates, effort=Ascent[effort.upper()])
        own = mine.read.costs.loss(found.total, problem.records)
        beside = f"{own / first if first else 1:.3f} times as high, {len(found.near):,} near"
        printed(f"k = {k}, {effort}", own, time.process_time() - start, beside)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=TABLES)
    parser.add_argument("--k", type=int, nargs="+", required=True)
    parser.add_argument("--plans", nargs="+", choices=["columns", "quick", "full", "default"])
    parser.add_argument("--improve", type=float, metavar="SECONDS", help="of plans, to their end")
    parser.add_argument("--effort", nargs="+", default=["quick", "full"], choices=["quick", "full"])
    parser.add_argument("--records", type=int, help="only the first of them")
    options = parser.parse_args()
    connection = duckdb.connect(config={"threads": 2})
    people(connection, options.task, most=options.records)
    for k in options.k:
        if options.plans:
            plans(connection, options.task, k=k, efforts=options.plans, improve=options.improve)
            continue
        bounds(connection, options.task, k=k, efforts=options.effort)


if __name__ == "__main__":
    main()
