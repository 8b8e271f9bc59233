"""Programs: integer programs as arrays, and what both kinds of them share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.repartition.dissolved import Dissolved


@dataclass(frozen=True, slots=True)
class RepartitionProgram:
    """A program that minimizes a sum over whole variables of at least 0, within ranges of rows.

    Args:
        cost: Per variable what 1 of it adds.
        most: Per variable the most that it may be.
        whole: Which variables must be said to be whole; the others are so of themselves.
        low: Per row the least that its sum may be.
        high: Per row the most.
        row: Per coefficient its row.
        variable: Per coefficient its variable, ascending.
        value: The coefficients.
        start: A solution.
    """

    cost: Reals
    most: Reals
    whole: Flags
    low: Reals
    high: Reals
    row: Numbers
    variable: Numbers
    value: Reals
    start: Reals


RepartitionSolver = Callable[[RepartitionProgram, float], Reals]
"""The best solution of a program found within so many seconds, its start where nothing is better.

It is the same on every machine where the time is infinite.
"""


def coefficients(*parts: tuple[Numbers, Numbers, Reals]) -> tuple[Numbers, Numbers, Reals]:
    """Rows, variables and values in the order of the variables."""
    row, variable, value = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((row, variable))
    return row[order], variable[order], value[order]


def handed_out(pool: Dissolved, unit: Numbers, group: Numbers, count: Numbers) -> Numbers:
    """The group of each record, where so many of each unit go to each group; -1 for the rest."""
    by_unit = np.argsort(pool.unit, kind="stable")
    place = np.argsort(unit, kind="stable")
    sizes = pool.sizes
    given = np.repeat(group[place], count[place])
    taken = np.bincount(unit, count, len(sizes)).astype(np.int64)
    first = np.cumsum(sizes) - sizes
    rank = np.arange(len(given)) - np.repeat(np.cumsum(taken) - taken, taken)
    found = np.full(len(pool.unit), -1)
    found[by_unit[np.repeat(first, taken) + rank]] = given
    return found
