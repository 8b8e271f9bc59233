"""Pattern problem: distinct rows with their patterns, and what becomes of records without a place.

A record that no pattern takes keeps nothing: all its columns are at their highest levels allowed.
Where these are the tops of the hierarchies, all such records are one class; else they are as many
as the highest levels tell apart, and no class of any pattern crosses two of them. Some records are
set aside before the search (`set_aside`), others are left over after it (`finish`). What all
records lose at least is told by each column, by the patterns, and by prices of records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.methods.local import EncodedRecords
from sqlanon.methods.unsatisfiable import models_text, unsatisfied_as_one
from sqlanon.policy.policy import Policy, least_share
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.clustering.clustering_problem import Candidates, ClusteringProblem
from sqlanon.search.clustering.dual_bound import dual_bound
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.search.patterns import LEFT, DistinctRows, Placed, instance_keys
from sqlanon.wording import counted

NOTHING = -2
"""In place of a pattern: records of a class that keeps nothing. Those that are LEFT have none."""


@dataclass(frozen=True, slots=True)
class PatternProblem:
    """A table with the patterns it may be published by, cheapest first.

    Args:
        rows: The distinct combinations as a search sees them.
        nodes: `nodes[pattern, column]`: levels.
        masks: `masks[pattern, word]`: the bits of the code that a pattern keeps.
        costs: Per column `[level, leaf]`: what a cell costs [units].
        leaves: `leaves[row, column]`.
        tops: Per column its highest level allowed, where nothing of it is kept.
        highest: Per row the number of its class where every column is at its highest level.
        k: The smallest class allowed [records, or persons].
        suppressed: What a record costs whose cells all read as those of suppressed records [units];
            None where the highest levels allowed tell something.
        dropped: What a record costs that is left out [units].
        least: What all records cost at least, as far as that is known before a search [units].
        lost: What records cost that were set aside before, of rows that have none any more [units].
    """

    rows: DistinctRows
    nodes: Numbers
    masks: Numbers
    costs: tuple[Numbers, ...]
    leaves: Numbers
    tops: Numbers
    highest: Numbers
    k: int
    suppressed: int | None
    dropped: int
    least: int = 0
    lost: int = 0
    deadline: Deadline = NEVER

    def cost(self, rows: Numbers, levels: Numbers) -> Numbers:
        """The cost of a record of each row at levels for all or `[row, column]` [units].

        By some losses a value that all records share costs nothing at the top, unless the whole
        record says nothing: then it counts as suppressed.
        """
        cells = (costs[levels[..., c], self.leaves[rows, c]] for c, costs in enumerate(self.costs))
        whole: Numbers = reduce(np.add, cells)
        if self.suppressed is None:
            return whole
        return np.where((levels == self.tops).all(axis=-1), self.suppressed, whole)

    def least_left(self, rows: Numbers) -> Numbers:
        """What a record of each row costs at least that no pattern takes [units]."""
        return np.where(self.fits[rows], self.cost(rows, self.tops), self.dropped)

    @property
    def fits(self) -> Flags:
        """The rows with k records or persons at the highest levels; no class holds the others."""
        rows, groups = np.arange(len(self.highest)), int(self.highest.max()) + 1
        enough: Flags = self.rows.counted(rows, self.highest, groups=groups) >= self.k
        return enough[self.highest]

    def at_most(self, bound: int) -> int:
        """A bound, less where all records as one class cost less than as suppressed ones."""
        return bound if self.suppressed is None else min(bound, self.as_one_class)

    @property
    def as_one_class(self) -> int:
        """The cost of all records as one class at the top, which does not count as suppressed."""
        tops = (costs[top] for costs, top in zip(self.costs, self.tops, strict=True))
        first = (int(costs[leaf]) for costs, leaf in zip(tops, self.leaves[0], strict=True))
        return sum(first) * int(self.rows.sizes.sum())


@dataclass(frozen=True, slots=True)
class Parts:
    """Records of a row that are published alike, ascending by row.

    Args:
        row: The row of each part.
        count: Its records.
        pattern: Its pattern, LEFT or NOTHING.
        group: Its class, or LEFT; two parts of one class have one pattern.
        bound: What all cells cost at least with these patterns [units]; None where not known.
        proven: Whether nothing published by these patterns loses less; None without a solver.
        gap: How far the solver's bound is from these parts, a share of the loss.
        components: Parts that the solver's program fell into.
        ended: Whether the time did not suffice to improve them.
    """

    row: Numbers
    count: Numbers
    pattern: Numbers
    group: Numbers
    bound: int | None = None
    proven: bool | None = None
    gap: float | None = None
    components: int | None = None
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
    rows = np.flatnonzero(table.rows.sizes)
    return Parts(rows, table.rows.sizes[rows], placed.pattern[rows], placed.group[rows])


def published_cost(table: PatternProblem, parts: Parts, *, policy: Policy) -> float:
    """The cost of parts as they are published [units]; infinite where they cannot be."""
    try:
        finished = finish(table, parts, policy=policy)
    except UnsatisfiableError:
        return math.inf
    says_nothing = table.suppressed is not None and (finished.levels == table.tops).all()
    if says_nothing and not finished.dropped.any():
        return table.as_one_class
    costs = np.where(finished.dropped, table.dropped, table.cost(parts.row, finished.levels))
    return int(costs @ parts.count) + table.lost


def finish(table: PatternProblem, parts: Parts, *, policy: Policy) -> Finished:
    """Publishes the records that no pattern has a place for at the highest levels allowed.

    They are published as a class where that satisfies the models, by themselves or with others that
    keep nothing. Else they are dropped where the policy allows it, or other classes are published
    with them, whichever costs less.

    Raises:
        UnsatisfiableError: Not even all records together would do.

    Source: Bredereck, Nichterlein and Niedermeier 2013, section 2, which suppresses fewer than k
    records all the same, which no check of the published table could pass.
    """
    left = parts.pattern == LEFT
    records = int(parts.count[left].sum())
    placed = parts.count[~left]
    sizes = np.bincount(parts.group[~left], weights=placed).astype(np.int64)
    sizes = sizes[sizes > 0]
    nowhere = (parts.pattern < 0)[:, np.newaxis]
    levels = np.where(nowhere, table.tops, table.nodes[np.maximum(parts.pattern, 0)])
    if not records:
        return Finished(levels, np.zeros(len(left), bool), sizes, ())
    rest = _Rest(table, parts, left=left, nothing=(levels == table.tops).all(axis=1))
    dropped, joined = rest.settled(policy)
    levels = np.where(joined[:, np.newaxis], table.tops, levels)
    notes = tuple(rest.notes(policy, dropped=dropped, joined=joined))
    return Finished(levels, dropped, np.append(sizes, records), notes)


class _Rest:
    """The records that no pattern takes, in the classes that the highest levels allowed make."""

    def __init__(self, table: PatternProblem, parts: Parts, *, left: Flags, nothing: Flags) -> None:
        self.table, self.parts, self.left, self.nothing = table, parts, left, nothing
        self.highest = table.highest[parts.row]

    def settled(self, policy: Policy) -> tuple[Flags, Flags]:
        """Per part whether its records are dropped, and whether they join others that are left.

        Raises:
            UnsatisfiableError: More records than may be left out fit no class.
        """
        dropped, joined = np.zeros((2, len(self.left)), bool)
        room, failing = droppable(self.table, policy), self._failing()
        unplaced = {n: self.left & (self.highest == n) for n in failing.tolist()}
        sizes = {n: int(self.parts.count[flags].sum()) for n, flags in unplaced.items()}
        # All that says nothing costs no more with others: then no others are looked for.
        ways = {
            n: None if size <= room and self.table.suppressed is not None else self._joined(n)
            for n, size in sizes.items()
        }
        beyond = 0
        for number in sorted(sizes, key=lambda n: (ways[n] is not None, sizes[n])):
            way, size = ways[number], sizes[number]
            fits = size <= room
            if fits and (way is None or self.table.dropped * size <= self._extra(way)):
                dropped |= unplaced[number]
                room -= size
            elif way is not None:
                joined |= way
            else:
                beyond += size
        if beyond:
            raise _unsatisfied(self.table, policy, beyond=beyond, room=room)
        return dropped, joined

    def _failing(self) -> Numbers:
        """The numbers of the highest classes whose records without a place make none."""
        number, groups = self.highest[self.nothing], int(self.table.highest.max()) + 1
        row, count = self.parts.row[self.nothing], self.parts.count[self.nothing]
        rows = _counting(self.table, row, count)
        members = np.unique(row)
        holds = rows.holding(members, self.table.highest[members], groups=groups, k=self.table.k)
        some = np.bincount(number, self.left[self.nothing], groups) > 0
        return np.flatnonzero(some & ~holds)

    def _joined(self, number: int) -> Flags | None:
        """Parts that satisfy the models as one class, with others of theirs: cheapest first."""
        table, parts, within = self.table, self.parts, self.highest == number
        joined: Flags = within & self.nothing
        others = np.flatnonzero(within & ~self.nothing)
        extra = self._lost(others)
        groups, place = np.unique(parts.group[others], return_inverse=True)
        costs = np.zeros(len(groups), np.int64)
        np.add.at(costs, place, extra)
        for group in groups[np.argsort(costs, kind="stable")]:
            # Too late to look for the fewest: then all records are taken.
            joined |= within & ((parts.group == group) | table.deadline.expired)
            rows = _counting(table, parts.row[joined], parts.count[joined])
            members = np.unique(parts.row[joined])
            alike = np.zeros(len(members), np.int64)
            if rows.holding(members, alike, groups=1, k=table.k)[0]:
                return joined
        return None

    def _lost(self, others: Numbers) -> Numbers:
        """What placed parts lose more where nothing of them is kept [units]."""
        row, count = self.parts.row[others], self.parts.count[others]
        before = self.table.cost(row, self.table.nodes[self.parts.pattern[others]])
        extra: Numbers = (self.table.cost(row, self.table.tops) - before) * count
        return extra

    def _extra(self, joined: Flags) -> int:
        """What parts cost as one class, beyond what those with a place cost there [units]."""
        left = np.flatnonzero(joined & self.left)
        alone = self.table.cost(self.parts.row[left], self.table.tops) @ self.parts.count[left]
        return int(alone) + int(self._lost(np.flatnonzero(joined & ~self.nothing)).sum())

    def notes(self, policy: Policy, *, dropped: Flags, joined: Flags) -> Iterator[str]:
        """What became of the records that no pattern had a place for."""
        count, fault = self.parts.count, "no pattern has a place for {} with enough others"
        says_nothing = self.table.suppressed is not None
        single = int(count[self.left & ~dropped & ~joined].sum())
        if single:
            what = "all their cells are suppressed" if says_nothing else f"they are {_HIGHEST}"
            yield f"{fault.format(counted(single, 'record'))}; {what}"
        if dropped.any():
            yield f"{fault.format(counted(int(count[dropped].sum()), 'record'))}; they are left out"
        few = int(count[joined & self.left].sum())
        if few:
            others = counted(int(count[joined & ~self.nothing].sum()), "other record")
            what = "lose all cells" if says_nothing else f"are {_HIGHEST}"
            out = _leaving_out(self.table, policy, records=few + int(count[dropped].sum()))
            yield (
                f"{fault.format(counted(few, 'record'))}, too few for a class of their own: "
                f"{others} of the cheapest classes {what} with them{out}"
            )


_HIGHEST = "published at the highest levels allowed"


def _counting(table: PatternProblem, row: Numbers, count: Numbers) -> DistinctRows:
    """The rows with the records of some parts alone."""
    sizes = np.bincount(row, count, len(table.rows.sizes)).astype(np.int64)
    return replace(table.rows, sizes=sizes)


def _leaving_out(table: PatternProblem, policy: Policy, *, records: int) -> str:
    """What would leave records without a place out instead, as the end of a note."""
    if _is_relative(table):
        return ""  # no limit would
    limit = least_share(records, int(table.rows.sizes.sum()))
    dropping = " and suppressed = 'drop'" if policy.suppressed == "keep" else ""
    return f"; a suppression limit of {limit:g}{dropping} would leave them out"


def _unsatisfied(
    table: PatternProblem, policy: Policy, *, beyond: int, room: int
) -> UnsatisfiableError:
    """The error to raise where records fit no class and may not be left out."""
    records = int(table.rows.sizes.sum())
    error = unsatisfied_as_one(policy, table.rows.demands, records=records)
    if error is not None:
        return error
    return UnsatisfiableError(
        f"these patterns found no recoding within the levels allowed that satisfies "
        f"{models_text(policy)}: even at the highest levels {beyond:,} of {records:,} records are "
        f"in classes that fail, and {room:,} more may be left out; raise max_level (--max-level) "
        "or the suppression limit (--suppression-limit), or ask for less"
    )


def droppable(table: PatternProblem, policy: Policy) -> int:
    """The number of records that these methods leave out at most, once some were set aside.

    None where a model refers to the distribution of the published table: what is left out changes
    how far every class is from it. None where they are kept, too.
    """
    if policy.suppressed == "keep" or _is_relative(table):
        return 0
    return allowed(table, policy)


def is_shifting(table: PatternProblem, policy: Policy) -> bool:
    """Whether the policy allows for more than these methods look at record by record.

    Records left out would change the distribution that a model refers to, and those kept beyond the
    highest levels allowed would be a class of their own. So what the others lose at least is no
    bound then.
    """
    # Where the highest levels say nothing, records that are kept are at them, whatever the limit.
    kept = policy.suppressed == "keep"
    is_open = table.suppressed is None if kept else _is_relative(table)
    return is_open and allowed(table, policy) > 0


def _is_relative(table: PatternProblem) -> bool:
    return table.rows.demands is not None and table.rows.demands.is_relative


def allowed(table: PatternProblem, policy: Policy) -> int:
    """The number of records that the policy allows to suppress."""
    records = int(table.rows.sizes.sum())
    return min(policy.allowance(records), records - 1)


@dataclass(frozen=True, slots=True)
class SetAside:
    """A table without the records that were set aside.

    Args:
        table: The table, where these rows have no records.
        rows: Their numbers.
        records: The records of each.
        kept: Whether they are published with every cell suppressed, instead of left out.
    """

    table: PatternProblem
    rows: Numbers
    records: Numbers
    kept: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What became of them."""
        records = int(self.records.sum())
        if not records:
            return ()
        how = "kept with every quasi-identifier suppressed" if self.kept else "left out"
        verb = "is" if records == 1 else "are"
        return (
            f"{counted(records, 'record')} {verb} {how} within the suppression limit: even at the "
            "highest levels allowed their classes fail",
        )


