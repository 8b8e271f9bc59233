"""Release: counts of a release, be it a node of the lattice or a published table.

Its classes are written to a table once: one row per class, with what tells it apart (words of the
packed code, or the labels of a published table), CLASS_SIZE, and SMALL: whether it is suppressed.

Of a node, `source` has rows of words and SIZE, `masks` are per word the bits that tell its classes
apart, and `classes` is that table. Of a published table, `classes` is one of `table_classes`,
`rows` one of `mapped`, `original` one of `place_sizes`, and `released` one of `released_places`.

Beside a population, `columns` are those whose labels tell people apart, by number with their bits
of a code at level 0. A label is known by the number of its place, which `covers` give the codes of
its values, and `read` its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.classes.frequency import CLASS_SIZE, Masks, mask
from sqlanon.query.classes.violations import beside
from sqlanon.query.encode import LEAF, SIZE, of_column, values_of, word_names
from sqlanon.sqltext import Fragment, Sql, expression, name, names, render, value

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


def published_labels(classes: exp.Table, number: int) -> Sql:
    """The labels that a column publishes: LEAF (the text), records and classes."""
    return expression(
        "SELECT {{ label }} AS leaf, {{ total('class_size') }} AS records,"
        " CAST(COUNT(*) AS BIGINT) AS classes"
        " FROM {{ classes }} WHERE NOT small GROUP BY {{ label }}",
        label=name(label(number)),
        classes=classes,
    )


def readings(labels: exp.Table, nodes: exp.Table, *, number: int, kind: exp.DataType) -> Sql:
    """The nodes that a column's labels may stand for: rows of label, place, records, classes.

    `labels` is a table of `published_labels`; `nodes` has rows of ATTRIBUTE, LEAF (the text of a
    leaf, or a label), IS_LEAF (1 or 0) and PLACE.
    """
    are_its_leaves = expression("{{ is_its }} AND is_leaf = 1", is_its=of_column(number))
    return render(
        "assess/readings",
        held=labels,
        values=values_of(labels, kind, carried=[LEAF, "records", "classes"]),
        nodes=nodes,
        leaves=values_of(nodes, kind, carried=[PLACE], among=are_its_leaves),
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


def surplus(released: exp.Table, original: exp.Table, *, words: int) -> Sql:
    """Number of places that more records are published under than there are."""
    return render("assess/surplus", released=released, original=original, places=_places(words))


def published_parts(
    rows: exp.Table, released: exp.Table, *, original: exp.Table, words: int
) -> Sql:
    """How many records of every row are published: its code, `whole` and `part`.

    The first are the records of places that are published whole, the other the share of the rest.
    """
    return render(
        "assess/published_parts",
        rows=rows,
        released=released,
        original=original,
        places=_places(words),
        words=names(word_names(words)),
    )


def origins(parts: exp.Table, *, columns: Sequence[Masks]) -> Sql:
    """Published records per leaf of every column; `parts` are those of `published_parts`.

    Rows of number, records of places that are published whole, share of the others, and the words
    of the leaf.
    """
    return render("assess/origins", parts=parts, columns=list(enumerate(columns)))


def _places(words: int) -> list[Sql]:
    return names(map(place, range(words)))


LEAVES = "leaves"
LABEL = "label"


def label(number: int) -> str:
    """Name of the column of a published table's labels, among its classes."""
    return f"label_{number}"


def labels(count: int) -> list[str]:
    """The columns that hold the labels of so many quasi-identifiers."""
    return list(map(label, range(count)))


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
        words=names(word_names(len(masks))),
        k=k,
        suppressed=suppressed,
    )


def column_counts(
    rows: exp.Table,
    columns: Sequence[Masks],
    *,
    masks: Masks = (),
    classes: exp.Table | None = None,
) -> Sql:
    """Records and rows per value of columns: the column's number, the value's words, both counts.

    Args:
        rows: The classes of a node, of which those that are published count; or a source.
        columns: The bits of each column.
        masks: The bits by which the source has classes.
        classes: Then these, of which those that are suppressed count.
    """
    return render(
        "assess/column_counts",
        counted=rows,
        size=name(CLASS_SIZE if classes is None else SIZE),
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


def labelled_people(encoded: exp.Table, covers: exp.Table, *, columns: Mapping[int, Masks]) -> Sql:
    """The people whose values have labels in all columns, by these: LABELs and PEOPLE.

    `covers` has rows of ATTRIBUTE, the words of a value, and a PLACE that it is in.
    """
    return render(
        "assess/labelled_people",
        encoded=encoded,
        covers=covers,
        columns=list(columns.items()),
        labels=names(map(label, columns)),
    )


def released_labels(classes: exp.Table, read: exp.Table, *, columns: Mapping[int, Masks]) -> Sql:
    """The classes that are not suppressed by the numbers of their labels: LABELs and SIZE.

    A label that is not among those of `read`, rows of ATTRIBUTE, LABEL and PLACE, has none.
    """
    return render("assess/released_labels", classes=classes, read=read, columns=list(columns))


def people_of_classes(
    released: exp.Table, people: exp.Table, *, columns: Sequence[int], conditions: Sequence[Sql]
) -> Sql:
    """The classes beside the population, in one row.

    The fewest people of a class; the least and the greatest share of them that is released; the
    people of all classes; the classes with more records than people, with how many of both they
    have; and the number of classes for which each of the conditions holds.
    """
    classes = beside(released, people, list(map(label, columns)))
    return render("assess/people_of_classes", classes=classes, conditions=conditions)
