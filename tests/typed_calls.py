"""Calls whose types mypy holds against what editors are to show; nothing here is run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import sqlanon

if TYPE_CHECKING:
    import duckdb
    import polars


def of_frames(frame: polars.DataFrame, lazy: polars.LazyFrame, policy: dict[str, object]) -> None:
    """A frame gives a frame of its kind."""
    assert_type(sqlanon.anonymize(frame, policy), "polars.DataFrame")
    assert_type(sqlanon.anonymize(lazy, "policy.toml", loss="lm"), "polars.LazyFrame")
    found = sqlanon.anonymize(frame, policy, with_report=True)
    assert_type(found.frame, "polars.DataFrame")
    assert_type(found.report, sqlanon.Report)
    assert_type(sqlanon.anonymize(frame, policy, output="made.parquet"), sqlanon.Report)
    assert_type(sqlanon.apply(frame, sqlanon.plan(frame, policy)), "polars.DataFrame")
    assert_type(sqlanon.measure(frame, lazy, policy), sqlanon.MeasureReport)


def of_connections(
    connection: duckdb.DuckDBPyConnection,
    relation: duckdb.DuckDBPyRelation,
    policy: sqlanon.Policy,
) -> None:
    """A table gives a report, and a relation a relation."""
    assert_type(sqlanon.anonymize(connection, policy, table="people", into="made"), sqlanon.Report)
    assert_type(
        sqlanon.anonymize(connection, Path("policy.toml"), table=relation),
        "duckdb.DuckDBPyRelation",
    )
    assert_type(sqlanon.check(connection, policy, table="people"), sqlanon.CheckReport)
    assert_type(sqlanon.check("people.csv", policy), sqlanon.CheckReport)
    sqlanon.check(policy, relation)  # type: ignore[arg-type]
