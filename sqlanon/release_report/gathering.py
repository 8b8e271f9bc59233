"""Gathering: every figure of a release report, from both tables while they are there.

What a verdict needs is always counted; the columns that identify and a bound on the loss take a
search, which has a time limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.assessment.check import check_table, of_records, table_results
from sqlanon.assessment.measure import ControlError, ReadRelease, read_release
from sqlanon.assessment.persons import person_notes
from sqlanon.assessment.risk import assess, identifying_sets, weighted_risk
from sqlanon.assessment.subsets import DEFAULT_SETS, RiskOptions
from sqlanon.classes import IDENTIFYING_SHARE, RISK_THRESHOLD, ClassStatistics
from sqlanon.deadline import NEVER, Deadline
from sqlanon.engine.base import Engine
from sqlanon.errors import (
    HierarchyError,
    PolicyError,
    SourceError,
    TimeLimitError,
    UnsatisfiableError,
)
from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.loss.measures import measured
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import ValueModel
from sqlanon.policy.sizes import KAnonymity
from sqlanon.progress import tell
from sqlanon.publishing.plan import Plan
from sqlanon.query.classes.table_classes import most_records
from sqlanon.query.encode import fingerprint
from sqlanon.query.syntax import rows_of
from sqlanon.release_report.distributions import released_columns, value_shares
from sqlanon.release_report.figures import (
    LossFigures,
    ReleasedColumn,
    TableSide,
    ValueShares,
)
from sqlanon.reports.attacks import Attacks
from sqlanon.reports.bound import is_useless
from sqlanon.reports.check import CheckReport, ModelResult
from sqlanon.reports.document import ShownTable
from sqlanon.reports.findings import Finding
from sqlanon.reports.kept import KeptColumns
from sqlanon.reports.plan import Report
from sqlanon.reports.risk import PopulationRisk, SubsetRisk
from sqlanon.wording import columns_named, key, part_of, percent

MAX_COUNTED_ROWS = 200_000_000
"""Records times sets of columns that are looked at; a tenth of a second for a million of both."""
EFFORTS = ("none", "quick", "full")
"""How hard a bound is looked for."""
MAX_BOUND_RECORDS, BOUND_SECONDS = 50_000, 10.0
"""Most records of which a bound is looked for where nothing is said, and for how long [seconds]."""
MORE_TIME = "a longer time limit (--time-limit), or effort quick or full (--effort)"


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report is asked for.

    Args:
        loss: The measure that the report puts first.
        threshold: Risk above which a record counts as at risk, in (0, 1].
        identifying: Share of unique records that makes a set of columns identifying, in (0, 1].
        population: Everybody that the records were drawn from; None where nobody knows.
        control: Records of the same population that were not released; None without any.
        effort: How hard a bound is looked for: `none`, `quick` or `full`; None for what is quick
            enough for any report.

    Raises:
        PolicyError: A share out of range, or an effort that is not known.
    """

    loss: str
    threshold: float = RISK_THRESHOLD
    identifying: float = IDENTIFYING_SHARE
    population: exp.Table | None = None
    control: exp.Table | None = None
    effort: str | None = None

    def __post_init__(self) -> None:
        if self.effort not in (None, *EFFORTS):
            raise PolicyError(f"effort {self.effort!r} is not known; choose none, quick or full")
        RiskOptions(self.threshold, self.identifying)  # which refuses what is no share


