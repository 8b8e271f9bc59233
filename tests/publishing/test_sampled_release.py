"""What becomes of a population on the way from a policy to a release."""

import json

import duckdb
import pytest

import sqlanon
from sqlanon import DeltaPresence, Hierarchy, KAnonymity, KMap, Plan, Policy
from sqlanon.errors import (
    HierarchyError,
    PolicyError,
    SourceError,
    StalePlanError,
    VerificationError,
)
from sqlanon.publishing import promises

pytestmark = pytest.mark.slow

PEOPLE = [(21, "f"), (22, "f"), (23, None), (24, None), (31, "m"), (32, "m"), (33, "m"), (58, "m")]
RECORDS = [0, 2, 4, 5, 7]


@pytest.fixture
def connection():
    opened = duckdb.connect()
    opened.execute("CREATE TABLE everybody (age INTEGER, sex VARCHAR, name VARCHAR)")
    opened.executemany("INSERT INTO everybody VALUES (?, ?, 'x')", PEOPLE)
    opened.execute("CREATE TABLE people (age INTEGER, sex VARCHAR, ill VARCHAR)")
    opened.executemany("INSERT INTO people VALUES (?, ?, 'flu')", [PEOPLE[n] for n in RECORDS])
    return opened


def policy(*models, population="everybody", limit=0.2, **roles):
    return Policy(
        {"age": Hierarchy.intervals(10), "sex": Hierarchy.suppression()},
        keep=["ill"],
        models=models,
        population=population,
        suppression_limit=limit,
        **roles,
    )


def released(connection):
    return connection.execute("SELECT age, sex FROM released ORDER BY ALL").fetchall()


def test_a_release_names_the_figures_that_its_models_bound(connection):
    asked = policy(KMap(2), DeltaPresence(0, 0.7))
    report = sqlanon.anonymize(connection, asked, table="people", into="released")
    # The person of 58 is alone in her class, and one of five may be left out.
    assert released(connection) == [("20-29", "f"), ("20-29", None), ("30-39", "m"), ("30-39", "m")]
    assert [(each.model, each.threshold, each.value, each.holds) for each in report.models] == [
        ("k-map", 2, 2, True),
        ("delta-presence at least", 0, 0.0, True),
        ("delta-presence at most", 0.7, 2 / 3, True),
    ]
    assert sqlanon.check(connection, asked, table="released").models == report.models


def test_a_population_in_a_file_counts_as_one_in_a_table(connection, tmp_path):
    path = tmp_path / "register.csv"
    connection.execute(f"COPY everybody TO '{path}' (HEADER)")
    reports = [
        sqlanon.anonymize(
            connection, policy(KMap(2), population=place), table="people", into="released",
            overwrite=True, report=tmp_path / f"{number}.html",
        )
        for number, place in enumerate(["everybody", path])
    ]  # fmt: skip
    assert reports[0].models == reports[1].models
    assert reports[0].loss == reports[1].loss
    assert "k-map" in (tmp_path / "0.html").read_text()


def test_a_release_goes_to_a_file_whose_rows_are_those_that_were_checked(connection, tmp_path):
    path = tmp_path / "released.csv"
    report = sqlanon.anonymize(connection, policy(KMap(2)), table="people", output=path)
    assert report.holds
    assert len(path.read_text().splitlines()) == 5


def test_a_table_as_it_stands_may_fail(connection):
    found = sqlanon.check(connection, policy(KMap(2), DeltaPresence(0.1, 1)), table="people")
    assert [(each.value, each.holds) for each in found.models] == [
        (1, False), (0.0, False), (1.0, True)
    ]  # fmt: skip
    assert not found.holds


def test_labels_at_several_levels_hold_the_people_of_both(connection):
    connection.execute("CREATE TABLE mixed AS SELECT '20-29' AS age, '*' AS sex, 'flu' AS ill")
    connection.execute("INSERT INTO mixed VALUES ('21', 'f', 'flu'), ('*', 'm', 'flu')")
    found = sqlanon.check(connection, policy(KMap(1)), table="mixed")
    assert found.models[0].value == 1
    connection.execute("DELETE FROM mixed WHERE age = '21'")
    assert sqlanon.check(connection, policy(KMap(1)), table="mixed").models[0].value == 4
    with pytest.raises(SourceError, match="'age', 'sex' stand for nodes within each other"):
        sqlanon.check(connection, policy(DeltaPresence(0, 1)), table="mixed")


