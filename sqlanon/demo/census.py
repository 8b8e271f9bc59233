"""A made-up table of people at any size, with the hierarchies and the policy that go with it.

The demo, the tests and the benchmarks use it. Every value is a function of the record's number,
the seed and the attribute, so that a seed gives the same table for any number of threads.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TypeAlias

from sqlglot import exp

from sqlanon.engine.files import write_file
from sqlanon.errors import PolicyError
from sqlanon.sqltext import Sql, expression, name, render

Row: TypeAlias = tuple[str | None, ...]
"""A leaf (None: NULL), then its label at each level up to the top."""

Branch: TypeAlias = "Mapping[str, Branch] | Sequence[str | None]"
"""The part of a hierarchy below a node: labels of the next level, or leaves."""

MOST_RECORDS = 10**9
"""The largest table; beyond it identifiers of people would leave eleven digits."""

QUASI_IDENTIFIERS = (
    "age",
    "sex",
    "postcode",
    "marital_status",
    "education",
    "occupation",
    "citizenship",
    "household_size",
)

POLICY = """\
# Who could be found again in the census, and what the published table promises.
k = 5                                   # each person looks like four others at least
suppression_limit = 0.02                # at most 2 % of the records may be left out
loss = "lm"
identifiers = ["person_id", "name", "birth_date"]
others = "drop"                         # region and registered would narrow the postcode and age

[quasi_identifiers]
age = { intervals = [5, 10, 20] }
sex = {}
postcode = { prefix = [3, 2, 1] }
marital_status = { file = "marital_status.csv" }
education = { file = "education.csv" }
occupation = { file = "occupation.csv" }
citizenship = { file = "citizenship.csv" }
household_size = { intervals = [2, 4] }

[sensitive]
diagnosis = {}
income = {}
"""
"""The text of policy.toml."""

_MARITAL_STATUS: Branch = {
    "never in a union": ("single",),
    "in a union": ("married", "partnership"),
    "formerly in a union": ("separated", "divorced", "widowed"),
}
_EDUCATION: Branch = {
    "school": {
        "up to primary": ("none", "primary"),
        "secondary": ("lower secondary", "upper secondary"),
    },
    "beyond school": {
        "training": ("vocational", "short tertiary"),
        "university": ("bachelor", "master", "doctorate"),
    },
}
_OCCUPATION: Branch = {
    "not working": {
        "in education": ("child", "pupil", "student", "apprentice"),
        "out of work": ("homemaker", "unemployed", "retired"),
    },
    "working": {
        "office": ("office clerk", "bank clerk", "accountant", "manager"),
        "trade and transport": ("sales assistant", "driver", "warehouse worker"),
        "services": ("cleaner", "kitchen helper", "cook", "hairdresser", "police officer"),
        "health and care": ("care assistant", "nurse", "physician", "pharmacist"),
        "education and social work": ("childcare worker", "teacher", "social worker"),
        "crafts and industry": ("builder", "electrician", "mechanic", "machine operator"),
        "farming": ("farm worker", "farmer"),
        "technology": ("technician", "engineer", "software developer"),
        "law, science and media": ("scientist", "lawyer", "judge", "journalist"),
    },
    "unknown": {"not stated": (None,)},
}
_CITIZENSHIP: Branch = {
    "Europe": {
        "Western Europe": ("Germany", "Austria", "France", "Netherlands"),
        "Northern Europe": ("Sweden",),
        "Southern Europe": ("Italy", "Greece", "Spain", "Portugal", "Croatia", "Serbia"),
        "Eastern Europe": ("Poland", "Romania", "Bulgaria", "Hungary", "Ukraine", "Russia"),
    },
    "Asia": {
        "Western Asia": ("Turkey", "Syria", "Iraq", "Iran"),
        "Southern Asia": ("Afghanistan", "India", "Pakistan"),
        "Eastern Asia": ("China", "Japan", "Vietnam"),
    },
    "Africa": {
        "Northern Africa": ("Egypt", "Morocco"),
        "Southern Africa": ("Ghana", "Kenya", "Nigeria"),
    },
    "America": {
        "North America": ("Canada", "Mexico", "United States"),
        "South America": ("Brazil", "Chile", "Colombia"),
    },
    "Oceania": {"Australasia": ("Australia", "New Zealand")},
}


def _rows(branch: Branch, labels: Row = ("*",)) -> Iterator[Row]:
    """The leaves below a node, each with the labels from its own parent up to the top."""
    if isinstance(branch, Mapping):
        for label, below in branch.items():
            yield from _rows(below, (label, *labels))
    else:
        for leaf in branch:
            yield (leaf, *labels)


HIERARCHIES: dict[str, tuple[Row, ...]] = {
    "marital_status": tuple(_rows(_MARITAL_STATUS)),
    "education": tuple(_rows(_EDUCATION)),
    "occupation": tuple(_rows(_OCCUPATION)),
    "citizenship": tuple(_rows(_CITIZENSHIP)),
}
"""The rows of each hierarchy that is a file, by column."""
FILES = ("policy.toml", *(f"{column}.csv" for column in HIERARCHIES))
"""The files beside the database."""
MIN_HIDDEN = 5
"""Fewest people that the policy can hide among each other: its k."""


def statements(table: exp.Table, records: int, *, seed: int = 0) -> list[Sql]:
    """The statements that create the table in DuckDB, to be run in order on one connection.

    They leave nothing else behind. The table must not exist. Another seed gives other people.

    Raises:
        PolicyError: The number of records is out of range.
    """
    if not 0 <= records <= MOST_RECORDS:
        raise PolicyError(f"a census has 0 to {MOST_RECORDS} records, not {records}")
    # The engine scans a table with all its threads, but RANGE with one.
    numbers = name("sqlanon_census_records")
    return [
        expression(
            "CREATE OR REPLACE TEMPORARY TABLE {{ numbers }} AS "
            "SELECT CAST(range AS INTEGER) AS record FROM RANGE({{ records }})",
            numbers=numbers,
            records=records,
        ),
        expression(
            "CREATE TABLE {{ table }} AS {{ people }}",
            table=table,
            people=render("demo/census", records=numbers, seed=seed),
        ),
        expression("DROP TABLE {{ numbers }}", numbers=numbers),
    ]


def write(folder: Path) -> list[Path]:
    """Writes policy.toml and the hierarchy files it names over those there; returns their paths."""
    texts = dict(zip(FILES, [POLICY, *map(_csv, HIERARCHIES.values())], strict=True))
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file, text in texts.items():
        path = folder / file
        write_file(path, text)
        paths.append(path)
    return paths


def _csv(rows: Sequence[Row]) -> str:
    text = StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()
