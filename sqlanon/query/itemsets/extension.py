"""Extension: itemsets that have nodes of some attributes get one of the next.

The node above a value at a depth is a mask of its code, so that members are extended without a
join, depth by depth. A prefix itemset is closed when, for every attribute mined, its records differ
in the field right below their node: there `every` and `some` disagree. Of a mined attribute both
keep only that field; an attribute with its deepest nodes disagrees on purpose. So a prefix is
closed when every attribute disagrees somewhere. What is not closed leads to no closed itemset
(Kenig 2009, lemma 7.4.1), and every closed itemset is reached once, from its own prefixes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.arithmetic import number
from sqlanon.query.encoding.encode import SIZE, union_all
from sqlanon.query.itemsets.itemsets import (
    SUPPORT,
    Words,
    at_least,
    code,
    every,
    same_code,
    shared,
    some,
)
from sqlanon.query.syntax import alias, column, masked, named, nested, select, star, total


@dataclass(frozen=True, slots=True)
class Depth:
    """The nodes of an attribute at a depth of its hierarchy.

    Args:
        above: Per word the bits of the field that tells them from their siblings; all 0 at the top.
        path: Per word the bits of that field and those above it.
        below: Per word the bits of the field right below them; all 0 for the deepest nodes.
    """

    above: Words
    path: Words
    below: Words

    @property
    def is_top(self) -> bool:
        """Whether the depth is that of the root, which holds all values."""
        return not any(self.above)

    @property
    def is_deepest(self) -> bool:
        """Whether no node below is frequent, so that members keep their codes."""
        return not any(self.below)


@dataclass(frozen=True, slots=True)
class Step:
    """One attribute of the mining.

    Args:
        attribute: Its number.
        k: Fewest records of an itemset.
        depths: The depths of its nodes, from the top.
        bits: Per word the attribute's bits.
        before: Per word the bits of attributes mined before.
        rest: Per word the bits of attributes still to come.
        closed: Per word the bits of attributes mined so far, this one included, without the highest
            of each attribute, and those highest bits; None where every frequent itemset is wanted.
    """

    attribute: int
    k: int
    depths: Sequence[Depth]
    bits: Words
    before: Words
    rest: Words
    closed: tuple[Words, Words] | None

    @property
    def codes(self) -> list[str]:
        """The columns of a code."""
        return [code(w) for w in range(len(self.bits))]

    @property
    def shared(self) -> list[str]:
        """The columns of `every` and `some`."""
        return [name(w) for name in (every, some) for w in range(len(self.bits))]

    def prefix(self, depth: Depth) -> Words:
        """Per word the bits of an itemset with a node of the depth."""
        return [a | b for a, b in zip(self.before, depth.path, strict=True)]

    def kept(self, depth: Depth) -> Words:
        """Per word the bits of a member of such an itemset."""
        return [a | b for a, b in zip(self.prefix(depth), self.rest, strict=True)]


def extended(itemsets: exp.Table, members: exp.Table, *, step: Step) -> exp.Query:
    """The itemsets with a node of one more attribute that are frequent and closed so far."""
    parts = []
    for depth in step.depths:
        if depth.is_top:
            candidates = _with_top(itemsets, step)
        elif depth.is_deepest and not any(step.rest):
            candidates = _alone(members, step, depth=depth)
        else:
            candidates = _counted(members, step, depth=depth)
        parts.append(_closed(_narrowed(candidates, step, depth=depth, count=SUPPORT), step))
    return union_all(parts)


def _with_top(itemsets: exp.Table, step: Step) -> exp.Select:
    """With the top an itemset keeps its records, so that nothing is counted again."""
    names = [*step.codes, *step.shared, SUPPORT]
    return select([column(name, "prefix") for name in names], named(itemsets, "prefix"))


def _counted(members: exp.Table, step: Step, *, depth: Depth) -> exp.Select:
    """With a node below the top, counted from the members."""
    figures, keys = _merged(step, step.prefix(depth), size=SUPPORT)
    query = _with_node(figures, members, depth=depth, by=keys)
    return query.having(at_least(step.k), copy=False)


def _alone(members: exp.Table, step: Step, *, depth: Depth) -> exp.Select:
    """With one of the deepest nodes of the last attribute, whose members are one row already."""
    names = [*step.codes, *step.shared]
    support = alias(column(SIZE, "member"), SUPPORT)
    query = _with_node([*(column(name, "member") for name in names), support], members, depth=depth)
    enough = exp.GTE(this=column(SIZE, "member"), expression=number(step.k))
    return query.where(enough, copy=False)


def extended_members(itemsets: exp.Table, members: exp.Table, *, step: Step) -> exp.Query:
    """The members of the itemsets that have a node of one more attribute.

    Members of the deepest nodes stay different; of others, those that only differed in this
    attribute become one.
    """
    parts = []
    for depth in step.depths:
        if depth.is_deepest:
            names = [*step.codes, *step.shared, SIZE]
            query = _with_node([column(name, "member") for name in names], members, depth=depth)
        else:
            figures, keys = _merged(step, step.kept(depth), size=SIZE)
            query = _with_node(figures, members, depth=depth, by=keys)
        own = exp.and_(*same_code("itemset", "member", bits=step.prefix(depth)), copy=False)
        query.join(named(itemsets, "itemset"), on=own, copy=False)
        parts.append(_narrowed(query, step, depth=depth, count=SIZE))
    return union_all(parts)


def _with_node(
    figures: Sequence[exp.Expr], members: exp.Table, *, depth: Depth, by: Sequence[exp.Expr] = ()
) -> exp.Select:
    """Figures of the members that have a node of the depth above them."""
    query = select(figures, named(members, "member"), by=by)
    set_bits = [
        exp.NEQ(this=exp.Paren(this=masked(code(w), bits, table="member")), expression=number(0))
        for w, bits in enumerate(depth.above)
        if bits
    ]
    return query.where(*set_bits, copy=False) if set_bits else query


def _merged(step: Step, bits: Words, *, size: str) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """Figures of members that agree in some bits of the code, and what groups them."""
    keys: list[exp.Expr] = [masked(code(w), own, table="member") for w, own in enumerate(bits)]
    codes = [alias(key, name) for name, key in zip(step.codes, keys, strict=True)]
    return [*codes, *shared(len(bits)), alias(total(column(SIZE, "member")), size)], keys


def _narrowed(query: exp.Select, step: Step, *, depth: Depth, count: str) -> exp.Select:
    """Rows of which `every` and `some` keep only the field below their node of the attribute."""
    shown: list[exp.Expr] = [column(name, "row") for name in step.codes]
    for name in (every, some):
        for w, below in enumerate(depth.below):
            value: exp.Expr = column(name(w), "row")
            if step.bits[w]:
                bits = step.before[w] | step.rest[w] | below
                value = exp.BitwiseAnd(this=value, expression=number(bits))
                if name is some and not below:
                    highest = number(1 << step.bits[w].bit_length() - 1)
                    value = exp.BitwiseOr(this=exp.Paren(this=value), expression=highest)
            shown.append(alias(value, name(w)))
    return select([*shown, column(count, "row")], nested(query, "row"))


def _closed(query: exp.Select, step: Step) -> exp.Select:
    """The closed itemsets: those of which every attribute mined disagrees somewhere.

    Adding all lower bits of an attribute carries into its highest where any of them is set.
    """
    if step.closed is None:
        return query
    conditions = []
    for w, (lower, highest) in enumerate(zip(*step.closed, strict=True)):
        # What all records have set, some have.
        differing = exp.Sub(this=column(some(w), "row"), expression=column(every(w), "row"))
        low = exp.BitwiseAnd(this=exp.Paren(this=differing), expression=number(lower))
        carried = exp.Add(this=exp.Paren(this=low), expression=number(lower))
        either = exp.BitwiseOr(this=exp.Paren(this=carried), expression=exp.Paren(this=differing))
        found = exp.BitwiseAnd(this=exp.Paren(this=either), expression=number(highest))
        conditions.append(exp.EQ(this=exp.Paren(this=found), expression=number(highest)))
    return select([star()], nested(query, "row")).where(*conditions, copy=False)
