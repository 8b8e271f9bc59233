"""Mondrian (LeFevre, DeWitt and Ramakrishnan 2006): cuts from the top, until no part can be cut.

A part is cut either *by nodes*, between the nodes right below its closure, of which those too small
to be a class stay together, or *in two*, where its ordered children are halved best. Every cut of
every part is worked out at once, from the parts' histograms of one column. Rows are
kept in the order of their parts, so what a part holds is found by one pass over each column,
however many parts there are.

A cut tells the groups of a part apart, which takes some bits of the log2(records / k) that a part
has in all, and saves some loss. The cut that saves most per bit is taken: by what it saves alone, a
column of many values would be cut first and leave nothing for the others. It loses 0.200 on Adult
at k = 50, the cut that saves most 0.277, the widest column 0.289 between nodes and 0.409 at
medians. What no cut by nodes helps is halved where it is widest, since smaller parts may close
lower in other columns.

Source: "Mondrian multidimensional k-anonymity", sections 3.1 (allowable cuts; strict and relaxed
partitionings) and 4: `median` is its greedy algorithm over ordered values, `nodes` the same over
hierarchies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.progress import advance
from sqlanon.search.arrays import Flags, Numbers, Reals
from sqlanon.search.clustering.assign import mend
from sqlanon.search.clustering.clustering_problem import Clustering, ClusteringProblem
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.search.privacy import Sparse, ValueDemand, person_values


@dataclass(frozen=True, slots=True)
class Dimension:
    """One column: its hierarchy, with the nodes of each level numbered from left to right.

    Args:
        taxonomy: Its nodes and what a cell at each costs [units].
        place: `place[level, leaf]`: the place of the leaf's node among those of the level.
        nodes: `nodes[level, place]`: the node there; nothing beyond the last place of a level.
    """

    taxonomy: Taxonomy
    place: Numbers
    nodes: Numbers

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Dimension:
        """Numbers the nodes of every level."""
        changes = np.diff(taxonomy.ancestors, axis=1, prepend=taxonomy.ancestors[:, :1]) != 0
        place = np.cumsum(changes, axis=1)
        nodes = np.zeros_like(place)
        nodes[np.arange(len(place))[:, np.newaxis], place] = taxonomy.ancestors
        return cls(taxonomy, place, nodes)


@dataclass(frozen=True, slots=True)
class EntryValues:
    """What the records of a histogram hold: one row for each that differs.

    Args:
        entry: The entry of the histogram, ascending.
        value: The value that it holds; -1 where it does not count.
        count: Records [records].
        person: The person of the records; None where records count.
    """

    entry: Numbers
    value: Numbers
    count: Numbers
    person: Numbers | None = None

    def counts(self, entries: Flags, values: int) -> Numbers:
        """Records per value 0, 1, … of some entries; or persons, and last those with any value."""
        sparse = _sparse(self, np.where(entries, 0, -1), values=values)
        width = values + (self.person is not None)
        return np.bincount(sparse.value, sparse.count, width).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Records of parts by child, one entry for each that holds any.

    Args:
        part: The part of each entry, ascending.
        child: The child, ascending within a part.
        count: Its records [records].
        contents: Per sensitive attribute that is asked about what they hold.
        people: The persons of the records; None where records count.
    """

    part: Numbers
    child: Numbers
    count: Numbers
    contents: tuple[EntryValues, ...] = ()
    people: EntryValues | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Says which groups of records may be published as a class.

    Args:
        k: Fewest records, or persons.
        every: The models of sensitive attributes; `demand.attribute` is a place in `contents`.
        deadline: When it is too late to say.
    """

    k: int
    every: tuple[ValueDemand, ...] = ()
    deadline: Deadline = NEVER

    def holds(self, histogram: Histogram, group: Numbers, *, groups: int) -> Flags:
        """Which groups of entries satisfy everything.

        Args:
            histogram: The entries.
            group: The group of each entry; -1 for none.
            groups: How many groups there are.

        Raises:
            TimeLimitError: The deadline came before all were looked at.
        """
        there = group >= 0
        sizes = np.bincount(group[there], histogram.count[there], groups).astype(np.int64)
        people = histogram.people
        if people is not None and people.person is not None:
            of_person = group[people.entry]
            some = of_person >= 0
            most = int(people.person.max(initial=0)) + 1
            pairs = np.unique(of_person[some] * most + people.person[some])
            sizes = np.minimum(sizes, np.bincount(pairs // most, minlength=groups))
        good: Flags = sizes >= self.k
        for demand in self.every:
            asked = np.flatnonzero(good)
            if not len(asked):
                break
            place = np.full(groups + 1, -1)  # the last one is that of no group
            place[asked] = np.arange(len(asked))
            contents, values = histogram.contents[demand.attribute], len(demand.table)
            sparse = _sparse(contents, place[group], values=values)
            good[asked] = sparse.holds(demand, groups=len(asked), deadline=self.deadline)
        return good


def _sparse(contents: EntryValues, group: Numbers, *, values: int) -> Sparse:
    """What groups hold of so many values, by the group of each entry; -1 for none."""
    owner = group[contents.entry]
    there = np.flatnonzero((owner >= 0) & (contents.value >= 0))
    owner, value, count = owner[there], contents.value[there], contents.count[there]
    if contents.person is not None:
        owner, value = person_values(owner, value, contents.person[there], values=values)
        count = np.ones_like(owner)
    return Sparse.sorted(owner, value, count)


def summed(keys: Sequence[Numbers], count: Numbers) -> tuple[list[Numbers], Numbers]:
    """Distinct rows of keys, ascending, with the sums of their counts."""
    order = np.lexsort(list(keys)[::-1])
    rows = [key[order] for key in keys]
    fresh = np.zeros(len(order), np.bool_)
    fresh[:1] = True
    for row in rows:
        fresh[1:] |= row[1:] != row[:-1]
    starts = np.flatnonzero(fresh)
    return [row[starts] for row in rows], np.add.reduceat(count[order], starts)


MAX_CELLS_PER_ROW = 4
"""Cells of a table of counts, per row, up to which it is filled instead of sorting the rows."""


@dataclass(frozen=True, slots=True)
class PartRows:
    """Rows of a table that are alike in all that a search looks at.

    Args:
        leaves: Per column the leaf of each row.
        sizes: Records of each row [records].
        values: Per sensitive attribute that is asked about the value of each row; -1 for none.
        persons: Per sensitive attribute whether persons count instead of records.
        person: The person of each row; None where records count.
    """

    leaves: tuple[Numbers, ...]
    sizes: Numbers
    values: tuple[Numbers, ...] = ()
    persons: tuple[bool, ...] = ()
    person: Numbers | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def taken(self, rows: Numbers) -> PartRows:
        """Some of the rows."""
        return replace(
            self,
            leaves=tuple(leaf[rows] for leaf in self.leaves),
            sizes=self.sizes[rows],
            values=tuple(value[rows] for value in self.values),
            person=None if self.person is None else self.person[rows],
        )


@dataclass(frozen=True, slots=True)
class PartedRows:
    """Rows in the order of their parts.

    Args:
        rows: The rows.
        part: The part of each, ascending from 0 without gaps.
        parts: How many there are.
    """

    rows: PartRows
    part: Numbers
    parts: int

    @property
    def sizes(self) -> Numbers:
        """Records of each part [records]."""
        return np.bincount(self.part, self.rows.sizes, self.parts).astype(np.int64)

    def bounds(self, column: int) -> tuple[Numbers, Numbers]:
        """The first and the last leaf that each part holds in a column."""
        starts = np.searchsorted(self.part, np.arange(self.parts))
        leaves = self.rows.leaves[column]
        return (
            np.minimum.reduceat(leaves, starts).astype(np.int64),
            np.maximum.reduceat(leaves, starts).astype(np.int64),
        )

    def children(self, column: int, dimension: Dimension, *, level: Numbers) -> Numbers:
        """The place of each row's node at the level of its part."""
        index = level[self.part].astype(np.int64)
        index *= dimension.place.shape[1]
        index += self.rows.leaves[column]
        place: Numbers = dimension.place.ravel()[index]
        return place

    def histogram(self, child: Numbers, *, width: Numbers) -> tuple[Histogram, Numbers]:
        """Records of parts by child, and the entry of each row.

        Args:
            child: The child of each row, in [0, width of its part).
            width: Per part above all of its children.
        """
        rows, starts = self.rows, np.append(0, np.cumsum(width))
        key = starts[self.part] + child
        if starts[-1] <= MAX_CELLS_PER_ROW * len(key) + 1024:
            counts = np.bincount(key, rows.sizes, int(starts[-1]))
            keys = np.flatnonzero(counts)
            place = np.zeros(len(counts), np.int64)
            place[keys] = np.arange(len(keys))
            entry, count = place[key], counts[keys].astype(np.int64)
        else:
            keys, entry = np.unique(key, return_inverse=True)
            count = np.bincount(entry, rows.sizes, len(keys)).astype(np.int64)
        part = np.searchsorted(starts, keys, side="right") - 1
        histogram = Histogram(part, keys - starts[part], count, *self._contents(entry))
        return histogram, entry

    def in_order(self, child: Numbers) -> tuple[Histogram, Numbers]:
        """As `histogram`, each row a child of its own, in the order of their children."""
        order = np.lexsort((np.arange(len(child)), child, self.part))
        starts = np.searchsorted(self.part, np.arange(self.parts + 1))
        place = np.empty(len(child), np.int64)
        place[order] = np.arange(len(child))
        return self.histogram(place - starts[self.part], width=np.diff(starts))

    def _contents(self, entry: Numbers) -> tuple[tuple[EntryValues, ...], EntryValues | None]:
        """What the entries of a histogram hold of sensitive attributes, and whose they are."""
        rows, attributes = self.rows, []
        for value, persons in zip(rows.values, rows.persons, strict=True):
            if persons and rows.person is not None:
                attributes.append(EntryValues(entry, value, np.ones_like(entry), rows.person))
            else:
                (entries, values), count = summed([entry, value], rows.sizes)
                attributes.append(EntryValues(entries, values, count))
        people = rows.person
        whose = None if people is None else EntryValues(entry, entry, np.ones_like(entry), people)
        return tuple(attributes), whose


