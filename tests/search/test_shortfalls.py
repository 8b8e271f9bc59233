"""Shortfalls: nothing is lacking exactly where a model holds, and figures are those of a check."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.lattice import demand_of
from strategies import models

from sqlanon.policy.privacy import LDiversity, TCloseness
from sqlanon.policy.shares import AlphaAnonymity, DeltaDisclosure
from sqlanon.search.privacy import ValueDemand, figures, shortfalls, worst_alone

clusters = st.lists(st.sampled_from(["nurse", "clerk", "boss", None]), max_size=6)


def demand(model, table):
    return ValueDemand(0, model, np.array(table))


@settings(max_examples=150, deadline=None)
@given(models, st.lists(clusters, min_size=1, max_size=4))
def test_nothing_is_lacking_exactly_where_a_model_holds(model, groups):
    whole = [value for group in groups for value in group]
    if not whole:
        return
    own, present = demand_of(model, whole)
    counts = np.array([[group.count(value) for value in present] for group in groups])
    lacking = shortfalls(own, counts)
    assert (lacking >= 0).all()
    assert ((lacking == 0) == own.holds(counts)).all()


@pytest.mark.parametrize(
    ("model", "counts", "lacking"),
    [
        (LDiversity(3), [4, 0, 0], 2),
        (LDiversity(3, "entropy"), [2, 2, 0], math.log(3) - math.log(2)),
        (LDiversity(2, "recursive", c=1.0), [3, 1, 0], 0.5),
        (AlphaAnonymity(0.5), [3, 1, 0], 0.25),
        (TCloseness(0.2), [4, 0, 0], 2 / 3 - 0.2),
        (TCloseness(0.2, "ordered"), [4, 0, 0], 0.5 - 0.2),
        (DeltaDisclosure(math.log(2)), [3, 3, 0], 1 / 6),
    ],
)
def test_what_is_lacking_is_in_the_units_of_the_model(model, counts, lacking):
    found = shortfalls(demand(model, [5, 5, 5]), np.array([counts]))
    assert found[0] == pytest.approx(lacking)


@pytest.mark.parametrize(
    ("model", "worst", "mean"),
    [
        (LDiversity(3), 1, 1.5),
        (LDiversity(3, "entropy"), 1, 1.5),
        (AlphaAnonymity(0.5), 1, 0.75),
        (TCloseness(0.2), 0.5, 0.25),
        (LDiversity(2, "recursive", c=1.0), 1, 0.5),
    ],
)
def test_figures_are_the_worst_and_the_mean(model, worst, mean):
    """A cluster of one value, and one of two as often as in the table."""
    found = figures(demand(model, [5, 5]), np.array([[4, 0], [2, 2]]))
    assert found[1:] == (pytest.approx(worst), pytest.approx(mean))


def test_the_unit_is_what_a_cluster_of_the_rarest_value_lacks():
    assert worst_alone(demand(TCloseness(0.2), [1, 9])) == pytest.approx(0.9 - 0.2)


def test_a_model_that_one_value_satisfies_has_the_unit_one():
    assert worst_alone(demand(LDiversity(1), [3, 3])) == 1.0
