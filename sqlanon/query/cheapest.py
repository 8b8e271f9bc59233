"""Cheapest: what the cheapest mined itemset of each record costs, from the members of prefixes.

The members that mining went through are a compact form of all memberships: a row of an itemset
stands for records alike in what is to come, and its nodes there lead to rows of longer itemsets.
So the least cost is found backwards, attribute by attribute, in as many rows as mining had.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.query.encode import ATTRIBUTE, SIZE, word
from sqlanon.query.extension import Depth, Step, all_of, with_node
from sqlanon.query.itemsets import (
    Words,
    code,
    is_number,
    number,
    relation,
    same_code,
    with_values,
)
from sqlanon.query.names import alias, bigint, column, named, total

COST = "cost"


def finished(itemsets: exp.Table, words: int, cost: int) -> exp.Select:
    """Itemsets that have all their nodes, where no attribute is left to add to the cost.

    Args:
        itemsets: The itemsets.
        words: Number of words of a code.
        cost: What the nodes of attributes that are never mined cost [units].
    """
    codes = [column(code(w)) for w in range(words)]
    query = exp.Select(expressions=[*codes, alias(bigint(number(cost)), COST)])
    return query.from_(itemsets.copy(), copy=False)


def cheapest(members: exp.Table, following: exp.Table, costs: exp.Table, step: Step) -> exp.Select:
    """The least cost of each member over the nodes still to come.

    Args:
        members: Members of the itemsets with nodes of the attributes before.
        following: The same with one attribute more: its code, and its COST.
        costs: Rows of attribute, the code of a node, and COST.
        step: The attribute.
    """
    ways = all_of([_ways(members, following, costs, step, depth) for depth in step.depths])
    codes = [column(name, "way") for name in step.codes]
    least = alias(exp.Min(this=column(COST, "way")), COST)
    query = exp.Select(expressions=[*(own.copy() for own in codes), least])
    return query.from_(relation(ways, "way"), copy=False).group_by(*codes, copy=False)


def _ways(
    members: exp.Table, following: exp.Table, costs: exp.Table, step: Step, depth: Depth
) -> exp.Select:
    """What members cost with their nodes of a depth."""
    query = with_node(members, depth)
    cost = exp.Add(this=column(COST, "own"), expression=column(COST, "following"))
    names = [column(name, "member") for name in step.codes]
    query.set("expressions", [*names, alias(cost, COST)])
    node = [
        is_number(ATTRIBUTE, "own", step.attribute),
        *same_code("own", "member", depth.path),
    ]
    query.join(named(costs, "own"), on=exp.and_(*node, copy=False), copy=False)
    longer = same_code("following", "member", step.kept(depth))
    return query.join(named(following, "following"), on=exp.and_(*longer, copy=False), copy=False)


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
    same = [
        exp.EQ(this=column(code(w), "best"), expression=key) for w, key in enumerate(keys[:words])
    ]
    return query.join(named(best, "best"), on=exp.and_(*same, copy=False), copy=False)


def lower_bound(costs: exp.Table) -> exp.Select:
    """What all records cost at least [units]."""
    product = exp.Mul(this=column(SIZE), expression=column(COST))
    return exp.Select(expressions=[total(product)]).from_(costs.copy(), copy=False)
