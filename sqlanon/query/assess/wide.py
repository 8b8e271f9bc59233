"""Wide tables: queries that turn a few columns at a time into words of a packed code.

Everywhere `numbered` has the rows of `numbered_records`, and a part is the numbers of some of its
columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.classes.violations import value_of
from sqlanon.query.encoding.encode import word
from sqlanon.sqltext import Sql, expression, name, names, render

RECORD = "record"


def cell(place: int) -> str:
    """Name of a numbered column."""
    return f"cell_{place}"


def numbered_records(source: exp.Table, columns: Sequence[str]) -> Sql:
    """The records of a table with a number each: `record`, `cell_0`, `cell_1`, ..."""
    return expression(
        "SELECT ROW_NUMBER() OVER () AS record"
        "{% for column in columns %}, {{ column }} AS cell_{{ loop.index0 }}{% endfor %}"
        " FROM {{ source }}",
        columns=names(columns),
        source=source,
    )


def sized(numbered: exp.Table, parts: Sequence[tuple[exp.Table, int]]) -> Sql:
    """The frequency set of parts, which have so many words each: the words and `size`."""
    return _joined(numbered, parts, ranks={}, entity=None, is_sized=True)


def carrying(
    numbered: exp.Table,
    parts: Sequence[tuple[exp.Table, int]],
    *,
    ranks: Mapping[int, exp.Table],
    entity: int | None,
) -> Sql:
    """The words of parts, a rank for each of some numbered columns, and the entity.

    Args:
        numbered: The numbered records.
        parts: The parts, and how many words each has.
        ranks: Rows of VALUE and RANK by the number of the column.
        entity: The number of the column that says whose record it is.
    """
    return _joined(numbered, parts, ranks=ranks, entity=entity, is_sized=False)


def _joined(
    numbered: exp.Table,
    parts: Sequence[tuple[exp.Table, int]],
    *,
    ranks: Mapping[int, exp.Table],
    entity: int | None,
    is_sized: bool,
) -> Sql:
    held = [(place, w) for place, (_, words) in enumerate(parts) for w in range(words)]
    return render(
        "assess/wide_rows",
        numbered=numbered,
        parts=[(_part(place), rows) for place, (rows, _) in enumerate(parts)],
        words=[(name(word(w)), _part(p), name(word(own))) for w, (p, own) in enumerate(held)],
        ranks=[
            (name(value_of(number)), rows, name(cell(place)))
            for number, (place, rows) in enumerate(ranks.items())
        ],
        entity=None if entity is None else name(cell(entity)),
        is_sized=is_sized,
    )


def _part(place: int) -> Sql:
    return name(f"part_{place}")
