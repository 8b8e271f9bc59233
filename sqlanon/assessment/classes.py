"""Equivalence classes of a table as it stands, counted by packed codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.assessment.column_codes import CHANGED, code_columns
from sqlanon.assessment.wide_codes import WIDE, wide_rows
from sqlanon.classes import ClassStatistics
from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.microdata.tables import change_fault
from sqlanon.query.classes import table_classes
from sqlanon.query.encoding import encode
from sqlanon.query.syntax import rows_of
from sqlanon.sqltext import Fragment, Sql

SAMPLE = 100_000
"""Records that say whether a column has too many values for them to be numbered first."""
MOST_NUMBERED = 20_000
"""Distinct values of a column among these, above which numbering costs more than it saves."""
NUMBERED_FROM = 1_000_000
"""Records below which numbering the values costs more than it saves."""
APART_FROM, APART_SHARE = 100_000, 0.1
"""Records, and their share in classes of one, from which such classes are treated apart."""


def class_statistics(
    engine: Engine, table: exp.Table, *, quasi_identifiers: Sequence[str]
) -> ClassStatistics:
    """The equivalence classes of a table by size.

    Raises:
        SourceError: The table changed while it was read.
    """
    names = list(quasi_identifiers)
    records = engine.rows(rows_of(table))[0][0]
    # Numbering every column's values first is faster where they are few; it changes no count.
    if (
        records < NUMBERED_FROM
        or len(names) > WIDE
        or max(engine.rows(table_classes.distinct_among(table, names, first=SAMPLE))[0])
        > MOST_NUMBERED
    ):
        return ClassStatistics.of(engine.rows(table_classes.size_histogram(table, names)))
    with engine.workspace():
        coding = code_columns(engine, table, names=names).coding
        found = ClassStatistics.of(engine.rows(table_classes.coded_histogram(table, coding)))
    if found.records != records:
        raise SourceError(change_fault(engine, table, otherwise=CHANGED))
    return found


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
        return [encode.word(number) for number in range(self.words)]

    def parts(self, value: Fragment) -> list[Sql]:
        """Rows of the keys, VALUE and SIZE whose classes have every figure that the table's have.

        The value is over the columns of the rows. Classes of one record are told apart by it
        alone, since nothing else matters.
        """
        if self.has_persons:
            return [table_classes.person_rows(self.rows, self.words, value=value)]
        if not self.singles:
            return [table_classes.attribute_rows(self.rows, self.words, value=value)]
        return [
            table_classes.shared_rows(self.rows, self.words, value=value),
            table_classes.single_rows(self.rows, self.words, value=value),
        ]

    def persons_given_away(self, value: Fragment) -> Sql:
        """As `table_classes.persons_given_away`, of a table with persons."""
        return table_classes.persons_given_away(self.rows, self.words, value=value)


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
    if len(names) > WIDE:
        total = engine.rows(rows_of(table))[0][0]
        rows, words = wide_rows(engine, table, names=names, ranks=ranks, entity=entity)
        written = engine.rows(rows_of(rows))[0][0]
    else:
        codes = code_columns(engine, table, names=names)
        total, words = codes.records, codes.coding.words
        coding = replace(codes.coding, ranks=dict(ranks), entity=entity)
        query = table_classes.coded_rows(table, coding)
        rows, written = engine.materialize_counted("rows", query)
    if written != total:
        raise SourceError(change_fault(engine, table, otherwise=CHANGED))
    if entity is not None:
        counted = engine.materialize("classes", table_classes.person_classes(rows, words))
        sizes = ClassStatistics.of(engine.rows(table_classes.sizes_histogram(counted)))
        return Tabulated(rows, words, ClassStatistics(sizes.histogram, total), 0, True)
    counted = engine.materialize("classes", table_classes.larger_classes(rows, words))
    larger = ClassStatistics.of(engine.rows(table_classes.sizes_histogram(counted)))
    singles = total - larger.records
    found = ClassStatistics.of([*larger.histogram.items(), *([(1, singles)] if singles else [])])
    if total < APART_FROM or singles < APART_SHARE * total:
        return Tabulated(rows, words, found, 0, False)
    sized = engine.materialize("sized", table_classes.sized_rows(rows, counted, words=words))
    engine.drop(rows)
    return Tabulated(sized, words, found, singles, False)
