"""Planning: from a table and a policy to a recoding, with nothing written but temporary tables."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.binding import Subject, bind, enumerated
from sqlanon.checking import model_results, policy_notes
from sqlanon.counting import Counter
from sqlanon.encoding import Encoded, encode_subject, node_counts
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.expected import NodeClasses, node_classes
from sqlanon.loss import (
    CELL_LOSSES,
    CellCosts,
    CellObjective,
    ClassSizeObjective,
    DiscernibilityObjective,
    Objective,
    checked_loss,
)
from sqlanon.plans import Plan
from sqlanon.policy import Policy
from sqlanon.query.fingerprint import fingerprint
from sqlanon.recoding import Node
from sqlanon.report import ClassStatistics, Report, key
from sqlanon.search.fulldomain import Lattice, Outcome, best_node
from sqlanon.search.knowledge import Check

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
    if not policy.models:
        raise PolicyError("no privacy model is given; ask for one with --k NUMBER")
    started = time.monotonic()
    subject = bind(engine, table, policy)
    with engine.workspace():
        problem = _encode(engine, subject, policy, options)
        encoded_at = time.monotonic()
        outcome = _search(problem, options)
        searched_at = time.monotonic()
        if outcome.best is None:
            raise _unsatisfiable(problem, outcome)
        report = _expected(engine, problem, outcome, options)
    seconds = {
        "encode": encoded_at - started,
        "search": searched_at - encoded_at,
        "total": time.monotonic() - started,
    }
    _refuse_ambiguous_label(problem, outcome.best)
    return Plan(
        policy=policy.with_attributes(subject.attributes),
        table=engine.portable(table).sql(engine.dialect, identify=True),
        columns={name: kind.sql("duckdb") for name, kind in subject.columns.items()},
        enumerated=enumerated(engine, table),
        report=report.timed(seconds),
        fingerprint=engine.rows(fingerprint(table, list(subject.columns)))[0]
        if fingerprinted
        else None,
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """A full-domain search, ready to start."""

    subject: Subject
    policy: Policy
    encoded: Encoded
    counter: Counter
    lattice: Lattice

    def classes_of(self, engine: Engine, node: Node) -> NodeClasses:
        """The classes of a node, with all that its measures need."""
        return node_classes(engine, self.subject, self.encoded, node, self.policy.k)


def _encode(engine: Engine, subject: Subject, policy: Policy, options: Options) -> Problem:
    allowance = policy.allowance(subject.records)
    costs = None
    if options.loss in CELL_LOSSES:
        costs = CellCosts.of(options.loss, subject.trees, subject.weights, subject.records)
    encoded = encode_subject(engine, subject)
    entropies = encoded.entropies(subject.trees)
    objective = _objective(options.loss, subject, encoded, costs, policy.k)
    counter = Counter(
        engine,
        encoded,
        subject.trees,
        policy.k,
        objective,
        costs if allowance else None,
        options.loss == "discernibility",
        subject.low,
        entropies,
    )
    lattice = Lattice(
        subject.low,
        subject.high,
        entropies,
        subject.records,
        allowance,
        objective,
        policy.k if policy.suppressed == "keep" else 0,
    )
    return Problem(subject, policy, encoded, counter, lattice)


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
        scale = len(subject.trees) * subject.records if loss == "suppressed-cells" else 1.0
        return CellObjective(costs.unit, subject.records, floor, scale)
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
        time_limit=options.time_limit,
        minimal_nodes=options.minimal_nodes,
    )


def _unsatisfiable(problem: Problem, outcome: Outcome) -> UnsatisfiableError:
    if not outcome.proven:
        return UnsatisfiableError(
            f"the time limit came after {outcome.checked} of {problem.lattice.box.size} recodings "
            "and before one that satisfies the policy; allow more time with --time-limit"
        )
    top = problem.counter.ask([problem.subject.high])[0]
    records, k = problem.subject.records, problem.policy.k
    if top.suppressed == records <= problem.lattice.allowance and not problem.lattice.smallest:
        return UnsatisfiableError(
            f"no recoding within the levels allowed satisfies k = {k} and leaves anything: even at "
            f"the highest levels {top.suppressed} of {records} records are in smaller classes; "
            "raise --max-level"
        )
    if top.suppressed <= problem.lattice.allowance:
        return UnsatisfiableError(
            f"no recoding suppresses none or at least {k} of the {records} records, so those "
            "suppressed would be too few for a class of their own; use --suppressed drop"
        )
    return UnsatisfiableError(
        f"no recoding within the levels allowed satisfies k = {k}: even at the highest levels "
        f"{top.suppressed} of {records} records are in smaller classes, and "
        f"{problem.lattice.allowance} may be suppressed; raise --max-level or --suppression-limit"
    )


def _expected(engine: Engine, problem: Problem, outcome: Outcome, options: Options) -> Report:
    """What publishing the best node will lose and leave, for every measure that applies."""
    assert outcome.best is not None
    subject, policy, node = problem.subject, problem.policy, outcome.best.node
    classes = problem.classes_of(engine, node)
    loss = classes.measures()
    kept = _published(policy, classes)
    objective, name = problem.lattice.objective, key(options.loss)
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
            "proven": outcome.proven,
        },
        notes=(*subject.warnings(), *policy_notes(policy), *_unfinished(outcome, options)),
    )


def _published(policy: Policy, classes: NodeClasses) -> ClassStatistics:
    """The classes that will be published, that of suppressed records included where it is."""
    large = classes.statistics.at_least(policy.k)
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
