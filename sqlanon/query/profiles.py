"""Profiles: how many records of a class hold each sensitive value, as a column per value.

Where values are few, frequency sets carry these columns, and what a model asks of a class is an
expression over one row: no second grouping, no window. `sensitive` says the same of any table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query import sensitive
from sqlanon.query.arithmetic import wide
from sqlanon.query.encode import SIZE, word
from sqlanon.query.frequency import CLASS_SIZE, NUMBER, REQUIRED, class_rows
from sqlanon.query.names import (
    added,
    alias,
    column,
    greatest,
    least,
    nested,
    total,
    when,
)
from sqlanon.query.violations import value_of

KEPT = -1  # what is required of a class that violates nothing
WIDE = 1 << 26  # records; products of counts of more, summed over values, may leave a BIGINT


def held(attribute: int, rank: int) -> str:
    """The column of the records that hold a value."""
    return f"held_{attribute}_{rank}"


def profiled(details: exp.Table, words: int, columns: Mapping[str, tuple[int, int]]) -> exp.Select:
    """One row per combination of codes: its words, SIZE, and the records of each value.

    Args:
        details: Words, a rank per attribute, and SIZE.
        words: Number of words of the code.
        columns: Attribute and rank per name of a column.
    """
    keys: list[exp.Expr] = [column(word(w)) for w in range(words)]
    counts = [
        alias(total(when(column(value_of(a)).eq(rank), column(SIZE))), name)
        for name, (a, rank) in columns.items()
    ]
    return exp.Select(
        expressions=[*keys, alias(total(column(SIZE)), SIZE), *counts],
        group=exp.Group(expressions=[key.copy() for key in keys]),
    ).from_(details.copy(), copy=False)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The records per value that classes are compared with.

    Args:
        attribute: Number of the sensitive attribute.
        counts: Records per rank; a value that is gone has none.
        nodes: Per inner level of its hierarchy the node of each rank.
        left: Records that are published at least, as in `Needed`.
        whole: Whether every record holds a value that counts.
    """

    attribute: int
    counts: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...] = ()
    left: int | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """One model, by one distribution.

    Args:
        distribution: What it refers to.
        fails: Whether a class fails it, over the columns of `sensitive.class_figures`.
        required: The records required to go then, over the same.
    """

    distribution: Distribution
    fails: exp.Expr
    required: exp.Expr


def classes(
    source: exp.Table, words: int, columns: Sequence[str], carried: Sequence[str]
) -> exp.Select:
    """The classes of nodes: NUMBER, what is carried, CLASS_SIZE and the held records.

    Args:
        source: The frequency set to count from.
        words: Number of words of the code.
        columns: The columns of the held records.
        carried: As for `frequency.class_rows`.
    """
    sums = {CLASS_SIZE: SIZE, **{name: name for name in columns}}
    return class_rows(source, words, sums, carried=carried)


def judged(
    rows: exp.Expr, k: int, conditions: Sequence[Condition], carried: Sequence[str]
) -> exp.Select:
    """Classes with REQUIRED: the records of each that must go, `KEPT` where it violates nothing.

    Args:
        rows: Classes with CLASS_SIZE and the held records.
        k: Smallest class size allowed [records].
        conditions: The models.
        carried: Columns to keep.
    """
    figures: dict[str, exp.Expr] = {}
    needed: list[exp.Expr] = [
        when(
            column(CLASS_SIZE) < k,
            column(CLASS_SIZE),
            _number(KEPT),
        )
    ]
    for place, condition in enumerate(conditions):
        fails, required = (_renamed(part, place) for part in (condition.fails, condition.required))
        asked = {item.name for part in (fails, required) for item in part.find_all(exp.Column)}
        for name, figure in _figures(condition.distribution, asked, place):
            figures[name] = figure
        needed.append(when(fails, required, _number(KEPT)))
    columns = list(dict.fromkeys([CLASS_SIZE, *carried]))
    inner = exp.Select(
        expressions=[
            *(column(name) for name in columns),
            *(alias(figure, name) for name, figure in figures.items()),
        ]
    ).from_(_counted(rows, conditions), copy=False)
    most = least(greatest(*needed), column(CLASS_SIZE))
    return exp.Select(
        expressions=[*(column(name) for name in carried), alias(most, REQUIRED)]
    ).from_(nested(inner, "figures"), copy=False)


