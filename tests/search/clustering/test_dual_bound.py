"""The dual bound: never above the optimum, never below the bound it starts from."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import highspy
import numpy as np
import pytest
from deadlines import until
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import candidates_of, cost_of, held_by, least_loss, optimum, problem_of
from strategies import bounded, problems

from sqlanon.hierarchy.tree import Tree
from sqlanon.loss.cells import MAX_TOTAL
from sqlanon.search.clustering import price_proof
from sqlanon.search.clustering.bitmaps import BitMaps, MapLayout, flags
from sqlanon.search.clustering.clustering_problem import Candidates, column_bounds
from sqlanon.search.clustering.direct_cover import Cheapest
from sqlanon.search.clustering.dual_bound import Ascent, Duals, dual_bound, standing, stands_at
from sqlanon.search.clustering.price_proof import AlikeRecords, WholePass

pytestmark = pytest.mark.slow

FEW = settings(max_examples=200)
efforts = st.sampled_from(Ascent)


def cheapest(problem, candidates):
    """The bound that the dual bound starts from."""
    return Cheapest.of(problem, candidates).cost


def worth(problem, price):
    """What prices are worth by all closures, each with the best k records beside each record."""
    found = 0
    for record in range(problem.records):
        most = -np.inf
        for nodes in candidates_of(problem).nodes:
            held = held_by(problem, nodes).tolist()
            if record in held:
                others = sorted((price[each] for each in held if each != record), reverse=True)
                mean = (price[record] + sum(others[: problem.k - 1])) / problem.k
                most = max(most, mean - int(problem.cost(nodes)))
        found += price[record] - most
    return found


def is_feasible(problem, price):
    """Whether no k records are worth more than they cost in a cluster, up to rounding."""
    sets = combinations(range(problem.records), problem.k)
    return all(
        price[list(each)].sum() <= problem.k * cost_of(problem, each) * (1 + 1e-9) + 1e-6
        for each in sets
    )


def relaxed(problem):
    """The value of the linear relaxation of set partitioning."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for _ in range(problem.records):
        solver.addRow(1.0, 1.0, 0, [], [])
    for size in range(problem.k, min(2 * problem.k, problem.records + 1)):
        for each in combinations(range(problem.records), size):
            cost = float(size * cost_of(problem, each))
            solver.addCol(cost, 0.0, highspy.kHighsInf, size, list(each), [1.0] * size)
    solver.run()
    return solver.getInfo().objective_function_value


def prices(problem, draw):
    """Any prices, negative ones among them."""
    most = 2 * problem.suppressed
    one = st.integers(-most, most)
    return np.array([float(draw(one)) for _ in range(problem.records)])


@FEW
@given(problems(), efforts, st.data())
def test_from_any_prices_the_bound_is_between_the_cheapest_itemsets_and_the_least_loss(
    problem, effort, data
):
    candidates = candidates_of(problem)
    start = Duals(prices(problem, data.draw), 0, np.zeros(0, np.int64))
    least = int(cheapest(problem, candidates).sum())
    for begun in (None, start):
        found = dual_bound(problem, candidates, effort=effort, start=begun)
        assert least <= found.total <= least_loss(problem)
        assert is_feasible(problem, found.price)


@FEW
@given(bounded(), efforts)
def test_with_levels_and_records_left_out_the_bound_is_below_the_least_loss(problem, effort):
    least = optimum(problem)
    if least is None:
        return
    candidates = candidates_of(problem)
    kept = candidates.cost <= problem.suppressed
    parts = (getattr(candidates, name)[kept] for name in ("nodes", "support", "cost", "rank"))
    allowed = type(candidates)(*parts)
    found = dual_bound(problem, allowed, effort=effort)
    assert cheapest(problem, allowed).sum() <= found.total <= least


def cheaper(problem, candidates, below):
    """The candidates that cost less, and one that stands for the others."""
    kept = np.flatnonzero(candidates.cost < below)
    some = Candidates.of(problem, candidates.nodes[kept], support=candidates.support[kept])
    return standing(problem, some, below)


@FEW
@given(bounded(), efforts, st.data())
def test_a_candidate_that_stands_for_all_that_cost_more_proves_a_bound(problem, effort, data):
    least = optimum(problem)
    if least is None:
        return
    candidates = candidates_of(problem)
    top = int(problem.cost(problem.root))
    costs = [*candidates.cost[candidates.cost <= problem.suppressed].tolist(), problem.suppressed]
    below = data.draw(st.sampled_from([0, *costs]))
    some = cheaper(problem, candidates, below)
    assert stands_at(problem, some) == (below if below < top else None)
    found = dual_bound(problem, some, effort=effort)
    assert cheapest(problem, some).sum() <= found.total <= least


def test_the_more_candidates_one_stands_for_the_lower_the_bound():
    problem = problem_of(table(30, 4, 3, 5), 3)
    candidates = candidates_of(problem)
    many, few = (
        dual_bound(problem, cheaper(problem, candidates, below), effort=Ascent.FULL).total
        for below in (1, 2)
    )
    whole = dual_bound(problem, candidates, effort=Ascent.FULL)
    assert 0 < many < few <= 1.01 * whole.total
    assert stands_at(problem, candidates) is None