@dataclass(frozen=True, slots=True)
class Gathered:
    """What both tables tell of a release.

    Args:
        policy: What it was asked to satisfy.
        options: What was asked for.
        records: Records of the original.
        released: Records of the release.
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
        attacks: What attacks on the release find; None where they were not run.
        findings: What `lint` finds about the release.
        is_cut: Whether the search for columns that tell people apart ran out of time.
        is_late: Whether that for a bound on the loss ran out of time before there was any.
    """

    policy: Policy
    options: ReportOptions
    records: int
    released: int
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
    attacks: Attacks | None = None
    findings: tuple[Finding, ...] = ()
    is_cut: bool = False
    is_late: bool = False

    @property
    def is_grouped(self) -> bool:
        """Whether a column is released in groups of values that no hierarchy has."""
        return any(not column.levels for column in self.columns)

    @property
    def models(self) -> tuple[ModelResult, ...]:
        """The policy's models and whether they hold in the release, named by what they count."""
        return self.after.models if self.uncounted is None else of_records(self.after.models)

    @property
    def left_out(self) -> int:
        """Records that the release does not hold, or holds without any quasi-identifier."""
        return self.records - self.released if self.suppressed is None else self.suppressed

    @property
    def unit(self) -> str:
        """What figures of both tables count: records, persons, or either."""
        if self.uncounted is None:
            return self.before.unit
        return f"{self.before.unit} or {self.after.unit}"

    def heads(self, before: str, after: str) -> list[str]:
        """The names of both tables, with what each counts where that differs."""
        if self.uncounted is None:
            return [before, after]
        return [f"{before} ({self.before.unit})", f"{after} ({self.after.unit})"]

    @property
    def risks(self) -> ShownTable:
        """Classes and risks of both tables."""
        threshold, sides = self.options.threshold, (self.before, self.after)
        sizes = [side.statistics for side in sides]
        rows = [
            ["records", *(f"{statistics.records:,}" for statistics in sizes)],
            ["classes", *(f"{statistics.classes:,}" for statistics in sizes)],
            ["smallest class", *(f"{statistics.smallest:,}" for statistics in sizes)],
            ["median class", *(_size(statistics.median) for statistics in sizes)],
            ["mean class", *(_size(statistics.mean) for statistics in sizes)],
            ["largest class", *(f"{statistics.largest:,}" for statistics in sizes)],
            [
                f"unique {self.unit}",
                *(part_of(side.by_unit.unique, side.by_unit.members) for side in sides),
            ],
            ["prosecutor risk, highest", *(percent(figures.highest_risk) for figures in sizes)],
            ["prosecutor risk, mean", *(percent(side.by_unit.mean_risk) for side in sides)],
            [
                f"{self.unit} above {percent(threshold)} risk",
                *(part_of(side.by_unit.at_risk(threshold), side.by_unit.members) for side in sides),
            ],
            *self._of_others(),
            *self._of_weights(),
        ]
        heads = ["", *self.heads("original", "release")]
        return ShownTable(rows, heads, "Classes and risk before and after")

    def _of_others(self) -> Iterator[list[str]]:
        """Journalist and marketer risk: of a population, or what they are at most."""
        before, after = self.before, self.after
        highest = f"at most {percent(before.statistics.highest_risk)}"
        if self.population is None:
            people = [
                result.value for result in after.models if result.model == "k-map" and result.value
            ]
            other = f"at most {percent(after.statistics.highest_risk)}"
            if people:
                other = percent(1 / people[0])
            yield ["journalist risk, highest", highest, other]
            matched = [f"at most {percent(side.statistics.mean_risk)}" for side in (before, after)]
            yield ["marketer risk", *matched]
            return
        mean = f"at most {percent(before.by_unit.mean_risk)}"
        of_population = percent(self.population.journalist_mean)
        yield ["journalist risk, highest", highest, percent(self.population.journalist_max)]
        yield ["journalist risk, mean", mean, of_population]
        yield ["marketer risk", mean, of_population]

    def _of_weights(self) -> list[list[str]]:
        """Individual risk of both tables, a row for each figure; none without weights."""
        sides = [self.before.weights, self.after.weights]
        side_figures = [
            {} if risk is None else dict(risk.rows(self.options.threshold)) for risk in sides
        ]
        named = dict.fromkeys([name for figures in side_figures for name in figures])
        return [[name, *(figures.get(name, "–") for figures in side_figures)] for name in named]


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
    if policy.entity is not None and policy.entity not in engine.columns(original):
        raise PolicyError(
            f"the original has no column {policy.entity!r}, by which the policy counts persons, so "
            "it cannot be told whether they are protected; name the entity that it has (--entity)"
        )
    tell("counting the original")
    columns, [(records,)] = list(engine.columns(released)), engine.rows(rows_of(original))
    results, classes = table_results(engine, original, policy=policy), _classes_only(policy)
    before = TableSide(results.statistics, results.models, results.sensitive)
    most = 1
    if policy.entity is not None:
        risk = assess(engine, original, policy=classes, options=RiskOptions(max_columns=0))
        before = replace(before, persons=risk.persons)
        [(most,)] = engine.rows(most_records(original, policy.entity))
    tell("checking the released table")
    [(count,)] = engine.rows(rows_of(released))
    present = _present(policy, columns)
    check = check_table(engine, released, policy=present) if count else None
    after, uncounted = _after(check, policy, before=before)
    population = None
    if count and options.population is not None:
        population = assess(
            engine,
            released,
            policy=_classes_only(present),
            options=RiskOptions(options.threshold, max_columns=0),
            population=options.population,
        ).population
    tell("measuring what is lost")
    read, missing = _read(
        engine, original, table=released, policy=policy, count=count, control=options.control
    )
    losses = {} if read is None else measured(read.release)
    published = policy.published(list(dict.fromkeys([*engine.columns(original), *columns])))
    gathered = Gathered(
        policy=policy,
        options=options,
        records=records,
        released=count,
        unexpected=tuple(name for name in columns if name not in published),
        uncounted=uncounted,
        before=before,
        after=after,
        identifying=None,
        population=population,
        kept=None if check is None else check.kept_columns,
        columns=() if read is None else released_columns(read, policy, records=count, most=most),
        sensitive=tuple(
            value_shares(engine, released, policy=present, name=name)
            for name in present.sensitive_attributes
            if count
        ),
        # By lm first where the measure that was asked for does not apply.
        loss=LossFigures(
            options.loss if key(options.loss) in losses else "lm", losses, use=read.use
        )
        if read is not None
        else LossFigures(missing=missing),
        suppressed=None if read is None else read.release.suppressed,
        sha256=engine.rows(fingerprint(released, engine.columns(released)))[0][1],
        notes=(
            *person_notes(engine, original, policy=policy),
            *(() if check is None else check.notes),
            *(() if read is None else read.missed_notes),
        ),
        seconds=time.monotonic() - started,
        attacks=None if read is None else read.attacks,
    )
    gathered = with_weights(engine, gathered, original, is_original=True)
    if count and {policy.weight, policy.household} & {*columns} - {None}:
        gathered = with_weights(engine, gathered, released)
    if check is None or check.entity is None:
        return gathered
    return replace(with_persons(engine, gathered, released), seconds=time.monotonic() - started)


