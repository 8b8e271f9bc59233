"""Population: a table's records among everybody that they were drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sqlanon.arguments import is_file
from sqlanon.engine.base import Engine
from sqlanon.engine.open import TextReading, is_database, second_table
from sqlanon.errors import SourceError
from sqlanon.microdata.binding import column_types, refuse_unsuited
from sqlanon.policy.policy import Policy
from sqlanon.query.assess import risk
from sqlanon.query.encoding import encode
from sqlanon.reports.risk import PopulationMatch, PopulationRisk


@dataclass(frozen=True, slots=True)
class Population:
    """Everybody that records were drawn from, and the column that says whose a row is, if any."""

    table: exp.Table
    entity: str | None


def opened_population(
    engine: Engine, population: object, *, how: TextReading | None = None
) -> AbstractContextManager[exp.Table | None]:
    """A population as a table beside the one that it is compared with, for as long as it lasts.

    It is a table of the same source or a frame, or a path to a file of data; a name that is both
    is the table's.

    Raises:
        SourceError: There is neither, or the file is a database.
    """
    if population is None:
        return nullcontext()
    path = Path(population) if isinstance(population, str | Path) else None
    if path is not None and is_file(path) and is_database(path):
        raise SourceError(
            f"the population {path.name!r} is a database; name a table of the database that holds "
            "the released one, or give a CSV or Parquet file"
        )
    return second_table(engine, population, how=how)


def comparable(
    engine: Engine, table: exp.Table, *, population: exp.Table, names: Sequence[str]
) -> dict[str, exp.DataType]:
    """The columns of a population and their types, the quasi-identifiers as the table has them.

    Raises:
        SourceError: It lacks a quasi-identifier, or has it as another type.
    """
    own, others = column_types(engine, table), column_types(engine, population)
    missing = [repr(name) for name in names if name not in others]
    if missing:
        raise SourceError(
            f"the population has no column {', '.join(missing)}; it needs every quasi-identifier"
        )
    unlike = [
        f"column {name!r} is {own[name].sql('duckdb')} in the table and "
        f"{others[name].sql('duckdb')} in the population"
        for name in names
        if _family(own[name]) != _family(others[name])
    ]
    if unlike:
        raise SourceError(
            f"{'; '.join(unlike)}; cast them alike, and generalize the population as the table is"
        )
    refuse_unsuited(engine, population, columns={name: others[name] for name in names})
    return others


def matched_risk(
    engine: Engine,
    table: exp.Table,
    *,
    policy: Policy,
    threshold: float,
    searched: Population,
) -> PopulationRisk:
    """The risk against a population.

    Raises:
        SourceError: The population does not hold everybody of the table.
    """
    matches = risk.matches(
        table,
        searched.table,
        quasi_identifiers=list(policy.attributes),
        entity=policy.entity,
        population_entity=searched.entity,
    )
    unit = "records" if policy.entity is None else "persons"
    return _population_risk(engine.rows(matches), threshold, unit=unit)


def _population_risk(
    rows: Sequence[Sequence[int]], threshold: float, *, unit: str
) -> PopulationRisk:
    """The risk against a population.

    Args:
        rows: Rows of `risk.matches`.
        threshold: Risk above which a record counts as at risk.
        unit: What is counted: records, or persons.

    Raises:
        SourceError: The population does not hold everybody of the table.
    """
    found = tuple(PopulationMatch(*row[:5]) for row in rows)
    absent = [(match.released, match.records) for match in found if not match.size]
    larger = [row[5:] for row in rows if row[0]]
    faults = [
        f"{classes:,} of its {sum(m.released for m in found):,} classes ({records:,} of "
        f"{sum(m.records for m in found):,} {unit}) {one if classes == 1 else more}"
        for one, more, (classes, records) in (
            ("has no match in it", "have no match in it", _added(absent)),
            ("holds more than its match", "hold more than their match", _added(larger)),
        )
        if classes
    ]
    if faults:
        raise SourceError(
            f"the population does not hold everybody of the table: {'; '.join(faults)}; give "
            "the population that they were drawn from, generalized as the table is"
        )
    return PopulationRisk(found, threshold)


def _added(pairs: Sequence[Sequence[int]]) -> tuple[int, int]:
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _family(kind: exp.DataType) -> exp.DataType | str:
    """Types of one family tell the same values apart, and compare without loss."""
    if kind.this in encode.WHOLE:
        return "whole number"
    return "text" if kind.this in exp.DataType.TEXT_TYPES else kind
