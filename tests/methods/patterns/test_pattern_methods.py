"""Patterns end to end: what is published by them, by the heuristic and by the solver."""

from __future__ import annotations

import pytest
from databases import empty_database, insert
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import (
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    Hierarchy,
    KAnonymity,
    LDiversity,
    Policy,
    TCloseness,
)
from sqlanon.errors import HierarchyError, PolicyError, UnsatisfiableError
from sqlanon.policy.policy import Sensitive

pytestmark = pytest.mark.slow

PEOPLE = [
    (1, "10115", "f", "flu"),
    (1, "10117", "f", "gout"),
    (1, "10119", "m", "flu"),
    (2, "20095", "m", "flu"),
    (2, "20097", "m", "gout"),
    (3, "80331", "f", "flu"),
    (3, "80333", "f", "gout"),
    (4, "99999", "x", "flu"),
]
HIERARCHIES = {
    "age": Hierarchy.suppression(),
    "zip": Hierarchy.prefix(3, 1),
    "sex": Hierarchy.suppression(),
}


@pytest.fixture
def people():
    connection = empty_database()
    connection.execute("CREATE TABLE people (age INT, zip TEXT, sex TEXT, ill TEXT)")
    insert(connection, "people", PEOPLE)
    yield connection
    connection.close()


def policy_of(*models, sensitive=(), **figures):
    keep = () if sensitive else ("ill",)
    return Policy(HIERARCHIES, sensitive, keep=keep, models=[KAnonymity(2), *models], **figures)


def published(connection, policy, patterns, method="pattern-greedy", **settings):
    report = sqlanon.anonymize(
        connection,
        policy,
        table="people",
        into="safe",
        overwrite=True,
        method=method,
        patterns=patterns,
        **settings,
    )
    return report, connection.execute("SELECT age, zip, sex FROM safe ORDER BY ALL").fetchall()


def test_records_are_published_by_the_cheapest_pattern_that_has_room(people):
    report, rows = published(people, policy_of(), [["age", "sex"], ["age"], ["sex"]])
    assert report.search.left_over == 2
    assert rows == [
        *[("*", "*", "*")] * 2,
        *[("1", "*", "f")] * 2,
        *[("2", "*", "m")] * 2,
        *[("3", "*", "f")] * 2,
    ]


def test_a_column_is_kept_at_the_level_that_a_pattern_says(people):
    _, rows = published(people, policy_of(), [["zip@1", "sex"], ["none"]])
    assert ("*", "101**", "f") in rows
    assert {row[1] for row in rows} == {"101**", "200**", "803**", "*"}


def test_enough_records_without_a_place_are_suppressed_as_a_class(people):
    policy = policy_of(suppression_limit=0.5)
    report, rows = published(people, policy, [["age", "sex"]])
    assert (report.suppressed_records, rows.count(("*", "*", "*"))) == (2, 2)
    assert "all their cells are suppressed" in report.notes[-1]


def test_few_records_without_a_place_are_dropped_within_the_limit(people):
    people.execute("DELETE FROM people WHERE sex = 'm' AND age = 1")
    policy = policy_of(suppression_limit=0.2)
    report, rows = published(people, policy, [["age", "sex"]])
    assert (report.suppressed_records, len(rows)) == (1, 6)
    assert all(row[0] != "*" for row in rows)
    assert "1 record" in report.notes[-1]


def test_few_records_without_a_place_take_the_cheapest_class_with_them(people):
    people.execute("DELETE FROM people WHERE sex = 'm' AND age = 1")
    report, rows = published(people, policy_of(), [["age", "sex"], ["sex", "zip@1"]])
    assert report.suppressed_records == rows.count(("*", "*", "*")) == 3
    assert "2 other records of the cheapest classes" in report.notes[-1]


@pytest.mark.parametrize(
    "model",
    [LDiversity(2), LDiversity(2, "recursive", 4), TCloseness(0.2, "equal"), AlphaAnonymity(0.8)],
)
def test_instances_that_violate_a_model_are_not_used(people, model):
    people.execute("UPDATE people SET ill = 'flu' WHERE age = 2")
    policy = policy_of(model, sensitive=("ill",))
    report, rows = published(people, policy, [["age", "sex"], ["sex"]])
    assert report.holds
    assert not {row for row in rows if row[0] == "2"}


