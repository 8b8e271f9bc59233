"""Labels: which label of a release stands for which values, so that analysts can join and plot.

A hierarchy of listed values has the nodes of the levels that are published, whether or not a record
has their label. A rule has more nodes than anybody can list, so of these it is the labels that are
published, each read by what the rule says. The original is never asked, so nothing is told that
release and hierarchies do not tell. A label that is not listed stands for itself.

The file has a row for each label and what it stands for, by `kind`:

- `value`: the value `value`, where an empty field is the empty text; `null`: NULL.
- `range`: the numbers or days from `low` to `high`; `closed` says which ends belong to it (`left`,
  `right`, `both`, `neither`), and an empty end is open.
- `prefix`: what begins with `value`.
- `other`: every value that the hierarchy does not list; `any`: every value, and NULL.
- `expression`: the column's labels are what the SQL expression `value` makes of a value.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.group_labels import items_of
from sqlanon.hierarchy.number_ranges import HYPHEN, NumberRange
from sqlanon.hierarchy.rules import TOP, Dates, Expressions, Intervals, Prefix
from sqlanon.publishing.plan import Plan
from sqlanon.publishing.target import Companion, Text
from sqlanon.query.syntax import column, select, varchar
from sqlanon.recoding import Group
from sqlanon.reports.document import stamp

ENDINGS = (".csv", ".json")
"""What a file of labels may end with."""
_CLOSED = {
    (True, True): "both",
    (True, False): "left",
    (False, True): "right",
    (False, False): "neither",
}
_DAYS = re.compile(
    r"(\d{4})(?:-(?:W(\d\d)|Q(\d)|(\d\d)(?:-(\d\d))?)|" + re.escape(HYPHEN) + r"(\d{4}))?"
)
"""A calendar unit: a year, a week, a quarter, a month, a day, or the last year of a decade."""


class Meaning(NamedTuple):
    """What a label of a column stands for, or a part of that: a row of the file."""

    column: str
    label: str | None
    kind: Literal["value", "null", "range", "prefix", "other", "any", "expression"]
    value: str | None = None
    low: str | None = None
    high: str | None = None
    closed: str | None = None


def labels_of(path: Path, *, overwrite: bool) -> Companion:
    """The file of the labels of a release, written while that is published.

    Args:
        path: Where it goes; its ending says the format.
        overwrite: Whether the file may be there already.
    """

    def look(engine: Engine, plan: Plan, _original: exp.Table, table: exp.Table) -> Text:
        rows = list(meanings(engine, plan, table=table))
        text = _csv(rows) if path.suffix.lower() == ".csv" else _json(rows)
        return lambda _: text

    return Companion(path, "file of labels", look, overwrite)


def meanings(engine: Engine, plan: Plan, *, table: exp.Table) -> Iterator[Meaning]:
    """What the labels of each quasi-identifier of a published table stand for."""
    policy, recoding = plan.policy, plan.recoding
    maps = recoding.columns or (None,) * len(policy.attributes)
    keeps = policy.suppressed == "keep" and plan.report.suppressed_records > 0
    for (name, attribute), levels, mapped in zip(
        policy.attributes.items(), recoding.levels, maps, strict=True
    ):
        if attribute.class_mean is not None:
            continue  # a mean is of records, and stands for no values
        hierarchy, rows = attribute.hierarchy, dict[Meaning, None]()
        if keeps:
            rows[Meaning(name, policy.suppressed_label, "any")] = None
        if hierarchy.is_listed and mapped is not None:
            there = set(_published(engine, table, name=name))
            groups = [group for group in mapped.groups if group.label in there]
            rows |= dict.fromkeys(_of_groups(name, groups))
        elif hierarchy.rows is not None:
            rows |= dict.fromkeys(_of_rows(name, hierarchy, levels=levels))
        elif levels != (0,):
            published = _published(engine, table, name=name)
            read = _of_rule(name, hierarchy, published, levels=levels, has_sets=mapped is not None)
            rows |= dict.fromkeys(read)
        whole = {row.label for row in rows if row.kind == "any"}
        yield from (row for row in rows if row.kind == "any" or row.label not in whole)


def _published(engine: Engine, table: exp.Table, *, name: str) -> list[str]:
    """The labels of a column of a release, in order."""
    rows = engine.rows(select([varchar(column(name))], table).distinct())
    return sorted(text for (text,) in rows if text is not None)


def _of_groups(name: str, groups: Iterable[Group]) -> Iterator[Meaning]:
    """The values of each group, unless it is a value by itself."""
    for label, values in groups:
        if values != (label,):
            yield from (_one(name, label, value) for value in values)


def _of_rows(name: str, hierarchy: Hierarchy, *, levels: Sequence[int]) -> Iterator[Meaning]:
    """The values below each node of the levels; NULL without a row is below the top alone."""
    rows, others = hierarchy.rows or (), hierarchy.others
    for level in [level for level in levels if level]:
        nodes: dict[str | None, list[str | None]] = {}
        for path in rows:
            nodes.setdefault(path[level], []).append(path[0])
        if level == hierarchy.height and None not in nodes[rows[0][-1]]:
            nodes[rows[0][-1]].append(None)
        yield from _of_groups(
            name, (Group(label, tuple(values)) for label, values in nodes.items())
        )
        if others is not None:
            yield Meaning(name, others[level - 1], "other")


def _of_rule(
    name: str,
    hierarchy: Hierarchy,
    published: Sequence[str],
    *,
    levels: Sequence[int],
    has_sets: bool,
) -> Iterator[Meaning]:
    """What a rule says of labels, and of the items of those that are sets (`{20-24, 30}`)."""
    rule = hierarchy.rule
    if isinstance(rule, Expressions):
        texts = [rule.texts[level - 1] for level in levels if 0 < level < hierarchy.height]
        yield from (Meaning(name, None, "expression", text) for text in texts)
    if hierarchy.height in levels and TOP in published:
        yield Meaning(name, TOP, "any")
    for label in published:
        items = items_of(label) if has_sets else None
        for item in [label] if items is None else items:
            meaning = None if item is None else _by_rule(rule, item, levels=levels)
            if meaning is not None:
                yield meaning._replace(column=name, label=label)
            elif items is not None:
                yield _one(name, label, item)


def _one(name: str, label: str | None, value: str | None) -> Meaning:
    return Meaning(name, label, "null" if value is None else "value", value)


def _by_rule(rule: object, label: str, *, levels: Sequence[int]) -> Meaning | None:
    """What a label says; None where it stands for itself."""
    match rule:
        case Intervals():
            bounds = NumberRange.read(label)
            return None if bounds is None else _range(bounds)
        case Prefix():
            lengths = [rule.lengths[level - 1] for level in levels if 0 < level <= rule.height - 1]
            for length in sorted(lengths):
                masked = label[length:]
                if (
                    len(label) >= length
                    and masked == rule.mask * len(masked)
                    and (masked or not rule.mask)
                ):
                    return Meaning("", label, "prefix", label[:length])
        case Dates():
            return _days(label)
    return None


def _range(bounds: NumberRange) -> Meaning:
    ends = bounds.low is not None and bounds.has_low, bounds.high is not None and bounds.has_high
    return Meaning("", None, "range", low=bounds.low, high=bounds.high, closed=_CLOSED[ends])


def _days(label: str) -> Meaning | None:
    """The days of a calendar unit between the years 1 and 9999."""
    match = _DAYS.fullmatch(label)
    if match is None:
        return None
    year, week, quarter, month, day, last = (int(part or 0) for part in match.groups())
    try:
        if week:
            first = date.fromisocalendar(year, week, 1)
            after = first + timedelta(weeks=1)
        elif day:
            first = date(year, month, day)
            after = first + timedelta(days=1)
        else:
            begins = 3 * quarter - 2 if quarter else month or 1
            months = 3 if quarter else 1 if month else 12 * ((last or year) - year + 1)
            first, end = date(year, begins, 1), 12 * year + begins - 1 + months
            after = date(end // 12, end % 12 + 1, 1)
    except (ValueError, OverflowError):
        return None
    return Meaning("", label, "range", low=first.isoformat(), high=after.isoformat(), closed="left")


def _csv(rows: Iterable[Meaning]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Meaning._fields)
    writer.writerows(rows)
    return text.getvalue()


def _json(rows: Iterable[Meaning]) -> str:
    head = {key: value for key, value in stamp("").items() if value}
    document = {**head, "labels": [row._asdict() for row in rows]}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
