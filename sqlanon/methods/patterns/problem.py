"""Pattern problem: distinct rows with their patterns, and the suppression of records left over."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.unsatisfiable import unsatisfied_as_one
from sqlanon.policy.policy import Policy, least_share
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.patterns.greedy import LEFT, DistinctRows, Placed
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True)
class PatternProblem:
    """A table with the patterns it may be published by, cheapest first.

    Args:
        rows: The distinct combinations as a search sees them.
        nodes: `nodes[pattern, column]`: levels.
        masks: `masks[pattern, word]`: the bits of the code that a pattern keeps.
        costs: Per column `[level, leaf]`: what a cell costs [units].
        leaves: `leaves[row, column]`.
        tops: Per column the level at which it is suppressed.
        k: The smallest class allowed [records].
        suppressed: What a record costs whose cells all are those of suppressed records [units].
        dropped: What a record costs that is left out [units].
    """

    rows: DistinctRows
    nodes: Numbers
    masks: Numbers
    costs: tuple[Numbers, ...]
    leaves: Numbers
    tops: Numbers
    k: int
    suppressed: int
    dropped: int
    deadline: Deadline = NEVER

    def cost(self, rows: Numbers, levels: Numbers) -> Numbers:
        """The cost of a record of each row at levels for all or `[row, column]` [units].

        By some losses a value that all records share costs nothing at the top, unless the whole
        record says nothing: then it counts as suppressed.
        """
        each = (own[levels[..., c], self.leaves[rows, c]] for c, own in enumerate(self.costs))
        nothing = (levels == self.tops).all(axis=-1)
        return np.where(nothing, self.suppressed, reduce(np.add, each))

    @property
    def as_one_class(self) -> int:
        """The cost of all records as one class at the top, which does not count as suppressed."""
        each = (own[top] for own, top in zip(self.costs, self.tops, strict=True))
        first = (int(own[leaf]) for own, leaf in zip(each, self.leaves[0], strict=True))
        return sum(first) * int(self.rows.sizes.sum())


@dataclass(frozen=True, slots=True)
class Parts:
    """Records of a row that are published alike, ascending by row.

    Args:
        row: The row of each part.
        count: Its records.
        pattern: Its pattern, or LEFT.
        group: Its class, or LEFT; two parts of one class have one pattern.
        bound: What all cells cost at least with these patterns [units]; None where not known.
        search: What is known of the search.
        ended: Whether the time did not suffice to improve them.
    """

    row: Numbers
    count: Numbers
    pattern: Numbers
    group: Numbers
    bound: int | None = None
    search: tuple[tuple[str, object], ...] = ()
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The levels of every part, and the classes that this makes.

    Args:
        levels: `levels[part, column]`.
        dropped: Per part whether its records are not published.
        sizes: Records of each class that a pattern made, and of those left over, as one more.
        notes: What became of the records that no pattern had a place for.
    """

    levels: Numbers
    dropped: Flags
    sizes: Numbers
    notes: tuple[str, ...]


def greedy_parts(table: PatternProblem, placed: Placed) -> Parts:
    """Every row as one part."""
    rows = np.arange(len(table.rows.sizes))
    return Parts(rows, table.rows.sizes, placed.pattern, placed.group)


def published_cost(table: PatternProblem, parts: Parts, *, policy: Policy) -> float:
    """The cost of parts as they are published [units]; infinite where they cannot be."""
    try:
        finished = finish(table, parts, policy=policy)
    except UnsatisfiableError:
        return math.inf
    if (finished.levels == table.tops).all() and not finished.dropped.any():
        return table.as_one_class
    costs = np.where(finished.dropped, table.dropped, table.cost(parts.row, finished.levels))
    return int(costs @ parts.count)


