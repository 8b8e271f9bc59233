"""Itemsets: where the mining of generalized itemsets starts, and what it ends with.

The statements, those of `query.itemsets.extension` among them, work on two relations:

- *itemsets*: per prefix itemset, which has a node of every attribute mined so far, the code of
  these nodes, its support, and what all (`every`) and any (`some`) of its records have set.
- *members*: the records of every prefix itemset; those alike in all attributes still to come are
  one row of their size. Its code has the nodes of the itemset where attributes are mined and
  the values of the records elsewhere. So in the end an itemset has few rows, however many records
  hold it.

Everywhere `words` is the number of words of a code, `k` the fewest records of an itemset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import number
from sqlanon.query.encoding.encode import ATTRIBUTE, SIZE, word
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
)

LABEL = "label"
SUPPORT = "support"
Words = Sequence[int]


def code(number: int) -> str:
    """The column that holds a word of a code."""
    return f"code_{number}"


def every(number: int) -> str:
    """The column of the bits of a word that all records of a row have set."""
    return f"every_{number}"


def some(number: int) -> str:
    """The column of the bits of a word that any record of a row has set."""
    return f"some_{number}"


def compacted(
    encoded: exp.Table, values: exp.Table, *, masks: Mapping[int, Words], words: int
) -> exp.Select:
    """The members of the itemset that has no node yet.

    `values` has per attribute and leaf its packed code, and its `every` and `some`; `masks` per
    attribute that tells itemsets apart its bits of each word of the packed code.
    """
    names = {attribute: f"value_{attribute}" for attribute in masks}
    keys: list[exp.Expr] = [
        bigint(added([column(label(w), name) for name in names.values()]))
        for label in (every, some)
        for w in range(words)
    ]
    labels = [label(w) for label in (every, some) for w in range(words)]
    figures = [
        *(alias(key, code(w)) for w, key in enumerate(keys[:words])),
        *(alias(key, label) for label, key in zip(labels, keys, strict=True)),
        alias(total(column(SIZE, "source")), SIZE),
    ]
    query = select(figures, named(encoded, "source"), by=keys if names else ())
    for attribute, name in names.items():
        same = [is_number(ATTRIBUTE, name, value=attribute)]
        for w, mask in enumerate(masks[attribute]):
            if mask:
                own = exp.Paren(this=masked(word(w), mask, table="source"))
                same.append(exp.EQ(this=own, expression=column(word(w), name)))
        query.join(named(values, name), on=exp.and_(*same, copy=False), copy=False)
    return query


def whole(members: exp.Table, k: int, *, words: int) -> exp.Select:
    """The itemset that has no node yet; none where the table has less than k records."""
    nodes = [alias(bigint(number(0)), code(w)) for w in range(words)]
    support = alias(total(column(SIZE, "member")), SUPPORT)
    query = select([*nodes, *shared(words), support], named(members, "member"))
    return query.having(at_least(k), copy=False)


def shared(words: int) -> list[exp.Expr]:
    """`bit_and` and `bit_or` of every word of the code over a group of members."""
    aggregates = (every, exp.BitwiseAndAgg), (some, exp.BitwiseOrAgg)
    return [
        alias(aggregate(this=column(name(w), "member")), name(w))
        for name, aggregate in aggregates
        for w in range(words)
    ]


def at_least(k: int) -> exp.Expr:
    """Whether the members of a group are k records or more."""
    return exp.GTE(this=exp.Sum(this=column(SIZE, "member")), expression=number(k))


def finished(itemsets: exp.Query, words: int) -> exp.Select:
    """The code and support of itemsets that have all their nodes."""
    return select(_listed(words), nested(itemsets, "found"))


def ordered(itemsets: exp.Table, words: int) -> exp.Select:
    """Codes and supports of finished itemsets, in the order of their codes."""
    return select(_listed(words), named(itemsets, "found")).order_by(*_order(words), copy=False)


def totals(itemsets: exp.Table) -> exp.Select:
    """Number of finished itemsets, and the sum of their supports."""
    return select([bigint(count_all()), total(column(SUPPORT))], itemsets)


def labelled(itemsets: exp.Table, labels: exp.Table, *, columns: Mapping[str, Words]) -> exp.Select:
    """Finished itemsets as generalized values and support, in the order of their codes.

    `labels` has rows of attribute number, the code of a node, and LABEL; `columns` per attribute's
    column, in order, its bits of each word of a code.
    """
    names = [f"label_{attribute}" for attribute in range(len(columns))]
    values = [alias(column(LABEL, own), name) for own, name in zip(names, columns, strict=True)]
    query = select([*values, column(SUPPORT, "found")], named(itemsets, "found"))
    for attribute, (name, bits) in enumerate(zip(names, columns.values(), strict=True)):
        same = [is_number(ATTRIBUTE, name, value=attribute), *same_code(name, "found", bits=bits)]
        query.join(named(labels, name), on=exp.and_(*same, copy=False), copy=False)
    words = len(next(iter(columns.values())))
    return query.order_by(*_order(words), copy=False)


def same_code(source: str, other: str, *, bits: Words) -> list[exp.Expr]:
    """Whether the code of one row is the part of another's that the bits let through."""
    return [
        exp.EQ(
            this=column(code(w), source),
            expression=exp.Paren(this=masked(code(w), own, table=other)),
        )
        for w, own in enumerate(bits)
    ]


def _listed(words: int) -> list[exp.Expr]:
    return [*(column(code(w), "found") for w in range(words)), column(SUPPORT, "found")]


def _order(words: int) -> list[exp.Expr]:
    return [exp.Ordered(this=column(code(w), "found")) for w in reversed(range(words))]


def is_number(name: str, source: str, *, value: int) -> exp.Expr:
    """Whether a column holds a number."""
    return exp.EQ(this=column(name, source), expression=number(value))
