"""Screening: a bound on the best recoding of an `sps` column, for many recodings of the others.

Give each unit a share of what its block costs beyond the least, the same to each unit of the block.
A unit's share is at least the smallest that it has in any block, so the smallest shares of all
units add up to no more than what the best recoding costs beyond the least. The blocks that can
count are grown as in `siblings`, for dozens of recodings of the other columns at a time, of which
few are left for the search there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.blocks import CELLS, Slices
from sqlanon.search.lattice.schemes.domain import Domain
from sqlanon.search.lattice.schemes.problem import SchemeProblem


def can_screen(problem: SchemeProblem, domain: Domain) -> bool:
    """Whether shares can be told: of a loss of classes, and of units that are all siblings."""
    flat = len(domain.roots) == 1 and len(domain.roots[0].children) == domain.units
    return problem.prices is None and domain.scheme in ("sps", "gsps") and flat


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Blocks of several recodings of the other columns, ascending by these.

    Args:
        recoding: The recoding of each.
        members: `members[block, unit]`.
        last: The last unit of each.
        sizes: `sizes[block, class]` [records]; recodings of fewer classes have empty ones.
        least: What the units cost at least.
    """

    recoding: Numbers
    members: Flags
    last: Numbers
    sizes: Reals
    least: Reals

    def only(self, there: Flags) -> _Blocks:
        """Some of them."""
        return _Blocks(
            self.recoding[there],
            self.members[there],
            self.last[there],
            self.sizes[there],
            self.least[there],
        )


def least_by_shares(
    problem: SchemeProblem,
    slices: Sequence[Slices],
    *,
    below: float,
    deadline: Deadline = NEVER,
) -> Reals:
    """What the best recoding of a column costs at least, for each recoding of the other columns.

    Args:
        problem: The table; its loss is discernibility.
        slices: The classes of each recoding of the other columns.
        below: What is not less need not be known.
        deadline: When a `TimeLimitError` ends the work.
    """
    units, number = len(slices[0].sizes), len(slices)
    width = max(each.sizes.shape[1] for each in slices)
    sizes = np.zeros((number, units, width))
    for place, each in enumerate(slices):
        sizes[place, :, : each.sizes.shape[1]] = each.sizes
    least = (sizes * np.maximum(sizes, problem.k)).sum(axis=2)
    slack = below - least.sum(axis=1)
    blocks = _Blocks(
        np.repeat(np.arange(number), units),
        np.tile(np.eye(units, dtype=bool), (number, 1)),
        np.tile(np.arange(units), number),
        sizes.reshape(-1, width),
        least.ravel(),
    )
    shares = np.full((number, units), np.inf)
    while len(blocks.last):
        deadline.check()
        shares = np.minimum(shares, _shares(problem, blocks, recodings=number))
        if len(blocks.last) * width > CELLS:
            half = len(slices) // 2
            if not half:
                alone: Reals = least.sum(axis=1)
                return alone
            parts = slices[:half], slices[half:]
            found = [
                least_by_shares(problem, part, below=below, deadline=deadline) for part in parts
            ]
            return np.concatenate(found)
        grown = _grown(blocks, sizes, least=least)
        cost = (grown.sizes * np.maximum(grown.sizes, problem.k)).sum(axis=1)
        blocks = grown.only(cost - grown.least < slack[grown.recoding])
    bounds: Reals = least.sum(axis=1) + shares.sum(axis=1)
    return bounds


def _grown(blocks: _Blocks, sizes: Reals, *, least: Reals) -> _Blocks:
    """Each block with each of the units after its last."""
    units = sizes.shape[1]
    after = units - 1 - blocks.last
    row = np.repeat(np.arange(len(after)), after)
    first = np.cumsum(after) - after
    unit = blocks.last[row] + 1 + np.arange(len(row)) - first[row]
    recoding, members = blocks.recoding[row], blocks.members[row]
    members[np.arange(len(row)), unit] = True
    return _Blocks(
        recoding,
        members,
        unit,
        blocks.sizes[row] + sizes[recoding, unit],
        blocks.least[row] + least[recoding, unit],
    )


def _shares(problem: SchemeProblem, blocks: _Blocks, *, recodings: int) -> Reals:
    """`shares[recoding, unit]`: the smallest share of each unit in some blocks."""
    small = blocks.sizes < problem.k
    if problem.allowance:
        lost = np.where(small, blocks.sizes * problem.whole, blocks.sizes * blocks.sizes)
        cost = lost.sum(axis=1)
    else:
        fails = (small & (blocks.sizes > 0)).any(axis=1)
        cost = np.where(fails, np.inf, (blocks.sizes * blocks.sizes).sum(axis=1))
    own = (cost - blocks.least) / blocks.members.sum(axis=1)
    shares = np.where(blocks.members, own[:, np.newaxis], np.inf)
    there, starts = np.unique(blocks.recoding, return_index=True)
    found = np.full((recodings, shares.shape[1]), np.inf)
    found[there] = np.minimum.reduceat(shares, starts, axis=0)
    return found
