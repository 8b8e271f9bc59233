"""Known ways to fail that are nobody's subject elsewhere, and that each is told with its test."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import duckdb
import pytest
from databases import empty_database, insert

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier
from sqlanon.errors import PolicyError, UnsatisfiableError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent.parent
LEFT = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
KEPT_LEVEL = {"method": "incognito", "into": "out"}


def table(rows, *columns):
    """A table `people` of texts."""
    connection = empty_database()
    connection.execute(f"CREATE TABLE people ({', '.join(f'{name} VARCHAR' for name in columns)})")
    insert(connection, "people", rows)
    return connection


PAIR = [("x", "flu", "paid"), ("x", "flu", "paid"), ("x", "cold", "owes"), ("x", "cold", "owes")]


def test_each_of_two_columns_may_be_diverse_where_one_tells_the_other():
    each = Policy(["home"], sensitive=["ill", "bill"], models=[KAnonymity(2), LDiversity(2)])
    with table(PAIR, "home", "ill", "bill") as connection:
        assert sqlanon.check(connection, each, table="people").holds
        known = Policy(["home", "bill"], sensitive=["ill"], models=each.models)
        told = sqlanon.check(connection, known, table="people")
    assert [result.value for result in told.models] == [2, 1]


# In house b all have the flu, in house c all are clerks.
JOBS = [
    *[("a", "flu", "clerk"), ("a", "cold", "cook"), ("a", "flu", "cook"), ("a", "gout", "clerk")],
    *[("b", "flu", "clerk"), ("b", "flu", "cook"), ("c", "flu", "clerk"), ("c", "cold", "clerk")],
]


@pytest.mark.parametrize(
    ("columns", "limit", "left"),
    [
        (["ill"], 0.25, 6),
        (["job"], 0.25, 6),
        (["ill", "job"], 0.25, None),
        (["ill", "job"], 0.5, 4),
    ],
)
def test_the_limit_is_spent_once_for_all_sensitive_columns(columns, limit, left):
    policy = Policy(
        {"home": LEFT},
        sensitive=columns,
        drop=[name for name in ("ill", "job") if name not in columns],
        models=[KAnonymity(2), LDiversity(2)],
        suppression_limit=limit,
    )
    with table(JOBS, "home", "ill", "job") as connection:
        if left is None:
            with pytest.raises(UnsatisfiableError):
                sqlanon.anonymize(connection, policy, table="people", **KEPT_LEVEL)
            return
        sqlanon.anonymize(connection, policy, table="people", **KEPT_LEVEL)
        assert len(connection.execute("FROM out").fetchall()) == left


ILLS = ("flu", "flu", "cold", "gout", "asthma")


@pytest.mark.parametrize(("lowest", "worlds"), [(0, 1), (1, 7)])
def test_who_knows_the_method_tells_what_made_it_generalize_unless_a_level_is_chosen(
    lowest, worlds
):
    """Every table that fits the release of docs/explanation/security.md, and its level."""
    policy = Policy(
        {"house": QuasiIdentifier(Hierarchy.suppression(), min_level=lowest)},
        sensitive=["ill"],
        models=[KAnonymity(2), LDiversity(2)],
    )
    levels = {}
    for pair in sorted(set(combinations(ILLS, 2))):
        rest = (Counter(ILLS) - Counter(pair)).elements()
        rows = [("A", ill) for ill in pair] + [("B", ill) for ill in rest]
        with table(rows, "house", "ill") as connection:
            plan = sqlanon.plan(connection, policy, table="people", method="incognito")
            levels[pair] = plan.report.levels["house"]
    fitting = [pair for pair, level in levels.items() if level == 1]
    assert len(levels) == 7
    assert len(fitting) == worlds
    assert ("flu", "flu") in fitting


def test_one_record_among_many_decides_a_verdict():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT IF(range = 123456, -1, range % 99) AS age FROM "
            "range(300000)"
        )
        report = sqlanon.check(connection, Policy(["age"], models=[KAnonymity(2)]), table="people")
    assert not report.holds
    assert report.statistics.smallest == 1


def test_which_classes_were_suppressed_is_told_by_no_report():
    varying = {"created", "seconds", "hashes"}
    told = []
    for rare in ("y", "z"):
        policy = Policy({"home": LEFT}, models=[KAnonymity(2)], suppression_limit=0.5)
        with table([("x",)] * 3 + [(rare,)], "home") as connection:
            report = sqlanon.anonymize(connection, policy, table="people", **KEPT_LEVEL).to_dict()
        told.append({key: value for key, value in report.items() if key not in varying})
    assert told[0]["suppressed_records"] == 1
    assert told[0] == told[1]


def test_statistics_of_a_replaced_table_hold_nothing_of_suppressed_records(tmp_path):
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT IF(range = 7, 'rare', 'home') AS home,"
                           " IF(range = 7, 987654, range % 3) AS pay FROM range(50)")  # fmt: skip
        stored = "SELECT stats FROM pragma_storage_info('people')"
        assert "987654" in str(connection.execute(stored).fetchall())
    policy = Policy({"home": LEFT}, keep=["pay"], models=[KAnonymity(2)], suppression_limit=0.1)
    sqlanon.anonymize(path, policy, table="people", in_place=True, method="incognito")
    with duckdb.connect(str(path)) as connection:
        assert len(connection.execute("FROM people").fetchall()) == 49
        assert "987654" not in str(connection.execute(stored).fetchall())


@pytest.mark.parametrize("other", [{"sensitive": ["age"]}, {"keep": ["age"]}])
def test_a_column_has_one_role(other):
    with pytest.raises(PolicyError, match="'age'"):
        Policy(["age"], models=[KAnonymity(2)], **other)
