"""Public data: where it is, and what several tests read of it."""

import os
from pathlib import Path

import duckdb
import pytest

from sqlanon import Hierarchy, KAnonymity, Policy

DATA = Path(os.environ.get("SQLANON_DATA", Path(__file__).parents[2] / "shared" / "data"))

ADULT = (
    "sex",
    "age",
    "race",
    "marital_status",
    "education",
    "native_country",
    "workclass",
    "occupation",
    "income",
)
COMPLETE = " AND ".join(f"{c} <> '?'" for c in ("workclass", "occupation", "native_country"))


def policy_of(folder, columns, k, limit, *models, sensitive=()):
    hierarchies = {name: Hierarchy.from_file(DATA / folder / f"{name}.csv") for name in columns}
    models = [KAnonymity(k), *models]
    return Policy(hierarchies, sensitive, models=models, suppression_limit=limit)


def read(name, columns, condition="TRUE"):
    """The table `people` of a public file; skips where the file is not there."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"public data not found: {path}; name its folder with SQLANON_DATA")
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE people AS SELECT {', '.join(columns)} FROM read_csv(?) WHERE {condition}",
        [str(path)],
    )
    return connection
