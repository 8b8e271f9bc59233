"""Detail: sensitive values as ranks in their attribute's order."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.arithmetic import number
from sqlanon.query.classes.violations import ENTITY, each_once
from sqlanon.query.encoding.encode import RANK, SIZE, VALUE, word
from sqlanon.query.privacy.figures import BELOW, REACHED, RECORDS, node, node_records
from sqlanon.query.syntax import alias, bigint, column, count_all, nested


def held(source: exp.Table, name: str, *, entity: str | None) -> exp.Select:
    """Rows of VALUE and SIZE of a column; a person of `entity` counts once for each value."""
    if entity is None:
        counts = [alias(column(name), VALUE), alias(bigint(count_all()), SIZE)]
        return exp.select(*counts).from_(source.copy()).group_by(column(name))
    persons = exp.select(alias(column(name), VALUE), alias(column(entity), ENTITY))
    return each_once(persons.distinct().from_(source.copy()), ())


def as_one_class(held: exp.Select) -> exp.Select:
    """Rows of `held` with a word that is the same for all."""
    same = alias(bigint(number(0)), word(0))
    return exp.select(same, column(VALUE), column(SIZE)).from_(nested(held, "held"))


def by_rank(reference: exp.Table, height: int) -> exp.Select:
    """A reference whose values are their ranks."""
    levels = range(1, height)
    nodes = [column(name) for level in levels for name in (node(level), node_records(level))]
    figures = [column(name) for name in (RANK, RECORDS, REACHED, BELOW)]
    return exp.select(alias(column(RANK), VALUE), *figures, *nodes).from_(reference.copy())


def rank_counts(reference: exp.Table, height: int) -> exp.Select:
    """Rows of rank, records, and the node of each inner level of a hierarchy."""
    names = [RANK, RECORDS, *map(node, range(1, height))]
    return exp.select(*map(column, names)).from_(reference.copy())
