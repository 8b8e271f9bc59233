"""Trajectories: an entity column in the table joins the records of a person."""

from collections import Counter, defaultdict
from dataclasses import replace
from random import Random

import pyarrow
import pytest
from databases import empty_database
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import KAnonymity, LDiversity, Policy

DATABASE = empty_database()
POLICY = Policy(["a", "b"], ["s"], models=[KAnonymity(2), LDiversity(2)], entity="who")


def fill(rows):
    """A table of persons, two quasi-identifiers and a sensitive column."""
    kinds = {"who": pyarrow.int64(), "a": pyarrow.string(), "b": pyarrow.int64()}
    kinds |= {"s": pyarrow.string()}
    cells = zip(*rows, strict=True)
    frame = pyarrow.table(
        {name: pyarrow.array(c, kind) for (name, kind), c in zip(kinds.items(), cells, strict=True)}
    )
    assert frame.num_rows
    DATABASE.execute("CREATE OR REPLACE TABLE t AS FROM frame")


def bags(rows):
    """Every person's bag of combinations of quasi-identifiers."""
    held = defaultdict(list)
    for who, a, b, _ in rows:
        held[who].append((a, b))
    return {who: frozenset(Counter(own).items()) for who, own in held.items()}


def least_values(rows):
    """Fewest sensitive values that persons of one trajectory have in one of its classes."""
    trajectory, values = bags(rows), defaultdict(set)
    for who, a, b, s in rows:
        values[trajectory[who], a, b].add(s)
    return min(map(len, values.values()))


visits = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 4, 5, None]),
        st.sampled_from(["x", "1.1", None]),
        st.sampled_from([1, 11, None]),
        st.sampled_from(["p", "q", None]),
    ),
    min_size=1,
    max_size=14,
)


# Bags that differ in how often a class is in them alone, and equal ones in another order.
TWICE = [(1, "x", 1, "p"), (1, "x", 1, "q"), (2, "x", 1, "p")]
PLACES = [("x", 1), ("1.1", 11), ("x", 11), ("1.1", 1)]
TURNED = [(who, *PLACES[(who + n) % 4], "p") for who in range(6) for n in range(4)]


@settings(max_examples=10)
@example(TWICE)
@example(TURNED)
@given(visits)
def test_trajectories_agree_with_brute_force(rows):
    fill(rows)
    sharing = Counter(bags(rows).values())
    wanted = Counter(sharing.values())
    checked, risk = (
        sqlanon.check(DATABASE, POLICY, table="t"),
        sqlanon.risk(DATABASE, POLICY, table="t"),
    )
    assert checked.trajectories.sharing.histogram == wanted
    assert risk.trajectories.sharing.histogram == wanted
    found = {result.model: result for result in checked.models}
    assert found["k-anonymity of trajectories"].value == min(wanted)
    assert found["k-anonymity of trajectories"].holds == (min(wanted) >= 2)
    assert found["distinct 2-diversity of trajectories"].value == least_values(rows)


def hospital():
    """400 patients of five visits each, in twelve classes of many patients."""
    chance = Random(6)
    draws = [(chance.choice("xyzw"), chance.choice([1, 2, 3])) for _ in range(2000)]
    return [(n // 5, *place, chance.choice("pqrst")) for n, place in enumerate(draws)]


@pytest.mark.slow
def test_patients_who_are_alone_with_their_visits_are_told():
    fill(hospital())
    alone = sum(count == 1 for count in Counter(bags(hospital()).values()).values())
    assert alone > 300
    policy = replace(POLICY, models=[KAnonymity(5)])
    for report in (
        sqlanon.check(DATABASE, policy, table="t"),
        sqlanon.risk(DATABASE, policy, table="t"),
    ):
        document = report.to_dict()
        assert document["k"] >= 5
        assert document["trajectories"]["unique_persons"] == alone
        assert document["trajectories"]["k"] == 1
        assert f"unique persons  {alone} (" in report.to_text()
        assert any("'who' is in the table and joins the records" in n for n in document["notes"])
    assert not sqlanon.check(DATABASE, policy, table="t").holds


@pytest.mark.parametrize("role", ["drop", "identifiers"])
def test_an_entity_that_the_policy_drops_joins_nothing(role):
    fill(hospital())
    policy = replace(POLICY, models=[KAnonymity(5)], **{role: ["who"]})
    checked, risk = (
        sqlanon.check(DATABASE, policy, table="t"),
        sqlanon.risk(DATABASE, policy, table="t"),
    )
    assert checked.holds
    assert (checked.trajectories, risk.trajectories) == (None, None)
    assert checked.to_dict()["trajectories"] is None


def test_a_ratio_of_trajectories_without_bound_is_told():
    fill([(1, "x", 1, "p"), (2, "x", 1, "p")])
    policy = replace(POLICY, models=[LDiversity(2, "recursive", c=3)])
    text = sqlanon.check(DATABASE, policy, table="t").to_text()
    failing = "does NOT hold: the table has classes of fewer than l values"
    assert f"recursive (3, 2)-diversity of trajectories of 's' {failing}" in text
