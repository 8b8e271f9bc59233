"""A release report where a person may have several records: whom it counts, and what it says."""

import random
import re
from dataclasses import replace
from html import unescape

import pytest
from databases import empty_database, insert

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.cli.main import status
from sqlanon.errors import PolicyError
from sqlanon.wording import part_of, percent

pytestmark = pytest.mark.slow


def policy(k=5, **others):
    return Policy(
        {"age": Hierarchy.intervals(5), "sex": Hierarchy.suppression()},
        entity="pid",
        models=[KAnonymity(k)],
        **others,
    )


def people(rows):
    connection = empty_database()
    connection.execute("CREATE TABLE people (pid INT, age INT, sex TEXT)")
    insert(connection, "people", rows)
    return connection


def text_of(page):
    plain = re.sub(r"<style.*?</style>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", plain)))


def copies_of_ten(copies=6):
    return [(n, 20 + n, "mf"[n % 2]) for n in range(10) for _ in range(copies)]


def test_no_verdict_where_records_are_counted_and_a_person_makes_up_a_class():
    connection = people(copies_of_ten())
    connection.execute("CREATE TABLE released AS SELECT age::TEXT AS age, sex FROM people")
    report = sqlanon.report(connection, "released", policy(), table="people", effort="none")
    document = report.to_dict()
    assert not report.holds
    assert not document["holds"]
    assert document["findings"][0]["severity"] == "error"
    assert document["findings"][0]["title"] == "Persons cannot be counted in the release"
    assert [each["model"] for each in document["models"]] == ["k-anonymity of records"]
    assert report.verdict.startswith("It cannot be told whether")
    assert "every model holds" not in repr(report)
    rows = [line.split() for line in report.to_text().splitlines()]
    assert ["original", "(persons)", "release", "(records)"] in rows
    told = text_of(report.html)
    assert "? It cannot be told whether" in told
    assert "satisfies its policy." not in told
    assert "release (records)" in told


def test_a_release_that_fails_by_records_fails():
    connection = people([*copies_of_ten(), (10, 40, "m")])
    connection.execute("CREATE TABLE released AS SELECT age::TEXT AS age, sex FROM people")
    report = sqlanon.report(connection, "released", policy(), table="people", effort="none")
    assert report.verdict == "The released table does NOT satisfy its policy."


def test_persons_of_one_record_each_are_counted_by_their_records():
    connection = people([(n, 20, "m") for n in range(5)])
    connection.execute("CREATE TABLE released AS SELECT age::TEXT AS age, sex FROM people")
    report = sqlanon.report(connection, "released", policy(), table="people", effort="none")
    assert report.holds


SMALLEST = """
    WITH coded AS (SELECT pid, age // 5 AS age, sex FROM people),
    classes AS (SELECT age, sex, count(DISTINCT pid) AS size FROM coded GROUP BY ALL)
    SELECT min(size) FROM coded JOIN classes USING (age, sex) GROUP BY pid
"""


def drawn_people():
    drawn = random.Random(4)
    return people([(n % 40, 20 + drawn.randrange(10), drawn.choice("mf")) for n in range(100)])


def test_a_publication_counts_the_persons_of_the_release_by_their_smallest_class(tmp_path):
    connection, page = drawn_people(), tmp_path / "report.html"
    made = sqlanon.anonymize(
        connection, policy(), table="people", into="released", method="incognito", report=page
    )
    assert made.levels == {"age": 1, "sex": 0}
    sizes = [size for (size,) in connection.execute(SMALLEST).fetchall()]
    assert len(sizes) == 40
    told = text_of(page.read_text())
    mean = percent(sum(1 / size for size in sizes) / 40)
    assert re.search(rf"prosecutor risk, mean \S+ {re.escape(mean)} ", told)
    assert "The released table satisfies its policy." in told
    table = told.split("class size original release ")[1][:200]
    held = [part_of(sum(low <= n <= high for n in sizes), 40) for low, high in [(10, 19), (20, 49)]]
    assert all(each in table for each in held)


def test_a_release_that_says_whose_its_records_are_counts_persons():
    connection = drawn_people()
    connection.execute(
        "CREATE TABLE released AS SELECT pid, (age // 5 * 5) || '-' || (age // 5 * 5 + 4) AS age, "
        "sex FROM people"
    )
    asked = policy(keep=["pid"])
    report = sqlanon.report(connection, "released", asked, table="people", effort="none")
    sizes = [size for (size,) in connection.execute(SMALLEST).fetchall()]
    after = report.facts.after
    assert after.by_unit.members == 40
    assert after.by_unit.mean_risk == pytest.approx(sum(1 / size for size in sizes) / 40)
    assert after.in_classes(1, None) == report.facts.before.in_classes(1, None) == 40


def test_a_publication_counts_the_persons_whose_sensitive_value_a_class_gives_away(tmp_path):
    connection, page = drawn_people(), tmp_path / "report.html"
    connection.execute("ALTER TABLE people ADD COLUMN illness TEXT")
    connection.execute(
        "UPDATE people SET illness = CASE WHEN age < 25 THEN 'flu' ELSE pid::TEXT END"
    )
    asked = policy(sensitive=["illness"])
    sqlanon.anonymize(
        connection, asked, table="people", into="released", method="incognito", report=page
    )
    persons, of_classes = connection.execute(
        "SELECT (SELECT count(DISTINCT pid) FROM people WHERE age < 25), sum(persons) FROM "
        "(SELECT sex, count(DISTINCT pid) AS persons FROM people WHERE age < 25 GROUP BY ALL)"
    ).fetchone()
    assert persons < of_classes
    assert f"{persons} released persons are in classes whose members all" in text_of(
        page.read_text()
    )


def test_a_difference_that_one_person_makes_is_not_shown():
    rows = [(n, 20 + 5 * (n % 2), "m") for n in range(20) for _ in range(6)]
    connection = people([*rows, *[(20, 20, "f")] * 6])
    connection.execute(
        "CREATE TABLE released AS SELECT (age // 5 * 5) || '-' || (age // 5 * 5 + 4) AS age, sex "
        "FROM people WHERE sex = 'm'"
    )
    asked = policy(suppression_limit=0.1)
    age, _ = sqlanon.report(
        connection, "released", asked, table="people", effort="none"
    ).facts.columns
    assert [(group.after, group.before) for group in age.groups] == [(60, None), (60, None)]
    assert age.hidden == 30
    connection.execute("DELETE FROM released WHERE age = '20-24' AND rowid % 12 < 5")
    age, _ = sqlanon.report(
        connection, "released", asked, table="people", effort="none"
    ).facts.columns
    assert age.groups[0].before == 66


def test_an_original_that_cannot_tell_persons_apart_is_refused():
    connection = people(copies_of_ten())
    connection.execute("CREATE TABLE released AS SELECT age::TEXT AS age, sex FROM people")
    with pytest.raises(PolicyError, match=r"^the original has no column 'patient', .* cannot be"):
        sqlanon.report(connection, "released", replace(policy(), entity="patient"), table="people")


def test_the_terminal_says_why_a_report_of_uncounted_persons_fails(tmp_path, capsys):
    original, release = tmp_path / "people.csv", tmp_path / "release.csv"
    original.write_text("pid,age\n" + "1,20\n2,20\n" * 3)
    release.write_text("age\n" + "20\n" * 6)
    words = ["report", str(original), "--released", str(release), "--qi", "age", "--k", "2"]
    words += ["--entity", "pid", "-o", str(tmp_path / "r.html")]
    assert status(words) == 1
    told = capsys.readouterr().err
    assert "It cannot be told whether" in told
    assert "the table has no column 'pid'" in told
