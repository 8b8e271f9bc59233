"""Tables that only the leaving of single records makes feasible, by every method with clusters."""

from __future__ import annotations

import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier, TCloseness
from sqlanon.errors import UnsatisfiableError

WAYS = [
    {"method": "direct-cover"},
    {"method": "set-cover", "refine": False},
    {"method": "forest", "time_limit": 60.0},
    {"method": "partial-domain", "refine": False},
    {"method": "mondrian", "partitioning": "relaxed"},
]
TWO = LDiversity(2, "entropy")


def published(records, quasi, *models, limit, way, suppressed="drop"):
    """What is published of records of a place and a sensitive value, and its report."""
    policy = Policy(
        {"place": quasi}, ["ill"], models=[KAnonymity(2), *models], suppression_limit=limit,
        suppressed=suppressed,
    )  # fmt: skip
    with empty_database() as connection:
        connection.execute("CREATE TABLE people (place TEXT, ill TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", records)
        report = sqlanon.anonymize(connection, policy, table="people", into="released", **way)
        return report, connection.execute("FROM released ORDER BY ALL").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_record_too_many_of_one_value_is_left_out(way):
    records = [("x", ill) for ill in "aaabb"]
    report, rows = published(records, Hierarchy.suppression(), TWO, limit=0.2, way=way)
    assert rows == [("x", ill) for ill in "aabb"]
    assert report.holds
    assert report.suppressed_records == 1


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_what_leaves_may_shift_what_others_are_compared_with(way):
    """Highest levels keep x and y apart; of each one value is too frequent."""
    records = [("x", ill) for ill in "aaaaabb"] + [("y", ill) for ill in "bbbbbaa"]
    quasi = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
    report, rows = published(records, quasi, TCloseness(0.18), limit=0.3, way=way)
    assert report.holds
    assert len(rows) == 14 - report.suppressed_records >= 10
    assert {place for place, _ in rows} == {"x", "y"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("limit", [0, 0.2])
def test_what_no_method_finds_is_an_error_before_anything_is_published(way, limit):
    records = [("x", ill) for ill in "aaaabb"]
    with pytest.raises(UnsatisfiableError, match=r"be left out within|whose leaving out helps"):
        published(records, Hierarchy.suppression(), TWO, limit=limit, way=way)


def test_strict_parts_say_that_they_leave_out_classes_only():
    records = [("x", ill) for ill in "aaabb"]
    with pytest.raises(
        UnsatisfiableError, match=r"cuts found no .* \(--method mondrian --partitioning relaxed"
    ):
        published(records, Hierarchy.suppression(), TWO, limit=0.2, way={"method": "mondrian"})
