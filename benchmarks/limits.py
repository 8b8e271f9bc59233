"""Time limits: by how much plans overrun them, for all methods, widths and lengths of tables.

    python benchmarks/limits.py
    python benchmarks/limits.py --columns 5 --records 1000 --limits 1
    python benchmarks/limits.py --columns 2 --kept 80 --sensitive --records 300000 --limits 2
    python benchmarks/limits.py --columns 5 --kept 20 --sensitive --file parquet --limits 2
    python benchmarks/limits.py --columns 5 40 100 300 --records 1000 10000 100000 --limits 1 5 30
    python benchmarks/limits.py --columns 5 40 100 --records 1000000 --limits 1 5 --cells 100000000

Prints per run the seconds until there is a plan, what of them is beyond the limit, the processor
time of all threads, the loss, its bound, and what the limit ended. The last line is the longest
overrun. A limit is kept where that is at most 10 % of it or 2 s. Where the processor time is far
below the seconds, the machine had other work, and the overrun is not the method's alone.

Of the columns every third is a number in intervals, the others are suppressed or not; a part of the
values is rare. With `--kept` so many columns are published as they are, with `--sensitive` a text
is to be 2-diverse, with `--file` the table is read from a file. Tables of more than `--cells` cells
are left out.
"""

import argparse
import itertools
import re
import tempfile
import time
from contextlib import contextmanager

import duckdb

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.errors import SqlanonError, TimeLimitError
from sqlanon.methods.registry import AUTO, METHODS

SECONDS, SHARE = 2.0, 0.1
"""What a limit may be overrun by: the larger of both."""
COVERED = 60
"""Columns that some pattern keeps."""
RUNS = {
    **{name: (name, {}) for name in (*METHODS, AUTO)},
    "mondrian-relaxed": ("mondrian", {"partitioning": "relaxed"}),
    "mondrian-annealed": ("mondrian", {"partitioning": "relaxed", "improve": "anneal"}),
    "direct-cover-annealed": ("direct-cover", {"improve": "anneal"}),
    "partial-domain-annealed": ("partial-domain", {"improve": "anneal"}),
}
"""Methods with the options that make them other ones; annealing needs `--sensitive`."""


def people(columns, records, *, kept, sensitive):
    """A table in memory, and its policy."""
    connection = duckdb.connect()
    values = [
        f"(sqrt(hash(i, {n}) % 10000) / 100 * {100 if n % 3 == 0 else 2 + n % 9})::INTEGER AS c{n}"
        for n in range(columns)
    ]
    values += [f"(hash(i, -{n + 1}) % {10 + 30 * n})::INTEGER AS kept{n}" for n in range(kept)]
    values += ["'Ill ' || hash(i, 'ill') % 200000 AS ill"] if sensitive else []
    listed = ", ".join(values)
    connection.execute(f"CREATE TABLE people AS SELECT {listed} FROM range({records}) t(i)")
    hierarchies = {
        f"c{n}": Hierarchy.intervals(5, 10, 50) if n % 3 == 0 else Hierarchy.suppression()
        for n in range(columns)
    }
    return connection, Policy(
        hierarchies,
        sensitive=["ill"] if sensitive else [],
        models=[KAnonymity(5), *([LDiversity(2)] if sensitive else [])],
        suppression_limit=0.02,
        others="keep",
    )


def patterns(columns):
    """Each column by itself and with its neighbours."""
    some = range(min(columns, COVERED))
    kept = [[f"c{n}" for n in some[start : start + size]] for size in (1, 3) for start in some]
    return [list(each) for each in dict.fromkeys(map(tuple, kept))]


@contextmanager
def written(connection, kind):
    """What a plan is made of: the table in memory and its name, or a file of it and no name."""
    if kind is None:
        yield connection, "people"
        return
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/people.{kind}"
        connection.execute(f"COPY people TO '{path}' (FORMAT {kind})")
        yield path, None


def planned(source, policy, run, limit):
    """The figures of a plan, or why there is none."""
    (people, table), (method, own) = source, RUNS[run]
    if "pattern" in method:
        own = own | {"patterns": patterns(len(policy.attributes))}
    try:
        plan = sqlanon.plan(people, policy, table=table, method=method, time_limit=limit, **own)
    except TimeLimitError as error:
        return f"no plan: {error.phase}"
    except SqlanonError as error:
        return f"refused: {error}"
    report = plan.report
    bound = "none" if report.lower_bound is None else f"{report.lower_bound:.4f}"
    ended = [re.split("[:;]", note)[0] for note in report.notes if "time limit" in note]
    return f"lm {report.loss['lm']:.4f}, bound {bound}; {'; '.join(ended) or 'in time'}"


def main():
    """Makes tables, plans, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, nargs="+", default=[5, 40, 300])
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--limits", type=float, nargs="+", default=[1.0, 5.0])
    parser.add_argument("--methods", nargs="+", default=[], choices=list(RUNS))
    parser.add_argument("--kept", type=int, default=0)
    parser.add_argument("--sensitive", action="store_true")
    parser.add_argument("--file", choices=["csv", "parquet"])
    parser.add_argument("--cells", type=int, default=40_000_000)
    arguments = parser.parse_args()
    runs = [run for run in RUNS if arguments.sensitive or "annealed" not in run]
    longest = (float("-inf"), "")
    for columns, records in itertools.product(arguments.columns, arguments.records):
        if (columns + arguments.kept) * records > arguments.cells:
            continue
        connection, policy = people(
            columns, records, kept=arguments.kept, sensitive=arguments.sensitive
        )
        with written(connection, arguments.file) as source:
            for limit, run in itertools.product(arguments.limits, arguments.methods or runs):
                started, used = time.perf_counter(), time.process_time()
                told = planned(source, policy, run, limit)
                seconds, used = time.perf_counter() - started, time.process_time() - used
                over = seconds - limit
                case = f"{run}, {columns} columns x {records:,} records, limit {limit:g} s"
                late = "" if over <= max(SECONDS, SHARE * limit) else " LATE"
                figures = f"{seconds:.2f} s ({over:+.2f} s{late}), processor {used:.2f} s"
                print(f"{case}: {figures}, {told}", flush=True)
                longest = max(longest, (over, case))
        connection.close()
    print(f"longest overrun: {longest[0]:+.2f} s, {longest[1]}")


if __name__ == "__main__":
    main()
