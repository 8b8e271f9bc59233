"""Generated people in Parquet: DuckDB, Spark and Sail beside each other on the same cores.

    python benchmarks/elsewhere.py --records 1000000 10000000 --engines duckdb sail spark --cores 2

Each row is a program of its own, which the system keeps to its cores with all that it starts: the
JVM, Sail's threads and those of the embedded DuckDB, too. A row has seconds by the clock of `plan`
and of `apply --into`, with the check of what was written, processor seconds of both, and their
ratios to DuckDB's of the same run; those of the processor tell more where others work beside.
Seconds and memory are of all processes of the program, Spark's among them. DuckDB reads the same
files and writes a table, the others write a folder. The JVM has a heap of 4 GB, Sail as much, and
`--memory-limit` bounds every DuckDB.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from cores import available, followed, processor
from sqlglot import exp

from sqlanon.demo import census

ENGINES = ("duckdb", "sail", "spark")


def work(engine, folder, cores, given):
    """Plans and publishes in this process; prints what it took."""
    import warnings

    warnings.simplefilter("ignore")
    import sqlanon

    policy = folder / "policy.toml"
    memory = given.pop("memory_limit", None) if engine == "duckdb" else None
    with session(engine, folder, cores, memory) as (source, table):
        began, started = processor(os.getpid()), time.perf_counter()
        plan = sqlanon.plan(source, policy, table=table, **given)
        between, planned = processor(os.getpid()), time.perf_counter()
        into = "published" if engine == "duckdb" else str(folder / "published")
        report = sqlanon.apply(source, plan, table=table, into=into, **given)
        ended, done = processor(os.getpid()), time.perf_counter()
        found = [report.loss["lm"], report.suppressed_records, *report.levels.values()]
        written = "published" if engine == "duckdb" else f"'{into}/*.parquet'"
        asked = f"SELECT count(*), sum(hash(CAST(r AS VARCHAR))::HUGEINT)::VARCHAR FROM {written} r"
        found += (source if engine == "duckdb" else duckdb).sql(asked).fetchall()[0]
    taken = [planned - started, done - planned, between - began, ended - between]
    print(json.dumps([*taken, *found]))


def session(engine, folder, cores, memory):
    """A source of an engine, and the name of the table in it."""
    from contextlib import contextmanager

    @contextmanager
    def opened():
        files = str(folder / "people")
        if engine == "duckdb":
            config = {"threads": cores} | ({"memory_limit": memory} if memory else {})
            with duckdb.connect(str(folder / "out.duckdb"), config=config) as found:
                found.execute(f"CREATE VIEW people AS FROM read_parquet('{files}/*.parquet')")
                yield found, "people"
            return
        from sqlanon.engine.spark.source import _started

        where = "sail" if engine == "sail" else f"local[{cores}]"
        os.environ["SAIL_EXECUTION__DEFAULT_PARALLELISM"] = str(cores)
        os.environ["SAIL_RUNTIME__MEMORY_POOL__TYPE"] = "fair"
        os.environ["SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE"] = str(4 * 2**30)
        config = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": str(2 * cores)}
        config["spark.sql.warehouse.dir"] = str(folder / "warehouse")
        os.chdir(folder)
        with _started(where, {} if engine == "sail" else config) as found:
            yield found, files

    return opened()


def main():
    """Generates, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--cores", type=int, nargs="+", default=[available()])
    parser.add_argument("--local-rows", type=int)
    parser.add_argument("--memory-limit", default="4GB")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        engine, folder, cores = given.work
        said = {"local_rows": given.local_rows, "memory_limit": given.memory_limit}
        if engine == "duckdb":
            del said["local_rows"]
        work(engine, Path(folder), int(cores), {k: v for k, v in said.items() if v is not None})
        return
    print(
        "| records | cores | engine | plan | publish | times | processor s | plan, times "
        "| all, times | memory |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for records in given.records:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            census.write(folder)
            text = (folder / "policy.toml").read_text("utf-8")
            lines = [line for line in text.splitlines() if not line.startswith("suppression_limit")]
            text = "\n".join(["suppression_limit = 0.02", *lines])
            (folder / "policy.toml").write_text(text, "utf-8")
            with duckdb.connect(
                str(folder / "made.duckdb"), config={"memory_limit": "4GB"}
            ) as made:
                for statement in census.statements(exp.to_table("people"), records):
                    made.execute(statement.text)
                made.execute(
                    f"COPY people TO '{folder}/people' (FORMAT parquet, PER_THREAD_OUTPUT)"
                )
            (folder / "made.duckdb").unlink()
            for cores in given.cores:
                first, found = None, set()
                for engine in given.engines:
                    for rest in ("out.duckdb", "warehouse", "spark-warehouse", "published"):
                        shutil.rmtree(folder / rest, ignore_errors=True)
                        (folder / rest).unlink(missing_ok=True)
                    call = [sys.executable, __file__, "--work", engine, str(folder), str(cores)]
                    call += ["--memory-limit", given.memory_limit]
                    if given.local_rows is not None:
                        call += ["--local-rows", str(given.local_rows)]
                    code, out, told, memory = followed(call, cores)
                    if code:
                        print(f"| {records:,} | {cores} | {engine} | {told[-300:]} |", flush=True)
                        continue
                    plan, publish, *used = json.loads(out.splitlines()[-1])
                    first = first or (plan + publish, used[0], used[0] + used[1])
                    found.add(tuple(used[2:]))
                    ratios = (plan + publish, used[0], used[0] + used[1])
                    times = [f"{one / other:.1f}" for one, other in zip(ratios, first, strict=True)]
                    print(
                        f"| {records:,} | {cores} | {engine} | {plan:.0f} s | {publish:.0f} s | "
                        f"{times[0]} | {used[0]:.0f} + {used[1]:.0f} | {times[1]} | {times[2]} | "
                        f"{memory:.2f} GB |",
                        flush=True,
                    )
                assert len(found) <= 1, "engines disagree"


if __name__ == "__main__":
    main()
