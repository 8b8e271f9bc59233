"""Class means: what is published, against means by hand, and where they are refused."""

from __future__ import annotations

import math
import random
import statistics
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from databases import empty_database

import sqlanon
from sqlanon import (
    Hierarchy,
    KAnonymity,
    LDiversity,
    Plan,
    Policy,
    QuasiIdentifier,
)
from sqlanon.errors import PolicyError

pytestmark = pytest.mark.slow

K = 3
AGES = Hierarchy.intervals(10, 20)


def policy_of(class_mean=None, **options):
    return Policy(
        {"age": QuasiIdentifier(AGES, class_mean=class_mean), "sex": Hierarchy.suppression()},
        keep=["number"],
        models=[KAnonymity(K)],
        suppression_limit=options.pop("suppression_limit", 0.2),
        **options,
    )


def people(records=60, *, kind="INTEGER", seed=1):
    """A table of ages, of which some are NULL, sexes, and the number of each record."""
    draw = random.Random(seed)
    connection = empty_database()
    connection.execute(f"CREATE TABLE people (age {kind}, sex VARCHAR, number INTEGER)")
    rows = [
        (draw.choice([None, *range(20, 80), *range(20, 30)]), draw.choice("fm"), number)
        for number in range(records)
    ]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    return connection


def by_number(connection, table):
    rows = connection.execute(f"SELECT number, age, sex FROM {table}").fetchall()
    return {number: (age, sex) for number, age, sex in rows}


def figures(connection, labelled, *, figure, step):
    """The rounded figure of the class of each record; None where it has fewer than K numbers."""
    ages = {number: age for number, (age, _) in by_number(connection, "people").items()}
    classes = defaultdict(list)
    for number, labels in by_number(connection, labelled).items():
        classes[labels].append(number)
    found = {}
    for members in classes.values():
        known = [Fraction(ages[number]) for number in members if ages[number] is not None]
        value = None
        if len(known) >= K:
            # Half a step is rounded away from zero.
            value = math.floor(figure(known) / step + Fraction(1, 2)) * step
        found |= dict.fromkeys(members, value)
    return found


@pytest.mark.parametrize("method", ["incognito", "set-cover", "mondrian", "scheme"])
def test_every_kind_of_recoding_publishes_the_figures_of_its_classes(method):
    """Levels of columns, clusters, regions, and groups of values."""
    figure, step, text = (statistics.mean, Fraction(1), "mean")
    if len(method) % 2:
        figure, step, text = (statistics.median, Fraction(1, 2), "median:0.5")
    with people() as connection:
        settings = {"method": method, "seed": 1}
        plain = sqlanon.anonymize(
            connection, policy_of(), table="people", into="labelled", **settings
        )
        report = sqlanon.anonymize(
            connection, policy_of(text), table="people", into="released", **settings
        )
        expected = figures(connection, "labelled", figure=figure, step=step)
        released = by_number(connection, "released")
        assert {number: age for number, (age, _) in released.items()} == expected
        assert {n: sex for n, (_, sex) in released.items()} == {
            n: sex for n, (_, sex) in by_number(connection, "labelled").items()
        }
        assert sqlanon.check(connection, policy_of(text), table="released").holds
        assert report.holds
        assert report.loss == plain.loss
        [[kind]] = connection.execute("SELECT typeof(age) FROM released LIMIT 1").fetchall()
        assert kind == ("BIGINT" if step == 1 else "DECIMAL(18,1)")


def test_classes_of_the_same_mean_become_one():
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT UNNEST([29, 29, 30, 30]) AS age")
        age = QuasiIdentifier(AGES, class_mean="mean:10")
        policy = Policy({"age": age}, models=[KAnonymity(2)])
        report = sqlanon.anonymize(connection, policy, table="people", into="released")
        assert connection.execute("SELECT age FROM released").fetchall() == [(30,)] * 4
    assert (report.statistics.classes, report.statistics.smallest) == (1, 4)


def test_a_saved_plan_and_one_for_a_batch_publish_means_of_their_own(tmp_path):
    with people() as connection, people(40, seed=2) as other:
        rows = other.execute("SELECT * FROM people").fetchall()
        connection.execute("CREATE TABLE batch (age INTEGER, sex VARCHAR, number INTEGER)")
        connection.executemany("INSERT INTO batch VALUES (?, ?, ?)", rows)
        sqlanon.plan(connection, policy_of("mean"), table="people").save(tmp_path / "plan.json")
        plan = Plan.load(tmp_path / "plan.json")
        assert plan.policy.class_means == policy_of("mean").class_means
        sqlanon.anonymize(connection, policy_of(), table="people", into="labelled")
        sqlanon.apply(connection, plan, into="released")
        expected = figures(connection, "labelled", figure=statistics.mean, step=Fraction(1))
        released = by_number(connection, "released")
        assert {number: age for number, (age, _) in released.items()} == expected
        preview = sqlanon.preview(connection, plan, rows=60)
        shown = {int(p.before["number"]): p.after["age"] for p in preview if p.after is not None}
        assert shown == {n: None if a is None else str(a) for n, a in expected.items()}
        sqlanon.apply(connection, plan, to="batch", into="second", suppression_limit=1.0)
        assert sqlanon.check(connection, policy_of("mean"), table="second").holds
        with pytest.raises(PolicyError, match="do not unite"):
            sqlanon.apply(connection, plan, to="batch", released=["released"], into="third")
        with pytest.raises(PolicyError, match="class means in their place"):
            sqlanon.apply(connection, plan, against=["released"], into="third")
        with pytest.raises(PolicyError, match="class means of spark"):
            plan.statements("spark")


