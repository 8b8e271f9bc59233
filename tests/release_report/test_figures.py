"""Figures of a release report, against what a few lines count from the rows."""

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import chain, count
from math import inf

import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, KMap, LDiversity, Plan, Policy
from sqlanon.deadline import Deadline
from sqlanon.engine.open import open_source
from sqlanon.errors import PolicyError, TimeLimitError
from sqlanon.release_report.distributions import SHOWN_LABELS, _fewer, settled, value_shares
from sqlanon.release_report.figures import LabelGroup, LossFigures
from sqlanon.release_report.gathering import searched, with_bound, with_identifying
from sqlanon.release_report.making import report_of_release
from sqlanon.release_report.page import PageViews, group_row
from sqlanon.release_report.report import ReleaseReport
from sqlanon.reports.bound import BoundReport
from sqlanon.wording import is_about

AGES = Hierarchy.intervals(10)


def table(rows, columns="age INT, sex TEXT, illness TEXT", name="people", connection=None):
    connection = connection or empty_database()
    connection.execute(f"CREATE TABLE {name} ({columns})")
    insert(connection, name, rows)
    return connection


def reported(connection, policy, released="released", **how):
    return sqlanon.report(connection, released, policy, table="people", **{"effort": "none"} | how)


def policy(*models, **others):
    return Policy(
        {"age": AGES, "sex": Hierarchy.suppression()},
        sensitive=["illness"],
        models=[KAnonymity(2), *models],
        **others,
    )


def published():
    """A table of four records with its release, and the plan that it was made by."""
    connection = table([(age, "f", "flu") for age in (1, 2, 11, 12)])
    plan = sqlanon.plan(connection, policy(), table="people")
    sqlanon.apply(connection, plan, into="released")
    return connection, plan


values = st.tuples(
    st.sampled_from(["a", "b", None]), st.sampled_from(["flu", "cold", "burn", None])
)


@settings(max_examples=6)
@given(st.lists(values, min_size=1, max_size=12))
def test_the_furthest_class_and_its_shares_are_those_of_the_rows(drawn):
    connection = table([(1, sex, illness) for sex, illness in drawn])
    own = Policy(["sex"], sensitive=["illness"], others="drop")
    with open_source(connection, "people", read_only=True) as source:
        shares = value_shares(source.engine, source.table, policy=own, name="illness")
    classes = defaultdict(Counter)
    for sex, illness in drawn:
        classes[sex][illness] += 1
    whole, n = sum(classes.values(), Counter()), len(drawn)
    apart = {
        sex: sum(max(own[v] / own.total() - whole[v] / n, 0) for v in own)
        for sex, own in classes.items()
    }
    assert shares.distance == pytest.approx(max(apart.values()))
    report = sqlanon.check(connection, own, table="people")
    assert shares.distance == pytest.approx(report.sensitive["illness"].t["equal"])
    held = classes[shares.class_labels["sex"]]
    assert {row.label: (row.records, row.furthest) for row in shares.rows} == {
        value: (count, held[value]) for value, count in whole.items()
    }
    assert shares.class_size == held.total()


def test_of_classes_equally_far_the_largest_then_the_first_by_its_labels_is_told():
    rows = [(1, sex, illness) for sex, illness in (("b", "x"), ("a", "y"))]
    connection = table([*rows, *rows])
    own = Policy(["sex"], sensitive=["illness"], others="drop")

    def furthest():
        with open_source(connection, "people", read_only=True) as source:
            shares = value_shares(source.engine, source.table, policy=own, name="illness")
        return shares.class_labels["sex"], shares.class_size

    assert furthest() == ("a", 2)
    # As far from the table as the smaller class: half of all records hold x, half y.
    connection.execute("DELETE FROM people")
    insert(connection, "people", [(1, sex, "xy"[sex == "c"]) for sex in "accb"])
    assert furthest() == ("c", 2)


@pytest.mark.slow
def test_a_kept_column_that_joins_the_records_of_a_person_is_a_caution():
    people = [(1, "f", "flu", f"p{n}", f"j{n}") for n in (1, 2, 3) for _ in range(2)]
    connection = table(people, "age INT, sex TEXT, illness TEXT, person TEXT, joins TEXT")
    kept = policy(entity="person", keep=["joins"], others="keep")
    title = "A kept column joins the records of a person"
    assert title in [each.title for each in reported(connection, kept, "people").cautions]
    connection.execute("UPDATE people SET joins = 'same'")
    assert title not in [each.title for each in reported(connection, kept, "people").cautions]


