"""Choice of a method: by the size of a table, its policy and the options given, with its reason.

`auto` has a row of its own beside those of the methods, so that it is told apart from the default
and whatever takes a method takes it. Which options leave which methods is settled before the table
is opened; the first rule that speaks for one of them chooses it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.methods.options import BLOCK_RECORDS, RECORD_BYTES, AutoOptions, masks_of
from sqlanon.methods.registry import AUTO, METHODS, Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.patterns import MaskColumn, Masks
from sqlanon.policy.policy import Policy
from sqlanon.wording import counted, listed

PACE = 1_000
"""Records that a cover is found for in a second, about, on one core [1 / second]."""
EXACT = 40_000
"""Records times patterns up to which the least loss with k alone is proven within a minute."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a choice is made by.

    Args:
        subject: The table, with its hierarchies.
        policy: Its policy.
        options: Options of the choice, the methods to choose from among them.
    """

    subject: Subject
    policy: Policy
    options: Options[AutoOptions]

    @property
    def candidates(self) -> list[str]:
        """The methods that take the options given and the loss, whatever the table."""
        return list(self.options.own.candidates)

    @property
    def masks(self) -> Masks | None:
        """The patterns that are given."""
        for own in self.options.own.candidates.values():
            given = getattr(own, "patterns", None)
            if given is not None:
                return masks_of(given)
        return None

    @property
    def patterns(self) -> int:
        """How many patterns may be used at most, none of them listed; 0 where none are given."""
        own = self.subject
        columns = zip(own.names, own.low, own.high, strict=True)
        wanted = [MaskColumn(name, low, high) for name, low, high in columns]
        return 0 if self.masks is None else self.masks.number(wanted)


@dataclass(frozen=True, slots=True)
class Choice:
    """A method and why it is chosen.

    Args:
        method: Its name.
        reason: The reason, as the end of a sentence.
    """

    method: str
    reason: str


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
    few = 0 < at.patterns * at.subject.records <= EXACT
    only_k = not at.policy.demands and at.policy.entity is None
    if not (few and only_k) or find_spec("highspy") is None:
        return ""
    records = counted(at.subject.records, "record")
    return f"for {records} and {_given_patterns(at)} the least loss can be proven"


def _ordered(at: Situation) -> str:
    names = [repr(name) for name, own in at.policy.attributes.items() if own.order is not None]
    return f"the order of {listed(names)} is for its schemes" if names else ""


def _only(at: Situation) -> str:
    return "no other method takes these options and this loss" if len(at.candidates) == 1 else ""


def _consistent(at: Situation) -> str:
    return "every column is to keep one level" if at.options.own.consistent else ""


def _of_classes(at: Situation) -> str:
    """Losses of whole classes, which no recoding of records can be steered by."""
    loss = at.options.loss
    return "" if loss in CELL_LOSSES else f"{loss} is not a loss of cells"


def _mixed_labels(at: Situation) -> str:
    """What no recoding of single records can publish: its levels mix in a column."""
    own = at.subject
    mixed = [
        repr(name)
        for name, tree, low, high in zip(own.names, own.trees, own.low, own.high, strict=True)
        if any(tree.shared_labels(low, high))
    ]
    return f"labels of {listed(mixed)} stand for different nodes at several levels" if mixed else ""


def _coverable(at: Situation) -> str:
    memory, records = at.options.memory, at.subject.records
    if records > BLOCK_RECORDS or (memory is not None and records * RECORD_BYTES > memory):
        return ""
    return (
        "recoding record by record loses least, and covers can handle "
        f"{counted(records, 'record')} as a whole"
    )


def _hurried(at: Situation) -> str:
    seconds, records = at.options.own.time_limit, at.subject.records
    if seconds is None or records <= PACE * seconds:
        return ""
    if not _coverable(at) and not _large_parts(at):
        return ""
    return f"covers of {counted(records, 'record')} take longer than the time limit"


def _large(at: Situation) -> str:
    return "" if _coverable(at) else _many(at)


def _large_parts(at: Situation) -> str:
    """As `_large`, but where parts would be annealed, for which memory must hold all records."""
    own = at.options.own.candidates["mondrian"]
    refused = own.improve is not None and own.partitioning == "strict" and at.policy.demands
    return "" if refused else _large(at)


def _many(at: Situation) -> str:
    return f"{counted(at.subject.records, 'record')} are more than covers can handle as a whole"


RULES = (
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
    ChoiceRule("mondrian", _hurried),
    ChoiceRule("direct-cover", _coverable),
    ChoiceRule("mondrian", _large_parts),
    ChoiceRule("direct-cover", _large),
    ChoiceRule("set-cover", _coverable),
    ChoiceRule("set-cover", _large),
)
"""Reasons to choose a method; the first that says something of a situation decides."""


def choose(situation: Situation) -> Choice:
    """The method for a table: what the first rule that applies speaks for."""
    candidates = situation.candidates
    for rule in RULES:
        reason = rule.reason(situation) if rule.method in candidates else ""
        if reason:
            return Choice(rule.method, reason)
    return Choice(candidates[0], "it takes the options given")


def settled(
    subject: Subject, policy: Policy, options: Options[AutoOptions]
) -> tuple[Options[Any], Choice]:
    """The options of the method that is chosen, and why it is."""
    chosen = choose(Situation(subject, policy, options))
    options.tell(_note(chosen))
    method, own = METHODS[chosen.method], options.own.candidates[chosen.method]
    return replace(options, method=method, own=own), chosen


def told(found: Decided, chosen: Choice) -> Decided:
    """What was decided, with the reason for the method in its report."""
    report = found.report
    search = replace(report.search, chosen_by=AUTO, reason=chosen.reason)
    notes = _note(chosen), *report.notes
    return replace(found, report=replace(report, search=search, notes=notes))


def _note(chosen: Choice) -> str:
    return f"{AUTO} chose {chosen.method}: {chosen.reason}"
