"""Localized: what methods that recode record by record share, from a coded table to a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.binding import Subject
from sqlanon.cautions import policy_notes
from sqlanon.checking import demanded_results, model_results
from sqlanon.encoding import Encoded, encode_subject
from sqlanon.engine.base import Engine
from sqlanon.errors import HierarchyError, PolicyError
from sqlanon.loss import CellCosts
from sqlanon.measuring import Wanted, measure_release
from sqlanon.options import Options
from sqlanon.plans import Plan
from sqlanon.policy import Policy
from sqlanon.privacy import KAnonymity
from sqlanon.query.names import create_temporary
from sqlanon.recoding import Clusters
from sqlanon.report import ClassStatistics, Report, key
from sqlanon.search.demands import Demands, ValueDemand
from sqlanon.units import Units, units_of

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Coded:
    """A table in codes, as methods that recode record by record read it.

    Args:
        encoded: Its distinct combinations.
        units: Its records.
        costs: What cells cost.
    """

    encoded: Encoded
    units: Units
    costs: CellCosts


def coded(engine: Engine, subject: Subject, policy: Policy, loss: str) -> Coded:
    """Reads a table in codes, with what cells cost by a loss.

    Raises:
        HierarchyError: A hierarchy does not fit its column.
    """
    encoded = encode_subject(engine, subject, plain(policy))
    units = units_of(engine, subject, encoded, policy)
    costs = CellCosts.of(loss, subject.trees, subject.weights, subject.records, encoded.counts)
    return Coded(encoded, units, costs)


def demands_of(units: Units) -> Demands | None:
    """The models beyond k, asked of groups of units; None where there are none."""
    every = tuple(
        ValueDemand(place, model, np.array(each.counts), tuple(map(np.array, each.nodes)))
        for place, each in enumerate(units.attributes)
        for model in each.models
    )
    return Demands(units.values, every) if every else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found, before it is measured.

    Args:
        recoding: The recoding of every record.
        sizes: Records of each class [records].
        cost: What all cells lose [units].
        bound: What they lose at least [units]; None where it is not known.
        search: What is known of the search.
        notes: What a reader should know besides.
        suppressed: Records that are not published.
    """

    recoding: Clusters
    sizes: Numbers
    cost: int
    bound: int | None
    search: Mapping[str, object]
    notes: tuple[str, ...] = ()
    suppressed: int = 0


def report_of(
    subject: Subject, policy: Policy, options: Options, costs: CellCosts, outcome: Outcome
) -> Report:
    """The report before the published rows are measured."""
    statistics = ClassStatistics.of(Counter(outcome.sizes.tolist()).items())
    bound = outcome.bound
    return Report(
        method=options.method,
        loss_name=options.loss,
        loss={key(options.loss): costs.loss(outcome.cost, subject.records)},
        lower_bound=None if bound is None else costs.loss(bound, subject.records),
        levels={},
        heights={name: t.height for name, t in zip(subject.names, subject.trees, strict=True)},
        records=subject.records,
        suppressed_records=outcome.suppressed,
        suppressed_cells=0,
        statistics=statistics,
        models=model_results(policy, statistics),
        search=dict(outcome.search),
        notes=(*policy_notes(policy), *outcome.notes),
        records_per_level=per_level(subject, outcome.recoding),
    )


def per_level(subject: Subject, recoding: Clusters) -> dict[str, list[int]]:
    """Records at each level, per quasi-identifier."""
    counts = [[0] * (tree.height + 1) for tree in subject.trees]
    for run in recoding.runs:
        for column, level in zip(counts, run.node or (), strict=run.node is not None):
            column[level] += run.last - run.first + 1
    return dict(zip(subject.names, counts, strict=True))


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


def expected_report(engine: Engine, plan: Plan, table: exp.Table) -> Report:
    """The report with every measure of what a plan will publish, and its classes and models."""
    policy = plan.policy
    columns = list(dict.fromkeys([*policy.attributes, *policy.sensitive_attributes]))
    rows = plan.recoded(columns, table)
    rows.set("order", None)
    with engine.workspace():
        staged = engine.temporary("expected")
        engine.run(create_temporary(staged, rows))
        found = demanded_results(engine, staged, policy, columns)
        measured = measure_release(engine, table, staged, policy, Wanted())
    return replace(
        plan.report,
        loss=measured.loss,
        suppressed_cells=int(measured.loss["suppressed_cells"]),
        statistics=found.statistics,
        models=found.models,
        notes=(*plan.report.notes, *measured.notes),
    )
