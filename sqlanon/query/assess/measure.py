"""Measure: counts of a release, be it a node of the lattice or a published table.

Its classes are written to a table once: one row per class, with what tells it apart (words of the
packed code, or the labels of a published table), CLASS_SIZE, and SMALL: whether it is suppressed.

Everywhere `source` has rows of words and SIZE, `masks` are per word the bits that tell the classes
of a node apart, and `classes` is that table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.arithmetic import double, number, summed, times
from sqlanon.query.classes.frequency import CLASS_SIZE, SMALL, Masks, mask
from sqlanon.query.encoding.encode import (
    ATTRIBUTE,
    SIZE,
    VALUE,
    same_columns,
    same_value,
    same_words,
    word,
)
from sqlanon.query.syntax import (
    alias,
    bigint,
    column,
    count_all,
    masked,
    named,
    nested,
    select,
    star,
    total,
)

LEAVES = "leaves"
LABEL = "label"
CLASSES = "classes"
PRODUCT = "product"
HELD = "held"


def label(number: int) -> str:
    """Name of the column of a published table's labels, among its classes."""
    return f"label_{number}"


def node_classes(source: exp.Table, masks: Masks, *, k: int) -> exp.Select:
    """The classes of a node, suppressed where they are smaller than k [records]."""
    small = exp.LT(this=summed(SIZE), expression=number(k))
    return _node_classes(source, masks).select(alias(small, SMALL), copy=False)


def node_classes_without(source: exp.Table, masks: Masks, *, suppressed: exp.Table) -> exp.Select:
    """The classes of a node, suppressed where another table has their words."""
    words = range(len(masks))
    found = column(word(0), "gone").is_(exp.null()).not_()
    own = [column(word(w), CLASSES) for w in words]
    figures = [*own, column(CLASS_SIZE, CLASSES), alias(found, SMALL)]
    query = select(figures, nested(_node_classes(source, masks), CLASSES))
    same = same_columns(CLASSES, "gone", names=[word(w) for w in words])
    return query.join(named(suppressed, "gone"), on=same, join_type="left", copy=False)


def _node_classes(source: exp.Table, masks: Masks) -> exp.Select:
    keys: list[exp.Expr] = [masked(word(w), mask) for w, mask in enumerate(masks)]
    names = [alias(key, word(w)) for w, key in enumerate(keys)]
    return select([*names, alias(bigint(summed(SIZE)), CLASS_SIZE)], source, by=keys)


def node_cells(classes: exp.Table, columns: Sequence[Masks]) -> exp.Select:
    """Values that a node publishes of columns, by their masks: number, words, records, classes."""
    return _by_column(named(classes, CLASSES), CLASSES, size=CLASS_SIZE, columns=columns).where(
        kept(CLASSES)
    )


def suppressed_values(
    source: exp.Table, masks: Masks, *, classes: exp.Table, columns: Sequence[Masks]
) -> exp.Select:
    """Records of suppressed classes per value of columns: number, words, records, combinations."""
    query = _by_column(named(source, "source"), "source", size=SIZE, columns=columns)
    same = exp.and_(*same_words(masks, "source", other=CLASSES), copy=False)
    query.join(named(classes, CLASSES), on=same, copy=False)
    return query.where(column(SMALL, CLASSES), copy=False)


def _by_column(
    rows: exp.Table, relation: str, *, size: str, columns: Sequence[Masks]
) -> exp.Select:
    """Records and rows per value of every column, each row counted once for every column."""
    names = [mask(w) for w in range(len(columns[0]))]
    keys: list[exp.Expr] = [column(ATTRIBUTE, "columns")]
    keys += [
        exp.BitwiseAnd(this=column(word(w), relation), expression=column(name, "columns"))
        for w, name in enumerate(names)
    ]
    bits = exp.values(
        [(number, *masks) for number, masks in enumerate(columns)],
        alias="columns",
        columns=[ATTRIBUTE, *names],
    )
    figures = [*keys, total(column(size, relation)), bigint(count_all())]
    return select(figures, rows, by=keys).join(bits, join_type="CROSS", copy=False)


def kept_values(source: exp.Table, masks: Masks, *, classes: exp.Table, name: str) -> exp.Select:
    """A column of the classes that are not suppressed: rows of words, VALUE and SIZE."""
    figures = [column(word(w), CLASSES) for w in range(len(masks))]
    query = coded_values(source, name).select(*figures, copy=False)
    same = exp.and_(*same_words(masks, "source", other=CLASSES), copy=False)
    query.join(named(classes, CLASSES), on=same, copy=False)
    return query.where(kept(CLASSES), copy=False)


