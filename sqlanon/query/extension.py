"""Extension: itemsets that have nodes of some attributes get one of the next.

A prefix itemset is closed when, for every attribute mined, its records differ in the field right
below their node: there `every` and `some` disagree. What is not closed leads to no closed itemset
(Kenig 2009, lemma 7.4.1), and every closed itemset is reached once, from its own prefixes. The
relations are those of `query.itemsets`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.encode import ATTRIBUTE, SIZE
from sqlanon.query.itemsets import (
    NODE,
    SUPPORT,
    Words,
    at_least,
    every,
    is_number,
    itemset,
    number,
    relation,
    shared,
    some,
    split,
)
from sqlanon.query.names import alias, column, masked, named, nested, total

IS_TOP = "is_top"
IS_SINGLE = "is_single"


@dataclass(frozen=True, slots=True)
class Step:
    """One attribute of the mining.

    Args:
        attribute: Its number.
        k: Fewest records of an itemset.
        word: Which word of an itemset takes its node.
        field: The bits of that word for the node.
        before: Per word of an itemset the bits of attributes mined before.
        bits: Per word of a record's code the attribute's bits.
        rest: Per word of a record's code the bits of attributes still to come.
        closed: Per attribute mined so far, this one included, its bits; none where every frequent
            itemset is wanted.
        top: The node that holds all its values, in its place within the word; None where that is
            none to use.
        top_split: Per word the bits in which the records of the top node must differ.
    """

    attribute: int
    k: int
    word: int
    field: int
    before: Words
    bits: Words
    rest: Words
    closed: Sequence[Words]
    top: int | None
    top_split: Words

    @property
    def is_last(self) -> bool:
        """Whether no attribute is still to come."""
        return not any(self.rest)

    @property
    def itemset(self) -> list[str]:
        """The columns of an itemset's code."""
        return [itemset(w) for w in range(len(self.before))]

    @property
    def shared(self) -> list[str]:
        """The columns of what all and what any of some records have set."""
        return [*self.code(every), *self.code(some)]

    def code(self, name: Callable[[int], str]) -> list[str]:
        """The columns of that name, one for each word of a record's code."""
        return [name(w) for w in range(len(self.bits))]


def extended(itemsets: exp.Table, members: exp.Table, nodes: exp.Table, step: Step) -> exp.Query:
    """The itemsets with a node of one more attribute that are frequent and closed so far.

    Args:
        itemsets: The itemsets with nodes of the attributes before.
        members: Their members.
        nodes: Per attribute and value, by its `every`: NODE in its place within the word, `split`,
            IS_TOP, and IS_SINGLE where the node holds no other value.
        step: The attribute.
    """
    below = _with_node_below(itemsets, members, nodes, step)
    if step.top is None:
        return below
    return exp.Union(this=_with_top(itemsets, step, step.top), expression=below, distinct=False)


def _with_top(itemsets: exp.Table, step: Step, top: int) -> exp.Select:
    """With the top node an itemset keeps its records, so that nothing is counted again."""
    columns: list[exp.Expr] = []
    for w, name in enumerate(step.itemset):
        value: exp.Expr = column(name, "prefix")
        if w == step.word:
            value = exp.Add(this=value, expression=number(top))
        columns.append(alias(value, name))
    for w, name in enumerate(step.code(split)):
        bits = exp.BitwiseOr(this=column(name, "prefix"), expression=number(step.top_split[w]))
        columns.append(alias(bits, name))
    columns += [column(name, "prefix") for name in (*step.shared, SUPPORT)]
    query = exp.Select(expressions=columns).from_(named(itemsets, "prefix"), copy=False)
    differ = [_differ(w, number(bits), "prefix") for w, bits in enumerate(step.top_split) if bits]
    return query.where(exp.or_(*differ, copy=False), copy=False) if differ else query


def _with_node_below(
    itemsets: exp.Table, members: exp.Table, nodes: exp.Table, step: Step
) -> exp.Select:
    """With a node below the top, counted from the members."""
    splits = [
        alias(exp.BitwiseOr(this=column(name, "prefix"), expression=column(name, "own")), name)
        for name in step.code(split)
    ]
    query = exp.Select(
        expressions=[
            *(column(name, "found") for name in step.itemset),
            *splits,
            *(column(name, "found") for name in (*step.shared, SUPPORT)),
        ]
    ).from_(relation(_frequent(members, nodes, step), "found"), copy=False)
    prefix = [
        _equal(column(name, "prefix"), masked(name, bits, "found"))
        for name, bits in zip(step.itemset, step.before, strict=True)
    ]
    query.join(named(itemsets, "prefix"), on=exp.and_(*prefix, copy=False), copy=False)
    own = _equal(column(NODE, "own"), masked(itemset(step.word), step.field, "found"))
    query.join(nested(_own_nodes(nodes, step), "own"), on=own, copy=False)
    if not step.closed:
        return query
    candidates = exp.Select(expressions=[exp.Star()]).from_(nested(query, "candidate"), copy=False)
    return candidates.where(*map(_is_closed, step.closed), copy=False)


