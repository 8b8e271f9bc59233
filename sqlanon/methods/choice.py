"""Choice of a method: by the size of a table, its policy and the options given, with its reason.

`auto` has a row of its own beside those of the methods, so that it is told apart from the default
and whatever takes a method takes it. Which options leave which methods is settled before the table
is opened; the first rule that speaks for one of them chooses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import ceil, prod
from typing import Any

from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.methods.options import BLOCK_RECORDS, RECORD_BYTES, AutoOptions, masks_of
from sqlanon.methods.registry import AUTO, METHODS, Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.patterns import MaskColumn, Masks
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.reports.plan import Report
from sqlanon.wording import counted, key, listed

COVER_SECONDS = 1e-7
"""Time that a cover by all closed itemsets takes with its proof, about, for each record and each
node of the lattice, on one core [seconds]: 24 s for 30,162 records of Adult and 12,960 nodes, 90 s
for 20,000 people and 38,400."""
PROOF_SECONDS = 60.0
"""Time that a cover may take for its proof where there is no time limit [seconds]."""
IN_TIME = 0.5
"""Share of a time limit that it may take, as seconds are estimated."""
COVERED_RECORDS = 10_000
"""Most records that are covered unless a cover is asked for: with more, other clusters lose about
as little in a tenth of the time."""
CLUSTER_BYTES = 1_500
"""Memory of clusters that are refined in blocks, for each record, about."""
ALL_RECORDS = 2_000_000
"""Most records that are held in memory one by one, where no memory limit says how many."""
NEAR_RATIO = 1.5
"""Times a bound up to which a loss is said to be near it."""
MAX_EXACT_PLACES = 40_000
"""Records times patterns up to which the least loss with k alone is proven within a minute."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a choice is made by.

    Args:
        subject: The table, with its hierarchies.
        policy: Its policy.
        options: Options of the choice, the methods to choose from among them.
        local_rows: Most rows of the table that may be read into this process; None for any number.
    """

    subject: Subject
    policy: Policy
    options: Options[AutoOptions]
    local_rows: int | None = None

    @property
    def candidates(self) -> list[str]:
        """The methods that take the options given and the loss, whatever the table."""
        return list(self.options.specific.candidates)

    @property
    def masks(self) -> Masks | None:
        """The patterns that are given."""
        for settings in self.options.specific.candidates.values():
            given = getattr(settings, "patterns", None)
            if given is not None:
                return masks_of(given)
        return None

    @property
    def patterns(self) -> int:
        """How many patterns may be used at most, none of them listed; 0 where none are given."""
        subject = self.subject
        columns = zip(subject.names, subject.low, subject.high, strict=True)
        wanted = [MaskColumn(name, low, high) for name, low, high in columns]
        return 0 if self.masks is None else self.masks.number(wanted)

    @property
    def cover_seconds(self) -> float:
        """How long a cover takes with its proof, about."""
        subject = self.subject
        nodes = prod(high - low + 1 for low, high in zip(subject.low, subject.high, strict=True))
        return COVER_SECONDS * subject.records * nodes

    def holds(self, record_bytes: int, most: int) -> bool:
        """Whether each record may be read here, and there is memory for it, of so many at most."""
        memory, records = self.options.memory, self.subject.records
        most = most if self.local_rows is None else min(most, self.local_rows)
        return records <= most and (memory is None or records * record_bytes <= memory)


@dataclass(frozen=True, slots=True)
class Choice:
    """A method and why it is chosen.

    Args:
        method: Its name.
        reason: The reason, as the end of a sentence.
        more: What would prove how near its loss is to the least; empty where it does so itself.
    """

    method: str
    reason: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """A reason to choose a method.

    Args:
        method: The method that it speaks for, wherever that can do what is asked for.
        reason: Says why, of a situation; empty where the rule says nothing.
    """

    method: str
    reason: Callable[[Situation], str]


def _given_patterns(at: Situation) -> str:
    if at.masks is None:
        return ""
    most = "up to " if at.masks.excludes else ""
    return f"{most}{counted(at.patterns, 'pattern')} to keep columns by"


def _provable(at: Situation) -> str:
    few = 0 < at.patterns * at.subject.records <= MAX_EXACT_PLACES
    only_k = not (at.policy.demands or at.policy.of_sizes) and at.policy.entity is None
    if not (few and only_k) or find_spec("highspy") is None:
        return ""
    records = counted(at.subject.records, "record")
    return f"for {records} and {_given_patterns(at)} the least loss can be proven"


def _ordered(at: Situation) -> str:
    names = [repr(name) for name, entry in at.policy.attributes.items() if entry.order is not None]
    return f"the order of {listed(names)} is for its schemes" if names else ""


def _only(at: Situation) -> str:
    return "no other method takes these options and this loss" if len(at.candidates) == 1 else ""


def _of_labels(at: Situation) -> str:
    models = [model.describe() for model in at.policy.of_labels]
    return f"it alone takes {listed(models)}" if models else ""


def _consistent(at: Situation) -> str:
    return "every column is to keep one level" if at.options.specific.consistent else ""


def _of_classes(at: Situation) -> str:
    """Losses of whole classes, which no recoding of records can be steered by."""
    loss = at.options.loss
    return "" if loss in CELL_LOSSES else f"{loss} is not a loss of cells"


def _mixed_labels(at: Situation) -> str:
    """What no recoding of single records can publish: its levels mix in a column."""
    subject = at.subject
    mixed = [
        repr(name)
        for name, tree, low, high in zip(
            subject.names, subject.trees, subject.low, subject.high, strict=True
        )
        if any(tree.shared_labels(low, high))
    ]
    return f"labels of {listed(mixed)} stand for different nodes at several levels" if mixed else ""


def _unprovable(at: Situation) -> str:
    """Why there is no proof, where there is memory for every record."""
    records = counted(at.subject.records, "record")
    if not at.holds(CLUSTER_BYTES, ALL_RECORDS):
        return ""
    least = "recoding record by record loses least"
    if at.subject.records > COVERED_RECORDS or not at.holds(RECORD_BYTES, COVERED_RECORDS):
        return f"{least}, and {records} are more than covers handle in a moment"
    limit = at.options.specific.time_limit
    if at.cover_seconds <= (PROOF_SECONDS if limit is None else IN_TIME * limit):
        return ""
    long = "takes long" if limit is None else "may take longer than the time limit"
    return f"{least}, and a cover of {records} in this many columns and levels {long}"


def _many(at: Situation) -> str:
    if at.holds(CLUSTER_BYTES, ALL_RECORDS):
        return ""
    records, most = counted(at.subject.records, "record"), at.local_rows
    if most is not None and at.subject.records > most:
        return f"{records} are more than the {most:,} that may be read here one by one"
    return f"memory is not for {records} one by one"


def _many_there(at: Situation) -> str:
    """As `_many`, of a table elsewhere that covers would read whole."""
    most = at.local_rows
    return "" if most is None or at.subject.records <= most else _many(at)


def _coverable(at: Situation) -> str:
    records = counted(at.subject.records, "record")
    least = "recoding record by record loses least"
    # A bound for the k by which models of all classes hold is none for these.
    return least if at.policy.of_sizes else f"{least}, and a cover of {records} proves how little"


ANYTIME = ChoiceRule("anytime", _unprovable)
COVER = ChoiceRule("direct-cover", _coverable)
RULES = (
    ChoiceRule("incognito", _of_labels),
    ChoiceRule("pattern-exact", _provable),
    ChoiceRule("pattern-greedy", _given_patterns),
    ChoiceRule("scheme", _ordered),
    ChoiceRule("incognito", _consistent),
    ChoiceRule("scheme", _only),
    ChoiceRule("incognito", _only),
    ChoiceRule("incognito", _of_classes),
    ChoiceRule("incognito", _mixed_labels),
    ChoiceRule("set-cover", _only),
    ChoiceRule("mondrian", _only),
    ChoiceRule("mondrian", _many),
    ChoiceRule("anytime", _many_there),
    ANYTIME,
    COVER,
)
"""Reasons to choose a method; the first that says something of a situation decides."""


def choose(situation: Situation) -> Choice:
    """The method for a table: what the first rule that applies speaks for."""
    candidates = situation.candidates
    for rule in RULES:
        reason = rule.reason(situation) if rule.method in candidates else ""
        if reason:
            return Choice(rule.method, reason, _proving(situation) if rule is ANYTIME else "")
    return Choice(candidates[0], "it takes the options given")


def settled(
    subject: Subject,
    policy: Policy,
    options: Options[AutoOptions],
    *,
    local_rows: int | None = None,
) -> tuple[Options[Any], Choice]:
    """The options of the method that is chosen, and why it is; `local_rows` is `Situation`'s."""
    chosen = choose(Situation(subject, policy, options, local_rows))
    tell(_note(chosen))
    method, settings = METHODS[chosen.method], options.specific.candidates[chosen.method]
    return replace(options, method=method, specific=settings), chosen


