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

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.lattice.schemes.blocks import CELLS, BlockFamily, Slices
from sqlanon.search.lattice.schemes.domain import Block, Branch, Domain, leaf_count
from sqlanon.search.lattice.schemes.inner import Part, Recoded, unbeaten
from sqlanon.search.lattice.schemes.problem import SchemeProblem

WIDEST = 16
"""Most siblings whose sets are all looked at: there are 2^16."""


def suits(domain: Domain) -> bool:
    """Whether the best recoding of a column can be worked out over all of its blocks."""
    if domain.scheme not in ("sps", "gsps"):
        return True
    return all(len(b.children) <= WIDEST for root in domain.roots for b in root.inner())


@dataclass(frozen=True, slots=True, eq=False)
class Siblings:
    """The sets of siblings of a column, for one recoding of the other columns.

    Args:
        problem: The table.
        column: Number of the column.
        slices: The classes of the other columns.
        below: Only recodings that cost less than this count.
        deadline: When a `TimeLimitError` ends the work.
    """

    problem: SchemeProblem
    column: int
    slices: Slices
    below: float
    deadline: Deadline = NEVER

    def best(self) -> Recoded | None:
        """The best recoding of the column below the bound, if there is one."""
        least = self.slices.least(self.problem)[:, 0]
        slack = self.below - float(least.sum())
        domain = self.problem.domains[self.column]
        search = _Search(self, domain, least, slack)
        found = reduce(search.joined, map(search.branch, domain.roots))
        if not found:
            return None
        best = found[0]
        return Part(best.cost + float(least.sum()), best.lost, best.blocks).recoded()


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """A search for partitions of little excess; parts cost their excess.

    Args:
        of: What is looked for.
        domain: The column.
        least: Per unit what it costs at least.
        slack: Only parts of less excess count.
    """

    of: Siblings
    domain: Domain
    least: Reals
    slack: float

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
        self.of.deadline.check()
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
        last, found = np.arange(number), [np.empty(0, np.int64)]
        while len(masks):
            self.of.deadline.check()
            pairs = [(masks[last < more] | 1 << more, more) for more in range(1, number)]
            masks = np.concatenate([own for own, _ in pairs])
            last = np.concatenate([np.full(len(own), more) for own, more in pairs])
            counts = self._can_count(branch, masks)
            masks, last = masks[counts], last[counts]
            found.append(masks)
        return np.concatenate(found)

    def _can_count(self, branch: Branch, masks: Numbers) -> Flags:
        """Whether the least excess of blocks is below the slack."""
        problem, slices = self.of.problem, self.of.slices
        members = _members(self.domain, branch, masks)
        if problem.prices is not None:
            priced = problem.block_prices(self.of.column, members, leaves=_leaves(branch, masks))
            cheap: Flags = priced @ self.domain.records < self.slack
            return cheap
        counts = np.zeros(len(masks), bool)
        step = max(1, CELLS // slices.sizes.shape[1])
        for start in range(0, len(masks), step):
            own = members[start : start + step].astype(float)
            sizes = own @ slices.sizes
            least = (sizes * np.maximum(sizes, problem.k)).sum(axis=1)
            counts[start : start + step] = least - own @ self.least < self.slack
        return counts

    def _parts(self, members: Flags, leaves: Numbers) -> list[tuple[int, Part]]:
        """The blocks that can be part of a better recoding, by number."""
        problem = self.of.problem
        if not len(members):
            return []
        family = BlockFamily.having(problem, self.of.column, members=members, leaves=leaves)
        costs = family.costs(self.of.slices)
        excess, lost = costs.cost[:, 0] - family.members @ self.least, costs.lost[:, 0]
        good = np.flatnonzero((excess < self.slack) & (lost <= problem.allowance))
        return [
            (row, Part(own, gone, (_block(members[row]),)))
            for row, own, gone in zip(
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
            self.of.deadline.check()
            mask, part = options[number]
            fits = ~has & (states.done & mask == 0)
            fits &= states.cost + part.cost < self.slack
            there = np.flatnonzero(fits & (states.lost + part.lost <= self.of.problem.allowance))
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
        found = Part(0.0, 0.0)
        for states in reversed(steps[1:]):
            number = int(states.added[state])
            if number >= 0:
                found = found.plus(options[number][1])
            state = int(states.before[state])
        return found

    def _unbeaten(self, parts: Iterable[Part]) -> list[Part]:
        most = self.of.problem.allowance
        good = (part for part in parts if part.cost < self.slack and part.lost <= most)
        return unbeaten(good)


@dataclass(frozen=True, slots=True)
class _States:
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
        done, cost, lost, before, added = (
            np.concatenate([getattr(each, name) for each in made])
            for name in ("done", "cost", "lost", "before", "added")
        )
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
    found: Flags = (masks[:, np.newaxis] >> np.arange(len(branch.children)) & 1).astype(bool)
    return found


def _members(domain: Domain, branch: Branch, masks: Numbers) -> Flags:
    """`members[set, unit]`: whether a set of children has a unit."""
    members = np.zeros((len(masks), domain.units), bool)
    for child, held in zip(branch.children, _bits(branch, masks).T, strict=True):
        members[:, child.first : child.last] = held[:, np.newaxis]
    return members


def _leaves(branch: Branch, masks: Numbers) -> Numbers:
    """The leaves that each set of children stands for."""
    sizes = np.array([leaf_count([child.span]) for child in branch.children])
    found: Numbers = _bits(branch, masks) @ sizes
    return found


def _block(members: Flags) -> Block:
    return tuple(np.flatnonzero(members).tolist())
