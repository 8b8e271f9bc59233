"""Local recoding, as all methods share it that recode record by record: what they read and release.

A method takes the table as `EncodedRecords` from `encode_records`, which refuses labels that no
local method can mix, and says what becomes of each record (`Assigned`); `decided` measures what
will be published and makes the recoding and its report.

What is published follows from each record's leaves and levels, so that a plan writes no table to
measure, unless it has to say what classes tell of sensitive columns. `assessment.measure` reads the
published table on its own; a test holds the one against the other.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sqlanon.classes import ClassStatistics
from sqlanon.deadline import Deadline, phase
from sqlanon.engine.base import Engine
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.label_nodes import Label, LabelMatch, Nodes, read, refuse_two_meanings
from sqlanon.hierarchy.layout import Layout
from sqlanon.hierarchy.tree import Place
from sqlanon.loss.cells import CellCosts
from sqlanon.loss.measures import measured
from sqlanon.loss.release import Column, Release, Tallied
from sqlanon.methods.registry import Decided, Options, SharedWork
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import DistinctCombinations, distinct_combinations
from sqlanon.microdata.encoding import Encoded, leaf_maps
from sqlanon.microdata.spellings import spelling_notes
from sqlanon.policy.policy import Policy
from sqlanon.policy.sizes import KAnonymity
from sqlanon.policy.warnings import policy_notes
from sqlanon.progress import tell
from sqlanon.recoding import Clusters, Run, ValueMap
from sqlanon.regions import Regions
from sqlanon.reports.check import model_results
from sqlanon.reports.plan import Report
from sqlanon.reports.search import SearchFigures
from sqlanon.search.arrays import Flags, Numbers, numbered, packed, united
from sqlanon.search.privacy import Demands
from sqlanon.wording import counted

READING = 0.75
"""Share of a time limit that reading a table record by record may take."""


@dataclass(frozen=True, slots=True)
class EncodedRecords:
    """A table in codes, as methods that recode record by record read it.

    Args:
        subject: The table.
        policy: Its policy.
        layout: Which bits hold which level of which column.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
        combinations: Its distinct combinations.
        costs: What cells cost.
        at: When they had been read, by the monotonic clock [seconds].
        seconds: How long it took to read them.
    """

    subject: Subject
    policy: Policy
    layout: Layout
    counts: tuple[tuple[int, ...], ...]
    combinations: DistinctCombinations
    costs: CellCosts
    at: float
    seconds: float

    def demands(self) -> Demands | None:
        """The models beyond k, asked of groups of distinct combinations; None without any."""
        return self.combinations.demands()


def encode_records(
    engine: Engine, subject: Subject, *, policy: Policy, loss: str, valued: Sequence[str] = ()
) -> EncodedRecords:
    """Reads a table in codes, with its cell costs.

    Args:
        engine: Where the table lives.
        subject: The table.
        policy: Its policy.
        loss: What cells cost by.
        valued: Sensitive attributes that are read whether or not a model looks at them.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
    """
    refuse_mixed_labels(subject)
    tell(f"encoding: {counted(len(subject.names), 'column')}")
    started, coding = time.monotonic(), leaf_maps(engine, subject)
    distinct = distinct_combinations(engine, subject, coding=coding, policy=policy, valued=valued)
    counts = distinct.leaf_counts(subject.trees)
    costs, at = cell_costs(subject, loss, counts=counts), time.monotonic()
    return EncodedRecords(subject, policy, coding[0], counts, distinct, costs, at, at - started)


def read_records(
    engine: Engine, subject: Subject, *, policy: Policy, loss: str, encoded: Encoded
) -> EncodedRecords:
    """Reads a table as `encode_records`, from that of its codes and whatever its labels are."""
    started = time.monotonic()
    coding = encoded.layout, encoded.maps
    distinct = distinct_combinations(engine, subject, coding=coding, policy=policy)
    layout, counts = encoded.layout, encoded.counts
    costs, at = cell_costs(subject, loss, counts=counts), time.monotonic()
    return EncodedRecords(subject, policy, layout, counts, distinct, costs, at, at - started)


def read_once(
    shared: SharedWork, subject: Subject, read: Callable[[], EncodedRecords], *, policy: Policy
) -> EncodedRecords:
    """A table as another search has read it, without the database's own table, or as read now.

    What another search read may differ in the suppression limit of its policy.
    """
    encoded = shared.once(("codes",), read, records=subject.records)
    return replace(encoded, subject=subject, policy=policy, at=time.monotonic())


def cell_costs(subject: Subject, loss: str, *, counts: tuple[tuple[int, ...], ...]) -> CellCosts:
    """What the cells of a table cost by a loss, from its records by column and leaf [records]."""
    return CellCosts.of(
        loss, subject.trees, weights=subject.weights, records=subject.records, counts=counts
    )


def reading_end(deadline: Deadline) -> Deadline:
    """When the reading of a table ends, so that a full-domain search has time in its place."""
    return deadline.share(READING)


def search_end(read: EncodedRecords, deadline: Deadline) -> Deadline:
    """When a search ends, so that what it found can still be measured in time.

    To close clusters and measure every record takes up to twice as long as to read it, and as long
    again where sensitive columns are measured, for which the published table is made.

    Raises:
        TimeLimitError: There is no time for that.
    """
    return end_after(read.seconds, read.policy, deadline)


def end_after(seconds: float, policy: Policy, deadline: Deadline) -> Deadline:
    """As `search_end`, of a table that took so long to read [seconds]."""
    ended = deadline.earlier(seconds * (3 if policy.sensitive_attributes else 2))
    with phase("the encoding"):
        ended.check()
    return ended


def refuse_mixed_labels(subject: Subject) -> None:
    """Refuses, by a `HierarchyError`, a label of different nodes at levels that mix."""
    columns = zip(subject.names, subject.trees, subject.low, subject.high, strict=True)
    faults = [
        fault
        for name, tree, low, high in columns
        for fault in tree.mixing_faults(
            low, high, show_labels=subject.attributes[name].hierarchy.is_listed
        )
    ]
    if faults:
        raise HierarchyError(faults)


def plain(policy: Policy) -> Policy:
    """The quasi-identifiers and k alone."""
    k = [model for model in policy.models if isinstance(model, KAnonymity)]
    return replace(policy, models=k, sensitive=(), entity=None)


Origins = Mapping[tuple[int, int], int]
"""Records of a column by the level that they are published at and their leaf [records]."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """Records of a distinct combination that are published alike, ascending by combination.

    Args:
        combination: The combination of each part.
        count: Its records [records].
        levels: `levels[part, column]`.
        dropped: Whether its records are suppressed: not published, unless the policy keeps them.
    """

    combination: Numbers
    count: Numbers
    levels: Numbers
    dropped: Flags

    def recoding(self, by: tuple[str, ...]) -> Clusters:
        """The recoding; parts of a combination with the same levels become one run.

        Args:
            by: The columns that tell combinations apart, besides the quasi-identifiers.
        """
        there = ~self.dropped
        first, group = alike(self.levels[there])
        nodes: list[tuple[int, ...] | None] = list(map(tuple, self.levels[there][first].tolist()))
        number = np.full(len(there), len(nodes))
        number[there] = group
        order = np.lexsort((number, self.combination))
        keys, number = self.combination[order], number[order]
        starts = np.flatnonzero(np.append(True, (np.diff(keys) != 0) | (np.diff(number) != 0)))
        records = np.add.reduceat(self.count[order], starts)
        if self.dropped.any():
            nodes.append(None)
        columns = (column.tolist() for column in (keys[starts], records, number[starts]))
        return Clusters(tuple(nodes), tuple(map(Run, *columns)), by)


def alike(rows: Numbers) -> tuple[Numbers, Numbers]:
    """The first of each set of equal rows, in lexicographic order, and the set of each row.

    Args:
        rows: `rows[row, column]`, all at least 0.
    """
    key = united(packed(rows, [width + 1 for width in rows.max(axis=0, initial=0).tolist()]))
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first, number


@dataclass(frozen=True, slots=True)
class Original:
    """What a release was made of.

    Args:
        subject: The table.
        policy: Its policy.
        leaves: `leaves[combination, column]`.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
    """

    subject: Subject
    policy: Policy
    leaves: Numbers
    counts: Sequence[Sequence[int]]


def tallied(original: Original, assigned: Assigned) -> Tallied:
    """Classes, columns and ambiguities of a release, from each record's leaves and levels.

    As where a published table is read, the class whose every label is that of suppressed records
    counts as suppressed, unless it is the whole table. Suppressed records that are kept are in it.

    Raises:
        PolicyError: The label of suppressed records is that of another value or node, too.
    """
    there = ~assigned.dropped
    leaves = original.leaves[assigned.combination[there]]
    count, levels = assigned.count[there], assigned.levels[there]
    cells = _Cells.of_columns(original.subject, leaves, levels=levels)
    return _counted(original, cells, count=count)


def tallied_parts(
    original: Original,
    leaves: Numbers,
    *,
    levels: Numbers,
    sizes: Numbers,
    origins: Sequence[Origins],
) -> Tallied:
    """As `tallied`, of a release whose records are counted by part and by value already.

    Args:
        original: What it was made of.
        leaves: `leaves[part, column]`: a leaf that the part holds.
        levels: `levels[part, column]`: the level that it is published at.
        sizes: Its records [records].
        origins: Per column the records of parts that do not count as suppressed, by level and leaf.
    """
    cells = _Cells.of_columns(original.subject, leaves, levels=levels)
    return _counted(original, cells, count=sizes, origins=origins)


def _counted(
    original: Original,
    cells: Sequence[_Cells],
    *,
    count: Numbers,
    origins: Sequence[Origins] | None = None,
) -> Tallied:
    """The release of parts with these cells and counts."""
    subject, label = original.subject, original.policy.suppressed_label
    first, group = alike(np.stack([column.label for column in cells], axis=1))
    sizes = np.bincount(group, weights=count).astype(np.int64)
    says_nothing = np.logical_and.reduce([column.says(label)[first] for column in cells])
    kept = ~says_nothing | (sizes == subject.records)
    suppressed = None if (says_nothing & kept).any() else label
    starred = int(original.policy.suppressed == "keep") * (subject.records - int(count.sum()))
    if starred or not kept.all():
        refuse_two_meanings(subject.trees, label)
    tally = _Tally(count * kept[group], first[kept], sizes[kept])
    columns = tuple(
        cell.column(weight, sums, tally=tally, origins=None if origins is None else origins[number])
        for number, (cell, weight, sums) in enumerate(
            zip(cells, subject.weights, original.counts, strict=True)
        )
    )
    silent = int(sizes[~kept].sum())
    alone = silent + starred
    classes = (tally.sizes, np.append(sizes[kept], alone) if alone else sizes)
    statistics, every = (ClassStatistics.of(Counter(array.tolist()).items()) for array in classes)
    ambiguities = _ambiguities(cells, tally)
    release = Release(subject.records, original.policy.k, statistics, columns, ambiguities)
    return Tallied(release, every, suppressed, silent)


@dataclass(frozen=True, slots=True)
class _Tally:
    """Parts and classes of a release, without those that count as suppressed.

    Args:
        count: Per part its published records; 0 where they are suppressed.
        first: A part of each published class.
        sizes: Its records.
    """

    count: Numbers
    first: Numbers
    sizes: Numbers


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a column.

    Args:
        tree: Its hierarchy.
        allowed: The levels that it may be published at.
        leaf: The leaf of each part.
        label: The number of its label.
        texts: The labels.
        leaves: How many leaves each stands for.
    """

    tree: Tree
    allowed: range
    leaf: Numbers
    label: Numbers
    texts: tuple[Label, ...]
    leaves: Numbers

    @classmethod
    def of_columns(cls, subject: Subject, leaves: Numbers, *, levels: Numbers) -> list[_Cells]:
        """The labels of all columns; `leaves` and `levels` are by part and column."""
        columns = zip(subject.trees, subject.allowed, leaves.T, levels.T, strict=True)
        return [cls._of(tree, allowed, leaf, level=level) for tree, allowed, leaf, level in columns]

    @classmethod
    def _of(cls, tree: Tree, allowed: range, leaf: Numbers, *, level: Numbers) -> _Cells:
        """The labels of leaves at levels; one label never stands for two sets of leaves."""
        width = len(tree.leaves)
        pairs, place = _distinct(level * width + leaf)
        cells = [divmod(pair, width) for pair in pairs.tolist()]
        texts = [tree.labels[at][value] for at, value in cells]
        sizes = {at: tree.sizes(at) for at in {at for at, _ in cells}}
        leaves = {
            text: sizes[at][tree.nodes[at][value]]
            for text, (at, value) in zip(texts, cells, strict=True)
        }
        numbers = {text: number for number, text in enumerate(leaves)}
        label = np.array([numbers[text] for text in texts], np.int64)[place]
        return cls(tree, allowed, leaf, label, tuple(numbers), np.array(list(leaves.values())))

    def says(self, text: str) -> Flags:
        """Which parts have this label."""
        return np.array([label == text for label in self.texts], bool)[self.label]

    def column(
        self,
        weight: float,
        counts: Sequence[int],
        *,
        tally: _Tally,
        origins: Origins | None = None,
    ) -> Column:
        """Records and classes per node; `counts` are records of the table per leaf [records].

        Without `origins`, the leaves of the parts are those of their records.
        """
        number = len(self.texts)
        records = _sums(self.label, tally.count, numbers=number)
        classes = np.bincount(self.label[tally.first], minlength=number).tolist()
        places = self._places(Nodes(self.tree, counts), records, classes=classes)
        known = self._origins(tally.count) if origins is None else self._labelled(origins)
        origin = [(leaf, places[label], count) for leaf, label, count in known if count]
        totals: dict[Place, int] = {}
        alike: dict[Place, int] = {}
        for label, place in places.items():
            totals[place] = totals.get(place, 0) + records[label]
            alike[place] = alike.get(place, 0) + classes[label]
        return Column(self.tree, weight, counts, totals, alike, origin)

    def _origins(self, count: Numbers) -> Iterator[tuple[int, int, int]]:
        """Leaves, the numbers of the labels that they became, and their records [records]."""
        width = len(self.tree.leaves)
        pairs, pair = _distinct(self.label * width + self.leaf)
        sums = _sums(pair, count, numbers=len(pairs))
        for key, records in zip(pairs.tolist(), sums, strict=True):
            yield key % width, key // width, records

    def _labelled(self, origins: Origins) -> Iterator[tuple[int, int, int]]:
        """The same, from records by level and leaf."""
        numbers = {text: number for number, text in enumerate(self.texts)}
        for (level, leaf), records in origins.items():
            yield leaf, numbers[self.tree.labels[level][leaf]], records

    def _places(
        self, nodes: Nodes, records: Sequence[int], *, classes: Sequence[int]
    ) -> dict[int, Place]:
        """The node of each label that is published, by the label's number."""
        numbers = {text: n for n, text in enumerate(self.texts) if records[n]}
        matches = [
            LabelMatch(text, (level, node), records[numbers[text]], classes[numbers[text]])
            for level in range(self.tree.height + 1)
            for node, text in enumerate(self.tree.node_labels(level))
            if text in numbers
        ]
        places = read(nodes, matches, allowed=self.allowed).places
        return {numbers[text]: place for text, place in places.items()}