@pytest.mark.slow
def test_a_column_of_many_numbers_is_told_in_ranges_that_hold_all_of_it():
    rows = [(number % 2, "f", 0) for number in range(40)]
    rows = [(age, sex, None if n == 7 else n * n) for n, (age, sex, _) in enumerate(rows)]
    connection = table(rows, "age INT, sex TEXT, illness INT")
    [shares] = reported(connection, policy(), "people").facts.sensitive
    assert shares.is_ranged
    assert sum(row.records for row in shares.rows) == 40
    assert shares.rows[-1].label is None
    assert shares.rows[0].label == "0 to 9"
    assert len(shares.rows) <= 11


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6), st.integers(2, 8))
def test_no_hidden_difference_can_be_worked_out(pairs, least):
    befores = [after + more for after, more in pairs]
    afters = [after for after, _ in pairs]
    shown = settled(befores, afters, least=least)
    hidden = [b - a for b, a, s in zip(befores, afters, shown, strict=True) if s is None]
    if befores == afters:  # which both tables tell
        assert shown == befores
        return
    for before, after, told in zip(befores, afters, shown, strict=True):
        assert told is None or (told == before and before - after >= least)
    # Who knows how many records are left out knows the sum of what is hidden, and no more.
    assert not sum(hidden) or sum(hidden) >= least or len(hidden) == len(befores)
    assert sum(hidden) == 0 or len(hidden) > 1 or len(befores) == 1


@pytest.mark.slow
def test_the_original_is_counted_by_the_labels_of_the_release():
    rows = [(age, "f", "flu") for age in [1, 2, 3, 11, 12, 13] * 10] + [(21, "m", "flu")] * 9
    connection = table(rows)
    connection.execute(
        "CREATE TABLE released AS SELECT age // 10 * 10 || '-' || age // 10 * 10 + 9 AS age, "
        "'*' AS sex, illness FROM people WHERE age < 20"
    )
    age, sex = reported(connection, policy(suppression_limit=0.2)).facts.columns
    assert [(group.label, group.after) for group in age.groups] == [("0-9", 30), ("10-19", 30)]
    # Nine are missing, all of values that no label stands for: to tell so tells where they were.
    assert [group.before for group in age.groups] == [None, None]
    assert [use.records for use in age.levels] == [60]
    assert [(group.label, group.is_top, group.after) for group in sex.groups] == [("*", True, 60)]
    assert sex.loss["suppressed_cells"] == 1.0


@pytest.mark.slow
def test_nested_labels_are_counted_within_the_widest():
    rows = [(age, "f", "flu") for age in range(20)] * 3
    connection = table(rows)
    connection.execute(
        "CREATE TABLE released AS SELECT CASE WHEN age < 5 THEN age::TEXT WHEN age < 10 THEN '0-9' "
        "WHEN age < 15 THEN '10-19' ELSE '*' END AS age, sex, illness FROM people"
    )
    age, _ = reported(connection, policy()).facts.columns
    groups = {group.label: (group.before, group.after) for group in age.groups}
    assert groups == {"0-9": (None, 30), "10-19": (30, 15), "*": (None, 15)}
    assert {use.level: use.records for use in age.levels} == {0: 15, 1: 30, 2: 15}


@pytest.mark.slow
@pytest.mark.parametrize("suppressed", ["drop", "keep"])
def test_labels_levels_and_shares_are_of_all_released_records(suppressed):
    rows = [(age, sex, "flu") for age in [1, 2, 3, 11, 12, 13] * 2 for sex in "ffmf"]
    connection = table([*rows, *[(21, "m", "flu")] * 7], "age INT, sex TEXT, town TEXT")
    own = Policy(
        {"age": AGES, "sex": Hierarchy.suppression(), "town": Hierarchy.suppression()},
        models=[KAnonymity(2)],
        suppression_limit=1,
        suppressed=suppressed,
    )
    connection.execute(
        "CREATE TABLE released AS SELECT age // 10 * 10 || '-' || age // 10 * 10 + 9 AS age, "
        "CASE age WHEN 3 THEN '*' ELSE sex END AS sex, town FROM people WHERE age < 20"
    )
    if suppressed == "keep":
        connection.execute("INSERT INTO released SELECT '*', '*', '*' FROM range(7)")
    report = reported(connection, own)
    for column in report.facts.columns:
        held = dict(
            connection.execute(
                f"SELECT {column.name}, count(*) FROM released GROUP BY 1"
            ).fetchall()
        )
        assert {group.label: group.after for group in column.groups} == held
        assert column.labels == len(held)
        assert sum(use.records for use in column.levels) == sum(held.values())
        at_top = [use.records for use in column.levels if use.name == "fully suppressed"]
        assert sum(at_top) == held.get("*", 0)
        assert [group.after for group in column.groups if group.is_top] == at_top
    # Where the only value's label is that of suppressed records, they are shown together.
    connection.execute("UPDATE released SET town = '*'")
    town = reported(connection, own).facts.columns[2]
    assert [(group.label, group.after) for group in town.groups] == [("*", report.facts.released)]


