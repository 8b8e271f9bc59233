"""Mondrian: parts of a table that are cut from the top, along its hierarchies.

The table is read once, as one row per distinct combination. While a part has more rows than memory
is given for, it is cut in the database, by counts (`rounds`); smaller ones are read and cut to the
end (`ClosedParts`). What is kept of a part is what it is published as. Relaxed parts, and those
whose records are to be exchanged, are of single records, all in memory.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity".
"""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from sqlglot import exp

from sqlanon.deadline import Deadline, phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError, UnsatisfiableError
from sqlanon.loss.cells import CellCosts
from sqlanon.loss.release import Tallied
from sqlanon.methods.clustering.annealing import annealing_notes, anneals
from sqlanon.methods.clustering.clusters import ORDINARY, decide_clusters
from sqlanon.methods.clustering.first import CUT, FirstClusters
from sqlanon.methods.clustering.releases import taxonomies
from sqlanon.methods.clustering.rounds import (
    PartBatch,
    batches,
    combinations,
    cut_large,
    initial,
    sizes_of,
    without,
)
from sqlanon.methods.local import (
    Original,
    Origins,
    alike,
    cell_costs,
    encode_records,
    end_after,
    reading_end,
    refuse_mixed_labels,
    reported,
    tallied_parts,
)
from sqlanon.methods.options import (
    BLOCK_RECORDS,
    RECORD_BYTES,
    AnnealingOptions,
    ClusterOptions,
    PartOptions,
)
from sqlanon.methods.registry import Decided, Options
from sqlanon.methods.unsatisfiable import models_text, nothing_left, unsatisfied_as_one
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import Units, may_be_read, units_of, value_demands
from sqlanon.microdata.encoding import leaf_counts
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.query.classes.parts import ROWS
from sqlanon.query.encode import SIZE
from sqlanon.recoding import Node
from sqlanon.regions import Regions
from sqlanon.reports.search import AnnealingFigures, ClusterSearch, PartSearch, SearchFigures
from sqlanon.search.arrays import Flags, Numbers, Small
from sqlanon.search.clustering.clustering_problem import ClusteringProblem
from sqlanon.search.clustering.mondrian import (
    BEST,
    Dimension,
    Judge,
    PartedRows,
    Partition,
    Rule,
    cut_clusters,
    may_halve,
    partition,
)
from sqlanon.search.privacy import Demands
from sqlanon.wording import Note, counted, key

ROWS_IN_MEMORY = 500_000
"""Rows that are cut in memory at once."""
ROW_BYTES = 1_000
"""Memory that each of them takes there, about: its leaves, and what is counted of each column."""


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[PartOptions]
) -> Decided:
    """The recoding that cuts find, beside the least that all cells lose column by column.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        UnsatisfiableError: Too many records are in parts that nothing can be done about.
        TimeLimitError: The time limit came before there were parts.
    """
    if options.specific.partitioning == "relaxed":
        return _by_records(engine, subject, policy=policy, options=options)
    if not anneals(options):
        return _strict(engine, subject, policy=policy, options=options)
    _refuse_many(subject, options)
    ended = replace(options, deadline=options.deadline.share(ORDINARY))
    strict = _strict(engine, subject, policy=policy, options=ended)
    try:
        annealed = _by_records(engine, subject, policy=policy, options=options)
    except (TimeLimitError, UnsatisfiableError):
        return _with_notes(strict, annealing_notes(None, options))
    search = annealed.report.search
    if not isinstance(search, ClusterSearch) or search.annealing is None:
        return _with_notes(strict, annealing_notes(None, options))
    return _lesser(strict, annealed, search.annealing, loss=key(options.loss))


def _by_records(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[PartOptions]
) -> Decided:
    """A recoding of single records, by blocks that memory holds record by record."""
    settings = options.specific
    relaxed = settings.partitioning == "relaxed"

    def start(problem: ClusteringProblem) -> FirstClusters:
        clusters = cut_clusters(problem, cuts=settings.cuts, relaxed=relaxed, seed=options.seed)
        ended = "the partition" if problem.deadline.expired else ""
        return FirstClusters(clusters, ended=ended)

    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        read = encode_records(engine, subject, policy=policy, loss=options.loss)
    given: Options[Any] = options
    annealing = {field.name: getattr(settings, field.name) for field in fields(AnnealingOptions)}
    alone = replace(given, specific=ClusterOptions(refine=False, **annealing))
    return decide_clusters(read, alone, start=start)


