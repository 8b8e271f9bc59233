"""Figures of a sensitive attribute: which are needed, and the distribution they refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.arithmetic import ascending, is_null, minus, number, over, summed
from sqlanon.query.encoding.encode import RANK, SIZE, VALUE, same_value
from sqlanon.query.syntax import alias, bigint, column, count_all, nested, select, star, total

RECORDS = "records"
REACHED = "reached"
DISTINCT_VALUES = "distinct_values"
LARGEST = "largest"
ENTROPY = "entropy"
BELOW = "below"
EXCEEDING = "exceeding"
FAVOURED = "favoured"
RATIO = "ratio"
INVERSE = "inverse-ratio"
SURPLUS = "surplus"
SCALED = ("scaled", "scaled-literal")
Relation = exp.Table | exp.Subquery


def tail(l: int) -> str:  # noqa: E741
    """Name of the column of the records outside the l - 1 most frequent values."""
    return f"tail_{l}"


def distance(name: str) -> str:
    """Name of the column of a distance."""
    return f"distance_{name.replace('-', '_')}"


def node(level: int) -> str:
    """Name of the column of a value's node at a level of the attribute's hierarchy."""
    return f"node_{level}"


def node_records(level: int) -> str:
    """Name of the column of the records under that node."""
    return f"node_{level}_records"


@dataclass(frozen=True, slots=True)
class Needed:
    """Which figures of one sensitive attribute are needed.

    Args:
        entropy: Whether the entropy is.
        tails: The l of every recursive model.
        distances: Names as in `TCloseness.distance`, or RATIO, INVERSE and SURPLUS.
        nulls: Whether NULL is a value; else its records count in the class size alone.
        left: Records of the table that are published at least, for what a class has beyond the
            greatest share that a value may come to; None where nobody asks.
    """

    entropy: bool = False
    tails: tuple[int, ...] = ()
    distances: tuple[str, ...] = ()
    nulls: bool = True
    left: int | None = None

    @property
    def scaled(self) -> tuple[str, ...]:
        """The scaled distances among them."""
        return tuple(name for name in self.distances if name in SCALED)

    @property
    def in_order(self) -> bool:
        """Whether a distance goes by the order of the values."""
        return "ordered" in self.distances or bool(self.scaled)

    @property
    def has_shares(self) -> bool:
        """Whether a distance without an order needs each value's share of its class."""
        return not {"equal", "hierarchical", SURPLUS}.isdisjoint(self.distances)


@dataclass(frozen=True, slots=True)
class Reference:
    """The distribution that classes are compared with.

    Args:
        table: Rows of `reference`.
        records: Its records that count, N: a number, or a scalar subquery.
        values: Its values, m: likewise.
        height: Height of the hierarchy whose nodes it has; 0 for none.
    """

    table: exp.Table
    records: int | exp.Expr
    values: int | exp.Expr
    height: int = 0

    @classmethod
    def of(cls, table: exp.Table, *, height: int = 0) -> Reference:
        """With subqueries for its records and values."""
        records = exp.select(total(column(RECORDS))).from_(table.copy())
        values = exp.select(bigint(count_all())).from_(table.copy())
        return cls(table, exp.Subquery(this=records), exp.Subquery(this=values), height)

    @property
    def levels(self) -> range:
        """The inner levels of the hierarchy."""
        return range(1, self.height)


def reference(
    source: Relation, *, nulls: bool = True, order: Relation | None = None, height: int = 0
) -> exp.Select:
    """The distribution of an attribute over a table: one row per value that it holds.

    Rows of VALUE, RANK (0 to m - 1 in the values' order), RECORDS, REACHED (records up to and
    with this value), BELOW (the sum of REACHED over the values before), and per inner level of
    the hierarchy, 1 to height - 1, the value's node and the records under it.

    Args:
        source: Rows of VALUE and SIZE, any number for a value.
        nulls: Whether NULL is a value.
        order: Rows of VALUE, RANK and nodes, whose ranks say the order; without it the order is
            that of the type, NULL last.
        height: Height of the hierarchy whose nodes `order` has; 0 for none.
    """
    levels = range(1, height)
    sums = [alias(bigint(over(summed(RECORDS), [], order=[ascending(column(RANK))])), REACHED)]
    sums += [
        alias(bigint(over(summed(RECORDS), [column(node(level))])), node_records(level))
        for level in levels
    ]
    before = minus(over(summed(REACHED), [], order=[ascending(column(RANK))]), column(REACHED))
    reached = extended(_ranked(source, nulls, order=order, levels=levels), sums)
    return extended(reached, [alias(bigint(before), BELOW)])


def _ranked(source: Relation, nulls: bool, *, order: Relation | None, levels: range) -> exp.Select:
    """Rows of VALUE, RANK, RECORDS and nodes."""
    counts = exp.select(column(VALUE), alias(total(column(SIZE)), RECORDS)).from_(source.copy())
    if not nulls:
        counts = counts.where(exp.Not(this=is_null(column(VALUE))))
    place = column(VALUE, "held") if order is None else column(RANK, "ordered")
    rank = minus(over(exp.RowNumber(), [], order=[ascending(place)]), number(1))
    ranked = exp.select(
        column(VALUE, "held"),
        alias(bigint(rank), RANK),
        column(RECORDS, "held"),
        *(column(node(level), "ordered") for level in levels),
    ).from_(nested(counts.group_by(column(VALUE)), "held"))
    if order is None:
        return ranked
    ordered = order.copy()
    ordered.set("alias", exp.TableAlias(this=exp.Identifier(this="ordered", quoted=True)))
    same = same_value(column(VALUE, "held"), column(VALUE, "ordered"), nullable=True)
    return ranked.join(ordered, on=same)


def extended(rows: exp.Select, figures: Sequence[exp.Expr]) -> exp.Select:
    """All columns of a query and some more."""
    return select([star(), *figures], nested(rows, "inner_rows"))