def test_labels_that_nobody_has_are_of_no_people(connection):
    connection.execute("CREATE TABLE far AS SELECT '90-99' AS age, 'f' AS sex, 'flu' AS ill")
    found = sqlanon.check(connection, policy(KMap(1)), table="far")
    assert found.models[0].value == 0
    [told] = [note for note in found.notes if "--hierarchy" in note]
    assert "no label of column 'age' is that of anybody in the population" in told


def test_records_beyond_their_population_are_told_once(connection):
    connection.execute("INSERT INTO people VALUES (21, 'F', 'flu'), (21, 'F', 'flu')")
    found = sqlanon.check(connection, policy(KMap(1)), table="people")
    assert found.models[0].value == 0
    made = sqlanon.anonymize(connection, policy(KMap(2), limit=1), table="people", into="released")
    for report in (found, made):
        [told] = [note for note in report.notes if "does not hold everybody" in note]
        assert "1 combination of 'age' and 'sex' has 2 records in the table and 0 in" in told
    connection.execute("DELETE FROM everybody WHERE age > 22")
    hasty = sqlanon.plan(connection, policy(KMap(2)), table="people", time_limit=1e-6)
    assert any("has 7 records in the table and 2 in" in note for note in hasty.report.notes)


def test_a_text_file_of_the_population_is_read_by_the_types_of_the_table(connection, tmp_path):
    connection.execute("CREATE TABLE letters (postcode VARCHAR, born DATE, height DOUBLE)")
    connection.execute("INSERT INTO letters VALUES ('12345', '2001-02-03', 2), ('12346', NULL, 2)")
    register = tmp_path / "register.csv"
    register.write_text("postcode,born,height\n12345,2001-02-03,2\n12346,,2\n12346,,2\n")
    columns = {
        "postcode": Hierarchy.prefix(3),
        "born": Hierarchy.dates("year"),
        "height": Hierarchy.intervals(1),
    }
    found = sqlanon.check(
        connection, Policy(columns, models=[KMap(2)], population=register), table="letters"
    )
    assert found.models[0].value == 1
    plan = sqlanon.plan(
        connection, Policy(columns, models=[KMap(1)], population=register), table="letters"
    )
    assert [*plan.report.levels.values()] == [0, 0, 0]
    against = sqlanon.risk(
        connection, Policy([*columns]), table="letters", population=register
    ).population
    assert against.journalist_mean == 0.75


def test_a_saved_plan_knows_its_population_and_notices_a_change(connection, tmp_path):
    path = tmp_path / "plan.json"
    sqlanon.plan(connection, policy(KMap(2)), table="people").save(path)
    plan = Plan.load(path)
    document = json.loads(path.read_text())
    assert plan.policy.population == "everybody"
    assert document["population"][:2] == ['"main"."everybody"', 8]
    assert sqlanon.apply(connection, plan, into="released").models == plan.report.models
    connection.execute("UPDATE everybody SET name = 'y'")  # no quasi-identifier
    sqlanon.apply(connection, plan, into="released", overwrite=True)
    connection.execute("UPDATE everybody SET age = 39 WHERE age = 31")
    with pytest.raises(
        StalePlanError, match=r"population changed .* 8 records: it has as many now"
    ):
        sqlanon.apply(connection, plan, into="released", overwrite=True)
    connection.execute("DELETE FROM everybody WHERE age = 21")
    with pytest.raises(StalePlanError, match="it has 7 now"):
        sqlanon.apply(connection, plan, into="released", overwrite=True)