def _counted(rows: exp.Expr, conditions: Sequence[Condition]) -> exp.Subquery:
    """Classes with how many of their records hold any value that counts, where that is not all.

    The fewer relations stand between the sums and the figures, the sooner the database has planned
    them.
    """
    classes = exp.Subquery(this=rows, alias=_alias("classes"))
    attributes = {each.distribution.attribute: each.distribution for each in conditions}
    sums = [
        alias(added([column(held(number, r)) for r in range(len(each.counts))]), _n(each).name)
        for number, each in attributes.items()
        if not each.whole
    ]
    if not sums:
        return classes
    query = exp.Select(expressions=[exp.Star(), *sums]).from_(classes, copy=False)
    return nested(query, "counted")


def _n(distribution: Distribution) -> exp.Column:
    """How many of a class's records hold any value that counts."""
    return column(CLASS_SIZE if distribution.whole else f"n_{distribution.attribute}")


def violating(rows: exp.Select) -> exp.Select:
    """The violating ones of judged classes."""
    query = exp.Select(expressions=[exp.Star()]).from_(nested(rows, "judged"), copy=False)
    return query.where(_violates(), copy=False)


def held_sums(rows: exp.Select, columns: Sequence[str], *, gone: bool) -> exp.Select:
    """One row: NUMBER 0, the size of all violating classes or of the others, and what they hold."""
    sums = [alias(total(column(name)), name) for name in columns]
    condition = _violates() if gone else exp.Not(this=exp.Paren(this=_violates()))
    nothing = exp.Literal.number(0)
    return (
        exp.Select(
            expressions=[
                alias(nothing, NUMBER),
                alias(total(column(CLASS_SIZE)), CLASS_SIZE),
                *sums,
            ]
        )
        .from_(nested(rows, "judged"), copy=False)
        .where(condition)
    )


def _violates() -> exp.Expr:
    return exp.GTE(this=column(REQUIRED), expression=exp.Literal.number(0))


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.Identifier(this=name, quoted=True))


def _renamed(condition: exp.Expr, place: int) -> exp.Expr:
    """A condition over the figures of its own place; the size of a class is everybody's."""

    def renamed(item: exp.Expr) -> exp.Expr:
        own = isinstance(item, exp.Column) and item.name != CLASS_SIZE
        return column(f"{item.name}_{place}") if own else item

    return condition.transform(renamed)


def _figures(distribution: Distribution, asked: set[str], place: int) -> list[tuple[str, exp.Expr]]:
    """The figures of a class that a condition asks for, by their names."""
    counts = [column(held(distribution.attribute, r)) for r in range(len(distribution.counts))]
    n = _n(distribution)
    factors: tuple[list[exp.Expr], exp.Expr] = list(counts), n
    if sum(distribution.counts) >= WIDE:
        factors = [wide(count.copy()) for count in counts], wide(n.copy())
    makers = {
        sensitive.COUNTED: lambda: n,
        sensitive.DISTINCT_VALUES: lambda: added(
            [when(c.copy() > 0, _number(1), _number(0)) for c in counts]
        ),
        sensitive.LARGEST: lambda: _largest(counts),
        sensitive.ENTROPY: lambda: _entropy(counts, n),
        sensitive.EXCEEDING: lambda: _exceeding(distribution, *factors),
        sensitive.FAVOURED: lambda: _favoured(distribution, *factors),
        sensitive.tail(1): lambda: n,
        sensitive.tail(2): lambda: n - _largest(counts),
    } | {
        sensitive.distance(name): lambda make=make: make(distribution, *factors)
        for name, make in _DISTANCES.items()
    }
    return [
        (f"{name}_{place}", make()) for name, make in makers.items() if f"{name}_{place}" in asked
    ]


def _largest(counts: Sequence[exp.Expr]) -> exp.Expr:
    return greatest(*_copies(counts))


