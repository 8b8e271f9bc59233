"""Comparing: searches run one after the other on one table, each with a result or a reason.

`compare` runs several methods. They share a process: the table is opened once, no connection of a
caller goes along into another process, and the kernel lets a peak of memory begin anew for each
row. Without a time limit a first look is bounded by passes, not by seconds: a short deadline would
end methods wherever a busy machine lets them come, and quick cuts would then stand for most.

`sweep` runs one method over a grid of figures of the policy. The table is read and encoded once. A
full-domain search keeps the codes, the frequency sets and what it has checked: what a node
suppresses at one k is the same at every suppression limit. A point is a plan as any other, searched
to its end; rows of `compare`, which have few passes for a first look, would mix the loss against k
with how hard was searched.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Unpack, cast

from sqlglot import exp

from sqlanon.arguments import checked, is_whole_number
from sqlanon.comparison.report import (
    TO_NODES,
    Asked,
    ComparedRow,
    Comparison,
    Failure,
    Sweep,
    SweptPoint,
)
from sqlanon.deadline import Deadline
from sqlanon.engine.base import Engine
from sqlanon.engine.open import OpenedSource, Resources
from sqlanon.errors import (
    HierarchyError,
    PolicyError,
    SourceError,
    SqlanonError,
    TimeLimitError,
    UnsatisfiableError,
)
from sqlanon.loss.cells import DEFAULT_LOSS
from sqlanon.methods import options as method_options
from sqlanon.methods.choice import Choice, Situation, choose
from sqlanon.methods.registry import (
    AUTO,
    METHODS,
    OPTIONS,
    Options,
    SharedWork,
    method_named,
    owners_of,
)
from sqlanon.microdata.binding import bind
from sqlanon.microdata.calls import AnyPolicy, Frame, Source, asked
from sqlanon.microdata.opening import opened_for, unchanged_for, with_provenance
from sqlanon.policy.policy import Policy
from sqlanon.policy.varied import LIMIT, Variation, variation
from sqlanon.progress import ProgressLine
from sqlanon.publishing.planner import make_plan, refuse_idle_annealing, refuse_without_solver
from sqlanon.publishing.settings import (
    Settings,
    completed,
    completed_for,
    opening_of,
    options_of,
)
from sqlanon.reports.bound import BoundReport
from sqlanon.reports.plan import Report

PROVING = ("scheme", "pattern-exact")
"""Methods that search on long after they have a result, until nothing better is left."""
PROVING_SECONDS, PROVING_AGAIN = 3.0, 4.0
"""What each of these has where no time limit is given [seconds of the processor], and how many
times as much it has once more where that is too little for a result of its own."""
MIN_BOUND_SECONDS = 5.0
"""What a bound that nobody asked for has at least; else as long as the rows took [seconds]."""
BRIEF_PASSES, BRIEF_POOLS = 8, 100
"""Passes of a refinement and pools of a large neighbourhood search, where neither these nor a time
limit are given, so that what is lost does not depend on what else the machine does."""
MAX_POINTS = 1000
"""Points of a grid at most."""

_STATUS = Path("/proc/self/status")
_PEAK = Path("/proc/self/clear_refs")
_RESET = "5"  # proc(5): the peak resident set becomes the present one


@checked
def compare(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
    methods: Sequence[str] | None = None,
    losses: Sequence[str] | None = None,
    ks: Sequence[int] | None = None,
    **settings: Unpack[Settings],
) -> Comparison:
    """What several methods make of one table, side by side; writes nothing.

    Each row is what `plan` would report with that method, or the reason why there is no result.

    Args:
        source: As for `check`.
        policy: What the published table must satisfy, as for `plan`.
        table: As for `check`.
        methods: Names of methods, `auto` among them for the one that it chooses; None for all.
        losses: The losses to minimize, one after the other; None for the policy file's, or `lm`.
        ks: Values of k, in place of that of the policy.
        settings: Options of methods, each for those that take it, `seed` and `progress`, and the
            `opening` of `check`. `time_limit` is that of each row; where None, refinements are of 8
            `passes`, and methods that search until their result is proven have a share of time.

    Raises:
        SqlanonError: The source or the policy is at fault, or a name is not known; where no method
            has a result since all are refused, what refused the first.
    """
    started = time.monotonic()
    for name, more in (("method", "methods"), ("loss", "losses")):
        if name in settings:
            raise PolicyError(f"{name} is of one search; name {more} to compare")
    for name, given in (("methods", methods), ("losses", losses), ("ks", ks)):
        if given is not None and not given:
            raise PolicyError(f"{name} is empty; name at least one, or leave it out")
    call, opening = asked(source, policy, table=table), opening_of(settings)
    named = tuple(METHODS if methods is None else methods)
    settings = completed_for(named, settings, call.said)
    losses = (call.said.get("loss", DEFAULT_LOSS),) if losses is None else losses
    _refuse_compared(named, losses, ks or (), settings)
    with (
        opened_for(*call.opened, read_only=True, **opening) as (opened, resolved),
        unchanged_for(opened, resolved),
    ):
        refuse_idle_annealing(resolved, settings.get("improve"))
        refuse_without_solver(settings.get("improve"))
        runner = _Runner(
            opened.engine,
            opened.table,
            resolved,
            named,
            tuple(losses),
            tuple(ks or (resolved.k,)),
            settings,
        )
        rows = tuple(runner.rows())
        _refuse_none_done(runner.errors, rows)
        done = [method_named(row.asked.method) for row in rows if row.report is not None]
        refined = any(row.takes("passes") for row in done)
        comparison = Comparison(
            name_of(opened),
            rows,
            runner.losses,
            runner.ks,
            runner.limit,
            tuple(_notes(rows)),
            time.monotonic() - started,
            bounds=tuple(runner.bounds),
            passes=BRIEF_PASSES if runner.is_brief and refined else None,
        )
        return with_provenance(opened, comparison, resolved)


def _refuse_compared(
    methods: Sequence[str], losses: Sequence[str], ks: Sequence[int], settings: Settings
) -> None:
    """Refuses what cannot be compared.

    Raises:
        PolicyError: A name that is not known or given twice, a k that is no whole number of at
            least 1, or an option that is invalid or that none of the methods takes.
    """
    for what, given in (("method", methods), ("loss", losses), ("k", ks)):
        twice = [entry for entry, times in Counter[object](given).items() if times > 1]
        if twice:
            raise PolicyError(f"{what} {twice[0]!r} is compared twice; name it once")
    rows = [method_named(name) for name in methods]
    for k in ks:
        if not (is_whole_number(k) and k >= 1):
            raise PolicyError(f"k is {k!r}; each of ks is a whole number of at least 1")
    for loss in losses:
        if not any(loss in row.losses for row in rows):
            rows[0].check_loss(loss)
    for name, value in settings.items():
        if name not in OPTIONS:
            continue
        OPTIONS[name].check(value)
        if not any(row.takes(name) for row in rows):
            raise PolicyError(
                f"{name} is an option of none of the methods that are compared; compare "
                f"{' or '.join(owners_of(name))}, too, or leave it out"
            )


@dataclass(slots=True)
class _Runner:
    """Runs searches one after the other.

    Args:
        engine: Where the table lives.
        table: The table.
        policy: Its policy.
        methods: The methods.
        losses: The losses to minimize; each method minimizes one after the other.
        ks: The values of k.
        settings: Options of methods, each for those that take it, and of all.
        errors: What refused or ended searches, in their order.
        bounds: What every recoding into nodes loses at least, as far as no row says so.
        shared: What the rows of one loss and k have in common.
    """

    engine: Engine
    table: exp.Table
    policy: Policy
    methods: tuple[str, ...]
    losses: tuple[str, ...]
    ks: tuple[int, ...]
    settings: Settings
    errors: list[SqlanonError] = field(default_factory=list)
    bounds: list[BoundReport] = field(default_factory=list)
    shared: SharedWork = field(default_factory=SharedWork)

    def rows(self) -> Iterator[ComparedRow]:
        """A row for each loss, k and method, in this order."""
        for loss in self.losses:
            for k in self.ks:
                yield from self._section(loss, k)

    def _section(self, loss: str, k: int) -> Iterator[ComparedRow]:
        """A row for each method, of one loss and one k."""
        # A policy of subsets alone has 1 for its k, by which nothing may be made weaker.
        policy = self.policy if k == self.policy.k else variation("k", k).policy(self.policy)
        # Under a time limit nothing is shared, so that a row shows what a method makes of it alone.
        self.shared = SharedWork(0 if self.limit is not None else _most_shared(self.settings))
        choice = self._choice(policy, loss)
        named = [
            choice.method if name == AUTO and choice is not None else name for name in self.methods
        ]
        asked = [Asked(name, loss, k) for name in dict.fromkeys(named)]
        rows = list[ComparedRow]()
        for number, request in enumerate(asked, start=1):
            line = f"{loss}, k = {k}: {request.method}, {number} of {len(asked)}"
            row = self._row(request, policy, where=ProgressLine(line, (number - 1) / len(asked)))
            if choice is not None and choice.method == request.method:
                row = replace(row, reason=choice.reason)
            rows.append(row)
        self._bound(rows, policy)
        yield from rows

    @property
    def limit(self) -> float | None:
        """What each row has; None for no limit [seconds]."""
        return self.settings.get("time_limit")

    @property
    def is_brief(self) -> bool:
        """Whether clusters are refined by few passes for a first look."""
        return self.limit is None and not self.settings.keys() & {"passes", "refine"}

    def options(self, asked: Asked) -> Options[Any]:
        """The options of one row, with those of other methods left out; time runs from now on.

        Raises:
            PolicyError: The method does not take the loss, or an option's value.
        """
        row, given = method_named(asked.method), dict[str, Any]()
        # What auto is told of leaves it those methods alone that take it.
        if self.is_brief and asked.method != AUTO:
            given["passes"] = BRIEF_PASSES
        if self.settings.get("improve") == "lns" and self.limit is None:
            given["pools"] = BRIEF_POOLS
        given |= self.settings
        values = {n: v for n, v in given.items() if n not in OPTIONS or row.takes(n)}
        lns = values.get("improve") == "lns" and not row.takes("pools")
        if lns and any(method_named(name).takes("pools") for name in self.methods):
            del values["improve"]
        return options_of(cast("Settings", {**values, "method": asked.method, "loss": asked.loss}))

    def _bound(self, rows: Sequence[ComparedRow], policy: Policy) -> None:
        """Bounds what every recoding into nodes loses, where a row is one and no cover did so.

        As hard as `bound` says: not at all where columns are to prove it, as each row does. Where
        it says nothing, no longer than the rows took.
        """
        asked, effort = rows[0].asked, self.settings.get("bound")
        seconds = self.limit
        if effort is None and seconds is None:
            seconds = max(MIN_BOUND_SECONDS, sum(row.seconds for row in rows))
        effort = effort or "quick"
        known = [row for row in rows if row.report is not None and row.recoding in TO_NODES]
        if effort == "columns" or not known or any(row.bounds_by_itemsets for row in known):
            return
        _tell(self.settings, f"{asked.loss}, k = {asked.k}: the lower bound")
        from sqlanon.methods.clustering import bound  # most comparisons need none

        deadline = Deadline.after(seconds)
        with (
            suppress(PolicyError, TimeLimitError, UnsatisfiableError),
            self.engine.transaction(deadline),
            self.engine.limited(deadline),
        ):
            wanted = bound.BoundRequest(asked.loss, effort, shared=self.shared)
            report = bound.bound_table(self.engine, self.table, policy=policy, wanted=wanted)
            self.bounds.append(report)

    def _choice(self, policy: Policy, loss: str) -> Choice | None:
        """What `auto` chooses; None where it is refused."""
        try:
            options = self.options(Asked(AUTO, loss, policy.k))
            with self.engine.transaction(options.deadline), self.engine.workspace():
                subject = bind(self.engine, self.table, policy=policy)
                local_rows = self.engine.can.local_rows
                return choose(Situation(subject, policy, options, local_rows))
        except (PolicyError, HierarchyError):
            return None

    def _row(self, asked: Asked, policy: Policy, *, where: ProgressLine) -> ComparedRow:
        """The result of one method, or why there is none."""
        _tell(self.settings, where)
        row = ComparedRow(asked, method_named(asked.method).recoding)
        known, before, started = begin_peak(), memory("VmRSS"), time.monotonic()
        borrowed = self.shared.borrowed
        made = _tried(lambda: self._planned(asked, policy, where=where), self.errors)
        seconds = time.monotonic() - started
        if isinstance(made, Failure):
            return replace(row, failure=made, seconds=seconds)
        return replace(
            row,
            report=made,
            seconds=seconds,
            shared_seconds=self.shared.borrowed - borrowed,
            peak_memory=memory("VmHWM") if known else None,
            memory_before=before if known else None,
        )

    def _planned(self, asked: Asked, policy: Policy, *, where: ProgressLine) -> Report:
        """What a plan by one method reports.

        Raises:
            SqlanonError: There is none, or not in the time that was asked for.
        """
        options = self.options(asked)
        method = options.method
        if method.fallback is not None:  # a row is what the method itself finds
            method = replace(method, fallback=None)
        options = replace(
            options,
            method=method,
            progress=_within(self.settings, where),
            shared=self.shared,
        )
        if self.limit is None and asked.method in PROVING:
            with suppress(TimeLimitError):
                report = self._made(policy, options, Deadline.of_processor(PROVING_SECONDS))
                if report.search.given_up is None:
                    return report
            return self._made(
                policy, options, Deadline.of_processor(PROVING_AGAIN * PROVING_SECONDS)
            )
        report = self._made(policy, options, options.deadline)
        if report.search.given_up is not None:
            raise TimeLimitError(report.search.given_up)
        return report

    def _made(self, policy: Policy, options: Options[Any], deadline: Deadline) -> Report:
        """What a plan reports that is made until a deadline."""
        with self.engine.transaction(deadline):
            asked = replace(options, deadline=deadline)
            return make_plan(self.engine, self.table, policy, asked).report


def begin_peak() -> bool:
    """Has the peak of memory begin at what is held now; whether the kernel can do that."""
    gc.collect()
    try:
        _PEAK.write_text(_RESET)
    except OSError:
        return False
    return memory("VmHWM") is not None


def memory(name: str) -> int | None:
    """What the process holds (VmRSS), or held most (VmHWM) [bytes]; None where unknown."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024  # the kernel counts in kB
    return None


