"""Spread: one row per class and value of a sensitive attribute, with what its figures add up.

Products of two counts are BIGINT: a table may have three billion records.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.arithmetic import (
    PARTS,
    ascending,
    descending,
    divided,
    double,
    is_null,
    minus,
    number,
    or_zero,
    over,
    plus,
    summed,
    times,
    whole_part,
    wide,
)
from sqlanon.query.encoding.encode import RANK, SIZE, VALUE, same_value, union_all
from sqlanon.query.privacy.figures import (
    BELOW,
    REACHED,
    RECORDS,
    Needed,
    Reference,
    Relation,
    extended,
    node,
    node_records,
)
from sqlanon.query.syntax import alias, bigint, column, named, nested, select, star, table, when
from sqlanon.sqlglot_version import WITH

HELD = "held"  # records of the class that hold the value and count
COUNTED = "counted"  # all records of the class that count, n
THROUGH = "through"  # those up to and with the value
NEXT_RANK, NEXT_BELOW = "next_rank", "next_below"  # of the next value of the class
TURN, TURN_BELOW = "turn", "turn_below"
PLACE = "place"  # of the value among those of the class, the most frequent first
MOVED = "moved"
_MARK = "mark"
_BIGINT = 1 << 62


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns of a source of figures besides its keys, VALUE and SIZE, and the figures wanted.

    Args:
        grouped: Whether it has one row per class and value.
        wanted: The figures that are asked for; None for all.
    """

    grouped: bool = False
    wanted: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class SpreadScope:
    """Classes, figures and reference that every stage of the query looks at.

    Args:
        keys: Columns that tell classes apart.
        needed: The figures.
        reference: The distribution of the whole table.
        shape: What else the source has.
    """

    keys: tuple[str, ...]
    needed: Needed
    reference: Reference
    shape: Shape

    @property
    def records(self) -> exp.Expr:
        """All records that count, N."""
        return exp.convert(self.reference.records, copy=True)

    @property
    def values(self) -> exp.Expr:
        """All values, m."""
        return exp.convert(self.reference.values, copy=True)

    def by(self, of: str | None = None) -> list[exp.Expr]:
        """The columns that tell classes apart."""
        return [column(name, of) for name in self.keys]

    def same(self, left: str, right: str) -> exp.Expr:
        """Whether two rows belong to one class."""
        pairs = zip(self.by(left), self.by(right), strict=True)
        return exp.and_(*(same_value(*pair, nullable=True) for pair in pairs), copy=False)

    def exact(self, count: exp.Expr) -> exp.Expr:
        """A count whose product with two others must not overflow."""
        records, values = self.reference.records, self.reference.values
        if isinstance(records, int) and isinstance(values, int) and values * records**2 < _BIGINT:
            return count
        return wide(count)


def spread(scope: SpreadScope, source: Relation) -> exp.Select:
    """One row per class and value of a source of keys, VALUE and SIZE, as the figures need it."""
    needed, rows = scope.needed, _held(scope, source)
    if needed.distances:
        rows = _placed(scope, rows)
    if needed.has_shares and not needed.in_order:
        rows = _sized(scope, rows)
    rows = extended(rows, figures) if (figures := _windows(scope)) else rows
    if needed.scaled:
        rows = extended(rows, _steps(scope))
    if "hierarchical" in needed.distances and scope.reference.levels:
        rows = _moved(scope, rows)
    if "ordered" in needed.distances:
        rows = _turned(scope, rows)
    return rows


def excess(scope: SpreadScope) -> exp.Expr:
    """Excess of a class over its share of every value or node: sum of max(c N - C n, 0)."""
    more = exp.GT(this=_here(scope), expression=_there())
    return or_zero(exp.Sum(this=when(more, minus(_here(scope), _there()))))