def with_identifying(
    engine: Engine,
    original: exp.Table,
    *,
    facts: Gathered,
    deadline: Deadline = NEVER,
    ended: str = "the time limit came",
) -> Gathered:
    """The figures with the columns of the original that tell people apart.

    Where the deadline comes first, there are fewer of them or none, and a note says so.

    Args:
        engine: Where the original is.
        original: The original.
        facts: The figures.
        deadline: When the look at sets of columns ends.
        ended: What that deadline is, as the beginning of the note.
    """
    started, policy, options = time.monotonic(), _classes_only(facts.policy), facts.options
    sets = max(1, min(DEFAULT_SETS, MAX_COUNTED_ROWS // facts.records))
    wanted = RiskOptions(options.threshold, options.identifying, max_sets=sets)
    identifying, cut = None, ""
    try:
        with engine.transaction(deadline), engine.limited(deadline):
            identifying = identifying_sets(engine, original, policy=policy, options=wanted)
    except TimeLimitError:
        cut = "sets of columns were counted, so the report does not tell which columns identify"
    if identifying is not None and identifying.largest < wanted.largest(len(policy.attributes)):
        cut = (
            "all sets of columns were counted, so the report knows single columns and all together"
        )
    figures = _noted(facts, f"{ended} before {cut}") if cut else facts
    seconds = facts.seconds + time.monotonic() - started
    return replace(figures, identifying=identifying, seconds=seconds, is_cut=bool(cut))


def with_weights(
    engine: Engine, facts: Gathered, rows: exp.Table, *, is_original: bool = False
) -> Gathered:
    """The figures with the individual risk of the original or, by its rows, of the release.

    What keeps it from being counted is a note.
    """
    policy, threshold = facts.policy.weighed_by(engine.columns(rows)), facts.options.threshold
    try:
        with engine.workspace():
            weights = weighted_risk(engine, rows, policy=policy, threshold=threshold)
    except (PolicyError, SourceError) as error:
        return _noted(facts, f"individual risk is not told: {error}")
    if is_original:
        return replace(facts, before=replace(facts.before, weights=weights))
    return replace(facts, after=replace(facts.after, weights=weights))


def with_persons(engine: Engine, facts: Gathered, rows: exp.Table) -> Gathered:
    """The figures with the persons of the release, each by the smallest class of theirs.

    Args:
        engine: Where the rows are.
        facts: The figures.
        rows: The rows of the release with the entity column of the policy, and with sensitive
            columns where these were counted by record.
    """
    wanted = RiskOptions(facts.options.threshold, max_columns=0)
    risk = assess(engine, rows, policy=_classes_only(facts.policy), options=wanted)
    after = replace(facts.after, statistics=risk.statistics, persons=risk.persons)
    if facts.uncounted is not None and after.sensitive:
        policy = _present(facts.policy, list(engine.columns(rows)))
        after = replace(after, sensitive=table_results(engine, rows, policy=policy).sensitive)
    return replace(facts, after=after, uncounted=None)


def searched(
    engine: Engine, original: exp.Table, *, facts: Gathered, deadline: Deadline, plan: Plan | None
) -> Gathered:
    """The figures with what takes a search: the columns that identify, and a bound on the loss.

    The deadline is when all that a verdict does without ends.
    """
    is_asked = facts.options.effort != "none"
    reason = _unbounded(facts) if is_asked else ""
    is_bounded = is_asked and not reason
    half = deadline.share(0.5) if is_bounded else deadline
    figures = with_identifying(engine, original, facts=facts, deadline=half)
    if reason:
        figures = _noted(figures, f"no lower bound on the loss was looked for: {reason}")
    if is_bounded:
        figures = _bounded(engine, original, facts=figures, deadline=deadline)
    bounded = figures if plan is None else with_bound(figures, plan.report)
    if bounded is figures and figures.loss.is_cut:
        proved = "the lower bound is what there was time to prove"
        return _noted(figures, f"{proved}; {MORE_TIME} may prove a higher one")
    return bounded


def _bounded(
    engine: Engine, original: exp.Table, *, facts: Gathered, deadline: Deadline
) -> Gathered:
    """The figures with what any recoding loses at least, where that can be proved in time."""
    from sqlanon.methods.clustering.bound import BoundRequest, bound_table  # few reports need it

    effort = facts.options.effort
    wanted = BoundRequest(facts.loss.name, effort or "quick")
    limit = Deadline.after(BOUND_SECONDS if effort is None else None)
    until = min(limit, deadline, key=lambda candidate: candidate.end)
    try:
        with engine.transaction(until), engine.limited(until):
            bound = bound_table(engine, original, policy=facts.policy, wanted=wanted)
    except TimeLimitError:
        late = replace(facts, is_late=True)
        return _noted(late, f"no lower bound on the loss was found in time; allow {MORE_TIME}")
    except UnsatisfiableError as error:
        return _noted(facts, f"no lower bound on the loss was found: {error}")
    k = facts.policy.k
    loss = replace(
        facts.loss,
        lower_bound=bound.lower_bound,
        bound_of=f"no {k}-anonymous recoding into nodes of the hierarchies within the limit",
        is_cut=bound.is_cut,
    )
    return replace(facts, loss=loss)


def _noted(facts: Gathered, note: str) -> Gathered:
    return replace(facts, notes=(*facts.notes, note))


def _unbounded(facts: Gathered) -> str:
    """Why no bound of recodings into nodes is one of this release; empty where one is."""
    policy, name = facts.policy, facts.loss.name
    known = ", ".join(CELL_LOSSES)
    reasons = {
        f"none is known for loss {name!r}; choose one of {known} (--loss)": name not in CELL_LOSSES,
        "the policy asks for no k (--k)": not any(
            isinstance(model, KAnonymity) for model in policy.models
        ),
        "the labels of the release could not be read": not facts.columns,
        "a column is released in groups of values that no hierarchy has": facts.is_grouped,
        "more records are left out than the policy's limit (--suppression-limit) allows": (
            facts.suppressed or 0
        )
        > policy.allowance(facts.records),
        "whose records are whose cannot be told of the release": facts.uncounted is not None,
        f"the release has classes below k = {policy.k}": (
            facts.after.statistics.smallest < policy.k
        ),
        f"the table has more than {MAX_BOUND_RECORDS:,} records; ask for one with --effort quick": (
            facts.options.effort is None and facts.records > MAX_BOUND_RECORDS
        ),
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


def with_bound(facts: Gathered, report: Report) -> Gathered:
    """The figures with the bound of the plan, where no bound of every recoding says more."""
    loss, bound = facts.loss, report.lower_bound
    if bound is None or loss.name != report.loss_name:
        return facts
    least, lost = loss.lower_bound, loss.value
    says_more = least is None or (lost is not None and is_useless(lost, least) and bound > least)
    return replace(facts, loss=loss.with_bound_of(report)) if says_more else facts


def _classes_only(policy: Policy) -> Policy:
    """The policy of quasi-identifiers and persons alone: nothing else is counted by it."""
    return replace(
        policy,
        sensitive=(),
        identifiers=(),
        keep=(),
        drop=() if policy.entity is None else (policy.entity,),
        weight=None,
        household=None,
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
            f"the released table has no {columns_named(missing)}; name as "
            "quasi-identifiers (--qi) those that it has"
        )
    attributes = policy.sensitive_attributes
    sensitive = {name: attribute for name, attribute in attributes.items() if name in columns}
    models = [m for m in policy.models if sensitive or not isinstance(m, ValueModel)]
    return replace(
        policy,
        sensitive=sensitive,
        models=models,
        keep=[name for name in policy.keep if name in columns],
        identifiers=[name for name in policy.identifiers if name in columns],
        drop=[name for name in policy.drop if name in columns],
    )


def _after(
    check: CheckReport | None, policy: Policy, *, before: TableSide
) -> tuple[TableSide, str | None]:
    """The release, and the entity where it is not known whose its records are."""
    if check is None:
        return TableSide(ClassStatistics({})), None
    after = TableSide(
        check.statistics, check.models, check.sensitive, trajectories=check.trajectories
    )
    persons = before.persons
    if check.entity is not None or persons is None or persons.members == before.statistics.records:
        return after, None
    return after, policy.entity


def _read(
    engine: Engine,
    original: exp.Table,
    *,
    table: exp.Table,
    policy: Policy,
    count: int,
    control: exp.Table | None,
) -> tuple[ReadRelease | None, str]:
    """The release read with the hierarchies, or why it cannot be."""
    if not count:
        return None, "the released table has no record"
    try:
        reading = read_release(engine, original, table=table, policy=policy, control=control)
        return reading, ""
    except ControlError:
        raise
    except (HierarchyError, PolicyError, SourceError) as error:
        return None, str(error)


def _size(size: float) -> str:
    """A class size to one place, a whole one without.

    >>> _size(1.0), _size(1.25)
    ('1', '1.2')
    """
    return f"{size:,.1f}".removesuffix(".0")