@pytest.mark.slow
def test_a_failing_release_is_called_so_with_what_it_has():
    connection = table([(1, "f", "flu"), (2, "f", "flu"), (30, "m", "cold")])
    connection.execute("ALTER TABLE people ADD COLUMN name TEXT DEFAULT 'x'")
    report = reported(connection, policy(LDiversity(2), identifiers=["name"]), "people")
    assert not report.holds
    assert report.facts.unexpected == ("name",)
    told = [(each.severity, each.title) for each in report.cautions]
    assert ("error", "k-anonymity does NOT hold") in told
    assert ("error", "Columns are released that the policy leaves out") in told
    assert ("error", "Records are unique in the release") in told
    assert "NOT" in report.to_text().splitlines()[0]


@pytest.mark.slow
def test_a_release_with_a_column_that_the_policy_leaves_out_fails_though_every_model_holds():
    connection = table([(1, "f", "flu"), (2, "f", "cold")])
    connection.execute("CREATE TABLE released AS SELECT '0-9' AS age, sex, illness FROM people")
    assert reported(connection, policy()).holds
    connection.execute("ALTER TABLE people ADD COLUMN name TEXT DEFAULT 'x'")
    connection.execute("ALTER TABLE released ADD COLUMN name TEXT DEFAULT 'x'")
    report = reported(connection, policy(identifiers=["name"]))
    assert all(each.holds for each in report.models)
    assert not report.holds
    assert "NOT satisfy" in report.verdict


@pytest.mark.slow
@pytest.mark.parametrize(("k", "shown"), [(2, [None, None, 60]), (25, [None, None, None])])
def test_differences_below_five_records_or_k_are_hidden(k, shown):
    sizes = {1: (44, 40), 11: (44, 40), 21: (60, 40)}
    connection = table([(age, "f", "flu") for age, (own, _) in sizes.items() for _ in range(own)])
    rows = [(f"{age - 1}-{age + 8}", "f", "flu") for age, (_, n) in sizes.items() for _ in range(n)]
    table(rows, "age TEXT, sex TEXT, illness TEXT", "released", connection)
    own = Policy(
        {"age": AGES, "sex": Hierarchy.suppression()},
        sensitive=["illness"],
        models=[KAnonymity(k)],
        suppression_limit=1,
    )
    age, _ = reported(connection, own).facts.columns
    assert [group.before for group in age.groups] == shown
    assert age.hidden == max(k, 5)


def test_groups_shown_as_one_tell_no_sum_where_one_of_them_tells_nothing():
    groups = [LabelGroup(str(n), 100 - n, 110 - n) for n in range(SHOWN_LABELS + 1)]
    assert _fewer(groups)[-1] == LabelGroup("", 255, 285, 3)
    hidden = [*groups[:-1], replace(groups[-1], before=None)]
    assert _fewer(hidden)[-1] == LabelGroup("", 255, None, 3)


@pytest.mark.slow
def test_a_hidden_original_has_no_bar():
    connection = table([(1, "f", "flu")] * 8)
    connection.execute("CREATE TABLE released AS SELECT * FROM people LIMIT 6")
    found = reported(connection, policy(suppression_limit=1)).facts
    hidden = ["1", "difference not shown", "3 (50%)"]
    assert group_row(LabelGroup("1", 3, None), found) == (hidden, (0.0, 0.5))
    assert group_row(LabelGroup("1", 3, 8), found) == (["1", "8 (100%)", "3 (50%)"], (1.0, 0.5))


