"""The four things one does with a table: check it, plan, apply a plan, anonymize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Unpack

from sqlanon.checking import check_table
from sqlanon.engine.source import Limits, OpenedSource, open_source
from sqlanon.errors import PolicyError, ResidueError, SqlanonError
from sqlanon.policy import Policy
from sqlanon.report import CheckReport, Report

if TYPE_CHECKING:
    from sqlanon.plans import Plan
    from sqlanon.publishing import Target

# What not every call needs is imported where it is needed: a command must start fast.
Progress = Callable[[str], None]
Policies = Policy | Callable[[Sequence[str]], Policy]


def check(
    connection: Any, table: Any, policy: Policies, **resources: Unpack[Limits]
) -> CheckReport:
    """Which privacy models a table satisfies as it stands.

    Args:
        connection: A DuckDB connection (an open transaction is joined), a path to a database or
            to a data file, or an engine.
        table: Name of a table or view, or a frame that DuckDB can read; None where the source
            holds only one.
        policy: Quasi-identifiers, and models to hold the table against; hierarchies are not used.
            A function from the table's columns to a policy serves where it depends on them.
        resources: `threads`, `memory_limit`, `temp_directory`, for a source opened from a path.

    Raises:
        SqlanonError: The source or the policy is at fault; the message says how.
    """
    with open_source(connection, table, read_only=True, **resources) as source:
        return check_table(source.engine, source.table, _settled(source, policy))


def plan(
    connection: Any,
    table: Any,
    policy: Policies,
    *,
    method: str = "auto",
    loss: str = "lm",
    minimal_nodes: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **resources: Unpack[Limits],
) -> Plan:
    """Finds the recoding of least loss; writes nothing but temporary tables.

    Args:
        connection: As for `check`.
        table: As for `check`.
        policy: What the published table must satisfy, or a function as for `check`.
        method: `auto` or `incognito` (full-domain generalization, proven optimal).
        loss: `lm`, `precision`, `suppressed-cells`, `discernibility` or `average-class-size`.
        minimal_nodes: Also list every minimal node of the lattice.
        time_limit: Seconds after which the best recoding so far is returned, with a bound.
        progress: Called with a line that says how far the search is.
        resources: As for `check`.

    Raises:
        UnsatisfiableError: No recoding within the policy's bounds satisfies its models.
        SqlanonError: The source or the policy is at fault; the message says how.
    """
    # The search is loaded while the database reads the source: it reads in C, without the GIL.
    loading = Thread(target=import_module, args=("sqlanon.planning",))
    loading.start()
    with open_source(connection, table, read_only=True, **resources) as source:
        loading.join()
        from sqlanon.planning import Options, make_plan

        options = Options(method, loss, minimal_nodes, time_limit, progress)
        settled = _settled(source, policy)
        with source.engine.transaction():
            return make_plan(source.engine, source.table, settled, options)


def apply(
    connection: Any,
    plan: Plan,
    *,
    into: str | None = None,
    in_place: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    table: Any = None,
    **resources: Unpack[Limits],
) -> Report:
    """Publishes what a plan says, in one transaction, and proves it on the published table.

    Args:
        connection: As for `check`.
        plan: The plan.
        into: Name of a new table.
        in_place: Whether the published table takes the original's place. Where sqlanon opened
            the database itself, the file is rewritten so that no byte of the original remains.
        output: A file to write: .csv, .csv.gz, .parquet, .arrow or .duckdb.
        overwrite: Whether an existing table or file may be replaced.
        table: The table, where it is not called what the plan calls it.
        resources: As for `check`.

    Raises:
        StalePlanError: The table has changed since the plan was made.
        VerificationError: The published table is not what the plan promised; nothing is published.
        SqlanonError: The source or the target is at fault; the message says how.
    """
    from sqlanon.publishing import Target, publish

    file = None if output is None else Path(output)
    target = Target(into, in_place, file, overwrite, limits=resources)
    if table is None and plan.of_frame:
        raise PolicyError("the plan was made of a frame, which has no name; pass it as table=")
    named = plan.table if table is None else table
    with open_source(connection, named, read_only=file is not None, **resources) as source:
        _refuse_lost(source, target)
        report = publish(source.engine, plan, source.table, target)
    return _finished(source, target, report)


def anonymize(
    connection: Any,
    table: Any,
    policy: Policies,
    *,
    into: str | None = None,
    in_place: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    method: str = "auto",
    loss: str = "lm",
    minimal_nodes: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **resources: Unpack[Limits],
) -> Report:
    """Plans and applies in one transaction: `plan` and `apply` in one call.

    Args:
        connection: As for `check`.
        table: As for `check`.
        policy: What the published table must satisfy, or a function as for `check`.
        into: As for `apply`.
        in_place: As for `apply`.
        output: As for `apply`.
        overwrite: As for `apply`.
        method: As for `plan`.
        loss: As for `plan`.
        minimal_nodes: As for `plan`.
        time_limit: As for `plan`.
        progress: As for `plan`.
        resources: As for `check`.

    Raises:
        UnsatisfiableError: No recoding within the policy's bounds satisfies its models.
        VerificationError: The published table is not what the plan promised; nothing is published.
        SqlanonError: The source, the policy or the target is at fault; the message says how.
    """
    from sqlanon.planning import Options, make_plan
    from sqlanon.publishing import Target, publish

    file = None if output is None else Path(output)
    options = Options(method, loss, minimal_nodes, time_limit, progress)
    target = Target(into, in_place, file, overwrite, limits=resources)
    with open_source(connection, table, read_only=file is not None, **resources) as source:
        _refuse_lost(source, target)
        settled = _settled(source, policy)
        settled.check_columns(list(source.engine.columns(source.table)), publish=True)
        with source.engine.transaction():
            found = make_plan(source.engine, source.table, settled, options, fingerprinted=False)
            report = publish(source.engine, found, source.table, target)
    return _finished(source, target, report)


def _settled(source: OpenedSource, policy: Policies) -> Policy:
    if isinstance(policy, Policy):
        return policy
    return policy(list(source.engine.columns(source.table)))


def _refuse_lost(source: OpenedSource, target: Target) -> None:
    """A table made from a file lives in memory alone: what is written there is lost."""
    if source.kind == "file" and target.output is None:
        raise PolicyError(
            "the source is a file, not a database; publish to another file with --output FILE"
        )


def _finished(source: OpenedSource, target: Target, report: Report) -> Report:
    from sqlanon.engine.rewrite import rewrite
    from sqlanon.publishing import STILL_THERE

    if not target.in_place:
        return report
    if not source.owned or source.path is None:
        return replace(report, notes=(*report.notes, STILL_THERE))
    limits = target.limits
    try:
        rewrite(
            source.path,
            threads=limits.get("threads"),
            memory_limit=limits.get("memory_limit"),
        )
    except SqlanonError as error:
        raise ResidueError(f"the table was replaced and checked, but {error}") from None
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"the table was replaced and checked, but {STILL_THERE}")
        raise
    return report
