"""Frequency sets: class sizes of nodes of the lattice, several nodes of one set in a query.

The nodes of a query are rows of a relation of their own, filled from parameters: one grouping by
node and class serves them all, the database plans it once, and its text is written once. A query
with a subquery for each node spends nearly all of its time on planning. In a large set grouping
costs more than planning, and literal masks side by side are faster.

The instances of patterns are counted in the same way: which patterns have enough records that agree
on what they keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sqlglot import exp

from sqlanon.query.encode import SIZE
from sqlanon.sqltext import Fragment, Sql, expression, name, names, render

CLASS_SIZE = "class_size"
COST = "cost"
COUNTED = "counted"
NUMBER = "number"
REQUIRED = "required"
SMALL = "small"
NODES = "nodes"
PLACE = "place"
PRICED = "priced"
Masks = Sequence[int]
T = TypeVar("T")


def in_parts(sets: Sequence[T], rows: int, *, most: int) -> Iterator[Sequence[T]]:
    """Sets of columns, so many at a time that together they group at most so many rows.

    Args:
        sets: The sets.
        rows: How many rows each of them groups.
        most: Rows times sets of a part, as far as one set allows.
    """
    step = max(most // max(rows, 1), 1)
    return (sets[start : start + step] for start in range(0, len(sets), step))


def mask(number: int) -> str:
    """The column of a node's bits of a word."""
    return f"mask_{number}"


@dataclass(frozen=True, slots=True)
class Prices:
    """A table of cell costs, for the quasi-identifiers and levels at which values differ.

    Args:
        places: Those quasi-identifiers and levels, with their numbers in the table.
        table: A table of PLACE, the words of a column's nodes, and COST; None without places.
    """

    places: Mapping[tuple[int, int], int]
    table: exp.Table | None


@dataclass(frozen=True, slots=True)
class Selected:
    """Columns and sums to select of classes, besides their node.

    Args:
        sums: Per name of a sum the column that is added up.
        carried: Whether the words of the code are selected, too.
        by: Per name a column whose values are told apart within a class, too.
    """

    sums: Mapping[str, str]
    carried: bool = False
    by: Mapping[str, str] = field(default_factory=dict)

    @property
    def holes(self) -> dict[str, object]:
        """What fills the holes of a query with them."""
        pairs = {"by": self.by.items(), "sums": self.sums.items()}
        named = {
            hole: [(name(new_name), name(of)) for new_name, of in columns]
            for hole, columns in pairs.items()
        }
        return {"carried": self.carried, **named}


def node_columns(words: int) -> list[str]:
    """The columns of a query's NODES, in the order of its parameters, each a list."""
    return [NUMBER, *(mask(w) for w in range(words))]


def priced_columns(words: int) -> list[str]:
    """The columns of a query's PRICED columns of nodes, in the order of its parameters."""
    return [NUMBER, COUNTED, PLACE, *(mask(w) for w in range(words))]


def with_nodes(query: Sql, words: int, *, nodes: bool = True, prices: Prices | None = None) -> Sql:
    """A query with the relations that its parameters say: NODES, then PRICED.

    Args:
        query: The query.
        words: Number of words of the code.
        nodes: Whether it looks at NODES.
        prices: Where costs are, if they matter to it.
    """
    relations = []
    if nodes:
        relations.append((name(NODES), names(node_columns(words))))
    if prices is not None and prices.table is not None:
        relations.append((name(PRICED), names(priced_columns(words))))
    return render("classes/with_nodes", relations=relations, query=query) if relations else query


def roll_up(
    source: exp.Table,
    masks: Masks,
    *,
    carried: Sequence[str] = (),
    sums: Sequence[str] = (SIZE,),
) -> Sql:
    """The frequency set of a node from a finer set or its details, in the same shape.

    The values of `carried` columns are told apart within a class, too, and `sums` are added up.
    """
    return render(
        "classes/roll_up", source=source, masks=masks, carried=names(carried), sums=names(sums)
    )


