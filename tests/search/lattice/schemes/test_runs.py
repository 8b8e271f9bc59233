"""Blocks whose units follow each other against all blocks by their members, and wide columns."""

import tracemalloc
from itertools import count as count_from

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search.lattice.schemes.columns import domain_of, flat, problem_of, tables

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.lattice.schemes import runs
from sqlanon.search.lattice.schemes.blocks import BlockFamily
from sqlanon.search.lattice.schemes.domain import leaf_count
from sqlanon.search.lattice.schemes.inner import Inner
from sqlanon.search.lattice.schemes.partitions import count
from sqlanon.search.lattice.schemes.problem import LOSSES, CellPrices, SchemeProblem
from sqlanon.search.lattice.schemes.rows import slices_of

losses = st.sampled_from(LOSSES)


def members_of(runs, units):
    """`members[block, unit]` of blocks whose units follow each other."""
    numbers = np.arange(units)
    return (runs.first[:, np.newaxis] <= numbers) & (numbers < runs.last[:, np.newaxis])


def wide_problem(scheme, loss, *, units=4000):
    """A record for each of so many values, 20 to a node, and what they are to satisfy."""
    rows = [(str(unit), f"{unit // 20}-", "*") for unit in range(units)]
    counts = np.ones(units, np.int64)
    domain = domain_of(Wide(rows, counts), scheme)
    prices = CellPrices(loss, (2**52 // units,))
    return SchemeProblem((domain,), np.arange(units)[:, np.newaxis], counts, 5, 0, prices)


class Wide:
    """The values of a column, of all levels."""

    levels = (0, 2)

    def __init__(self, rows, counts):
        self.rows, self.counts = rows, counts


@settings(max_examples=200, deadline=None)
@given(tables(), losses, st.sampled_from([1, 7, runs.CELLS]))
def test_runs_cost_what_blocks_with_their_members_cost(table, loss, cells):
    problem = problem_of(table, loss)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "CELLS", cells)
        for column, domain in enumerate(problem.domains):
            family = Inner.of(problem, column).family
            members = members_of(family.runs, domain.units)
            blocks = BlockFamily.having(problem, column, members=members, leaves=family.runs.leaves)
            slices = slices_of(problem, problem.finest, column=column)
            found, expected = family.costs(slices), blocks.costs(slices)
            assert np.array_equal(found.cost, expected.cost)
            assert np.array_equal(found.lost, expected.lost)


@settings(max_examples=200, deadline=None)
@given(tables(columns_most=1))
def test_runs_stand_for_the_leaves_of_their_blocks_and_are_told_by_their_last_unit(table):
    problem = problem_of(table, "lm")
    (domain,), inner = problem.domains, Inner.of(problem, 0)
    blocks = [inner.family.runs.block(number) for number in range(len(inner.family.runs))]
    for unit, numbers in enumerate(inner.ending):
        assert numbers.tolist() == [n for n, block in enumerate(blocks) if block[-1] == unit]
    if domain.scheme != "bhs":
        leaves = [leaf_count(domain.spans(block)) for block in blocks]
        assert inner.family.runs.leaves.tolist() == leaves
        assert len(set(blocks)) == len(blocks)


@settings(max_examples=200, deadline=None)
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
    Inner.of(problem, 0).family.costs(slices)
    problem.cell_prices(0, problem.domains[0].finest)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 100e6  # 4,000 blocks of 4,000 values each as floats take 128e6


def test_costs_of_blocks_end_at_the_deadline(monkeypatch):
    problem = wide_problem("gops", "hdm", units=100)
    slices = slices_of(problem, problem.finest, column=0)
    family = Inner.of(problem, 0).family
    monkeypatch.setattr(runs, "CELLS", 100)
    with pytest.raises(TimeLimitError):
        family.costs(slices, Deadline(10, count_from().__next__))


def test_recodings_of_thousands_of_values_are_counted():
    assert count(flat("ops", 3000)) == 2**2999
