"""The queue of a systematic search, and its stack when it is full."""

from benchmarks.prunings import FoundFirst
from sqlanon.search.lattice.schemes.enumeration import Frontier, Opened
from sqlanon.search.lattice.schemes.spaces import Least


def opened(cost):
    return Opened((), (), (), Least(cost, 0))


def popped(frontier):
    found = []
    while (own := frontier.pop()) is not None:
        found.append(own.least.cost)
    return found


def filled(frontier, *costs):
    for cost in costs:
        frontier.push(opened(cost))
    return frontier


def test_queue_takes_the_least_bound_first():
    assert popped(filled(Frontier(9), 5, 3, 4)) == [3, 4, 5]


def test_queue_by_time_takes_what_was_found_first():
    assert popped(filled(FoundFirst(9), 5, 3, 4)) == [5, 3, 4]


def test_full_queue_goes_depth_first():
    assert popped(filled(Frontier(2), 5, 3, 4, 1, 6)) == [6, 1, 4, 3, 5]


def test_bounds_are_those_of_queue_and_stack():
    assert sorted(filled(Frontier(1), 5, 3, 4).bounds()) == [3, 4, 5]
