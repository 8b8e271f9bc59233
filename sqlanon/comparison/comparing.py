"""Comparing: methods run one after the other on one table, each result or failure a row.

They share a process: the table is opened once, no connection of a caller goes along into another
process, and the kernel lets a peak of memory begin anew for each row.

Without a time limit a first look is bounded by passes, not by seconds: a short deadline would end
methods wherever a busy machine lets them come, and quick cuts would then stand for most of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Unpack, cast

from sqlglot import exp

from sqlanon.arguments import checked, is_whole_number
from sqlanon.comparison.memory import begin_peak, held, peak
from sqlanon.comparison.report import TO_NODES, Asked, ComparedRow, Comparison, Failure
from sqlanon.deadline import Deadline
from sqlanon.engine.base import Engine, searching
from sqlanon.engine.open import OpenedSource
from sqlanon.errors import (
    HierarchyError,
    PolicyError,
    SourceError,
    SqlanonError,
    TimeLimitError,
    UnsatisfiableError,
)
from sqlanon.methods.choice import Choice, Situation, choose
from sqlanon.methods.registry import AUTO, METHODS, OPTIONS, Options, method_named, owners_of
from sqlanon.methods.shared import SharedWork
from sqlanon.microdata.binding import bind
from sqlanon.microdata.calls import AnyPolicy, Frame, Source, asked
from sqlanon.microdata.opening import opened_for, told
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import KAnonymity
from sqlanon.progress import ProgressLine
from sqlanon.publishing.planner import make_plan, refuse_idle_annealing, refuse_without_solver
from sqlanon.publishing.settings import Settings, completed_for, most_shared, opening_of, options_of
from sqlanon.reports.bound import BoundReport
from sqlanon.reports.plan import Report

PROVING = ("scheme", "pattern-exact")
"""Methods that search on long after they have a result, until nothing better is left."""
SHARE, LONGER = 3.0, 4.0
"""What each of these has where no time limit is given [seconds of the processor], and how many
times as much it has once more where that is too little for a result of its own."""
LEAST = 5.0
"""What a bound that nobody asked for has at least; else as long as the rows took [seconds]."""
BRIEF, POOLS = 8, 100
"""Passes of a refinement and pools of a large neighbourhood search, where neither these nor a time
limit are given, so that what is lost does not depend on what else the machine does."""


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What is compared.

    Args:
        methods: The methods; every one where left out.
        losses: The losses to minimize; each method minimizes one after the other.
        ks: The values of k; that of the policy where left out.
        settings: Options of methods, each for those that take it, and of all.

    Raises:
        PolicyError: A name that is not known or given twice, a k that is no whole number of at
            least 1, or an option that is invalid or that none of the methods takes.
    """

    methods: tuple[str, ...]
    losses: tuple[str, ...]
    ks: tuple[int, ...]
    settings: Settings

    def __post_init__(self) -> None:
        for what, given in (("method", self.methods), ("loss", self.losses), ("k", self.ks)):
            twice = [each for each in dict.fromkeys(given) if list(given).count(each) > 1]
            if twice:
                raise PolicyError(f"{what} {twice[0]!r} is compared twice; name it once")
        rows = [method_named(name) for name in self.methods]
        for k in self.ks:
            if not (is_whole_number(k) and k >= 1):
                raise PolicyError(f"k is {k!r}; each of ks is a whole number of at least 1")
        for loss in self.losses:
            if not any(loss in row.losses for row in rows):
                rows[0].check_loss(loss)
        for name, value in self.settings.items():
            if name not in OPTIONS:
                continue
            OPTIONS[name].check(value)
            if not any(row.takes(name) for row in rows):
                raise PolicyError(
                    f"{name} is an option of none of the methods that are compared; compare "
                    f"{' or '.join(owners_of(name))}, too, or leave it out"
                )

    @property
    def is_brief(self) -> bool:
        """Whether clusters are refined by few passes for a first look."""
        said = self.settings.keys() & {"passes", "refine"}
        return self.settings.get("time_limit") is None and not said

    def options(self, asked: Asked) -> Options[Any]:
        """The options of one row, with those of other methods left out; time runs from now on.

        Raises:
            PolicyError: The method does not take the loss, or an option's value.
        """
        row = method_named(asked.method)
        # What auto is told of leaves it those methods alone that take it.
        brief = {"passes": BRIEF} if self.is_brief and asked.method != AUTO else {}
        if self.settings.get("improve") == "lns" and self.settings.get("time_limit") is None:
            brief["pools"] = POOLS
        given = {**brief, **self.settings}
        own = {n: v for n, v in given.items() if n not in OPTIONS or row.takes(n)}
        lns = own.get("improve") == "lns" and not row.takes("pools")
        if lns and any(method_named(name).takes("pools") for name in self.methods):
            del own["improve"]
        chosen = {"method": asked.method, "loss": asked.loss}
        return options_of(cast("Settings", {**own, **chosen}))


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
    named = METHODS if methods is None else methods
    settings = completed_for(named, settings, call.said)
    losses = (call.said.get("loss", "lm"),) if losses is None else losses
    request = ComparisonRequest(tuple(named), tuple(losses), tuple(ks or ()), settings)
    with opened_for(*call.opened, read_only=True, **opening) as (opened, resolved):
        refuse_idle_annealing(resolved, settings.get("improve"))
        refuse_without_solver(settings.get("improve"))
        request = replace(request, ks=request.ks or (resolved.k,))
        runner = _Runner(opened.engine, opened.table, resolved, request)
        rows = tuple(runner.rows())
        runner.refuse_none_done()
        found = Comparison(
            name_of(opened),
            rows,
            request.losses,
            request.ks,
            settings.get("time_limit"),
            tuple(_notes(rows)),
            time.monotonic() - started,
            bounds=tuple(runner.bounds),
            passes=_brief(request, rows),
        )
        return told(opened, found, resolved)


