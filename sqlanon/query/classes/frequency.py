"""Frequency sets: class sizes of nodes of the lattice, several nodes of one set in a query.

The nodes of a query are rows of a relation of their own, filled from parameters: one grouping by
node and class serves them all, the database plans it once, and its text is written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.query.arithmetic import or_zero, times
from sqlanon.query.encoding.encode import SIZE, same_columns, union_all, word
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
    table,
    total,
    when,
)

CLASS_SIZE = "class_size"
COST = "cost"
LEVEL = "level"
NUMBER = "number"
REQUIRED = "required"
SMALL = "small"
NODES = "nodes"
Masks = Sequence[int]


def mask(number: int) -> str:
    """The column of a node's bits of a word."""
    return f"mask_{number}"


def level(number: int) -> str:
    """The column of a node's level of a quasi-identifier."""
    return f"level_{number}"


def level_mask(number: int, place: int) -> str:
    """The column of the bits of a word that a quasi-identifier's level has at a node."""
    return f"mask_{number}_{place}"


@dataclass(frozen=True, slots=True)
class Prices:
    """Tables of cell costs, for the quasi-identifiers and levels at which values differ.

    Args:
        levels: Those levels, per quasi-identifier.
        tables: Per quasi-identifier a table of LEVEL, the words of its nodes, and COST.
    """

    levels: Mapping[int, Sequence[int]]
    tables: Mapping[int, exp.Table]


@dataclass(frozen=True, slots=True)
class Selected:
    """Columns and sums to select of classes, besides their node.

    Args:
        sums: Per name of a sum the column that is added up.
        carried: Words of the code.
        by: Per name a column whose values are told apart within a class, too.
    """

    sums: Mapping[str, str]
    carried: Sequence[str] = ()
    by: Mapping[str, str] = field(default_factory=dict)

    @property
    def own(self) -> list[exp.Expr]:
        """The columns that are told apart."""
        return [column(of, "source") for of in self.by.values()]


def node_columns(words: int, prices: Prices | None = None) -> list[str]:
    """The columns of a query's nodes, in the order of its parameters, each a list."""
    names = [NUMBER, *(mask(w) for w in range(words))]
    if prices is not None:
        for number in prices.levels:
            names += [level(number), *(level_mask(number, w) for w in range(words))]
    return names


def with_nodes(query: exp.Select, words: int, *, prices: Prices | None = None) -> exp.Select:
    """A query with the nodes that its parameters say."""
    lists = exp.DataType.build("BIGINT[]", dialect="duckdb")
    columns = [
        alias(exp.func("UNNEST", exp.cast(exp.Placeholder(), lists)), name)
        for name in node_columns(words, prices)
    ]
    return query.with_(NODES, as_=exp.Select(expressions=columns), copy=False)


def roll_up(source: exp.Table, masks: Masks, *, carried: Sequence[str] = ()) -> exp.Select:
    """The frequency set of a node from a finer set or its details, in the same shape.

    The values of `carried` columns are told apart within a class, too.
    """
    keys: list[exp.Expr] = [masked(word(w), bits) for w, bits in enumerate(masks)]
    own = [column(name) for name in carried]
    figures = [*(alias(key, word(w)) for w, key in enumerate(keys)), *own]
    return select([*figures, alias(total(column(SIZE)), SIZE)], source, by=[*keys, *own])


def class_rows(
    source: exp.Table, words: int, *, selected: Selected, nodes: exp.Expr | None = None
) -> exp.Select:
    """The classes of the nodes of the query: NUMBER of the node, and what is selected.

    They are counted from a frequency set, of `nodes`, a relation called NODES, or of all.
    """
    number = column(NUMBER, NODES)
    keys = [
        exp.BitwiseAnd(this=column(word(w), "source"), expression=column(mask(w), NODES))
        for w in range(words)
    ]
    query = _grouped_rows(
        source, number, keys=keys, selected=selected, by=[number, *keys, *selected.own]
    )
    return query.join(nodes or table(NODES), join_type="cross", copy=False)


def classes_side_by_side(
    source: exp.Table, nodes: Sequence[Masks], *, selected: Selected, below: int | None = None
) -> exp.Query:
    """As `class_rows`, of nodes whose masks stand in the text, a grouping for each.

    A large set is better counted so: from literals the database foresees how far the keys of its
    groups range, a word without bits is no key, and the groupings run side by side. Nodes are
    given by their bits and numbered from 0; only classes of less than `below` records count.
    """
    groupings = []
    for number, masks in enumerate(nodes):
        keys: list[exp.Expr] = [
            masked(word(w), bits, table="source") if bits else exp.Literal.number(0)
            for w, bits in enumerate(masks)
        ]
        told = alias(exp.Literal.number(number), NUMBER)
        # A number in GROUP BY would be the place of a column.
        varying = [key for key in keys if not isinstance(key, exp.Literal)] + selected.own
        by = varying or [masked(word(0), 0, table="source")]
        query = _grouped_rows(source, told, keys=keys, selected=selected, by=by)
        groupings.append(query if below is None else _below(query, below))
    return union_all(groupings)


def _grouped_rows(
    source: exp.Table,
    number: exp.Expr,
    *,
    keys: Sequence[exp.Expr],
    selected: Selected,
    by: Sequence[exp.Expr],
) -> exp.Select:
    """The selected columns and sums of classes."""
    figures = [number]
    figures += [alias(keys[place], name) for place, name in enumerate(selected.carried)]
    figures += [alias(own, name) for name, own in zip(selected.by, selected.own, strict=True)]
    figures += [
        alias(bigint(exp.Sum(this=column(of, "source"))), name)
        for name, of in selected.sums.items()
    ]
    return select(figures, named(source, "source"), by=by)