def test_measure_compares_means_with_the_column_itself():
    with people() as connection:
        policy = policy_of("mean", suppression_limit=1.0)
        sqlanon.anonymize(connection, policy, table="people", into="released")
        found = sqlanon.measure(connection, "released", policy, table="people")
        before, after = (
            connection.execute(f"SELECT AVG(age) FROM {table}").fetchone()[0]
            for table in ("people", "released")
        )
    error = next(each for each in found.use.numbers if each.figure == "mean")
    assert (error.column, error.absolute) == ("age", pytest.approx(abs(after - before)))
    assert [each.columns for each in found.use.tables] == [("sex",)]
    assert any("by the other quasi-identifiers alone" in note for note in found.notes)
    alone = Policy({"age": QuasiIdentifier(AGES, class_mean="mean")})
    with people() as connection, pytest.raises(PolicyError, match="no hierarchy measures"):
        sqlanon.measure(connection, "people", alone, table="people")


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("mode", "INTEGER", "must be mean or median"),
        ("mean:0", "INTEGER", "a step above 0"),
        ("mean", "DOUBLE", "say what its means are rounded to"),
        ("mean", "VARCHAR", "is TEXT, which has no mean"),
    ],
)
def test_what_has_no_mean_is_refused(text, kind, why):
    def planned(connection):
        age = QuasiIdentifier(Hierarchy.suppression(), class_mean=text)
        policy = Policy({"age": age}, others="drop", models=[KAnonymity(K)])
        return sqlanon.plan(connection, policy, table="people")

    with people(kind=kind) as connection, pytest.raises(PolicyError, match=why):
        planned(connection)


@pytest.mark.parametrize(
    ("values", "kind", "mean", "count"),
    [
        ("1e40, 3e40, 5, 6", "DOUBLE", "mean:1", 2),
        ("'-inf', '1', '3', 'nan', NULL", "DOUBLE", "mean:1", 1),
        ("9007199254740993, 1", "BIGINT", "median", 1),
        ("2147483647, 5", "INTEGER", "mean:0.000000001", 1),
    ],
)
def test_numbers_too_large_for_an_exact_figure_are_refused(values, kind, mean, count):
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT unnest([{values}]::{kind}[]) AS v")
        policy = {"k": 2, "quasi_identifiers": {"v": {"class_mean": mean}}}
        with pytest.raises(PolicyError, match=f"'v' has {count} value"):
            sqlanon.plan(connection, policy, table="t")


def test_means_of_persons_and_beside_kept_suppressed_records_are_refused():
    with pytest.raises(PolicyError, match="a person of many records"):
        policy_of("mean", entity="who")
    with pytest.raises(PolicyError, match="is a number, which"):
        policy_of("mean", suppressed="keep")


def test_models_of_sensitive_values_hold_of_classes_by_their_means():
    with people() as connection:
        connection.execute("ALTER TABLE people ADD COLUMN ill VARCHAR")
        connection.execute("UPDATE people SET ill = CHR(97 + number % 3)")
        policy = replace(
            policy_of("median"), sensitive=["ill"], models=[KAnonymity(K), LDiversity(2)]
        )
        report = sqlanon.anonymize(connection, policy, table="people", into="released")
        least = connection.execute(
            "SELECT MIN(l) FROM (SELECT COUNT(DISTINCT ill) l FROM released GROUP BY age, sex)"
        ).fetchone()[0]
    assert report.holds
    assert least >= 2


def test_a_report_measures_class_means_as_measure_does():
    with people() as connection:
        policy = policy_of("mean", suppression_limit=1.0)
        sqlanon.anonymize(connection, policy, table="people", into="released")
        measured = sqlanon.measure(connection, "released", policy, table="people")
        report = sqlanon.report(connection, "released", policy, table="people", effort="none")
        age = QuasiIdentifier(AGES, class_mean="mean")
        alone = Policy({"age": age}, drop=["sex", "number"], models=[KAnonymity(K)])
        sqlanon.anonymize(connection, alone, table="people", into="alone")
        unmeasured = sqlanon.report(connection, "alone", alone, table="people", effort="none")
    told = report.to_dict()["loss"]
    assert told["not_measured"] is None
    assert measured.loss.items() <= told.items()
    assert any("by the other quasi-identifiers alone" in note for note in report.other_notes)
    assert "labels-unread" not in {each.id for each in (*report.cautions, *unmeasured.cautions)}
