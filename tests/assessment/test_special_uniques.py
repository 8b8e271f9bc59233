"""SUDA scores against a published example, and against brute force on random small tables."""

from collections import Counter
from itertools import combinations
from math import prod

import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Policy
from sqlanon.assessment import risk

DATABASE = empty_database()


def uniques(rows, **options):
    """The special uniques of a table of these rows, and its report."""
    names = [f"c{number}" for number in range(len(rows[0]))]
    columns = ", ".join(f"{name} VARCHAR" for name in names)
    DATABASE.execute(f"CREATE OR REPLACE TABLE t ({columns})")
    insert(DATABASE, "t", rows)
    report = sqlanon.risk(DATABASE, Policy(names), table="t", **options)
    return report.uniques, report


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 1, 0)])
def test_scores_are_those_of_the_example_in_the_tests_of_sdcmicro(order):
    """The record (2, 0, 0) is unique by a, the next by b and by c, the last by a with either."""
    rows = [(2, 0, 0), (1, 3, 6), (1, 0, 0)]
    found, _ = uniques([[row[place] for place in order] for row in rows])
    wanted = {0: 0.5, 1: 0.375, 2: 0.375}
    assert [*found.contributions.values()] == [wanted[place] for place in order]
    assert found.scores == {4: 1, 2: 2}


values = st.sampled_from(["x", "y", "z", None])
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[values] * width), min_size=1, max_size=12)
)


@settings(max_examples=30)
@given(tables, st.integers(1, 4), st.sampled_from([0, 10**6]))
def test_scores_and_contributions_equal_brute_force(rows, largest, groups):
    width = len(rows[0])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(risk, "MAX_GROUPS", groups)
        found, _ = uniques(rows, max_columns=largest)
    largest = min(largest, width)
    scores, parts, sets = Counter(), Counter(), Counter()
    for row in rows:
        minimal = []
        for size in range(1, largest + 1):
            for own in combinations(range(width), size):
                alone = sum(all(row[c] == other[c] for c in own) for other in rows) == 1
                if alone and not any(set(less) <= set(own) for less in minimal):
                    minimal.append(own)
        points = [
            prod(width - i for i in range(len(own), min(largest, width - 1) + 1)) for own in minimal
        ]
        if minimal:
            scores[sum(points)] += 1
        for own, score in zip(minimal, points, strict=True):
            sets[len(own)] += 1
            parts.update(dict.fromkeys(own, score))
    total = sum(score * records for score, records in scores.items())
    assert found.scores == scores
    assert found.sets == sets
    assert [*found.contributions.values()] == [
        parts[column] / total if total else 0 for column in range(width)
    ]
    assert (found.scored, found.highest) == (scores.total(), max(scores, default=0))
    assert found.mean == total / len(rows)


def test_too_many_sets_for_the_records_are_not_scored_and_a_note_says_so(monkeypatch):
    monkeypatch.setattr(risk, "MOST_GROUPED", 6)
    found, report = uniques([("x", "y"), ("x", "z")])  # three sets of two rows
    assert found is not None
    found, report = uniques([("x", "y"), ("x", "z"), ("y", "y")])
    assert found is None
    assert report.to_dict()["suda"] is None
    assert any(note.startswith("SUDA scores were not counted: 3 sets") for note in report.notes)


def test_persons_are_not_scored():
    DATABASE.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS who, 2 AS c0")
    report = sqlanon.risk(DATABASE, Policy(["c0"], entity="who"), table="t")
    assert report.uniques is None
    assert not any("SUDA" in note for note in report.notes)


def test_scores_are_told_to_a_reader():
    _, report = uniques([("x", "a"), ("x", "b"), ("y", "a"), ("x", "a")])
    text = report.to_text()
    assert "2 (50%) of the records are unique by such a set" in text
    assert "highest 1 (2 records), mean 0.5" in text
    assert "minimal sets    2 of 1 column" in text
    assert "contributions   c0 50%, c1 50%" in text