def set_aside(table: PatternProblem, policy: Policy) -> SetAside:
    """The table without the records whose classes fail at the highest levels allowed.

    What is left out changes the distribution that relative models refer to, so no search can weigh
    it record by record. But where a class fails at the highest levels, not all of its records can
    be published, for what its parts satisfy their union does, too (where the model is closed under
    unions; elsewhere it is a way to publish the rest). Such classes are left out as a whole: first
    those that fail whatever the reference is, then the smallest that is too far from what is left,
    and so on until none fails. Where suppressed records are kept, they are a class that must
    satisfy the models itself.

    Nothing is set aside where the search itself leaves records out, or where these are too many:
    then it finds out whether there is another way.
    """
    kept, most = policy.suppressed == "keep", allowed(table, policy)
    none = SetAside(table, np.empty(0, np.int64), np.empty(0, np.int64))
    if not is_shifting(table, policy):
        return none
    whole, gone = table.rows, np.zeros(len(table.highest), bool)
    while True:
        rest = _rest(whole, gone, kept=kept)
        more = _failing(table, _fixed(rest))
        if not more.any():
            more = _smallest(table, rest, among=_failing(table, rest))
        if kept and not more.any() and gone.any() and not _is_class(table, gone):
            more = _smallest(table, rest, among=rest.sizes > 0)
        gone |= more
        if int(whole.sizes[gone].sum()) > most:
            return none
        if not more.any():
            break
    rows = np.flatnonzero(gone)
    lost = int(whole.sizes[rows].sum()) * table.dropped
    return SetAside(replace(table, rows=rest, lost=lost), rows, whole.sizes[rows], kept)


