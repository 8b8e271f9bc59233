"""Demands: clusters judged by their counts of values, against ten lines of Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.lattice import demand_of, fails
from strategies import models

from sqlanon.policy.privacy import LDiversity
from sqlanon.search.privacy import ValueDemand

clusters = st.lists(st.sampled_from(["nurse", "clerk", "boss", None]), max_size=6)


@settings(max_examples=150, deadline=None)
@given(models, st.lists(clusters, min_size=1, max_size=4))
def test_demands_are_what_brute_force_says(model, groups):
    whole = [value for group in groups for value in group]
    if not whole:
        return
    demand, present = demand_of(model, whole)
    counts = np.array([[group.count(value) for value in present] for group in groups])
    held = demand.holds(counts).tolist()
    assert held == [not fails(model, group, whole) for group in groups]


@pytest.mark.parametrize("number", range(2, 51))
def test_a_uniform_cluster_of_exactly_l_values_passes_entropy_l(number):
    demand = ValueDemand(0, LDiversity(number, "entropy"), np.ones(number, np.int64))
    assert demand.holds(np.full((1, number), 3)).tolist() == [True]
