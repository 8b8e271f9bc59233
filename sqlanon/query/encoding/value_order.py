"""Values: the order of a sensitive attribute's values as a relation of VALUE, RANK and nodes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.encoding.encode import LEAF, RANK, values_of
from sqlanon.query.privacy.figures import node
from sqlanon.sqltext import Fragment, Sql, expression, name, names

Row = tuple[str | int | None, ...]


def listed(rows: Sequence[Row], kind: exp.DataType, *, levels: Sequence[int]) -> exp.Select:
    """The order that the user's own texts say: rows of text, rank and the node of each level."""
    carried = [RANK, *(node(level) for level in levels)]
    texts = exp.values(
        [tuple(map(exp.convert, row)) for row in rows], alias="listed", columns=[LEAF, *carried]
    )
    return values_of(texts, kind, carried=carried)


def ruled(source: exp.Table, column: str, *, labels: Sequence[exp.Expr]) -> Sql:
    """The order of the type, with a rule's labels of VALUE as nodes; the top is left out."""
    return expression(
        "SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS BIGINT) AS rank"
        "{% for node, label in nodes %}, {{ label }} AS {{ node }}{% endfor %}"
        " FROM (SELECT DISTINCT {{ column }} AS value FROM {{ source }}) AS held",
        nodes=[(name(node(level)), label) for level, label in enumerate(labels[:-1], start=1)],
        column=name(column),
        source=source,
    )


def reordered(order: Fragment, nodes: Fragment, *, levels: Sequence[int]) -> Sql:
    """The ranks of one order with the nodes of another, at some levels."""
    return expression(
        "SELECT ranked.value, ranked.rank{% for node in nodes %}, tree.{{ node }}{% endfor %}"
        " FROM {{ order }} AS ranked JOIN {{ tree }} AS tree"
        " ON ranked.value IS NOT DISTINCT FROM tree.value",
        nodes=names(map(node, levels)),
        order=order,
        tree=nodes,
    )