def class_rows(
    source: exp.Table,
    words: int,
    *,
    selected: Selected,
    masks: Sequence[Masks] | None = None,
    below: int | None = None,
) -> Sql:
    """The classes of nodes: NUMBER of the node, and what is selected.

    They are counted from a frequency set, of the nodes of the query, or of `masks`, numbered from
    0; only classes of fewer than `below` records count.
    """
    parts: list[tuple[Fragment, list[Fragment], list[Fragment]]] = []
    if masks is None:
        code: list[Fragment] = [
            expression("source.word_{{ w }} & nodes.mask_{{ w }}", w=w) for w in range(words)
        ]
        number = expression("nodes.number")
        parts.append((number, code, [number, *code]))
    for place, node_masks in enumerate(masks or ()):
        bits: list[Fragment] = [
            expression("source.word_{{ w }} & {{ x }}", w=w, x=x) for w, x in enumerate(node_masks)
        ]
        code = [bits[w] if mask else 0 for w, mask in enumerate(node_masks)]
        # A set needs one key, be it the same for all.
        keys = [bits[w] for w, mask in enumerate(node_masks) if mask] or bits[:1]
        parts.append((place, code, keys))
    return render(
        "classes/class_rows",
        source=source,
        parts=parts,
        nodes=name(NODES) if masks is None else None,
        below=below,
        **selected.holes,
    )


def class_counts(
    source: exp.Table,
    words: int,
    *,
    k: int,
    squares: bool = False,
    masks: Sequence[Masks] | None = None,
) -> Sql:
    """Counts of the classes of the nodes, one row per node in any order.

    Each row holds the node's NUMBER, its classes, those smaller than k, the records in them, and,
    with `squares`, squared sizes of all classes and of the small ones. With `masks`, the query has
    no parameters.
    """
    classes = class_rows(source, words, selected=Selected({CLASS_SIZE: "size"}), masks=masks)
    query = render("classes/class_counts", classes=classes, k=k, squares=squares)
    return with_nodes(query, words, nodes=masks is None)


def class_sizes(source: exp.Table, words: int, *, masks: Sequence[Masks] | None = None) -> Sql:
    """How many classes of each size the nodes have: rows of NUMBER, size and classes.

    With `masks`, the query has no parameters.
    """
    query = expression(
        "SELECT number, class_size, CAST(COUNT(*) AS BIGINT) FROM {{ classes }} AS classes"
        " GROUP BY number, class_size",
        classes=class_rows(source, words, selected=Selected({CLASS_SIZE: "size"}), masks=masks),
    )
    return with_nodes(query, words, nodes=masks is None)


def small_costs(
    source: exp.Table, words: int, *, k: int, prices: Prices, masks: Sequence[Masks] | None = None
) -> Sql:
    """Records and costs of the classes of the nodes smaller than k: rows as of `added_up`."""
    sizes = Selected({CLASS_SIZE: "size"}, carried=True)
    small = class_rows(source, words, selected=sizes, masks=masks, below=k)
    query = added_up(small, words, prices=prices, counts=[CLASS_SIZE])
    return with_nodes(query, words, nodes=masks is None, prices=prices)


def added_up(
    rows: Fragment,
    words: int,
    *,
    prices: Prices | None,
    counts: Sequence[str],
    squares: bool = False,
) -> Sql:
    """Records and costs of violating classes, one row per node that has any, in any order.

    Each row holds NUMBER; classes; and for each count of records, their sum, that times the size
    of their class, and their cost in the columns where it differs between values.

    Args:
        rows: Violating classes: NUMBER, CLASS_SIZE, counts, and the words.
        words: Number of words of the code.
        prices: Where costs are, if they matter; else they are 0.
        counts: CLASS_SIZE, REQUIRED.
        squares: Whether the products with the size of the class are needed; else they are 0.
    """
    return render(
        "classes/added_up",
        rows=rows,
        words=words,
        prices=None if prices is None else prices.table,
        counts=names(counts),
        squares=squares,
    )


def histogram(classes: Fragment) -> Sql:
    """Number of rows of each size, of a query of class sizes."""
    return expression(
        "SELECT CAST(class_size AS BIGINT), CAST(COUNT(*) AS BIGINT) FROM {{ classes }} AS classes"
        " GROUP BY class_size",
        classes=classes,
    )