NOT = -1
"""The group of an entry whose part is not cut."""


@dataclass(frozen=True, slots=True)
class PartCuts:
    """The cuts of all parts at one column.

    Args:
        group: The group of each entry of the histogram, numbered part by part without gaps; `NOT`
            where a part cannot be cut.
        part: The part that each group is of, ascending.
        saved: Per part what its records save in this column [units]; -1 where it cannot be cut.
        bits: Per part the information that tells its groups apart, over all of its records [bits].
    """

    group: Numbers
    part: Numbers
    saved: Numbers
    bits: Reals

    @property
    def allowed(self) -> Flags:
        """Which parts can be cut."""
        allowed: Flags = self.saved >= 0
        return allowed


def by_nodes(histogram: Histogram, gain: Numbers, *, parts: int, judge: Judge) -> PartCuts:
    """Cuts between children; those that may not be a class of their own stay together.

    Where these together may not be one either, the child that saves least joins them.

    Args:
        histogram: Records of parts by child.
        gain: What each record of an entry saves where its child is a class of its own [units].
        parts: How many parts there are.
        judge: Says which groups may be classes.
    """
    entries = len(histogram.part)
    alone = judge.holds(histogram, np.arange(entries), groups=entries)
    rest = np.where(alone, NOT, histogram.part)
    there = np.bincount(histogram.part[~alone], minlength=parts) > 0
    lacking = there & ~judge.holds(histogram, rest, groups=parts)
    if lacking.any():
        alone &= ~_cheapest(histogram, np.where(alone, gain * histogram.count, NOT), asked=lacking)
        rest = np.where(alone, NOT, histogram.part)
        lacking &= ~judge.holds(histogram, rest, groups=parts)
    apart = np.bincount(histogram.part[alone], minlength=parts)
    together = np.bincount(histogram.part[~alone], minlength=parts) > 0
    allowed = (apart + together > 1) & ~lacking
    saved = _totals(histogram.part, np.where(alone, gain * histogram.count, 0), parts=parts)
    first = np.concatenate([[True], histogram.part[1:] != histogram.part[:-1]])
    # The rest of a part is its first group, so that groups are numbered in the order of parts.
    start = np.cumsum(apart + together) - apart
    before: Numbers = np.cumsum(alone) - alone
    rank = before - np.maximum.accumulate(np.where(first, before, 0))
    group = np.where(alone, start[histogram.part] + rank, start[histogram.part] - 1)
    return _numbered(histogram, group, allowed=allowed, saved=saved)


