"""Gathering: every figure of a release report, from both tables while they are there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.assessment.check import check_table, table_results
from sqlanon.assessment.measure import MeasureRequest, ReadRelease, read_release
from sqlanon.assessment.persons import person_notes
from sqlanon.assessment.risk import IDENTIFYING, RiskOptions, assess, identifying_sets
from sqlanon.assessment.subsets import DEFAULT_SETS
from sqlanon.classes import RISK_THRESHOLD, ClassStatistics
from sqlanon.deadline import NEVER, Deadline
from sqlanon.engine.base import Engine, searching
from sqlanon.errors import HierarchyError, PolicyError, SourceError, TimeLimitError
from sqlanon.loss.measures import measured
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import KAnonymity
from sqlanon.progress import tell
from sqlanon.query.classes.table_classes import most_records
from sqlanon.query.encoding.fingerprint import fingerprint
from sqlanon.query.syntax import rows_of
from sqlanon.release_report.distributions import released_columns
from sqlanon.release_report.figures import (
    OF_RECORDS,
    LossFigures,
    ReleasedColumn,
    TableSide,
    ValueShares,
)
from sqlanon.release_report.shares import value_shares
from sqlanon.reports.check import CheckReport
from sqlanon.reports.kept import KeptColumns
from sqlanon.reports.risk import PopulationRisk
from sqlanon.reports.separation import SubsetRisk
from sqlanon.wording import key

COUNTED_ROWS = 200_000_000
"""Records times sets of columns that are looked at; a tenth of a second for a million of both."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report is asked for.

    Args:
        threshold: Risk above which a record counts as at risk, in (0, 1].
        identifying: Share of unique records that makes a set of columns identifying, in (0, 1].
        loss: The measure that the report puts first.
        population: Everybody that the records were drawn from; None where nobody knows.

    Raises:
        PolicyError: A share out of range.
    """

    threshold: float = RISK_THRESHOLD
    identifying: float = IDENTIFYING
    loss: str = "lm"
    population: exp.Table | None = None

    def __post_init__(self) -> None:
        RiskOptions(self.threshold, self.identifying)  # which refuses what is no share


@dataclass(frozen=True, slots=True)
class Gathered:
    """What both tables tell of a release.

    Args:
        policy: What it was asked to satisfy.
        options: What was asked for.
        records: Records of the original.
        released: Records of the release.
        columns_released: The columns of the release, in its order.
        unexpected: Those of them that the policy does not publish.
        uncounted: The policy's entity, where the release does not say whose records it holds and
            some person has several, so that its classes and models count records; None elsewhere.
        before: The original.
        after: The release.
        identifying: Which columns of the original tell people apart; None where nobody looked, or
            a time limit came first.
        population: Risks against a population; None where none was given.
        kept: Whom columns single out that no model counts; None without any.
        columns: The quasi-identifiers before and after; empty where labels cannot be read.
        sensitive: The sensitive columns of the release.
        loss: What the release loses.
        suppressed: Records left out, or released without quasi-identifiers; None where unknown.
        sha256: Digest of the release's content.
        notes: What a reader should know besides.
        seconds: How long it took.
        is_cut: Whether the search for columns that tell people apart ran out of time.
        is_late: Whether that for a bound on the loss ran out of time before there was any.
    """

    policy: Policy
    options: ReportOptions
    records: int
    released: int
    columns_released: tuple[str, ...]
    unexpected: tuple[str, ...]
    uncounted: str | None
    before: TableSide
    after: TableSide
    identifying: SubsetRisk | None
    population: PopulationRisk | None
    kept: KeptColumns | None
    columns: tuple[ReleasedColumn, ...]
    sensitive: tuple[ValueShares, ...]
    loss: LossFigures
    suppressed: int | None
    sha256: str
    notes: tuple[str, ...]
    seconds: float
    is_cut: bool = False
    is_late: bool = False

    @property
    def is_grouped(self) -> bool:
        """Whether a column is released in groups of values that no hierarchy has."""
        return any(not column.levels for column in self.columns)


def gather(
    engine: Engine,
    original: exp.Table,
    *,
    released: exp.Table,
    policy: Policy,
    options: ReportOptions,
) -> Gathered:
    """Counts all that a verdict on a release needs; `with_identifying` counts what is besides.

    Raises:
        PolicyError: No quasi-identifier is named, or the tables lack columns of the policy.
        SourceError: The original is empty, or the population does not hold everybody.
    """
    started = time.monotonic()
    if not policy.attributes:
        raise PolicyError("no quasi-identifier is named; name them with --qi COLUMN")
    tell("counting the original")
    columns, records = list(engine.columns(released)), engine.rows(rows_of(original))[0][0]
    before = _original(engine, original, policy=policy)
    tell("checking the released table")
    count = engine.rows(rows_of(released))[0][0]
    present = _present(policy, columns)
    check = check_table(engine, released, policy=present) if count else None
    uncounted = _uncounted(policy, check, before=before)
    tell("measuring what is lost")
    found, missing = _read(engine, original, table=released, policy=policy, count=count)
    names = [name for name in present.sensitive_attributes if count]
    gathered = Gathered(
        policy=policy,
        options=options,
        records=records,
        released=count,
        columns_released=tuple(columns),
        unexpected=_unexpected(engine, original, policy=policy, columns=columns),
        uncounted=uncounted,
        before=before,
        after=_after(check, of_records=uncounted is not None),
        identifying=None,
        population=_against(engine, released, policy=present, options=options) if count else None,
        kept=None if check is None else check.kept_columns,
        columns=()
        if found is None
        else released_columns(
            found, policy, records=count, most=_most_of_one(engine, original, policy=policy)
        ),
        sensitive=tuple(
            value_shares(engine, released, policy=present, name=name) for name in names
        ),
        loss=_lost(found, options.loss, missing=missing),
        suppressed=None if found is None else found.release.suppressed,
        sha256=engine.rows(fingerprint(released, engine.columns(released)))[0][1],
        notes=(
            *person_notes(engine, original, policy=policy),
            *(() if check is None else check.notes),
        ),
        seconds=time.monotonic() - started,
    )
    if check is None or check.entity is None:
        return gathered
    return replace(with_persons(engine, gathered, released), seconds=time.monotonic() - started)


def with_identifying(
    engine: Engine,
    original: exp.Table,
    *,
    found: Gathered,
    deadline: Deadline = NEVER,
    ended: str = "the time limit came",
) -> Gathered:
    """The figures with the columns of the original that tell people apart.

    Where the deadline comes first, there are fewer of them or none, and a note says so.

    Args:
        engine: Where the original is.
        original: The original.
        found: The figures.
        deadline: When the look at sets of columns ends.
        ended: What that deadline is, as the beginning of the note.
    """
    started = time.monotonic()
    sets = max(1, min(DEFAULT_SETS, COUNTED_ROWS // found.records))
    wanted = RiskOptions(found.options.threshold, found.options.identifying, max_sets=sets)
    whole = wanted.largest(len(found.policy.attributes))
    policy = _classes_only(found.policy)
    identifying, notes, is_cut = None, found.notes, False
    try:
        with searching(engine, deadline), engine.limited(deadline):
            identifying = identifying_sets(engine, original, policy=policy, options=wanted)
    except TimeLimitError:
        is_cut = True
        notes = (
            *notes,
            f"{ended} before sets of columns were counted, so the report does not tell which "
            "columns identify",
        )
    if identifying is not None and identifying.largest < whole:
        is_cut = True
        notes = (
            *notes,
            f"{ended} before all sets of columns were counted, so the report knows single columns "
            "and all together",
        )
    return replace(
        found,
        identifying=identifying,
        notes=notes,
        seconds=found.seconds + time.monotonic() - started,
        is_cut=is_cut,
    )


def with_persons(engine: Engine, found: Gathered, rows: exp.Table) -> Gathered:
    """The figures with the persons of the release, each by the smallest class of theirs.

    Args:
        engine: Where the rows are.
        found: The figures.
        rows: The rows of the release with the entity column of the policy.
    """
    wanted = RiskOptions(found.options.threshold, max_columns=0)
    risk = assess(engine, rows, policy=_classes_only(found.policy), options=wanted)
    after = replace(found.after, statistics=risk.statistics, persons=risk.persons)
    return replace(found, after=after, uncounted=None)


def with_sensitive_of_persons(engine: Engine, found: Gathered, rows: exp.Table) -> Gathered:
    """The figures of `with_persons`, those of sensitive columns among them.

    Args:
        engine: Where the rows are.
        found: The figures.
        rows: The rows of the release, sensitive columns and the entity column of the policy
            among them.
    """
    counted = with_persons(engine, found, rows)
    if not found.after.sensitive:
        return counted
    policy = _present(found.policy, list(engine.columns(rows)))
    results = table_results(engine, rows, policy=policy)
    return replace(counted, after=replace(counted.after, sensitive=results.sensitive))


def _uncounted(policy: Policy, check: CheckReport | None, *, before: TableSide) -> str | None:
    """The entity, where records of the release are not known to be persons."""
    if check is None or check.entity is not None or before.persons is None:
        return None
    alone = before.persons.members == before.statistics.records
    return None if alone else policy.entity


def _original(engine: Engine, original: exp.Table, *, policy: Policy) -> TableSide:
    """The original's classes, models and persons."""
    results = table_results(engine, original, policy=policy)
    side = TableSide(results.statistics, results.models, results.sensitive)
    if policy.entity is None:
        return side
    wanted = RiskOptions(max_columns=0)
    persons = assess(engine, original, policy=_classes_only(policy), options=wanted).persons
    return replace(side, persons=persons)


