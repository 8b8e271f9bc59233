"""Bounds: intervals of suppression and loss for lattice nodes, from checks of other nodes.

Let `s(v)` be the records that a node `v` leaves in too small classes, and write its loss as
`combine(up(v), down(v))`. Classes only merge on the way up, so going up `s` and `down` never grow
and `up` never shrinks. One check of `w` therefore bounds every node below it (`s`, `down` from
below) and every node above it (`s` from above, `up` from below). Where a loss is a cost over a
gain, these are parts of the cost, and a check bounds the gain of the nodes above. Under models that
are not monotone a check says itself how much of `s` and `down` is certain below it and above.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sqlanon.recoding import Node
from sqlanon.search.arrays import Flags, Numbers, Reals


@dataclass(frozen=True, slots=True)
class Check:
    """A lattice node whose classes were counted, with what that proves of the nodes around it.

    Args:
        node: One level per quasi-identifier.
        suppressed: Records in classes that violate a model [records].
        up: The part of the loss that never shrinks on the way up [units of the objective].
        down: The part that never grows on the way up [units of the objective]; of a node where
            models are not monotone, as much of it as is certain of every node below.
        value: The node's loss [units of the objective].
        required: Fewest records that it and every node below suppress; None for `suppressed`.
        most: Most records that every node above suppresses; None for `suppressed`.
        settled: Whether `suppressed` and `value` are final, not lower bounds.
        gain: What it and every node above gain at most [units of gain], where the loss is a cost
            over a gain and `up` and `down` are parts of the cost; else None.
    """

    node: Node
    suppressed: int
    up: int
    down: int
    value: int
    required: int | None = None
    most: int | None = None
    settled: bool = True
    gain: int | None = None

    @property
    def fewest_below(self) -> int:
        """Fewest records that the node and every node below suppress."""
        return self.suppressed if self.required is None else self.required

    @property
    def most_above(self) -> int:
        """Most records that every node above suppresses."""
        return self.suppressed if self.most is None else self.most


@dataclass(frozen=True)
class Box:
    """The nodes between two nodes of the lattice, both included.

    Args:
        low: The lowest node.
        high: The highest node.
    """

    low: Node
    high: Node

    # Worked out once: every check looks at them several times.
    @cached_property
    def sides(self) -> tuple[int, ...]:
        """Levels per quasi-identifier."""
        return tuple(top - bottom + 1 for bottom, top in zip(self.low, self.high, strict=True))

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The quasi-identifiers with a choice of levels; arrays have an axis for each of them.

        At least one, since an array without axes is a number.
        """
        return tuple(i for i, side in enumerate(self.sides) if side > 1) or (0,)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Levels per axis."""
        return tuple(self.sides[axis] for axis in self.axes)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return math.prod(self.sides)

    def node(self, flat: int) -> Node:
        """The node at a position of the flattened box; positions ascend lexicographically."""
        levels = list(self.low)
        for axis, index in zip(self.axes, np.unravel_index(flat, self.shape), strict=True):
            levels[axis] += int(index)
        return tuple(levels)

    def preceding(self, node: Node) -> int:
        """The number of nodes of the box before a node, compared from the last column on."""
        count, rest = 0, self.size
        for level, low, high in zip(node[::-1], self.low[::-1], self.high[::-1], strict=True):
            rest //= high - low + 1
            if level < low:
                return count
            if level > high:
                return count + rest * (high - low + 1)
            count += (level - low) * rest
        return count

    def below(self, node: Node) -> tuple[slice, ...] | None:
        """The part of the box at or below a node, or None where there is none."""
        if any(level < low for level, low in zip(node, self.low, strict=True)):
            return None
        return tuple(slice(0, node[axis] - self.low[axis] + 1) for axis in self.axes)

    def above(self, node: Node) -> tuple[slice, ...] | None:
        """The part of the box at or above a node, or None where there is none."""
        if any(level > high for level, high in zip(node, self.high, strict=True)):
            return None
        return tuple(slice(max(node[axis] - self.low[axis], 0), None) for axis in self.axes)

    def holds(self, node: Node) -> bool:
        """Whether a node lies in the box."""
        return all(a <= b <= c for a, b, c in zip(self.low, node, self.high, strict=True))

    def halves(self) -> tuple[Box, Box]:
        """The box cut in two across its longest side."""
        axis = max(range(len(self.low)), key=lambda i: self.sides[i])
        middle = (self.low[axis] + self.high[axis]) // 2
        high = (*self.high[:axis], middle, *self.high[axis + 1 :])
        low = (*self.low[:axis], middle + 1, *self.low[axis + 1 :])
        return Box(self.low, high), Box(low, self.high)


class Knowledge:
    """Proven bounds for every node of a box, tightened by each check.

    Args:
        box: The nodes considered.
        floor: Per quasi-identifier and level a lower bound on `up`; they add up over the
            quasi-identifiers where the objective adds, and the largest counts where it does not.
        records: Records of the table.
        additive: Whether `up` and `down` are added, or the larger of them counts.
        gain: What no node gains more than, where that matters.
    """

    __slots__ = ("additive", "box", "checked", "down", "fewest", "gain", "most", "up")

    def __init__(
        self,
        box: Box,
        floor: Sequence[Sequence[int]],
        *,
        records: int,
        additive: bool,
        gain: int | None = None,
    ) -> None:
        self.box = box
        self.additive = additive
        self.up: Numbers = spread(box, floor, additive=additive)
        self.down: Numbers = np.full(box.shape, np.iinfo(np.int64).min // 4, np.int64)
        if additive:
            self.down[...] = 0
        self.fewest: Numbers = np.zeros(box.shape, np.int64)
        self.most: Numbers = np.full(box.shape, records, np.int64)
        self.checked: Flags = np.zeros(box.shape, np.bool_)
        self.gain: Numbers | None = None if gain is None else np.full(box.shape, gain, np.int64)

    def learn(self, check: Check) -> None:
        """Tightens all bounds by one check, of a node in the box or outside."""
        below, above = self.box.below(check.node), self.box.above(check.node)
        if below is not None:
            np.maximum(self.fewest[below], check.fewest_below, out=self.fewest[below])
            np.maximum(self.down[below], check.down, out=self.down[below])
        if above is not None:
            np.minimum(self.most[above], check.most_above, out=self.most[above])
            np.maximum(self.up[above], check.up, out=self.up[above])
            if self.gain is not None and check.gain is not None:
                np.minimum(self.gain[above], check.gain, out=self.gain[above])
        if self.box.holds(check.node):
            self.checked[tuple(check.node[axis] - self.box.low[axis] for axis in self.box.axes)] = (
                True
            )

    def bound(self) -> Any:
        """A lower bound on the loss of every node of the box; on the cost where it has a gain."""
        return combine(self.up, self.down, additive=self.additive)


def combine(up: Any, down: Any, *, additive: bool) -> Any:
    """A loss from its two parts, for numbers and arrays: their sum, or the larger of them."""
    return up + down if additive else np.maximum(up, down)


def spread(box: Box, table: Sequence[Sequence[float]], *, additive: bool = True) -> Any:
    """Sums one figure per quasi-identifier and level over a box, or takes the largest of them."""
    result: Any = None
    for number, levels in enumerate(table):
        side = np.asarray(levels[box.low[number] : box.high[number] + 1])
        shape = [1] * len(box.axes)
        if number in box.axes:
            shape[box.axes.index(number)] = len(side)
        side = side.reshape(shape)
        result = side if result is None else combine(result, side, additive=additive)
    return np.array(np.broadcast_to(result, box.shape))


def at_node(node: Node, table: Sequence[Sequence[Any]], *, additive: bool = True) -> Any:
    """The sum of one figure per quasi-identifier and level at a node, or the largest of them."""
    figures = [levels[level] for levels, level in zip(table, node, strict=True)]
    return sum(figures) if additive else max(figures)


def count_below(flags: Flags) -> Numbers:
    """The number of flagged nodes at or below each node: one cumulative sum per axis."""
    counts = flags.astype(np.int64)
    for axis in range(flags.ndim):
        np.cumsum(counts, axis=axis, out=counts)
    return counts


def count_above(flags: Flags) -> Numbers:
    """The number of flagged nodes at or above each node."""
    backwards = (slice(None, None, -1),) * flags.ndim
    return count_below(flags[backwards])[backwards]


class Forecast:
    """Guesses a figure in [0, 1] of an unchecked node from the entropy that the node keeps.

    A node's entropy is the sum of the entropies of its columns, known before any check. What
    share of the records lies in small classes, and whether that is too much, follows it closely:
    nothing at entropy 0, everything at the highest. Only the order of the checks depends on the
    guess, never what is proved.

    Args:
        highest: Entropy at which the figure is certain to be 1 [bits].
    """

    WIDTH = 1.0  # [bits]; how far a check speaks for nodes of another entropy
    STEPS = 64
    PRIOR = 0.05  # weight of the straight line from 0 to 1, in checks

    __slots__ = ("_entropies", "_figures", "_highest")

    def __init__(self, highest: float) -> None:
        self._highest = max(highest, 1e-9)
        self._entropies: list[float] = []
        self._figures: list[float] = []

    def learn(self, entropy: float, figure: float) -> None:
        """Takes in the figure that one node was found to have."""
        self._entropies.append(entropy)
        self._figures.append(figure)

    def at(self, entropies: Reals) -> Reals:
        """The figure expected at each entropy: kernel regression, made to ascend."""
        seen, figures = np.asarray(self._entropies), np.asarray(self._figures)
        grid = np.linspace(0.0, self._highest, self.STEPS)
        kernel = np.exp(-(((grid[:, None] - seen[None]) / self.WIDTH) ** 2))
        prior = grid / self._highest
        smooth = (kernel @ figures + self.PRIOR * prior) / (kernel.sum(axis=1) + self.PRIOR)
        result: Reals = np.interp(entropies, grid, np.maximum.accumulate(smooth))
        return result


def minimal(nodes: Sequence[Node]) -> list[Node]:
    """The minimal nodes of a set: those with no other node of the set below them."""
    kept: list[Node] = []
    for node in sorted(set(nodes), key=lambda levels: (sum(levels), levels)):
        if not any(all(a <= b for a, b in zip(other, node, strict=True)) for other in kept):
            kept.append(node)
    return sorted(kept)


UNITS_PER_GAIN = 2**60  # what a gain of 1 is in units of gain
DROPPED = 12  # of the 52 bits of a double's fraction: 40 are left, 12 decimal places
INFINITE = 0x7FF << 52 - DROPPED


@dataclass(frozen=True, slots=True)
class Ratio:
    """A loss that is a cost over a gain, as whole numbers that ascend with it.

    The order of positive doubles is the order of their bits, infinity included. A value is the bits
    of its ratio without the last `DROPPED`, rounded: ratios that are equal stay equal however their
    gains were rounded, and any ratio fits, since the precision is relative.

    Args:
        whole: What a cost of 1 is [units of cost].
        highest: A gain that no node exceeds [units of gain].
    """

    whole: int
    highest: int

    def value(self, cost: int, gain: int) -> int:
        """The ratio to the nearest value: 0 without a cost, `INFINITE` where nothing is gained."""
        if not cost:
            return 0
        if gain <= 0:
            return INFINITE
        [bits] = struct.unpack("<q", struct.pack("<d", cost * UNITS_PER_GAIN / (gain * self.whole)))
        return int(_shortened(bits))

    def bound(self, cost: Any, gain: Any) -> Any:
        """A value that no cost so high has over a gain no higher, for numbers and arrays.

        One less than the value: more than doubles lose on the way.
        """
        costs, gains = np.asarray(cost, np.float64), np.asarray(gain, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.asarray(costs / gains * (UNITS_PER_GAIN / self.whole))
        values = np.maximum(_shortened(ratios.view(np.int64)) - 1, 0)
        return np.where(costs <= 0, 0, np.where(gains <= 0, INFINITE, values))

    def cost(self, value: int, gain: int) -> float:
        """The cost that makes a value of a gain [units of cost]."""
        if value >= INFINITE:
            return float("inf")
        return self.loss(value) * gain * (self.whole / UNITS_PER_GAIN)

    def loss(self, value: int) -> float:
        """The ratio itself."""
        [ratio] = struct.unpack("<d", struct.pack("<q", min(value, INFINITE) << DROPPED))
        return float(ratio)


def _shortened(bits: Any) -> Any:
    """Bits without the last `DROPPED`, to the nearest; numbers and arrays."""
    return (bits + (1 << DROPPED - 1)) >> DROPPED