def test_weights_decide_which_pattern_comes_first(people):
    heavy = {**HIERARCHIES, "sex": sqlanon.QuasiIdentifier(Hierarchy.suppression(), weight=5)}
    policy = Policy(heavy, keep=("ill",), models=[KAnonymity(2)], suppression_limit=0.2)
    _, rows = published(people, policy, [["age", "zip@1"], ["sex"]])
    assert {row for row in rows if row[2] != "*"} == {("*", "*", "f"), ("*", "*", "m")}


def test_exact_loses_what_it_proves(people):
    report, _ = published(people, policy_of(), "all", "pattern-exact", loss="suppressed-cells")
    assert report.search.proven
    assert report.lower_bound == report.loss["suppressed_cells"]
    text = report.to_text()
    assert text.startswith("pattern-exact: 4 classes by 2 of 8 patterns\n")
    assert "(no choice of these patterns that satisfies the policy loses less)" in text


@pytest.mark.parametrize("model", [DeltaDisclosure(0.3), BetaLikeness(0.2), TCloseness(0.1)])
def test_exact_claims_no_bound_where_leaving_records_out_may_lose_less(model):
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT * FROM (VALUES ('a', 'q'), ('a', 'p'), ('a', 'q'), "
        "('a', 'p'), ('b', 'q')) AS rows(town, ill)"
    )
    policy = Policy(
        ["town"], sensitive=["ill"], models=[KAnonymity(2), model], suppression_limit=0.2
    )
    left_out = sqlanon.plan(connection, policy, table="people").report
    exact = sqlanon.plan(
        connection, policy, table="people", method="pattern-exact", patterns=[["town"]]
    ).report
    assert exact.lower_bound <= 0.2 <= left_out.loss["lm"] <= exact.loss["lm"]
    assert not exact.search.proven


@pytest.mark.parametrize("model", [AlphaAnonymity(0.5), LDiversity(2), TCloseness(0.2)])
def test_exact_publishes_where_a_sensitive_column_has_no_value(model):
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT unnest(['a', 'a', 'b', 'b']) AS town, NULL AS ill"
    )
    models = [KAnonymity(2), model]
    policy = Policy(["town"], sensitive={"ill": Sensitive(nulls="none")}, models=models)
    try:
        report = sqlanon.plan(
            connection, policy, table="people", method="pattern-exact", patterns="all"
        ).report
    except UnsatisfiableError:
        assert not model.holds_without_values
    else:
        assert report.loss["lm"] == 0


def test_exact_refuses_a_distance_that_is_not_convex(people):
    ill = Sensitive(order=["flu", "gout"])
    policy = policy_of(TCloseness(0.3, "scaled"), sensitive={"ill": ill})
    with pytest.raises(
        PolicyError, match=r"0.3-closeness \(scaled\), which is not convex; use pattern-greedy"
    ):
        sqlanon.plan(people, policy, table="people", method="pattern-exact", patterns="all")


def test_exact_says_how_to_install_its_solver(people, monkeypatch):
    monkeypatch.setattr("sqlanon.methods.patterns.optimum.find_spec", lambda _: None)
    with pytest.raises(PolicyError, match=r"pip install 'sqlanon\[exact\]'"):
        sqlanon.plan(people, policy_of(), table="people", method="pattern-exact", patterns="all")


def test_exact_refuses_a_program_that_would_not_fit(people, monkeypatch):
    monkeypatch.setattr("sqlanon.methods.patterns.optimum.MAX_PROGRAM_PLACES", 63)
    with pytest.raises(PolicyError, match="8 distinct rows by 8 patterns are too many"):
        sqlanon.plan(people, policy_of(), table="people", method="pattern-exact", patterns="all")


def test_a_plan_that_drops_records_survives_a_file(people, tmp_path):
    people.execute("DELETE FROM people WHERE sex = 'm' AND age = 1")
    policy = policy_of(suppression_limit=0.2)
    plan = sqlanon.plan(
        people, policy, table="people", method="pattern-greedy", patterns=[["age", "sex"]]
    )
    plan.save(tmp_path / "plan.json")
    loaded = sqlanon.Plan.load(tmp_path / "plan.json")
    report = sqlanon.apply(people, loaded, into="safe")
    assert people.execute("SELECT count(*) FROM safe").fetchone() == (6,)
    assert report.suppressed_records == 1