def _most_of_one(engine: Engine, original: exp.Table, *, policy: Policy) -> int:
    """The most records that one person has; 1 where records are counted [records]."""
    if policy.entity is None:
        return 1
    most: int = engine.rows(most_records(original, policy.entity))[0][0]
    return most


def _against(
    engine: Engine, released: exp.Table, *, policy: Policy, options: ReportOptions
) -> PopulationRisk | None:
    """Risks of a release against the population; None without one."""
    if options.population is None:
        return None
    wanted = RiskOptions(options.threshold, max_columns=0)
    found = assess(
        engine,
        released,
        policy=_classes_only(policy),
        options=wanted,
        population=options.population,
    )
    return found.population


def _classes_only(policy: Policy) -> Policy:
    """The policy of quasi-identifiers and persons alone: nothing else is counted by it."""
    return replace(
        policy,
        sensitive=(),
        identifiers=(),
        keep=(),
        drop=() if policy.entity is None else (policy.entity,),
        others="drop",
        models=[model for model in policy.models if isinstance(model, KAnonymity)],
    )


def _present(policy: Policy, columns: Sequence[str]) -> Policy:
    """The policy for a release: what it does not hold cannot be told of anybody.

    Raises:
        PolicyError: The release lacks a quasi-identifier.
    """
    missing = [name for name in policy.attributes if name not in columns]
    if missing:
        raise PolicyError(
            f"the released table has no column {', '.join(map(repr, missing))}; name as "
            "quasi-identifiers (--qi) those that it has"
        )
    attributes = policy.sensitive_attributes
    sensitive = {name: each for name, each in attributes.items() if name in columns}
    models = [m for m in policy.models if sensitive or isinstance(m, KAnonymity)]
    return replace(
        policy,
        sensitive=sensitive,
        models=models,
        keep=[name for name in policy.keep if name in columns],
        identifiers=[name for name in policy.identifiers if name in columns],
        drop=[name for name in policy.drop if name in columns],
    )


