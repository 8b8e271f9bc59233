"""Leveled: the full-domain search over a table, from its codes to the node of least loss."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.binding import Subject
from sqlanon.cautions import keeping_notes, policy_notes
from sqlanon.checking import model_results
from sqlanon.counting import Counter
from sqlanon.encoding import Encoded, encode_subject
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.expected import Chosen, NodeClasses, node_classes
from sqlanon.loss import CELL_LOSSES, CellCosts
from sqlanon.objective import (
    CellObjective,
    ClassSizeObjective,
    DiscernibilityObjective,
    Objective,
)
from sqlanon.options import Decided, Options
from sqlanon.policy import Policy
from sqlanon.pricing import Pricing
from sqlanon.recoding import Node
from sqlanon.release import node_counts
from sqlanon.report import ClassStatistics, Report, key
from sqlanon.search.fulldomain import BATCH, WIDE_BATCH, Lattice, Outcome, best_node
from sqlanon.search.knowledge import Check
from sqlanon.spellings import spelling_notes

if TYPE_CHECKING:
    from sqlanon.violating import Violations


def decide(engine: Engine, subject: Subject, policy: Policy, options: Options) -> Decided:
    """The node of least loss, and what publishing it will lose.

    Raises:
        HierarchyError: A hierarchy does not fit its column.
        PolicyError: The label for suppressed values stands for something else.
        UnsatisfiableError: No node allowed satisfies the policy.
    """
    problem = _encode(engine, subject, policy, options)
    encoded_at = time.monotonic()
    outcome = _search(problem, options)
    searched_at = time.monotonic()
    if outcome.best is None:
        from sqlanon.unsatisfiable import unsatisfiable  # most searches find something

        raise unsatisfiable(problem, outcome)
    settled = problem.settled(outcome.best)
    report = _expected(engine, problem, outcome, options, settled)
    _refuse_ambiguous_label(problem, outcome.best)
    return Decided(outcome.best.node, report, encoded_at, searched_at, rounds=settled[1])


@dataclass(frozen=True, slots=True)
class Problem:
    """A full-domain search, ready to start."""

    subject: Subject
    policy: Policy
    encoded: Encoded
    counter: Counter
    lattice: Lattice

    def settled(self, check: Check) -> tuple[Chosen, int]:
        """A node with the classes that it suppresses, and the rounds that it took."""
        if self.counter.violations is None or not check.suppressed:
            return Chosen(check.node), 1
        _, settled = self.counter.settlement(check.node)
        return Chosen(check.node, settled.suppressed), settled.rounds


def _encode(engine: Engine, subject: Subject, policy: Policy, options: Options) -> Problem:
    allowance = policy.allowance(subject.records)
    weighed = options.loss == "utility"
    valued = list(policy.sensitive_attributes) if weighed else []
    encoded = encode_subject(engine, subject, policy, valued)
    costs, cells = None, "tree" if weighed else options.loss
    if cells in CELL_LOSSES:
        costs = CellCosts.of(cells, subject.trees, subject.weights, subject.records, encoded.counts)
    entropies = encoded.entropies(subject.trees)
    objective = _objective(options.loss, subject, encoded, costs, policy.k)
    gains, ratio = None, None
    if weighed:
        from sqlanon.gains import GainCounter  # no other loss needs it
        from sqlanon.utility import weighing

        gains = GainCounter.of(engine, encoded, policy, allowance)
        objective = weighing(objective, gains.highest)
        ratio = objective.ratio
    pricing = None
    if costs is not None and allowance:
        pricing = Pricing(engine, encoded.layout, subject.trees, costs, subject.low, subject.high)
    squares = options.loss == "discernibility"
    counter = Counter(
        engine,
        encoded,
        policy.k,
        objective,
        pricing=pricing,
        sizes=costs is None,
        squares=squares,
        lowest=subject.low,
        entropies=entropies,
        violations=_violations(engine, policy, encoded, subject.records, squares=squares),
        gains=gains,
    )
    lattice = Lattice(
        subject.low,
        subject.high,
        entropies,
        subject.records,
        allowance,
        objective,
        policy.k if policy.suppressed == "keep" else 0,
        WIDE_BATCH if counter.violations is not None and allowance else BATCH,
        ratio,
    )
    return Problem(subject, policy, encoded, counter, lattice)


def _violations(
    engine: Engine, policy: Policy, encoded: Encoded, records: int, *, squares: bool
) -> Violations | None:
    if encoded.details is None or not (policy.demands or policy.entity):
        return None
    from sqlanon.violating import Violations  # k alone needs none of these
    from sqlanon.violations import Scope

    scope = Scope(
        encoded.details,
        encoded.layout.words,
        policy.k,
        records,
        policy.allowance(records),
        policy.suppressed == "keep",
    )
    return Violations(engine, scope, squares)


def _objective(
    loss: str, subject: Subject, encoded: Encoded, costs: CellCosts | None, k: int
) -> Objective:
    levels = [range(tree.height + 1) for tree in subject.trees]
    if costs is not None:
        floor = tuple(
            tuple(
                sum(
                    count * cost
                    for count, cost in zip(
                        node_counts(tree, level, counts), costs.costs[number][level], strict=True
                    )
                )
                for level in levels[number]
            )
            for number, (tree, counts) in enumerate(zip(subject.trees, encoded.counts, strict=True))
        )
        return CellObjective(costs.unit, subject.records, floor, costs.scale)
    if loss == "discernibility":
        rest = tuple((0,) * len(column) for column in levels[1:])
        return DiscernibilityObjective(
            subject.records, ((subject.records,) * len(levels[0]), *rest)
        )
    lowest = -(subject.records // k)
    return ClassSizeObjective(subject.records, k, tuple((lowest,) * len(c) for c in levels))


def _search(problem: Problem, options: Options) -> Outcome:
    counter, progress = problem.counter, options.progress

    def ask(nodes: Sequence[Node]) -> list[Check]:
        if progress is not None:
            progress(f"search: {counter.counted:,} nodes checked")
        return counter.ask(nodes)

    return best_node(
        problem.lattice,
        ask,
        settle=counter.settle,
        time_limit=options.time_limit,
        minimal_nodes=options.minimal_nodes,
    )


def _expected(
    engine: Engine,
    problem: Problem,
    outcome: Outcome,
    options: Options,
    settled: tuple[Chosen, int],
) -> Report:
    """What publishing the best node will lose and leave, for every measure that applies."""
    assert outcome.best is not None
    subject, policy, node = problem.subject, problem.policy, outcome.best.node
    chosen, rounds = settled
    classes = node_classes(engine, subject, problem.encoded, policy, chosen)
    loss = classes.measures()
    kept = _published(policy, classes)
    objective, name = problem.lattice.objective, key(options.loss)
    tops = tuple(tree.height for tree in subject.trees)
    keeping = keeping_notes(policy, problem.lattice.allowance, all_generalized=node == tops)
    return Report(
        method="incognito",
        loss_name=options.loss,
        loss=loss,
        lower_bound=loss[name] if outcome.proven else objective.loss(outcome.bound),
        levels=dict(zip(subject.names, node, strict=True)),
        heights={name: t.height for name, t in zip(subject.names, subject.trees, strict=True)},
        records=subject.records,
        suppressed_records=outcome.best.suppressed,
        suppressed_cells=classes.suppressed_cells(),
        statistics=kept,
        entity=policy.entity,
        models=model_results(policy, kept),
        minimal_nodes=None
        if outcome.minimal_nodes is None
        else tuple(dict(zip(subject.names, n, strict=True)) for n in outcome.minimal_nodes),
        search={
            "nodes": math.prod(tree.height + 1 for tree in subject.trees),
            "candidates": problem.lattice.box.size,
            "checked": outcome.checked,
            "combinations": problem.encoded.rows,
            "rolled_up": problem.counter.rolled_up,
            "rounds": rounds,
            "proven": outcome.proven,
        },
        notes=(
            *subject.warnings(),
            *spelling_notes(subject),
            *policy_notes(policy),
            *keeping,
            *_unfinished(outcome, options),
        ),
    )


def _published(policy: Policy, classes: NodeClasses) -> ClassStatistics:
    """The classes that will be published, that of suppressed records included where it is."""
    large = classes.kept
    if policy.suppressed == "drop" or not classes.suppressed:
        return large
    sizes = dict(large.histogram)
    sizes[classes.suppressed] = sizes.get(classes.suppressed, 0) + 1
    return ClassStatistics.of(sizes.items())


def _unfinished(outcome: Outcome, options: Options) -> list[str]:
    """What the time limit cut short."""
    notes = []
    if not outcome.proven:
        notes.append("the time limit ended the search: a better recoding may exist, see the bound")
    if options.minimal_nodes and outcome.minimal_nodes is None:
        notes.append("the time limit came before every minimal node was found; none are listed")
    return notes


def _refuse_ambiguous_label(problem: Problem, best: Check) -> None:
    """Refuses to publish suppressed values under a label that stands for something else."""
    policy, subject = problem.policy, problem.subject
    if policy.suppressed == "drop" or not best.suppressed:
        return
    for name, tree, level in zip(subject.names, subject.trees, best.node, strict=True):
        if level < tree.height and policy.suppressed_label in tree.labels[level]:
            raise PolicyError(
                f"the label for suppressed values also stands for a value or a node of level "
                f"{level} of column {name!r}; choose another with --suppressed-label"
            )
