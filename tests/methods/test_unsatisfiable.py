"""What a policy that no recoding satisfies is told: what keeps it, and only ways out that help."""

from __future__ import annotations

import pytest
from databases import empty_database, insert

import sqlanon
from sqlanon import (
    Hierarchy,
    KAnonymity,
    LDiversity,
    Policy,
    QuasiIdentifier,
    Sensitive,
    TCloseness,
    UnsatisfiableError,
)

pytestmark = pytest.mark.slow

# Three groups of four: one of four ills, one of two, one of one alone; every person has two rows.
PEOPLE = """
    CREATE TABLE people AS
    SELECT 'abc'[1 + i // 4] AS grp, i // 2 AS person,
           CASE WHEN i < 4 THEN i WHEN i < 8 THEN i % 2 ELSE 0 END AS ill
    FROM range(12) AS r(i)
"""
BOUNDED = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
FREE = QuasiIdentifier(Hierarchy.suppression())
WIDEN, ALLOW, DROP = "raise max_level", "raise suppression_limit", "use suppressed='drop'"


@pytest.fixture
def connection():
    with empty_database() as opened:
        opened.execute(PEOPLE)
        yield opened


def message_of(connection, attribute, *models, **options):
    policy = Policy({"grp": attribute}, ["ill"], models=models, others="drop", **options)
    with pytest.raises(UnsatisfiableError) as caught:
        sqlanon.plan(connection, policy, table="people")
    return str(caught.value)


def ways_in(message):
    return [way for way in (WIDEN, ALLOW, DROP) if way in message]


def test_more_values_than_a_column_has_is_no_matter_of_levels_or_suppression(connection):
    message = message_of(connection, BOUNDED, KAnonymity(2), LDiversity(5))
    assert "needs more values than the 4 that 'ill' has" in message
    assert ways_in(message) == []


LOCAL = [
    {"method": "set-cover"},
    {"method": "direct-cover"},
    {"method": "direct-cover", "suppress_uncovered": True, "refine": False},
    {"method": "pattern-greedy", "patterns": "all"},
]


@pytest.mark.parametrize("options", LOCAL)
@pytest.mark.parametrize(
    ("model", "fault"),
    [
        (LDiversity(5), "distinct 5-diversity needs more values than the 4 that 'ill' has"),
        (LDiversity(4, "entropy"), "'ill' fails entropy 4-diversity even in all records as one"),
    ],
)
def test_recodings_of_single_records_name_the_model_and_the_column(
    connection, options, model, fault
):
    policy = Policy({"grp": FREE}, ["ill"], models=[KAnonymity(2), model], others="drop")
    with pytest.raises(UnsatisfiableError) as caught:
        sqlanon.plan(connection, policy, table="people", **options)
    hopeless = "more values" in fault
    start = (
        "no recoding of any table with these values" if hopeless else "no recoding that publishes"
    )
    assert str(caught.value).startswith(start)
    assert fault in str(caught.value)


def test_null_counts_among_the_values_unless_it_is_none(connection):
    connection.execute("UPDATE people SET ill = NULL WHERE ill = 3")
    assert "the 4 that 'ill' has" in message_of(connection, FREE, LDiversity(5))
    policy = Policy({"grp": FREE}, {"ill": Sensitive([LDiversity(4)], nulls="none")}, others="drop")
    with pytest.raises(UnsatisfiableError, match="the 3 that 'ill' has"):
        sqlanon.plan(connection, policy, table="people")


def test_more_than_all_persons_is_no_matter_of_levels_or_suppression(connection):
    message = message_of(connection, BOUNDED, KAnonymity(7), entity="person")
    assert "k is 7 and the table has 6 persons" in message
    assert ways_in(message) == []


def test_levels_that_are_bounded_are_named(connection):
    message = message_of(connection, BOUNDED, KAnonymity(5))
    assert f"{WIDEN} (--max-level) of 'grp'" in message
    assert ways_in(message) == [WIDEN]


def test_levels_that_are_free_are_not_to_blame(connection):
    message = message_of(connection, FREE, LDiversity(3, "entropy"))
    assert ways_in(message) == [ALLOW]
    assert "to 0.6667 or more" in message