def _distinct(keys: Numbers) -> tuple[Numbers, Numbers]:
    """The distinct keys, ascending, and the place of each key among them; all are at least 0."""
    place = numbered(keys, int(keys.max(initial=0)) + 1)
    distinct = np.zeros(int(place.max(initial=-1)) + 1, np.int64)
    distinct[place] = keys
    return distinct, place


def _sums(number: Numbers, count: Numbers, *, numbers: int) -> list[int]:
    """The records of each number."""
    sums: list[int] = np.bincount(number, count, numbers).astype(np.int64).tolist()
    return sums


def _ambiguities(cells: Sequence[_Cells], tally: _Tally) -> dict[float, int]:
    """Published records per product of their nodes' leaves."""
    products = np.ones(len(tally.first))
    for column in cells:
        products *= column.leaves[column.label[tally.first]]
    distinct, number = np.unique(products, return_inverse=True)
    records = _sums(number, tally.sizes, numbers=len(distinct))
    return dict(zip(distinct.tolist(), records, strict=True))


def decided(
    read: EncodedRecords,
    options: Options[Any],
    *,
    assigned: Assigned,
    bound: int | None,
    search: SearchFigures,
    notes: Sequence[str],
) -> Decided:
    """The recoding that a search found, with a report of all that follows from it alone.

    Args:
        read: The table.
        options: What was asked for.
        assigned: What becomes of every record.
        bound: What all cells lose at least [units]; None where it is not known.
        search: What is known of the search.
        notes: What a reader should know besides.
    """
    searched_at, subject = time.monotonic(), read.subject
    tell("measuring: loss and classes of the best recoding")
    recoding = assigned.recoding(read.combinations.by[len(subject.names) :])
    original = Original(subject, read.policy, read.combinations.leaves, read.counts)
    return reported(
        original,
        options,
        recoding=recoding,
        tallied=tallied(original, assigned),
        lower_bound=None if bound is None else read.costs.loss(bound, subject.records),
        search=search,
        notes=notes,
        at=(read.at, searched_at),
    )


