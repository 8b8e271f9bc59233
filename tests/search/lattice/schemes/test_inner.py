"""Blocks whose units follow each other against all blocks by their members, and wide columns."""

import tracemalloc
from fractions import Fraction
from itertools import count as count_from

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search.lattice.schemes.columns import domain_of, flat, problem_of, tables

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.methods.registry import METHODS
from sqlanon.search.lattice.schemes import inner as inner_column
from sqlanon.search.lattice.schemes.domain import leaf_count
from sqlanon.search.lattice.schemes.inner import Inner, block_costs, slices_of
from sqlanon.search.lattice.schemes.scheme_problem import CellPrices, SchemeProblem
from sqlanon.search.lattice.schemes.trees import count

losses = st.sampled_from(METHODS["scheme"].losses)


def members_of(runs, units):
    """`members[block, unit]` of blocks whose units follow each other."""
    numbers = np.arange(units)
    return (runs.first[:, np.newaxis] <= numbers) & (numbers < runs.last[:, np.newaxis])


def wide_problem(scheme, loss, *, units=4000):
    """A record for each of so many values, 20 to a node, and what they are to satisfy."""
    rows = [(str(unit), f"{unit // 20}-", "*") for unit in range(units)]
    counts = np.ones(units, np.int64)
    domain = domain_of(Wide(rows, counts), scheme)
    prices = CellPrices.of(loss, shares=[Fraction(1)], records=units)
    return SchemeProblem((domain,), np.arange(units)[:, np.newaxis], counts, 5, 0, prices)


class Wide:
    """The values of a column, of all levels."""

    levels = (0, 2)

    def __init__(self, rows, counts):
        self.rows, self.counts = rows, counts


@settings(max_examples=200)
@given(tables(), losses, st.sampled_from([1, 7, inner_column.FIGURES_AT_ONCE]))
def test_runs_cost_what_blocks_with_their_members_cost(table, loss, cells):
    problem = problem_of(table, loss)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inner_column, "FIGURES_AT_ONCE", cells)
        for column, domain in enumerate(problem.domains):
            family = Inner(problem, column)
            members = members_of(family.runs, domain.units)
            slices = slices_of(problem, problem.finest, column=column)
            leaves, found = family.runs.leaves, family.costs(slices)
            expected = block_costs(problem, column, slices, members=members, leaves=leaves)
            assert np.array_equal(found.cost, expected.cost)
            assert np.array_equal(found.lost, expected.lost)


@settings(max_examples=200)
@given(tables(columns_most=1))
def test_runs_stand_for_the_leaves_of_their_blocks_and_are_told_by_their_last_unit(table):
    problem = problem_of(table, "lm")
    (domain,), inner = problem.domains, Inner(problem, 0)
    blocks = [inner.runs.block(number) for number in range(len(inner.runs))]
    for unit, numbers in enumerate(inner.ending):
        assert numbers.tolist() == [n for n, block in enumerate(blocks) if block[-1] == unit]
    if domain.scheme != "bhs":
        leaves = [leaf_count(domain.spans(block)) for block in blocks]
        assert inner.runs.leaves.tolist() == leaves
        assert len(set(blocks)) == len(blocks)


@settings(max_examples=200)
@given(tables(columns_most=1), losses)
def test_cells_of_a_recoding_cost_what_they_cost_in_its_blocks(table, loss):
    problem = problem_of(table, loss)
    domain = problem.domains[0]
    for partition in (domain.finest, domain.coarsest):
        if domain.is_valid(partition):
            leaves = np.array([leaf_count(spans) for spans in domain.block_spans(partition)])
            members = np.arange(len(leaves))[:, np.newaxis] == np.array(partition)
            prices = problem.block_prices(0, members, leaves=leaves).sum(axis=0)
            assert np.array_equal(problem.cell_prices(0, partition), prices)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["lm", "hdm"])
@pytest.mark.parametrize("scheme", ["bhs", "ghs", "gops"])
def test_blocks_of_thousands_of_values_take_no_memory_by_value(scheme, loss):
    problem = wide_problem(scheme, loss)
    slices = slices_of(problem, problem.finest, column=0)
    tracemalloc.start()
    Inner(problem, 0).costs(slices)
    problem.cell_prices(0, problem.domains[0].finest)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 100e6  # 4,000 blocks of 4,000 values each as floats take 128e6


def test_costs_of_blocks_end_at_the_deadline(monkeypatch):
    problem = wide_problem("gops", "hdm", units=100)
    slices = slices_of(problem, problem.finest, column=0)
    family = Inner(problem, 0)
    monkeypatch.setattr(inner_column, "FIGURES_AT_ONCE", 100)
    with pytest.raises(TimeLimitError):
        family.costs(slices, Deadline(10, count_from().__next__))


def test_recodings_of_thousands_of_values_are_counted():
    assert count(flat("ops", 3000)) == 2**2999
