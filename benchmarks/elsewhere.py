"""Generated people in Parquet: DuckDB, Spark and Sail beside each other on the same cores.

    python benchmarks/elsewhere.py --records 1000000 10000000 --engines duckdb sail spark --cores 2

Each row is a process of its own: seconds by the clock of `plan` and of `apply --into`, with the
check of what was written, most memory of that process alone (with Sail, without Spark's JVM), and
ratios to DuckDB's seconds of the same run. DuckDB reads the same files.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from sqlglot import exp

from sqlanon.demo import census

ENGINES = ("duckdb", "sail", "spark")


def work(engine, folder, cores, local_rows):
    """Plans and publishes in this process; prints what it took."""
    import resource
    import warnings

    warnings.simplefilter("ignore")
    import sqlanon

    given = {} if local_rows is None else {"local_rows": local_rows}
    policy = folder / "policy.toml"
    with session(engine, folder, cores) as (source, table):
        started = time.perf_counter()
        plan = sqlanon.plan(source, policy, table=table, **given)
        planned = time.perf_counter()
        report = sqlanon.apply(source, plan, table=table, into="published", **given)
        done = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    loss = report.loss["lm"]
    print(json.dumps([planned - started, done - planned, memory, loss, report.suppressed_records]))


def session(engine, folder, cores):
    """A source of an engine, and the name of the table in it."""
    from contextlib import contextmanager

    @contextmanager
    def opened():
        files = str(folder / "people")
        if engine == "duckdb":
            with duckdb.connect(str(folder / "out.duckdb"), config={"threads": cores}) as found:
                found.execute(f"CREATE VIEW people AS FROM read_parquet('{files}/*.parquet')")
                yield found, "people"
            return
        from sqlanon.engine.spark.source import _begun

        where = "sail" if engine == "sail" else f"local[{cores}]"
        os.environ["SAIL_EXECUTION__DEFAULT_PARALLELISM"] = str(cores)
        config = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": str(2 * cores)}
        config["spark.sql.warehouse.dir"] = str(folder / "warehouse")
        os.chdir(folder)
        with _begun(where, {} if engine == "sail" else config) as found:
            yield found, files

    return opened()


def main():
    """Generates, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--cores", type=int, nargs="+", default=[os.cpu_count() or 1])
    parser.add_argument("--local-rows", type=int)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        engine, folder, cores = given.work
        work(engine, Path(folder), int(cores), given.local_rows)
        return
    print("| records | cores | engine | plan | publish | plan, times | all, times | memory |")
    print("|---|---|---|---|---|---|---|---|")
    for records in given.records:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            census.write(folder)
            text = (folder / "policy.toml").read_text("utf-8")
            lines = [line for line in text.splitlines() if not line.startswith("suppression_limit")]
            text = "\n".join(["suppression_limit = 0.02", *lines])
            (folder / "policy.toml").write_text(text, "utf-8")
            with duckdb.connect(str(folder / "made.duckdb")) as made:
                for statement in census.statements(exp.to_table("people"), records):
                    made.execute(statement.text)
                made.execute(
                    f"COPY people TO '{folder}/people' (FORMAT parquet, PER_THREAD_OUTPUT)"
                )
            (folder / "made.duckdb").unlink()
            for cores in given.cores:
                first, found = None, set()
                for engine in given.engines:
                    for rest in ("out.duckdb", "warehouse", "spark-warehouse"):
                        shutil.rmtree(folder / rest, ignore_errors=True)
                        (folder / rest).unlink(missing_ok=True)
                    call = [sys.executable, __file__, "--work", engine, str(folder), str(cores)]
                    if given.local_rows is not None:
                        call += ["--local-rows", str(given.local_rows)]
                    done = subprocess.run(call, check=False, capture_output=True, text=True)
                    if done.returncode:
                        print(f"| {records:,} | {cores} | {engine} | {done.stderr[-300:]} |")
                        continue
                    plan, publish, memory, *same = json.loads(done.stdout.splitlines()[-1])
                    first = first or (plan, plan + publish)
                    found.add(tuple(same))
                    print(
                        f"| {records:,} | {cores} | {engine} | {plan:.1f} s | {publish:.1f} s | "
                        f"{plan / first[0]:.1f} | {(plan + publish) / first[1]:.1f} | "
                        f"{memory:.2f} GB |",
                        flush=True,
                    )
                assert len(found) <= 1, "engines disagree"


if __name__ == "__main__":
    main()