@dataclass(slots=True)
class _Runner:
    """Runs searches one after the other.

    Args:
        engine: Where the table lives.
        table: The table.
        policy: Its policy.
        request: What is compared.
        errors: What refused or ended searches, in their order.
        bounds: What every recoding into nodes loses at least, as far as no row says so.
        shared: What the rows of one loss and k have in common.
    """

    engine: Engine
    table: exp.Table
    policy: Policy
    request: ComparisonRequest
    errors: list[SqlanonError] = field(default_factory=list)
    bounds: list[BoundReport] = field(default_factory=list)
    shared: SharedWork = field(default_factory=SharedWork)

    def rows(self) -> Iterator[ComparedRow]:
        """A row for each loss, k and method, in this order."""
        for loss in self.request.losses:
            for k in self.request.ks:
                yield from self._section(loss, k)

    def refuse_none_done(self) -> None:
        """Raises what refused the first method where every one is refused."""
        request = self.request
        asked = len(request.methods) * len(request.losses) * len(request.ks)
        if len(self.errors) >= asked and all(each.exit_code == 2 for each in self.errors):
            raise self.errors[0]

    def _section(self, loss: str, k: int) -> Iterator[ComparedRow]:
        """A row for each method, of one loss and one k."""
        policy = _with_k(self.policy, k)
        self.shared = SharedWork(self._most_shared)
        choice = self._choice(policy, loss)
        named = [
            choice.method if name == AUTO and choice is not None else name
            for name in self.request.methods
        ]
        asked = [Asked(name, loss, k) for name in dict.fromkeys(named)]
        rows = list[ComparedRow]()
        for number, each in enumerate(asked, start=1):
            line = f"{loss}, k = {k}: {each.method}, {number} of {len(asked)}"
            row = self._row(each, policy, where=ProgressLine(line, (number - 1) / len(asked)))
            if choice is not None and choice.method == each.method:
                row = replace(row, reason=choice.reason)
            rows.append(row)
        self._bound(rows, policy)
        yield from rows

    @property
    def limit(self) -> float | None:
        """What each row has; None for no limit [seconds]."""
        return self.request.settings.get("time_limit")

    @property
    def _most_shared(self) -> int:
        """Most records of what rows share, as many as a cover has in memory [records].

        Nothing under a time limit for each row, which shows what a method makes of that by itself.
        """
        return 0 if self.limit is not None else most_shared(self.request.settings)

    def _bound(self, rows: Sequence[ComparedRow], policy: Policy) -> None:
        """Bounds what every recoding into nodes loses, where a row is one and no cover did so.

        As hard as `bound` says: not at all where columns are to prove it, as each row does. Where
        it says nothing, no longer than the rows took.
        """
        asked, effort = rows[0].asked, self.request.settings.get("bound")
        seconds = self.limit
        if effort is None and seconds is None:
            seconds = max(LEAST, sum(row.seconds for row in rows))
        effort = effort or "quick"
        known = [row for row in rows if row.report is not None and row.recoding in TO_NODES]
        if effort == "columns" or not known or any(row.bounds_by_itemsets for row in known):
            return
        self._tell(f"{asked.loss}, k = {asked.k}: the lower bound")
        from sqlanon.methods.clustering import bound  # most comparisons need none

        deadline = Deadline.after(seconds)
        with (
            suppress(PolicyError, TimeLimitError, UnsatisfiableError),
            searching(self.engine, deadline),
            self.engine.limited(deadline),
        ):
            wanted = bound.BoundRequest(asked.loss, effort, shared=self.shared)
            found = bound.bound_table(self.engine, self.table, policy=policy, wanted=wanted)
            self.bounds.append(found)

    def _choice(self, policy: Policy, loss: str) -> Choice | None:
        """What `auto` chooses; None where it is refused."""
        try:
            options = self.request.options(Asked(AUTO, loss, policy.k))
            with searching(self.engine, options.deadline), self.engine.workspace():
                subject = bind(self.engine, self.table, policy=policy)
                return choose(Situation(subject, policy, options))
        except (PolicyError, HierarchyError):
            return None

    def _row(self, asked: Asked, policy: Policy, *, where: ProgressLine) -> ComparedRow:
        """The result of one method, or why there is none."""
        self._tell(where)
        row = ComparedRow(asked, method_named(asked.method).recoding)
        known, before, started = begin_peak(), held(), time.monotonic()
        borrowed = self.shared.borrowed
        try:
            report = self._planned(asked, policy, where=where)
        except SourceError:  # no other method would fare better
            raise
        except SqlanonError as error:
            self.errors.append(error)
            failure = Failure(type(error).__name__, str(error), error.exit_code)
            return replace(row, failure=failure, seconds=time.monotonic() - started)
        return replace(
            row,
            report=report,
            seconds=time.monotonic() - started,
            shared_seconds=self.shared.borrowed - borrowed,
            peak_memory=peak() if known else None,
            memory_before=before if known else None,
        )

    def _planned(self, asked: Asked, policy: Policy, *, where: ProgressLine) -> Report:
        """What a plan by one method reports.

        Raises:
            SqlanonError: There is none, or not in the time that was asked for.
        """
        options = replace(
            self.request.options(asked),
            progress=lambda line: self._tell(ProgressLine(f"{where}: {line}", where.share)),
            shared=self.shared,
        )
        if self.limit is None and asked.method in PROVING:
            with suppress(TimeLimitError):
                report = self._made(policy, options, Deadline.of_processor(SHARE))
                if report.search.given_up is None:
                    return report
            return self._made(policy, options, Deadline.of_processor(LONGER * SHARE))
        report = self._made(policy, options, options.deadline)
        if report.search.given_up is not None:
            raise TimeLimitError(report.search.given_up)
        return report

    def _made(self, policy: Policy, options: Options[Any], deadline: Deadline) -> Report:
        """What a plan reports that is made until a deadline."""
        with searching(self.engine, deadline):
            asked = replace(options, deadline=deadline)
            return make_plan(self.engine, self.table, policy, asked).report

    def _tell(self, line: str) -> None:
        told = self.request.settings.get("progress")
        if told is not None:
            told(line)


def _brief(request: ComparisonRequest, rows: Sequence[ComparedRow]) -> int | None:
    """The passes of refinements, where these were few and a method refined."""
    done = any(row.report and method_named(row.asked.method).takes("passes") for row in rows)
    return BRIEF if request.is_brief and done else None


def _with_k(policy: Policy, k: int) -> Policy:
    """The policy with another k, all else as it is."""
    if k == policy.k:
        return policy
    kept = [model for model in policy.models if not isinstance(model, KAnonymity)]
    return replace(policy, models=(*kept, KAnonymity(k)))


def name_of(source: OpenedSource) -> str | None:
    """What the table is called, or the file that it is; None for a frame."""
    if source.kind == "file" and source.path is not None:
        return source.path.name
    return None if source.table.name.startswith("_sqlanon_") else source.table.name


def _notes(rows: Sequence[ComparedRow]) -> Iterator[str]:
    """Notes that every result has, which are about the table and its policy."""
    own = [row.report.notes for row in rows if row.report is not None]
    yield from (note for note in (own[0] if own else ()) if all(note in each for each in own))
    if own and all(row.peak_memory is None for row in rows):
        yield (
            "the operating system does not tell how much memory a method takes, so peaks are "
            "left out"
        )
