"""Partitions: the recodings of one column as a tree, each exactly once, and their number.

A tree is walked from the finest recoding by merging (`merging`) or from the coarsest by splitting
(`splitting`). Both have the same shape: a node is a recoding and the unit at which the last step
was taken; every block that begins before that unit stays as it is in all recodings below. So the
recodings below a node lie between it and one that can be told from it, which is what bounds need.

Source: Li and Li 2007, "Towards optimal k-anonymization", sections 3.1 and 3.3; Bayardo and Agrawal
2005, "Data privacy through optimal k-anonymization", section 4, for the way down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlanon.policy.schemes import ORDERED
from sqlanon.search.lattice.schemes.domain import Branch, Domain, Partition

Ban = tuple[int, ...]
"""Two units that are not to be merged, or not to be split; or a recoding that is not to be made."""


@dataclass(frozen=True, slots=True)
class Position:
    """A node of a tree of recodings.

    Args:
        partition: The recoding.
        start: Blocks whose first unit is below it are the same in all recodings below.
        ban: What it has that no recoding above has; see `Enumeration.is_banned`.
    """

    partition: Partition
    start: int
    ban: Ban = ()


class Enumeration(Protocol):
    """The recodings of a column as a tree."""

    @property
    def root(self) -> Position:
        """The recoding that all others come from."""

    @property
    def bans_last(self) -> bool:
        """Whether a ban says anything below other recodings than that whose child has it."""

    def children(self, position: Position) -> Iterator[Position]:
        """The recodings whose parent this is."""

    def farthest(self, position: Position) -> Partition:
        """A partition beyond which no recoding below goes: coarser than all, or finer than all.

        It need not be allowed by the scheme.
        """

    def is_banned(self, child: Position, bans: frozenset[Ban]) -> bool:
        """Whether a recoding has what one of some children was ruled out for.

        If a child c of a recoding p was ruled out, and with it all below p that go at least as far
        as c, then every recoding below p that has c's `ban` goes at least as far as c.
        """


def count(domain: Domain) -> int:
    """The number of recodings that a scheme allows, exactly.

    The children of a branch are merged in groups; those that stay alone have recodings of their
    own, of which being one block is one. So with p the product over those that stay alone, it is
    the sum of p over all sets that may stay alone, times the ways to merge all others with none
    left alone: of an ordered scheme a recursion along the children, of another the elementary
    symmetric polynomials of their numbers times the numbers of partitions without singletons.
    """
    if domain.scheme == "bhs":
        return len(domain.levels)
    return math.prod(_count(root, domain.scheme) for root in domain.roots)


def _count(branch: Branch, scheme: str) -> int:
    """The recodings of a branch."""
    if not branch.children:
        return 1
    below = [_count(child, scheme) for child in branch.children]
    if scheme == "ghs":
        return 1 + math.prod(below)
    return _in_runs(below) if scheme in ORDERED else _in_groups(below)


def _in_runs(below: Sequence[int]) -> int:
    """The recodings of children that are merged in runs of two or more."""
    found, before = 1, 0  # of those so far, and in all of those with fewer
    for own in below:
        found, before = found * own + before, before + found
    return found


def _in_groups(below: Sequence[int]) -> int:
    """The recodings of children that are merged in any groups of two or more."""
    alone = [1]  # elementary symmetric polynomials
    for own in below:
        alone = [a + b * own for a, b in zip([*alone, 0], [0, *alone], strict=True)]
    merged = _without_singletons(len(below))
    return sum(ways * merged[len(below) - single] for single, ways in enumerate(alone))


def _without_singletons(most: int) -> list[int]:
    """Partitions of 0 to so many elements into sets of two or more, from Bell(n) = a(n) + a(n+1).

    >>> _without_singletons(6)
    [1, 0, 1, 1, 4, 11, 41]
    """
    found, row = [1], [1]
    for _ in range(most):
        found.append(row[0] - found[-1])
        row = _next_bell_row(row)
    return found


def _next_bell_row(row: Sequence[int]) -> list[int]:
    """The next row of Bell's triangle; its first number is the next Bell number."""
    following = [row[-1]]
    for own in row:
        following.append(following[-1] + own)
    return following
