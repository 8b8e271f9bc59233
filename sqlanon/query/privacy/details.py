"""Detail: sensitive values as ranks in their attribute's order."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.encoding.encode import RANK, SIZE, VALUE, word
from sqlanon.query.privacy.figures import BELOW, REACHED, RECORDS, node, node_records
from sqlanon.query.syntax import alias, bigint, column, count_all, nested


def held(source: exp.Table, name: str, entity: str | None) -> exp.Select:
    """Rows of VALUE and SIZE of a column; a person counts once for each value.

    Args:
        source: The table.
        name: The column.
        entity: The column that says whose record it is.
    """
    if entity is None:
        counts = [alias(column(name), VALUE), alias(bigint(count_all()), SIZE)]
        return exp.select(*counts).from_(source.copy()).group_by(column(name))
    persons = exp.select(alias(column(name), VALUE), alias(column(entity), ENTITY))
    return _each(persons.distinct().from_(source.copy()))


def as_one_class(held: exp.Select) -> exp.Select:
    """Rows of `held` with a word that is the same for all."""
    same = alias(bigint(exp.Literal.number(0)), word(0))
    return exp.select(same, column(VALUE), column(SIZE)).from_(nested(held, "held"))


def values(rows: exp.Table | exp.Subquery, attribute: int, *, entity: bool) -> exp.Select:
    """Rows of VALUE and SIZE of an attribute among details; a person counts once for each value."""
    value = alias(column(value_of(attribute)), VALUE)
    if not entity:
        return exp.select(value, column(SIZE)).from_(rows.copy())
    return _each(exp.select(value, column(ENTITY)).distinct().from_(rows.copy()))


def _each(persons: exp.Select) -> exp.Select:
    one = alias(bigint(exp.Literal.number(1)), SIZE)
    return exp.select(column(VALUE), one).from_(nested(persons, "persons"))


def by_rank(reference: exp.Table, height: int) -> exp.Select:
    """A reference whose values are their ranks."""
    levels = range(1, height)
    nodes = [column(name) for level in levels for name in (node(level), node_records(level))]
    figures = [column(name) for name in (RANK, RECORDS, REACHED, BELOW)]
    return exp.select(alias(column(RANK), VALUE), *figures, *nodes).from_(reference.copy())


def rank_counts(reference: exp.Table) -> exp.Select:
    """Rows of rank and records."""
    return exp.select(column(RANK), column(RECORDS)).from_(reference.copy())


def rank_nodes(reference: exp.Table, height: int) -> exp.Select:
    """Rows of rank and the node of each inner level of a hierarchy."""
    nodes = [column(node(level)) for level in range(1, height)]
    return exp.select(column(RANK), *nodes).from_(reference.copy())
