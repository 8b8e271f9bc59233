"""Demands: whether clusters satisfy models of sensitive values, from their counts of values.

`query.privacy.models` says the same in SQL. The distribution that relative models refer to is that
of the records that are published: of the whole table, unless some are left out (`Demands.part`).

Counts of all clusters by all values can be far more than the records: `Sparse` takes a few clusters
at a time, and where other values than a cluster's own cannot matter, looks at these alone.

For searches that close in, `shortfalls` say by how much clusters fail. What a cluster lacks is
signed and in the units of the model: below 0 there is room left. Entropy lacks nats, distinct
values lack values, recursive diversity and shares lack a share of the cluster's records, a distance
is too long by its own unit. The sums over values that models by ratio lack have no room. Whether a
model holds is told by `ValueDemand.holds` alone, which knows what is strict and what rounding may
do; so a shortfall is 0 where it holds, and above 0 elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sqlanon.deadline import NEVER, Deadline
from sqlanon.policy.privacy import BY_RATIO, TOLERANCE, ByForm, Form, ValueModel
from sqlanon.search.arrays import Flags, Numbers, Reals


@dataclass(frozen=True, slots=True)
class ValueDemand:
    """One model of one sensitive attribute.

    Args:
        attribute: Number of the attribute.
        model: What its values must satisfy in every cluster.
        table: Records of the table per value, in the order of the values; all above 0.
        nodes: Per inner level of the attribute's hierarchy the node of each value.
        persons: How many persons of the table have any value, where persons are counted, once for
            each value; None where records are.
    """

    attribute: int
    model: ValueModel
    table: Numbers
    nodes: tuple[Numbers, ...] = ()
    persons: int | None = None

    @property
    def of_persons(self) -> bool:
        """Whether persons are counted."""
        return self.persons is not None

    @property
    def width(self) -> int:
        """The columns of counts: one for every value and, of persons, one for who has any."""
        return len(self.table) + self.of_persons

    @property
    def shares(self) -> Reals:
        """The share of the table that each value has."""
        return self.table / max(int(self.table.sum()), 1)

    @property
    def whole(self) -> Numbers:
        """The counts of the table as one cluster, `(1, width)`."""
        return np.append(self.table, [] if self.persons is None else self.persons)[np.newaxis]

    def parts(self, counts: Numbers) -> tuple[Numbers, Numbers]:
        """The counts of values, and of which whole the shares of values are, `(clusters, 1)`.

        A person with several values is one all the same, so the shares of persons add up to more
        than 1.
        """
        if self.of_persons:
            return counts[:, :-1], counts[:, -1:]
        return counts, counts.sum(axis=1, keepdims=True)

    def holds(self, counts: Numbers) -> Flags:
        """Which clusters satisfy it, by `counts[cluster, value]`, the records that hold a value.

        Of persons the last column are those with any value (`person_values`).
        """
        return _FORMS.of(self.model).holds(self, *self.parts(counts))


@dataclass(frozen=True, slots=True)
class Demands:
    """All models of the sensitive attributes, asked of clusters of records.

    Args:
        values: `values[record, attribute]`: the number of the value, -1 where it does not count.
        every: The models.
        persons: The number of each record's person, where clusters need k of these; None where
            they need k records.
        k: How many persons a cluster needs.
    """

    values: Numbers
    every: tuple[ValueDemand, ...]
    persons: Numbers | None = None
    k: int = 0

    @property
    def union_closed(self) -> bool:
        """Whether clusters that satisfy all still do when they are put together.

        Where persons are counted, two clusters may hold records of one person and value, which
        then count once. So what is true of sums of counts is not of the union, but what no more
        records can break still holds.
        """
        return all(
            demand.model.superset_monotone if demand.of_persons else demand.model.union_closed
            for demand in self.every
        )

    @property
    def monotone(self) -> Demands:
        """Those that clusters which satisfy them still do with any more records."""
        return replace(self, every=tuple(d for d in self.every if d.model.superset_monotone))

    @property
    def is_relative(self) -> bool:
        """Whether what is left out changes what clusters must satisfy."""
        return any(demand.model.relative for demand in self.every)

    def holds(self, records: Numbers) -> bool:
        """Whether a cluster of these records, given by their numbers, satisfies all."""
        if self.persons is not None and len(np.unique(self.persons[records])) < self.k:
            return False
        for demand in self.every:
            if not demand.holds(self._counts(records, demand)[np.newaxis])[0]:
                return False
        return True

    def hold_per_group(self, records: Numbers, group: Numbers, *, groups: int) -> Flags:
        """Whether each of the groups 0, 1, … satisfies all, by the group of each record."""
        good = self.models_hold(records, group, groups=groups)
        if self.persons is not None:
            persons = once_per_person(group, self.persons[records])
            good &= np.bincount(persons, minlength=groups) >= self.k
        return good

    def models_hold(
        self, records: Numbers, group: Numbers, *, groups: int, sizes: Numbers | None = None
    ) -> Flags:
        """Whether each of the groups 0, 1, … satisfies the models, however large it is.

        Args:
            records: The records, or the rows that stand for some.
            group: The group of each.
            groups: How many groups there are.
            sizes: The records of each row, above 0; None for one each.
        """
        good = np.ones(groups, np.bool_)
        for demand in self.every:
            value = self.values[records, demand.attribute]
            some = value >= 0
            owner, value = group[some], value[some]
            count = np.ones_like(owner) if sizes is None else sizes[some]
            if demand.of_persons and self.persons is not None:
                person = self.persons[records][some]
                owner, value = person_values(owner, value, person, values=len(demand.table))
                count = np.ones_like(owner)
            good &= Sparse.sorted(owner, value, count).holds(demand, groups=groups)
        return good

    def part(self, records: Numbers) -> Demands:
        """The same asked of clusters of some records, by the reference of the whole table."""
        persons = None if self.persons is None else self.persons[records]
        return replace(self, values=self.values[records], persons=persons)

    def referring(self, records: Numbers) -> Demands:
        """The same of all records, by the distribution of some, which alone are published.

        Values that none of these holds are no values of the published table.
        """
        widths = {demand.attribute: len(demand.table) for demand in self.every}
        values, renumbered = self.values.copy(), dict[int, Numbers]()
        for number, width in widths.items():
            column = self.values[:, number]
            renumbered[number] = _renumbering(column[records], width)
            values[:, number] = renumbered[number][column]
        every = []
        for demand in self.every:
            there = renumbered[demand.attribute][:-1] >= 0
            counts = self.counts(records, demand)
            nodes = tuple(level_nodes[there] for level_nodes in demand.nodes)
            persons = int(counts[-1]) if demand.of_persons else None
            table = counts[: len(demand.table)][there]
            every.append(replace(demand, table=table, nodes=nodes, persons=persons))
        return replace(self, values=values, every=tuple(every))

    def counts(self, records: Numbers, demand: ValueDemand) -> Numbers:
        """Records, or persons, per value of a model's attribute, `(width,)`."""
        column = self.values[records, demand.attribute]
        some = column >= 0
        values = column[some]
        if demand.of_persons and self.persons is not None:
            person = self.persons[records][some]
            _, values = person_values(
                np.zeros_like(values), values, person, values=len(demand.table)
            )
        return np.bincount(values, minlength=demand.width)

    def _counts(self, records: Numbers, demand: ValueDemand) -> Numbers:
        """Records per value, of the values that there are where no other can matter."""
        values = self.values[records, demand.attribute]
        if demand.model.relative or demand.of_persons or not 0 < len(values) < len(demand.table):
            return self.counts(records, demand)
        values = values[values >= 0]
        counts: Numbers = np.unique(values, return_counts=True)[1]
        return counts


