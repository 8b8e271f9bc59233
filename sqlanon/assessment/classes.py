"""Tabulation: the equivalence classes of a table as it stands, counted by packed codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.classes import ClassStatistics
from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.hierarchy.layout import packed
from sqlanon.query.assess import risk
from sqlanon.query.classes import classes
from sqlanon.query.classes.classes import Coding
from sqlanon.query.encoding import encode
from sqlanon.query.syntax import rows_of

HEAD = 100_000  # records that say whether a column has too many values to be numbered first
PLENTY = 20_000  # distinct values among these
FEW = 1_000_000  # records; the classes of fewer are counted before their values are numbered
MANY = 100_000  # records; in more, classes of one record are treated apart where these are
SINGLES = 0.1  # so great a share of the records
CHANGED = "the table changed while it was read; try again"


def class_statistics(
    engine: Engine, table: exp.Table, quasi_identifiers: Sequence[str]
) -> ClassStatistics:
    """The equivalence classes of a table by size.

    Raises:
        SourceError: The table changed while it was read.
    """
    names = list(quasi_identifiers)
    records = engine.rows(rows_of(table))[0][0]
    # Numbering every column's values first is faster where they are few; it changes no count.
    if records < FEW or max(engine.rows(classes.distinct_among(table, names, HEAD))[0]) > PLENTY:
        return ClassStatistics.of(engine.rows(classes.size_histogram(table, names)))
    with engine.workspace():
        coding = code_columns(engine, table, names)
        found = ClassStatistics.of(engine.rows(classes.coded_histogram(table, coding)))
    if found.records != records:
        raise SourceError(CHANGED)
    return found


def code_columns(engine: Engine, table: exp.Table, names: Sequence[str]) -> Coding:
    """Numbers the values of quasi-identifiers and packs the numbers into words.

    The temporary tables stay until the engine's workspace ends.
    """
    held, counts, nullable = {}, [], set()
    for name in names:
        values = engine.materialize("values", risk.numbered_values(table, name))
        held[name] = values
        distinct, present = engine.rows(encode.presence(values, [encode.VALUE]))[0]
        counts.append(distinct)
        if present < distinct:
            nullable.add(name)
    fields = packed(counts)
    words = 1 + max(field.word for field in fields)
    maps = {
        name: risk.code_map(values, field, words)
        for (name, values), field in zip(held.items(), fields, strict=True)
    }
    return Coding(maps, frozenset(nullable), words)


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

    def parts(self, value: exp.Expr) -> list[exp.Select]:
        """Rows of the keys, VALUE and SIZE whose classes have every figure that the table's have.

        Classes of one record are told apart by its value alone, since nothing else matters.

        Args:
            value: The value, over the columns of the rows.
        """
        if self.has_persons:
            return [classes.person_rows(self.rows, self.words, value)]
        if not self.singles:
            return [classes.attribute_rows(self.rows, self.words, value)]
        return [
            classes.shared_rows(self.rows, self.words, value),
            classes.single_rows(self.rows, self.words, value),
        ]


def tabulate(
    engine: Engine,
    table: exp.Table,
    names: Sequence[str],
    ranks: Mapping[str, exp.Table],
    entity: str | None,
) -> Tabulated:
    """Writes a table as codes and counts its classes, of persons where it has an entity.

    Args:
        engine: Where the table lives; temporary tables stay until its workspace ends.
        table: The table.
        names: The quasi-identifiers.
        ranks: Per sensitive attribute rows of VALUE and RANK.
        entity: The column that says whose record it is; None where records count.

    Raises:
        SourceError: The table changed while it was read.
    """
    total = engine.rows(rows_of(table))[0][0]
    coding = replace(code_columns(engine, table, names), ranks=dict(ranks), entity=entity)
    rows, words = engine.materialize("rows", classes.coded_rows(table, coding)), coding.words
    if engine.rows(rows_of(rows))[0][0] != total:
        raise SourceError(CHANGED)
    if entity is not None:
        counted = engine.materialize("classes", classes.person_classes(rows, words))
        sizes = ClassStatistics.of(engine.rows(classes.sizes_histogram(counted)))
        return Tabulated(rows, words, ClassStatistics(sizes.histogram, total), 0, True)
    counted = engine.materialize("classes", classes.larger_classes(rows, words))
    larger = ClassStatistics.of(engine.rows(classes.sizes_histogram(counted)))
    singles = total - larger.records
    found = ClassStatistics.of([*larger.histogram.items(), *([(1, singles)] if singles else [])])
    if total < MANY or singles < SINGLES * total:
        return Tabulated(rows, words, found, 0, False)
    sized = engine.materialize("sized", classes.sized_rows(rows, counted, words))
    engine.drop(rows)
    return Tabulated(sized, words, found, singles, False)
