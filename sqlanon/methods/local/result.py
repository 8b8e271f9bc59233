"""Result of local recoding: what becomes of every record, as a recoding with its report."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.loss.cells import CellCosts
from sqlanon.loss.measures import measured
from sqlanon.loss.release import Tallied
from sqlanon.methods.local.input import EncodedRecords
from sqlanon.methods.local.release import Assigned, Original, tallied
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.spellings import spelling_notes
from sqlanon.policy.policy import Policy
from sqlanon.policy.warnings import policy_notes
from sqlanon.recoding import Clusters
from sqlanon.regions import Regions
from sqlanon.reports.check import model_results
from sqlanon.reports.plan import Report
from sqlanon.reports.search import SearchFigures


@dataclass(frozen=True, slots=True)
class LocalOutcome:
    """The levels that a search found for every record, before their loss is measured.

    Args:
        assigned: What becomes of every record.
        bound: What all cells lose at least [units]; None where it is not known.
        search: What is known of the search.
        notes: What a reader should know besides.
    """

    assigned: Assigned
    bound: int | None
    search: SearchFigures
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Basis:
    """What every local recoding of a table is told by.

    Args:
        subject: The table.
        policy: Its policy.
        costs: What cells cost.
        at: When the table had been read, by the monotonic clock [seconds].
    """

    subject: Subject
    policy: Policy
    costs: CellCosts
    at: float


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search tells of itself.

    Args:
        bound: What all cells lose at least [units]; None where it is not known.
        search: What is known of the search.
        notes: What a reader should know besides.
    """

    bound: int | None
    search: SearchFigures
    notes: tuple[str, ...] = ()


def decided(read: EncodedRecords, options: Options[Any], *, outcome: LocalOutcome) -> Decided:
    """The recoding that a search found, with a report of all that follows from it alone."""
    searched_at, subject = time.monotonic(), read.subject
    options.tell("measuring: loss and classes of the best recoding")
    recoding = outcome.assigned.recoding(read.combinations.by[len(subject.names) :])
    original = Original(subject, read.policy, read.combinations.leaves, read.counts)
    told = tallied(original, outcome.assigned)
    basis = Basis(subject, read.policy, read.costs, read.at)
    findings = Findings(outcome.bound, outcome.search, outcome.notes)
    report = reported(basis, options, findings=findings, told=told)
    return recoded(report, recoding, at=(read.at, searched_at), told=told)


def reported(basis: Basis, options: Options[Any], *, findings: Findings, told: Tallied) -> Report:
    """The report of a local recoding but for its records per level."""
    subject = basis.subject
    loss, bound = measured(told.release), findings.bound
    return Report(
        method=options.method.name,
        loss_name=options.loss,
        loss=loss,
        lower_bound=None if bound is None else basis.costs.loss(bound, subject.records),
        levels={},
        heights={n: t.height for n, t in zip(subject.names, subject.trees, strict=True)},
        level_names=subject.level_names,
        records=subject.records,
        suppressed_records=told.release.suppressed,
        silent_records=told.silent,
        suppressed_cells=int(loss["suppressed_cells"]),
        statistics=told.statistics,
        entity=basis.policy.entity,
        models=model_results(basis.policy, told.statistics),
        search=findings.search,
        notes=(*spelling_notes(subject), *policy_notes(basis.policy), *findings.notes),
    )


def recoded(
    report: Report, recoding: Clusters | Regions, *, at: tuple[float, float], told: Tallied
) -> Decided:
    """A recoding with its report, the records per level among it.

    Args:
        report: The report.
        recoding: The recoding.
        at: When the table had been read, and when the search ended.
        told: What it publishes.
    """
    levels = recoding.per_level(list(report.heights.values()))
    report = replace(report, records_per_level=dict(zip(report.heights, levels, strict=True)))
    return Decided(recoding, report, *at, tallied=told)
