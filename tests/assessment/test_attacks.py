"""Attacks on a release: against brute force on random small tables, with and without a control."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import pytest
from databases import empty_database
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, Sensitive
from sqlanon.errors import SourceError
from sqlanon.reports.attacks import Rate

pytestmark = pytest.mark.slow

# Two levels below the top, and a column that is kept or suppressed.
ROWS = {
    "age": [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")],
    "sex": [("x", "*"), ("y", "*"), ("z", "*")],
}
POLICY = Policy(
    {name: Hierarchy.from_rows(rows) for name, rows in ROWS.items()},
    sensitive=["ill"],
    models=[KAnonymity(1)],
)
RECORDS = st.tuples(
    st.sampled_from("abcd"), st.sampled_from("xyz"), st.sampled_from(["flu", "none", None])
)
NO_CONTROL = None


def stands_for(column, label, value):
    return any(path[0] == value and label in path for path in ROWS[column])


@st.composite
def releases(draw):
    """Originals, labels for some of their records (local recoding), and a control."""
    original = draw(st.lists(RECORDS, min_size=1, max_size=12))
    released = []
    for record in original:
        if draw(st.booleans()) or draw(st.booleans()):
            labels = [
                draw(st.sampled_from(next(path for path in ROWS[name] if path[0] == value)))
                for name, value in zip(ROWS, record, strict=False)
            ]
            released.append((*labels, record[2]))
    control = draw(st.one_of(st.none(), st.lists(RECORDS, min_size=1, max_size=6)))
    return original, released, control, draw(st.sampled_from(["value", "none"]))


def unsuppressed(released, originals):
    shown = [row for row in released if row[:2] != ("*", "*")]
    # Nothing tells all records suppressed and kept from a table that is generalized to the top.
    return released if not shown and len(released) == originals else shown


def brute_force(records, released, *, originals, nulls):
    """Records, singled out ones, and expected links and right guesses, of one table."""
    shown = unsuppressed(released, originals)

    def matching(record, columns):
        return [
            row
            for row in shown
            if all(stands_for(name, row[at], record[at]) for at, name in columns)
        ]

    def told(row):
        return nulls == "value" or row[2] is not None

    every = list(enumerate(ROWS))
    alone, links, right, plain = 0, Fraction(), Fraction(), Fraction()
    for record in records:
        whole, one, other = (matching(record, each) for each in (every, every[:1], every[1:]))
        alone += len(whole) == 1
        if whole:
            links += Fraction(len(whole), len(one) * len(other))
        if told(record):
            right += chance(record[2], list(filter(told, whole)) or list(filter(told, shown)))
            plain += chance(record[2], list(filter(told, shown)))
    return len(records), alone, links, sum(map(told, records)), right, plain


def chance(value, rows):
    counts = Counter(row[2] for row in rows)
    top = [each for each, count in counts.items() if count == max(counts.values())]
    return Fraction(value in top, len(top)) if top else Fraction()


def attacks(original, released, control=NO_CONTROL, policy=POLICY):
    with empty_database() as connection:
        for name, rows in (("t", original), ("r", released), ("c", control or [])):
            connection.execute(f"CREATE TABLE {name} (age VARCHAR, sex VARCHAR, ill VARCHAR)")
            if rows:
                connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
        named = {} if control is None else {"control": "c"}
        found = sqlanon.measure(connection, "r", policy, table="t", **named)
        return found.to_dict()["attacks"], found


@settings(max_examples=30)
@given(releases())
def test_attacks_equal_brute_force(given_tables):
    original, released, control, nulls = given_tables
    policy = replace(POLICY, sensitive={"ill": Sensitive(nulls=nulls)})
    try:
        found, _ = attacks(original, released, control, policy)
    except SourceError as error:
        # Labels of several records may stand for more than the original has there.
        if "the original has there" not in str(error):
            raise
        return
    if not unsuppressed(released, len(original)):
        assert found is None
        return
    for which, records in (("original", original), ("control", control)):
        alone, linked = (found[name][which] for name in ("singling_out", "linkability"))
        inferred = found["inference"].get("ill", {which: None})
        if records is None:
            assert alone is linked is inferred[which] is None
            continue
        n, single, links, valued, right, plain = brute_force(
            records, released, originals=len(original), nulls=nulls
        )
        assert (alone["records"], alone["successes"]) == (n, single)
        assert (linked["records"], linked["successes"]) == (n, pytest.approx(float(links)))
        if inferred[which] is None:
            assert valued == 0 or "ill" not in found["inference"]
            continue
        assert inferred[which]["records"] == valued
        assert inferred[which]["successes"] == pytest.approx(float(right), abs=1e-12)
        if which == "original":
            assert inferred["baseline"] == pytest.approx(float(plain / valued), abs=1e-12)


def test_a_k_anonymous_release_singles_nobody_out():
    original = [("a", "x", "flu"), ("b", "x", "none"), ("c", "y", "flu"), ("d", "y", "flu")]
    released = [("ab", "x", ill) for *_, ill in original[:2]]
    released += [("cd", "y", ill) for *_, ill in original[2:]]
    found, report = attacks(original, released)
    assert found["singling_out"]["original"]["successes"] == 0
    # Each half leads to the same two records, of which both attackers take one at random.
    assert found["linkability"]["original"]["share"] == 0.5
    # flu or none by chance for the first two, and flu for the others; flu alone without a look.
    assert found["inference"]["ill"]["original"]["share"] == 0.75
    assert found["inference"]["ill"]["baseline"] == 0.75
    assert found["singling_out"]["control"] is found["singling_out"]["risk"] is None
    assert "singling out" in report.to_text()


def test_risk_is_what_succeeds_beyond_the_control():
    original = [("a", "x", "flu")] * 3 + [("c", "y", "none")]
    control = [("a", "x", "flu"), ("c", "z", "flu")]
    found, report = attacks(original, original, control)
    attack = found["singling_out"]
    assert (attack["original"]["share"], attack["control"]["share"]) == (0.25, 0)
    assert attack["risk"] == 0.25
    inference = found["inference"]["ill"]
    assert (inference["original"]["share"], inference["control"]["share"]) == (1, 1)
    assert inference["risk"] is None
    low, high = attack["risk_interval"]
    assert low == 0
    assert high == attack["original"]["interval"][1]
    assert "25%" in report.to_text()


@pytest.mark.parametrize(("successes", "records"), [(0, 7), (3, 10), (10, 10), (40, 1000)])
def test_an_interval_holds_the_shares_that_the_observed_one_does_not_refute(successes, records):
    # Wilson's: the shares from which the observed one is 1.96 standard deviations away at most.
    share = successes / records
    for end in Rate(successes, records).interval:
        if 0 < end < 1:
            distance = abs(end - share) / sqrt(end * (1 - end) / records)
            assert distance == pytest.approx(1.959963984540054)


def test_a_control_that_cannot_be_compared_is_refused():
    with empty_database() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS age, 'x' AS sex, 'flu' AS ill")
        for query, fault in (
            ("SELECT 'a' AS age, 'x' AS sex", "the control has no column 'ill'"),
            ("SELECT 1 AS age, 'x' AS sex, 'flu' AS ill", "has 'age' as another type"),
            ("FROM t WHERE age = 'none'", "the control has no records"),
            ("SELECT 'e' AS age, 'x' AS sex, 'flu' AS ill", "misses 1 value that 1 record holds"),
        ):
            connection.execute(f"CREATE OR REPLACE TABLE c AS {query}")
            for judge in (sqlanon.measure, sqlanon.report):
                with pytest.raises(SourceError, match=fault):
                    judge(connection, "t", POLICY, table="t", control="c")


def test_attacks_that_take_too_long_are_not_run_in_part(monkeypatch):
    monkeypatch.setattr("sqlanon.assessment.attacks.MAX_PAIRS", 1)
    original = [("a", "x", "flu"), ("b", "x", "none")]
    found, report = attacks(original, [("a", "x", "flu"), ("ab", "x", "none")])
    assert found is None
    assert any("no attack was run" in note for note in report.notes)


def test_a_release_that_suppresses_everybody_is_not_attacked():
    found, report = attacks([("a", "x", "flu"), ("b", "x", "none")], [("*", "*", "flu")])
    assert found is None
    assert any("every record is suppressed" in note for note in report.notes)


def test_records_of_the_original_in_the_control_are_told():
    original = [("a", "x", "flu"), ("a", "x", "flu"), ("b", "y", "none")]
    for control, told in (
        (original, "3 of 3 records of the control are as one of the original in all 3 columns"),
        ([("a", "x", "flu"), ("b", "x", "none")], "1 of 2 records of the control"),
        ([("b", "x", "none")], None),
    ):
        _, report = attacks(original, original, control)
        notes = [note for note in report.notes if "of the control" in note]
        assert [told in note for note in notes] == ([] if told is None else [True])


def test_attacks_say_that_they_are_on_records_where_persons_have_several():
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 'a' AS age, 'x' AS sex, 'flu' AS ill, 1 AS who"
        )
        policy = replace(POLICY, entity="who")
        report = sqlanon.measure(connection, "t", policy, table="t")
        assert report.attacks.singling_out.original.records == 1
        assert any("attacks are on records" in note for note in report.notes)


def test_measures_asked_for_by_name_come_without_attacks():
    with empty_database() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS age, 'x' AS sex, 'flu' AS ill")
        assert sqlanon.measure(connection, "t", POLICY, table="t", losses=["lm"]).attacks is None