def test_an_empty_release_has_a_report():
    connection = table([(1, "f", "flu"), (2, "f", "cold")])
    connection.execute("CREATE TABLE released AS SELECT * FROM people WHERE FALSE")
    report = reported(connection, policy())
    assert report.left_out == 2
    assert "empty" in report.to_text()
    assert report.to_dict()["release"]["records"] == 0


@pytest.mark.slow
def test_labels_that_no_hierarchy_has_leave_a_report_without_loss():
    connection = table([(1, "f", "flu"), (2, "f", "cold")])
    connection.execute("CREATE TABLE released AS SELECT 'young' AS age, sex, illness FROM people")
    report = reported(connection, policy())
    assert report.facts.loss.value is None
    assert "hierarchy does not know" in report.facts.loss.missing
    assert "The released labels could not be read" in [each.title for each in report.cautions]


@pytest.mark.slow
def test_a_population_gives_journalist_risk():
    connection = table([(1, "f", "flu"), (1, "f", "cold")])
    table([(1, "f", "x")] * 8, connection=connection, name="everybody")
    report = reported(connection, policy(), "people", population="everybody")
    assert report.to_dict()["population"]["journalist_max"] == 1 / 8
    rows = [line.split() for line in report.to_text().splitlines()]
    assert ["journalist", "risk,", "highest", "at", "most", "50%", "12.5%"] in rows
    asked = replace(policy(), models=[KMap(2)], population="everybody")
    page = reported(connection, asked, "people").html
    assert "12.5%" in page
    assert "it needs a population" not in page


@pytest.mark.slow
def test_the_digest_of_a_plan_is_that_of_its_file_and_a_bound_below_its_loss(tmp_path):
    connection = table([(age, "f", "flu") for age in (1, 2, 11, 12)])
    sqlanon.plan(connection, policy(), table="people").save(tmp_path / "plan.json")
    plan = Plan.load(tmp_path / "plan.json")
    assert plan.digest in (tmp_path / "plan.json").read_text()
    sqlanon.apply(connection, plan, into="released")
    report = reported(connection, policy(), plan=plan, effort="quick")
    assert report.hashes()["plan"] == plan.digest
    assert "source" not in report.hashes()
    assert 0 < report.facts.loss.lower_bound <= report.facts.loss.value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bound", "is_cut", "told"),
    [
        (1.47737e-05, False, "No useful lower bound on the loss was found; `sqlanon bound` may"),
        (2**-7, False, "less than 0.0078125; .* loses 0.5, which is 64 times as much"),
        (0.5 - 1e-11, False, "less than 0.5; this release loses exactly that"),
        (0.25, True, "less than 0.25; .* which is 2 times as much"),
        (1e-17, False, "No useful lower bound"),
    ],
)
def test_a_bound_that_says_nothing_is_not_held_against_the_loss(bound, is_cut, told):
    connection = table([(1, "f", "flu"), (1, "f", "cold")])
    report = reported(connection, policy(), "people")
    loss = LossFigures("lm", {"lm": 0.5}, bound, "no recoding", is_cut=is_cut)
    report = replace(report, facts=replace(report.facts, loss=loss))
    shown, text = loss.least_text(), report.to_text()
    assert re.search(told, shown)
    assert shown in text
    assert "e-0" not in shown + text
    noise = bound < 1e-12
    assert (loss.to_dict()["lower_bound"], loss.ratio is None) == (0.0 if noise else bound, noise)


@pytest.mark.slow
def test_the_bound_of_a_plan_stands_where_the_other_says_nothing():
    connection, plan = published()
    found = reported(connection, policy()).facts
    for least, is_cut, is_own in ((1e-9, False, True), (1e-2, False, False)):
        loss = replace(found.loss, lower_bound=least, is_cut=is_cut)
        bound = with_bound(replace(found, loss=loss), plan.report).loss.lower_bound
        assert (bound == plan.report.lower_bound) == is_own


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("ALTER TABLE people ADD COLUMN name TEXT", "other columns"),
        ("INSERT INTO people VALUES (1, 'f', 'flu')", "of 4 records, the original has 5"),
        ("INSERT INTO released VALUES ('0-9', '*', 'flu')", "publishes 4 records"),
        ("UPDATE released SET age = '*'", "promises 2 classes, the release has 1"),
    ],
)
def test_a_plan_that_the_release_was_not_made_by_is_refused(change, fault):
    connection, plan = published()
    connection.execute(change)
    with pytest.raises(PolicyError, match=f"not made by this plan: .*{fault}"):
        reported(connection, policy(drop=["name"] if "name" in change else []), plan=plan)