def _after(check: CheckReport | None, *, of_records: bool) -> TableSide:
    if check is None:
        return TableSide(ClassStatistics({}))
    models = check.models
    if of_records:
        models = tuple(replace(each, model=each.model + OF_RECORDS) for each in models)
    return TableSide(check.statistics, models, check.sensitive, trajectories=check.trajectories)


def _unexpected(
    engine: Engine, original: exp.Table, *, policy: Policy, columns: Sequence[str]
) -> tuple[str, ...]:
    """Released columns that the policy would not publish."""
    declared = policy.published(list(dict.fromkeys([*engine.columns(original), *columns])))
    return tuple(name for name in columns if name not in declared)


def _lost(found: ReadRelease | None, name: str, *, missing: str) -> LossFigures:
    """What is lost, by `lm` first where a measure does not apply."""
    measures = {} if found is None else measured(found.release)
    return LossFigures(name if key(name) in measures else "lm", measures, missing=missing)


def _read(
    engine: Engine, original: exp.Table, *, table: exp.Table, policy: Policy, count: int
) -> tuple[ReadRelease | None, str]:
    """The release read with the hierarchies, or why it cannot be."""
    if not count:
        return None, "the released table has no record"
    try:
        return read_release(
            engine, original, table=table, policy=policy, wanted=MeasureRequest()
        ), ""
    except (HierarchyError, PolicyError, SourceError) as error:
        return None, str(error)
