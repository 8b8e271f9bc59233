"""Public functions that only read: a table is checked, measured, mined and bounded.

Every function is called as the command line has it: `f(source, policy, *, table=None, ...)`.
What `check` says of `source`, `policy`, `table`, `progress` and `opening` holds for
every function, also for those that plan and publish.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from sqlanon.arguments import checked
from sqlanon.assessment.check import as_published, check_table, of_records
from sqlanon.assessment.persons import person_notes
from sqlanon.classes import IDENTIFYING_SHARE, RISK_THRESHOLD
from sqlanon.engine.base import Opening
from sqlanon.engine.open import second_table
from sqlanon.errors import PolicyError
from sqlanon.microdata.calls import AnyPolicy, Call, Frame, Source, asked
from sqlanon.microdata.opening import beside, holding, is_data, reading, with_provenance
from sqlanon.policy.policy import Policy
from sqlanon.progress import Progress, following
from sqlanon.query.syntax import rows_of
from sqlanon.reports.check import CheckReport

if TYPE_CHECKING:
    from sqlanon.assessment.measure import MeasureReport
    from sqlanon.methods.itemsets import MiningReport
    from sqlanon.reports.bound import BoundReport
    from sqlanon.reports.findings import LintReport
    from sqlanon.reports.risk import RiskReport

# What not every call needs is imported there: a command must start fast.
Columns = Sequence[str] | Callable[[Sequence[str]], Sequence[str]]


@checked
def check(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
    released: bool = False,
    join: Any = None,
    on: Columns = (),
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> CheckReport:
    """Which privacy models a table satisfies as it stands.

    Args:
        source: A frame: pandas, Polars (eager or lazy), Arrow (table, batch or reader), a relation
            of DuckDB. Or a DuckDB connection (an open transaction is joined), a path to a database
            or to a data file, or an engine.
        policy: Quasi-identifiers, and models to hold the table against; hierarchies are not used.
            Where it names none, every column in no other role counts as one. It may be a `Policy`,
            a dict with the keys of `policy.toml`, the path of such a file, or a function from the
            table's columns to a policy.
        table: Name of a table or view, or a frame that the connection can read; left out where the
            source is a frame or holds only one table.
        released: Whether the table is about to be published as it is: then a column that the
            policy drops, or gives no role, is a `ReleaseError`.
        join: Another published table, which may have some of the policy's columns: models are then
            asked of both together. A table of the same connection, a frame, or a path to a file.
        on: The columns of both by which `join` is joined, or a function from the columns of the
            table to these.
        progress: Called with lines that say how far it is: texts that begin with the phase, with
            the share of it that is done as `share`, 0 to 1, or None where nobody can tell.
        opening: `threads`, `memory_limit`, `temp_directory`, `temp_limit`, for a source opened
            from a path; for a text file also `date_format` (of strptime, such as `%d/%m/%Y`),
            `nullstr`, `delimiter` and `encoding`.

    Raises:
        SqlanonError: The source or the policy is at fault; the message says how.
    """
    call = asked(source, policy, table=table)
    if join is not None or on:
        if join is None or released:
            raise PolicyError(
                "on says how another table is joined (--join), which is not published as it is"
            )
        return _checked_join(call, join, on, progress=progress, **opening)
    policies = holding(call.policy, refuse=Policy.released) if released else call.policy
    with (
        following(progress),
        reading(call.source, call.table, policies, finds_persons=not released, **opening) as (
            opened,
            resolved,
        ),
    ):
        report = check_table(opened.engine, opened.table, policy=resolved)
        if report.entity != resolved.entity:
            report = replace(report, models=of_records(report.models))
        if released:
            from sqlanon.assessment.lint import lint_table  # originals need none

            about = lint_table(
                opened.engine,
                opened.table,
                policy=resolved,
                kept=report.kept_columns,
                path=opened.path,
            )
            return with_provenance(opened, replace(report, findings=about), resolved)
        notes = person_notes(opened.engine, opened.table, policy=resolved)
        return with_provenance(opened, replace(report, notes=(*report.notes, *notes)), resolved)


def _checked_join(
    call: Call,
    join: Any,
    on: Columns,
    *,
    progress: Progress | None,
    **opening: Unpack[Opening],
) -> CheckReport:
    from sqlanon.assessment.joined import check_joined

    with (
        following(progress),
        reading(*call.opened, **opening) as (opened, resolved),
        second_table(
            opened.engine, call.alike(join), how=beside(opened, resolved, is_alike=True)
        ) as other,
    ):
        names = on(list(opened.engine.columns(opened.table))) if callable(on) else list(on)
        report = check_joined(opened.engine, opened.table, other=other, on=names, policy=resolved)
        return with_provenance(opened, report, resolved)


@checked
def lint(
    released: Source | Frame,
    policy: AnyPolicy | None = None,
    *,
    table: Any = None,
    against: Any = None,
    against_table: str | None = None,
    profile: str | None = None,
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> LintReport:
    """What a release gives away beside its classes: findings, the gravest first.

    Where the release is a file, the file is looked at, too: its metadata, statistics and
    dictionaries, or all that a database holds.

    Args:
        released: The release, or where it is.
        policy: Roles of its columns; None where nobody knows them.
        against: The original, for what only both together tell: a table of the same connection, a
            frame, or a path to a database or to a file of data.
        against_table: The table of a database of the original that holds more than one.
        profile: `hipaa-safe-harbor` for findings about what that rule does not allow, too.

    Raises:
        SqlanonError: A table or the policy is at fault; the message says how.
    """
    from sqlanon.assessment.lint import lint_table
    from sqlanon.reports.findings import LintReport, by_severity

    if profile is not None:
        from sqlanon.suggestion.safe_harbor import refuse_profile, safe_harbor_findings

        refuse_profile(profile)

    started = time.monotonic()
    call = asked(released, Policy([]) if policy is None else policy, table=table)
    with (
        following(progress),
        reading(*call.opened, **opening) as (opened, resolved),
        ExitStack() as stack,
    ):
        engine, original = opened.engine, None
        _, notes = as_published(resolved, list(engine.columns(opened.table)))
        if against is not None:
            how = beside(opened, resolved)
            other = second_table(engine, call.alike(against), table=against_table, how=how)
            original = stack.enter_context(other)
        with engine.transaction():
            about = lint_table(
                engine, opened.table, policy=resolved, original=original, path=opened.path
            )
            if profile is not None:
                label = resolved.suppressed_label
                others = safe_harbor_findings(engine, opened.table, suppressed=label)
                about = by_severity([*about, *others])
            [(records,)] = engine.rows(rows_of(opened.table))
        made = LintReport(about, records, tuple(notes), time.monotonic() - started)
        return with_provenance(opened, made, resolved)


@checked
def risk(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
    population: Any = None,
    population_size: int | None = None,
    sampling_fraction: float | None = None,
    threshold: float = RISK_THRESHOLD,
    identifying: float = IDENTIFYING_SHARE,
    max_columns: int | None = None,
    max_sets: int | None = None,
    every_subset: bool = False,
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> RiskReport:
    """Re-identification risk of a table as it stands, and the columns that identify.

    Args:
        policy: Quasi-identifiers, and the entity where persons count; hierarchies are not used.
            Where it names none, every column in no other role counts as one.
        table: The table as it would be released.
        population: Everybody that the table's records were drawn from, with the same columns and
            generalized alike: a table, a frame, or a path to a file of data.
        population_size: How many people those are, where they are not at hand: then the classes of
            the population and its unique people are estimated [people].
        sampling_fraction: Share of them in the table, in (0, 1], in place of their number.
        threshold: Risk above which a record counts as at risk, in (0, 1].
        identifying: Share of unique records that makes a set of columns identifying, in (0, 1].
        max_columns: Most columns of a set that is looked at; 0 for no sets, None for as many as
            keep the sets within `max_sets`.
        max_sets: Most sets that are looked at, up to 200,000; the largest sizes are left out
            first, single columns never. None for 2,000, or all of at most `max_columns` columns
            where that is given.
        every_subset: Whether to count and list every set, also those that hold a smaller
            identifying one.

    Raises:
        SqlanonError: The source, the policy or the population is at fault; the message says how.
    """
    from sqlanon.assessment.risk import assess
    from sqlanon.assessment.subsets import RiskOptions
    from sqlanon.microdata.population import opened_population

    options = RiskOptions(
        threshold,
        identifying,
        max_columns,
        max_sets,
        every_subset,
        population_size=population_size,
        sampling_fraction=sampling_fraction,
    )
    call = asked(source, policy, table=table)
    with (
        following(progress),
        reading(*call.opened, finds_persons=True, **opening) as (opened, resolved),
        opened_population(
            opened.engine, call.alike(population), how=beside(opened, resolved, is_alike=True)
        ) as against,
    ):
        report = assess(
            opened.engine, opened.table, policy=resolved, options=options, population=against
        )
        notes = person_notes(opened.engine, opened.table, policy=resolved)
        return with_provenance(opened, replace(report, notes=(*report.notes, *notes)), resolved)


@checked
def measure(
    source: Source | Frame,
    released: Any,
    policy: AnyPolicy,
    *,
    table: Any = None,
    released_table: str | None = None,
    class_attribute: str | None = None,
    losses: Sequence[str] = (),
    control: Any = None,
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> MeasureReport:
    """What a released table loses against its original: `measure(original, released, policy)`.

    Every measure that applies, whoever anonymized the table, and attacks on the release.

    Args:
        source: The original, or where it is.
        released: The released table: one of the same connection, a frame, or a path to a database
            or to a file of data.
        policy: Quasi-identifiers with their hierarchies and weights, sensitive columns, the label
            of suppressed values, and k.
        table: The original, where the source holds more than one table.
        released_table: The table of a released database that holds more than one.
        class_attribute: The column that the classification metric is about.
        losses: The only measures wanted; every one that applies where left out, and attacks.
        control: Records of the same population that were not released, as the original has them:
            what attacks find of them besides. A table, a frame, or a path to a file of data.

    Raises:
        SqlanonError: A table or the policy is at fault; the message says how.
    """
    from sqlanon.assessment.measure import MeasureReport, read_release
    from sqlanon.microdata.population import opened_population

    call = asked(source, policy, table=table)
    with (
        following(progress),
        reading(*call.opened, **opening) as (opened, resolved),
        second_table(
            opened.engine, call.alike(released), table=released_table, how=beside(opened, resolved)
        ) as release,
        opened_population(
            opened.engine,
            call.alike(control),
            how=beside(opened, resolved, is_alike=True),
            what="control",
        ) as unreleased,
        opened.engine.transaction(),
    ):
        started = time.monotonic()
        read = read_release(
            opened.engine,
            opened.table,
            table=release,
            policy=resolved,
            class_attribute=class_attribute,
            losses=losses,
            control=unreleased,
        )
        report = MeasureReport.of(read, losses)
        made = replace(report, seconds=time.monotonic() - started)
        return with_provenance(opened, made, resolved)


@checked
def mine(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
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

    Raises:
        TimeLimitError: The time limit came before all were found; nothing is written.
        SqlanonError: The source, the policy or the new table is at fault; the message says how.
    """
    from sqlanon.methods.itemsets import Listed, list_itemsets
    from sqlanon.methods.options import deadline_after

    listed, deadline = Listed(kind, into, overwrite), deadline_after(time_limit)
    call = asked(source, policy, table=table)
    if into is not None and is_data(call.source):
        raise PolicyError(
            f"the source is {'a file' if call.frame is None else 'a frame'}, not a database, and a "
            "table beside it would be lost; load it into a database, or leave --into out"
        )
    with (
        following(progress),
        reading(*call.opened, read_only=into is None, looks_again=into is None, **opening) as (
            opened,
            resolved,
        ),
    ):
        with opened.engine.transaction(deadline), opened.engine.limited(deadline):
            report = list_itemsets(opened.engine, opened.table, policy=resolved, listed=listed)
        return with_provenance(opened, report, resolved)


@checked
def bound(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
    loss: str | None = None,
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
        loss: A cell loss, as `lm` is; None for that of the policy file, or `lm`.
        effort: How hard to raise it: `quick`, in seconds, or `full`, in a minute for a table of
            30,000 records; None for `quick`, or under a time limit for as long as it rises.
        time_limit: Seconds after which the best that is proven is returned.

    Raises:
        UnsatisfiableError: Too many records fit no class within the levels allowed.
        SqlanonError: The source or the policy is at fault, or the loss would give no bound; the
            message says how.
    """
    from sqlanon.loss.cells import DEFAULT_LOSS
    from sqlanon.methods.clustering.bound import BoundRequest, bound_table
    from sqlanon.methods.options import deadline_after

    call = asked(source, policy, table=table)
    loss = call.said.get("loss", DEFAULT_LOSS) if loss is None else loss
    wanted, deadline = BoundRequest(loss, effort), deadline_after(time_limit)
    with (
        following(progress),
        reading(*call.opened, **opening) as (opened, resolved),
    ):
        with opened.engine.transaction(deadline), opened.engine.limited(deadline):
            report = bound_table(opened.engine, opened.table, policy=resolved, wanted=wanted)
        return with_provenance(opened, report, resolved)
