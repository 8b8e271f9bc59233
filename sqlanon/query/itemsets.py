"""Itemsets: where the mining of generalized itemsets starts, and what it ends with.

The statements, those of `extended` among them, work on two relations:

- *itemsets*: per prefix itemset, which has a node of every attribute mined so far, the code of
  these nodes, its support, and what all (`every`) and any (`some`) of its records have set.
- *members*: the records of every prefix itemset; those alike in all attributes still to come are
  one row of their size. Its code has the nodes of the itemset where attributes are mined and
  the values of the records elsewhere. So in the end an itemset has few rows, however many records
  hold it.

The node above a value at a depth is a mask of its code, so that members are extended without a
join, depth by depth. A prefix itemset is closed when, for every attribute mined, its records differ
in the field right below their node: there `every` and `some` disagree. Of a mined attribute both
keep only that field; an attribute with its deepest nodes disagrees on purpose. So a prefix is
closed when every attribute disagrees somewhere. What is not closed leads to no closed itemset
(Kenig 2009, lemma 7.4.1), and every closed itemset is reached once, from its own prefixes.

Everywhere `words` is the number of words of a code, `k` the fewest records of an itemset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.encode import set_words
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

LABEL = "label"
SUPPORT = "support"
COST = "cost"
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
) -> Sql:
    """The members of the itemset that has no node yet.

    `values` has per attribute and leaf its packed code, and its `every` and `some`; `masks` per
    attribute that tells itemsets apart its bits of each word of the packed code.
    """
    return render(
        "itemsets/compacted",
        encoded=encoded,
        item_values=values,
        masks=[(attribute, set_words(bits)) for attribute, bits in masks.items()],
        words=words,
    )


def whole(members: exp.Table, k: int, *, words: int) -> Sql:
    """The itemset that has no node yet; none where the table has less than k records."""
    return render("itemsets/whole", members=members, k=k, words=words)


def cheaper(
    itemsets: Fragment,
    costs: exp.Table,
    *,
    columns: Mapping[int, Words],
    spare: int,
    below: int | None,
) -> Sql:
    """The itemsets at which a record costs less than so much, if any, and what it costs there.

    `costs` has rows of attribute number, the code of a node, and COST; `columns` per attribute
    mined its bits of each word of a code; `spare` is what the others cost at least.
    """
    return render(
        "itemsets/cheaper",
        itemsets=itemsets,
        costs=costs,
        columns=[(attribute, set_words(bits)) for attribute, bits in columns.items()],
        spare=spare,
        limit=below is not None,
        below=below or 0,
    )


def cost_beyond(itemsets: exp.Table, count: int) -> Sql:
    """What the cheapest itemset costs beside so many that cost no more."""
    query = "SELECT cost FROM {{ itemsets }} ORDER BY cost LIMIT 1 OFFSET {{ count }}"
    return expression(query, itemsets=itemsets, count=count)


def below(itemsets: exp.Table, cost: int) -> Sql:
    """The itemsets that cost less than so much, of those of `cheaper`."""
    query = "SELECT * FROM {{ itemsets }} WHERE cost < {{ cost }}"
    return expression(query, itemsets=itemsets, cost=cost)


def finished(itemsets: Fragment, words: int) -> Sql:
    """The code and support of itemsets that have all their nodes."""
    codes = listed(names(code(w) for w in range(words)))
    query = "SELECT {{ codes }}, support FROM {{ itemsets }} AS itemsets"
    return expression(query, codes=codes, itemsets=itemsets)


def ordered(itemsets: exp.Table, words: int) -> Sql:
    """Codes and supports of finished itemsets, in the order of their codes."""
    return expression(
        "SELECT {{ codes }}, support FROM {{ itemsets }} ORDER BY {{ order }}",
        codes=listed(names(code(w) for w in range(words))),
        itemsets=itemsets,
        order=listed(names(code(w) for w in reversed(range(words)))),
    )


def labelled(itemsets: exp.Table, labels: exp.Table, *, columns: Mapping[str, Words]) -> Sql:
    """Finished itemsets as generalized values and support, in the order of their codes.

    `labels` has rows of attribute number, the code of a node, and LABEL; `columns` per attribute's
    column, in order, its bits of each word of a code.
    """
    words = len(next(iter(columns.values())))
    return render(
        "itemsets/labelled",
        itemsets=itemsets,
        labels=labels,
        columns=[(name(column), bits) for column, bits in columns.items()],
        order=list(reversed(range(words))),
    )


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

    def prefix(self, depth: Depth) -> Words:
        """Per word the bits of an itemset with a node of the depth."""
        return [a | b for a, b in zip(self.before, depth.path, strict=True)]

    def kept(self, depth: Depth) -> Words:
        """Per word the bits of a member of such an itemset."""
        return [a | b for a, b in zip(self.prefix(depth), self.rest, strict=True)]


def extended(itemsets: exp.Table, members: exp.Table, *, step: Step) -> Sql:
    """The itemsets with a node of one more attribute that are frequent and closed so far."""
    parts = []
    for depth in step.depths:
        candidates = render(
            "itemsets/candidates",
            itemsets=itemsets,
            members=members,
            words=len(step.bits),
            is_top=depth.is_top,
            is_alone=depth.is_deepest and not any(step.rest),
            above=set_words(depth.above),
            prefix=step.prefix(depth),
            k=step.k,
        )
        parts.append(_closed(_narrowed(candidates, step, depth=depth, count=SUPPORT), step))
    return expression("{{ union_all(parts) }}", parts=parts)


def extended_members(itemsets: exp.Table, members: exp.Table, *, step: Step) -> Sql:
    """The members of the itemsets that have a node of one more attribute.

    Members of the deepest nodes stay different; of others, those that only differed in this
    attribute become one.
    """
    parts = []
    for depth in step.depths:
        rows = render(
            "itemsets/members",
            itemsets=itemsets,
            members=members,
            words=len(step.bits),
            is_deepest=depth.is_deepest,
            above=set_words(depth.above),
            prefix=step.prefix(depth),
            kept=step.kept(depth),
        )
        parts.append(_narrowed(rows, step, depth=depth, count="size"))
    return expression("{{ union_all(parts) }}", parts=parts)


def _narrowed(rows: Sql, step: Step, *, depth: Depth, count: str) -> Sql:
    """Rows of which `every` and `some` keep only the field below their node of the attribute."""
    fields = [
        (before | rest | below, 0 if below else 1 << bits.bit_length() - 1) if bits else (-1, 0)
        for bits, before, rest, below in zip(
            step.bits, step.before, step.rest, depth.below, strict=True
        )
    ]
    words = len(step.bits)
    return render("itemsets/narrowed", rows=rows, words=words, fields=fields, count=name(count))


def _closed(itemsets: Sql, step: Step) -> Sql:
    """The closed itemsets, where no others are wanted."""
    if step.closed is None:
        return itemsets
    fields = list(zip(*step.closed, strict=True))
    return render("itemsets/closed", itemsets=itemsets, fields=fields)
