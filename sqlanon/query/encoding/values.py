"""Values: the order of a sensitive attribute's values as a relation of VALUE, RANK and nodes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.encoding.encode import LEAF, RANK, VALUE, same_value, values_of
from sqlanon.query.privacy.sensitive import node
from sqlanon.query.syntax import alias, bigint, column, nested

Row = tuple[str | int | None, ...]


def listed(rows: Sequence[Row], kind: exp.DataType, levels: Sequence[int]) -> exp.Subquery:
    """The order that the user's own texts say.

    Args:
        rows: Text, rank and the node of each level.
        kind: The column's type.
        levels: The levels of the nodes.
    """
    names = [RANK, *(node(level) for level in levels)]
    texts = exp.values(
        [tuple(map(_literal, row)) for row in rows], alias="listed", columns=[LEAF, *names]
    )
    return nested(values_of(texts, kind, names), "ordered")


def ruled(source: exp.Table, name: str, labels: Sequence[exp.Expr]) -> exp.Subquery:
    """The order of the type, with the nodes that a rule says, as labels.

    Args:
        source: The table.
        name: The column.
        labels: One expression over VALUE per level; the top is left out.
    """
    held = exp.select(alias(column(name), VALUE)).distinct().from_(source)
    place = exp.Window(
        this=exp.RowNumber(),
        order=exp.Order(
            expressions=[exp.Ordered(this=column(VALUE), desc=False, nulls_first=False)]
        ),
    )
    nodes = [alias(label, node(level)) for level, label in enumerate(labels[:-1], start=1)]
    query = exp.select(column(VALUE), alias(bigint(place), RANK), *nodes)
    return nested(query.from_(nested(held, "held")), "ordered")


def reordered(order: exp.Subquery, nodes: exp.Subquery, levels: Sequence[int]) -> exp.Subquery:
    """The ranks of one order with the nodes of another.

    Args:
        order: Rows of VALUE and RANK.
        nodes: Rows of VALUE and the node of each level.
        levels: The levels of the nodes.
    """
    own = [column(name, "ranked") for name in (VALUE, RANK)]
    query = exp.select(*own, *(column(node(level), "tree") for level in levels))
    query = query.from_(nested(order.this, "ranked"))
    same = same_value(column(VALUE, "ranked"), column(VALUE, "tree"), nullable=True)
    return nested(query.join(nested(nodes.this, "tree"), on=same), "ordered")


def _literal(value: str | int | None) -> exp.Expr:
    if value is None:
        return exp.null()
    return exp.Literal.number(value) if isinstance(value, int) else exp.Literal.string(value)
