"""Values: the order of a sensitive attribute's values as a relation of VALUE, RANK and nodes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.arithmetic import ascending, over
from sqlanon.query.encoding.encode import (
    LEAF,
    RANK,
    VALUE,
    distinct_values,
    same_value,
    values_of,
)
from sqlanon.query.privacy.figures import node
from sqlanon.query.syntax import alias, bigint, column, nested, select

Row = tuple[str | int | None, ...]


def listed(rows: Sequence[Row], kind: exp.DataType, *, levels: Sequence[int]) -> exp.Select:
    """The order that the user's own texts say: rows of text, rank and the node of each level."""
    names = [RANK, *(node(level) for level in levels)]
    texts = exp.values(
        [tuple(map(exp.convert, row)) for row in rows], alias="listed", columns=[LEAF, *names]
    )
    return values_of(texts, kind, carried=names)


def ruled(source: exp.Table, name: str, *, labels: Sequence[exp.Expr]) -> exp.Select:
    """The order of the type, with a rule's labels of VALUE as nodes; the top is left out."""
    place = over(exp.RowNumber(), order=[ascending(column(VALUE))])
    nodes = [alias(label, node(level)) for level, label in enumerate(labels[:-1], start=1)]
    figures = [column(VALUE), alias(bigint(place), RANK), *nodes]
    return select(figures, nested(distinct_values(source, name), "held"))


def reordered(order: exp.Select, nodes: exp.Select, *, levels: Sequence[int]) -> exp.Select:
    """The ranks of one order with the nodes of another, at some levels."""
    own = [column(name, "ranked") for name in (VALUE, RANK)]
    figures = [*own, *(column(node(level), "tree") for level in levels)]
    query = select(figures, nested(order, "ranked"))
    same = same_value(column(VALUE, "ranked"), column(VALUE, "tree"), nullable=True)
    return query.join(nested(nodes, "tree"), on=same, copy=False)
