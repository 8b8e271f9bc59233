"""Public functions: a table is checked, measured, mined, bounded, planned, and published.

What `check` says of `connection`, `table`, `policy` and `opening` holds for every function, and
what `apply` and `plan` say of theirs for `anonymize`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Unpack

from sqlanon.arguments import checked
from sqlanon.assessment.check import check_table
from sqlanon.classes import RISK_THRESHOLD
from sqlanon.engine.base import Opening, searching
from sqlanon.engine.open import second_table
from sqlanon.errors import MissingTableError, PolicyError
from sqlanon.microdata.opening import Policies, beside, is_data, opened_for, reading, told
from sqlanon.publishing.settings import Progress, Settings, opening_of, options_of
from sqlanon.reports.check import CheckReport
from sqlanon.reports.plan import Report

if TYPE_CHECKING:
    from sqlanon.publishing.plan import Plan
    from sqlanon.release_report.making import Witness
    from sqlanon.reports.bound import BoundReport
    from sqlanon.reports.itemsets import MiningReport
    from sqlanon.reports.measure import MeasureReport
    from sqlanon.reports.risk import RiskReport

# What not every call needs is imported there: a command must start fast.
Confirm = Callable[["Plan"], object]


@checked
def check(connection: Any, table: Any, policy: Policies, **opening: Unpack[Opening]) -> CheckReport:
    """Which privacy models a table satisfies as it stands.

    Args:
        connection: A DuckDB connection (an open transaction is joined), a path to a database or
            to a data file, or an engine.
        table: Name of a table or view, or a frame that DuckDB can read; None where the source
            holds only one.
        policy: Quasi-identifiers, and models to hold the table against; hierarchies are not used.
            Where it names none, every column in no other role counts as one.
            A function from the table's columns to a policy serves where it depends on them.
        opening: `threads`, `memory_limit`, `temp_directory`, `temp_limit`, for a source opened
            from a path; for a text file also `date_format` (of strptime, such as `%d/%m/%Y`),
            `nullstr`, `delimiter` and `encoding`.

    Raises:
        SqlanonError: The source or the policy is at fault; the message says how.
    """
    with reading(connection, table, policy, **opening) as (source, resolved):
        return told(source, check_table(source.engine, source.table, policy=resolved), resolved)


@checked
def risk(
    connection: Any,
    table: Any,
    policy: Policies,
    *,
    population: Any = None,
    threshold: float = RISK_THRESHOLD,
    identifying: float = 0.05,
    max_columns: int | None = None,
    max_sets: int | None = None,
    every_subset: bool = False,
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> RiskReport:
    """Re-identification risk of a table as it stands, and the columns that identify.

    Args:
        table: The table as it would be released.
        policy: Quasi-identifiers, and the entity where persons count; hierarchies are not used.
            Where it names none, every column in no other role counts as one.
        population: Everybody that the table's records were drawn from, with the same columns and
            generalized alike: a table, a frame, or a path to a file of data.
        threshold: Risk above which a record counts as at risk, in (0, 1].
        identifying: Share of unique records that makes a set of columns identifying, in (0, 1].
        max_columns: Most columns of a set that is looked at; 0 for no sets, None for as many as
            keep the sets within `max_sets`.
        max_sets: Most sets that are looked at, up to 200,000; the largest sizes are left out
            first, single columns never. None for 2,000, or all of at most `max_columns` columns
            where that is given.
        every_subset: Whether to count and list every set, also those that hold a smaller
            identifying one.
        progress: Called with a line that says how far the count is.

    Raises:
        SqlanonError: The source, the policy or the population is at fault; the message says how.
    """
    from sqlanon.assessment.risk import RiskOptions, assess, opened_population

    options = RiskOptions(
        threshold, identifying, max_columns, max_sets, every_subset, tell=progress
    )
    with (
        reading(connection, table, policy, **opening) as (source, resolved),
        opened_population(
            source.engine, population, how=beside(source, resolved, is_alike=True)
        ) as against,
    ):
        found = assess(
            source.engine, source.table, policy=resolved, options=options, population=against
        )
        return told(source, found, resolved)


@checked
def measure(
    connection: Any,
    original: Any,
    released: Any,
    policy: Policies,
    *,
    released_table: str | None = None,
    class_attribute: str | None = None,
    losses: Sequence[str] = (),
    **opening: Unpack[Opening],
) -> MeasureReport:
    """Every measure of what a released table loses against its original, whoever anonymized it.

    Args:
        original: The original, as `table` for `check`.
        released: The released table: one of the same connection, a frame, or a path to a database
            or to a file of data.
        policy: Quasi-identifiers with their hierarchies and weights, sensitive columns, the label
            of suppressed values, and k.
        released_table: The table of a released database that holds more than one.
        class_attribute: The column that the classification metric is about.
        losses: The only measures wanted; every one that applies where left out.

    Raises:
        SqlanonError: A table or the policy is at fault; the message says how.
    """
    from sqlanon.assessment.measure import MeasureRequest, measure_release

    with (
        reading(connection, original, policy, **opening) as (source, resolved),
        second_table(
            source.engine, released, table=released_table, how=beside(source, resolved)
        ) as table,
        source.engine.transaction(),
    ):
        wanted = MeasureRequest(class_attribute, tuple(losses))
        found = measure_release(
            source.engine, source.table, table=table, policy=resolved, wanted=wanted
        )
        return told(source, found, resolved)


@checked
def mine(
    connection: Any,
    table: Any,
    policy: Policies,
    *,
    kind: str = "closed",
    into: str | None = None,
    overwrite: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> MiningReport:
    """The generalized itemsets that k records or more of a table have in common.

    Args:
        policy: Quasi-identifiers with hierarchies and level bounds, and k.
        kind: `closed` for itemsets of which no more specific one has the same records, or
            `frequent` for all.
        into: Name of a new table of their generalized values and support, which holds values of
            the table; None to count them.
        overwrite: Whether that table may be replaced.
        time_limit: Seconds after which it is given up; None for no limit.
        progress: Called with a line that says how far the mining is.

    Raises:
        TimeLimitError: The time limit came before all were found; nothing is written.
        SqlanonError: The source, the policy or the new table is at fault; the message says how.
    """
    from sqlanon.methods.itemsets.listing import Listed, list_itemsets
    from sqlanon.methods.options import deadline_after

    listed, deadline = Listed(kind, into, overwrite, progress), deadline_after(time_limit)
    if into is not None and is_data(connection):
        raise PolicyError(
            "the source is a file, not a database, and a table beside it would be lost; "
            "load it into a database, or leave --into out"
        )
    opened = reading(connection, table, policy, read_only=into is None, **opening)
    with opened as (source, resolved):
        with searching(source.engine, deadline), source.engine.limited(deadline):
            found = list_itemsets(source.engine, source.table, policy=resolved, listed=listed)
        return told(source, found, resolved)


@checked
def bound(
    connection: Any,
    table: Any,
    policy: Policies,
    *,
    loss: str = "lm",
    effort: str | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> BoundReport:
    """A lower bound on the loss of any k-anonymization, by whatever method.

    Args:
        policy: Quasi-identifiers with hierarchies, weights and level bounds, k, and the suppression
            limit, within which a suppressed record loses all its cells. Models beyond k only raise
            the loss, and persons are no more than their records, so the bound holds for them, too.
        loss: `lm`, `tree`, `precision`, `suppressed-cells` or `monotone-entropy`.
        effort: How hard to raise it: `quick`, in seconds, or `full`, in a minute for a table of
            30,000 records; None for `quick`, or under a time limit for as long as it rises.
        time_limit: Seconds after which the best that is proven is returned.
        progress: Called with a line that says how far it is.

    Raises:
        UnsatisfiableError: Too many records fit no class within the levels allowed.
        SqlanonError: The source or the policy is at fault, or the loss would give no bound; the
            message says how.
    """
    from sqlanon.methods.clustering.bound import BoundRequest, bound_table
    from sqlanon.methods.options import deadline_after

    wanted, deadline = BoundRequest(loss, effort, progress), deadline_after(time_limit)
    with reading(connection, table, policy, **opening) as (source, resolved):
        with searching(source.engine, deadline), source.engine.limited(deadline):
            found = bound_table(source.engine, source.table, policy=resolved, wanted=wanted)
        return told(source, found, resolved)


@checked
def plan(connection: Any, table: Any, policy: Policies, **settings: Unpack[Settings]) -> Plan:
    """Finds the recoding of least loss; writes nothing but temporary tables.

    Args:
        policy: What the published table must satisfy.
        settings: How to search, and the `opening` of `check`; everything has a default.
            `method`, `loss` and what each method takes are described by `OPTIONS` of
            `sqlanon.methods.registry` and `sqlanon plan --help`; `seed` is what chance is drawn
            from, and `progress` is called with a line that says how far the search is.

    Raises:
        UnsatisfiableError: No recoding within the policy's bounds satisfies its models.
        SqlanonError: The source or the policy is at fault; the message says how.
    """
    options = options_of(settings)
    # The search is loaded while the database reads the source: it reads in C, without the GIL.
    homes = options.method.home, "sqlanon.publishing.planner"
    loading = Thread(target=lambda: [import_module(home) for home in homes])
    loading.start()
    opened = opened_for(connection, table, policy, read_only=True, **opening_of(settings))
    with opened as (source, resolved):
        loading.join()
        from sqlanon.publishing.planner import make_plan

        with searching(source.engine, options.deadline):
            found = make_plan(source.engine, source.table, resolved, options)
        return replace(found, report=told(source, found.report, found.policy))


@checked
def apply(
    connection: Any,
    plan: Plan,
    *,
    into: str | None = None,
    in_place: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    table: Any = None,
    confirm: Confirm | None = None,
    report: str | Path | None = None,
    **opening: Unpack[Opening],
) -> Report:
    """Publishes what a plan says, in one transaction, and proves it on the published table.

    Args:
        plan: The plan.
        into: Name of a new table.
        in_place: Whether the published table takes the original's place. Where sqlanon opens
            the database itself, a fresh file takes the place of the old one in one step: either
            nothing has happened, or no byte of the original remains.
        output: A file to write: .csv, .csv.gz, .parquet, .arrow or .duckdb.
        overwrite: Whether an existing table or file may be replaced.
        table: The table, where it is not called what the plan calls it. A file of data holds only
            one, whatever its name.
        confirm: Called with the plan before anything is written; what it raises stops that.
        report: A file .html for a report of the release, as `sqlanon.report` makes one.

    Raises:
        StalePlanError: The table has changed since the plan was made.
        VerificationError: The published table is not what the plan promised; nothing is published.
        SqlanonError: The source or the target is at fault; the message says how.
    """
    from sqlanon.publishing.apply import publish, table_named
    from sqlanon.publishing.target import Target, refuse_early, replaced_file

    file = None if output is None else Path(output)
    witness = None if report is None else _witness(report, overwrite)
    target = Target(into, in_place, file, overwrite, confirm, witness)
    refuse_early(connection, target)
    named = table_named(connection, plan) if table is None else table
    opened = opened_for(
        connection, named, plan.policy, read_only=file is not None, complete=None, **opening
    )
    with ExitStack() as stack:
        try:
            source, _ = stack.enter_context(opened)
        except MissingTableError as error:
            raise MissingTableError(f"{error}; name the plan's table with --table NAME") from None
        replaced = replaced_file(source, target)
        done = publish(source.engine, plan, source=source.table, target=target, file=replaced)
        done = told(source, done, plan.policy)
    return done if witness is None else witness.write(done)


@checked
def anonymize(
    connection: Any,
    table: Any,
    policy: Policies,
    *,
    into: str | None = None,
    in_place: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    confirm: Callable[..., object] | None = None,
    preview: int | None = None,
    report: str | Path | None = None,
    **settings: Unpack[Settings],
) -> Report:
    """Plans and applies in one transaction: `plan` and `apply` in one call.

    Args:
        confirm: As for `apply`; with `preview` it is called with the plan and with records.
        preview: How many records `confirm` sees before and after, as `sqlanon.preview` has them.

    Raises:
        UnsatisfiableError: No recoding within the policy's bounds satisfies its models.
        VerificationError: The published table is not what the plan promised; nothing is published.
        SqlanonError: The source, the policy or the target is at fault; the message says how.
    """
    from sqlanon.publishing.apply import publish
    from sqlanon.publishing.planner import make_plan
    from sqlanon.publishing.preview import asking, refuse_rows
    from sqlanon.publishing.target import (
        Target,
        may_change,
        refuse_early,
        refuse_target,
        refuse_types,
        replaced_file,
    )

    if preview is not None:
        refuse_rows(preview)
        if confirm is None:
            raise PolicyError("preview shows records to confirm; give confirm, too")
    file = None if output is None else Path(output)
    options, opening = options_of(settings), opening_of(settings)
    witness = None if report is None else _witness(report, overwrite, settings.get("progress"))
    target = Target(into, in_place, file, overwrite, confirm, witness)
    refuse_early(connection, target)
    read_only = file is not None
    opened = opened_for(connection, table, policy, read_only=read_only, complete=True, **opening)
    with opened as (source, resolved):
        replaced = replaced_file(source, target)
        # Where a fresh file replaces the old one, nobody else can have the old one open.
        with searching(source.engine, options.deadline) if replaced is None else nullcontext():
            refuse_target(
                source.engine, source.table, policy=resolved, target=target, file=replaced
            )
            refuse_types(source.engine, source.table, policy=resolved, target=target)
            if confirm is not None:
                target = replace(target, confirm=asking(confirm, source, rows=preview))
            known = confirm is not None or may_change(source, settings.get("progress"))
            found = make_plan(source.engine, source.table, resolved, options, fingerprinted=known)
            done = publish(source.engine, found, source=source.table, target=target, file=replaced)
        done = told(source, done, found.policy)
    return done if witness is None else witness.write(done)


def _witness(path: str | Path, overwrite: bool, tell: Progress | None = None) -> Witness:
    """What makes the report of a release while it is published."""
    from sqlanon.release_report.making import Witness  # most releases have none

    return Witness(Path(path), overwrite, tell)
