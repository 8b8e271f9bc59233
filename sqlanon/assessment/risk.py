"""Risk: how easily people of a table as it stands are found again, whoever made it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from sqlanon.assessment.check import as_published
from sqlanon.assessment.subsets import (
    TOO_MANY,
    SubsetCodes,
    SubsetOptions,
    Tell,
    code_table,
    default_largest,
    number_of_subsets,
    subset_risk,
)
from sqlanon.classes import RISK_THRESHOLD, ClassStatistics
from sqlanon.engine.base import Engine
from sqlanon.engine.open import is_database, second_table
from sqlanon.errors import PolicyError, SourceError
from sqlanon.microdata.binding import column_types, refuse_unsuited
from sqlanon.policy.policy import Policy
from sqlanon.query.assess import risk
from sqlanon.query.encoding import encode
from sqlanon.reports.risk import (
    Persons,
    PopulationMatch,
    PopulationRisk,
    RiskReport,
)
from sqlanon.reports.separation import SubsetRisk

IDENTIFYING = 0.05


@dataclass(frozen=True, slots=True)
class RiskOptions:
    """What is asked of a table's risk.

    Args:
        threshold: Risk above which a record counts as at risk, in (0, 1].
        identifying: Share of unique records that makes a set of columns identifying, in (0, 1].
        max_columns: Most columns of a set that is looked at; 0 for none, None for as many as keep
            the sets within `subsets.PLENTY`.
        every_subset: Whether every set of at most so many columns is counted and listed.
        tell: Called with a line that says how far the count is.

    Raises:
        PolicyError: A figure out of range.
    """

    threshold: float = RISK_THRESHOLD
    identifying: float = IDENTIFYING
    max_columns: int | None = None
    every_subset: bool = False
    tell: Tell | None = None

    def __post_init__(self) -> None:
        faults = [
            f"{name} {value!r} is not a share above 0 and at most 1"
            for name, value in (
                ("risk threshold", self.threshold),
                ("identifying share", self.identifying),
            )
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1
        ]
        most = self.max_columns
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
            faults.append(f"max_columns {most!r} is not a whole number of at least 0")
        if faults:
            raise PolicyError("; ".join(faults))

    def largest(self, columns: int) -> int:
        """Most columns of a set, for so many quasi-identifiers.

        Raises:
            PolicyError: There are too many such sets.
        """
        if self.max_columns is None:
            return default_largest(columns)
        largest = min(self.max_columns, columns)
        sets = number_of_subsets(columns, largest)
        if sets > TOO_MANY:
            raise PolicyError(
                f"{columns} columns have {sets:,} sets of at most {largest}, more than "
                f"{TOO_MANY:,}; lower max_columns (--max-columns)"
            )
        return largest


def assess(
    engine: Engine,
    table: exp.Table,
    policy: Policy,
    options: RiskOptions,
    population: exp.Table | None = None,
) -> RiskReport:
    """Measures re-identification risk; hierarchies are not needed.

    Args:
        engine: Where both tables live.
        table: The table, as it would be released.
        policy: Its quasi-identifiers and, where persons count, its entity.
        options: What is asked.
        population: Everybody the table's records were drawn from, in the same columns.

    Raises:
        PolicyError: No quasi-identifier, columns that are missing, or too many sets of columns.
        SourceError: An empty table, or a population that does not hold everybody of it.
    """
    started = time.monotonic()
    present, notes = as_published(policy, list(engine.columns(table)))
    names, entity = _checked_names(engine, table, present), present.entity
    largest = options.largest(len(names))
    search = None
    if population is not None:
        search = _Search.of(engine, (table, population), present, policy.entity)
    with engine.workspace():
        with engine.transaction():
            coded = code_table(engine, table, names, entity)
            if not coded.records:
                raise SourceError("the table is empty; there is nothing to assess")
            against = None if search is None else search.risk(options.threshold)
        statistics = _class_statistics(engine, coded, entity)
        persons = _persons(engine, coded, statistics, entity)
        wanted = SubsetOptions(options.identifying, largest, options.every_subset, options.tell)
        subsets = subset_risk(engine, coded, wanted) if largest else None
    return RiskReport(
        statistics=statistics,
        threshold=options.threshold,
        quasi_identifiers=tuple(names),
        subsets=subsets,
        population=against,
        persons=persons,
        notes=(*notes, *_notes(search, persons, subsets)),
        seconds=time.monotonic() - started,
    )


def opened_population(
    engine: Engine, population: object
) -> AbstractContextManager[exp.Table | None]:
    """A population as a table beside the one that it is compared with, for as long as it lasts.

    Args:
        engine: Where the table lives.
        population: A table of the same source or a frame, or a path to a file of data; a name
            that is both is the table's. None for none.

    Raises:
        SourceError: There is neither, or the file is a database.
    """
    if population is None:
        return nullcontext()
    path = Path(population) if isinstance(population, str | Path) else None
    if path is not None and path.is_file() and is_database(path):
        raise SourceError(
            f"the population {path.name!r} is a database; name a table of the database that holds "
            "the released one, or give a CSV or Parquet file"
        )
    return second_table(engine, population)


def _checked_names(engine: Engine, table: exp.Table, policy: Policy) -> list[str]:
    """The quasi-identifiers, held against the table."""
    names = list(policy.attributes)
    if not names:
        raise PolicyError("no quasi-identifier is named; name them with --qi COLUMN")
    types = column_types(engine, table)
    refuse_unsuited(engine, table, {name: types[name] for name in names})
    return names


def _class_statistics(engine: Engine, coded: SubsetCodes, entity: str | None) -> ClassStatistics:
    query = risk.class_histogram(coded.table, coded.words, coded.person)
    statistics = ClassStatistics.of(engine.rows(query))
    return statistics if entity is None else replace(statistics, rows=coded.records)


def _persons(
    engine: Engine, coded: SubsetCodes, statistics: ClassStatistics, entity: str | None
) -> Persons | None:
    """What is known of persons; None where records are counted."""
    if entity is None:
        return None
    if coded.person is None:
        histogram = {size: size * n for size, n in statistics.histogram.items()}
    else:
        rows = engine.rows(risk.person_histogram(coded.table, coded.words, coded.person))
        histogram = dict(sorted(rows))
    return Persons(entity, coded.records, histogram)


@dataclass(frozen=True, slots=True)
class _Search:
    """A population that somebody searches for the people of a table.

    Args:
        engine: Where both live.
        table: The table.
        population: The population.
        names: The quasi-identifiers, of the same types in both.
        entity: The column of the table that says whose record it is; None where records count.
        population_entity: The same for the population.
    """

    engine: Engine
    table: exp.Table
    population: exp.Table
    names: tuple[str, ...]
    entity: str | None
    population_entity: str | None

    @classmethod
    def of(
        cls,
        engine: Engine,
        tables: tuple[exp.Table, exp.Table],
        policy: Policy,
        population_entity: str | None,
    ) -> _Search:
        """Holds a population against a table.

        Args:
            engine: Where both live.
            tables: The table and the population.
            policy: For the table as it stands.
            population_entity: The column that says whose record it is, if the population has it.

        Raises:
            SourceError: It lacks a quasi-identifier, or has it as another type.
        """
        names = tuple(policy.attributes)
        own, others = (column_types(engine, one) for one in tables)
        missing = [repr(name) for name in names if name not in others]
        if missing:
            raise SourceError(
                f"the population has no column {', '.join(missing)}; "
                "it needs every quasi-identifier"
            )
        unlike = [
            f"column {name!r} is {own[name].sql('duckdb')} in the table and "
            f"{others[name].sql('duckdb')} in the population"
            for name in names
            if _family(own[name]) != _family(others[name])
        ]
        if unlike:
            raise SourceError(
                f"{'; '.join(unlike)}; cast them alike, and generalize the population as the "
                "table is"
            )
        refuse_unsuited(engine, tables[1], {name: others[name] for name in names})
        by = population_entity if population_entity in others else None
        return cls(engine, *tables, names, policy.entity, by)

    def risk(self, threshold: float) -> PopulationRisk:
        """The risk against the population.

        Raises:
            SourceError: The population does not hold everybody of the table.
        """
        rows = self.engine.rows(
            risk.matches(
                self.table,
                self.population,
                self.names,
                entity=self.entity,
                population_entity=self.population_entity,
            )
        )
        found = tuple(PopulationMatch(*row[:5]) for row in rows)
        absent = [(match.released, match.records) for match in found if not match.size]
        larger = [row[5:] for row in rows if row[0]]
        faults = [
            f"{classes:,} of its {sum(m.released for m in found):,} classes ({records:,} of "
            f"{sum(m.records for m in found):,} {self.unit}) {what}"
            for what, (classes, records) in (
                ("have no match in it", _added(absent)),
                ("hold more than their match", _added(larger)),
            )
            if classes
        ]
        if faults:
            raise SourceError(
                f"the population does not hold everybody of the table: {'; '.join(faults)}; give "
                "the population that they were drawn from, generalized as the table is"
            )
        return PopulationRisk(found, threshold)

    @property
    def unit(self) -> str:
        """What is counted."""
        return "records" if self.entity is None else "persons"


def _added(pairs: Sequence[Sequence[int]]) -> tuple[int, int]:
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _family(kind: exp.DataType) -> exp.DataType | str:
    """Types of one family tell the same values apart, and compare without loss."""
    if kind.this in encode.WHOLE:
        return "whole number"
    return "text" if kind.this in exp.DataType.TEXT_TYPES else kind


def _notes(
    search: _Search | None, persons: Persons | None, subsets: SubsetRisk | None
) -> list[str]:
    """What the figures do not say."""
    notes = []
    if search is None:
        notes.append(
            "nothing is estimated: without a population (--population) journalist risk is not "
            "known; it is at most prosecutor risk"
        )
    elif persons is not None and search.population_entity is None:
        notes.append(
            f"the population has no column {persons.entity!r}: each of its rows counts as a person"
        )
    if persons is not None:
        notes.append(
            "a person's risk is that of the smallest class with a record of theirs; a class counts "
            "a person once"
        )
    if subsets is not None and subsets.left_out:
        limit = "1 column" if subsets.largest == 1 else f"{subsets.largest} columns"
        notes.append(
            f"sets of more than {limit} were left out ({subsets.left_out:,}); --max-columns looks "
            "further"
        )
    return notes
