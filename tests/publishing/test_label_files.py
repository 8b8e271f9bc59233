"""Labels: what the file says of a label is what the hierarchies make of values."""

from __future__ import annotations

import csv
import datetime
import json

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier
from sqlanon.publishing.labels import _days

JOBS = Hierarchy.from_rows(
    [("nurse", "health", "*"), ("cook", "kitchen", "*"), ("baker", "kitchen", "*")],
    others=["other jobs", "*"],
)
ROWS = [
    (age, f"{10000 + 37 * age}", job, datetime.date(2019, 1, 1) + datetime.timedelta(days=40 * age))
    for age in range(20, 40)
    for job in ("nurse", "cook", "baker", "diver")
]


def written(folder, policy, name="labels.csv", **more):
    """The published rows and the file of labels of a release."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (age INTEGER, zip VARCHAR, job VARCHAR, born DATE)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
        sqlanon.anonymize(connection, policy, table="t", into="r", labels=folder / name, **more)
        rows = connection.sql("SELECT age::VARCHAR, zip, job, born::VARCHAR FROM r").fetchall()
    if name.endswith(".json"):
        return rows, json.loads((folder / name).read_text("utf-8"))["labels"]
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return rows, list(csv.DictReader(file))


def at(level, hierarchy):
    return QuasiIdentifier(hierarchy, min_level=level, max_level=level)


def of_levels(age, zip_, job, born):
    return Policy(
        {
            "age": at(age, Hierarchy.intervals(5, 10)),
            "zip": at(zip_, Hierarchy.prefix(4, 3)),
            "job": at(job, JOBS),
            "born": at(born, Hierarchy.dates("month", "quarter", "year", "decade")),
        },
        models=[KAnonymity(1)],
    )


def stands_for(row, value):
    """Whether a row of the file says that its label stands for a value, as it is documented."""
    kind = row["kind"]
    if kind == "range":
        typed = float if "-" not in value else str
        low = row["low"] and (
            typed(value) > typed(row["low"])
            or (row["closed"] in ("left", "both") and typed(value) == typed(row["low"]))
        )
        high = row["high"] and (
            typed(value) < typed(row["high"])
            or (row["closed"] in ("right", "both") and typed(value) == typed(row["high"]))
        )
        return (low or not row["low"]) and (high or not row["high"])
    return {
        "value": value == row["value"],
        "prefix": value.startswith(row["value"] or ""),
        "other": value not in ("nurse", "cook", "baker"),
        "any": True,
    }.get(kind, False)


@pytest.mark.slow
@pytest.mark.parametrize("levels", [(1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 1, 3), (0, 1, 0, 4)])
def test_every_published_label_stands_for_the_values_of_as_many_records(tmp_path, levels):
    rows, labels = written(tmp_path, of_levels(*levels))
    for place, name in enumerate(("age", "zip", "job", "born")):
        values = [str(row[place]) for row in ROWS]
        for label in {row[place] for row in rows}:
            meant = [row for row in labels if row["column"] == name and row["label"] == label]
            held = [v for v in values if any(stands_for(row, v) for row in meant) or v == label]
            assert len(held) == sum(row[place] == label for row in rows), (name, label)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mondrian", "scheme"])
def test_labels_of_recodings_value_by_value_hold_the_values(tmp_path, method):
    policy = Policy(
        {"age": Hierarchy.intervals(5, 10), "job": JOBS}, models=[KAnonymity(7)], others="drop"
    )
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (age INTEGER, zip VARCHAR, job VARCHAR, born DATE)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
        sqlanon.anonymize(
            connection, policy, table="t", into="r", method=method, labels=tmp_path / "l.csv"
        )
        published = connection.sql("SELECT DISTINCT age::VARCHAR FROM r").fetchall()
    with (tmp_path / "l.csv").open(encoding="utf-8", newline="") as file:
        labels = [row for row in csv.DictReader(file) if row["column"] == "age"]
    ages = [str(age) for age in range(20, 40)]
    for (label,) in published:
        meant = [row for row in labels if row["label"] == label]
        assert any(stands_for(row, age) or age == label for age in ages for row in meant or [
            {"kind": "value", "value": label}
        ])  # fmt: skip


@pytest.mark.slow
def test_listed_labels_are_those_of_the_hierarchy_not_of_the_table(tmp_path):
    policy = of_levels(3, 3, 1, 5)
    _, labels = written(tmp_path, policy, "labels.json")
    jobs = [(row["label"], row["kind"], row["value"]) for row in labels if row["column"] == "job"]
    assert jobs == [
        ("health", "value", "nurse"),
        ("kitchen", "value", "cook"),
        ("kitchen", "value", "baker"),
        ("other jobs", "other", None),
    ]
    assert [row["kind"] for row in labels if row["column"] == "age"] == ["any"]


def test_no_value_of_the_table_is_listed_that_is_not_published(tmp_path):
    policy = Policy(
        dict.fromkeys(["zip", "job"], Hierarchy.suppression()), others="drop",
        models=[KAnonymity(20)],
    )  # fmt: skip
    rows, _ = written_text(tmp_path, policy)
    assert "diver" not in rows
    assert not any(row[1] in rows for row in ROWS)


def written_text(folder, policy):
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (age INTEGER, zip VARCHAR, job VARCHAR, born DATE)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
        connection.execute("UPDATE t SET job = zip")
        sqlanon.anonymize(connection, policy, table="t", into="r", labels=folder / "l.csv")
    return (folder / "l.csv").read_text("utf-8"), None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("label", "low", "high"),
    [
        ("2020", "2020-01-01", "2021-01-01"),
        ("2010-2019", "2010-01-01", "2020-01-01"),
        ("2020-Q4", "2020-10-01", "2021-01-01"),
        ("2020-12", "2020-12-01", "2021-01-01"),
        ("2020-02-29", "2020-02-29", "2020-03-01"),
        ("2020-W53", "2020-12-28", "2021-01-04"),
    ],
)
def test_calendar_units_are_ranges_of_days(label, low, high):
    found = _days(label)
    assert (found.low, found.high, found.closed) == (low, high, "left")


@pytest.mark.slow
@pytest.mark.parametrize("label", ["9999", "-44", "12020-01", "not finite", "2020-02-30", "x"])
def test_what_no_calendar_has_the_end_of_stands_for_itself(label):
    assert _days(label) is None
