"""Outcome of a search for the best recoding of all columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.search.lattice.schemes.domain import Partition

Recoding = tuple[Partition, ...]
"""Per column its recoding."""
Tell = Callable[[str], None]
"""Receives lines about the progress of a search."""


@dataclass(frozen=True, slots=True)
class FlexibilityStep:
    """The best recoding found under less flexible schemes.

    Args:
        schemes: The scheme of each column.
        value: What it costs.
        proven: Whether none of these schemes costs less.
    """

    schemes: tuple[str, ...]
    value: int
    proven: bool


@dataclass(frozen=True, slots=True)
class SchemeOutcome:
    """The best recoding of a search, and the bound that it proved.

    Args:
        partitions: The best recoding found, per column; None where none satisfies the policy.
        value: What it costs; that of the coarsest recoding where none satisfies.
        suppressed: Records that it suppresses [records].
        bound: What every recoding costs at least; `value` where it is proven.
        checked: Recodings that were evaluated.
        steps: What less flexible schemes come to, the least flexible first.
    """

    partitions: Recoding | None
    value: int
    suppressed: int
    bound: int
    checked: int
    steps: tuple[FlexibilityStep, ...] = ()

    @property
    def proven(self) -> bool:
        """Whether no recoding costs less."""
        return self.bound >= self.value
