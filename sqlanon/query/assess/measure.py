"""Measure: counts of a release, be it a node of the lattice or a published table.

Its classes are written to a table once: one row per class, with what tells it apart (words of the
packed code, or the labels of a published table), CLASS_SIZE, and SMALL: whether it is suppressed.

Everywhere `source` has rows of words and SIZE, `masks` are per word the bits that tell the classes
of a node apart, and `classes` is that table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.classes.frequency import CLASS_SIZE, Masks, mask
from sqlanon.query.encoding.encode import SIZE, word
from sqlanon.sqltext import Fragment, Sql, expression, name, names, render

LEAVES = "leaves"
LABEL = "label"


def label(number: int) -> str:
    """Name of the column of a published table's labels, among its classes."""
    return f"label_{number}"


def node_classes(
    source: exp.Table, masks: Masks, *, k: int, suppressed: exp.Table | None = None
) -> Sql:
    """The classes of a node, suppressed where another table has their words.

    Without one these are the classes that are smaller than k [records].
    """
    return render(
        "assess/node_classes",
        source=source,
        masks=masks,
        words=names(map(word, range(len(masks)))),
        k=k,
        suppressed=suppressed,
    )


def node_cells(classes: exp.Table, columns: Sequence[Masks]) -> Sql:
    """Values that a node publishes of columns, by their masks: number, words, records, classes."""
    return _by_column(classes, CLASS_SIZE, columns, masks=(), classes=None)


def suppressed_values(
    source: exp.Table, masks: Masks, *, classes: exp.Table, columns: Sequence[Masks]
) -> Sql:
    """Records of suppressed classes per value of columns: number, words, records, combinations."""
    return _by_column(source, SIZE, columns, masks=masks, classes=classes)


def _by_column(
    counted: exp.Table,
    size: str,
    columns: Sequence[Masks],
    *,
    masks: Masks,
    classes: exp.Table | None,
) -> Sql:
    """Records and rows per value of every column, each row counted once for every column."""
    return render(
        "assess/column_counts",
        counted=counted,
        size=name(size),
        columns=list(enumerate(columns)),
        names=names(map(mask, range(len(columns[0])))),
        masks=masks,
        classes=classes,
    )


def kept_values(source: exp.Table, masks: Masks, *, classes: exp.Table, column: str) -> Sql:
    """A column of the classes that are not suppressed: rows of words, VALUE and SIZE."""
    return render(
        "assess/kept_values", source=source, column=name(column), classes=classes, masks=masks
    )


def coded_values(source: exp.Table, column: str) -> Sql:
    """The values of a coded table: rows of VALUE and SIZE."""
    return expression(
        "SELECT source.{{ column }} AS value, source.size FROM {{ source }} AS source",
        column=name(column),
        source=source,
    )


def class_histogram(classes: exp.Table) -> Sql:
    """Classes of each size: rows of class size, whether suppressed, classes."""
    return expression(
        "SELECT class_size, small, CAST(COUNT(*) AS BIGINT) FROM {{ classes }}"
        " GROUP BY class_size, small",
        classes=classes,
    )


def products(classes: exp.Table, sizes: exp.Table, *, columns: Mapping[int, Masks | None]) -> Sql:
    """Records per product of their nodes' leaves: rows of product and records.

    Args:
        classes: The classes.
        sizes: Rows of ATTRIBUTE, LEAVES and the words or the label of a node.
        columns: The numbers of columns whose nodes have different numbers of leaves, with their
            bits; None where nodes are known by their label.
    """
    return render("assess/products", classes=classes, sizes=sizes, columns=list(columns.items()))


def spread(rows: Fragment, keys: Sequence[str]) -> Sql:
    """Squared value counts of an attribute over classes, by class size.

    Rows of class size, number of classes, and sum over these of their squared value counts, from
    rows of VALUE, SIZE and the keys that tell classes apart.
    """
    return expression(
        "SELECT class_size, CAST(COUNT(*) AS BIGINT), {{ total('squares') }}"
        " FROM {{ classes }} AS classes GROUP BY class_size",
        classes=_class_spread(rows, keys),
    )


def majority(rows: Fragment, keys: Sequence[str]) -> Sql:
    """Records that hold the most frequent value of their class; arguments as `spread`."""
    return expression(
        "SELECT {{ total('largest') }} FROM {{ classes }} AS classes",
        classes=_class_spread(rows, keys),
    )


def _class_spread(rows: Fragment, keys: Sequence[str]) -> Sql:
    return render("assess/class_spread", rows=rows, keys=names(keys))


def value_squares(rows: Fragment) -> Sql:
    """Records of rows of VALUE and SIZE, and the sum of their squared value counts, in one row."""
    return expression(
        "SELECT {{ total('held') }}, {{ total('held * held') }} FROM ("
        "SELECT CAST(SUM(size) AS BIGINT) AS held FROM {{ rows }} AS rows GROUP BY value"
        ") AS counts",
        rows=rows,
    )


def without_null(rows: Fragment) -> Sql:
    """The rows whose VALUE is not NULL."""
    return expression("SELECT * FROM {{ rows }} AS rows WHERE value IS NOT NULL", rows=rows)