def _renumbering(values: Numbers, width: int) -> Numbers:
    """The new number of each of so many values: of those that are there, -1 of others and of -1."""
    there = np.bincount(values[values >= 0], minlength=width + 1) > 0
    number: Numbers = np.where(there, np.cumsum(there) - 1, -1)
    return number


def once_per_person(keys: Numbers, persons: Numbers) -> Numbers:
    """The keys, ascending, each once for every person that has it."""
    order = np.lexsort((persons, keys))
    keys, persons = keys[order], persons[order]
    fresh = np.append(True, (np.diff(keys) != 0) | (np.diff(persons) != 0))
    distinct: Numbers = keys[fresh[: len(keys)]]
    return distinct


def person_values(
    group: Numbers, value: Numbers, person: Numbers, *, values: int
) -> tuple[Numbers, Numbers]:
    """Groups with their values, once for each person, and with a last value for who has any."""
    pairs, anybody = once_per_person(group * values + value, person), once_per_person(group, person)
    width = max(values, 1)
    return (
        np.append(pairs // width, anybody),
        np.append(pairs % width, np.full(len(anybody), values)),
    )


Holds = Callable[[ValueDemand, Numbers, Numbers], Flags]
Lacks = Callable[[ValueDemand, Numbers, Numbers], Reals]
"""From a demand, the counts of values and the whole of their shares, as of `ValueDemand.parts`."""
Measure = Callable[[ValueDemand, Reals, Reals], Reals]


def _distinct(demand: ValueDemand, counts: Numbers, _: Numbers) -> Flags:
    several: Flags = (counts > 0).sum(axis=1) >= int(demand.model.threshold)
    return several


def _entropy(demand: ValueDemand, counts: Numbers, _: Numbers) -> Flags:
    least = math.log(demand.model.threshold) - TOLERANCE
    enough: Flags = (counts.sum(axis=1) > 0) & (_entropies(counts) >= least)
    return enough


def _entropies(counts: Numbers) -> Reals:
    """The entropy of each cluster [nats]."""
    size = np.maximum(counts.sum(axis=1), 1)
    terms = (counts * np.log(np.maximum(counts, 1))).sum(axis=1)
    entropies: Reals = np.log(size) - terms / size
    return entropies


def _recursive(demand: ValueDemand, counts: Numbers, _: Numbers) -> Flags:
    """Whether the largest count is below c times the sum from the l-th largest on."""
    model: Any = demand.model
    largest, tail = _largest_and_tail(counts, int(model.l))
    return ~_at_least(largest, Fraction(str(model.c)), right=tail)


def _largest_and_tail(counts: Numbers, place: int) -> tuple[Numbers, Numbers]:
    """The largest count of each cluster, and the sum from a place on; 0 without any value."""
    largest_first = -np.sort(-counts, axis=1)
    return largest_first[:, :1].sum(axis=1), largest_first[:, place - 1 :].sum(axis=1)


def _alpha(demand: ValueDemand, counts: Numbers, whole: Numbers) -> Flags:
    """Whether alpha times the whole is at least the largest count."""
    alpha = Fraction(str(demand.model.threshold))
    return _at_least(whole[:, 0], 1 / alpha, right=counts.max(axis=1, initial=0))


def ratio_bounds(demand: ValueDemand) -> tuple[Reals, Reals]:
    """The least and the greatest share that each value may have of a cluster."""
    model: Any = demand.model
    whole = demand.table / demand.parts(demand.whole)[1].clip(1)[0]
    most = np.full(len(whole), model.most_ratio)
    if model.capped:
        most = np.minimum(most, 1 - np.log(whole) + TOLERANCE)
    return model.least_ratio * whole, most * whole


def _by_ratio(demand: ValueDemand, counts: Numbers, whole: Numbers) -> Flags:
    """Whether the shares of all values are within their bounds."""
    least, most = ratio_bounds(demand)
    shares = _shares(counts, whole)
    within: Flags = np.all((least <= shares) & (shares <= most), axis=1)
    return within


def _at_least(left: Numbers, factor: Fraction, *, right: Numbers) -> Flags:
    """Whether numbers are at least others times a factor, exactly."""
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    over, under = factor.numerator, factor.denominator
    return np.array([one * under >= other * over for one, other in pairs], dtype=bool)


def _within(measure: Measure) -> Holds:
    """Whether a distance from the table's distribution is at most the threshold."""

    def holds(demand: ValueDemand, counts: Numbers, _: Numbers) -> Flags:
        near: Flags = _distances(measure, demand, counts) <= demand.model.threshold + TOLERANCE
        return near

    return holds


def _distances(measure: Measure, demand: ValueDemand, counts: Numbers) -> Reals:
    """The distance of each cluster from the table's distribution; 0 without any value."""
    shares = _shares(counts, counts.sum(axis=1, keepdims=True))
    distances = measure(demand, shares, demand.shares)
    return np.where(counts.any(axis=1), distances, 0.0)


def _equal(_: ValueDemand, shares: Reals, whole: Reals) -> Reals:
    distances: Reals = np.maximum(shares - whole, 0.0).sum(axis=1)
    return distances


def _hierarchical(demand: ValueDemand, shares: Reals, whole: Reals) -> Reals:
    """The mean over the levels below the top of what nodes have beyond their share."""
    distances = _equal(demand, shares, whole)
    for nodes in demand.nodes:
        grouped = np.zeros((int(nodes.max(initial=-1)) + 1, len(nodes)))
        grouped[nodes, np.arange(len(nodes))] = 1.0
        distances = distances + _equal(demand, shares @ grouped.T, grouped @ whole)
    return distances / (len(demand.nodes) + 1)


def _ordered(_: ValueDemand, shares: Reals, whole: Reals) -> Reals:
    moved = np.abs(np.cumsum(shares - whole, axis=1)).sum(axis=1)
    distances: Reals = moved / max(len(whole) - 1, 1)
    return distances


def _divergence(_: ValueDemand, shares: Reals, whole: Reals) -> Reals:
    distances: Reals = np.where(shares > 0, shares * _log_ratio(shares, whole), 0.0).sum(axis=1)
    return distances


def _scaled(_: ValueDemand, shares: Reals, whole: Reals) -> Reals:
    return _cumulated(_steps(shares, whole))


def _scaled_literal(_: ValueDemand, shares: Reals, whole: Reals) -> Reals:
    return _cumulated(np.abs(_steps(shares, whole)))


def _steps(shares: Reals, whole: Reals) -> Reals:
    return np.where(shares > 0, (shares - whole) * np.abs(_log_ratio(shares, whole)), 0.0)


def _cumulated(steps: Reals) -> Reals:
    distances: Reals = np.abs(np.cumsum(steps, axis=1)).sum(axis=1) / max(steps.shape[1] - 1, 1)
    return distances


def _log_ratio(shares: Reals, whole: Reals) -> Reals:
    """ln(p / q), 0 where p is."""
    return np.log(np.where(shares > 0, shares / whole, 1.0))


CLOSENESS: Mapping[Form, Measure] = {
    ("t", "equal"): _equal,
    ("t", "ordered"): _ordered,
    ("t", "hierarchical"): _hierarchical,
    ("t", "kl"): _divergence,
    ("t", "scaled"): _scaled,
    ("t", "scaled-literal"): _scaled_literal,
}
"""The distance of clusters from a distribution, of each form of t-closeness."""


COUNTS_AT_ONCE = 4_000_000
"""Counts of values by group that are judged at once."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """Records of groups by value, of those that hold any; sorted by group.

    Args:
        group: The group.
        value: The value.
        count: Records, or persons [records].
    """

    group: Numbers
    value: Numbers
    count: Numbers

    @classmethod
    def sorted(cls, group: Numbers, value: Numbers, count: Numbers) -> Sparse:
        """The same in any order."""
        order = np.argsort(group, kind="stable")
        return cls(group[order], value[order], count[order])

    def holds(self, demand: ValueDemand, *, groups: int, deadline: Deadline = NEVER) -> Flags:
        """Which groups 0, 1, … satisfy a model, so many counts at once.

        Raises:
            TimeLimitError: The deadline came before all were looked at.
        """
        values, good = demand.width, np.empty(groups, np.bool_)
        relative = demand.model.relative or demand.of_persons
        if groups * values > COUNTS_AT_ONCE and not relative:
            entries = self.group, self.value, self.count
            for some, counts in counts_per_group(*entries, groups=groups, cells=COUNTS_AT_ONCE):
                deadline.check()
                good[some] = demand.holds(counts)
            return good
        step = max(1, COUNTS_AT_ONCE // max(values, 1))
        for first in range(0, groups, step):
            deadline.check()
            last = min(first + step, groups)
            start, end = np.searchsorted(self.group, [first, last])
            key = (self.group[start:end] - first) * values + self.value[start:end]
            counts = np.bincount(key, self.count[start:end], (last - first) * values)
            good[first:last] = demand.holds(counts.astype(np.int64).reshape(last - first, values))
        return good


def counts_per_group(
    group: Numbers, value: Numbers, count: Numbers, *, groups: int, cells: int
) -> Iterator[tuple[Numbers, Numbers]]:
    """Records of groups by value, each group's own values alone, so many counts at once.

    For models that values which a group does not hold cannot matter to; groups of about as many
    values come together.

    Args:
        group: The group of each entry, from 0.
        value: Its value.
        count: Its records [records].
        groups: How many groups there are.
        cells: Counts at once.

    Yields:
        Some groups, and `counts[group, place]` of these.
    """
    width = int(value.max(initial=0)) + 1
    keys, inverse = np.unique(group * width + value, return_inverse=True)
    sums = np.bincount(inverse, count, len(keys)).astype(np.int64)
    owner = keys // width
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    ends = np.cumsum(np.bincount(owner, minlength=groups))
    starts = np.append(0, ends[:-1])
    rank = np.ceil(np.log2(np.maximum(ends - starts, 1))).astype(np.int64)
    for exponent in np.unique(rank).tolist():
        alike, most = np.flatnonzero(rank == exponent), 2**exponent
        step = max(1, cells // most)
        for some in np.split(alike, range(step, len(alike), step)):
            counts = np.zeros((len(some), most), np.int64)
            lengths = ends[some] - starts[some]
            row = np.repeat(np.arange(len(some)), lengths)
            entry = np.repeat(starts[some] - np.cumsum(lengths) + lengths, lengths)
            entry += np.arange(len(entry))
            counts[row, place[entry]] = sums[entry]
            yield some, counts


def shortfalls(demand: ValueDemand, counts: Numbers) -> Reals:
    """What clusters lack to satisfy a model; 0 exactly where they do.

    Args:
        demand: The model.
        counts: `counts[cluster, value]` [records], as wide as the demand.
    """
    lacking = _FORMS.of(demand.model).lacks(demand, *demand.parts(counts))
    shortfall: Reals = np.where(demand.holds(counts), 0.0, np.maximum(lacking, TOLERANCE))
    return shortfall


def figures(demand: ValueDemand, counts: Numbers) -> tuple[float, float, float]:
    """What the worst of some clusters lacks, its figure, and the mean of their figures.

    The figure is what the model bounds, as reports name it: the number of values for distinct
    diversity, e to the entropy for that of entropy, a distance, or the greatest share; for other
    models what a cluster lacks, 0 for nothing.

    Args:
        demand: The model.
        counts: As for `shortfalls`, of one cluster or more.
    """
    row = _FORMS.of(demand.model)
    lacking = row.lacks(demand, *demand.parts(counts))
    threshold = float(demand.model.threshold)
    every = np.maximum(lacking, 0.0) if row.figure is None else row.figure(threshold, lacking)
    worst = int(lacking.argmax())
    return float(lacking[worst]), float(every[worst]), float(every.mean())


def worst_alone(demand: ValueDemand) -> float:
    """The greatest shortfall of a cluster with one value: a unit for shortfalls; 1 for none.

    Looked at are the rarest, the most frequent, the first and the last value, among which the worst
    one is for most models.
    """
    values = len(demand.table)
    if not values:
        return 1.0
    chosen = [int(demand.table.argmin()), int(demand.table.argmax()), 0, values - 1]
    counts = np.zeros((len(chosen), demand.width), np.int64)
    counts[:, values:] = 1
    counts[np.arange(len(chosen)), chosen] = 1
    return float(shortfalls(demand, counts).max()) or 1.0


def _distinct_lacking(demand: ValueDemand, counts: Numbers, _: Numbers) -> Reals:
    lacking: Reals = demand.model.threshold - (counts > 0).sum(axis=1)
    return lacking


def _entropy_lacking(demand: ValueDemand, counts: Numbers, _: Numbers) -> Reals:
    return math.log(demand.model.threshold) - _entropies(counts)


def _recursive_lacking(demand: ValueDemand, counts: Numbers, _: Numbers) -> Reals:
    """How far the largest count is above c times the tail, over all."""
    model: Any = demand.model
    largest, tail = _largest_and_tail(counts, int(model.l))
    lacking: Reals = (largest - model.c * tail) / np.maximum(counts.sum(axis=1), 1)
    return lacking


def _alpha_lacking(demand: ValueDemand, counts: Numbers, whole: Numbers) -> Reals:
    lacking: Reals = _shares(counts, whole).max(axis=1, initial=0.0) - demand.model.threshold
    return lacking


def _by_ratio_lacking(demand: ValueDemand, counts: Numbers, whole: Numbers) -> Reals:
    """By how much shares are out of their bounds, over all values."""
    least, most = ratio_bounds(demand)
    shares = _shares(counts, whole)
    lacking: Reals = (np.maximum(least - shares, 0.0) + np.maximum(shares - most, 0.0)).sum(axis=1)
    return lacking


def _beyond(measure: Measure) -> Lacks:
    """By how much a distance from the table's distribution is above the threshold."""

    def lacks(demand: ValueDemand, counts: Numbers, _: Numbers) -> Reals:
        return _distances(measure, demand, counts) - demand.model.threshold

    return lacks


def _shares(counts: Numbers, whole: Numbers) -> Reals:
    shares: Reals = counts / np.maximum(whole, 1)
    return shares


@dataclass(frozen=True, slots=True)
class _Form:
    """What is said of a form of model.

    Args:
        holds: Whether clusters satisfy it.
        lacks: What they lack.
        figure: The model's figure, from its threshold and what is lacking; None for what lacks.
    """

    holds: Holds
    lacks: Lacks
    figure: Callable[[float, Reals], Reals] | None = None


def _above(threshold: float, lacking: Reals) -> Reals:
    return threshold + lacking


_FORMS: ByForm[_Form] = ByForm(
    "counts of clusters",
    {
        ("l", "distinct"): _Form(_distinct, _distinct_lacking, lambda least, lack: least - lack),
        ("l", "entropy"): _Form(
            _entropy, _entropy_lacking, lambda least, lack: np.exp(math.log(least) - lack)
        ),
        ("l", "recursive"): _Form(_recursive, _recursive_lacking),
        ("alpha",): _Form(_alpha, _alpha_lacking, _above),
        **dict.fromkeys(BY_RATIO, _Form(_by_ratio, _by_ratio_lacking)),
        **{
            form: _Form(_within(measure), _beyond(measure), _above)
            for form, measure in CLOSENESS.items()
        },
    },
)