def reported(
    original: Original,
    options: Options[Any],
    *,
    recoding: Clusters | Regions | ValueMap,
    tallied: Tallied,
    lower_bound: float | None,
    search: SearchFigures,
    notes: Sequence[str],
    at: tuple[float, float],
) -> Decided:
    """A recoding of groups or of single records with its report.

    Args:
        original: What it was made of.
        options: What was asked for.
        recoding: The recoding.
        tallied: What it publishes.
        lower_bound: What every recoding loses at least; None where it is not known.
        search: What is known of the search.
        notes: What a reader should know besides.
        at: When the table had been read, and when the search ended.
    """
    subject, policy = original.subject, original.policy
    loss = measured(tallied.release)
    heights = {n: t.height for n, t in zip(subject.names, subject.trees, strict=True)}
    levels = recoding.per_level(list(heights.values()))
    report = Report(
        method=options.method.name,
        loss_name=options.loss,
        loss=loss,
        lower_bound=lower_bound,
        levels={},
        heights=heights,
        level_names=subject.level_names,
        records=subject.records,
        suppressed_records=tallied.release.suppressed,
        silent_records=tallied.silent,
        suppressed_cells=int(loss["suppressed_cells"]),
        statistics=tallied.statistics,
        entity=policy.entity,
        models=model_results(policy, tallied.statistics),
        search=search,
        notes=(*spelling_notes(subject), *policy_notes(policy), *notes),
        records_per_level=dict(zip(heights, levels, strict=bool(levels))),
    )
    return Decided(recoding, report, *at, tallied=tallied)