def _cheapest(histogram: Histogram, saved: Numbers, *, asked: Flags) -> Flags:
    """The entry of each part asked that saves least, of those whose saving is not negative."""
    there = np.flatnonzero((saved >= 0) & asked[histogram.part])
    order = there[np.lexsort((there, saved[there], histogram.part[there]))]
    part = histogram.part[order]
    chosen = np.zeros(len(saved), np.bool_)
    chosen[order[np.concatenate([[True], part[1:] != part[:-1]])[: len(order)]]] = True
    return chosen


def in_two(histogram: Histogram, *, parts: int, judge: Judge) -> PartCuts:
    """Cuts in two halves of neighbouring children, as even as they can be.

    Args:
        histogram: Records of parts by child.
        parts: How many parts there are.
        judge: Says which groups may be classes.
    """
    starts = np.searchsorted(histogram.part, np.arange(parts + 1))
    totals = _totals(histogram.part, histogram.count, parts=parts)
    through = np.cumsum(histogram.count)
    before = np.append(0, through)[starts[:-1]]
    within = through - before[histogram.part]
    # The last entry of a part would leave nothing on the right.
    smaller = np.minimum(within, totals[histogram.part] - within)
    order = np.lexsort((np.arange(len(smaller)), -smaller, histogram.part))
    last = order[np.minimum(starts[:-1], len(order) - 1)]
    right = np.arange(len(smaller)) > last[histogram.part]
    group = 2 * histogram.part + right
    one, other = judge.holds(histogram, group, groups=2 * parts).reshape(-1, 2).T
    return _numbered(histogram, group, allowed=one & other, saved=np.zeros(parts, np.int64))


