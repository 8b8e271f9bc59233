"""Random columns under a scheme, with the same from its definition."""

from hypothesis import strategies as st
from oracles.schemes import FIGURE_1, Values
from strategies import hierarchies

from sqlanon.hierarchy.tree import Tree
from sqlanon.search.lattice.schemes.domain import Domain


def figure_1(scheme):
    """The source's Figure 1, each value held by a record."""
    return domain_of(Values(FIGURE_1, [1] * 8, (0, 2)), scheme)


def flat(scheme, units):
    """So many values below one node."""
    return domain_of(Values([(str(u), "*") for u in range(units)], [1] * units, (0, 1)), scheme)


def domain_of(values, scheme):
    """The domain of a column's values."""
    tree = Tree.grow("any", values.rows)
    return Domain.of(scheme, tree, values.counts, levels=values.levels)


@st.composite
def columns(draw, most=7, height=3):
    """The values of a column; some are not held, and levels may be left out."""
    rows = draw(hierarchies(leaves=most, height=height, nulls=False))
    counts = [draw(st.sampled_from([1, 1, 1, 2, 5, 0])) for _ in rows]
    counts[draw(st.integers(0, len(rows) - 1))] = 3
    top = len(rows[0]) - 1
    low = draw(st.sampled_from([0, 0, 0, 1]))
    high = draw(st.sampled_from([top, top, max(low, top - 1)]))
    return Values(rows, counts, (low, high))
