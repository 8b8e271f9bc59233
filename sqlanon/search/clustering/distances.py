"""Distances of clusters: how much is lost by making two of them one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sqlanon.search.arrays import Numbers

Spans = NDArray[Any]
"""Distances: whole numbers [units] or, of a quotient, floating-point ones."""


class Extent(NamedTuple):
    """Clusters by their sizes [records] and by what a record in each costs [units]."""

    size: Numbers
    cost: Numbers


Distance = Callable[[Extent, Extent, Extent], Spans]
"""The distances of pairs of clusters, from their unions and from both parts of these."""


def _growth(union: Extent, first: Extent, second: Extent) -> Spans:
    """By how much the loss grows when both become one: |U| d(U) - |A| d(A) - |B| d(B).

    Source: Kenig 2009, equation (5.2).
    """
    grown: Spans = union.size * union.cost - first.size * first.cost - second.size * second.cost
    return grown


def _closure(union: Extent, first: Extent, second: Extent) -> Spans:
    """By how much a record costs more in the union than in both parts: d(U) - d(A) - d(B)."""
    return union.cost - first.cost - second.cost


def _closure_by_log(union: Extent, first: Extent, second: Extent) -> Spans:
    """The same over log |U|, in favour of large unions: they should come to k records soon."""
    found: Spans = _closure(union, first, second) / np.log(union.size)
    return found


DISTANCES: Mapping[str, Distance] = {
    "growth": _growth,
    "closure": _closure,
    "closure-log": _closure_by_log,
}
"""The distances of Gionis, Mazza and Tassa 2008, section V, whose formulas are exact."""
