"""Equivalence classes of a table as it stands, counted by packed codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.assessment.codes import code_rows
from sqlanon.classes import ClassStatistics
from sqlanon.engine.base import Engine
from sqlanon.query import encode
from sqlanon.query.classes import table_classes
from sqlanon.query.classes.frequency import histogram
from sqlanon.query.classes.violations import ENTITY, spread_rows
from sqlanon.query.syntax import rows_of
from sqlanon.sqltext import Fragment, Sql, name

APART_FROM, APART_SHARE = 100_000, 0.1
"""Records, and their share in classes of one, from which such classes are treated apart."""


@dataclass(frozen=True, slots=True)
class Tabulated:
    """A table as codes, with its classes.

    Args:
        rows: Words, a rank per sensitive attribute, and the entity or, where classes of one
            record are treated apart, the size of the class; one row per record.
        words: Number of words.
        statistics: The classes.
        singles: Classes of one record that are treated apart.
        has_persons: Whether the rows have an entity, whose persons count.
    """

    rows: exp.Table
    words: int
    statistics: ClassStatistics
    singles: int
    has_persons: bool

    @property
    def keys(self) -> list[str]:
        """The columns that tell classes apart."""
        return encode.word_names(self.words)

    def parts(self, value: Fragment) -> list[Sql]:
        """Rows of the keys, VALUE and SIZE whose classes have every figure that the table's have.

        The value is over the columns of the rows. Classes of one record are told apart by it
        alone, since nothing else matters.
        """
        if self.has_persons:
            return [spread_rows(self.rows, self.keys, attribute=value, entity=name(ENTITY))]
        if not self.singles:
            return [spread_rows(self.rows, self.keys, attribute=value, size=1)]
        return [
            table_classes.shared_rows(self.rows, self.words, value=value),
            table_classes.single_rows(self.rows, self.words, value=value),
        ]


def tabulate(
    engine: Engine,
    table: exp.Table,
    *,
    names: Sequence[str],
    ranks: Mapping[str, exp.Table],
    entity: str | None,
) -> Tabulated:
    """Writes a table as codes and counts its classes, of persons where it has an entity.

    `ranks` holds per sensitive attribute rows of VALUE and RANK. The temporary tables stay until
    the engine's workspace ends.

    Raises:
        SourceError: The table changed while it was read.
    """
    rows, words = code_rows(engine, table, names=names, ranks=ranks, entity=entity)
    [(total,)] = engine.rows(rows_of(rows))
    if entity is not None:
        counted = engine.materialize("classes", table_classes.person_classes(rows, words))
        sizes = ClassStatistics.of(engine.rows(histogram(counted)))
        return Tabulated(rows, words, ClassStatistics(sizes.histogram, total), 0, True)
    counted = engine.materialize("classes", table_classes.larger_classes(rows, words))
    larger = ClassStatistics.of(engine.rows(histogram(counted)))
    singles = total - larger.records
    classes = ClassStatistics.of([*larger.histogram.items(), *([(1, singles)] if singles else [])])
    if total < APART_FROM or singles < APART_SHARE * total:
        return Tabulated(rows, words, classes, 0, False)
    sized = engine.materialize("sized", table_classes.sized_rows(rows, counted, words=words))
    engine.tables.drop(rows)
    return Tabulated(sized, words, classes, singles, False)


def coded_trajectories(
    engine: Engine, rows: exp.Table, *, words: int, person: str, records: Fragment | None = None
) -> tuple[exp.Table, ClassStatistics]:
    """Every person with their trajectory, and trajectories by the number of persons sharing them.

    The arguments are those of `table_classes.trajectories`. The temporary table stays until the
    engine's workspace ends.
    """
    query = table_classes.trajectories(rows, words, person=person, records=records)
    persons = engine.materialize("trajectories", query)
    return persons, ClassStatistics.of(engine.rows(table_classes.trajectory_histogram(persons)))


def tabulated_trajectories(engine: Engine, table: Tabulated, *, persons: exp.Table) -> Tabulated:
    """A table of persons with their trajectories among what tells classes apart."""
    query = table_classes.with_trajectories(table.rows, persons, words=table.words, person=ENTITY)
    return replace(table, rows=engine.materialize("joined", query), words=table.words + 1)