def test_a_plan_that_hides_its_population_is_refused(connection, tmp_path):
    path = tmp_path / "plan.json"
    sqlanon.plan(connection, policy(KMap(2)), table="people").save(path)
    document = json.loads(path.read_text()) | {"population": None}
    path.write_text(
        json.dumps(promises.sealed({k: v for k, v in document.items() if k != "digest"}))
    )
    with pytest.raises(SourceError, match="does not say which population"):
        Plan.load(path)


def test_a_plan_edited_to_promise_more_is_found_out(connection, monkeypatch):
    plan = sqlanon.plan(connection, policy(KMap(2)), table="people")
    monkeypatch.setattr("sqlanon.query.privacy.population.violates",
                        lambda _: sqlanon.query.privacy.population.value(False))  # fmt: skip
    with pytest.raises(VerificationError):
        sqlanon.apply(connection, plan, into="released")


def test_the_printed_statement_gives_the_rows_that_are_published(connection):
    plan = sqlanon.plan(connection, policy(KMap(2)), table="people")
    sqlanon.apply(connection, plan, into="released")
    expected = released(connection)
    connection.execute("DROP TABLE released")
    connection.execute(plan.sql(into="released"))
    assert released(connection) == expected
    with pytest.raises(PolicyError, match=r"counts a population .* for duckdb alone"):
        plan.sql("spark")
    whole = sqlanon.plan(connection, policy(KMap(2), limit=0), table="people")
    assert "everybody" not in whole.sql("spark")  # nothing is suppressed


def test_other_records_are_published_by_the_recoding_of_a_plan(connection):
    plan = sqlanon.plan(connection, policy(KMap(2)), table="people")
    connection.execute("CREATE TABLE batch AS FROM people WHERE age < 30")
    report = sqlanon.apply(connection, plan, to="batch", into="released")
    assert [(each.model, each.value) for each in report.models] == [("k-map", 2)]


def test_measures_count_the_values_of_the_population(connection):
    asked = policy(KMap(2))
    report = sqlanon.anonymize(connection, asked, table="people", into="released")
    measured = sqlanon.measure(connection, "released", asked, table="people")
    assert measured.to_dict()["lm"] == pytest.approx(report.loss["lm"])


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ("ALTER TABLE everybody DROP sex", SourceError, "population has no column 'sex'"),
        ("ALTER TABLE everybody ALTER age TYPE VARCHAR", SourceError, "'age' is INT in the table"),
        ("DELETE FROM everybody WHERE age = 21", SourceError,
         "1 combination of 'age' and 'sex' has 1 record in the table and 0 in the"),
    ],
)  # fmt: skip
def test_a_population_that_does_not_fit_is_refused(connection, change, error, said):
    connection.execute(change)
    with pytest.raises(error, match=said):
        sqlanon.plan(connection, policy(DeltaPresence(0, 1)), table="people")


def test_k_map_is_asked_of_a_population_that_misses_some(connection):
    connection.execute("DELETE FROM everybody WHERE age = 58")
    report = sqlanon.anonymize(connection, policy(KMap(2)), table="people", into="released")
    assert report.suppressed_records == 1
    with pytest.raises(SourceError, match="does not hold everybody of the table"):
        sqlanon.check(connection, policy(DeltaPresence(0, 1)), table="people")


def lettered(connection, rows, people):
    """Makes a release of one column, and its population."""
    for table, values in (("letters", rows), ("everyone", people)):
        connection.execute(f"CREATE TABLE {table} (q VARCHAR)")
        connection.executemany(f"INSERT INTO {table} VALUES (?)", [(value,) for value in values])


def test_labels_of_the_same_people_are_one_class_beside_a_population(connection):
    """A value and the node that holds it alone are told apart by no one."""
    rows = [("a", "A", "*"), ("b", "B", "*"), ("b2", "B", "*")]
    asked = Policy({"q": Hierarchy.from_rows(rows)}, models=[KMap(2)], population="everyone")
    lettered(connection, ["a", "A", "A", "B"], ["a", "a", "b", "b", "b2"])
    report = sqlanon.check(connection, asked, table="letters")
    assert [(each.value, each.holds) for each in report.models] == [(2, True)]
    [told] = [note for note in report.notes if "does not hold everybody" in note]
    assert "3 records in the table and 2 in the population" in told