def finish(table: PatternProblem, parts: Parts, *, policy: Policy) -> Finished:
    """Suppresses the records that no pattern has a place for.

    They are suppressed as one class where that satisfies the models. Else they are dropped where
    the policy allows it, or other classes are suppressed with them.

    Raises:
        UnsatisfiableError: Not even all records together would do.

    Source: Bredereck, Nichterlein and Niedermeier 2013, section 2, which suppresses fewer than k
    records all the same.
    """
    left = parts.pattern == LEFT
    records = int(parts.count[left].sum())
    placed = parts.count[~left]
    sizes = np.bincount(parts.group[~left], weights=placed).astype(np.int64)
    sizes = sizes[sizes > 0]
    levels = np.where(left[:, np.newaxis], table.tops, table.nodes[parts.pattern])
    kept = np.zeros(len(left), bool)
    if not records:
        return Finished(levels, kept, sizes, ())
    sizes = np.append(sizes, records)
    suppressed = (levels == table.tops).all(axis=1)
    told = f"no pattern has a place for {counted(records, 'record')} with enough others"
    if _is_class(table, parts, members=suppressed):
        return Finished(levels, kept, sizes, (f"{told}; all their cells are suppressed",))
    if records <= droppable(table, policy):
        return Finished(levels, left, sizes, (f"{told}; they are left out",))
    joined = _joined(table, parts, suppressed=suppressed, policy=policy)
    others = int(parts.count[joined & ~suppressed].sum())
    note = (
        f"{told}, too few for a class of their own: {counted(others, 'other record')} of the "
        f"cheapest classes lose all cells with them{_leaving_out(table, policy, records=records)}"
    )
    levels = np.where(joined[:, np.newaxis], table.tops, levels)
    return Finished(levels, kept, sizes, (note,))


def _leaving_out(table: PatternProblem, policy: Policy, *, records: int) -> str:
    """What would leave records without a place out instead, as the end of a note."""
    if _is_relative(table):
        return ""  # no limit would
    limit = least_share(records, int(table.rows.sizes.sum()))
    dropping = " and suppressed = 'drop'" if policy.suppressed == "keep" else ""
    return f"; a suppression limit of {limit:g}{dropping} would leave them out"


def _is_class(table: PatternProblem, parts: Parts, *, members: Flags) -> bool:
    """Whether parts satisfy the models as one class."""
    row, count = parts.row[members], parts.count[members]
    if count.sum() < table.k:
        return False
    rows = replace(table.rows, sizes=np.bincount(row, count, len(table.rows.sizes)))
    own = np.unique(row)
    return bool(rows.satisfying(own, np.zeros(len(own), np.int64), groups=1)[0])


def droppable(table: PatternProblem, policy: Policy) -> int:
    """The number of records that these methods leave out at most.

    None where a model refers to the distribution of the published table: what is left out changes
    how far every class is from it.
    """
    return 0 if _is_relative(table) else _allowed(table, policy)


def is_shifting(table: PatternProblem, policy: Policy) -> bool:
    """Whether the policy allows for more than these methods look at.

    Records left out would change the distribution that a model refers to, so what all records lose
    at least is no bound then.
    """
    return _is_relative(table) and _allowed(table, policy) > 0


def _is_relative(table: PatternProblem) -> bool:
    demands = table.rows.demands
    return demands is not None and any(each.model.relative for each in demands.every)


def _allowed(table: PatternProblem, policy: Policy) -> int:
    """The number of records that the policy allows to leave out."""
    records = int(table.rows.sizes.sum())
    return min(policy.allowance(records), records - 1) if policy.suppressed == "drop" else 0


def _joined(table: PatternProblem, parts: Parts, *, suppressed: Flags, policy: Policy) -> Flags:
    """Parts to suppress besides, until all satisfy the models as one class: cheapest first."""
    before = table.cost(parts.row, table.nodes[parts.pattern])
    extra = (table.cost(parts.row, table.tops) - before) * parts.count
    groups, own = np.unique(parts.group[~suppressed], return_inverse=True)
    costs = np.zeros(len(groups), np.int64)
    np.add.at(costs, own, extra[~suppressed])
    joined = suppressed.copy()
    for group in groups[np.argsort(costs, kind="stable")]:
        # Too late to look for the fewest: then all records are suppressed.
        joined |= (parts.group == group) | table.deadline.expired
        if _is_class(table, parts, members=joined):
            return joined
    found = unsatisfied_as_one(policy, table.rows.demands, records=int(table.rows.sizes.sum()))
    assert found is not None  # all records are joined by now, and still fail
    raise found