def test_the_plan_does_not_depend_on_the_order_of_records(people):
    people.execute("CREATE TABLE turned AS SELECT * FROM people ORDER BY zip DESC")
    plans = [
        sqlanon.plan(people, policy_of(), table=table, method="pattern-greedy", patterns="all")
        for table in ("people", "turned")
    ]
    assert plans[0].recoding == plans[1].recoding


@pytest.mark.parametrize(
    ("method", "patterns", "message"),
    [
        ("pattern-greedy", None, "--pattern COLUMN"),
        ("incognito", "all", "patterns belong to pattern-greedy and pattern-exact"),
        ("pattern-greedy", [["town"]], "'town' is not a quasi-identifier"),
    ],
)
def test_patterns_that_do_not_fit_are_refused(people, method, patterns, message):
    with pytest.raises(PolicyError, match=message):
        sqlanon.plan(people, policy_of(), table="people", method=method, patterns=patterns)


def test_values_that_a_hierarchy_misses_are_counted(people):
    zips = Hierarchy.from_rows([("10115", "*"), ("10117", "*")])
    policy = Policy({**HIERARCHIES, "zip": zips}, keep=("ill",), models=[KAnonymity(2)])
    with pytest.raises(HierarchyError, match="misses 6 values that 6 records hold"):
        sqlanon.plan(people, policy, table="people", method="pattern-greedy", patterns="all")


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.just(0), st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=8),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from(["*", "gone"]),
)
def test_exact_never_loses_less_than_its_bound_where_a_column_has_one_value(rows, k, limit, label):
    assume(k <= len(rows))
    with empty_database() as connection:
        connection.execute("CREATE TABLE people (a INT, b INT, c INT)")
        insert(connection, "people", rows)
        policy = Policy(
            ["a", "b", "c"],
            models=[KAnonymity(k)],
            suppression_limit=limit,
            suppressed="drop" if label == "*" else "keep",
            suppressed_label=label,
        )
        plan = sqlanon.plan(
            connection, policy, table="people", method="pattern-exact", patterns=[["b"], ["none"]]
        )
    report = plan.report
    assert report.lower_bound <= report.loss["lm"] + 1e-12
    if report.search.proven:
        assert report.lower_bound == pytest.approx(report.loss["lm"])


def test_exact_prices_a_suppressed_record_as_the_report_counts_it():
    """Two records lose all cells: also that of a column where all have one value."""
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT 0 AS a, unnest([1, 1, 2, 3]) AS b")
        policy = Policy(["a", "b"], models=[KAnonymity(2)])
        report = sqlanon.plan(
            connection, policy, table="people", method="pattern-exact", patterns=[["b"]]
        ).report
    assert report.suppressed_records == 2
    assert report.loss["lm"] == report.lower_bound == 0.5


@pytest.mark.parametrize("method", ["pattern-greedy", "pattern-exact"])
def test_a_column_of_one_value_is_kept_where_that_costs_nothing(method):
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT unnest([1, 1, 2, 2]) AS a, 0 AS b")
        sqlanon.anonymize(
            connection,
            Policy(["a", "b"], models=[KAnonymity(2)]),
            table="people",
            into="safe",
            method=method,
            patterns=[["a"], ["a", "b"]],
        )
        rows = connection.execute("SELECT a, b FROM safe ORDER BY ALL").fetchall()
    assert rows == [(1, 0), (1, 0), (2, 0), (2, 0)]


@pytest.mark.parametrize(
    ("limit", "suppressed", "told"),
    [
        (0.0, "drop", "; a suppression limit of 0.2 would leave them out"),
        (0.1, "drop", "; a suppression limit of 0.2 would leave them out"),
        (0.2, "drop", "; they are left out"),
        (0.0, "keep", "a suppression limit of 0.2 and suppressed = 'drop' would leave them out"),
    ],
)
def test_a_note_says_which_limit_would_leave_records_out(limit, suppressed, told):
    policy = Policy(
        ["a", "b"], models=[KAnonymity(2)], suppression_limit=limit, suppressed=suppressed
    )
    asked = {"method": "pattern-greedy", "patterns": [["a"]]}
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT unnest([1, 1, 2, 2, 3]) AS a, 0 AS b")
        notes = sqlanon.plan(connection, policy, table="people", **asked).report.notes
    [note] = [note for note in notes if "no pattern has a place" in note]
    assert note.endswith(told)
