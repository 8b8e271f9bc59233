"""Full-domain problem: a search over a table, ready to start."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.hierarchy.tree import node_counts
from sqlanon.loss.cells import CELL_LOSSES, CellCosts
from sqlanon.loss.objectives import (
    CellObjective,
    ClassSizeObjective,
    DiscernibilityObjective,
    Objective,
)
from sqlanon.methods.fulldomain.frequency_sets import FrequencySets, Pricing
from sqlanon.methods.fulldomain.size_checks import SizeChecks
from sqlanon.methods.registry import Options, SharedWork
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.encoding import Encoded, encode_subject
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Check
from sqlanon.search.lattice.incognito import NODES_PER_QUERY, WIDE_NODES_PER_QUERY, Lattice
from sqlanon.wording import counted

if TYPE_CHECKING:
    from sqlanon.methods.fulldomain.model_checks import ModelChecks

Encode = Callable[[Engine, Subject, Policy, Sequence[str]], Encoded]
"""Encodes a table, with the sensitive columns that a loss looks at."""


@dataclass(frozen=True, slots=True)
class FullDomainProblem:
    """A full-domain search, ready to start; `models` is None where k is the only model.

    `costs` is None where the loss is none of cells.
    `known` are checks that searches of the same table by the same k and loss have made.
    """

    subject: Subject
    policy: Policy
    sets: FrequencySets
    sizes: SizeChecks
    models: ModelChecks | None
    lattice: Lattice
    costs: CellCosts | None
    known: dict[Node, Check] = field(default_factory=dict)

    def settled(self, check: Check) -> tuple[exp.Table | None, int, int]:
        """The words of the classes that a node suppresses, and how they follow from the table.

        None where they are those smaller than k; the rounds up to the fixpoint; and the least size
        of a class that is published.
        """
        if self.models is None or not check.suppressed:
            return None, 1, self.policy.k
        _, settled = self.models.settlement(check.node)
        return settled.suppressed, settled.rounds, settled.smallest


def problem_of(
    engine: Engine,
    subject: Subject,
    *,
    policy: Policy,
    options: Options[Any],
    encode: Encode = encode_subject,
) -> FullDomainProblem:
    """Encodes a table and prepares the checks of its lattice nodes.

    Args:
        engine: Where the table lives.
        subject: The table.
        policy: Its policy.
        options: Options of the search.
        encode: How the table is encoded.
    """
    tell(f"encoding: {counted(len(subject.names), 'column')}")
    allowance = policy.allowance(subject.records)
    weighed = options.loss == "utility"
    valued = list(policy.sensitive_attributes) if weighed else []
    name = _name(subject, policy, valued=valued)
    shared = options.shared if encode is encode_subject else SharedWork()
    encoded = shared.stored_once(("encoded", name), lambda: encode(engine, subject, policy, valued))
    costs = _costs(subject, encoded, loss="tree" if weighed else options.loss)
    entropies = encoded.entropies(subject.trees)
    if costs is None:
        heights = [tree.height for tree in subject.trees]
        objective = _CLASS_OBJECTIVES[options.loss](subject.records, policy.k, heights)
    else:
        objective = _cell_objective(subject, encoded, costs=costs)
    gains, ratio = None, None
    if weighed:
        # No other loss needs it.
        from sqlanon.methods.fulldomain.utility import GainCounter, weighing

        gains = GainCounter.of(engine, encoded, policy=policy, allowance=allowance)
        objective = weighing(objective, gains.highest)
        ratio = objective.ratio
    pricing = None
    # What is kept for others is prepared for any limit.
    if costs is not None and (allowance or shared.stored is not None):
        pricing = Pricing(engine, encoded.layout, subject.trees, costs, subject.low, subject.high)
    sets = shared.stored_once(
        ("frequency sets", name),
        lambda: FrequencySets(engine, encoded, subject.low, entropies, pricing),
    )
    sizes = SizeChecks(sets, policy.k, objective, gains)
    models = _model_checks(sizes, policy, records=subject.records, looks_at_classes=costs is None)
    lattice = Lattice(
        subject.low,
        subject.high,
        entropies,
        subject.records,
        allowance,
        objective,
        policy.k if policy.suppressed == "keep" else 0,
        WIDE_NODES_PER_QUERY if models is not None and allowance else NODES_PER_QUERY,
        ratio,
    )
    known: dict[Node, Check] = {}
    if models is None and gains is None:  # others look at the suppression limit
        known = shared.stored_once(("checks", (policy.k, *name)), dict[Node, Check])
    return FullDomainProblem(subject, policy, sets, sizes, models, lattice, costs, known)


def _name(subject: Subject, policy: Policy, *, valued: Sequence[str]) -> tuple[Hashable, ...]:
    """What the codes of a table follow from besides its trees, where only limits differ, or k."""
    demands = tuple((demand.column, repr(demand.model)) for demand in policy.demands)
    is_compared = bool(policy.population_models)
    return subject.low, subject.high, demands, policy.entity, is_compared, tuple(valued)


def _costs(subject: Subject, encoded: Encoded, *, loss: str) -> CellCosts | None:
    """What cells cost by a loss; None for one of classes."""
    if loss not in CELL_LOSSES:
        return None
    weights, counts = subject.weights, encoded.counts
    return CellCosts.of(
        loss, subject.trees, weights=weights, records=subject.records, counts=counts
    )


def _model_checks(
    sizes: SizeChecks, policy: Policy, *, records: int, looks_at_classes: bool
) -> ModelChecks | None:
    encoded = sizes.sets.encoded
    if not policy.beyond_k:
        return None
    # k alone needs none of these.
    from sqlanon.methods.fulldomain.model_checks import ModelChecks, SuppressionScope, Violations
    from sqlanon.microdata.sensitive import Details

    details = encoded.details or Details(encoded.table, (), entity=False, rows=encoded.rows)
    scope = SuppressionScope(
        details,
        encoded.layout.words,
        policy.k,
        records,
        policy.allowance(records),
        policy.suppressed == "keep",
        policy.population_models,
        policy.of_sizes,
        policy.of_subsets,
    )
    violations = Violations(sizes.sets, scope, sizes.objective.squares)
    return ModelChecks(sizes, violations, looks_at_classes)


def _cell_objective(subject: Subject, encoded: Encoded, *, costs: CellCosts) -> Objective:
    floor = tuple(
        tuple(
            sum(
                count * cost
                for count, cost in zip(node_counts(tree, level, counts=counts), prices, strict=True)
            )
            for level, prices in enumerate(levels)
        )
        for tree, counts, levels in zip(subject.trees, encoded.counts, costs.costs, strict=True)
    )
    return CellObjective(costs.unit, subject.records, floor, costs.scale)


def _discernibility(records: int, _: int, heights: Sequence[int]) -> Objective:
    first, *rest = heights
    floor = ((records,) * (first + 1), *((0,) * (height + 1) for height in rest))
    return DiscernibilityObjective(records, floor)


def _class_size(records: int, k: int, heights: Sequence[int]) -> Objective:
    lowest = -(records // k)
    return ClassSizeObjective(records, k, tuple((lowest,) * (height + 1) for height in heights))


_CLASS_OBJECTIVES: Mapping[str, Callable[[int, int, Sequence[int]], Objective]] = {
    "discernibility": _discernibility,
    "average-class-size": _class_size,
}
"""Losses of classes, from the table's records, k and the heights of the hierarchies."""