def _rest(whole: DistinctRows, gone: Flags, *, kept: bool) -> DistinctRows:
    """The rows with records of those that are not gone, by the reference that is published."""
    sizes = np.where(gone, 0, whole.sizes)
    demands = whole.demands
    if demands is not None and not kept:
        demands = demands.referring(np.repeat(np.arange(len(sizes)), sizes))
    return replace(whole, sizes=sizes, demands=demands)


def _fixed(rest: DistinctRows) -> DistinctRows:
    """The rows with those demands alone that refer to no distribution."""
    if rest.demands is None:
        return rest
    every = tuple(demand for demand in rest.demands.every if not demand.model.relative)
    return replace(rest, demands=replace(rest.demands, every=every))


def _failing(table: PatternProblem, rest: DistinctRows) -> Flags:
    """The rows with records whose classes at the highest levels fail."""
    rows, groups = np.flatnonzero(rest.sizes), int(table.highest.max()) + 1
    holds = rest.holding(rows, table.highest[rows], groups=groups, k=table.k)
    failing: Flags = ~holds[table.highest] & (rest.sizes > 0)
    return failing


def _is_class(table: PatternProblem, gone: Flags) -> bool:
    """Whether what is set aside may be kept as one class."""
    rows = np.flatnonzero(gone)
    alike = np.zeros(len(rows), np.int64)
    return bool(table.rows.holding(rows, alike, groups=1, k=table.k)[0])


