"""Kept columns: whom they single out is found wherever a table is published or judged."""

import json
from collections import Counter
from itertools import combinations
from unittest.mock import patch

import pyarrow
import pytest
from databases import empty_database, need_types_of
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import KAnonymity, Plan, Policy
from sqlanon.assessment import kept

DATABASE = empty_database()
NAMES = ("q", "a", "b", "c")
POLICY = Policy(["q"], keep=["a", "b", "c"], drop=["who"], models=[KAnonymity(2)])


def fill(rows, names=("who", *NAMES)):
    cells = zip(*rows, strict=True)
    frame = pyarrow.table(
        {n: pyarrow.array(c, pyarrow.string()) for n, c in zip(names, cells, strict=True)}
    )
    assert frame.num_rows
    DATABASE.execute("CREATE OR REPLACE TABLE t AS FROM frame")


def alone(rows, columns):
    """Records that no other is alike in some columns."""
    places = [("who", *NAMES).index(name) for name in columns]
    sizes = Counter(tuple(row[place] for place in places) for row in rows)
    return sum(size == 1 for size in sizes.values()) if columns else int(len(rows) == 1)


cell = st.sampled_from(["x", "y", "z", None])
tables = st.lists(st.tuples(st.sampled_from("123"), cell, cell, cell, cell), min_size=1)


@settings(max_examples=30)
@given(tables)
def test_figures_of_kept_columns_agree_with_brute_force(rows):
    fill(rows)
    found = sqlanon.check(DATABASE, POLICY, table="t").kept_columns
    assert found.records == len(rows)
    by_quasi = alone(rows, "q")
    assert (found.unique_by_quasi_identifiers, found.unique_together) == (
        by_quasi, alone(rows, NAMES),
    )  # fmt: skip
    for one in found.columns:
        place = ("who", *NAMES).index(one.name)
        assert one.values == len({row[place] for row in rows})
        assert one.unique == alone(rows, one.name)
        if found.unique_together > by_quasi:
            assert one.unique_with_quasi_identifiers == alone(rows, ["q", one.name])
    for pair in found.pairs:
        assert pair.unique == alone(rows, pair.columns)
    # A pair that is not counted singles nobody out whom one of its columns does not.
    counted = {frozenset(pair.columns) for pair in found.pairs}
    for pair in combinations("abc", 2):
        if frozenset(pair) not in counted:
            assert alone(rows, pair) == max(alone(rows, name) for name in pair)


@settings(max_examples=30)
@given(tables)
def test_columns_that_join_records_agree_with_brute_force(rows):
    fill(rows)
    policy = Policy(["q"], keep=["a", "b", "c"], entity="who")
    found = sqlanon.check(DATABASE, policy, table="t").kept_columns
    persons = Counter(row[0] for row in rows)
    assert found.joinable == sum(count for count in persons.values() if count > 1)
    for place, one in enumerate(found.columns, 2):
        held = [(row[place], row[0]) for row in rows if row[place] is not None]
        of = {value: {who for other, who in held if other == value} for value, _ in held}
        joined = [v for v, _ in held if len(of[v]) == 1 and sum(v == w for w, _ in held) > 1]
        if found.joinable:
            assert one.joined == len(joined)
            assert one.one_to_one == (len(of) == len(persons) == len(set(held)))