def _numbered(histogram: Histogram, group: Numbers, *, allowed: Flags, saved: Numbers) -> PartCuts:
    """The cut with the groups of parts that can be cut numbered without gaps."""
    parts = len(allowed)
    kept = allowed[histogram.part]
    groups, number = np.unique(group[kept], return_inverse=True)
    renumbered = np.full(len(group), NOT)
    renumbered[kept] = number
    owner = np.zeros(len(groups), np.int64)
    owner[number] = histogram.part[kept]
    sizes = np.bincount(number, histogram.count[kept], len(groups))
    whole = _totals(histogram.part, histogram.count, parts=parts)[owner]
    terms = -sizes * np.log2(np.maximum(sizes, 1) / np.maximum(whole, 1))
    bits: Reals = np.bincount(owner, terms, parts).astype(np.float64)
    return PartCuts(renumbered, owner, np.where(allowed, saved, NOT), bits)


def _totals(part: Numbers, figure: Numbers, *, parts: int) -> Numbers:
    """The sum of a figure over the entries of each part, exactly."""
    through = np.append(0, np.cumsum(figure))
    starts = np.searchsorted(part, np.arange(parts + 1))
    totals: Numbers = through[starts[1:]] - through[starts[:-1]]
    return totals


NODES, MEDIAN, BEST = "nodes", "median", "best"
RULES = (BEST, NODES, MEDIAN)
"""Which cut a part gets: the one that saves most per bit; the widest column, between the nodes
right below its closure; the widest column, at the median of its leaves."""
ROWS_AT_ONCE = 100_000
"""Rows whose parts are cut at once, unless a part has more, between looks at the clock."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What decides on cuts.

    Args:
        dimensions: The columns.
        judge: Says which groups may be classes.
        unit: What a record that loses all cells costs [units].
        cuts: One of `RULES`.
        relaxed: Whether records of one value may go to either half, so that halves are even.
        halves: Whether parts may be halved that then close alike, see `may_halve`.
        deadline: When the search ends with what there is.
    """

    dimensions: tuple[Dimension, ...]
    judge: Judge
    unit: int
    cuts: str = BEST
    relaxed: bool = False
    halves: bool = True
    deadline: Deadline = NEVER