def beyond(left: int) -> tuple[exp.Expr, exp.Expr]:
    """Excess of a class over the greatest shares that values may come to, and these shares.

    Suppression leaves at least M = `left` records, so no share of what is published is above C / M.
    The first sum is that of max(c M - n C, 0), the second that of the C that it counts.
    """
    here = times(column(HELD), number(left))
    more = exp.GT(this=here, expression=_there())
    exceeding = when(more, minus(here.copy(), _there()))
    favoured = when(more.copy(), column(RECORDS))
    return or_zero(exp.Sum(this=exceeding)), or_zero(exp.Sum(this=favoured))


def _here(scope: SpreadScope) -> exp.Expr:
    return times(column(HELD), scope.records)


def _there() -> exp.Expr:
    return times(column(RECORDS), column(COUNTED))


def _held(scope: SpreadScope, source: Relation) -> exp.Select:
    """Records per class and value: all (SIZE), and those that count (HELD)."""
    grouped = scope.shape.grouped
    size: exp.Expr = column(SIZE) if grouped else bigint(summed(SIZE))
    held = size.copy()
    if not scope.needed.nulls:
        held = when(exp.Not(this=is_null(column(VALUE))), held)
    columns = [*scope.by(), column(VALUE), alias(size, SIZE), alias(held, HELD)]
    return select(columns, source.copy(), by=() if grouped else [*scope.by(), column(VALUE)])


def _placed(scope: SpreadScope, held: exp.Select) -> exp.Select:
    """Adds the rank, records and nodes that the reference has of each value."""
    levels = scope.reference.levels
    nodes = [name for level in levels for name in (node(level), node_records(level))]
    said = [column(name, "reference") for name in (RANK, RECORDS, BELOW, *nodes)]
    own = [*scope.by("held"), column(SIZE, "held"), column(HELD, "held")]
    same = same_value(column(VALUE, "held"), column(VALUE, "reference"), scope.needed.nulls)
    query = select([*own, *said], nested(held, "held"))
    reference = named(scope.reference.table, "reference")
    return query.join(reference, on=same, join_type="left", copy=False)


def _sized(scope: SpreadScope, rows: exp.Select) -> exp.Select:
    """Adds COUNTED by a join, since a window would sort."""
    sizes = [*scope.by(), alias(bigint(summed(HELD)), COUNTED)]
    counts = select(sizes, table("counted_values"), by=scope.by())
    query = select([star("counted_values"), column(COUNTED, "sizes")], table("counted_values"))
    query.join(nested(counts, "sizes"), on=scope.same("counted_values", "sizes"), copy=False)
    return _with(query, "counted_values", rows=rows)


def _windows(scope: SpreadScope) -> list[exp.Expr]:
    """Window figures over the values of a class, in the order of their ranks or sizes."""
    figures = []
    if scope.needed.in_order:

        def along(function: exp.Expr) -> exp.Window:
            return over(function, scope.by(), order=[ascending(column(RANK))])

        all_below = exp.select(summed(REACHED)).from_(scope.reference.table.copy())
        next_below = along(exp.Lead(this=column(BELOW)))
        next_rank = along(exp.Lead(this=column(RANK)))
        figures += [
            alias(bigint(over(summed(HELD), scope.by())), COUNTED),
            alias(bigint(along(summed(HELD))), THROUGH),
            alias(exp.Coalesce(this=next_rank, expressions=[scope.values]), NEXT_RANK),
            alias(
                bigint(exp.Coalesce(this=next_below, expressions=[exp.Subquery(this=all_below)])),
                NEXT_BELOW,
            ),
        ]
    if max(scope.needed.tails, default=0) > 2:
        by_size = [descending(column(HELD))]
        figures.append(alias(over(exp.RowNumber(), scope.by(), order=by_size), PLACE))
    return figures


def _steps(scope: SpreadScope) -> list[exp.Expr]:
    """The sums of the scaled distances' terms (p - q) |ln(p / q)| up to each value, in parts."""

    def step() -> exp.Expr:
        whole = times(double(column(COUNTED)), scope.records)
        share = divided(double(minus(_here(scope), _there())), whole)
        ratio = divided(double(_here(scope)), double(_there()))
        # At most ln N each, and no more in the sum: a BIGINT holds them.
        return bigint(times(share, exp.Abs(this=exp.Ln(this=ratio)), number(PARTS)))

    terms = {"scaled": step(), "scaled-literal": exp.Abs(this=step())}
    return [
        alias(over(exp.Sum(this=terms[name]), scope.by(), order=[ascending(column(RANK))]), name)
        for name in scope.needed.scaled
    ]


