"""The method scheme: what it plans, reports and publishes, and that `measure` agrees with it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.measures import create, every_measure, in_groups
from strategies import policy_of, tables

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Plan, Policy, QuasiIdentifier
from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.loss.cells import LEVEL_MEASURES
from sqlanon.methods.registry import METHODS
from sqlanon.policy.schemes import SCHEMES
from sqlanon.publishing.promises import misfits
from sqlanon.search.lattice.schemes.enumeration import Walk
from sqlanon.wording import key

pytestmark = pytest.mark.slow

SETTINGS = settings(max_examples=15)
WORK = [("Fed", "gov", "*"), ("Local", "gov", "*"), ("State", "gov", "*"), ("Own", "own", "*"),
        ("None", "own", "*")]  # fmt: skip
HELD = ["Local"] * 3 + ["State"] * 3 + ["Own"] * 6
ATTRIBUTES = {"age": Hierarchy.suppression(), "work": Hierarchy.from_rows(WORK)}
POLICY = Policy(ATTRIBUTES, sensitive=["ill"], models=[KAnonymity(6)])


@pytest.fixture
def connection():
    """Twelve people of three ages; to be six at least, two kinds of work must be merged."""
    with empty_database() as opened:
        opened.execute("CREATE TABLE people (age INTEGER, work VARCHAR, ill VARCHAR)")
        rows = [(40, work, "ab"[n % 2]) for n, work in enumerate(HELD)]
        insert(opened, "people", rows)
        yield opened


def plan(connection, policy=POLICY, **settings):
    return sqlanon.plan(connection, policy, table="people", method="scheme", **settings)


def groups_of(connection, column, **settings):
    recoding = plan(connection, **settings).recoding
    own = recoding.columns[list(ATTRIBUTES).index(column)]
    return {group.label: group.values for group in own.groups}


def test_values_are_merged_as_the_scheme_allows(connection):
    merged = groups_of(connection, "work", scheme="gsps")
    assert merged == {
        "Fed": ("Fed",),
        "{Local, State}": ("Local", "State"),
        "Own": ("Own",),
        "None": ("None",),
    }
    assert groups_of(connection, "work", scheme="ghs")["gov"] == ("Fed", "Local", "State")


def test_the_levels_of_bhs_are_those_of_a_node(connection):
    found = plan(connection, scheme="bhs")
    assert dict(found.report.levels) == {"age": 0, "work": 1}
    assert found.recoding.node == (0, 1)
    assert groups_of(connection, "work", scheme="bhs").keys() == {"gov", "own"}


def test_groups_are_published_and_checked(connection):
    report = sqlanon.apply(connection, plan(connection), into="out")
    assert report.holds
    assert report.statistics.smallest == 6
    rows = connection.execute("SELECT DISTINCT age, work FROM out ORDER BY ALL").fetchall()
    assert rows == [(40, "Own"), (40, "{Local, State}")]


def test_a_plan_survives_a_file_and_is_published_from_there(connection, tmp_path):
    found = plan(connection)
    found.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json")
    assert loaded == found
    assert sqlanon.apply(connection, loaded, into="out").holds


def test_a_preview_shows_groups(connection):
    [record] = sqlanon.preview(connection, plan(connection), rows=1)
    assert (record.before["work"], record.after["work"]) == ("Local", "{Local, State}")


def test_the_document_counts_groups_and_names_those_of_a_file(connection):
    document = plan(connection).to_dict()
    assert document["scheme"] == {"age": "gops", "work": "gsps"}
    assert document["groups"]["age"] == [{"label": None, "values": 1, "records": 12}]
    assert {"label": "{Local, State}", "values": 2, "records": 6} in document["groups"]["work"]
    assert document["levels"] is None
    assert document["search"]["proven"] is True
    json.dumps(document, allow_nan=False)


def test_no_count_of_groups_is_one_of_suppressed_records(connection):
    connection.execute("INSERT INTO people VALUES (41, 'None', 'a'), (42, 'None', 'a')")
    policy = replace(POLICY, suppression_limit=0.2)
    found = plan(connection, policy, scheme={"age": "sps", "work": "gsps"})
    assert found.report.suppressed_records == 2
    document = found.to_dict()
    assert document["groups"]["work"] == [
        {"label": "{Local, State}", "values": 2, "records": 6},
        {"label": "Own", "values": 1, "records": 6},
        {"label": None, "values": 2, "records": 0},
    ]
    assert document["groups"]["age"] == [
        {"label": None, "values": 1, "records": 12},
        {"label": None, "values": 2, "records": 0},
    ]
    counted = [sum(each["records"] for each in own) for own in document["groups"].values()]
    assert counted == [12, 12]


def test_the_page_names_merged_values_of_a_file(connection):
    text = plan(connection).to_text()
    assert "scheme: proven best" in text
    assert "(no recoding by these schemes loses less)" in text
    assert "    work  2 groups of 3 values (gsps); 2 values in no published record" in text
    assert "          {Local, State}  2 values" in text
    assert "40" not in text


def test_a_plan_that_lists_values_of_a_rule_says_so(connection):
    notes = [note for note in plan(connection).report.notes if "saved plan lists" in note]
    assert len(notes) == 1
    assert "published labels of merged values of 'age' can name values" in notes[0]
    assert "'work'" not in notes[0]
    ages = QuasiIdentifier(ATTRIBUTES["age"], min_level=1)
    [note] = plan(
        connection, Policy({"age": ages}, models=[KAnonymity(6)], others="drop")
    ).report.notes
    assert "saved plan lists the values of 'age'" in note
    assert "labels" not in note


def test_the_least_level_that_may_be_published_is_kept(connection):
    works = QuasiIdentifier(ATTRIBUTES["work"], min_level=1)
    policy = Policy({"work": works}, models=[KAnonymity(2)], others="drop")
    own = plan(connection, policy, scheme="sps").recoding.columns[0]
    assert {group.label for group in own.groups} == {"gov", "own"}


def test_the_highest_level_that_may_be_published_is_kept(connection):
    works = QuasiIdentifier(ATTRIBUTES["work"], max_level=1)
    policy = Policy({"work": works}, models=[KAnonymity(7)], others="drop")
    with pytest.raises(UnsatisfiableError, match="no recoding that the schemes and levels allow"):
        plan(connection, policy, scheme="sps")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_value_that_is_called_as_the_top_is_published_under_another_label(connection, scheme):
    connection.execute("CREATE TABLE stars AS SELECT '*' AS x, i // 2 AS y FROM range(4) AS r(i)")
    stars = Hierarchy.from_rows([("b", "g", "*"), ("*", "other", "*")])
    policy = Policy({"x": stars, "y": Hierarchy.suppression()}, models=[KAnonymity(2)])
    made = sqlanon.plan(connection, policy, table="stars", method="scheme", scheme=scheme)
    assert made.report.loss["lm"] == 0
    assert sqlanon.apply(connection, made, into="out").holds
    assert connection.execute("SELECT DISTINCT x FROM out").fetchall() == [("other",)]
    assert sqlanon.measure(connection, "out", policy, table="stars").loss == made.report.loss


@pytest.mark.parametrize(
    ("scheme", "labels"), [("bhs", {"A", "B"}), *((s, {"a", "B"}) for s in SCHEMES if s != "bhs")]
)
def test_a_value_that_is_merged_with_nothing_stays_unless_a_level_is_published(
    connection, scheme, labels
):
    connection.execute("CREATE TABLE alone AS SELECT unnest(['a', 'a', 'b', 'b', 'c']) AS x")
    rows = [("a", "A", "*"), ("b", "B", "*"), ("c", "B", "*")]
    policy = Policy({"x": Hierarchy.from_rows(rows)}, models=[KAnonymity(2)])
    [own] = sqlanon.plan(
        connection, policy, table="alone", method="scheme", scheme=scheme
    ).recoding.columns
    assert {group.label for group in own.groups} == labels


def test_a_policy_that_no_recoding_satisfies_is_said_so(connection):
    policy = Policy(ATTRIBUTES, sensitive=["ill"], models=[KAnonymity(2), LDiversity(3)])
    with pytest.raises(UnsatisfiableError, match="distinct 3-diversity"):
        plan(connection, policy)


def test_cells_that_stand_for_all_held_values_say_something_where_the_file_has_more(connection):
    policy = Policy({"work": ATTRIBUTES["work"]}, models=[KAnonymity(12)], others="drop")
    made = plan(connection, policy, scheme="sps", loss="suppressed-cells")
    assert (
        made.report.loss["suppressed_cells"] == 0
    )  # no one is a Fed, and the label does not say so
    assert (made.report.lower_bound, made.report.search.proven) == (0, True)


def test_a_table_of_no_records_is_never_published(connection):
    demanding = {"sensitive": ["ill"], "models": [KAnonymity(2), LDiversity(3)]}
    policy = Policy(ATTRIBUTES, suppression_limit=1.0, **demanding)
    with pytest.raises(UnsatisfiableError, match="distinct 3-diversity needs more values than"):
        plan(connection, policy)


@pytest.mark.parametrize("direction", ["bottom-up", "top-down"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_direction_finds_the_same_loss(connection, scheme, direction):
    asked = {"scheme": scheme, "loss": "discernibility"}
    found = plan(connection, direction=direction, **asked).report
    assert found.loss == plan(connection, **asked).report.loss


@pytest.mark.parametrize("direction", ["bottom-up", "top-down"])
def test_a_direction_tells_its_progress_and_what_less_flexible_schemes_lose(connection, direction):
    told = []
    found = plan(connection, scheme="gsps", direction=direction, progress=told.append).report
    *first, fourth, fifth = [line for line in told if line.startswith("search: ")][:5]
    assert first == [f"search: less flexible schemes, {place} of 3" for place in (1, 2, 3)]
    assert fourth == "search: descents"
    assert fifth.startswith(f"search: {direction}, ")
    steps = [step.schemes["work"] for step in found.search.less_flexible]
    assert steps == ["bhs", "ghs", "gops"]


@pytest.mark.parametrize("direction", ["bottom-up", "top-down"])
def test_a_direction_that_ends_at_once_has_what_descents_find(connection, monkeypatch, direction):
    def ended(*_):
        raise TimeLimitError

    best = plan(connection, direction=direction).report
    monkeypatch.setattr(Walk, "_go_on", ended)
    found = plan(connection, direction=direction).report
    assert not found.search.proven
    assert found.loss["lm"] == best.loss["lm"]
    assert found.lower_bound is None
    assert "(nothing is proven of any other recoding by these schemes)" in found.to_text()
    assert "it is not known how much better it may be" in found.to_text()


def compared(found, expected, names):
    for name in names:
        assert found[name] == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name


@SETTINGS
@given(
    table=tables(),
    limit=st.sampled_from([0.0, 0.3, 0.6]),
    scheme=st.sampled_from([*SCHEMES]),
    loss=st.sampled_from(METHODS["scheme"].losses),
)
def test_plan_and_measure_agree_with_the_formulas(table, limit, scheme, loss):
    policy = replace(policy_of(table), suppression_limit=limit)
    with empty_database() as connection:
        create(connection, "original", table, table["records"])
        made = sqlanon.plan(
            connection, policy, table="original", method="scheme", scheme=scheme, loss=loss
        )
        report = sqlanon.apply(connection, made, into="released")
        found = sqlanon.measure(connection, "released", policy, table="original")
    groups = [
        {value: frozenset(group.values) for group in own.groups for value in group.values}
        for own in made.recoding.columns
    ]
    grouped, levels, is_grouped = in_groups(table, groups)
    assert made.report.suppressed_records == report.suppressed_records == levels.count(None)
    assert misfits(made.policy, made.recoding) == []
    assert found.loss.keys() == made.report.loss.keys()
    compared(found.loss, made.report.loss, found.loss)
    assert found.statistics == made.report.statistics
    expected = every_measure(grouped, levels)
    by_level = set(map(key, LEVEL_MEASURES))
    assert is_grouped == ("tree" not in found.loss)
    compared(found.loss, expected, found.loss.keys() - by_level)


@SETTINGS
@given(
    table=tables(),
    limit=st.sampled_from([0.0, 0.3]),
    scheme=st.sampled_from(["gops", "gsps", "ops", "sps"]),
    loss=st.sampled_from(METHODS["scheme"].losses),
)
def test_less_flexible_schemes_lose_what_they_lose_when_they_are_asked_for(
    table, limit, scheme, loss
):
    policy, name = replace(policy_of(table), suppression_limit=limit), key(loss)
    asked = {"method": "scheme", "loss": loss}
    with empty_database() as connection:
        create(connection, "original", table, table["records"])
        try:
            made = sqlanon.plan(connection, policy, table="original", scheme=scheme, **asked).report
        except UnsatisfiableError:
            return
        for step in made.search.less_flexible:
            own = sqlanon.plan(connection, policy, table="original", scheme=step.schemes, **asked)
            assert step.proven
            assert step.loss == pytest.approx(own.report.loss[name], rel=1e-9, abs=1e-9)
            assert step.loss >= made.loss[name] - 1e-9
