"""Attacks on a release: against brute force on random small tables, with and without a control."""

from collections import Counter
from fractions import Fraction

import pytest
from databases import empty_database
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.errors import SourceError

LEAVES = {"age": "abcd", "sex": "xyz"}
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
    return original, released, control


def brute_force(records, released, *, originals):
    """Records, singled out ones, and expected links and right guesses, of one table."""
    shown = [row for row in released if row[:2] != ("*", "*")]
    if not shown and len(released) == originals:
        shown = released  # which is generalized to the top, and suppresses nobody

    def matching(record, columns):
        return [
            row
            for row in shown
            if all(stands_for(name, row[at], record[at]) for at, name in columns)
        ]

    every = list(enumerate(ROWS))
    alone, links, right, plain = 0, Fraction(), Fraction(), Fraction()
    for record in records:
        whole, one, other = (matching(record, each) for each in (every, every[:1], every[1:]))
        alone += len(whole) == 1
        if whole:
            links += Fraction(len(whole), len(one) * len(other))
        right += chance(record[2], whole or shown)
        plain += chance(record[2], shown)
    return len(records), alone, links, right, plain


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


@settings(max_examples=120, deadline=None)
@given(releases())
def test_attacks_equal_brute_force(given_tables):
    original, released, control = given_tables
    try:
        found, _ = attacks(original, released, control)
    except SourceError as error:
        # A label that several records have may stand for more than the original has there.
        assert "the original has there" in str(error)
        return
    for which, records in (("original", original), ("control", control)):
        figures = {
            "singling_out": found["singling_out"][which],
            "linkability": found["linkability"][which],
            "ill": found["inference"]["ill"][which],
        }
        if records is None:
            assert set(figures.values()) == {None}
            continue
        n, alone, links, right, plain = brute_force(records, released, originals=len(original))
        assert {each["records"] for each in figures.values()} == {n}
        assert figures["singling_out"]["successes"] == alone
        assert figures["linkability"]["successes"] == pytest.approx(float(links), abs=1e-12)
        assert figures["ill"]["successes"] == pytest.approx(float(right), abs=1e-12)
        if which == "original":
            baseline = found["inference"]["ill"]["baseline"]
            assert baseline == pytest.approx(float(plain / n), abs=1e-12)
