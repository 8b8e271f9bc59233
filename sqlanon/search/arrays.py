"""Arrays: the types that searches and methods share, and rows of numbers packed into one each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Small = NDArray[np.int32]
"""Numbers of which there are as many as rows of a large table."""
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MAX_KEY = 2**62


def packed(rows: Numbers, widths: Sequence[int]) -> list[Numbers]:
    """As few numbers for each row as keep the lexicographic order.

    Args:
        rows: `rows[row, column]`, in [0, width of the column).
        widths: Per column above all of its numbers.
    """
    keys, room = [np.zeros(len(rows), np.int64)], 1
    for column, width in zip(rows.T, widths, strict=True):
        if room * width >= _MAX_KEY:
            keys.append(np.zeros(len(rows), np.int64))
            room = 1
        keys[-1] = keys[-1] * width + column
        room *= width
    return keys


def united(keys: Sequence[Numbers]) -> Numbers:
    """One number for several of each row, in their lexicographic order and the same for the same.

    Args:
        keys: Numbers per row, the first of which counts most; one or more of them.
    """
    both, *others = keys
    for more in others:
        _, first = np.unique(both, return_inverse=True)
        values, second = np.unique(more, return_inverse=True)
        both = first * len(values) + second
    return both


def numbered(keys: Numbers, below: int) -> Numbers:
    """The place of each key among the distinct ones, in their order.

    Args:
        keys: In [0, below).
        below: Above all of them.
    """
    if below > 16 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True)[1]
    there = np.zeros(below, np.bool_)  # a table of them is filled faster than they are sorted
    there[keys] = True
    place: Numbers = (np.cumsum(there) - 1)[keys]
    return place