def test_closures_of_too_many_rows_are_priced_quickly():
    problem = problem_of(table(30, 4, 3, 5), 3)
    candidates = candidates_of(problem)
    quick, full = (
        dual_bound(problem, candidates, effort=effort) for effort in (Ascent.QUICK, Ascent.FULL)
    )
    few, many = (
        dual_bound(problem, candidates, effort=Ascent.FULL, most_members=most)
        for most in (1, 10**6)
    )
    assert (few.total, few.effort) == (quick.total, Ascent.QUICK)
    assert (many.total, many.effort) == (full.total, Ascent.FULL)
    assert quick.total < full.total


@FEW
@given(problems(), st.data())
def test_words_of_bit_maps_are_those_with_members(problem, data):
    alike, candidates = AlikeRecords.of(problem), candidates_of(problem)
    leaves = np.repeat(alike.leaves, data.draw(st.sampled_from([1, 40])), axis=0)
    layout = MapLayout.of(problem.taxonomies, candidates.nodes, records=len(leaves))
    codes = layout.codes(candidates.nodes)
    itemset, word, bits = BitMaps(layout, leaves).words_of(codes)
    every = np.zeros((len(candidates), -(-len(leaves) // 64)), np.uint64)
    every[itemset, word] = bits
    held = [held_by(replace(problem, leaves=leaves, k=1), nodes) for nodes in candidates.nodes]
    found = [np.flatnonzero(own) for own in flags(every, len(leaves))]
    assert [own.tolist() for own in found] == [own.tolist() for own in held]
    assert bits.all()


@FEW
@given(problems(), st.data())
def test_a_pass_finds_what_prices_are_worth(problem, data):
    alike = AlikeRecords.of(problem)
    candidates = candidates_of(problem)
    price = np.rint(prices(problem, data.draw))
    own = np.zeros(len(alike), np.int64)
    own[alike.row] = price
    shared = own[alike.row].astype(float)
    least = -100 * problem.k * problem.suppressed
    margin = data.draw(st.integers(0, problem.suppressed))
    looks = WholePass(problem, candidates, alike)
    found = looks.excess(own, parts=1, least=least, margin=margin)
    total = ((problem.k * own - found.most) * alike.counts).sum() / problem.k
    assert total == pytest.approx(worth(problem, shared))


@FEW
@given(problems(), efforts, st.integers(0, 12))
def test_a_bound_that_is_cut_short_is_one(problem, effort, looks):
    candidates = candidates_of(problem)
    found = dual_bound(until(problem, looks), candidates, effort=effort)
    assert column_bounds(problem).sum() <= found.total <= least_loss(problem)


@pytest.mark.parametrize("looks", [0, 2, 4])
def test_what_is_proven_is_kept_where_the_deadline_cuts_a_later_ascent_short(looks):
    problem = problem_of(table(20, 4, 3, 5), 3)
    candidates = candidates_of(problem)
    before = dual_bound(problem, candidates)
    assert before.total > cheapest(problem, candidates).sum()
    assert dual_bound(until(problem, looks), candidates, start=before).total >= before.total


@pytest.mark.parametrize("k", [3, 20])
def test_a_pass_of_many_batches_finds_what_every_closure_says(k, monkeypatch):
    monkeypatch.setattr(price_proof, "CLOSURES_AT_ONCE", 2)
    monkeypatch.setattr(price_proof, "FIRST_WORDS", 1)
    problem = problem_of(table(260, 4, 5, 6), k)
    alike, candidates = AlikeRecords.of(problem), candidates_of(problem)
    own = np.random.default_rng(7).integers(0, 3 * problem.suppressed, len(alike))
    price, held = own[alike.row], [held_by(problem, nodes) for nodes in candidates.nodes]
    dearest = [np.sort(price[each])[-k:] for each in held]
    best = np.array([each.sum() for each in dearest]) - k * candidates.cost
    least = min(int(np.median(best)), -1)
    most = np.full(problem.records, least)
    for each, own_best, top in zip(held, best, dearest, strict=True):
        found = np.minimum(own_best, own_best - top[0] + price[each])
        most[each] = np.maximum(most[each], found)
    looked = WholePass(problem, candidates, alike).excess(own, parts=1, least=least, margin=0)
    assert (looked.most[alike.row] == most).all()
    assert set(np.flatnonzero(best >= least)) <= set(looked.near)


def test_closures_beyond_a_number_of_members_do_not_change_what_a_pass_finds(monkeypatch):
    monkeypatch.setattr(price_proof, "CLOSURES_AT_ONCE", 2)
    problem = problem_of(table(40, 4, 3, 8), 3)
    alike, candidates = AlikeRecords.of(problem), candidates_of(problem)
    price, margin = np.full(len(alike), problem.suppressed), 3 * problem.suppressed

    def looked():
        looks = WholePass(problem, candidates, alike)
        return looks.excess(price, parts=1, least=-1, margin=margin)

    whole = looked()
    monkeypatch.setattr(price_proof, "MAX_MEMBERS_PER_ROW", 2)
    capped = looked()
    assert (capped.most == whole.most).all()
    assert len(capped.members) < len(whole.members)


def test_records_in_no_candidate_leave_less_room_for_others():
    """One of 3 is alone within the levels; a class with the 2 loses 5 / 3 of a record."""
    ages = [("1", "1-2", "*"), ("2", "1-2", "*"), ("3", "3-4", "*"), ("4", "3-4", "*")]
    whole = problem_of([(each,) for each in "1111111112" + "3"], 5, [Tree.grow("age", ages)], "lm")
    own = whole.taxonomies[0]
    one = whole.suppressed
    taxonomy = replace(own, cost=np.where(own.level > 1, one + 1, own.cost))
    problem = replace(whole, taxonomies=(taxonomy,), highest=(1,), allowance=1, suppressed=one)
    candidates = Candidates.of(
        problem, np.array([[0], [own.ancestors[1, 0]]]), support=np.array([9, 10])
    )
    low = one + 5 * int(own.cost[own.ancestors[1, 0]])
    assert 0.95 * low <= dual_bound(problem, candidates, effort=Ascent.FULL).total <= low


@pytest.mark.parametrize("k", [10, 50])
def test_a_few_records_that_bear_all_loss_are_worth_what_their_class_costs(k):
    """Of 600 records six are not alike the others: a class of k with them loses k cells."""
    problem = problem_of([("a",)] * 594 + [("b",)] * 3 + [("c",)] * 3, k)
    root = problem.root[0]
    candidates = Candidates.of(problem, np.array([[0], [root]]), support=np.array([594, 600]))
    found = dual_bound(problem, candidates, effort=Ascent.FULL).total
    assert 0.99 * k * problem.suppressed <= found <= k * problem.suppressed


def test_steps_that_prove_no_more_are_followed_by_smaller_ones(monkeypatch):
    problem = problem_of(table(20, 4, 3, 5), 3)
    radii = []

    def worse(*_, center, radius, **__):
        radii.append(radius)
        return np.zeros(len(center))

    monkeypatch.setattr("sqlanon.search.clustering.dual_bound.climbed", worse)
    dual_bound(problem, candidates_of(problem), effort=Ascent.FULL)
    scales = np.array(radii) / Ascent.FULL.radii
    assert scales / scales[0] == pytest.approx(0.5 ** np.arange(len(radii)))


def test_problems_with_other_highest_levels_have_other_names():
    problem = problem_of(table(6, 2, 3, 5), 2)
    assert replace(problem, highest=(1, 1)).digest == replace(problem, highest=(1, 1)).digest
    assert replace(problem, highest=(1, 0)).digest != problem.digest


def table(records, columns, values, seed):
    """Random rows."""
    random = np.random.default_rng(seed)
    return [tuple(map(str, row)) for row in random.integers(0, values, (records, columns))]


@pytest.mark.parametrize(("k", "seed"), [(2, 0), (3, 1)])
def test_the_full_bound_is_nearly_what_the_linear_relaxation_is_worth(k, seed):
    problem = problem_of(table(14, 4, 3, seed), k)
    found = dual_bound(problem, candidates_of(problem), effort=Ascent.FULL)
    assert 0.99 * relaxed(problem) <= found.total <= np.ceil(relaxed(problem) + 1e-6)


def test_the_same_table_has_the_same_duals():
    problem = problem_of(table(40, 4, 3, 2), 3)
    first, second = (dual_bound(problem, candidates_of(problem)) for _ in range(2))
    assert first.total == second.total
    assert (first.price == second.price).all()
    assert (first.near == second.near).all()


def test_whatever_is_nearly_tight_is_near():
    problem = problem_of(table(30, 3, 3, 3), 3)
    candidates = candidates_of(problem)
    found = dual_bound(problem, candidates)
    held = (np.sort(found.price[held_by(problem, nodes)]) for nodes in candidates.nodes)
    mean = np.array([price[-problem.k :].mean() for price in held])
    slack = (candidates.cost - mean) / (found.total / problem.records)
    assert set(np.flatnonzero(slack < 0.299)) <= set(found.near) <= set(np.flatnonzero(slack < 0.8))
    assert (np.diff(found.near) > 0).all()


@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_largest_costs_that_a_table_may_have_do_not_overflow(k):
    problem = problem_of(table(7, 3, 2, 4), k)
    times = (MAX_TOTAL - 1) // (problem.records * problem.suppressed)
    taxonomies = tuple(replace(own, cost=own.cost * times) for own in problem.taxonomies)
    large = replace(problem, taxonomies=taxonomies, suppressed=problem.suppressed * times)
    candidates = candidates_of(large)
    found = dual_bound(large, candidates, effort=Ascent.FULL)
    assert cheapest(large, candidates).sum() <= found.total <= least_loss(problem) * times
    assert found.total >= 0.98 * times * dual_bound(problem, candidates_of(problem)).total - times
