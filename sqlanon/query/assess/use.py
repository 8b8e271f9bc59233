"""Use: what tables and figures of a release say beside those of its original."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.encode import of_column, values_of
from sqlanon.sqltext import Sql, expression, name, names, render, value

CELL, CELLS = "cell", "cells"


@dataclass(frozen=True, slots=True)
class Counted:
    """A column that tables count by.

    Args:
        name: The column.
        kind: Its type in the original, where its labels stand for cells; None where it is
            published as it is, so that its texts are its cells.
        number: Its attribute among leaves and labels.
    """

    name: str
    kind: exp.DataType | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class ComparedTables:
    """A release and its original.

    Args:
        original: The original.
        records: Its records.
        released: The release.
        published: Its records that are not suppressed.
        leaves: Rows of ATTRIBUTE, LEAF (a value as text) and CELL, its number.
        stands: Rows of ATTRIBUTE, LABEL, CELL, one for each that the label stands for, and CELLS,
            how many these are.
        suppressed: The label of suppressed records; None where none is there.
        judged: The columns that all have it then.
    """

    original: exp.Table
    records: int
    released: exp.Table
    published: int
    leaves: exp.Table
    stands: exp.Table
    suppressed: str | None
    judged: Sequence[str]


def table_error(compared: ComparedTables, columns: Sequence[Counted]) -> Sql:
    """Errors of the table by columns: share covered, sum of differences, mean relative one."""
    sides = [_sides(counted, place=place) for place, counted in enumerate(columns)]
    numbered = [
        (
            place,
            counted.number,
            name(counted.name),
            values_of(
                compared.leaves,
                counted.kind,
                carried=[CELL],
                among=of_column(counted.number),
            ),
        )
        for place, counted in enumerate(columns)
        if counted.kind is not None
    ]
    return render(
        "assess/table_error",
        original=compared.original,
        records=compared.records,
        released=compared.released,
        columns=sides,
        cells=[cell for _, cell, *_ in sides],
        maps=[(quoted, name(f"map_{place}"), values) for place, number, quoted, values in numbered],
        label_cells=compared.stands,
        stands=[
            (number, *names([f"stands_{place}", f"cell_{place}"])) for place, number, *_ in numbered
        ],
        spread=expression(
            "CAST(labelled.size AS DOUBLE){% for place in places %}"
            " / stands_{{ place }}.cells{% endfor %} / {{ published }}",
            places=[place for place, *_ in numbered],
            published=compared.published,
        ),
        suppressed=None if compared.suppressed is None else value(compared.suppressed),
        judged=names(compared.judged),
    )


def _sides(counted: Counted, *, place: int) -> tuple[Sql, Sql, Sql, Sql, Sql]:
    """A column, its cells and labels, the cell of an original record, and the label of a cell."""
    if counted.kind is None:
        cell = expression("CAST(source.{{ column }} AS VARCHAR)", column=name(counted.name))
        label = expression("counted.cell_{{ place }}", place=place)
    else:
        cell = expression("map_{{ place }}.cell", place=place)
        label = expression("stands_{{ place }}.label", place=place)
    return name(counted.name), name(f"cell_{place}"), name(f"label_{place}"), cell, label


def number_figures(
    source: exp.Table,
    column: str,
    *,
    shares: Sequence[float],
    suppressed: str | None = None,
    judged: Sequence[str] = (),
) -> Sql:
    """The mean of a column's finite numbers, then their quantiles; NULL where there are none."""
    return render(
        "assess/number_figures",
        source=source,
        column=name(column),
        shares=list(map(value, shares)),
        greatest=value(sys.float_info.max),
        suppressed=None if suppressed is None else value(suppressed),
        judged=names(judged),
    )
