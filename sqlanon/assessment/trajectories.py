"""Trajectories of a coded table: which persons have the same records."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.assessment.classes import Tabulated
from sqlanon.classes import ClassStatistics
from sqlanon.engine.base import Engine
from sqlanon.query.classes import table_classes
from sqlanon.query.classes.violations import ENTITY
from sqlanon.sqltext import Fragment


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
