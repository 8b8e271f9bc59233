"""Ratios: a loss that is a cost over a gain, as whole numbers that ascend with it.

The order of positive doubles is the order of their bits, infinity included. A value is the bits of
its ratio without the last `DROPPED`, rounded: ratios that are equal stay equal however their gains
were rounded, and any ratio fits, since the precision is relative.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

ONE = 2**60  # what a gain of 1 is in units of gain
DROPPED = 12  # of the 52 bits of a double's fraction: 40 are left, 12 decimal places
INFINITE = 0x7FF << 52 - DROPPED


@dataclass(frozen=True, slots=True)
class Ratio:
    """A cost over a gain.

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
        [bits] = struct.unpack("<q", struct.pack("<d", cost * ONE / (gain * self.whole)))
        return int(_shortened(bits))

    def bound(self, cost: Any, gain: Any) -> Any:
        """A value that no cost so high has over a gain no higher, for numbers and arrays.

        One less than the value: more than doubles lose on the way.
        """
        costs, gains = np.asarray(cost, np.float64), np.asarray(gain, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.asarray(costs / gains * (ONE / self.whole))
        values = np.maximum(_shortened(ratios.view(np.int64)) - 1, 0)
        return np.where(costs <= 0, 0, np.where(gains <= 0, INFINITE, values))

    def cost(self, value: int, gain: int) -> float:
        """The cost that makes a value of a gain [units of cost]."""
        if value >= INFINITE:
            return float("inf")
        return self.loss(value) * gain * (self.whole / ONE)

    def loss(self, value: int) -> float:
        """The ratio itself."""
        [ratio] = struct.unpack("<d", struct.pack("<q", min(value, INFINITE) << DROPPED))
        return float(ratio)


def _shortened(bits: Any) -> Any:
    """Bits without the last `DROPPED`, to the nearest; numbers and arrays."""
    return (bits + (1 << DROPPED - 1)) >> DROPPED
