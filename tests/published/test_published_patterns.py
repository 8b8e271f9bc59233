"""The heuristic's published figures on Adult.

Bredereck, Nichterlein, Niedermeier 2013, table 1, all thirteen k.
"""

import duckdb
import pytest
from public import read

import sqlanon
from sqlanon import KAnonymity, Policy

COLUMNS = (
    "age", "workclass", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
)  # fmt: skip
TABLE = [
    (2, 14589, 2.232, 16, 2.062),
    (3, 9208, 3.536, 18, 2.290),
    (4, 6670, 4.882, 25, 2.470),
    (5, 5199, 6.263, 31, 2.615),
    (6, 4315, 7.546, 42, 2.738),
    (7, 3669, 8.875, 53, 2.851),
    (8, 3193, 10.198, 53, 2.942),
    (9, 2832, 11.498, 52, 3.026),
    (10, 2559, 12.724, 56, 3.106),
    (25, 1046, 31.129, 161, 3.840),
    (50, 537, 60.635, 317, 4.462),
    (75, 354, 91.980, 317, 4.873),
    (100, 274, 118.836, 317, 5.151),
]


@pytest.fixture(scope="module")
def adult():
    connection = read("adult.csv.gz", COLUMNS)
    yield connection
    connection.close()


@pytest.mark.slow
@pytest.mark.every_row
@pytest.mark.parametrize(("k", "types", "average", "maximum", "useful"), TABLE)
def test_greedy_finds_the_published_row_types(adult, k, types, average, maximum, useful):
    # The source suppresses fewer than k records all the same; they are left out here.
    policy = Policy(COLUMNS, models=[KAnonymity(k)], suppression_limit=0.01)
    report = sqlanon.plan(
        adult, policy, table="people", method="pattern-greedy", patterns="all"
    ).report
    found = [report.loss[name] for name in ("row_types", "average_row_type", "maximum_row_type")]
    assert [round(figure, 3) for figure in found] == [types, average, maximum]
    assert round(report.search.usefulness_of_values, 3) == useful


def test_usefulness_of_values_is_about_what_records_held():
    connection = duckdb.connect()
    rows = "('a', 0, 1), ('a', 4, 1), ('b', 2, 1), ('b', 2, 1), ('c', 10, NULL)"
    connection.execute(f"CREATE TABLE people AS FROM (VALUES {rows}) t(town, age, same)")
    policy = Policy(["town", "age", "same"], models=[KAnonymity(2)], suppression_limit=0.2)
    wanted = {"method": "pattern-greedy", "patterns": [["town", "age", "same"], ["town", "same"]]}
    report = sqlanon.plan(connection, policy, table="people", **wanted).report
    # b: 1/3 + 0 + 0, a: 1/3 + 4/10 + 0, and c, left over: 1/3 + 0 + 0.
    assert report.search.usefulness_of_values == pytest.approx((1 + 0.4) / 3)
    assert (report.loss["row_types"], report.loss["average_row_type"]) == (3, 5 / 3)