def _below(classes: exp.Select, size: int) -> exp.Select:
    few = exp.LT(this=exp.Sum(this=column(SIZE, "source")), expression=exp.Literal.number(size))
    return classes.having(few, copy=False)


def class_counts(
    source: exp.Table,
    words: int,
    *,
    k: int,
    squares: bool = False,
    masks: Sequence[Masks] | None = None,
) -> exp.Select:
    """Counts of the classes of the nodes, one row per node in any order.

    Each row holds the node's NUMBER, its classes, those smaller than k, the records in them, and,
    with `squares`, squared sizes of all classes and of the small ones. With `masks`, the nodes of
    `classes_side_by_side`, the query has no parameters.
    """
    figures: list[exp.Expr] = [
        column(NUMBER),
        bigint(count_all()),
        bigint(exp.Count(this=when(_is_small(k), exp.Literal.number(1)))),
        total(when(_is_small(k), column(CLASS_SIZE))),
    ]
    if squares:
        square = times(column(CLASS_SIZE), column(CLASS_SIZE))
        figures += [total(square), total(when(_is_small(k), square))]
    sizes = Selected({CLASS_SIZE: SIZE})
    classes: exp.Query = (
        class_rows(source, words, selected=sizes)
        if masks is None
        else classes_side_by_side(source, masks, selected=sizes)
    )
    query = select(figures, nested(classes, "classes"), by=[column(NUMBER)])
    return with_nodes(query, words) if masks is None else query


def small_classes(
    source: exp.Table, words: int, *, k: int, prices: Prices, masks: Sequence[Masks] | None = None
) -> exp.Query:
    """The classes of the nodes that are smaller than k, with what tells their costs."""
    sizes = Selected({CLASS_SIZE: SIZE}, cost_keys(words, prices))
    if masks is None:
        return _below(class_rows(source, words, selected=sizes), k)
    return classes_side_by_side(source, masks, selected=sizes, below=k)


def cost_keys(words: int, prices: Prices | None) -> list[str]:
    """The columns of a class that tell its cells' costs."""
    if prices is None:
        return []
    return [word(w) for w in range(words)]


def small_costs(
    source: exp.Table, words: int, *, k: int, prices: Prices, masks: Sequence[Masks] | None = None
) -> exp.Select:
    """Records and costs of the small classes of the nodes: rows as of `added_up`."""
    small = small_classes(source, words, k=k, prices=prices, masks=masks)
    return with_nodes(
        added_up(small, words, prices=prices, counts=[CLASS_SIZE]), words, prices=prices
    )


def added_up(
    rows: exp.Query,
    words: int,
    *,
    prices: Prices | None,
    counts: Sequence[str],
    squares: bool = False,
) -> exp.Select:
    """Records and costs of violating classes, one row per node that has any, in any order.

    Each row holds NUMBER; classes; and for each count of records, their sum, that times the size
    of their class, and their cost in the columns where it differs between values.

    Args:
        rows: Violating classes: NUMBER, CLASS_SIZE, counts, and the columns of `cost_keys`.
        words: Number of words of the code.
        prices: Where costs are, if they matter; else they are 0.
        counts: CLASS_SIZE, REQUIRED.
        squares: Whether the products with the size of the class are needed; else they are 0.
    """
    joins, costs = _costs(words, prices)
    factors = [
        column(CLASS_SIZE, SMALL) if squares else None,
        None if costs is None else exp.Paren(this=costs),
    ]
    figures: list[exp.Expr] = [column(NUMBER, SMALL), bigint(count_all())]
    for name in counts:
        figures.append(total(column(name, SMALL)))
        figures += [_product(column(name, SMALL), factor) for factor in factors]
    query = select(figures, nested(rows, SMALL), by=[column(NUMBER, SMALL)])
    query.set("joins", joins)
    return query


def _product(records: exp.Expr, factor: exp.Expr | None) -> exp.Expr:
    if factor is None:
        return exp.Literal.number(0)
    return total(exp.Mul(this=records, expression=factor))


def _costs(words: int, prices: Prices | None) -> tuple[list[exp.Join], exp.Expr | None]:
    """The joins for the cell costs of a violating class, and these; None where nothing costs."""
    if prices is None or not prices.levels:
        return [], None
    joins = [exp.Join(this=table(NODES), on=same_columns(NODES, SMALL, names=[NUMBER]))]
    parts: list[exp.Expr] = []
    for number, prices_table in prices.tables.items():
        name = f"price_{number}"
        same: list[exp.Expr] = [
            exp.EQ(this=column(LEVEL, name), expression=column(level(number), NODES))
        ]
        for w in range(words):
            bits = exp.BitwiseAnd(
                this=column(word(w), SMALL), expression=column(level_mask(number, w), NODES)
            )
            same.append(exp.EQ(this=column(word(w), name), expression=exp.Paren(this=bits)))
        on = exp.and_(*same, copy=False)
        joins.append(exp.Join(this=named(prices_table, name), side="left", on=on))
        parts.append(or_zero(column(COST, name)))
    return joins, added(parts)


def _is_small(k: int) -> exp.Expr:
    return exp.LT(this=column(CLASS_SIZE), expression=exp.Literal.number(k))


def histogram(classes: exp.Select) -> exp.Select:
    """Number of rows of each size, of a query of class sizes."""
    size = column(CLASS_SIZE)
    return select([bigint(size), bigint(count_all())], nested(classes, "classes"), by=[size])