def test_bounds_whose_removal_does_not_help_are_not_to_blame(connection):
    message = message_of(connection, BOUNDED, LDiversity(3, "entropy"))
    assert ways_in(message) == [ALLOW]


def test_both_ways_are_named_where_both_help(connection):
    message = message_of(connection, BOUNDED, KAnonymity(2), TCloseness(0.3))
    assert ways_in(message) == [WIDEN, ALLOW]


def test_the_limit_that_is_named_is_enough(connection):
    models = [LDiversity(2)]
    assert "to 0.3334 or more" in message_of(connection, BOUNDED, *models, suppression_limit=0.3333)
    policy = Policy(
        {"grp": BOUNDED}, ["ill"], models=models, others="drop", suppression_limit=0.3334
    )
    assert sqlanon.plan(connection, policy, table="people").report.suppressed_records == 4


def test_dropping_is_named_where_keeping_is_to_blame(connection):
    message = message_of(
        connection, BOUNDED, LDiversity(2), suppression_limit=0.5, suppressed="keep"
    )
    assert ways_in(message) == [WIDEN, DROP]


def test_nothing_is_promised_where_nothing_helps(connection):
    connection.execute("UPDATE people SET grp = 'a'")
    message = message_of(connection, FREE, LDiversity(4, "entropy"), suppression_limit=0.5)
    assert ways_in(message) == []
    assert message.endswith("ask for less, or give hierarchies with other levels")


def test_what_suppression_brings_about_is_counted():
    """Of 8 a, 3 b, 2 c and d at level 1 {b, d} is too far; without it {a, a, b, b} is, too."""
    places = {"v0": "aa", "v1": "aac", "v2": "aabb", "v4": "b", "v5": "d", "v6": "ac", "v7": "a"}
    records = [(place, value) for place, values in places.items() for value in values]
    tree = Hierarchy.from_rows([(f"v{n}", f"g{n // 2}", "*") for n in range(8)])
    policy = Policy(
        {"city": QuasiIdentifier(tree, max_level=1)},
        ["ill"],
        models=[KAnonymity(2), TCloseness(0.3)],
        suppression_limit=0.2,
    )
    with empty_database() as connection:
        connection.execute("CREATE TABLE people (city TEXT, ill TEXT)")
        insert(connection, "people", records)
        with pytest.raises(UnsatisfiableError, match="6 of 14 records are in classes that do not"):
            sqlanon.plan(connection, policy, table="people")


@pytest.mark.parametrize("method", ["mondrian", "direct-cover"])
@pytest.mark.parametrize("model", [LDiversity(2, "entropy"), LDiversity(2, "recursive", c=1)])
def test_what_persons_fail_is_told_from_what_records_fail(connection, method, model):
    connection.execute("UPDATE people SET ill = (ill = 1 OR person = 4)::INT")
    policy = Policy({"grp": FREE}, ["ill"], models=[KAnonymity(2), model], entity="person")
    with pytest.raises(UnsatisfiableError) as caught:
        sqlanon.plan(connection, policy, table="people", method=method)
    fault = f"'ill' fails {model.describe()}"
    message = str(caught.value)
    assert message.count(f"{fault} even in all") == message.count(f"{fault} of persons") == 1


def test_values_that_are_missing_are_told_once_for_records_and_persons(connection):
    models = [KAnonymity(2), LDiversity(5, "recursive", c=1)]
    policy = Policy({"grp": FREE}, ["ill"], models=models, others="drop", entity="person")
    with pytest.raises(UnsatisfiableError) as caught:
        sqlanon.plan(connection, policy, table="people", method="direct-cover")
    assert str(caught.value).count("needs more values") == 1


@pytest.mark.parametrize("method", ["incognito", "mondrian", "direct-cover", "forest"])
def test_where_nothing_would_be_left_the_error_says_so(method):
    own = Policy(
        {"a": QuasiIdentifier(Hierarchy.suppression(), max_level=0)},
        models=[KAnonymity(2)],
        suppression_limit=1,
    )
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS a FROM range(5)")
        with pytest.raises(UnsatisfiableError, match="and leaves anything: even at") as caught:
            sqlanon.plan(connection, own, table="people", method=method)
        assert "suppression limit" not in str(caught.value)
        notes = sqlanon.bound(connection, own, table="people").notes
    assert any("leaves anything" in note for note in notes)