def _refuse_many(subject: Subject, options: Options[PartOptions]) -> None:
    """Refuses, by a `PolicyError`, to anneal more records than memory is given for."""
    memory = options.memory
    most = BLOCK_RECORDS if memory is None else min(BLOCK_RECORDS, memory // RECORD_BYTES)
    if subject.records > most:
        raise PolicyError(
            f"annealing exchanges single records, which have to be in memory, and "
            f"{subject.records:,} are more than the {most:,} that can be; leave --improve out, or "
            "choose --partitioning relaxed, which cuts such a table into blocks"
        )


def _lesser(
    strict: Decided, annealed: Decided, annealing: AnnealingFigures, *, loss: str
) -> Decided:
    """Of what is found with annealing and without it what loses less, with what annealing did."""
    ordinary, other = strict.report.loss[loss], annealed.report.loss[loss]
    kept = annealing.kept and other < ordinary
    best = annealed if kept else strict
    search = best.report.search
    assert isinstance(search, ClusterSearch | PartSearch)
    losses = replace(annealing.loss, ordinary=ordinary)
    search = replace(search, annealing=replace(annealing, kept=kept, loss=losses))
    return replace(best, report=replace(best.report, search=search))


def _with_notes(decided: Decided, notes: Iterator[str]) -> Decided:
    """What was decided, with more notes."""
    return replace(decided, report=replace(decided.report, notes=(*decided.report.notes, *notes)))


def _strict(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[PartOptions]
) -> Decided:
    """A recoding of combinations, whose parts are cut in the database while they are large."""
    started = time.monotonic()
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        table = CountedTable.of(engine, subject, policy=policy, loss=options.loss)
    at = time.monotonic()
    # What parts are published as is counted with them.
    deadline = end_after((at - started) / 2, policy, options.deadline)
    most = (
        ROWS_IN_MEMORY
        if options.memory is None
        else min(ROWS_IN_MEMORY, max(1, options.memory // ROW_BYTES))
    )
    closed = cut_to_the_end(engine, table, deadline, cuts=options.specific.cuts, most=most)
    search = PartSearch(
        parts=closed.made,
        combinations=len(closed.node),
        proven=table.proves(closed),
        cut_short=closed.ended,
    )
    provable = may_be_read(engine, len(closed.node))
    return table.decided(closed, options, search=search, is_provable=provable, at=at)


@dataclass(frozen=True, slots=True)
class ClosedParts:
    """Parts that are cut to the end.

    Args:
        unit: The combination of each row.
        part: The part of each row.
        sizes: Records of each part [records].
        leaves: `leaves[part, column]`: a leaf that it holds.
        levels: `levels[part, column]`: the level that it is published at.
        origins: Per column the records of parts that say something, by level and leaf [records].
        silent: The same of parts whose every label is that of suppressed records.
        ended: Whether the deadline came before they were cut as far as they can be.
    """

    unit: Small
    part: Small
    sizes: Numbers
    leaves: Small
    levels: Small
    origins: tuple[Origins, ...]
    silent: tuple[Origins, ...]
    ended: bool

    @classmethod
    def of(cls, table: CountedTable, batch: PartBatch, result: Partition) -> ClosedParts:
        """Closes the parts that a batch is cut into."""
        subject, policy = table.subject, table.policy
        order = np.argsort(result.part, kind="stable")
        parted = PartedRows(batch.rows.taken(order), result.part[order], result.parts)
        leaves, levels = [], []
        for column, (dimension, low) in enumerate(zip(table.dimensions, subject.low, strict=True)):
            first, last = parted.bounds(column)
            node = dimension.taxonomy.closure(first, last)
            leaves.append(first.astype(np.int32))
            levels.append(np.maximum(dimension.taxonomy.level[node], low).astype(np.int32))
        says_nothing = np.logical_and.reduce(
            [
                _labelled(subject, column, policy.suppressed_label)[levels[column], leaves[column]]
                for column in range(len(leaves))
            ]
        )
        said, silent = (
            tuple(
                _origins(parted, column, level, kept=kept, leaves=len(tree.leaves))
                for column, (level, tree) in enumerate(zip(levels, subject.trees, strict=True))
            )
            for kept in (~says_nothing, says_nothing)
        )
        return cls(
            batch.unit[order].astype(np.int32),
            parted.part.astype(np.int32),
            parted.sizes,
            np.stack(leaves, axis=1),
            np.stack(levels, axis=1),
            said,
            silent,
            result.ended,
        )


def _labelled(subject: Subject, column: int, label: str) -> Flags:
    """Per level and leaf of a column whether it has a label."""
    return np.array([[text == label for text in row] for row in subject.trees[column].labels], bool)


def _origins(
    parted: PartedRows, column: int, levels: Small, *, kept: Flags, leaves: int
) -> Origins:
    """The records of some parts by level and leaf of a column."""
    rows = np.flatnonzero(kept[parted.part])
    key = levels[parted.part[rows]].astype(np.int64) * leaves + parted.rows.leaves[column][rows]
    records = np.bincount(key, parted.rows.sizes[rows]).astype(np.int64)
    return {divmod(at, leaves): int(records[at]) for at in np.flatnonzero(records).tolist()}


@dataclass(frozen=True, slots=True)
class Closed:
    """The parts of a whole table.

    Args:
        nodes: The distinct levels that parts are published at.
        records: The records of each [records].
        node: The node of each combination; -1 where it is not published.
        parts: The parts.
        lost: Records that are not published [records].
    """

    nodes: tuple[Node, ...]
    records: Numbers
    node: Small
    parts: tuple[ClosedParts, ...]
    lost: int

    @classmethod
    def of(cls, chunks: Sequence[ClosedParts], combinations: int, *, lost: int) -> Closed:
        """Puts parts together, of a table of so many combinations."""
        levels = np.concatenate([chunk.levels for chunk in chunks]).astype(np.int64)
        first, number = alike(levels)
        sizes = np.concatenate([chunk.sizes for chunk in chunks])
        node, offset = np.full(combinations, -1, np.int32), 0
        for chunk in chunks:
            node[chunk.unit] = number[offset + chunk.part]
            offset += len(chunk.sizes)
        records = np.bincount(number, sizes, len(first)).astype(np.int64)
        return cls(tuple(map(tuple, levels[first].tolist())), records, node, tuple(chunks), lost)

    @property
    def made(self) -> int:
        """How many parts there are."""
        return sum(len(chunk.sizes) for chunk in self.parts)

    @property
    def ended(self) -> bool:
        """Whether the deadline came before all were cut as far as they can be."""
        return any(chunk.ended for chunk in self.parts)

    def recoding(self, values: tuple[int, ...]) -> Regions:
        """The recoding, of columns of so many distinct values."""
        node = np.where(self.node < 0, len(self.nodes), self.node)
        starts = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
        lengths = np.diff(np.append(starts, len(node)))
        lost = self.lost > 0
        nodes: tuple[Node | None, ...] = (*self.nodes, None) if lost else self.nodes
        sizes = [*self.records.tolist(), *([self.lost] if lost else [])]
        runs = array("q", lengths.tobytes()), array("q", node[starts].astype(np.int64).tobytes())
        return Regions(nodes, tuple(sizes), values, *runs)

    def tallied(self, original: Original) -> Tallied:
        """What they publish; those that say nothing are suppressed, unless they are everything."""
        columns = range(len(self.nodes[0]))
        said, silent = (
            [sum((Counter(counts[column]) for counts in origins), Counter()) for column in columns]
            for origins in (
                [chunk.origins for chunk in self.parts],
                [chunk.silent for chunk in self.parts],
            )
        )
        is_whole = silent[0].total() == original.subject.records
        return tallied_parts(
            original,
            np.concatenate([chunk.leaves for chunk in self.parts]).astype(np.int64),
            levels=np.concatenate([chunk.levels for chunk in self.parts]).astype(np.int64),
            sizes=np.concatenate([chunk.sizes for chunk in self.parts]),
            origins=silent if is_whole else said,
        )


@dataclass(frozen=True, slots=True)
class CountedTable:
    """A table in codes, and what its cells cost.

    Args:
        subject: The table.
        policy: Its policy.
        units: Its combinations.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
        costs: What cells cost.
        dimensions: The hierarchies.
    """

    subject: Subject
    policy: Policy
    units: Units
    counts: tuple[tuple[int, ...], ...]
    costs: CellCosts
    dimensions: tuple[Dimension, ...]

    @classmethod
    def of(cls, engine: Engine, subject: Subject, *, policy: Policy, loss: str) -> CountedTable:
        """Encodes a table.

        Raises:
            HierarchyError: A hierarchy does not fit its column, or has one label for two nodes.
        """
        refuse_mixed_labels(subject)
        units = units_of(engine, subject, policy=policy)
        counts = leaf_counts(engine, subject, layout=units.layout, table=units.coded)
        costs = cell_costs(subject, loss, counts=counts)
        dimensions = tuple(map(Dimension.of, taxonomies(subject, costs)))
        return cls(subject, policy, units, counts, costs, dimensions)

    def cost_of(self, closed: Closed) -> int:
        """What parts lose [units], records that are left out included."""
        total = closed.lost * self.costs.unit
        for chunk in closed.parts:
            for origins in (chunk.origins, chunk.silent):
                for column, counts in enumerate(origins):
                    costs, nodes = self.costs.costs[column], self.subject.trees[column].nodes
                    total += sum(costs[at][nodes[at][leaf]] * n for (at, leaf), n in counts.items())
        return total

    @property
    def bound(self) -> int:
        """What all cells lose at least [units], those of records that are left out included.

        Such a record loses all of its cells, which costs no less than any node above its values.
        """
        total = 0
        tops = [column[-1][0] for column in self.costs.costs]
        for dimension, counts, top in zip(self.dimensions, self.counts, tops, strict=True):
            least = dimension.taxonomy.least_costs(np.array(counts), k=self.policy.k)
            # What only nodes above the highest level hold must be left out.
            least = np.minimum(least, top)
            total += sum(int(cost) * count for cost, count in zip(least, counts, strict=True))
        return total

    def judge(self) -> Judge:
        """Who says what may be published, by the records or persons of each sensitive value."""
        return Judge(self.policy.k, value_demands(enumerate(self.units.attributes)))

    def rule(self, *, cuts: str = BEST, until: Deadline) -> Rule:
        """What decides on cuts, of one of `RULES`, until a deadline."""
        judge = self.judge()
        halves = may_halve(judge.every, persons=self.policy.entity is not None)
        return Rule(self.dimensions, judge, self.costs.unit, cuts, halves=halves, deadline=until)

    def proves(self, closed: Closed) -> bool:
        """Whether no recoding loses less than these parts."""
        return self.cost_of(closed) == self.bound and not closed.ended

    def decided(
        self,
        closed: Closed,
        options: Options[Any],
        *,
        search: SearchFigures,
        is_provable: bool,
        at: float,
        notes: Sequence[str] = (),
    ) -> Decided:
        """The recoding into parts with its report.

        Args:
            closed: The parts.
            options: What was asked for.
            search: What is known of the search.
            is_provable: Whether records may be read into this process, which proves more.
            at: When the table had been encoded, by the monotonic clock [seconds].
            notes: What a reader should know besides.
        """
        searched_at = time.monotonic()
        original = Original(self.subject, self.policy, np.zeros((0, 0), np.int64), self.counts)
        return reported(
            original,
            options,
            recoding=closed.recoding(self.units.values),
            tallied=closed.tallied(original),
            lower_bound=self.costs.loss(self.bound, self.subject.records),
            search=search,
            notes=(*notes, *_notes(closed, search, is_provable=is_provable)),
            at=(at, searched_at),
        )


Improve = Callable[[CountedTable, PartBatch, Partition, Deadline], Partition]
"""Parts of a batch that lose no more than those it is cut into, found until a deadline. Rows of one
combination stay in one part."""


def cut_to_the_end(
    engine: Engine,
    table: CountedTable,
    until: Deadline,
    *,
    cuts: str = BEST,
    most: int,
    improve: Improve | None = None,
) -> Closed:
    """Parts of the table, from the highest levels on.

    Args:
        engine: Where it lives.
        table: The table.
        until: When the search ends.
        cuts: One of `RULES`.
        most: Rows that are cut in memory at once; records where they are improved one by one.
        improve: What is done with parts that are cut to the end; None for nothing.

    Raises:
        UnsatisfiableError: Too many of the classes at the highest levels fail.
        TimeLimitError: The time limit came before anything was cut.
    """
    state, table, lost = _start(engine, table)
    units, rule = table.units, table.rule(cuts=cuts, until=until)
    measure = ROWS if improve is None else SIZE
    due = replace(rule, deadline=until if improve is None else until.share(CUT))
    with engine.limited(due.deadline):
        state = cut_large(engine, units, state, most=most, measure=measure, rule=due)
    is_cut_short = due.deadline.expired
    if is_cut_short:
        largest = max(rows for _, rows in sizes_of(engine, state, ROWS))
        if largest > most and not may_be_read(engine, largest):
            raise TimeLimitError("the cut into parts that may be read here")
    chunks = list[ClosedParts]()
    for batch in batches(engine, units, state, most=most, measure=measure):
        tell(f"partition: {counted(len(batch.rows), 'combination')}")
        deadline = until.share(1 / (batch.waiting + 1))
        limited = replace(rule, deadline=deadline if improve is None else deadline.share(CUT))
        result = partition(batch.rows, batch.part, rule=limited)
        if improve is not None:
            result = improve(table, batch, result, deadline)
            is_large = batch.rows.sizes.sum() > most
            result = replace(result, ended=result.ended or (is_cut_short and is_large))
        chunks.append(ClosedParts.of(table, batch, result))
    engine.tables.drop(state)
    if sum(len(chunk.sizes) for chunk in chunks) == 1 and any(chunk.ended for chunk in chunks):
        raise TimeLimitError("the partition")  # nothing that the highest node would not do
    return Closed.of(chunks, combinations(engine, units), lost=lost)


def _start(engine: Engine, table: CountedTable) -> tuple[exp.Table, CountedTable, int]:
    """The highest classes that can be published, the table without the others, what these lose.

    What is not published changes what relative models refer to, so classes are judged until no
    other fails.

    Raises:
        UnsatisfiableError: More records are lost than may be suppressed.
    """
    policy, subject = table.policy, table.subject
    if all(at == tree.height for at, tree in zip(subject.high, subject.trees, strict=True)):
        every = value_demands((attribute.number, attribute) for attribute in table.units.attributes)
        models = Demands(np.zeros((0, 0), np.int64), every)
        refused = unsatisfied_as_one(policy, models, records=subject.records)
        if refused is not None:
            raise refused
    state, lost = table.units.parted(engine, subject.high), 0
    is_read = may_be_read(engine, subject.records)
    while True:
        judge, (histogram, numbers) = table.judge(), initial(engine, table.units, state)
        good = judge.holds(histogram, histogram.part, groups=len(numbers))
        lost += int(histogram.count[~good].sum())
        if lost > policy.allowance(subject.records) or not good.any():
            raise _unsatisfied(policy, lost, records=subject.records, is_read=is_read)
        if good.all():
            return state, table, lost
        state = without(engine, state, numbers[~good])
        if policy.suppressed == "keep":
            if not judge.holds(histogram, np.where(good, -1, 0), groups=1).all():
                raise _unsatisfied(policy, lost, records=subject.records, is_read=is_read)
            return state, table, lost
        pairs = zip(histogram.contents, table.units.attributes, strict=True)
        counts = [entries.counts(good, len(attribute.counts)) for entries, attribute in pairs]
        table = replace(table, units=table.units.referring(counts))


def _unsatisfied(policy: Policy, lost: int, *, records: int, is_read: bool) -> UnsatisfiableError:
    """The error where the highest levels leave too many records in classes that fail.

    Relaxed parts are a way out where single records may be read.
    """
    if lost >= records <= policy.allowance(records):
        return nothing_left(policy, records=records)
    allowance, what = policy.allowance(records), "no recoding within the levels allowed satisfies"
    if policy.demands:  # parts of a class that fails, or single records left out of it, may satisfy
        what = "cuts found no recoding within the levels allowed that satisfies"
    single = (
        "; strict parts leave out whole classes only, relaxed ones single records "
        "(--method mondrian --partitioning relaxed)"
    )
    return UnsatisfiableError(
        f"{what} {models_text(policy)}: even at the "
        f"highest levels {lost:,} of {records:,} records are in classes that fail, and "
        f"{allowance:,} may be suppressed"
        f"{' and kept as one class' if policy.suppressed == 'keep' else ''}; raise max_level "
        "(--max-level) or the suppression limit (--suppression-limit), or ask for less"
        f"{single if allowance and policy.demands and is_read else ''}"
    )


def _notes(closed: Closed, search: SearchFigures, *, is_provable: bool) -> Iterator[str]:
    """What a reader should know of the search."""
    if not search.proven:
        more = "; `sqlanon bound` may prove more" if is_provable else ""
        yield Note(f"the bound adds up those of single columns{more}", "bound")
    if closed.lost:
        yield (
            f"{counted(closed.lost, 'record')} in classes that fail even at the highest levels "
            f"{'is' if closed.lost == 1 else 'are'} left out"
        )
    if closed.ended:
        yield "the time limit ended the search: a better recoding may exist"