def test_a_label_of_several_nodes_tells_nobody_whom_of_a_population_it_means(connection):
    rows = [("a", "A", "*"), ("b", "B", "*"), ("A", "C", "*")]
    asked = Policy({"q": Hierarchy.from_rows(rows)}, models=[KMap(2)], population="everyone")
    lettered(connection, ["A", "A"], ["a", "a", "b", "A"])
    with pytest.raises(SourceError, match="nobody can tell whom of the population it means"):
        sqlanon.check(connection, asked, table="letters")


def test_greater_numbers_of_a_population_are_people_of_their_interval(connection):
    connection.execute("ALTER TABLE people ALTER age TYPE TINYINT")
    connection.execute("INSERT INTO everybody VALUES (1000, 'f', 'x')")
    report = sqlanon.anonymize(connection, policy(KMap(2)), table="people", into="released")
    assert [each.value for each in report.models] == [2]


def test_people_whom_a_hierarchy_misses_are_told_by_their_number(connection):
    listed = Hierarchy.from_rows([("f", "*"), ("m", "*"), (None, "*")])
    asked = Policy({"sex": listed}, others="drop", models=[KMap(2)], population="everybody")
    connection.execute("INSERT INTO everybody VALUES (1, 'secret', 'x'), (2, 'secret', 'x')")
    for table in ("people", "everybody"):
        with pytest.raises(HierarchyError, match="1 value that 2 records hold") as error:
            sqlanon.plan(connection, asked, table=table)
        assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"population": None}, "2-map needs the population"),
        ({"population": ""}, "population must be the name of a table"),
        ({"entity": "who"}, "counts each record, and each row of the population, as one person"),
        ({"suppressed": "keep", "models": [DeltaPresence(0, 0.5)]}, "may be of any class"),
    ],
)
def test_a_policy_that_says_too_little_or_too_much_is_refused(change, said):
    given = {"models": [KMap(2)], "population": "everybody", "suppression_limit": 0.1}
    with pytest.raises(PolicyError, match=said):
        Policy(["age"], **given | change)


def test_a_manifest_is_refused_since_the_release_alone_proves_nothing(connection, tmp_path):
    with pytest.raises(PolicyError, match="2-map is of a population"):
        sqlanon.anonymize(
            connection, policy(KMap(2)), table="people", into="released",
            manifest=tmp_path / "manifest.json",
        )  # fmt: skip


def test_joined_tables_have_no_population(connection):
    with pytest.raises(PolicyError, match="two joined tables"):
        sqlanon.check(connection, policy(KMap(2)), table="people", join="everybody", on=["age"])


def test_a_policy_reads_back_as_it_was_written(tmp_path):
    made = policy(KMap(2), DeltaPresence(0.1, 0.5), KAnonymity(2))
    assert Policy.from_dict(made.to_dict()) == made
    (tmp_path / "register.csv").touch()
    for shares in ("0.1:0.5", "{ least = 0.1, most = 0.5 }", {"least": 0.1, "most": 0.5}):
        words = {"k_map": "2", "delta_presence": shares, "k": 2, "population": "register.csv"}
        read = Policy.from_dict({"quasi_identifiers": ["age"], **words}, tmp_path)
        assert read.models == made.models
        assert read.population == str(tmp_path / "register.csv")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"k_map": 0}, "k of k-map is 0"),
        ({"k_map": 1.5}, "k of k-map is 1.5"),
        ({"delta_presence": "0.5"}, "lacks most; it has the form LEAST:MOST, such as 0.1:0.5"),
        ({"delta_presence": {"most": 0.5}}, "delta_presence lacks least"),
        ({"delta_presence": "0.5:0.1"}, "the second above 0 and not below the first"),
        ({"delta_presence": "0:0"}, "the second above 0"),
        ({"delta_presence": "0:2"}, "shares between 0 and 1"),
    ],
)
def test_figures_out_of_range_are_refused(form, said):
    with pytest.raises(PolicyError, match=said):
        Policy.from_dict({"quasi_identifiers": ["age"], "population": "everybody", **form})
