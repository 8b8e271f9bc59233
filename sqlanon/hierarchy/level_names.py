"""Level names: what each level of a hierarchy is called in a report.

A rule's names follow from the rule, and explicit rows have labels that their user wrote. A label
that is also a leaf is a value of the table, which nobody may have published: it names no level.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, islice

from sqlanon.hierarchy.rules import Dates, Expressions, Intervals, Prefix, Rows, Rule
from sqlanon.wording import counted

ORIGINAL = "original value"
TOP = "*"
EXAMPLES = 2
"""Labels that tell a level of explicit rows."""
UNGROUPED = "no groups yet"
"""What the levels are called of rows that put no value into a group."""


def level_names(rule: Rule) -> list[str]:
    """What each level of a rule is called, from the original values to the top.

    >>> level_names(Prefix((3, 1)))
    ['original value', 'first 3 characters', 'first character', '*']
    """
    match rule:
        case Rows():
            leaves = {path[0] for path in rule.paths}
            between = [_labels(rule, level, leaves) for level in range(1, rule.height)]
            return [ORIGINAL, *between, str(rule.paths[0][-1])]
        case Intervals():
            between = [f"intervals of {width:f}" for width in rule.widths]
        case Prefix():
            between = [
                "first character" if length == 1 else f"first {counted(length, 'character')}"
                for length in rule.lengths
            ]
        case Dates():
            between = list(rule.units)
        case Expressions():
            between = list(rule.texts)
        case _:
            between = []
    return [ORIGINAL, *between, TOP]


def _labels(rule: Rows, level: int, leaves: Collection[str | None]) -> str:
    """The first labels of a level that are no leaves; where there are none, how many it has."""
    if rule.is_ungrouped:
        return UNGROUPED
    listed = (path[level] for path in rule.paths if path[level] is not None)
    labels = dict.fromkeys(chain(listed, (rule.others or ())[level - 1 : level]))
    first = list(islice((str(each) for each in labels if each not in leaves), EXAMPLES))
    if not first:
        return f"level {level} ({counted(len(labels), 'group')})"
    return ", ".join([*first, *(["…"] if len(labels) > len(first) else [])])
