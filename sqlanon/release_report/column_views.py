"""Column views: each column of a release with its chart and its table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlanon.release_report.charts import BarRow, Pictures
from sqlanon.release_report.figures import LabelGroup, ReleasedColumn, ValueShares
from sqlanon.release_report.gathering import Gathered
from sqlanon.release_report.shown import Picture
from sqlanon.release_report.wordings import apart_text, plain
from sqlanon.reports.shown import ShownTable
from sqlanon.wording import clipped, counted, part_of, percent

DRAWN = 24
"""Most columns that have a chart; the others have a table alone."""
LABEL = 60
"""Longest label of a chart [characters]."""


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column as a page shows it.

    Args:
        name: The column.
        lines: What is to be said of it.
        table: Its figures.
        picture: Its chart; None for a column of many, or one that says nothing.
    """

    name: str
    lines: tuple[str, ...]
    table: ShownTable
    picture: Picture | None = None


def shown_columns(found: Gathered, pictures: Pictures) -> Iterator[ShownColumn]:
    """The quasi-identifiers before and after."""
    for number, column in enumerate(found.columns):
        rows = _group_rows(column, found)
        heads = ["label", "original", "release"]
        table = ShownTable([cells for cells, _ in rows], heads, f"Labels of {column.name}")
        picture = None
        if number < DRAWN and not _is_silent(column):
            told = (
                f"Shares of records by published label of {column.name}, original beside release."
            )
            svg = pictures.bars([bars for _, bars in rows], lines=2)
            picture = Picture(svg, f"{column.name} before and after", told, table, is_pair=True)
        yield ShownColumn(column.name, tuple(_column_lines(column, found)), table, picture)


def _column_lines(column: ReleasedColumn, found: Gathered) -> Iterator[str]:
    yield f"Hierarchy: {column.hierarchy}."
    if not column.levels:
        yield f"Values are merged into {counted(column.labels, 'group')}."
    elif len(column.levels) == 1:
        use = column.levels[0]
        yield f"Level used: {use.level} of {column.height} ({use.name})."
    else:
        shares = "; ".join(
            f"level {use.level} ({use.name}) {percent(use.records, found.released)}"
            for use in column.levels
        )
        yield f"Levels used, by share of the released records: {shares}."
    if _is_silent(column):
        yield "Every released cell is fully suppressed, so the release says nothing of this column."
        return
    silent = percent(column.silent, found.released) if column.silent else "none"
    yield (
        f"{counted(column.labels, 'label')} published; {silent} of the released cells are fully "
        "suppressed."
    )
    lm = plain(column.loss["lm"], digits=3)
    left = (found.records - found.released) / found.records
    also = f", of which {plain(left, digits=3)} for records that are left out" if left else ""
    yield f"Loss (lm) {lm}{also}."


def _is_silent(column: ReleasedColumn) -> bool:
    """Whether all of its released cells are fully suppressed."""
    return bool(column.groups) and all(group.is_top for group in column.groups)


def _group_rows(column: ReleasedColumn, found: Gathered) -> list[tuple[list[str], BarRow]]:
    rows = [_group_row(group, found) for group in column.groups]
    rest = column.unpublished
    if rest and not _is_silent(column):
        name = "values without a label of their own"
        cells = [name, part_of(rest, found.records), "0 (0%)"]
        rows.append((cells, BarRow(name, (rest / found.records, 0.0))))
    return rows


def _group_row(group: LabelGroup, found: Gathered) -> tuple[list[str], BarRow]:
    name = label_text(group.label, group.groups)
    released = part_of(group.after, found.released)
    if group.is_top:
        name = f"{name} (fully suppressed)"
    share = group.after / found.released
    if group.is_top or group.before is None:
        cell, behind = ("–", "–") if group.is_top else ("difference not shown", "not shown")
        return [name, cell, released], BarRow(clipped(name, LABEL), (0.0, share), (behind, ""))
    cell, shares = part_of(group.before, found.records), (group.before / found.records, share)
    return [name, cell, released], BarRow(clipped(name, LABEL), shares)


def label_text(label: str | None, several: int = 1) -> str:
    """A label for a reader; several that are shown as one by their number.

    >>> label_text(None), label_text(""), label_text("", 3), label_text("a")
    ('NULL (no value)', '(empty text)', '3 others', 'a')
    """
    if several > 1:
        return f"{several:,} others"
    if label is None:
        return "NULL (no value)"
    return label or "(empty text)"


def shown_shares(shares: ValueShares, pictures: Pictures) -> ShownColumn:
    """A sensitive column, beside the class that is furthest from the table."""
    size, records = max(shares.class_size, 1), max(shares.records, 1)
    rows, cells = [], []
    for row in shares.rows:
        name = label_text(row.label, row.values)
        rows.append(BarRow(clipped(name, LABEL), (row.held / size, row.records / records)))
        held = part_of(row.held, shares.class_size)
        cells.append([name, held, part_of(row.records, shares.records)])
    what = "values, in ranges" if shares.is_ranged else "value"
    heads = [what, "furthest class", "whole release"]
    table = ShownTable(cells, heads, f"Values of {shares.name}")
    told = (
        f"Shares of the values of {shares.name} in the class that is furthest from the released "
        "table, beside the whole table."
    )
    names = ("furthest class", "whole release")
    svg = pictures.bars(rows, lines=2)
    picture = Picture(svg, f"{shares.name}: release and class", told, table, True, names)
    labels = ", ".join(
        f"{name} {clipped(label_text(text), LABEL)}" for name, text in shares.class_labels.items()
    )
    lines = (
        f"{counted(shares.values, 'different value')} in {counted(shares.records, 'record')}.",
        f"The class that is furthest from the table has {counted(shares.class_size, 'record')}; "
        f"to look like the whole table, {apart_text(shares)}.",
        f"It is the class of {labels}." if labels else "",
    )
    return ShownColumn(shares.name, tuple(filter(None, lines)), table, picture)
