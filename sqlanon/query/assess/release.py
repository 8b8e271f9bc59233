"""Release: labels and classes of a published table, whoever published it.

Everywhere `classes` is a table of `table_classes`, `rows` one of `mapped`, `held` one of
`place_sizes`, and `released` one of `released_places`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.assess.measure import label
from sqlanon.query.classes.frequency import Masks
from sqlanon.query.encoding.encode import ATTRIBUTE, LEAF, values_of, word
from sqlanon.query.syntax import column
from sqlanon.sqltext import Sql, expression, name, names, render, value

PLACE = "place"
IS_LEAF = "is_leaf"


def place(number: int) -> str:
    """Name of the column that holds a word of a place: the nodes that a row's values became."""
    return f"place_{number}"


def table_classes(source: exp.Table, columns: Sequence[str], *, suppressed: str | None) -> Sql:
    """The classes of a published table by the labels of its quasi-identifiers as texts.

    That whose every label is `suppressed` counts as suppressed.
    """
    return render(
        "assess/table_classes",
        source=source,
        columns=names(columns),
        suppressed=None if suppressed is None else value(suppressed),
    )


def class_values(
    source: exp.Table, columns: Sequence[str], *, sensitive: str, suppressed: str | None
) -> Sql:
    """The records that `table_classes` does not suppress: rows of labels, VALUE and SIZE."""
    return render(
        "assess/class_values",
        source=source,
        column=name(sensitive),
        labels=names(columns),
        suppressed=None if suppressed is None else value(suppressed),
    )


def column_values(source: exp.Table, sensitive: str) -> Sql:
    """A column of a table: rows of VALUE and SIZE."""
    return class_values(source, [], sensitive=sensitive, suppressed=None)


def held_labels(classes: exp.Table, number: int) -> Sql:
    """The labels that a column publishes: LEAF (the text), records and classes."""
    return expression(
        "SELECT {{ label }} AS leaf, {{ total('class_size') }} AS records,"
        " CAST(COUNT(*) AS BIGINT) AS classes"
        " FROM {{ classes }} WHERE NOT small GROUP BY {{ label }}",
        label=name(label(number)),
        classes=classes,
    )


def held_totals(held: exp.Table) -> Sql:
    """Number of labels and their records, of a table of `held_labels`."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT), {{ total('records') }} FROM {{ held }}", held=held
    )


def readings(held: exp.Table, nodes: exp.Table, *, number: int, kind: exp.DataType) -> Sql:
    """The nodes that a column's labels may stand for: rows of label, place, records, classes.

    `held` is a table of `held_labels`; `nodes` has rows of ATTRIBUTE, LEAF (the text of a leaf, or
    a label), IS_LEAF (1 or 0) and PLACE.
    """
    leaves = values_of(nodes, kind, carried=[PLACE])
    return render(
        "assess/readings",
        held=held,
        values=values_of(held, kind, carried=[LEAF, "records", "classes"]),
        nodes=nodes,
        leaves=leaves.where(column(ATTRIBUTE).eq(number), column(IS_LEAF).eq(1), copy=False),
        number=number,
    )


def mapped(encoded: exp.Table, targets: exp.Table, *, columns: Sequence[Masks]) -> Sql:
    """The encoded original with the place of every row: its words are sums of those of its values.

    `targets` has rows of ATTRIBUTE, the words of a leaf, and those of its place; a column is given
    by its bits at level 0. A row with a value that has no place has none.
    """
    return render(
        "assess/mapped",
        encoded=encoded,
        targets=targets,
        columns=list(enumerate(columns)),
        words=_holding(columns),
    )


def _holding(columns: Sequence[Masks]) -> list[tuple[int, list[int]]]:
    """The words, each with the numbers of the columns that have bits there."""
    return [
        (w, [number for number, masks in enumerate(columns) if masks[w]])
        for w in range(len(columns[0]))
    ]


def place_sizes(rows: exp.Table, *, words: int) -> Sql:
    """Records of the original per place: `held` beside its words."""
    return expression(
        "SELECT {{ listed(places) }}, {{ total('size') }} AS held FROM {{ rows }}"
        " GROUP BY {{ listed(places) }}",
        places=_places(words),
        rows=rows,
    )


def released_places(classes: exp.Table, read: exp.Table, *, columns: Sequence[Masks]) -> Sql:
    """Published records (`released`) per place; `read` gives a label the words of its place."""
    return render(
        "assess/released_places",
        classes=classes,
        read=read,
        columns=range(len(columns)),
        words=_holding(columns),
        places=_places(len(columns[0])),
    )


def surplus(released: exp.Table, held: exp.Table, *, words: int) -> Sql:
    """Number of places that more records are published under than there are."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT) FROM {{ released }} AS released"
        " LEFT JOIN {{ held }} AS held ON {{ equal('released', 'held', places) }}"
        " WHERE held.held IS NULL OR released.released > held.held",
        released=released,
        held=held,
        places=_places(words),
    )


def published_parts(rows: exp.Table, released: exp.Table, *, held: exp.Table, words: int) -> Sql:
    """How many records of every row are published: its code, `whole` and `part`.

    The first are the records of places that are published whole, the other the share of the rest.
    """
    return render(
        "assess/published_parts",
        rows=rows,
        released=released,
        held=held,
        places=_places(words),
        words=names(map(word, range(words))),
    )


def origins(parts: exp.Table, *, columns: Sequence[Masks]) -> Sql:
    """Published records per leaf of every column; `parts` are those of `published_parts`.

    Rows of number, records of places that are published whole, share of the others, and the words
    of the leaf.
    """
    return render("assess/origins", parts=parts, columns=list(enumerate(columns)))


def _places(words: int) -> list[Sql]:
    return names(map(place, range(words)))