def _smallest(table: PatternProblem, rest: DistinctRows, *, among: Flags) -> Flags:
    """The rows of the smallest class at the highest levels among those of some rows."""
    if not among.any():
        return among
    sizes = np.bincount(table.highest[among], rest.sizes[among])
    smallest = np.where(sizes > 0, sizes, np.inf).argmin()
    members: Flags = among & (table.highest == smallest)
    return members


MAX_PRICED_PLACES = 100_000
"""Rows times patterns up to which records are priced, in about a second."""
MAX_PRICED_RECORDS = 200_000
"""Records up to which they are priced, as each is an entry of its own."""
MAX_BOUND_PLACES = 1_000_000
"""Rows times patterns up to which each pattern is looked at for a bound, in a moment."""


def least_cost(
    read: EncodedRecords, rows: DistinctRows, *, costs: Sequence[Numbers], k: int
) -> int:
    """What all records cost at least, from each column by itself [units].

    A published cell is a node that k records, or persons, of the table share, at a level that is
    allowed, so it costs no less than the cheapest of those above its value. A record that has no
    such node in some column must be left out. One that is left out, or reads as suppressed, costs a
    unit, which is no less than all its cells at their tops. So this holds for any recoding, however
    many records are left out, and models beyond k can only raise the loss further.

    Args:
        read: The table.
        rows: Its distinct combinations.
        costs: Per column `[level, leaf]`: what a cell costs [units].
        k: The smallest class allowed.
    """
    subject, leaves = read.subject, read.combinations.leaves
    every, unit = np.arange(len(leaves)), read.costs.unit
    total, possible = np.zeros(len(leaves), np.int64), np.ones(len(leaves), bool)
    for number, (tree, low, high) in enumerate(
        zip(subject.trees, subject.low, subject.high, strict=True)
    ):
        least = np.full(len(leaves), unit)
        allowed = np.zeros(len(leaves), bool)
        for level in range(low, high + 1):
            nodes = np.array(tree.nodes[level])[leaves[:, number]]
            counted = rows.counted(every, nodes, groups=int(nodes.max()) + 1)
            enough = counted[nodes] >= k
            cost = costs[number][level, leaves[:, number]]
            least = np.where(enough, np.minimum(least, cost), least)
            allowed |= enough
        total += np.where(allowed, least, 0)
        possible &= allowed
    cost = np.where(possible, np.minimum(total, unit), unit)
    return int(cost @ rows.sizes)


