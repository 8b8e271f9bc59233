"""Result of local recoding: what becomes of every record, as a recoding with its report."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlanon.loss.measures import measured
from sqlanon.methods.local.input import EncodedRecords
from sqlanon.methods.local.release import Assigned, Original, tallied
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.spellings import spelling_notes
from sqlanon.policy.warnings import policy_notes
from sqlanon.reports.check import model_results
from sqlanon.reports.plan import Report


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
    search: Mapping[str, object]
    notes: tuple[str, ...] = ()


def decided(read: EncodedRecords, options: Options[Any], *, outcome: LocalOutcome) -> Decided:
    """The recoding that a search found, with a report of all that follows from it alone."""
    searched_at, subject = time.monotonic(), read.subject
    recoding = outcome.assigned.recoding(read.combinations.by[len(subject.names) :])
    original = Original(subject, read.policy, read.combinations.leaves, read.counts)
    told = tallied(original, outcome.assigned)
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
        level_names=subject.level_names,
        records=subject.records,
        suppressed_records=told.release.suppressed,
        suppressed_cells=int(loss["suppressed_cells"]),
        statistics=told.statistics,
        models=model_results(read.policy, told.statistics),
        search=dict(outcome.search),
        notes=(*spelling_notes(subject), *policy_notes(read.policy), *outcome.notes),
        records_per_level=dict(zip(subject.names, levels, strict=True)),
    )
    return Decided(recoding, report, read.at, searched_at, tallied=told)
