"""Release: labels and classes of a published table, whoever published it.

Everywhere `classes` is a table of `table_classes`, `rows` one of `mapped`, `held` one of
`place_sizes`, and `released` one of `released_places`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import double
from sqlanon.query.assess.measure import CLASSES, HELD, Sized, kept, label
from sqlanon.query.classes.frequency import CLASS_SIZE, SMALL, Masks
from sqlanon.query.encoding.encode import (
    ATTRIBUTE,
    LEAF,
    SIZE,
    VALUE,
    same_columns,
    same_value,
    same_words,
    union_all,
    values_of,
    word,
)
from sqlanon.query.syntax import (
    added,
    alias,
    bigint,
    column,
    count_all,
    masked,
    named,
    nested,
    select,
    total,
    when,
)
from sqlanon.query.text import varchar

PLACE = "place"
IS_LEAF = "is_leaf"
RECORDS = "records"
RELEASED = "released"
WHOLE, PART = "whole", "part"
SOURCE = "source"


def place(number: int) -> str:
    """Name of the column that holds a word of a place: the nodes that a row's values became."""
    return f"place_{number}"


def table_classes(
    source: exp.Table, columns: Sequence[str], *, suppressed: str | None
) -> exp.Select:
    """The classes of a published table by the labels of its quasi-identifiers as texts.

    That whose every label is `suppressed` counts as suppressed.
    """
    keys: list[exp.Expr] = [column(name, SOURCE) for name in columns]
    small = exp.false() if suppressed is None else _is_suppressed(columns, suppressed)
    figures = [alias(varchar(key), label(number)) for number, key in enumerate(keys)]
    figures += [alias(bigint(count_all()), CLASS_SIZE), alias(small, SMALL)]
    return select(figures, named(source, SOURCE), by=keys)


def _is_suppressed(columns: Sequence[str], suppressed: str) -> exp.Expr:
    """Whether a record's every quasi-identifier is the label for suppressed values; never NULL."""
    same = [
        exp.Coalesce(
            this=exp.EQ(
                this=varchar(column(name, SOURCE)), expression=exp.Literal.string(suppressed)
            ),
            expressions=[exp.false()],
        )
        for name in columns
    ]
    return exp.and_(*same, copy=False)


def class_values(
    source: exp.Table, columns: Sequence[str], *, name: str, suppressed: str | None
) -> exp.Select:
    """The records that `table_classes` does not suppress: rows of labels, VALUE and SIZE."""
    keys = [alias(column(each, SOURCE), label(number)) for number, each in enumerate(columns)]
    query = column_values(source, name).select(*keys, copy=False)
    if suppressed is not None:
        query.where(exp.Not(this=exp.Paren(this=_is_suppressed(columns, suppressed))), copy=False)
    return query


def column_values(source: exp.Table, name: str) -> exp.Select:
    """A column of a table: rows of VALUE and SIZE."""
    value = alias(column(name, SOURCE), VALUE)
    return select([value, alias(bigint(exp.Literal.number(1)), SIZE)], named(source, SOURCE))


def held_labels(classes: exp.Table, number: int) -> exp.Select:
    """The labels that a column publishes: LEAF (the text), RECORDS and CLASSES."""
    text = column(label(number))
    figures = [
        alias(text, LEAF),
        alias(total(column(CLASS_SIZE)), RECORDS),
        alias(bigint(count_all()), CLASSES),
    ]
    return select(figures, classes, by=[text]).where(kept(), copy=False)


def held_totals(held: exp.Table) -> exp.Select:
    """Number of labels and their records, of a table of `held_labels`."""
    return select([bigint(count_all()), total(column(RECORDS))], held)


def readings(held: exp.Table, nodes: exp.Table, *, number: int, kind: exp.DataType) -> exp.Expr:
    """The nodes that a column's labels may stand for: rows of label, place, records, classes.

    A label of an inner node is compared as text; an original value as a value of its type, since it
    can be written in several ways. `held` is a table of `held_labels`; `nodes` has rows of
    ATTRIBUTE, LEAF (the text of a leaf, or a label), IS_LEAF (1 or 0) and PLACE.
    """
    own = column(ATTRIBUTE).eq(number)
    counted = [RECORDS, CLASSES]
    inner = exp.select(column(LEAF), column(PLACE)).from_(nodes)
    inner = inner.where(own, column(IS_LEAF).eq(0))
    leaves = values_of(nodes, kind, carried=[PLACE]).where(own, column(IS_LEAF).eq(1))
    values = values_of(held, kind, carried=[LEAF, *counted])
    parts = []
    for rows, matched, on in (
        (named(held, HELD), inner, LEAF),
        (nested(values, HELD), leaves, VALUE),
    ):
        figures = [column(name, HELD) for name in (LEAF, *counted)]
        figures.insert(1, column(PLACE, "nodes"))
        same = same_value(column(on, HELD), column(on, "nodes"), nullable=True)
        parts.append(select(figures, rows).join(nested(matched, "nodes"), on=same, copy=False))
    return union_all(parts)


