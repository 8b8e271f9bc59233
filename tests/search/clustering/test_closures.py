"""Tables of closures: what each says is what the taxonomy says, where it fits and where not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import problems

from sqlanon.search.clustering import closure_costs as closures
from sqlanon.search.clustering.closure_costs import Joins


@pytest.mark.parametrize("most", [closures.MOST_JOINS, 9, 0], ids=["all", "leaves", "none"])
@settings(max_examples=40, deadline=None)
@given(problem=problems())
def test_closures_and_their_costs_are_those_of_the_taxonomies(most, problem):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closures, "MOST_JOINS", most)
        joins = Joins(problem.taxonomies)
    for column, taxonomy in enumerate(problem.taxonomies):
        first, second = (each.ravel() for each in np.indices((taxonomy.leaves, taxonomy.leaves)))
        low, high = np.minimum(first, second), np.maximum(first, second)
        found = joins.of(column, first, second=second)
        assert found.tolist() == taxonomy.closure(low, high).tolist()
    sizes = [len(taxonomy.cost) for taxonomy in problem.taxonomies]
    nodes = np.stack([each.ravel() for each in np.indices(sizes)], axis=1)
    expected = sum(
        taxonomy.cost[taxonomy.join(nodes[:, None, column], nodes[None, :, column])]
        for column, taxonomy in enumerate(problem.taxonomies)
    )
    assert np.allclose(joins.costs(nodes, nodes), expected, rtol=1e-6)