def coded_values(source: exp.Table, name: str) -> exp.Select:
    """The values of a coded table: rows of VALUE and SIZE."""
    figures = [alias(column(name, "source"), VALUE), column(SIZE, "source")]
    return select(figures, named(source, "source"))


def class_histogram(classes: exp.Table) -> exp.Select:
    """Classes of each size: rows of class size, whether suppressed, classes."""
    keys: list[exp.Expr] = [column(CLASS_SIZE), column(SMALL)]
    return select([*keys, bigint(count_all())], classes, by=keys)


@dataclass(frozen=True, slots=True)
class Sized:
    """A column whose nodes have different numbers of leaves.

    Args:
        number: Its number, by which `sizes` knows it.
        same: Conditions that a class, called `classes`, has the value that a row of `sizes`,
            called `size_<number>`, is about.
    """

    number: int
    same: tuple[exp.Expr, ...]

    @property
    def name(self) -> str:
        """The alias of its rows of sizes."""
        return f"size_{self.number}"

    @classmethod
    def by_words(cls, number: int, masks: Masks) -> Sized:
        """A column of a node: its bits are the words of the sizes."""
        return cls(number, tuple(same_words(masks, CLASSES, other=f"size_{number}")))

    @classmethod
    def by_label(cls, number: int) -> Sized:
        """A column of a published table: its label is that of the sizes."""
        own = column(label(number), CLASSES)
        return cls(number, (same_value(own, column(LABEL, f"size_{number}"), nullable=True),))

    def join(self, sizes: exp.Table) -> exp.Join:
        """The join of a class to the row of sizes that is about its value."""
        own = column(ATTRIBUTE, self.name).eq(self.number)
        same = exp.and_(own, *self.same, copy=False)
        return exp.Join(this=named(sizes, self.name), on=same)


def products(classes: exp.Table, sizes: exp.Table, *, columns: Sequence[Sized]) -> exp.Select:
    """Records per product of their nodes' leaves: rows of product and records.

    `sizes` has rows of ATTRIBUTE, LEAVES and the words or the label of a node.
    """
    product = times(*(double(column(LEAVES, each.name)) for each in columns))
    figures = [alias(product, PRODUCT), column(CLASS_SIZE, CLASSES)]
    rows = select(figures, named(classes, CLASSES))
    for each in columns:
        rows.join(each.join(sizes), copy=False)
    rows.where(kept(CLASSES), copy=False)
    figures = [column(PRODUCT), total(column(CLASS_SIZE))]
    return select(figures, nested(rows, "products"), by=[column(PRODUCT)])


def spread(rows: exp.Table | exp.Subquery, keys: Sequence[str]) -> exp.Select:
    """Squared value counts of an attribute over classes, by class size.

    Rows of class size, number of classes, and sum over these of their squared value counts, from
    rows of VALUE, SIZE and the keys that tell classes apart.
    """
    classes = _class_values(rows, keys, figure=alias(exp.Sum(this=_square(HELD)), "squares"))
    figures = [column(CLASS_SIZE), bigint(count_all()), total(column("squares"))]
    return select(figures, nested(classes, CLASSES), by=[column(CLASS_SIZE)])


def majority(rows: exp.Table | exp.Subquery, keys: Sequence[str]) -> exp.Select:
    """Records that hold the most frequent value of their class; arguments as `spread`."""
    classes = _class_values(rows, keys, figure=alias(exp.Max(this=column(HELD)), "largest"))
    return select([total(column("largest"))], nested(classes, CLASSES))


def _class_values(
    rows: exp.Table | exp.Subquery, keys: Sequence[str], *, figure: exp.Expr
) -> exp.Select:
    """Per class its size and a figure over the counts of its values, which are HELD."""
    own = [column(key) for key in keys]
    held = alias(bigint(summed(SIZE)), HELD)
    values = select([*own, held], rows, by=[*own, column(VALUE)])
    size = alias(bigint(summed(HELD)), CLASS_SIZE)
    return select([size, figure], nested(values, "spread"), by=own)


def value_squares(rows: exp.Table | exp.Subquery) -> exp.Select:
    """Records of rows of VALUE and SIZE, and the sum of their squared value counts, in one row."""
    counts = select([alias(bigint(summed(SIZE)), HELD)], rows, by=[column(VALUE)])
    return select([total(column(HELD)), total(_square(HELD))], nested(counts, "counts"))


def without_null(rows: exp.Select) -> exp.Select:
    """The rows whose VALUE is not NULL."""
    held = column(VALUE).is_(exp.null()).not_()
    return select([star()], nested(rows, "every")).where(held, copy=False)


def kept(relation: str | None = None) -> exp.Expr:
    """Whether a class is not suppressed."""
    return exp.Not(this=column(SMALL, relation))


def _square(name: str) -> exp.Expr:
    return times(column(name), column(name))