def may_halve(every: Sequence[ValueDemand], *, persons: bool) -> bool:
    """Whether parts may be halved that then close alike, and so are published as one class.

    Only where models are sure to hold of the union of classes for which they do. Of persons they
    look at unions that are no mixtures: who has records in two classes counts once in their union.

    Args:
        every: The models.
        persons: Whether persons count instead of records.
    """
    return not every or (not persons and all(demand.model.union_closed for demand in every))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One cut of every part that allows it, at one column.

    Args:
        score: What speaks for it, per part; -1 where it is not allowed.
        cut: The cut.
        entry: The entry of each row in the cut's histogram.
    """

    score: Reals
    cut: PartCuts
    entry: Numbers


def candidates(parted: PartedRows, column: int, *, rule: Rule) -> Iterator[Candidate]:
    """The cuts of all parts at one column.

    Args:
        parted: Rows in the order of their parts.
        column: The number of the column.
        rule: What decides.

    Raises:
        TimeLimitError: The deadline came before all were looked at.
    """
    dimension, parts = rule.dimensions[column], parted.parts
    judge = replace(rule.judge, deadline=rule.deadline)
    taxonomy = dimension.taxonomy
    low, high = parted.bounds(column)
    node = taxonomy.closure(low, high)
    is_median = rule.cuts == MEDIAN
    level = np.zeros_like(node) if is_median else np.maximum(taxonomy.level[node] - 1, 0)
    first = dimension.place[level, low]
    width = dimension.place[level, high] - first + 1
    if not (width > 1).any():
        return
    child = parted.children(column, dimension, level=level) - first[parted.part]
    histogram, entry = parted.histogram(child, width=width)
    if not is_median:
        part = histogram.part
        below = dimension.nodes[level[part], first[part] + histogram.child]
        gain = taxonomy.cost[node][part] - taxonomy.cost[below]
        cut = by_nodes(histogram, gain, parts=parts, judge=judge)
        per_bit = 1.0 + cut.saved / np.maximum(cut.bits, np.finfo(np.float64).tiny)
        worth = cut.saved > 0 if rule.cuts == BEST else cut.allowed
        score = per_bit if rule.cuts == BEST else (high - low) / taxonomy.leaves
        yield Candidate(np.where(worth, score, NOT), cut, entry)
    if rule.cuts != NODES and rule.halves:
        if rule.relaxed:
            histogram, entry = parted.in_order(child)
        two = in_two(histogram, parts=parts, judge=judge)
        wide = (high - low) / taxonomy.leaves if is_median else taxonomy.cost[node] / rule.unit
        yield Candidate(np.where(two.allowed & (width > 1), wide, NOT), two, entry)


def chosen(options: Sequence[Candidate], parts: int) -> Numbers:
    """The candidate of each part with the best score, the first of those alike; `NOT` for none."""
    best, which = np.full(parts, -0.5), np.full(parts, NOT)
    for number, candidate in enumerate(options):
        better = candidate.score > best
        best[better] = candidate.score[better]
        which[better] = number
    return which


def groups(
    options: Sequence[Candidate], choice: Numbers, *, parted: Sequence[PartedRows]
) -> list[tuple[Numbers, Numbers]]:
    """Per candidate its rows of parts that are cut so, and the group of each.

    Groups are numbered part by part.

    Args:
        options: The candidates.
        choice: The candidate of each part.
        parted: Per candidate the rows that its entries are of.
    """
    counts = np.zeros(len(choice), np.int64)
    for number, candidate in enumerate(options):
        made = np.bincount(candidate.cut.part, minlength=len(choice))
        counts = np.where(choice == number, made, counts)
    starts, named = np.cumsum(counts) - counts, []
    for number, (candidate, rows) in enumerate(zip(options, parted, strict=True)):
        cut = candidate.cut
        cut_rows = np.flatnonzero((choice == number)[rows.part])
        part = rows.part[cut_rows]
        offset = starts - np.searchsorted(cut.part, np.arange(len(choice)))
        named.append((cut_rows, cut.group[candidate.entry[cut_rows]] + offset[part]))
    return named


@dataclass(frozen=True, slots=True)
class Partition:
    """Parts of a table that are not cut any more.

    Args:
        part: The part of each row, from 0 up.
        parts: How many there are.
        ended: Whether the deadline came before all of them had been cut as far as they can be.
    """

    part: Numbers
    parts: int
    ended: bool = False


def partition(rows: PartRows, start: Numbers, *, rule: Rule) -> Partition:
    """Cuts parts until no cut is left or time is over.

    Args:
        rows: The rows.
        start: The part of each at first.
        rule: What decides.
    """
    final, made = np.full(len(rows), NOT), 0
    active = np.argsort(start, kind="stable")
    part = start[active]
    while len(active) and not rule.deadline.expired:
        advance(1 - len(active) / len(rows))
        part = _renumbered(part)
        # Nothing can be told apart in less than two classes.
        small = (np.bincount(part, rows.sizes[active]) < 2 * rule.judge.k)[part]
        final[active[small]] = made + part[small]
        made += int(part[-1]) + 1
        active, part = active[~small], part[~small]
        if not len(active):
            break
        part = _renumbered(part)
        group = _cut_all(rows, active, part, rule=rule)
        done = group == NOT
        final[active[done]] = made + part[done]
        made += int(part[-1]) + 1
        active, group = active[~done], group[~done]
        order = np.argsort(group, kind="stable")
        active, part = active[order], group[order]
    ended = len(active) > 0
    final[active] = made + part
    parts, number = np.unique(final, return_inverse=True)
    return Partition(number, len(parts), ended)


def _renumbered(part: Numbers) -> Numbers:
    """Ascending numbers without gaps."""
    renumbered: Numbers = np.cumsum(np.diff(part, prepend=part[:1]) != 0)
    return renumbered


def _cut_all(rows: PartRows, active: Numbers, part: Numbers, *, rule: Rule) -> Numbers:
    """The group that each active row goes to; `NOT` where its part is not cut.

    Parts that the deadline leaves no time for are a group each.

    Args:
        rows: The rows of the table.
        active: Those of parts that may be cut, in the order of these.
        part: The part of each, ascending from 0 without gaps.
        rule: What decides.
    """
    group, made = np.full(len(active), NOT), 0
    starts = np.append(np.flatnonzero(np.diff(part, prepend=NOT)), len(active))
    first = 0
    while first < len(starts) - 1:
        last = max(
            first + 1, int(np.searchsorted(starts, starts[first] + ROWS_AT_ONCE, "right")) - 1
        )
        here = slice(starts[first], starts[last])
        parted = PartedRows(rows.taken(active[here]), part[here] - first, last - first)
        try:
            numbers = _cut_once(parted, rule)
        except TimeLimitError:
            left = slice(starts[first], None)
            group[left] = made + part[left] - first
            break
        group[here] = np.where(numbers == NOT, NOT, made + numbers)
        made += int(numbers.max()) + 1
        first = last
    return group


def _cut_once(parted: PartedRows, rule: Rule) -> Numbers:
    """The group that each row goes to; `NOT` where its part is not cut.

    Raises:
        TimeLimitError: The deadline came before all columns were looked at.
    """
    options: list[Candidate] = []
    for column in range(len(rule.dimensions)):
        rule.deadline.check()
        options += candidates(parted, column, rule=rule)
    choice = chosen(options, parted.parts)
    group = np.full(len(parted.part), NOT)
    for rows, numbers in groups(options, choice, parted=[parted] * len(options)):
        group[rows] = numbers
    return group


def cut_clusters(
    problem: ClusteringProblem,
    *,
    cuts: str = BEST,
    relaxed: bool = False,
    seed: int = 0,
    least: int = 1,
) -> Clustering:
    """Clusters that satisfy k and the demand.

    Where those of one value may go to either half, it is drawn which of them go where, so that
    sensitive values are spread over both.

    Args:
        problem: The table.
        cuts: One of `RULES`.
        relaxed: Whether records of one value may go to either half.
        seed: Seed of the draw.
        least: Fewest records of a part that is cut off.

    Raises:
        UnsatisfiableError: The records of a division together fail the demand, see `mend`.
    """
    demand = problem.demand
    part, order = problem.division, np.arange(problem.records)
    if relaxed:
        order = np.random.default_rng(seed).permutation(order)
    leaves = tuple(np.ascontiguousarray(leaf) for leaf in problem.leaves[order].T)
    rows = PartRows(leaves, np.ones(len(order), np.int64))
    every: tuple[ValueDemand, ...] = ()
    if demand is not None:
        every = demand.every
        persons = {value_demand.attribute: value_demand.of_persons for value_demand in every}
        rows = replace(
            rows,
            values=tuple(np.ascontiguousarray(value) for value in demand.values[order].T),
            persons=tuple(persons.get(column, False) for column in range(demand.values.shape[1])),
            person=None if demand.persons is None else demand.persons[order],
        )
    rule = Rule(
        tuple(map(Dimension.of, problem.taxonomies)),
        Judge(max(problem.k, least), every),
        int(problem.cost(problem.root)),
        cuts,
        relaxed=relaxed,
        halves=may_halve(every, persons=rows.person is not None),
        deadline=problem.deadline,
    )
    label = np.empty(problem.records, np.int64)
    label[order] = partition(rows, part[order], rule=rule).part
    clusters = Clustering.of(problem, label)
    # Cut parts satisfy the demand; those that could not be cut may not, whatever the time.
    return clusters if demand is None else mend(replace(problem, deadline=NEVER), clusters)
