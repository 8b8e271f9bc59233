"""Input of local recoding: a table as arrays of codes, and labels that no local method can mix."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlanon.deadline import Deadline, phase
from sqlanon.engine.base import Engine
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.layout import Layout
from sqlanon.loss.cells import CellCosts
from sqlanon.methods.registry import SharedWork
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import DistinctCombinations, distinct_combinations
from sqlanon.microdata.encoding import Encoded, leaf_maps
from sqlanon.policy.policy import Policy
from sqlanon.policy.sizes import KAnonymity
from sqlanon.progress import tell
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
