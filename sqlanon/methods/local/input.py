"""Localized: what methods that recode record by record share, from a coded table to a report."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sqlanon.engine.base import Engine
from sqlanon.errors import HierarchyError, PolicyError
from sqlanon.hierarchy.layout import Layout
from sqlanon.loss.cells import CellCosts
from sqlanon.loss.measures import measured
from sqlanon.methods.local.result import Assigned, tallied
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import Units, units_of
from sqlanon.microdata.encoding import Encoded, leaf_maps
from sqlanon.microdata.spellings import spelling_notes
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import KAnonymity
from sqlanon.policy.warnings import policy_notes
from sqlanon.reports.check import model_results
from sqlanon.reports.plan import Report
from sqlanon.search.privacy import Demands, ValueDemand


@dataclass(frozen=True, slots=True)
class EncodedRecords:
    """A table in codes, as methods that recode record by record read it.

    Args:
        layout: Which bits hold which level of which column.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
        units: Its records.
        costs: What cells cost.
        at: When they had been read, by the monotonic clock [seconds].
    """

    layout: Layout
    counts: tuple[tuple[int, ...], ...]
    units: Units
    costs: CellCosts
    at: float


def coded(
    engine: Engine, subject: Subject, policy: Policy, loss: str, encoded: Encoded | None = None
) -> EncodedRecords:
    """Reads a table in codes, with what cells cost by a loss.

    Args:
        engine: Where the table lives.
        subject: The table.
        policy: Its policy.
        loss: The loss.
        encoded: The table of its codes, where the database needs it, too.

    Raises:
        HierarchyError: A hierarchy does not fit its column.
    """
    coding = leaf_maps(engine, subject) if encoded is None else (encoded.layout, encoded.maps)
    units = units_of(engine, subject, coding, policy)
    counts = units.leaf_counts(subject.trees) if encoded is None else encoded.counts
    costs = CellCosts.of(loss, subject.trees, subject.weights, subject.records, counts)
    return EncodedRecords(coding[0], counts, units, costs, time.monotonic())


def demands_of(units: Units) -> Demands | None:
    """The models beyond k, asked of groups of units; None where there are none."""
    every = tuple(
        ValueDemand(place, model, np.array(each.counts), tuple(map(np.array, each.nodes)))
        for place, each in enumerate(units.attributes)
        for model in each.models
    )
    return Demands(units.values, every) if every else None


@dataclass(frozen=True, slots=True)
class LocalOutcome:
    """What a search found, before it is measured.

    Args:
        assigned: What becomes of every record.
        bound: What all cells lose at least [units]; None where it is not known.
        search: What is known of the search.
        notes: What a reader should know besides.
    """

    assigned: Assigned
    bound: int | None
    search: Mapping[str, object]
    notes: tuple[str, ...] = ()


def decided(
    subject: Subject,
    policy: Policy,
    options: Options[Any],
    read: EncodedRecords,
    outcome: LocalOutcome,
) -> Decided:
    """The recoding that a search found, with a report of all that follows from it alone.

    Args:
        subject: The table.
        policy: Its policy.
        options: How was searched.
        read: The table in codes, and when it was read by the monotonic clock [seconds].
        outcome: What was found.
    """
    searched_at = time.monotonic()
    units, assigned = read.units, outcome.assigned
    recoding = assigned.recoding(units.by[len(subject.names) :])
    told = tallied(subject, policy, read.counts, units, assigned)
    heights = {name: t.height for name, t in zip(subject.names, subject.trees, strict=True)}
    levels = recoding.per_level(list(heights.values()))
    loss, bound = measured(told.release), outcome.bound
    report = Report(
        method=options.method.name,
        loss_name=options.loss,
        loss=loss,
        lower_bound=None if bound is None else read.costs.loss(bound, subject.records),
        levels={},
        heights=heights,
        records=subject.records,
        suppressed_records=told.release.suppressed,
        suppressed_cells=int(loss["suppressed_cells"]),
        statistics=told.statistics,
        models=model_results(policy, told.statistics),
        search=dict(outcome.search),
        notes=(*spelling_notes(subject), *policy_notes(policy), *outcome.notes),
        records_per_level=dict(zip(subject.names, levels, strict=True)),
    )
    return Decided(recoding, report, read.at, searched_at, tallied=told)


def refuse_unsuited(subject: Subject, policy: Policy) -> None:
    """Refuses what a recoding of single records cannot do.

    Raises:
        PolicyError: Levels that may not be exceeded, or persons to count.
        HierarchyError: A label that stands for different nodes, since levels mix in the output.
    """
    capped = [
        name
        for name, tree, high in zip(subject.names, subject.trees, subject.high, strict=True)
        if high < tree.height
    ]
    if capped:
        raise PolicyError(
            f"a cluster may need any level, so this method takes no highest level for "
            f"{', '.join(map(repr, capped))}; leave max_level and level out, or use incognito"
        )
    if policy.entity is not None:
        raise PolicyError(
            f"this method counts records, not persons by {policy.entity!r}; use incognito"
        )
    faults = [
        fault
        for name, tree in zip(subject.names, subject.trees, strict=True)
        for fault in tree.mixing_faults(
            show_labels=subject.attributes[name].hierarchy.rows is not None
        )
    ]
    if faults:
        raise HierarchyError(faults)


def plain(policy: Policy) -> Policy:
    """The quasi-identifiers and k alone."""
    k = [model for model in policy.models if isinstance(model, KAnonymity)]
    return replace(policy, models=k, sensitive=(), entity=None)