def _tried(made: Callable[[], Report], errors: list[SqlanonError]) -> Report | Failure:
    """What a search reports, or why it has no result; its error goes to the others."""
    try:
        return made()
    except SourceError:  # no other search would fare better
        raise
    except SqlanonError as error:
        errors.append(error)
        return Failure(type(error).__name__, str(error), error.exit_code)


def _refuse_none_done(errors: Sequence[SqlanonError], asked: Sequence[object]) -> None:
    """Raises what refused the first search where every one is refused."""
    if len(errors) == len(asked) and all(error.exit_code == 2 for error in errors):
        raise errors[0]


def _tell(settings: Settings, line: str) -> None:
    tell = settings.get("progress")
    if tell is not None:
        tell(line)


def _within(settings: Settings, line: ProgressLine) -> Callable[[str], None]:
    """What tells of a search, after the line that says which it is."""
    return lambda inner: _tell(settings, ProgressLine(f"{line}: {inner}", line.share))


def _most_shared(settings: Settings) -> int:
    """Most records of what searches may share, as many as a cover has in memory [records]."""
    most = settings.get("block_records", method_options.BLOCK_RECORDS)
    limit = Resources(memory_limit=settings.get("memory_limit")).memory
    return most if limit is None else min(most, limit // method_options.RECORD_BYTES)


def name_of(source: OpenedSource) -> str | None:
    """What the table is called, or the file that it is; None for a frame."""
    if source.kind == "file" and source.path is not None:
        return source.path.name
    return None if source.table.name.startswith("_sqlanon_") else source.table.name


def _notes(rows: Sequence[ComparedRow]) -> Iterator[str]:
    """Notes that every result has, which are about the table and its policy."""
    notes = [row.report.notes for row in rows if row.report is not None]
    yield from (
        note for note in (notes[0] if notes else ()) if all(note in other for other in notes)
    )
    if notes and all(row.peak_memory is None for row in rows):
        yield (
            "the operating system does not tell how much memory a method takes, so peaks are "
            "left out"
        )


@checked
def sweep(
    source: Source | Frame,
    policy: AnyPolicy,
    *,
    table: Any = None,
    over: Mapping[str, Iterable[Any]],
    **settings: Unpack[Settings],
) -> Sweep:
    """What a method makes of one table at each point of a grid of the policy; writes nothing.

    Each point is what `plan` would report with that policy. One that no recoding satisfies, or that
    the time limit ends before it has a result, is a point with the reason.

    Args:
        source: As for `check`.
        policy: What the published table must satisfy besides, as for `plan`.
        table: As for `check`.
        over: Values by figure of the policy: `k`, the key of another model (`l`, `t`, ...), or
            `suppression_limit`, each a number or a text as the command line takes it, such as
            `entropy:3`. The last figure varies fastest.
        settings: As for `plan`, but for `minimal_nodes` and `alternatives`, which are about one
            plan; `time_limit` is that of each point.

    Raises:
        SqlanonError: The source or the policy is at fault, a figure is not known or cannot have a
            value; where every point is refused, what refused the first.
    """
    started = time.monotonic()
    _refuse_single(settings)
    axes = _axes(over)
    call = asked(source, policy, table=table)
    settings = completed(settings, call.said)
    options = options_of(settings)
    opening = opened_for(
        *call.opened, read_only=True, opens_population=True, **opening_of(settings)
    )
    with opening as (opened, resolved):
        points = [_varied(resolved, point) for point in product(*axes)]
        sweeper = _Sweeper(opened.engine, opened.table, settings)
        with (
            opened.engine.transaction(options.deadline),
            unchanged_for(opened, resolved),
            opened.engine.workspace(),
        ):
            results = tuple(sweeper.points(points))
        _refuse_none_done(sweeper.errors, results)
        swept = Sweep(
            name_of(opened),
            {axis[0].key: axis for axis in axes},
            results,
            options.method.name,
            options.loss,
            seconds=time.monotonic() - started,
        )
        return with_provenance(opened, swept, resolved)


def _refuse_single(settings: Settings) -> None:
    """Refuses, by a `PolicyError`, what a sweep does not show."""
    for name in ("minimal_nodes", "alternatives"):
        if settings.get(name):
            raise PolicyError(
                f"{name} is about one plan, and a sweep makes several; choose a point, and plan it"
            )


def _axes(over: Mapping[str, Iterable[Any]]) -> list[tuple[Variation, ...]]:
    """The values of each figure.

    Raises:
        PolicyError: A figure is not known, has no values, one twice or one that it cannot have, or
            there are too many points.
    """
    if not over:
        raise PolicyError("nothing is swept; name figures with their values, such as k: [2, 5, 10]")
    axes, points = list[tuple[Variation, ...]](), 1
    for key, values in over.items():
        axis = tuple(variation(str(key), value) for value in _listed(values))
        if not axis:
            raise PolicyError(f"{key} has no list of values to sweep; give some, such as 2, 5, 10")
        labels = [value.label for value in axis]
        twice = [label for label in dict.fromkeys(labels) if labels.count(label) > 1]
        if twice:
            raise PolicyError(f"{key} is swept over {twice[0]} twice; name each value once")
        if any(axis[0].key == other[0].key for other in axes):
            raise PolicyError(f"{axis[0].key} is swept twice; put all of its values in one list")
        axes.append(axis)
        points *= len(axis)
    if points > MAX_POINTS:
        raise PolicyError(
            f"the grid has {points:,} points, and at most {MAX_POINTS:,} are swept; name fewer "
            "values"
        )
    return axes


def _listed(values: object) -> list[Any]:
    """The values of a list, an array or anything else that has some; none of a single value."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        return []
    try:
        return list(values)
    except TypeError:  # an array of numpy without a dimension
        return []


def _varied(policy: Policy, point: Sequence[Variation]) -> tuple[Sequence[Variation], Policy]:
    for value in point:
        policy = value.policy(policy)
    return point, policy


def _models(values: Sequence[Variation]) -> tuple[str, ...]:
    """What tells points apart that differ in more than the suppression limit."""
    return tuple(value.label for value in values if value.key != LIMIT)


@dataclass(slots=True)
class _Sweeper:
    """Plans for one policy after the other.

    Args:
        engine: Where the table lives.
        table: The table.
        settings: Options of the search.
        stored: What full-domain searches leave in the database for the next.
        shared: What the searches by the last models leave outside the database, by these.
        errors: What refused or ended searches, in their order.
    """

    engine: Engine
    table: exp.Table
    settings: Settings
    stored: dict[Any, Any] | None = None
    shared: dict[Sequence[str], SharedWork] = field(default_factory=dict)
    errors: list[SqlanonError] = field(default_factory=list)

    def __post_init__(self) -> None:
        if method_named(options_of(self.settings).method.name).takes("minimal_nodes"):
            self.stored = {}

    def points(self, points: Sequence[tuple[Sequence[Variation], Policy]]) -> Iterator[SweptPoint]:
        """The result of each point, those that differ in the limit alone one after the other."""
        groups = list(dict.fromkeys(_models(values) for values, _ in points))
        order = sorted(range(len(points)), key=lambda at: groups.index(_models(points[at][0])))
        results = dict[int, SweptPoint]()
        for number, at in enumerate(order):
            values, policy = points[at]
            shown = ", ".join(f"{value.key} {value.label}" for value in values)
            line = f"sweep: {number + 1} of {len(points)}, {shown}"
            progress_line = ProgressLine(line, number / len(points))
            results[at] = self._point(values, policy, line=progress_line)
        return (results[at] for at in range(len(points)))

    def _point(
        self, values: Sequence[Variation], policy: Policy, *, line: ProgressLine
    ) -> SweptPoint:
        _tell(self.settings, line)
        started, models = time.monotonic(), _models(values)
        if models not in self.shared:
            self.shared = {models: SharedWork(_most_shared(self.settings), self.stored)}
        options = replace(  # its time runs from now on
            options_of(self.settings),
            shared=self.shared[models],
            progress=_within(self.settings, line),
        )
        made = _tried(
            lambda: make_plan(self.engine, self.table, policy, options).report, self.errors
        )
        return SweptPoint(
            {value.key: value for value in values},
            report=None if isinstance(made, Failure) else made,
            failure=made if isinstance(made, Failure) else None,
            seconds=time.monotonic() - started,
        )