def mapped(encoded: exp.Table, targets: exp.Table, *, columns: Sequence[Masks]) -> exp.Select:
    """The encoded original with the place of every row: its words are sums of those of its values.

    `targets` has rows of ATTRIBUTE, the words of a leaf, and those of its place; a column is given
    by its bits at level 0. A row with a value that has no place has none.
    """
    relations = [f"target_{number}" for number in range(len(columns))]
    held = range(len(columns[0]))
    codes = [column(word(w), SOURCE) for w in held]
    query = select(
        [*codes, *_places(relations, columns), column(SIZE, SOURCE)], named(encoded, SOURCE)
    )
    for number, (name, masks) in enumerate(zip(relations, columns, strict=True)):
        own = column(ATTRIBUTE, name).eq(number)
        same = exp.and_(own, *same_words(masks, SOURCE, other=name), copy=False)
        query.join(named(targets, name), on=same, join_type="left", copy=False)
    return query


def _places(relations: Sequence[str], columns: Sequence[Masks]) -> list[exp.Expr]:
    """The words of the place that some relations give the parts of, one of each column."""
    parts = [
        [column(place(w), name) for name, masks in zip(relations, columns, strict=True) if masks[w]]
        for w in range(len(columns[0]))
    ]
    return [alias(added(each), place(w)) for w, each in enumerate(parts)]


def place_sizes(rows: exp.Table, *, words: int) -> exp.Select:
    """Records of the original per place: HELD beside its words."""
    keys: list[exp.Expr] = [column(place(w)) for w in range(words)]
    return select([*keys, alias(total(column(SIZE)), HELD)], rows, by=keys)


def released_places(classes: exp.Table, read: exp.Table, *, columns: Sequence[Masks]) -> exp.Select:
    """Published records (RELEASED) per place; `read` gives a label the words of its place."""
    labels = [Sized.by_label(number) for number in range(len(columns))]
    places = _places([each.name for each in labels], columns)
    query = select([*places, column(CLASS_SIZE, CLASSES)], named(classes, CLASSES))
    for each in labels:
        query.join(each.join(read), copy=False)
    rows = nested(query.where(kept(CLASSES), copy=False), CLASSES)
    keys: list[exp.Expr] = [column(place(w)) for w in range(len(columns[0]))]
    return select([*keys, alias(total(column(CLASS_SIZE)), RELEASED)], rows, by=keys)


def surplus(released: exp.Table, held: exp.Table, *, words: int) -> exp.Select:
    """Number of places that more records are published under than there are."""
    more = exp.or_(
        column(HELD, HELD).is_(exp.null()),
        column(RELEASED, RELEASED) > column(HELD, HELD),
    )
    query = select([bigint(count_all())], named(released, RELEASED))
    same = _same_places(RELEASED, HELD, words=words)
    query.join(named(held, HELD), on=same, join_type="left", copy=False)
    return query.where(more, copy=False)


def published_parts(
    rows: exp.Table, released: exp.Table, *, held: exp.Table, words: int
) -> exp.Select:
    """How many records of every row are published: its code, WHOLE and PART.

    WHOLE are the records of places that are published whole, PART the share of the others.
    """
    whole = column(RELEASED, RELEASED).eq(column(HELD, HELD))
    size = column(SIZE, SOURCE)
    share = exp.Div(
        this=double(size) * column(RELEASED, RELEASED), expression=double(column(HELD, HELD))
    )
    none, nothing = exp.Literal.number(0), exp.Literal.number("0.0")
    codes = [column(word(w), SOURCE) for w in range(words)]
    parts = [
        alias(when(whole, size, default=none), WHOLE),
        alias(when(whole, nothing, default=share), PART),
    ]
    query = select([*codes, *parts], named(rows, SOURCE))
    for relation, name in ((released, RELEASED), (held, HELD)):
        same = _same_places(SOURCE, name, words=words)
        query.join(named(relation, name), on=same, copy=False)
    return query


def origins(parts: exp.Table, *, columns: Sequence[Masks]) -> exp.Expr:
    """Published records per leaf of every column; `parts` are those of `published_parts`.

    Rows of number, records of places that are published whole, share of the others, and the words
    of the leaf.
    """
    queries = []
    for number, masks in enumerate(columns):
        keys: list[exp.Expr] = [masked(word(w), mask) for w, mask in enumerate(masks)]
        figures = [
            exp.Literal.number(number),
            total(column(WHOLE)),
            double(exp.Sum(this=column(PART))),
            *keys,
        ]
        queries.append(select(figures, parts, by=keys))
    return union_all(queries)


def _same_places(left: str, right: str, *, words: int) -> exp.Expr:
    return same_columns(left, right, names=[place(w) for w in range(words)])