def least_by_patterns(table: PatternProblem) -> int:
    """What all records cost at least by the patterns of a table [units].

    A record goes to an instance of k records or persons, keeps nothing or is left out; it costs no
    less than the cheapest of these. With too many patterns, what is known whatever they are.
    """
    rows = np.arange(len(table.highest))
    if len(rows) * len(table.nodes) > MAX_BOUND_PLACES:
        return table.least
    least = table.least_left(rows)
    for node, mask in zip(table.nodes, table.masks, strict=True):
        _, group = np.unique(instance_keys(table.rows.codes.T, mask), return_inverse=True)
        enough = table.rows.counted(rows, group, groups=int(group.max()) + 1) >= table.k
        least = np.where(enough[group], np.minimum(least, table.cost(rows, node)), least)
    return max(table.least, table.at_most(int(least @ table.rows.sizes)))


def least_by_prices(read: EncodedRecords, table: PatternProblem, *, deadline: Deadline) -> int:
    """What all records cost at least by the patterns of a table, since a class needs k takers.

    Every class is an instance of a pattern, or of the highest levels, that k records or more share;
    so instances are the candidates that `dual_bound` asks for, whatever else there is in the
    table. What is neither is left out, or reads as that, within the suppression limit. With too
    many patterns or records, or where the deadline comes before prices, what is known whatever
    these are.
    """
    leaves, sizes = read.combinations.leaves, read.combinations.sizes
    records = int(sizes.sum())
    too_many = len(leaves) * len(table.nodes) > MAX_PRICED_PLACES or records > MAX_PRICED_RECORDS
    if too_many or deadline.expired or read.policy.suppressed == "keep":
        return table.least
    taxonomies = tuple(
        Taxonomy.of(tree, costs)
        for tree, costs in zip(read.subject.trees, read.costs.costs, strict=True)
    )
    problem = ClusteringProblem(
        taxonomies,
        np.repeat(leaves, sizes, axis=0),
        table.k,
        deadline=deadline,
        allowance=min(read.policy.allowance(records), records),
        suppressed=read.costs.unit,
    )
    every = []
    for levels in (*table.nodes, table.tops):
        at = zip(taxonomies, levels, leaves.T, strict=True)
        every.append(np.stack([tree.ancestors[level, leaf] for tree, level, leaf in at], axis=1))
    nodes, first = np.unique(np.concatenate(every), axis=0, return_inverse=True)
    # One instance may belong to several patterns: its records count once.
    place = np.unique(first.ravel() * len(leaves) + np.tile(np.arange(len(leaves)), len(every)))
    support = np.bincount(place // len(leaves), sizes[place % len(leaves)]).astype(np.int64)
    try:
        bound = dual_bound(problem, Candidates.of(problem, nodes, support=support))
    except TimeLimitError:
        return table.least
    return max(table.least, table.at_most(bound.total))
