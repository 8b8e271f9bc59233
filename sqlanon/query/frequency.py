"""Frequency sets: class sizes of a node of the lattice, rolled up from a finer set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.encode import SIZE, union_all, word
from sqlanon.query.names import (
    added,
    alias,
    bigint,
    column,
    count_all,
    masked,
    named,
    nested,
    total,
    when,
)

CLASS_SIZE = "class_size"
COST = "cost"
SMALL = "small"
Masks = Sequence[int]


@dataclass(frozen=True, slots=True)
class Price:
    """What a cell costs per node of one column's level.

    Args:
        table: A table of the words of the nodes, masked as below, and `cost`.
        masks: Per word the bits of the column at that level.
    """

    table: exp.Table
    masks: Masks


def roll_up(source: exp.Table, masks: Masks) -> exp.Select:
    """The frequency set of a node, in the shape of the encoded table."""
    return _grouped(source, masks, [*_words(masks), alias(total(column(SIZE)), SIZE)])


def class_counts(
    sources: Sequence[exp.Table], words: int, k: int, *, squares: bool = False
) -> exp.Expr:
    """Counts of the classes of several nodes, one row per node in any order.

    The masks of the nodes, word by word and node by node, are the query's parameters, so that its
    text serves many nodes. Each row holds the node's position, its classes, those smaller than k,
    the records in them, and, with `squares`, squared sizes of all classes and of the small ones.

    Args:
        sources: Per node the frequency set to count from.
        words: Number of words of the code.
        k: Smallest class size allowed [records].
        squares: Whether squared sizes are needed.
    """
    parts = []
    for number, source in enumerate(sources):
        figures: list[exp.Expr] = [
            exp.Literal.number(number),
            bigint(count_all()),
            bigint(exp.Count(this=when(_is_small(k), exp.Literal.number(1)))),
            total(when(_is_small(k), column(CLASS_SIZE))),
        ]
        if squares:
            figures += [total(_square()), total(when(_is_small(k), _square()))]
        keys: list[exp.Expr] = [
            exp.BitwiseAnd(this=column(word(w)), expression=exp.Placeholder()) for w in range(words)
        ]
        sizes = exp.Select(
            expressions=[alias(exp.Sum(this=column(SIZE)), CLASS_SIZE)],
            group=exp.Group(expressions=keys),
        ).from_(source.copy(), copy=False)
        parts.append(exp.Select(expressions=figures).from_(nested(sizes, "classes"), copy=False))
    return union_all(parts)


def small_costs(
    sources: Sequence[exp.Table],
    masks: Sequence[Masks],
    k: int,
    prices: Sequence[Sequence[Price]],
) -> exp.Expr:
    """What the small classes of several nodes would cost, one row per node in any order.

    Each row holds the position in `masks`, classes smaller than k, records in them, and what the
    cells of the priced columns would cost in total.

    Args:
        sources: Per node the frequency set to count from.
        masks: Per node the bits that tell its classes apart.
        k: Smallest class size allowed [records].
        prices: Per node what its cells cost, for the columns where that depends on the value.
    """
    parts = []
    for number, (source, node) in enumerate(zip(sources, masks, strict=True)):
        names = [f"price_{place}" for place in range(len(prices[number]))]
        cost = exp.Paren(this=added([column(COST, name) for name in names]))
        figures: list[exp.Expr] = [
            exp.Literal.number(number),
            bigint(count_all()),
            total(column(CLASS_SIZE, SMALL)),
            total(exp.Mul(this=column(CLASS_SIZE, SMALL), expression=cost)),
        ]
        classes = nested(_small_classes(source, node, k), SMALL)
        query = exp.Select(expressions=figures).from_(classes, copy=False)
        for name, price in zip(names, prices[number], strict=True):
            query.join(named(price.table, name), on=_priced(price, name), copy=False)
        parts.append(query)
    return union_all(parts)


def _priced(price: Price, name: str) -> exp.Expr:
    """Whether a class has the value that a row of a price table is about."""
    same: list[exp.Expr] = [
        exp.EQ(this=exp.Paren(this=masked(word(w), mask, SMALL)), expression=column(word(w), name))
        for w, mask in enumerate(price.masks)
    ]
    return exp.and_(*same, copy=False)


def _is_small(k: int) -> exp.Expr:
    return exp.LT(this=column(CLASS_SIZE), expression=exp.Literal.number(k))


def _square() -> exp.Expr:
    return exp.Mul(this=column(CLASS_SIZE), expression=column(CLASS_SIZE))


def _words(masks: Masks) -> list[exp.Expr]:
    return [alias(masked(word(w), mask), word(w)) for w, mask in enumerate(masks)]


def _grouped(source: exp.Table, masks: Masks, expressions: list[exp.Expr]) -> exp.Select:
    keys: list[exp.Expr] = [masked(word(w), mask) for w, mask in enumerate(masks)]
    query = exp.Select(expressions=expressions, group=exp.Group(expressions=keys))
    return query.from_(source.copy(), copy=False)


def _classes(source: exp.Table, masks: Masks) -> exp.Select:
    return _grouped(source, masks, [alias(exp.Sum(this=column(SIZE)), CLASS_SIZE)])


def _small_classes(source: exp.Table, masks: Masks, k: int) -> exp.Select:
    size = alias(exp.Sum(this=column(SIZE)), CLASS_SIZE)
    small = exp.LT(this=exp.Sum(this=column(SIZE)), expression=exp.Literal.number(k))
    return _grouped(source, masks, [*_words(masks), size]).having(small, copy=False)


def class_sizes(source: exp.Table, masks: Masks) -> exp.Select:
    """The sizes of a node's classes and how many classes have each size."""
    return histogram(_classes(source, masks))


def histogram(classes: exp.Select) -> exp.Select:
    """How many rows of a query of class sizes have each size."""
    return (
        exp.select(bigint(column(CLASS_SIZE)), bigint(count_all()))
        .from_(nested(classes, "classes"))
        .group_by(column(CLASS_SIZE))
    )


def small_marginals(source: exp.Table, masks: Masks, k: int, columns: Sequence[Masks]) -> exp.Expr:
    """Records in small classes of a node per generalized value of every column.

    Rows of column number, words of the value, records.
    """
    parts = []
    for number, column_masks in enumerate(columns):
        keys: list[exp.Expr] = [masked(word(w), mask) for w, mask in enumerate(column_masks)]
        figures = [exp.Literal.number(number), *_copies(keys), total(column(CLASS_SIZE))]
        query = exp.Select(expressions=figures, group=exp.Group(expressions=keys))
        parts.append(query.from_(nested(_small_classes(source, masks, k), SMALL), copy=False))
    return union_all(parts)


def _copies(expressions: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [expression.copy() for expression in expressions]