@pytest.mark.slow
def test_notes_that_a_caution_tells_are_not_listed_again():
    connection = table([(age, "f", "flu") for age in (1, 2, 11, 12)])
    report = reported(connection, policy(), "people")
    assert [is_about(note, "undemanded") for note in report.notes].count(True) == 1
    assert [is_about(note, "disclosed") for note in report.notes].count(True) == 1
    assert report.to_dict()["notes"] == list(report.notes)
    assert not any("'illness'" in note for note in report.other_notes)


@pytest.mark.slow
def test_a_note_is_known_in_a_plan_that_is_read_back(tmp_path):
    connection = table([(age, "f", "flu") for age in (1, 2, 11, 12)])
    plan = sqlanon.plan(connection, policy(), table="people")
    plan.save(tmp_path / "plan.json")
    read = Plan.load(tmp_path / "plan.json")
    assert read.notes == plan.notes
    assert [is_about(note, "undemanded") for note in read.notes] == [
        "does not hide 'illness'" in note for note in plan.notes
    ]
    assert any(is_about(note, "undemanded") for note in read.notes)
    page = tmp_path / "page.html"
    sqlanon.apply(connection, read, into="released", report=page)
    assert "k-anonymity alone does not hide" not in page.read_text("utf-8")


@pytest.mark.slow
def test_a_plan_of_another_policy_is_refused():
    connection, plan = published()
    other = Policy(["age"], sensitive=["illness"], others="drop", models=[KAnonymity(1)])
    with pytest.raises(PolicyError, match=r"quasi-identifiers are .*k = 2, the policy for k = 1"):
        reported(connection, other, plan=plan)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "how", "reason"),
    [
        ([KAnonymity(2)], {"loss": "discernibility"}, "none is known for loss 'discernibility'"),
        ([LDiversity(1)], {}, "asks for no k"),
        ([KAnonymity(3)], {}, "classes below k = 3"),
    ],
)
def test_a_bound_that_is_not_looked_for_has_its_reason(models, how, reason):
    connection = table([(1, "f", "flu"), (1, "f", "cold"), (2, "m", "flu"), (2, "m", "cold")])
    own = Policy(["age", "sex"], sensitive=["illness"], models=models)
    report = reported(connection, own, "people", effort="quick", **how)
    assert report.facts.loss.lower_bound is None
    assert any(reason in note for note in report.other_notes)


