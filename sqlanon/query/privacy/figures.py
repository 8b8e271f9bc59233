"""Figures of a sensitive attribute: how the values of each class are spread.

Here is, too, the distribution of the table that they refer to, and the order of the values: a
relation of VALUE, RANK and the nodes of a hierarchy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.classes.violations import spread_rows
from sqlanon.query.encode import LEAF, RANK, values_of
from sqlanon.sqltext import Fragment, Sql, expression, listed, name, names, render

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
        persons: Its persons with a value that counts: likewise; None where records are counted.
    """

    table: Fragment
    records: Fragment
    values: Fragment
    height: int = 0
    persons: Fragment | None = None

    @classmethod
    def of(cls, table: exp.Table, *, height: int = 0, persons: Fragment | None = None) -> Reference:
        """With subqueries for its records and values."""
        records = expression("SELECT {{ total('records') }} FROM {{ rows }}", rows=table)
        values = expression("SELECT CAST(COUNT(*) AS BIGINT) FROM {{ rows }}", rows=table)
        return cls(table, records, values, height, persons)

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


_BIGINT = 1 << 62
_NO_REFERENCE = Reference(0, 0, 0)


def class_figures(
    source: Fragment,
    keys: Sequence[str],
    *,
    needed: Needed,
    reference: Reference | None = None,
    grouped: bool = False,
    persons: bool = False,
) -> Sql:
    """Figures of one attribute's values in every class: one row per class.

    Rows of the keys, CLASS_SIZE (records, NULLs of the attribute included), COUNTED (n, the whole
    that shares of a class are of: records, or with `persons` those who have a value that counts),
    DISTINCT_VALUES, LARGEST (r_1), and as needed ENTROPY [nats], `tail(l)` (n without the l - 1
    largest counts), `distance(name)`, EXCEEDING and FAVOURED. A class without any value that counts
    has zeros.

    Args:
        source: Rows of the keys, VALUE and SIZE [records], with `persons` those of `spread_rows`.
        keys: Columns that tell classes apart, at least one.
        needed: Which figures are.
        reference: The distribution over the table that is looked at; only distances need it.
        grouped: Whether the source has one row per class and value.
        persons: Whether persons are counted, each once for each class and value.
    """
    whole = reference or _NO_REFERENCE
    records, values = whole.records, whole.values
    fits = isinstance(records, int) and isinstance(values, int) and values * records**2 < _BIGINT
    return render(
        "privacy/class_figures",
        source=source,
        keys=names(keys),
        needed=needed,
        grouped=grouped,
        persons=persons,
        members=records if whole.persons is None else whole.persons,
        reference=whole.table,
        records=records,
        all_values=values,
        levels=whole.levels,
        height=max(whole.height, 1),
        is_wide=not fits,
    )


def column_rows(source: exp.Table, attribute: str, *, entity: str | None) -> Sql:
    """As `spread_rows`, of a column of a table; a person of `entity` counts once for each value."""
    person = None if entity is None else name(entity)
    return spread_rows(source, (), attribute=name(attribute), entity=person, size=1)


def persons_with_values(rows: Fragment, *, nulls: bool) -> Sql:
    """How many persons of a table have a value that counts, from `column_rows`, in one row."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT DISTINCT entity FROM {{ rows }} AS rows"
        "{% if not nulls %} WHERE value IS NOT NULL{% endif %}) AS persons",
        rows=rows,
        nulls=nulls,
    )


def as_one_class(rows: Sql) -> Sql:
    """Rows with a word that is the same for all."""
    return expression("SELECT CAST(0 AS BIGINT) AS word_0, * FROM {{ held }} AS held", held=rows)


def by_rank(reference: exp.Table, height: int) -> Sql:
    """A reference whose values are their ranks."""
    return render("privacy/by_rank", reference=reference, levels=range(1, height))


def rank_counts(reference: exp.Table, height: int) -> Sql:
    """Rows of rank, records, and the node of each inner level of a hierarchy."""
    columns = listed(names(["rank", "records", *map(node, range(1, height))]))
    return expression("SELECT {{ columns }} FROM {{ rows }}", columns=columns, rows=reference)


Row = tuple[str | int | None, ...]


def listed_order(rows: Sequence[Row], kind: exp.DataType, *, levels: Sequence[int]) -> Sql:
    """The order that the user's own texts say: rows of text, rank and the node of each level."""
    carried = [RANK, *(node(level) for level in levels)]
    texts = exp.values(
        [tuple(map(exp.convert, row)) for row in rows], alias="listed", columns=[LEAF, *carried]
    )
    return values_of(texts, kind, carried=carried)


def ruled(source: exp.Table, column: str, *, labels: Sequence[exp.Expr]) -> Sql:
    """The order of the type, with a rule's labels of VALUE as nodes; the top is left out."""
    return render(
        "privacy/ruled",
        nodes=[(name(node(level)), label) for level, label in enumerate(labels[:-1], start=1)],
        subject=name(column),
        source=source,
    )


def reordered(order: Fragment, nodes: Fragment, *, levels: Sequence[int]) -> Sql:
    """The ranks of one order with the nodes of another, at some levels."""
    return render("privacy/reordered", nodes=names(map(node, levels)), ranks=order, tree=nodes)
