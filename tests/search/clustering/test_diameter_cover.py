"""Diameter cover: greedy balls, within their bound of the least sum of diameters."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import assume, given, settings
from oracles.covers import FIGURE_2, cost_of, least_loss, problem_of
from strategies import problems

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.search.clustering.clustering_problem import members
from sqlanon.search.clustering.diameter_cover import covering_balls, diameter_cover
from sqlanon.search.clustering.neighbours import Neighbours

FEW = settings(max_examples=25)


def near(problem):
    return Neighbours.of(problem)


def distance(problem, first, second):
    return cost_of(problem, [first, second])


def diameter(problem, records):
    return max(distance(problem, a, b) for a in records for b in records)


def partitions(problem):
    """Every partition into k to 2k - 1 records."""
    k = problem.k

    @cache
    def rests(left):
        if not left:
            return [()]
        first, *others = left
        return [
            (part, *more)
            for size in range(k, min(2 * k, len(left) + 1))
            for rest in combinations(others, size - 1)
            for part in [(first, *rest)]
            for more in rests(tuple(r for r in left if r not in part))
        ]

    return rests(tuple(range(problem.records)))


def least_diameters(problem):
    return min(sum(diameter(problem, part) for part in each) for each in partitions(problem))


@FEW
@given(problems(most=9))
def test_every_ball_has_the_least_price_of_its_time(problem):
    k, left = problem.k, set(range(problem.records))
    bounds = near(problem).record_bounds
    for ball in covering_balls(problem, near(problem)):
        prices = []
        for centre in left:
            far = sorted(distance(problem, centre, other) for other in left - {centre})
            own = [distance(problem, centre, centre), *far][: 2 * k - 1]
            prices += [
                Fraction(2 * max(int(bounds[centre]), radius), count)
                for count, radius in enumerate(own, start=1)
            ]
        assert Fraction(2 * ball.radius, ball.fresh) == min(prices)
        fresh = set(ball.records[: ball.fresh].tolist())
        assert fresh <= left
        left -= fresh
        centre = ball.records[0]
        assert k <= len(set(ball.records.tolist())) == len(ball.records) <= 2 * k - 1
        assert max(distance(problem, centre, r) for r in ball.records) <= ball.radius
    assert not left


@FEW
@given(problems(most=7))
def test_diameters_sum_to_at_most_twice_a_harmonic_number_of_the_least(problem):
    balls = covering_balls(problem, near(problem))
    harmonic = sum(Fraction(1, i) for i in range(1, 2 * problem.k))
    doubled = sum(2 * ball.radius for ball in balls)
    assert sum(diameter(problem, ball.records) for ball in balls) <= doubled
    assert doubled <= 2 * harmonic * least_diameters(problem)


@FEW
@given(problems(most=8))
def test_the_loss_is_within_its_guarantee(problem):
    found = diameter_cover(problem, near(problem))
    k = problem.k
    assert found.loss(problem) <= 4 * k * (1 + log(2 * k)) * least_loss(problem)


@FEW
@given(problems(most=12, demanding=True))
def test_clusters_of_balls_satisfy_the_demand(problem):
    assume(problem.satisfies(np.arange(problem.records)))
    found = diameter_cover(problem, near(problem))
    assert (found.label >= 0).all()
    assert all(problem.satisfies(records) for records in members(found))


@pytest.mark.slow
def test_the_least_diameters_of_the_published_example_cost_a_third_more_than_the_optimum():
    """Park and Shim 2007, example 3.9: a sum of 4 and 32 stars, where 24 stars are the least."""
    problem = problem_of(FIGURE_2, 4)
    unit = cost_of(problem, [0, 1])  # they differ in one attribute
    least = least_diameters(problem)
    assert least == 4 * unit
    best = [
        each
        for each in partitions(problem)
        if sum(diameter(problem, part) for part in each) == least
    ]
    assert (tuple(range(0, 8, 2)), tuple(range(1, 8, 2))) in best
    stars = {sum(len(part) * cost_of(problem, part) for part in each) // unit for each in best}
    assert stars == {32}
    assert least_loss(problem) == 24 * unit


def test_a_cover_ends_at_the_deadline():
    problem = problem_of([("a",), ("b",)], 2)
    neighbours = near(problem)
    with pytest.raises(TimeLimitError):
        covering_balls(replace(problem, deadline=Deadline.after(0)), neighbours)
