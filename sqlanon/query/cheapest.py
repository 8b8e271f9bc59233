"""Cheapest: what the cheapest mined itemset of each record costs, from the members of prefixes.

The members that mining went through are a compact form of all memberships: a row of an itemset
stands for records alike in what is to come, and the nodes above it lead to rows of longer itemsets.
So the least cost is found backwards, attribute by attribute, in as many rows as mining had.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.query.encode import ATTRIBUTE, SIZE, word
from sqlanon.query.extension import Step
from sqlanon.query.itemsets import NODE, Words, every, is_number, itemset, number, with_values
from sqlanon.query.names import alias, bigint, column, masked, named, total

COST = "cost"


def finished(itemsets: exp.Table, sizes: tuple[int, int], cost: int) -> exp.Select:
    """Itemsets that have all their nodes, where no attribute is left to add to the cost.

    Args:
        itemsets: The itemsets.
        sizes: Number of words of an itemset and of a code for mining.
        cost: What the nodes of attributes that are never mined cost [units].
    """
    itemset_words, code_words = sizes
    query = exp.Select(
        expressions=[
            *(column(itemset(w)) for w in range(itemset_words)),
            *(alias(bigint(number(0)), every(w)) for w in range(code_words)),
            alias(bigint(number(cost)), COST),
        ]
    )
    return query.from_(itemsets.copy(), copy=False)


def cheapest(
    members: exp.Table, following: exp.Table, nodes: exp.Table, costs: exp.Table, step: Step
) -> exp.Select:
    """The least cost of a prefix itemset's members over the nodes still to come.

    Args:
        members: Members of the itemsets with nodes of the attributes before.
        following: The same with one attribute more: code, `every` in what is to come, COST.
        nodes: As for `extension.extended`.
        costs: Rows of attribute, NODE in its place within the word, and COST.
        step: The attribute.
    """
    codes = [column(name, "member") for name in step.itemset]
    open_bits = [own | rest for own, rest in zip(step.bits, step.rest, strict=True)]
    alike = [masked(every(w), bits, "member") for w, bits in enumerate(open_bits)]
    least = exp.Add(this=column(COST, "own"), expression=column(COST, "following"))
    query = exp.Select(
        expressions=[
            *(code.copy() for code in codes),
            *(alias(code.copy(), every(w)) for w, code in enumerate(alike)),
            alias(exp.Min(this=least), COST),
        ]
    ).from_(named(members, "member"), copy=False)
    query.join(named(nodes, "above"), on=_above(step), copy=False)
    query.join(named(costs, "own"), on=_same_node(), copy=False)
    query.join(named(following, "following"), on=_followed(step), copy=False)
    return query.group_by(*codes, *alike, copy=False)


def _above(step: Step) -> exp.Expr:
    same = [
        _equal(column(every(w), "above"), masked(every(w), bits, "member"))
        for w, bits in enumerate(step.bits)
        if bits
    ]
    return exp.and_(is_number(ATTRIBUTE, "above", step.attribute), *same, copy=False)


def _same_node() -> exp.Expr:
    return exp.and_(
        *(exp.EQ(this=column(name, "own"), expression=column(name, "above"))
          for name in (ATTRIBUTE, NODE)),
        copy=False,
    )  # fmt: skip


def _followed(step: Step) -> exp.Expr:
    """Whether a row is that of a member's itemset with the node above the member."""
    same = []
    for w, name in enumerate(step.itemset):
        code: exp.Expr = column(name, "member")
        if w == step.word:
            code = exp.Add(this=code, expression=column(NODE, "above"))
        same.append(_equal(column(name, "following"), code))
    same += [
        _equal(column(every(w), "following"), masked(every(w), bits, "member"))
        for w, bits in enumerate(step.rest)
    ]
    return exp.and_(*same, copy=False)


def by_combination(
    encoded: exp.Table,
    values: exp.Table,
    best: exp.Table,
    masks: Mapping[int, Words],
    sizes: tuple[int, int],
) -> exp.Select:
    """Per row of the encoded table its words, its size, and its COST.

    Args:
        encoded: Rows of packed codes and size.
        values: As for `itemsets.compacted`.
        best: What `cheapest` found for the itemset that has no node yet.
        masks: As for `itemsets.compacted`.
        sizes: Number of words of a packed code and of a code for mining.
    """
    packed, words = sizes
    query, keys = with_values(encoded, values, masks, words)
    query.set(
        "expressions",
        [
            *(column(word(w), "source") for w in range(packed)),
            column(SIZE, "source"),
            column(COST, "best"),
        ],
    )
    same = [_equal(column(every(w), "best"), key) for w, key in enumerate(keys[:words])]
    return query.join(named(best, "best"), on=exp.and_(*same, copy=False), copy=False)


def lower_bound(costs: exp.Table) -> exp.Select:
    """What all records cost at least [units]."""
    product = exp.Mul(this=column(SIZE), expression=column(COST))
    return exp.Select(expressions=[total(product)]).from_(costs.copy(), copy=False)


def _equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.EQ(this=left, expression=exp.Paren(this=right))
