"""Schemes of single columns: what each gets, and what is refused with a way out."""

from __future__ import annotations

import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier, TCloseness
from sqlanon.errors import PolicyError
from sqlanon.policy.privacy import AlphaAnonymity

pytestmark = pytest.mark.slow

WORK = Hierarchy.from_rows([("a", "L", "*"), ("b", "L", "*"), ("c", "R", "*"), ("d", "R", "*")])
SUPPRESSION = Hierarchy.suppression()


@pytest.fixture
def connection():
    with empty_database() as opened:
        opened.execute("""
            CREATE TABLE people AS
            SELECT 20 + i % 4 AS age, 'abcd'[1 + i % 4] AS work, 'abcd'[1 + i // 4 % 4] AS town,
                   DATE '2020-01-01' + (i % 4)::INTEGER AS day, i % 3 AS ill, i // 2 AS person
            FROM range(32) AS r(i)
        """)
        yield opened


def plan(connection, attributes, *models, scheme=None, **roles):
    roles = {"others": "drop", **roles}
    policy = Policy(attributes, models=[KAnonymity(2), *models], **roles)
    return sqlanon.plan(connection, policy, table="people", method="scheme", scheme=scheme)


def schemes(connection, scheme=None, **attributes):
    return dict(plan(connection, attributes, scheme=scheme).report.schemes)


def refusal(*arguments, **options):
    with pytest.raises(PolicyError) as caught:
        plan(*arguments, **options)
    return str(caught.value)


def test_numbers_have_an_order_where_any_values_may_be_merged(connection):
    columns = {"age": Hierarchy.intervals(2), "work": WORK, "town": SUPPRESSION}
    assert schemes(connection, **columns) == {"age": "gops", "work": "gsps", "town": "gsps"}
    assert schemes(connection, "sps", **columns) == {"age": "ops", "work": "sps", "town": "sps"}
    assert schemes(connection, "bhs", **columns) == dict.fromkeys(columns, "bhs")


def test_an_order_that_is_given_counts_as_one(connection):
    towns = QuasiIdentifier(SUPPRESSION, order=["d", "a", "c", "b"])
    assert schemes(connection, "sps", work=WORK, town=towns) == {"work": "sps", "town": "ops"}
    assert schemes(connection, "ops", work=WORK, town=towns) == {"work": "ops", "town": "ops"}


def test_a_scheme_that_is_asked_for_a_column_is_taken_as_it_is(connection):
    assert schemes(connection, {"age": "sps"}, age=SUPPRESSION, work=WORK) == {
        "age": "sps",
        "work": "gsps",
    }


def test_dates_have_an_order_of_their_own(connection):
    assert schemes(connection, "ops", day=SUPPRESSION) == {"day": "ops"}


def test_numbers_whose_order_does_not_suit_their_hierarchy_are_merged_as_siblings(connection):
    ages = Hierarchy.from_rows(
        [("20", "even", "*"), ("22", "even", "*"), ("21", "odd", "*"), ("23", "odd", "*")]
    )
    assert schemes(connection, age=ages) == {"age": "gsps"}
    assert refusal(connection, {"age": ages}, scheme="gops") == (
        "scheme gops of column 'age': the order does not suit the hierarchy, since '20' and '22' "
        "of one node have values of another between them; give an order in which every node has "
        "its values in a row, or use gsps"
    )


def test_values_of_a_rule_are_not_named_where_an_order_does_not_suit(connection):
    ages = QuasiIdentifier(Hierarchy.intervals(2), order=["20", "22", "21", "23"])
    message = refusal(connection, {"age": ages}, scheme="gops")
    assert "since two values of one node" in message
    assert "2" not in message


@pytest.mark.parametrize("scheme", ["ops", "gops"])
def test_texts_without_an_order_are_refused(connection, scheme):
    free = {"ops": "sps", "gops": "gsps"}[scheme]
    assert refusal(connection, {"town": SUPPRESSION}, scheme=scheme) == (
        f"scheme {scheme} of column 'town' needs an order of its values; name it with order "
        f"(--order town=A,B,...), or use {free}"
    )


@pytest.mark.parametrize("kind", ["UUID", "BLOB"])
def test_values_whose_order_is_that_of_bytes_are_refused_as_texts_are(connection, kind):
    text = "md5(work)::UUID" if kind == "UUID" else "encode(work)"
    connection.execute(f"ALTER TABLE people ADD COLUMN code {kind}")
    connection.execute(f"UPDATE people SET code = {text}")
    message = refusal(connection, {"code": SUPPRESSION}, scheme="ops")
    assert message.startswith("scheme ops of column 'code' needs an order of its values")
    assert schemes(connection, "sps", code=SUPPRESSION) == {"code": "sps"}


@pytest.mark.parametrize("scheme", ["bhs", "ghs", "gsps", "gops"])
def test_a_guided_scheme_of_a_column_needs_a_hierarchy(connection, scheme):
    message = refusal(connection, {"age": SUPPRESSION, "work": WORK}, scheme={"age": scheme})
    assert message == (
        f"scheme {scheme} of column 'age' follows a hierarchy, and the column has none; give one "
        f"(--hierarchy age=SPEC), or use {'ops' if scheme == 'gops' else 'sps'}"
    )


def test_an_order_names_every_value_once(connection):
    given = QuasiIdentifier(WORK, order=["d", "a", "b", "x", "y"])
    assert refusal(connection, {"work": given}, scheme="ops") == (
        "order of column 'work' misses 1 value and names 2 values that it does not have; name each "
        "value of its hierarchy once, as text, held by the table or not"
    )


