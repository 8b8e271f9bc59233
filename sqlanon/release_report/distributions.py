"""Distributions of quasi-identifiers before and after, in terms of what is published.

A released column can hold nested labels. Those that no other label but the top holds are its
groups: the original's records of a group are counted beside the released ones of all labels in it.

How many records of a group are missing tells of the records that were left out. So a difference of
few records is not shown, nor what would let a reader work it out: see `settled`. Where no label of
a column has any missing, both tables tell so themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.assessment.labels import Labels
from sqlanon.assessment.measure import ReadRelease
from sqlanon.hierarchy.label_nodes import Label
from sqlanon.hierarchy.rules import Dates, Expressions, Intervals, Prefix, Rule
from sqlanon.loss.cells import CELL_MEASURES, LEVEL_MEASURES
from sqlanon.loss.measures import cell_measure
from sqlanon.loss.release import Column, Release
from sqlanon.policy.policy import Policy
from sqlanon.release_report.figures import LabelGroup, LevelUse, ReleasedColumn
from sqlanon.wording import counted, key

SHOWN = 16
"""Most groups of a column that are told one by one."""
FEWEST = 5
"""Differences of fewer records, or persons, than this are never shown, whatever k is."""


def released_columns(
    found: ReadRelease, policy: Policy, *, records: int, most: int = 1
) -> tuple[ReleasedColumn, ...]:
    """Every quasi-identifier before and after.

    Args:
        found: The release as it was read.
        policy: What it was asked to satisfy.
        records: Records of the released table, those without any quasi-identifier among them
            [records].
        most: The most records that one person has in the original [records].
    """
    release = found.release
    return tuple(
        _released_column(_Published(column, labels, bare, policy), release, most=most)
        for bare in [records - release.statistics.records]
        for column, labels in zip(release.columns, found.labels, strict=True)
    )


def settled(befores: Sequence[int], afters: Sequence[int], *, least: int) -> list[int | None]:
    """Counts of the original, None where the difference to the release would tell of few records.

    A difference below `least` is hidden. What is hidden can be worked out as a sum from the records
    left out in all, so the next smallest differences are hidden, too, until two counts or more
    share at least so many. Where there is no difference at all, as the tables' sizes tell, nothing
    is hidden.

    >>> settled([50, 50], [50, 50], least=5)
    [50, 50]
    >>> settled([100, 50, 30], [90, 50, 28], least=5)
    [None, None, None]
    >>> settled([100, 50, 40, 30], [90, 47, 30, 28], least=5)
    [100, None, 40, None]
    """
    apart = [abs(before - after) for before, after in zip(befores, afters, strict=True)]
    if not any(apart):
        return list(befores)
    hidden = {place for place, number in enumerate(apart) if number < least}
    for place in sorted(range(len(apart)), key=lambda each: apart[each]):
        together = sum(apart[each] for each in hidden)
        if not together or together >= least:
            break
        hidden.add(place)
    return [None if place in hidden else before for place, before in enumerate(befores)]


@dataclass(frozen=True, slots=True)
class _Published:
    """A quasi-identifier of the released table.

    Args:
        column: The column as its classes hold it.
        labels: Its labels there.
        bare: Released records without any quasi-identifier, which are in no class [records].
        policy: What the release was asked to satisfy.
    """

    column: Column
    labels: Labels
    bare: int
    policy: Policy

    @property
    def known(self) -> set[Label]:
        """All labels of the column."""
        return {*self.labels.places, *([self.policy.suppressed_label] if self.bare else [])}


def _released_column(published: _Published, release: Release, *, most: int) -> ReleasedColumn:
    column, policy = published.column, published.policy
    # So many records are those of max(k, FEWEST) persons at least.
    name, least = column.tree.column, max(policy.k, FEWEST) * most
    groups, rest = _groups(published)
    afters = [group.after for group in groups] + [0]
    befores = [group.about for group in groups] + [rest]
    tops = [place for place, group in enumerate(groups) if group.is_top]
    counted_ones = [place for place in range(len(befores)) if place not in tops]
    shown = dict(
        zip(
            counted_ones,
            settled(
                [befores[place] for place in counted_ones],
                [afters[place] for place in counted_ones],
                least=least,
            ),
            strict=True,
        )
    )
    told = [replace(group, before=shown.get(place)) for place, group in enumerate(groups)]
    rule = policy.attributes[name].hierarchy.rule
    return ReleasedColumn(
        name=name,
        hierarchy=hierarchy_text(rule),
        height=column.tree.height,
        levels=() if column.is_grouped else _levels(published, rule),
        groups=tuple(_fewer(told)),
        labels=len(published.known),
        unpublished=shown[len(groups)],
        loss={
            key(measure): float(cell_measure(measure, one, weights=[1.0]))
            for measure in CELL_MEASURES
            if not (column.is_grouped and measure in LEVEL_MEASURES)
            for one in [replace(release, columns=[column])]
        },
        hidden=least,
    )


def _groups(published: _Published) -> tuple[list[LabelGroup], int]:
    """The groups in the order of the hierarchy, and the original's records in none."""
    column, labels = published.column, published.labels
    named: dict[tuple[int, int], Label] = {}
    released: Counter[tuple[int, int]] = Counter()
    for label, place in labels.places.items():
        named.setdefault(labels.nodes.run(place), label)
    for place, records in labels.records.items():
        released[labels.nodes.run(place)] += records
    groups: list[LabelGroup] = []
    covered, reached, every = 0, 0, (0, column.domain)
    top = published.bare
    name: Label = published.policy.suppressed_label
    if column.domain > 1 and every in released:
        top, name = top + released.pop(every), named[every]
    elif column.domain == 1 and name in labels.places:  # the label of the only value
        top, released[every] = 0, released[every] + top
    for first, leaves in sorted(released, key=lambda run: (run[0], -run[1])):
        if first + leaves <= reached:  # within the group before
            groups[-1] = replace(groups[-1], after=groups[-1].after + released[first, leaves])
            continue
        reached = first + leaves
        before = sum(column.counts[first:reached])
        covered += before
        groups.append(LabelGroup(named[first, leaves], released[first, leaves], before))
    if top:
        groups.append(LabelGroup(name, top, None, is_top=True))
    return groups, sum(column.counts) - covered