def people(records=600):
    """A mail address and a card for each, a job and a town of many, a constant."""
    rows = [
        (str(n // 5), "xy"[n % 2], f"MARK{n}", f"card {n // 5}", f"{n % 60}", f"{n % 7}", "one")
        for n in range(records)
    ]
    fill(rows, ("who", "q", "mail", "card", "job", "town", "same"))


KEEPING = Policy(
    ["q"], keep=["mail", "card", "job", "town", "same"], drop=["who"], models=[KAnonymity(5)]
)


def documents(tmp_path):
    """What every command says that publishes or judges the table."""
    plan = sqlanon.plan(DATABASE, KEEPING, table="t")
    plan.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json")
    target = {"overwrite": True, "into": "out"}
    return {
        "plan": plan.to_dict(),
        "saved": loaded.to_dict(),
        "apply": sqlanon.apply(DATABASE, loaded, **target).to_dict(),
        "anonymize": sqlanon.anonymize(DATABASE, KEEPING, table="t", **target).to_dict(),
        "check": sqlanon.check(DATABASE, KEEPING, table="out").to_dict(),
        "risk": sqlanon.risk(DATABASE, KEEPING, table="out").to_dict(),
    }


@pytest.mark.slow
def test_kept_columns_that_identify_are_told_everywhere(tmp_path):
    people()
    for name, document in documents(tmp_path).items():
        [mail] = [note for note in document["notes"] if "'mail' has" in note]
        assert "600 distinct values, more than one for every 5 records" in mail, name
        assert "600 (100%) of the records have a value that no other record has" in mail, name
        assert any("pairs of kept columns single" in note for note in document["notes"]), name
        figures = {one["name"]: one for one in document["kept_columns"]["columns"]}
        assert (figures["mail"]["values"], figures["mail"]["unique"]) == (600, 600), name
        assert figures["same"]["values"] == 1, name
        assert "MARK" not in json.dumps(document), name


@pytest.mark.slow
def test_columns_of_a_policy_that_keeps_all_others_are_judged():
    people()
    policy = Policy(["q"], others="keep", drop=["who"], models=[KAnonymity(5)])
    report = sqlanon.anonymize(DATABASE, policy, table="t", into="out", overwrite=True)
    assert [one.name for one in report.kept_columns.columns] == [*KEEPING.keep]


def test_columns_in_no_role_are_judged_with_the_table():
    people()
    report = sqlanon.check(DATABASE, Policy(["q"], identifiers=["mail"]), table="t")
    assert [one.name for one in report.kept_columns.columns] == [
        "who", "card", "job", "town", "same",
    ]  # fmt: skip


def test_risk_says_what_it_did_not_count():
    people()
    policy = Policy(["q"], ["town"], keep=["mail"], identifiers=["card"], entity="who")
    report = sqlanon.risk(DATABASE, policy, table="t")
    assert report.to_dict()["not_counted"] == {
        "kept": ["mail", "job", "same"],
        "sensitive": ["town"],
        "dropped": ["card"],
        "entity": ["who"],
    }
    page = report.to_text()
    assert "not counted: kept columns, which are published as they are" in page
    assert "mail     600                  600 (100%)" in page
    assert "not counted: 1 sensitive column: town" in page


@pytest.mark.slow
def test_a_column_that_is_one_to_one_with_the_entity_is_found():
    people()
    policy = Policy(
        ["q"], keep=["card", "town"], drop=["mail", "job", "same"], entity="who",
        models=[KAnonymity(5)],
    )  # fmt: skip
    published = sqlanon.anonymize(DATABASE, policy, table="t", into="out", overwrite=True)
    for report in (sqlanon.plan(DATABASE, policy, table="t").report, published):
        [note] = [note for note in report.notes if "one-to-one" in note]
        assert note.startswith("kept column 'card' is one-to-one with the entity 'who'")
        assert "600 (100%) of the records share its value" in note


def test_kept_columns_beyond_the_budget_are_said_not_to_be_counted():
    people()
    with patch.object(kept, "MAX_GROUPED_SETS", 4):
        found = sqlanon.check(DATABASE, KEEPING, table="t").kept_columns
    # Three columns beside the quasi-identifier, and one of three pairs.
    beside = {one.name: one.unique_with_quasi_identifiers for one in found.columns}
    assert None not in beside.values()
    assert (len(found.pairs), found.possible_pairs) == (1, 3)
    with patch.object(kept, "MAX_GROUPED_SETS", 1):
        found = sqlanon.check(DATABASE, KEEPING, table="t").kept_columns
    assert [one.name for one in found.columns if one.unique_with_quasi_identifiers is None] == [
        "job", "town",
    ]  # fmt: skip


@pytest.mark.parametrize("values", ["[n % 2, n]", "{'a': n}", "map([n], [n])", "n::VARIANT"])
def test_kept_columns_of_nested_types_are_counted(values):
    need_types_of(values)
    DATABASE.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT 1 AS q, {values} AS x FROM range(9) r(n)"
    )
    [x] = sqlanon.check(DATABASE, Policy(["q"]), table="t").kept_columns.columns
    assert (x.values, x.unique) == (9, 9)


@pytest.mark.slow
def test_the_plan_that_is_shown_before_a_table_is_replaced_tells_them():
    people()
    shown = []
    target = {"in_place": True, "confirm": lambda plan: shown.extend(plan.report.notes)}
    sqlanon.anonymize(DATABASE, KEEPING, table="t", **target)
    assert any("kept column 'mail' has 600" in note for note in shown)


def test_a_weight_and_a_household_that_a_table_has_are_judged():
    fill([("1", "q", "5", "h1", "c"), ("2", "q", "7", "h2", "c")])
    policy = Policy(["q"], weight="a", household="b", keep=["c"], drop=["who"])
    found = sqlanon.check(DATABASE, policy, table="t").kept_columns
    assert [one.name for one in found.columns] == ["a", "b", "c"]
    assert found.weight == "a"
