"""Hostile names and bad input where sensitive attributes are protected; the CLI's are elsewhere."""

from itertools import pairwise

import pytest
from databases import empty_database, quoted, rows, tables_of

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, Sensitive, TCloseness
from sqlanon.errors import PolicyError

NAMES = [
    "required", "value", "size", "rank", "key_0", 'a"b', "select", "entity", "value_0", "word_0",
    "class_size", "number", "held", "small", "record", "gone", "counted", "sqlanon_details",
]  # fmt: skip
ILLS = Hierarchy.from_rows([("flu", "lungs", "*"), ("asthma", "lungs", "*"), ("ulcer", "?", "*")])

# Class a has all three ills, b only flu.
ROWS = [
    *[("a", ill, n) for n, ill in enumerate(["flu", "asthma", "ulcer"] * 6)],
    *[("b", "flu", n) for n in range(20, 22)],
]


def table_of(connection, place="people", group="grp", ill="ill"):
    columns = f"{quoted(group)} VARCHAR, {quoted(ill)} VARCHAR, n INTEGER"
    connection.execute(f"CREATE TABLE {place} ({columns})")
    connection.executemany(f"INSERT INTO {place} VALUES (?, ?, ?)", ROWS)


def policy_of(group="grp", ill="ill", models=None, **options):
    models = models or [LDiversity(3), TCloseness(0.3), TCloseness(0.3, "ordered")]
    return Policy(
        {group: Hierarchy.suppression()},
        sensitive={ill: Sensitive(models, ILLS)},
        **{"drop": ["n"], "models": [KAnonymity(2)], "suppression_limit": 0.1, **options},
    )


PUBLISHED = sorted((group, ill) for group, ill, _ in ROWS if group == "a")


@pytest.mark.slow
@pytest.mark.parametrize(("group", "ill"), [*pairwise([*NAMES, NAMES[0]])])
def test_columns_of_any_names_are_protected(connection, group, ill):
    table_of(connection, group=group, ill=ill)
    policy = policy_of(group=group, ill=ill)
    report = sqlanon.anonymize(connection, policy, table="people", into="out")
    assert rows(connection) == PUBLISHED
    assert report.suppressed_records == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_entity_of_any_name_is_counted(connection, name):
    columns = f"'a' AS g, i % 3 AS ill, i AS {quoted(name)}"
    connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM range(9) r(i)")
    policy = Policy(["g"], ["ill"], models=[KAnonymity(9), LDiversity(3)], entity=name)
    report = sqlanon.anonymize(connection, policy, table="people", into="out")
    assert report.suppressed_records == 0
    assert len(rows(connection)) == 9


def refused(connection, error, policy):
    """The message, which tells no value of the table; nothing is written."""
    with pytest.raises(error) as caught:
        sqlanon.anonymize(connection, policy, table="people", into="out")
    assert len(tables_of(connection)) == 1
    message = str(caught.value)
    assert "flu" not in message
    return message


@pytest.mark.parametrize("distance", ["ordered", "scaled", "scaled-literal"])
def test_distance_by_order_of_text_without_one_is_an_error_with_the_way_out(connection, distance):
    table_of(connection)
    policy = Policy(["grp"], ["ill"], drop=["n"], models=[TCloseness(0.2, distance)])
    message = refused(connection, PolicyError, policy)
    assert message.startswith(f"{distance} t-closeness needs an order of sensitive column 'ill'")
    assert "--hierarchy ill=FILE" in message


def enumeration_of(connection):
    connection.execute("CREATE TYPE mood AS ENUM ('low', 'mid', 'high')")
    connection.execute(
        """CREATE TABLE moods AS SELECT i // 6 AS g,
            CASE i % 3 WHEN 0 THEN 'low' WHEN 1 THEN 'mid' ELSE 'high' END::mood AS ill
        FROM range(12) AS r(i)"""
    )


def test_distance_by_order_of_an_enumeration_without_one_says_why_it_has_none(connection):
    enumeration_of(connection)
    policy = Policy(["g"], ["ill"], models=[TCloseness(0.2, "ordered")])
    with pytest.raises(PolicyError, match="'ill', which is an enumeration and published as text"):
        sqlanon.plan(connection, policy, table="moods")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".duckdb"])
def test_enumeration_with_an_order_is_protected_by_it(connection, tmp_path, ending):
    enumeration_of(connection)
    ordered = Sensitive([TCloseness(0.2, "ordered")], order=["low", "mid", "high"])
    policy = Policy(["g"], {"ill": ordered}, models=[KAnonymity(2)])
    path = tmp_path / f"out{ending}"
    report = sqlanon.anonymize(connection, policy, table="moods", output=path)
    assert sqlanon.check(path, policy).models == report.models


def test_intervals_of_time_have_an_order(connection):
    connection.execute(
        "CREATE TABLE stays AS SELECT i // 6 AS g, to_days((10 * i)::INTEGER) AS stay "
        "FROM range(12) AS r(i)"
    )
    policy = Policy(["g"], ["stay"], models=[TCloseness(0.2, "ordered")])
    # The halves are 0 to 5 and 6 to 11 of 0 to 11: (1/11) (1 + ... + 6 + ... + 1) / 12 apart.
    found = sqlanon.check(connection, policy, table="stays").models[0].value
    assert found == pytest.approx(36 / 12 / 11)


def test_hierarchical_distance_without_a_hierarchy_is_an_error_with_the_way_out(connection):
    table_of(connection)
    policy = Policy(["grp"], ["ill"], drop=["n"], models=[TCloseness(0.2, "hierarchical")])
    assert "--hierarchy ill=FILE" in refused(connection, PolicyError, policy)


@pytest.mark.parametrize(
    "model", [LDiversity(4), LDiversity(3.5, "entropy"), LDiversity(3, "recursive", 1)], ids=repr
)
def test_no_recoding_that_satisfies_a_model_is_an_error_that_names_it(connection, model):
    table_of(connection)
    message = refused(connection, sqlanon.UnsatisfiableError, policy_of(models=[model]))
    assert f"{model.describe()} of 'ill'" in message


@pytest.mark.slow
def test_c_may_be_a_fraction_that_no_decimal_writes():
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 7 AS age, i % 3 AS disease FROM range(20000) t(i)"
        )
        policy = Policy(
            {"age": Hierarchy.suppression()},
            sensitive=["disease"],
            models=[KAnonymity(2), LDiversity(2, kind="recursive", c=4 / 3)],
        )
        assert sqlanon.anonymize(connection, policy, table="people", into="released").holds
