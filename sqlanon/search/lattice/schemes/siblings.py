"""Siblings: the best partition of the inner column into any sets of siblings, `sps` and `gsps`.

What a block costs beyond what its units cost at least is its *excess*. It is at least that of any
part of the block, and the excesses of a recoding add up, so no block counts whose excess is not
below the *slack*: what the best recoding known costs beyond the least. So sets grow sibling by
sibling as long as they may count, and the best partition comes by dynamic programming over the
siblings that are dealt with, in their order. The better the best recoding known, the fewer sets.
Where some records may be suppressed, but not all, every partition is carried along that no other
beats in both cost and suppressed records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.domain import Block, Branch, Domain, leaf_count
from sqlanon.search.lattice.schemes.inner import (
    FIGURES_AT_ONCE,
    Part,
    Recoded,
    Slices,
    block_costs,
    unbeaten,
)
from sqlanon.search.lattice.schemes.scheme_problem import SchemeProblem

WIDEST = 16
"""Most siblings whose sets are all looked at: there are 2^16."""


def suits(domain: Domain) -> bool:
    """Whether the best recoding of a column can be worked out over all of its blocks."""
    if domain.scheme not in ("sps", "gsps"):
        return True
    return all(len(b.children) <= WIDEST for root in domain.roots for b in root.inner())


def best_of_siblings(
    problem: SchemeProblem,
    column: int,
    slices: Slices,
    *,
    below: float,
    deadline: Deadline = NEVER,
) -> Recoded | None:
    """The best recoding of a column below a bound, if there is one.

    Args:
        problem: The table.
        column: Number of the column.
        slices: The classes of one recoding of the other columns.
        below: Only recodings that cost less count.
        deadline: When a `TimeLimitError` ends the work.
    """
    least = slices.least(problem)[:, 0]
    search = _Search(problem, column, slices, least, below - float(least.sum()), deadline)
    parts = reduce(search.joined, map(search.branch, problem.domains[column].roots))
    if not parts:
        return None
    best = parts[0]
    return Part(best.cost + float(least.sum()), best.lost, best.blocks).recoded()


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """A search for partitions of little excess; parts cost their excess.

    Args:
        problem: The table.
        column: Number of the column.
        slices: The classes of the other columns.
        least: Per unit what it costs at least.
        slack: Only parts of less excess count.
        deadline: When it ends.
    """

    problem: SchemeProblem
    column: int
    slices: Slices
    least: Reals
    slack: float
    deadline: Deadline

    @property
    def domain(self) -> Domain:
        """The column."""
        return self.problem.domains[self.column]

    def joined(self, left: list[Part], right: list[Part]) -> list[Part]:
        """The unbeaten partitions of the units of two branches, from those of each."""
        return self._unbeaten(one.plus(other) for one in left for other in right)

    def branch(self, branch: Branch) -> list[Part]:
        """The unbeaten partitions of the units of a branch."""
        if not branch.children:
            block = np.zeros((1, self.domain.units), bool)
            block[0, branch.first] = True
            leaves = leaf_count(self.domain.spans((branch.first,)))
            return self._unbeaten(part for _, part in self._parts(block, np.array([leaves])))
        self.deadline.check()
        options = [
            (1 << number, part)
            for number, child in enumerate(branch.children)
            for part in self.branch(child)
        ]
        return self._covers(branch, options + self._merged(branch))

    def _merged(self, branch: Branch) -> list[tuple[int, Part]]:
        """The sets of two children or more that can be a block, as bits, with what they cost."""
        masks = self._grown(branch)
        return [
            (int(masks[row]), part)
            for row, part in self._parts(
                _members(self.domain, branch, masks), _leaves(branch, masks)
            )
        ]

    def _grown(self, branch: Branch) -> Numbers:
        """The sets of two children or more whose excess can be less than the slack."""
        number = len(branch.children)
        masks = np.left_shift(1, np.arange(number))
        last, kept = np.arange(number), [np.empty(0, np.int64)]
        while len(masks):
            self.deadline.check()
            pairs = [(masks[last < more] | 1 << more, more) for more in range(1, number)]
            masks = np.concatenate([grown for grown, _ in pairs])
            last = np.concatenate([np.full(len(grown), more) for grown, more in pairs])
            counts = self._can_count(branch, masks)
            masks, last = masks[counts], last[counts]
            kept.append(masks)
        return np.concatenate(kept)

    def _can_count(self, branch: Branch, masks: Numbers) -> Flags:
        """Whether the least excess of blocks is below the slack."""
        problem, slices = self.problem, self.slices
        members = _members(self.domain, branch, masks)
        if problem.prices is not None:
            priced = problem.block_prices(self.column, members, leaves=_leaves(branch, masks))
            cheap: Flags = priced @ self.domain.records < self.slack
            return cheap
        counts = np.zeros(len(masks), bool)
        step = max(1, FIGURES_AT_ONCE // slices.sizes.shape[1])
        for start in range(0, len(masks), step):
            units = members[start : start + step].astype(float)
            sizes = units @ slices.sizes
            least = (sizes * np.maximum(sizes, problem.k)).sum(axis=1)
            counts[start : start + step] = least - units @ self.least < self.slack
        return counts

    def _parts(self, members: Flags, leaves: Numbers) -> list[tuple[int, Part]]:
        """The blocks that can be part of a better recoding, by number."""
        problem = self.problem
        if not len(members):
            return []
        costs = block_costs(problem, self.column, self.slices, members=members, leaves=leaves)
        excess, lost = costs.cost[:, 0] - members.astype(float) @ self.least, costs.lost[:, 0]
        good = np.flatnonzero((excess < self.slack) & (lost <= problem.allowance))
        return [
            (row, Part(cost, gone, (_block(members[row]),)))
            for row, cost, gone in zip(
                good.tolist(), excess[good].tolist(), lost[good].tolist(), strict=True
            )
        ]

    def _covers(self, branch: Branch, options: list[tuple[int, Part]]) -> list[Part]:
        """The unbeaten ways to make a branch of parts, each of some of its children."""
        steps = [_FIRST]
        for child in range(len(branch.children)):
            lowest = [n for n, (mask, _) in enumerate(options) if mask & -mask == 1 << child]
            steps.append(self._step(steps[-1], child, options=options, numbers=lowest))
        return [self._traced(steps, options, state=n) for n in range(len(steps[-1].done))]

    def _step(
        self, states: _States, child: int, *, options: list[tuple[int, Part]], numbers: list[int]
    ) -> _States:
        """The states that have a child, from those that have all before it."""
        has = (states.done >> child & 1).astype(bool)
        there = np.flatnonzero(has)
        made = [_States(states.done[has], states.cost[has], states.lost[has], there, there * 0 - 1)]
        for number in numbers:
            self.deadline.check()
            mask, part = options[number]
            fits = ~has & (states.done & mask == 0)
            fits &= states.cost + part.cost < self.slack
            there = np.flatnonzero(fits & (states.lost + part.lost <= self.problem.allowance))
            made.append(
                _States(
                    states.done[there] | mask,
                    states.cost[there] + part.cost,
                    states.lost[there] + part.lost,
                    there,
                    np.full(len(there), number),
                )
            )
        return _States.of(made)

    def _traced(self, steps: list[_States], options: list[tuple[int, Part]], *, state: int) -> Part:
        """The parts of a last state."""
        part = Part(0.0, 0.0)
        for states in reversed(steps[1:]):
            number = int(states.added[state])
            if number >= 0:
                part = part.plus(options[number][1])
            state = int(states.before[state])
        return part

    def _unbeaten(self, parts: Iterable[Part]) -> list[Part]:
        most = self.problem.allowance
        good = (part for part in parts if part.cost < self.slack and part.lost <= most)
        return unbeaten(good)


class _States(NamedTuple):
    """Parts of a branch, none beaten in both figures by another with the same children.

    Args:
        done: The children that each has, as bits.
        cost: What each costs beyond the least.
        lost: Records that each suppresses [records].
        before: The state that each was made from, one step before.
        added: The option that was added, by number; -1 for none.
    """

    done: Numbers
    cost: Reals
    lost: Reals
    before: Numbers
    added: Numbers

    @classmethod
    def of(cls, made: Sequence[_States]) -> _States:
        """The unbeaten among some states."""
        done, cost, lost, before, added = map(np.concatenate, zip(*made, strict=True))
        order = np.lexsort((lost, cost, done))
        done, lost = done[order], lost[order]
        group = np.cumsum(np.append(False, done[1:] != done[:-1])) if len(done) else done
        # Each group lies below the one before it, so that the least so far is of its own.
        shifted = lost - group * (float(lost.max(initial=0.0)) + 1)
        least = np.minimum.accumulate(shifted)
        kept = np.append(True, shifted[1:] < least[:-1]) if len(done) else np.empty(0, bool)
        order = order[kept]
        return cls(done[kept], cost[order], lost[kept], before[order], added[order])


_NONE = np.array([-1])
_FIRST = _States(np.zeros(1, np.int64), np.zeros(1), np.zeros(1), _NONE, _NONE)


def _bits(branch: Branch, masks: Numbers) -> Flags:
    """`bits[set, child]`: whether a set has a child."""
    bits: Flags = (masks[:, np.newaxis] >> np.arange(len(branch.children)) & 1).astype(bool)
    return bits


def _members(domain: Domain, branch: Branch, masks: Numbers) -> Flags:
    """`members[set, unit]`: whether a set of children has a unit."""
    members = np.zeros((len(masks), domain.units), bool)
    for child, has_child in zip(branch.children, _bits(branch, masks).T, strict=True):
        members[:, child.first : child.last] = has_child[:, np.newaxis]
    return members


def _leaves(branch: Branch, masks: Numbers) -> Numbers:
    """The leaves that each set of children stands for."""
    sizes = np.array([leaf_count([child.span]) for child in branch.children])
    leaves: Numbers = _bits(branch, masks) @ sizes
    return leaves


def _block(members: Flags) -> Block:
    return tuple(np.flatnonzero(members).tolist())


def can_screen(problem: SchemeProblem, domain: Domain) -> bool:
    """Whether shares can be told: of a loss of classes, and of units that are all siblings."""
    flat = len(domain.roots) == 1 and len(domain.roots[0].children) == domain.units
    return problem.prices is None and domain.scheme in ("sps", "gsps") and flat


class _Blocks(NamedTuple):
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
        return _Blocks._make(figures[there] for figures in self)


def least_by_shares(
    problem: SchemeProblem,
    slices: Sequence[Slices],
    *,
    below: float,
    deadline: Deadline = NEVER,
) -> Reals:
    """What the best recoding of a column costs at least, for each recoding of the other columns.

    Give each unit a share of what its block costs beyond the least, the same to each unit of the
    block. A unit's share is at least the smallest that it has in any block, so the smallest shares
    of all units add up to no more than what the best recoding costs beyond the least. The blocks
    that can count are grown for dozens of recodings of the other columns at a time, of which few
    are left for `best_of_siblings`.

    Args:
        problem: The table; its loss is discernibility.
        slices: The classes of each recoding of the other columns.
        below: What is not less need not be known.
        deadline: When a `TimeLimitError` ends the work.
    """
    units, number = len(slices[0].sizes), len(slices)
    width = max(outer.sizes.shape[1] for outer in slices)
    sizes = np.zeros((number, units, width))
    for place, classes in enumerate(slices):
        sizes[place, :, : classes.sizes.shape[1]] = classes.sizes
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
        if len(blocks.last) * width > FIGURES_AT_ONCE:
            half = len(slices) // 2
            if not half:
                alone: Reals = least.sum(axis=1)
                return alone
            parts = slices[:half], slices[half:]
            part_bounds = [
                least_by_shares(problem, part, below=below, deadline=deadline) for part in parts
            ]
            return np.concatenate(part_bounds)
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
    share = (cost - blocks.least) / blocks.members.sum(axis=1)
    shares = np.where(blocks.members, share[:, np.newaxis], np.inf)
    there, starts = np.unique(blocks.recoding, return_index=True)
    smallest = np.full((recodings, shares.shape[1]), np.inf)
    smallest[there] = np.minimum.reduceat(shares, starts, axis=0)
    return smallest
