"""Planning: from a table and a policy to a recoding, with nothing written but temporary tables."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.binding import Subject, bind, enumerated
from sqlanon.cautions import keeping_notes
from sqlanon.checking import demanded_results, model_results, policy_notes
from sqlanon.counting import Counter
from sqlanon.encoding import Encoded, encode_subject
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.expected import Chosen, NodeClasses, node_classes
from sqlanon.loss import CELL_LOSSES, CellCosts, checked_loss
from sqlanon.measures import refuse_inapplicable
from sqlanon.objective import (
    CellObjective,
    ClassSizeObjective,
    DiscernibilityObjective,
    Objective,
)
from sqlanon.plans import Plan
from sqlanon.policy import Policy
from sqlanon.pricing import Pricing
from sqlanon.query.fingerprint import fingerprint
from sqlanon.query.names import create_temporary
from sqlanon.recoding import Node
from sqlanon.release import node_counts
from sqlanon.report import ClassStatistics, Report, key
from sqlanon.search.fulldomain import BATCH, WIDE_BATCH, Lattice, Outcome, best_node
from sqlanon.search.knowledge import Check

if TYPE_CHECKING:
    from sqlanon.violations import Violations

METHODS = ("auto", "incognito")


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    Args:
        method: One of `METHODS`; `auto` chooses.
        loss: The loss to minimize.
        minimal_nodes: Whether to list every minimal node.
        time_limit: Seconds for the search; None for no limit.
        progress: Called with a line that says how far the search is.

    Raises:
        PolicyError: An unknown method or loss, or a time limit that is not above 0.
    """

    method: str = "auto"
    loss: str = "lm"
    minimal_nodes: bool = False
    time_limit: float | None = None
    progress: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise PolicyError(
                f"method {self.method!r} is not known; choose one of {', '.join(METHODS)}"
            )
        checked_loss(self.loss)
        if self.time_limit is not None and not self.time_limit > 0:
            raise PolicyError(f"time limit {self.time_limit!r} is not a number above 0 [seconds]")


def make_plan(
    engine: Engine,
    table: exp.Table,
    policy: Policy,
    options: Options,
    *,
    fingerprinted: bool = True,
) -> Plan:
    """Finds the recoding of least loss that satisfies a policy.

    Args:
        engine: Where the table lives.
        table: The table.
        policy: What the published table must satisfy.
        options: How to search.
        fingerprinted: Whether the plan must be able to tell later that the table has changed.

    Raises:
        PolicyError: The policy does not fit the table or has no model.
        HierarchyError: A hierarchy does not fit its column.
        UnsatisfiableError: No node allowed satisfies the policy.
    """
    if not (policy.models or policy.demands):
        raise PolicyError(
            "no privacy model is given; ask for one with models=[KAnonymity(5)] (--k NUMBER)"
        )
    refuse_inapplicable(
        [options.loss],
        sensitive=bool(policy.sensitive_attributes),
        class_attribute=False,  # no loss that steers looks at one
    )
    started = time.monotonic()
    policy = _resolved(engine, policy)
    subject = bind(engine, table, policy)
    with engine.workspace():
        problem = _encode(engine, subject, policy, options)
        encoded_at = time.monotonic()
        outcome = _search(problem, options)
        searched_at = time.monotonic()
        if outcome.best is None:
            from sqlanon.unsatisfiable import unsatisfiable  # most searches find something

            raise unsatisfiable(problem, outcome)
        settled = problem.settled(outcome.best.node)
        report = _expected(engine, problem, outcome, options, settled)
    _refuse_ambiguous_label(problem, outcome.best)
    plan = Plan(
        policy=policy.with_attributes(subject.attributes),
        table=engine.portable(table).sql(engine.dialect, identify=True),
        columns={name: kind.sql("duckdb") for name, kind in subject.columns.items()},
        enumerated=enumerated(engine, table),
        recoding=outcome.best.node,
        rounds=settled[1],
        report=report,
        fingerprint=engine.rows(fingerprint(table, list(subject.columns)))[0]
        if fingerprinted
        else None,
    )
    if fingerprinted or policy.entity:
        report = _counted(engine, plan, table)
    seconds = {
        "encode": encoded_at - started,
        "search": searched_at - encoded_at,
        "total": time.monotonic() - started,
    }
    return replace(plan, report=report.timed(seconds))


def _resolved(engine: Engine, policy: Policy) -> Policy:
    """The policy with the hierarchies of its sensitive columns read from the database."""
    if not policy.demands:
        return policy
    from sqlanon.attributes import resolved_sensitive  # k alone does not need it

    return replace(policy, sensitive=resolved_sensitive(engine, policy))


def _counted(engine: Engine, plan: Plan, table: exp.Table) -> Report:
    """The report with what the published rows will have of each model, of persons where they count.

    Where the sizes of classes say it all, the report shows it already.
    """
    policy, report = plan.policy, plan.report
    if not (policy.demands or policy.entity):
        return report
    demanded = [demand.column for demand in policy.demands]
    persons = [] if policy.entity is None else [policy.entity]
    columns = list(dict.fromkeys([*policy.attributes, *demanded, *persons]))
    rows = plan.recoded(columns, table)
    rows.set("order", None)
    with engine.workspace():
        staged = engine.temporary("expected")
        engine.run(create_temporary(staged, rows))
        found = demanded_results(engine, staged, policy, columns)
    return replace(report, models=found.models, statistics=found.statistics)


@dataclass(frozen=True, slots=True)
class Problem:
    """A full-domain search, ready to start."""

    subject: Subject
    policy: Policy
    encoded: Encoded
    counter: Counter
    lattice: Lattice

    def settled(self, node: Node) -> tuple[Chosen, int]:
        """A node with the classes that it suppresses, and the rounds that it took."""
        violations = self.counter.violations
        if violations is None:
            return Chosen(node), 1
        batch, settled = self.counter.settlement(node)
        return Chosen(node, violations.suppressed(settled, batch)), settled.rounds


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
    counter = Counter(
        engine,
        encoded,
        policy.k,
        objective,
        pricing,
        options.loss == "discernibility",
        subject.low,
        entropies,
        _violations(engine, policy, encoded, subject.records),
        gains,
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
    engine: Engine, policy: Policy, encoded: Encoded, records: int
) -> Violations | None:
    if encoded.details is None or not (policy.demands or policy.entity):
        return None
    from sqlanon.grouped import GroupedViolations  # k alone needs none of these
    from sqlanon.profiled import ProfiledViolations
    from sqlanon.violations import Scope

    scope = Scope(
        encoded.details,
        encoded.layout.words,
        policy.k,
        records,
        policy.allowance(records),
        policy.suppressed == "keep",
    )
    return (ProfiledViolations if encoded.held else GroupedViolations)(engine, scope)


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
