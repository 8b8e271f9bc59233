"""The published model: SQLMesh creates its table from the frame that it returns."""

import typing as t
from datetime import datetime

import pandas as pd
from sqlmesh import ExecutionContext, model

import sqlanon


@model(
    "demo.people_anonymous",
    kind="FULL",
    # Columns that are generalized become texts, and identifiers are gone.
    columns={"age": "text", "postcode": "text", "sex": "text", "diagnosis": "text"},
    audits=["people_are_five_anonymous"],
)
def execute(
    context: ExecutionContext,
    start: datetime,
    end: datetime,
    execution_time: datetime,
    **kwargs: t.Any,
) -> pd.DataFrame:
    """The rows of demo.people, anonymized by policy.toml, or an error and no table."""
    people = context.fetchdf(f"SELECT * FROM {context.resolve_table('demo.people')}")
    # The path starts where sqlmesh is run; a dict with the same keys may stand here as well.
    return sqlanon.anonymize(people, "policy.toml")