def test_an_order_that_does_not_suit_the_hierarchy_is_never_left_out_unsaid(connection):
    given = QuasiIdentifier(WORK, order=["a", "c", "b", "d"])
    message = refusal(connection, {"work": given}, scheme="gsps")
    assert message.startswith("scheme gops of column 'work': the order does not suit")
    assert message.endswith("every node has its values in a row, or leave it out")


@pytest.mark.parametrize(
    ("method", "scheme"),
    [("incognito", None), ("mondrian", None), ("scheme", "bhs"), ("scheme", {"work": "gsps"})],
)
def test_an_order_that_nothing_looks_at_is_noted(connection, method, scheme):
    given = QuasiIdentifier(WORK, order=["a", "b", "c", "d"])
    policy = Policy({"work": given}, models=[KAnonymity(2)], others="drop")
    noted = "the order of column 'work' was not looked at: the method scheme alone does so, with "
    plan = sqlanon.plan(connection, policy, table="people", method=method, scheme=scheme)
    assert [note for note in plan.report.notes if note.startswith("the order")] == [
        f"{noted}ops or gops"
    ]
    used = sqlanon.plan(connection, policy, table="people", method="scheme", scheme="gops")
    assert not any("order" in note for note in used.report.notes)


def test_faults_of_all_columns_are_told_at_once(connection):
    message = refusal(connection, {"town": SUPPRESSION, "age": SUPPRESSION},
                      scheme={"town": "ops", "age": "ghs"})  # fmt: skip
    assert "'town' needs an order" in message
    assert "'age' follows a hierarchy" in message


@pytest.mark.parametrize(
    ("models", "roles", "message"),
    [
        ((), {"entity": "person"}, "persons by 'person' who have records in several groups"),
        (
            (),
            {"suppressed": "keep", "suppression_limit": 0.1},
            "leaves suppressed records out, since the class",
        ),
        (
            (TCloseness(0.5),),
            {"sensitive": ["ill"], "suppression_limit": 0.1},
            "cannot be held to 0.5-closeness (equal) of 'ill' while records may be suppressed",
        ),
        (
            (TCloseness(0.5, "scaled"),),
            {"sensitive": ["ill"]},
            "cannot be held to 0.5-closeness (scaled) of 'ill': classes that satisfy it may fail",
        ),
    ],
)
def test_what_no_scheme_can_do_is_refused_by_name(connection, models, roles, message):
    assert message in refusal(connection, {"age": SUPPRESSION}, *models, **roles)


@pytest.mark.parametrize("level", [0, 1])
def test_values_below_a_lowest_level_are_not_counted_by_hdm(connection, level):
    works = QuasiIdentifier(WORK, min_level=level)
    policy = Policy({"age": SUPPRESSION, "work": works}, models=[KAnonymity(2)], others="drop")
    asked = {"method": "scheme", "loss": "hdm"}
    if not level:
        assert sqlanon.plan(connection, policy, table="people", **asked).report.holds
        return
    with pytest.raises(PolicyError) as caught:
        sqlanon.plan(connection, policy, table="people", **asked)
    assert str(caught.value) == (
        "loss hdm counts values, and a recoding by schemes begins with the nodes of the lowest "
        "level of column 'work'; use loss lm or discernibility, or leave the lowest level out "
        "(--min-level)"
    )


@pytest.mark.parametrize(
    ("models", "roles"),
    [
        ((), {"suppressed": "keep"}),
        ((TCloseness(0.9),), {}),
        ((LDiversity(2), AlphaAnonymity(0.9)), {"suppression_limit": 0.1}),
    ],
)
def test_what_merging_keeps_is_held(connection, models, roles):
    found = plan(connection, {"age": SUPPRESSION}, *models, sensitive=["ill"], **roles)
    assert found.report.holds


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ("sps", "column 'age' has 300 values that scheme ops may merge, and at most 256 can be"),
        ({"age": "sps"}, "column 'age' has 300 values that scheme sps may merge, and at most 256"),
        ("gsps", "column 'age' has 300 children of one node that scheme gops may merge, and at"),
    ],
)
def test_more_values_than_can_be_searched_are_refused(scheme, message):
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT range % 300 AS age FROM range(600)")
        found = refusal(connection, {"age": SUPPRESSION}, scheme=scheme)
        assert found.startswith(message)
        assert "give a hierarchy (--hierarchy age=intervals:..., prefix:... or a file)" in found
        assert found.endswith("or use the method incognito")
        assert "lowest level" not in found
        assert ("use gsps or ghs" in found) == (scheme != "gsps")


WIDE = [(str(n), f"pair {n // 2}", f"hundred {n // 100}", "*") for n in range(600)]


@pytest.mark.parametrize(
    ("scheme", "rows", "advice"),
    [
        ("sps", WIDE, "give a lowest level (--min-level age=2), or use ghs (--scheme age=ghs)"),
        ("gsps", [(leaf, "*") for leaf, *_ in WIDE], "use ghs (--scheme age=ghs)"),
    ],
)
def test_advice_for_many_values_of_a_hierarchy_can_be_followed(scheme, rows, advice):
    ages = Hierarchy.from_rows(rows)
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT range % 600 AS age FROM range(1200)")
        found = refusal(connection, {"age": ages}, scheme=scheme)
        assert found.endswith(f"can be searched; {advice}")
        assert plan(connection, {"age": ages}, scheme={"age": "ghs"}).report.holds
        if "--min-level" in advice:
            above = QuasiIdentifier(ages, min_level=2)
            assert plan(connection, {"age": above}, scheme=scheme).report.holds