def _own_nodes(nodes: exp.Table, step: Step) -> exp.Select:
    query = exp.Select(expressions=[column(name) for name in (NODE, *step.code(split))])
    query.from_(named(nodes, "above"), copy=False).distinct(copy=False)
    return query.where(is_number(ATTRIBUTE, "above", step.attribute), copy=False)


def _frequent(members: exp.Table, nodes: exp.Table, step: Step) -> exp.Query:
    """Itemsets with nodes below the top that k records hold, closed or not.

    After the last attribute the members of a node with a single value are one row already.
    """
    below = exp.Not(this=column(IS_TOP, "above"))
    if not step.is_last:
        return _counted(members, nodes, step, [below])
    single = column(IS_SINGLE, "above")
    several = _counted(members, nodes, step, [below.copy(), exp.Not(this=single.copy())])
    alone = _with_nodes(members, nodes, step, [below, single])
    alone.set(
        "expressions",
        [
            *_codes(step),
            *(column(name, "member") for name in step.shared),
            alias(column(SIZE, "member"), SUPPORT),
        ],
    )
    enough = exp.GTE(this=column(SIZE, "member"), expression=number(step.k))
    return exp.Union(this=alone.where(enough, copy=False), expression=several, distinct=False)


def _counted(
    members: exp.Table, nodes: exp.Table, step: Step, conditions: Sequence[exp.Expr]
) -> exp.Select:
    query = _with_nodes(members, nodes, step, conditions)
    support = alias(total(column(SIZE, "member")), SUPPORT)
    query.set("expressions", [*_codes(step), *shared(len(step.bits)), support])
    query.group_by(*(code.this.copy() for code in _codes(step)), copy=False)
    return query.having(at_least(step.k), copy=False)


def extended_members(
    itemsets: exp.Table, members: exp.Table, nodes: exp.Table, step: Step
) -> exp.Query:
    """The members of the itemsets that have a node of one more attribute.

    Members of a node with a single value stay different; of others, those alike in what is to come
    become one.

    Args:
        itemsets: What `extended` found.
        members: The members of the itemsets before.
        nodes: As for `extended`.
        step: The attribute.
    """
    single = column(IS_SINGLE, "above")
    codes = [column(name, "itemset") for name in step.itemset]
    kept = _of_itemsets(itemsets, _with_nodes(members, nodes, step, [single]), step)
    carried = [column(name, "member") for name in (*step.shared, SIZE)]
    kept.set("expressions", [*(code.copy() for code in codes), *carried])
    others = [exp.Not(this=single.copy())]
    merged = _of_itemsets(itemsets, _with_nodes(members, nodes, step, others), step)
    size = alias(total(column(SIZE, "member")), SIZE)
    merged.set("expressions", [*(code.copy() for code in codes), *shared(len(step.bits)), size])
    alike = [masked(every(w), bits, "member") for w, bits in enumerate(step.rest) if bits]
    merged.group_by(*codes, *alike, copy=False)
    return exp.Union(this=kept, expression=merged, distinct=False)


def _of_itemsets(itemsets: exp.Table, query: exp.Select, step: Step) -> exp.Select:
    same = [
        _equal(column(name, "itemset"), code.this)
        for name, code in zip(step.itemset, _codes(step), strict=True)
    ]
    return query.join(named(itemsets, "itemset"), on=exp.and_(*same, copy=False), copy=False)


def _with_nodes(
    members: exp.Table, nodes: exp.Table, step: Step, conditions: Sequence[exp.Expr]
) -> exp.Select:
    """Members beside those nodes above them that satisfy the conditions."""
    own = is_number(ATTRIBUTE, "above", step.attribute)
    same = [
        _equal(column(every(w), "above"), masked(every(w), bits, "member"))
        for w, bits in enumerate(step.bits)
        if bits
    ]
    query = exp.Select().from_(named(members, "member"), copy=False)
    on = exp.and_(own, *same, *conditions, copy=False)
    return query.join(named(nodes, "above"), on=on, copy=False)


def _codes(step: Step) -> list[exp.Expr]:
    """The code of a member's itemset with the node above the member."""
    codes = []
    for w, name in enumerate(step.itemset):
        value: exp.Expr = column(name, "member")
        if w == step.word:
            value = exp.Add(this=value, expression=column(NODE, "above"))
        codes.append(alias(value, name))
    return codes


def _is_closed(attribute: Words) -> exp.Expr:
    """Whether the records of a candidate differ right below their node of an attribute."""
    words = [w for w, bits in enumerate(attribute) if bits]
    lowest = [_equal(number(0), masked(split(w), attribute[w])) for w in words]
    differ = [_differ(w, masked(split(w), attribute[w])) for w in words]
    return exp.or_(exp.and_(*lowest, copy=False), *differ, copy=False)


def _differ(word: int, bits: exp.Expr, source: str | None = None) -> exp.Expr:
    """Whether records differ in some bits of a word; what all of them have set, some have."""
    differing = exp.Sub(this=column(some(word), source), expression=column(every(word), source))
    own = exp.BitwiseAnd(this=exp.Paren(this=differing), expression=exp.Paren(this=bits))
    return exp.NEQ(this=exp.Paren(this=own), expression=number(0))


def _equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.EQ(this=left, expression=exp.Paren(this=right))
