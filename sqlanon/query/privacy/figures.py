"""Figures of a sensitive attribute: which are needed, and the distribution they refer to."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sqltext import Fragment, Sql, expression, render

DISTINCT_VALUES = "distinct_values"
COUNTED = "counted"
LARGEST = "largest"
ENTROPY = "entropy"
EXCEEDING = "exceeding"
FAVOURED = "favoured"
RATIO = "ratio"
INVERSE = "inverse-ratio"
SURPLUS = "surplus"
SCALED = ("scaled", "scaled-literal")


def tail(l: int) -> str:  # noqa: E741
    """Name of the column of the records outside the l - 1 most frequent values."""
    return f"tail_{l}"


def distance(name: str) -> str:
    """Name of the column of a distance."""
    return f"distance_{name.replace('-', '_')}"


def node(level: int) -> str:
    """Name of the column of a value's node at a level of the attribute's hierarchy."""
    return f"node_{level}"


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

    @property
    def has_far_tail(self) -> bool:
        """Whether a tail leaves out more than the most frequent value."""
        return max(self.tails, default=0) > 2


@dataclass(frozen=True, slots=True)
class Reference:
    """The distribution that classes are compared with.

    Args:
        table: Rows of `reference`.
        records: Its records that count, N: a number, or a scalar subquery.
        values: Its values, m: likewise.
        height: Height of the hierarchy whose nodes it has; 0 for none.
    """

    table: Fragment
    records: Fragment
    values: Fragment
    height: int = 0

    @classmethod
    def of(cls, table: exp.Table, *, height: int = 0) -> Reference:
        """With subqueries for its records and values."""
        records = expression("SELECT {{ total('records') }} FROM {{ rows }}", rows=table)
        values = expression("SELECT CAST(COUNT(*) AS BIGINT) FROM {{ rows }}", rows=table)
        return cls(table, records, values, height)

    @property
    def levels(self) -> range:
        """The inner levels of the hierarchy."""
        return range(1, self.height)


def reference(
    source: Fragment, *, nulls: bool = True, order: Fragment | None = None, height: int = 0
) -> Sql:
    """The distribution of an attribute over a table: one row per value that it holds.

    Rows of VALUE, RANK (0 to m - 1 in the values' order), records, reached (records up to and
    with this value), below (the sum of reached over the values before), and per inner level of
    the hierarchy, 1 to height - 1, the value's node and the records under it.

    Args:
        source: Rows of VALUE and SIZE, any number for a value.
        nulls: Whether NULL is a value.
        order: Rows of VALUE, RANK and nodes, whose ranks say the order; without it the order is
            that of the type, NULL last.
        height: Height of the hierarchy whose nodes `order` has; 0 for none.
    """
    levels = range(1, height)
    return render("privacy/reference", source=source, nulls=nulls, value_order=order, levels=levels)