@pytest.mark.slow
def test_cautions_about_sensitive_columns_are_one_of_each_kind():
    """Of two columns that classes give away, and of two that far classes tell much about."""
    columns = "age INT, sex TEXT, ill TEXT, pay INT, vote INT, debt INT"
    rows = [(number // 2, "f", number // 2, number // 2, number, number) for number in range(8)]
    connection = table(rows, columns)
    own = Policy(["age", "sex"], sensitive=["ill", "pay", "vote", "debt"], models=[KAnonymity(2)])
    given, unprotected = reported(connection, own, "people").cautions[:2]
    assert given.title == "Some classes give sensitive columns away"
    assert "the same value: 'ill' (8) and 'pay' (8)." in given.message
    assert "--l ill=2 --l pay=2 or more" in given.remedy
    assert unprotected.title == "No model protects 'vote' and 'debt'"
    assert "75% ('vote') and 75% ('debt') of the records would" in unprotected.message
    assert "(--t vote=0.3 --t debt=0.3)" in unprotected.remedy


@pytest.mark.slow
def test_a_column_of_many_numbers_is_held_against_the_table_in_its_order():
    rows = [(number // 10, "f", 3 * number) for number in range(20)]
    rows += [(number // 20, "f", 57 * (number % 2)) for number in range(60)]
    connection = table(rows, 'age INT, sex TEXT, "net pay" INT')
    own = Policy(["age", "sex"], sensitive=["net pay"], models=[KAnonymity(2)])
    report = reported(connection, own, "people")
    [shares] = report.facts.sensitive
    figures = sqlanon.check(connection, own, table="people").sensitive["net pay"]
    assert shares.distance == pytest.approx(figures.t["ordered"])
    assert shares.to_dict()["furthest_class"]["measure"] == "ordered"
    assert shares.unique == 18
    told = {each.title: each for each in report.cautions}
    assert "(--t 'net pay=ordered:0.15')" in told["No model protects 'net pay'"].remedy
    exact = told["Exact values of a sensitive column single records out"]
    assert "18 (22.5%) of the records" in exact.message
    assert (exact.id, exact.column) == ("sensitive-identifies", "net pay")


@pytest.mark.slow
def test_records_left_out_are_no_suppressed_cells():
    connection = table([(1, sex, "flu") for sex in "fm" * 10])
    connection.execute(
        "CREATE TABLE released AS SELECT age, CASE WHEN rowid < 3 THEN '*' ELSE sex END AS sex, "
        "illness FROM people LIMIT 8"
    )
    report = reported(connection, policy(suppression_limit=1))
    age, sex = (column.lines for column in PageViews(report.facts).columns)
    assert "1 label published; none of the released cells are fully suppressed." in age
    assert "Loss (lm) 0.6, of which 0.6 for records that are left out." in age
    assert "3 labels published; 37.5% of the released cells are fully suppressed." in sex
    assert "Some columns say little" not in [each.title for each in report.cautions]


@pytest.mark.slow
def test_a_column_that_the_release_says_nothing_of_is_a_sentence():
    connection = table([(1, "f", "flu"), (1, "m", "cold")])
    connection.execute(
        "CREATE TABLE released AS SELECT '0-9' AS age, '*' AS sex, illness FROM people"
    )
    found = reported(connection, policy()).facts
    age, sex = PageViews(found).columns
    assert any("says nothing of this column" in line for line in sex.lines)
    assert (len(sex.chart.table.rows), sex.chart.bars) == (1, [])
    assert age.chart.bars


@pytest.mark.slow
def test_more_left_out_than_the_limit_is_a_caution_and_has_no_bound():
    connection = table([(1, "f", "flu")] * 4)
    connection.execute("CREATE TABLE released AS SELECT * FROM people LIMIT 2")
    report = reported(connection, policy(), effort="quick")
    title = "More records are left out than the policy's limit"
    assert title in [each.title for each in report.cautions]
    assert report.facts.loss.lower_bound is None
    assert any("policy's limit" in note for note in report.notes)


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ({"effort": "much"}, "none, quick or full"),
        ({"loss": "lmm"}, "did you mean 'lm'"),
        ({"plan": "plan.json"}, "must be a Plan"),
        ({"threshold": 0}, "share above 0"),
        ({"identifying": 2}, "share above 0"),
        ({"time_limit": 0}, "number above 0"),
    ],
)
def test_arguments_are_refused_with_the_way_out(how, fault):
    connection = table([(1, "f", "flu"), (2, "f", "cold")])
    with pytest.raises(PolicyError, match=fault):
        reported(connection, policy(), "people", **how)


def test_a_release_without_a_quasi_identifier_is_refused():
    connection = table([(1, "f", "flu"), (2, "f", "cold")])
    connection.execute("CREATE TABLE released AS SELECT sex, illness FROM people")
    with pytest.raises(PolicyError, match="no column 'age'"):
        reported(connection, policy())


@pytest.mark.slow
def test_a_frame_is_reported_beside_its_original():
    import pandas

    frame = pandas.DataFrame({"age": [1, 2, 11, 12], "sex": list("ffmm"), "illness": list("abab")})
    made = sqlanon.anonymize(frame, policy(), method="incognito")
    report = sqlanon.report(frame, made, policy(), effort="none")
    assert report.holds
    assert report.release == "released frame"


@pytest.mark.slow
def test_a_time_limit_leaves_the_verdict_and_says_what_it_ended():
    connection = table([(20, "fm"[n % 2], "flu") for n in range(40)])
    connection.execute("CREATE TABLE released AS SELECT '20-29' AS age, sex, illness FROM people")
    whole = reported(connection, policy(), effort="quick")
    late = reported(connection, policy(), effort="full", time_limit=1e-9)
    told, document = whole.to_dict(), late.to_dict()
    assert (told["cut_short"], document["cut_short"]) == (False, True)
    same = ("holds", "models", "original", "release", "columns", "sensitive", "left_out")
    assert [document[name] for name in same] == [told[name] for name in same]
    assert told["loss"] == document["loss"] | {
        name: told["loss"][name] for name in ("lower_bound", "bound_of")
    }
    assert (document["identifying"], document["loss"]["lower_bound"]) == ({}, None)
    first, second = (note for note in late.to_text().splitlines() if "time" in note)
    assert first.endswith("does not tell which columns identify")
    assert "in time; allow a longer time limit (--time-limit)" in second


@pytest.mark.slow
def test_the_largest_sets_of_columns_are_left_out_first():
    connection = table([(n % 7, "fm"[n % 2], "flu") for n in range(40)])
    own = policy(others="drop")
    found = reported(connection, own, "people").facts
    seen = []
    with open_source(connection, "people", read_only=True) as source:
        for looks in range(8, 20):  # of the engine at the time
            deadline = Deadline(looks, count().__next__)
            told = with_identifying(source.engine, source.table, facts=found, deadline=deadline)
            seen.append(0 if told.identifying is None else told.identifying.largest)
            assert told.is_cut == (seen[-1] < 2)
            assert told.identifying in (None, found.identifying) or seen[-1] == 1
    assert sorted({*seen}) == [0, 1, 2]
    assert seen == sorted(seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "later", "seconds", "note"),
    [
        (inf, 1, 1000, ""),
        (inf, 1, 0, "publishing took had passed again before sets of columns were counted"),
        (99, 100, 1000, ""),  # half of the limit
        (5, 1, 1000, "the time limit came before sets of columns were counted"),
    ],
)
def test_a_release_waits_no_longer_for_its_report_than_it_took(
    end, later, seconds, note, monkeypatch
):
    monkeypatch.setattr("sqlanon.release_report.making.LOOK_SECONDS", seconds)
    connection = table([(1, "f", "flu"), (1, "f", "cold")])
    connection.execute("CREATE TABLE released AS FROM people")
    plan = sqlanon.plan(connection, policy(), table="people", method="incognito")
    limit = Deadline(end, chain([0], count(later)).__next__)
    started = limit.clock()
    with open_source(connection, "people", read_only=True) as source:
        released = source.engine.tables.resolve("released")
        seen = report_of_release(
            source.engine,
            plan,
            original=source.table,
            table=released,
            limit=limit,
            started=started,
        )
    assert (seen.facts.identifying is None) == seen.is_cut == bool(note)
    assert [note in each for each in seen.notes] == [True] * bool(note)


@pytest.fixture(scope="module")
def half_found():
    """An original, and what its release tells without any search."""
    connection = table([(n % 7, "fm"[n % 2], "flu") for n in range(28)])
    connection.execute("CREATE TABLE released AS SELECT '0-9' AS age, sex, illness FROM people")
    report = reported(connection, policy(others="drop"))
    with open_source(connection, "people", read_only=True) as source:
        yield source, report.facts


@pytest.mark.slow
def test_columns_that_identify_get_half_of_the_time_and_a_bound_the_rest(half_found, monkeypatch):
    source, found = half_found
    given = []

    def looked(engine, original, *, facts, deadline):
        given.append(deadline.end)
        return facts

    monkeypatch.setattr("sqlanon.release_report.gathering.with_identifying", looked)
    for effort in ("quick", "none"):
        deadline = Deadline(100, iter([0, *[1000] * 1000]).__next__)
        asked = replace(found, options=replace(found.options, effort=effort))
        told = searched(source.engine, source.table, facts=asked, deadline=deadline, plan=None)
        assert (told.is_cut, told.is_late) == (False, effort == "quick")
        assert ReleaseReport(told).is_cut == (effort == "quick")
    assert given == [50, 100]


@pytest.mark.slow
@pytest.mark.parametrize("is_late", [True, False])
def test_a_bound_that_ran_out_of_time_names_the_way_out(is_late, half_found, monkeypatch):
    source, found = half_found

    def ended(*_, **__):
        if is_late:
            raise TimeLimitError
        return BoundReport("lm", 0.1, 2, 28, 1, ended="prices")

    monkeypatch.setattr("sqlanon.methods.clustering.bound.bound_table", ended)
    found = replace(found, options=replace(found.options, effort="quick"))
    limit = Deadline.after(600)
    told = searched(source.engine, source.table, facts=found, deadline=limit, plan=None)
    assert "a longer time limit (--time-limit), or effort quick or full" in told.notes[-1]