def _fewer(groups: Sequence[LabelGroup]) -> list[LabelGroup]:
    """The groups, those of fewest records as one where there are many."""
    if len(groups) <= SHOWN:
        return list(groups)
    plain = [place for place, group in enumerate(groups) if not group.is_top]
    ranked = sorted(plain, key=lambda place: (-groups[place].after, place))
    kept, rest = set(ranked[: SHOWN - 2]), ranked[SHOWN - 2 :]
    hidden = any(groups[place].before is None for place in rest)
    together = LabelGroup(
        "",
        sum(groups[place].after for place in rest),
        None if hidden else sum(groups[place].about for place in rest),
        len(rest),
    )
    shown = [group for place, group in enumerate(groups) if place in kept]
    return [*shown, together, *(group for group in groups if group.is_top)]


def _levels(published: _Published, rule: Rule) -> tuple[LevelUse, ...]:
    column, labels = published.column, published.labels
    examples: dict[int, list[Label]] = {}
    for label, (level, _) in labels.places.items():
        examples.setdefault(level, []).append(label)
    records: Counter[int] = Counter()
    for (level, _), held in column.records.items():
        records[level] += held
    if published.bare:
        records[column.tree.height] += published.bare
    return tuple(
        LevelUse(level, _level_title(rule, place, labels=examples.get(level, ())), records[level])
        for level in sorted(records)
        for place in [(level, column.tree.height)]
    )


def _level_title(rule: Rule, place: tuple[int, int], *, labels: Sequence[Label]) -> str:
    """What a level is called, by its rule or by labels that are published.

    Args:
        rule: The hierarchy.
        place: The level, and the highest one.
        labels: Labels of the level that are published.
    """
    level, height = place
    if level == 0:
        return "original values"
    if level == height:
        return "fully suppressed"
    match rule:
        case Intervals():
            return f"intervals of {rule.widths[level - 1]:f}"
        case Prefix():
            length = rule.lengths[level - 1]
            return "first character" if length == 1 else f"first {counted(length, 'character')}"
        case Dates():
            return f"by {rule.units[level - 1]}"
    shown = [label for label in labels if label is not None][:2]
    more = ", …" if len(labels) > len(shown) else ""
    return f"such as {', '.join(shown)}{more}" if shown else f"level {level}"


def hierarchy_text(rule: Rule) -> str:
    """A hierarchy in words, without the values that a user's own SQL may name."""
    if isinstance(rule, Expressions):
        return f"SQL expressions ({counted(len(rule.texts), 'level')})"
    return rule.describe()
