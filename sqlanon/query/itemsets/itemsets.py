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

from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

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
) -> Sql:
    """The members of the itemset that has no node yet.

    `values` has per attribute and leaf its packed code, and its `every` and `some`; `masks` per
    attribute that tells itemsets apart its bits of each word of the packed code.
    """
    return render(
        "itemsets/compacted",
        encoded=encoded,
        item_values=values,
        masks=[(attribute, set_words(own)) for attribute, own in masks.items()],
        words=words,
    )


def set_words(bits: Words) -> list[tuple[int, int]]:
    """The words in which bits are set, by number."""
    return [(w, own) for w, own in enumerate(bits) if own]


def whole(members: exp.Table, k: int, *, words: int) -> Sql:
    """The itemset that has no node yet; none where the table has less than k records."""
    return render("itemsets/whole", members=members, k=k, words=words)


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


def totals(itemsets: exp.Table) -> Sql:
    """Number of finished itemsets, and the sum of their supports."""
    query = "SELECT CAST(COUNT(*) AS BIGINT), {{ total('support') }} FROM {{ itemsets }}"
    return expression(query, itemsets=itemsets)


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
