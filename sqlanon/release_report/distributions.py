"""Distributions: quasi-identifiers before and after, and sensitive values in a class and in all.

A released column can hold nested labels. Those that no other label but the top holds are its
groups: the original's records of a group are counted beside the released ones of all labels in it.

How many records of a group are missing tells of the records that were left out. So a difference of
few records is not shown, nor what would let a reader work it out: see `settled`. Where no label of
a column has any missing, both tables tell so themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.assessment.labels import Labels
from sqlanon.assessment.measure import ReadRelease
from sqlanon.engine.base import Engine
from sqlanon.hierarchy.label_nodes import Label
from sqlanon.hierarchy.rules import Dates, Expressions, Intervals, Prefix, Rule, level_names
from sqlanon.loss.cells import CELL_MEASURES, LEVEL_MEASURES
from sqlanon.loss.measures import cell_measure
from sqlanon.loss.release import Column
from sqlanon.microdata.binding import column_types
from sqlanon.policy.policy import Policy
from sqlanon.query.assess import value_shares as query
from sqlanon.query.assess.release import labels as label_columns
from sqlanon.query.encode import WHOLE
from sqlanon.query.privacy.figures import Reference, reference
from sqlanon.query.syntax import column, select, varchar
from sqlanon.release_report.figures import (
    LabelGroup,
    LevelUse,
    ReleasedColumn,
    ShareRow,
    ValueShares,
)
from sqlanon.wording import counted, key

SHOWN_LABELS = 16
"""Most groups of a column that are told one by one."""
SHOWN_VALUES = 12
"""Most sensitive values that are told one by one."""
RANGES = 10
"""Ranges of about as many records each, where a column in order has more values."""
ORDERED = {
    *WHOLE,
    *exp.DataType.FLOAT_TYPES,
    *exp.DataType.TEMPORAL_TYPES,
    exp.DataType.Type.DECIMAL,
}
MIN_SHOWN_PERSONS = 5
"""Differences of fewer persons, or records, than this are never shown, whatever k is."""


def released_columns(
    reading: ReadRelease, policy: Policy, *, records: int, most: int = 1
) -> tuple[ReleasedColumn, ...]:
    """Every quasi-identifier before and after.

    Args:
        reading: The release as it was read.
        policy: What it was asked to satisfy.
        records: Records of the released table, those without any quasi-identifier among them
            [records].
        most: The most records that one person has in the original [records].
    """
    release, suppressed = reading.release, policy.suppressed_label
    bare = records - release.statistics.records  # which are in no class
    # So many records are those of max(k, MIN_SHOWN_PERSONS) persons at least.
    least = max(policy.k, MIN_SHOWN_PERSONS) * most
    result = []
    for read, labels in zip(release.columns, reading.labels, strict=True):
        groups, rest = _groups(read, labels, bare=bare, suppressed=suppressed)
        telling = [group for group in groups if not group.is_top]
        *befores, unpublished = settled(
            [*(group.about for group in telling), rest],
            [*(group.after for group in telling), 0],
            least=least,
        )
        shown = iter(befores)
        groups = [group if group.is_top else replace(group, before=next(shown)) for group in groups]
        rule = policy.attributes[read.tree.column].hierarchy.rule
        alone = replace(release, columns=[read])
        result.append(
            ReleasedColumn(
                name=read.tree.column,
                hierarchy=hierarchy_text(rule),
                height=read.tree.height,
                levels=() if read.is_grouped else _levels(read, labels, rule=rule, bare=bare),
                groups=tuple(_fewer(groups)),
                labels=len({*labels.places, *([suppressed] if bare else [])}),
                unpublished=unpublished,
                loss={
                    key(measure): float(cell_measure(measure, alone, weights=[1.0]))
                    for measure in CELL_MEASURES
                    if not (read.is_grouped and measure in LEVEL_MEASURES)
                },
                hidden=least,
            )
        )
    return tuple(result)


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
    for place in sorted(range(len(apart)), key=lambda index: apart[index]):
        together = sum(apart[index] for index in hidden)
        if not together or together >= least:
            break
        hidden.add(place)
    return [None if place in hidden else before for place, before in enumerate(befores)]


def _groups(
    read: Column, labels: Labels, *, bare: int, suppressed: Label
) -> tuple[list[LabelGroup], int]:
    """The groups in the order of the hierarchy, and the original's records in none."""
    named: dict[tuple[int, int], Label] = {}
    released: Counter[tuple[int, int]] = Counter()
    for label, place in labels.places.items():
        named.setdefault(labels.nodes.run(place), label)
    for place, records in labels.records.items():
        released[labels.nodes.run(place)] += records
    groups: list[LabelGroup] = []
    covered, reached, every = 0, 0, (0, read.domain)
    top, name = bare, suppressed
    if read.domain > 1 and every in released:
        top, name = top + released.pop(every), named[every]
    elif read.domain == 1 and name in labels.places:  # the label of the only value
        top, released[every] = 0, released[every] + top
    for first, leaves in sorted(released, key=lambda run: (run[0], -run[1])):
        if first + leaves <= reached:  # within the group before
            groups[-1] = replace(groups[-1], after=groups[-1].after + released[first, leaves])
            continue
        reached = first + leaves
        before = sum(read.counts[first:reached])
        covered += before
        groups.append(LabelGroup(named[first, leaves], released[first, leaves], before))
    if top:
        groups.append(LabelGroup(name, top, None, is_top=True))
    return groups, sum(read.counts) - covered


