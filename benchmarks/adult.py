"""Adult's complete records and their hierarchies, for several benchmarks."""

import csv
import os
from pathlib import Path

from sqlanon import Hierarchy

DATA = Path(os.environ.get("SQLANON_DATA", Path(__file__).parent.parent.parent / "shared/data"))
NINE = (
    "sex", "age", "race", "marital_status", "education", "native_country", "workclass",
    "occupation", "income",
)  # fmt: skip
FOURTEEN = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country",
)  # fmt: skip


def complete(connection, names, copies=1, *, most=None):
    """Creates the table of Adult's 30,162 complete records or the first, so many times over."""
    known = " AND ".join(f"{n} <> '?'" for n in ("workclass", "occupation", "native_country"))
    first = "" if most is None else f"LIMIT {most * copies}"
    connection.execute(
        f"CREATE OR REPLACE TABLE people AS SELECT {', '.join(names)} "
        f"FROM read_csv(?, all_varchar = true), range({copies}) WHERE {known} {first}",
        [str(DATA / "adult.csv.gz")],
    )


def full(name):
    """A column's own hierarchy."""
    return Hierarchy.from_file(DATA / "adult_hierarchies" / f"{name}.csv")


def coarse(name):
    """Its value, the coarsest level below the top, and the top; suppression without a file."""
    path = DATA / "adult_hierarchies" / f"{name}.csv"
    if not path.exists():
        return Hierarchy.suppression()
    rows = list(csv.reader(path.open(encoding="utf-8"), delimiter=";"))
    return Hierarchy.from_rows([(row[0], row[-2], row[-1]) for row in rows])