def _entropy(counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    """H = ln n - (sum c ln c) / n, for one value 0 but for rounding.

    The fewer operations, the sooner the database has planned them, which takes it longer than to
    carry them out.
    """
    terms: list[exp.Expr] = [c.copy() * exp.Ln(this=greatest(c.copy(), _number(1))) for c in counts]
    some = greatest(n.copy(), _number(1))
    return exp.Ln(this=some) - exp.Paren(this=added(terms)) / _double(some)


def _equal(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    """1/2 sum |p - q| is the sum of what p has beyond q."""
    return _excess(counts, of.counts, n) / _whole(of, n)


def _excess(counts: Sequence[exp.Expr], others: Sequence[int], n: exp.Expr) -> exp.Expr:
    whole = sum(others)
    terms = [
        greatest(c.copy() * whole - n.copy() * q, _number(0))
        for c, q in zip(counts, others, strict=True)
    ]
    return _double(added(terms))


def _exceeding(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    """As in `spread.beyond`."""
    terms = [
        greatest(c.copy() * (of.left or 0) - n.copy() * q, _number(0))
        for c, q in zip(counts, of.counts, strict=True)
    ]
    return added(terms)


def _favoured(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    return added(
        [
            when(c.copy() * (of.left or 0) > n.copy() * q, _number(q), _number(0))
            for c, q in zip(counts, of.counts, strict=True)
        ]
    )


def _ordered(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    whole, reached = sum(of.counts), 0
    present = [rank for rank, count in enumerate(of.counts) if count]
    terms: list[exp.Expr] = []
    for rank in present[:-1]:
        reached += of.counts[rank]
        through = exp.Paren(this=added(_copies(counts[: rank + 1])))
        terms.append(exp.Abs(this=through * whole - n.copy() * reached))
    if not terms:
        return _number(0)
    return _double(added(terms)) / (_whole(of, n) * len(terms))


def _hierarchical(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    parts = [_excess(counts, of.counts, n)]
    for nodes in of.nodes:
        members: dict[int, list[int]] = {}
        for rank, place in enumerate(nodes):
            members.setdefault(place, []).append(rank)
        sums: list[exp.Expr] = [
            exp.Paren(this=added(_copies([counts[rank] for rank in ranks])))
            for ranks in members.values()
        ]
        others = [sum(of.counts[rank] for rank in ranks) for ranks in members.values()]
        parts.append(_excess(sums, others, n))
    return exp.Paren(this=added(parts)) / (_whole(of, n) * (len(of.nodes) + 1))


def _kl(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    terms = [
        when(c.copy() > 0, c.copy() * exp.Ln(this=_ratio(c, q, of, n)), _number(0))
        for c, q in zip(counts, of.counts, strict=True)
        if q
    ]
    return exp.Paren(this=added(terms)) / exp.Nullif(this=_double(n), expression=_number(0))


def _ratio(count: exp.Expr, q: int, of: Distribution, n: exp.Expr) -> exp.Expr:
    """The quotient p / q of a value that the class holds."""
    return _double(count * sum(of.counts)) / _double(n * q)


def _scaled(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    return _steps(of, counts, n, literal=False)


def _scaled_literal(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr) -> exp.Expr:
    return _steps(of, counts, n, literal=True)


def _steps(of: Distribution, counts: Sequence[exp.Expr], n: exp.Expr, *, literal: bool) -> exp.Expr:
    whole = sum(of.counts)
    present = [rank for rank, count in enumerate(of.counts) if count]
    if len(present) < 2:
        return _number(0)
    terms: list[exp.Expr] = []
    sums: list[exp.Expr] = []
    for rank in present:
        count, q = counts[rank], of.counts[rank]
        share = _double(count * whole - n.copy() * q) / _whole(of, n)
        step = share * exp.Abs(this=exp.Ln(this=_ratio(count, q, of, n)))
        term = exp.Abs(this=step) if literal else step
        terms.append(when(count.copy() > 0, term, _number(0)))
        sums.append(exp.Abs(this=added(_copies(terms))))
    return exp.Paren(this=added(sums)) / (len(present) - 1)


_DISTANCES = {
    "equal": _equal,
    "ordered": _ordered,
    "hierarchical": _hierarchical,
    "kl": _kl,
    "scaled": _scaled,
    "scaled-literal": _scaled_literal,
}


def _whole(of: Distribution, n: exp.Expr) -> exp.Expr:
    """What distances in whole numbers are parts of, n N; NULL for a class without any value."""
    return exp.Nullif(this=_double(n) * sum(of.counts), expression=_number(0))


def _number(number: int) -> exp.Expr:
    return exp.Literal.number(number)


def _double(expression: exp.Expr) -> exp.Cast:
    return exp.Cast(this=expression.copy(), to=exp.DataType(this=exp.DataType.Type.DOUBLE))


def _copies(expressions: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [expression.copy() for expression in expressions]