def _moved(scope: SpreadScope, rows: exp.Select) -> exp.Select:
    """Adds MOVED: the excess of a class over its share of all inner nodes."""
    parts = []
    for level in scope.reference.levels:
        counts = [
            *scope.by(),
            column(COUNTED),
            alias(bigint(summed(HELD)), HELD),
            alias(exp.Max(this=column(node_records(level))), RECORDS),
        ]
        by = [*scope.by(), column(COUNTED), column(node(level))]
        nodes = select(counts, table("spread"), by=by)
        parts.append(_per_class(scope, excess(scope), relation=nested(nodes, "nodes")))
    moved = _per_class(scope, summed(MOVED), relation=nested(union_all(parts), "levels"))
    query = select([star("spread"), column(MOVED, "moved")], table("spread"))
    same = scope.same("spread", "moved")
    query.join(nested(moved, "moved"), on=same, join_type="left", copy=False)
    return _with(query, "spread", rows=rows)


def _per_class(scope: SpreadScope, moved: exp.Expr, *, relation: exp.Subquery) -> exp.Select:
    return select([*scope.by(), alias(moved, MOVED)], relation, by=scope.by())


def _turned(scope: SpreadScope, rows: exp.Select) -> exp.Select:
    """Adds TURN: the rank where the terms of the ordered distance change their sign.

    From a value of a class up to its next one, at the ranks i from RANK to NEXT_RANK - 1, the
    class has reached a of its n records and the table Q_i of its N: the terms are |a N - n Q_i|.
    Q_i ascends, so they turn at the rank TURN, the number of i with n Q_i < a N, which is to say
    Q_i < ceil(a N / n). It is looked up on the axis of Q for the distinct right-hand sides.
    """
    rounded = minus(plus(times(column(THROUGH), scope.records), column(COUNTED)), number(1))
    mark = bigint(whole_part(rounded, column(COUNTED)))
    said = [column(TURN, "turns"), column(TURN_BELOW, "turns")]
    query = select([star("marked"), *said], table("marked"))
    same = exp.and_(
        exp.EQ(this=column(_MARK, "marked"), expression=column(_MARK, "turns")),
        is_null(column(REACHED, "turns")),
        copy=False,
    )
    turns = nested(_turns(scope), "turns")
    query.join(turns, on=same, join_type="left", copy=False)
    return _with(query, "marked", rows=extended(rows, [alias(mark, _MARK)]))


def _turns(scope: SpreadScope) -> exp.Select:
    """Rows of the distinct marks, with a REACHED of NULL, and of the reference, in one order."""
    nothing = exp.Cast(this=exp.Null(), to=exp.DataType(this=exp.DataType.Type.BIGINT))
    asked = select([column(_MARK), alias(nothing, REACHED)], table("marked")).distinct(copy=False)
    given = select([column(REACHED), column(REACHED)], scope.reference.table.copy())

    def so_far(function: exp.Expr) -> exp.Window:
        # A mark comes before a Q of its own height: only smaller ones are before it.
        order = [ascending(column(_MARK)), ascending(column(REACHED), nulls_first=True)]
        return over(function, [], order=order)

    figures = [
        alias(so_far(exp.Count(this=column(REACHED))), TURN),
        alias(bigint(or_zero(so_far(summed(REACHED)))), TURN_BELOW),
    ]
    axis = nested(union_all([asked, given]), "axis")
    return select([column(_MARK), column(REACHED), *figures], axis)


def _with(query: exp.Select, name: str, *, rows: exp.Select) -> exp.Select:
    """WITH name AS (rows) query."""
    own = exp.TableAlias(this=exp.Identifier(this=name, quoted=True))
    query.set(WITH, exp.With(expressions=[exp.CTE(this=rows, alias=own)]))
    return query