def explained(decided: Decided, chosen: Choice) -> Decided:
    """What was decided, with the reason for the method and what more time gives in its report."""
    report = decided.report
    search = replace(report.search, chosen_by=AUTO, reason=chosen.reason)
    notes = _note(chosen), *_further(report, chosen), *report.notes
    return replace(decided, report=replace(report, search=search, notes=notes))


def _note(chosen: Choice) -> str:
    return f"{AUTO} chose {chosen.method}: {chosen.reason}"


def _proving(at: Situation) -> str:
    """What proves a near bound, and how long that takes."""
    provable = COVER.method in at.candidates and not at.policy.of_sizes
    if provable and at.holds(RECORD_BYTES, BLOCK_RECORDS):
        return f"`--method {COVER.method}` takes about {_rounded(at.cover_seconds)} for one"
    return "`sqlanon bound` may prove one"


def _further(report: Report, chosen: Choice) -> Iterator[str]:
    """What more time would give of a loss that is not known to be near the least."""
    loss, bound = report.loss[key(report.loss_name)], report.lower_bound
    if not chosen.more or (bound is not None and loss <= bound):
        return
    near = "no near bound on the loss is known"
    if bound is not None and loss <= NEAR_RATIO * bound:
        near = f"the loss is within {ceil(100 * (loss / bound - 1))} % of the bound"
    yield f"{near}; {chosen.more}"


def _rounded(seconds: float) -> str:
    """A duration as far as it can be estimated."""
    return f"{max(seconds, 1):.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