def _fewer(groups: Sequence[LabelGroup]) -> list[LabelGroup]:
    """The groups, those of fewest records as one where there are many."""
    if len(groups) <= SHOWN_LABELS:
        return list(groups)
    plain = [place for place, group in enumerate(groups) if not group.is_top]
    ranked = sorted(plain, key=lambda place: (-groups[place].after, place))
    kept, rest = set(ranked[: SHOWN_LABELS - 2]), ranked[SHOWN_LABELS - 2 :]
    hidden = any(groups[place].before is None for place in rest)
    together = LabelGroup(
        "",
        sum(groups[place].after for place in rest),
        None if hidden else sum(groups[place].about for place in rest),
        len(rest),
    )
    shown = [group for place, group in enumerate(groups) if place in kept]
    return [*shown, together, *(group for group in groups if group.is_top)]


def _levels(read: Column, labels: Labels, *, rule: Rule, bare: int) -> tuple[LevelUse, ...]:
    examples: dict[int, list[Label]] = {}
    for label, (level, _) in labels.places.items():
        examples.setdefault(level, []).append(label)
    height, records = read.tree.height, Counter[int]()
    for (level, _), number in read.records.items():
        records[level] += number
    if bare:
        records[height] += bare
    return tuple(
        LevelUse(level, _level_title(rule, level, height, labels=examples.get(level, ())), number)
        for level, number in sorted(records.items())
    )


def _level_title(rule: Rule, level: int, height: int, *, labels: Sequence[Label]) -> str:
    """What a level is called, by its rule or by labels that are published.

    Args:
        rule: The hierarchy.
        level: The level.
        height: The highest one.
        labels: Labels of the level that are published.
    """
    if level == 0:
        return "original values"
    if level == height:
        return "fully suppressed"
    if isinstance(rule, Intervals | Prefix | Dates):
        return f"{'by ' if isinstance(rule, Dates) else ''}{level_names(rule)[level]}"
    shown = [label for label in labels if label is not None][:2]
    more = ", …" if len(labels) > len(shown) else ""
    return f"such as {', '.join(shown)}{more}" if shown else f"level {level}"


def hierarchy_text(rule: Rule) -> str:
    """A hierarchy in words, without the values that a user's own SQL may name."""
    if isinstance(rule, Expressions):
        return f"SQL expressions ({counted(len(rule.texts), 'level')})"
    return rule.describe()


def value_shares(engine: Engine, table: exp.Table, *, policy: Policy, name: str) -> ValueShares:
    """Values of a sensitive column of a release, all of which are published already."""
    kind, names = column_types(engine, table)[name], list(policy.attributes)
    nulls = policy.sensitive_attributes[name].nulls == "value"
    with engine.workspace():
        spread = engine.materialize(
            "spread", query.class_values(table, names, attribute=name, nulls=nulls)
        )
        [(records, different)] = engine.rows(query.counted(spread))
        if not records:
            return ValueShares(name, 0, 0, (), 0.0, 0, {})
        is_ranged = different > SHOWN_VALUES and kind.this in ORDERED
        whole = reference(spread) if is_ranged else query.value_records(spread)
        values, number = engine.materialize_counted("values", whole)
        far = query.furthest_class(
            spread,
            len(names),
            reference=Reference(values, records, number),
            measure="ordered" if is_ranged else "equal",
        )
        furthest = engine.materialize("furthest", far)
        shares = engine.materialize(
            "held", query.furthest_values(spread, furthest, columns=len(names))
        )
        [(different, records, size, unique)] = engine.rows(query.totals(shares))
        labels = [varchar(column(label)) for label in label_columns(len(names))]
        [(*texts, distance)] = engine.rows(select([*labels, column(query.DISTANCE)], furthest))
        if is_ranged:
            rows = [
                ShareRow(low if low == high else f"{low} to {high}", number, inside)
                for low, high, number, inside in engine.rows(
                    query.in_parts(shares, kind, parts=RANGES)
                )
            ]
        else:
            frequent = query.frequent(shares, kind, most=SHOWN_VALUES)
            rows = [ShareRow(*row) for row in engine.rows(frequent)]
            if different > len(rows):  # all others as one
                others = records - sum(row.records for row in rows)
                inside = size - sum(row.furthest for row in rows)
                rows.append(ShareRow("", others, inside, different - len(rows)))
    return ValueShares(
        name=name,
        values=different,
        records=records,
        rows=tuple(rows),
        distance=distance,
        class_size=size,
        class_labels=dict(zip(names, texts, strict=True)),
        is_ranged=is_ranged,
        unique=unique,
    )
