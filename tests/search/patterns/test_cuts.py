"""Cuts: a class that fails a model breaks its cut, and no class that satisfies it does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracles.lattice import demand_of
from oracles.models import DRAWN

from sqlanon import AlphaAnonymity, BetaLikeness, DeltaDisclosure
from sqlanon.policy.privacy import TCloseness
from sqlanon.search.patterns import cut, inseparable
from sqlanon.search.privacy import Demands, ValueDemand

classes = st.lists(st.sampled_from(["nurse", "clerk", "boss"]), min_size=1, max_size=9)
NURSES = ["nurse", "nurse", "clerk", "clerk", "clerk", "boss", "boss"]
values = st.lists(st.integers(0, 9), min_size=3, max_size=3)


@settings(max_examples=300)
@example(DeltaDisclosure(math.log(1.5)), NURSES, [1, 0, 3], [[1, 1, 1], [2, 1, 2]])
@example(DeltaDisclosure(math.log(2)), NURSES, [1, 2, 4], [[2, 3, 2], [1, 1, 1]])
@example(AlphaAnonymity(2 / 3), NURSES, [2, 0, 1], [[3, 3, 2], [1, 1, 1]])
@example(BetaLikeness(1 / 3), NURSES, [2, 2, 1], [[2, 3, 2], [1, 1, 1]])
@given(DRAWN, classes, values, st.lists(values, max_size=30))
def test_cuts_part_a_class_that_fails_from_all_that_satisfy(model, whole, failing, others):
    demand, present = demand_of(model, whole)
    assume(demand.model.union_closed)
    counts = np.array([failing, *others])[:, : len(present)]
    holds = demand.holds(counts)
    assume(not holds[0] and (counts[0].sum() or not model.holds_without_values))
    found = cut(demand, counts[0])
    assert found.at(counts[0]) > 1e-6
    assert all(found.at(own) <= 1e-8 for own, fits in zip(counts, holds, strict=True) if fits)


@pytest.mark.parametrize("distance", ["scaled", "scaled-literal"])
def test_no_cuts_are_known_for_distances_that_are_not_convex(distance):
    demand = ValueDemand(0, TCloseness(0.2, distance), np.ones(2, np.int64))
    unknown = inseparable(Demands(np.zeros((1, 1), int), (demand,)))
    assert unknown == {f"0.2-closeness ({distance})": "is not convex"}
