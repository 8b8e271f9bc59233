"""Directions: a systematic search of recodings goes up from the finest or down from the coarsest.

In both, what lies below a recoding in the tree is between it and a partition that is told from it;
see `spaces` for what follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlanon.search.lattice.schemes.domain import Domain
from sqlanon.search.lattice.schemes.merging import Merging
from sqlanon.search.lattice.schemes.outcome import Recoding
from sqlanon.search.lattice.schemes.partitions import Enumeration
from sqlanon.search.lattice.schemes.problem import Evaluated
from sqlanon.search.lattice.schemes.spaces import Classes, Doom, Floor, Least, Ruler
from sqlanon.search.lattice.schemes.splitting import Splitting

Far = TypeVar("Far")
"""What is known of the partition that a space goes to."""


class Direction(Protocol[Far]):
    """The way that a search goes."""

    @property
    def ruler(self) -> Ruler:
        """Measures recodings."""

    def on(self, ruler: Ruler) -> Direction[Far]:
        """The same way through another table."""

    def tree(self, domain: Domain) -> Enumeration:
        """The recodings of a column."""

    def far(self, farthest: Recoding) -> Far:
        """What is known of the partition that a space goes to."""

    def least(self, own: Classes, evaluated: Evaluated, *, far: Far) -> Least:
        """What all recodings cost and suppress between one and the partition of a space."""

    def finest(self, own: Recoding, farthest: Recoding) -> Recoding:
        """The finer end of a space, which is not smaller in any column than a recoding in it."""


@dataclass(frozen=True, slots=True, eq=False)
class Upward:
    """From the finest recoding."""

    ruler: Ruler

    def on(self, ruler: Ruler) -> Upward:
        """The same way through another table."""
        return Upward(ruler)

    def tree(self, domain: Domain) -> Enumeration:
        """Merges."""
        return Merging(domain)

    def far(self, farthest: Recoding) -> Doom:
        """What is suppressed even there."""
        return self.ruler.doom(self.ruler.group(farthest, range(len(farthest))))

    def least(self, own: Classes, evaluated: Evaluated, *, far: Doom) -> Least:
        """The recoding's own classes only grow."""
        if not far.rows.any():
            return Least(evaluated.least, far.more)
        return self.ruler.least(self.ruler.floor(own), far)

    def finest(self, own: Recoding, farthest: Recoding) -> Recoding:
        """Itself."""
        return own


@dataclass(frozen=True, slots=True, eq=False)
class Downward:
    """From the coarsest recoding."""

    ruler: Ruler

    def on(self, ruler: Ruler) -> Downward:
        """The same way through another table."""
        return Downward(ruler)

    def tree(self, domain: Domain) -> Enumeration:
        """Splits."""
        return Splitting(domain)

    def far(self, farthest: Recoding) -> Floor:
        """What its classes cost at least in whatever is coarser."""
        return self.ruler.floor(self.ruler.classes(farthest))

    def least(self, own: Classes, evaluated: Evaluated, *, far: Floor) -> Least:
        """What the recoding itself suppresses stays suppressed."""
        return self.ruler.least(far, self.ruler.doom(own.group))

    def finest(self, own: Recoding, farthest: Recoding) -> Recoding:
        """The partition that it goes to."""
        return farthest
