"""The method incognito (LeFevre et al. 2005): from a table in codes to the node of least loss."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from sqlanon.classes import ClassStatistics
from sqlanon.deadline import NEVER, Deadline, phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError, TimeLimitError
from sqlanon.loss.measures import cell_measure, measured
from sqlanon.loss.release import Release
from sqlanon.methods.fulldomain.lattice_problem import FullDomainProblem, problem_of
from sqlanon.methods.fulldomain.node_release import node_release
from sqlanon.methods.options import LatticeOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.encoding import encode_top
from sqlanon.microdata.spellings import spelling_notes
from sqlanon.policy.policy import Policy
from sqlanon.policy.warnings import keeping_notes, policy_notes
from sqlanon.progress import tell
from sqlanon.recoding import FullDomain, Node
from sqlanon.reports.check import model_results
from sqlanon.reports.plan import Report
from sqlanon.reports.search import LatticeSearch
from sqlanon.search.lattice.bounds import Check
from sqlanon.search.lattice.incognito import (
    LARGEST_BOX,
    Ask,
    SearchOutcome,
    Settle,
    Start,
    best_node,
)
from sqlanon.wording import counted, key, listed

MAX_QUICK_LOOKS, MIN_NODES = 20_000_000, 20
"""Nodes times distinct combinations of a search whose result others are compared to, and the fewest
nodes."""
STATEMENT = 20_000
"""Distinct combinations that take about as long to count as a statement that counts none."""
OTHERS = 20.0
"""Times as long as the encoding takes that other methods need for a table whose lattice is too
large for any search: with less time for them they lose more than nodes do."""
MEMORY, ROW_FIGURES = 2**32, 12
"""Memory for a table in codes, unless a limit is given [bytes], and the figures of 8 bytes that a
row takes there besides its words and leaves."""
_OVER = Deadline(-math.inf)
"""No time for a search: the highest node alone is looked at."""


def decide(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[LatticeOptions]
) -> Decided:
    """The node of least loss, and what publishing it will lose.

    Raises:
        HierarchyError: A hierarchy does not fit its column.
        PolicyError: The label for suppressed values stands for something else.
        TimeLimitError: The time limit came before the table was encoded.
        UnsatisfiableError: No node allowed satisfies the policy.
    """
    _refuse_ambiguous_label(subject, policy)
    started = time.monotonic()
    with engine.limited(options.deadline), phase("the encoding"):
        problem = problem_of(engine, subject, policy=policy, options=options)
    encoded_at = time.monotonic()
    # To measure what is published takes about as long as half the encoding.
    ended = options.deadline.reserving((encoded_at - started) / 2)
    options = replace(options, deadline=ended)
    outcome = _search(problem, options)
    return _decided(problem, outcome, options=options, encoded_at=encoded_at)


def decide_at(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[Any], node: Node
) -> Decided:
    """A node that is known, or the highest one allowed: what is left when no time is.

    Raises:
        SqlanonError: As `decide`.
    """
    _refuse_ambiguous_label(subject, policy)
    pairs = zip(subject.attributes.items(), node, strict=True)
    attributes = {name: replace(column, min_level=at, max_level=at) for (name, column), at in pairs}
    # Nothing is prepared for other nodes; that there are lower ones, the lattice still says.
    problem = problem_of(
        engine,
        replace(subject, attributes=attributes),
        policy=policy,
        options=options,
        encode=encode_top,
    )
    lattice = replace(problem.lattice, low=subject.low)
    problem = replace(problem, subject=subject, lattice=lattice)
    encoded_at, late = time.monotonic(), replace(options, deadline=_OVER)
    outcome = _search(problem, late)
    if outcome.best is not None and node != subject.high:
        # Nodes that are neither below nor above may lose less: what holds of all is the lowest.
        floor = zip(lattice.objective.floor, lattice.low, strict=True)
        least = min(sum(column[level] for column, level in floor), outcome.best.value)
        outcome = replace(outcome, bound=least, proven=least == outcome.best.value)
    return _decided(problem, outcome, options=late, encoded_at=encoded_at)


def quick_node(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[Any], share: float
) -> tuple[tuple[Node, float] | None, bool]:
    """The best node that a short search finds, and its loss, for others to lose no more; or None.

    The second says whether a longer search finds the same.

    It ends with the share of the time that is left once the table is encoded, or with all of it
    where that is too little for anything else. Without a limit it looks at so many nodes that those
    times the distinct combinations are `MAX_QUICK_LOOKS` at most, at as many of a small table as of
    one of `STATEMENT`, so that it takes seconds whatever the table.

    Raises:
        HierarchyError: As `decide`.
        TimeLimitError: The time limit came before the table was encoded.
    """
    deadline, started = options.deadline, options.deadline.clock()
    with engine.limited(deadline), phase("the encoding"):
        problem = problem_of(engine, subject, policy=policy, options=options)
    limited, encoding = deadline.is_limited, deadline.clock() - started
    most = (
        None
        if limited
        else max(MIN_NODES, MAX_QUICK_LOOKS // max(problem.sets.encoded.rows, STATEMENT))
    )
    if problem.lattice.box.size > LARGEST_BOX and deadline.left() < OTHERS * encoding:
        # What then is found is measured, which takes about as long as half the encoding.
        share, deadline = 1.0, deadline.reserving(encoding / 2)
    ended = replace(options, deadline=deadline.share(share))
    outcome = _search(problem, ended, most=most)
    # Of nodes that lose as little another one may come first where the search was ended.
    is_ended = ended.deadline.expired or (most is not None and problem.sets.asked >= most)
    best, objective = outcome.best, problem.lattice.objective
    node = None if best is None else (best.node, objective.loss(best.value))
    return node, outcome.proven and not is_ended


def _search(
    problem: FullDomainProblem, options: Options[Any], *, most: int | None = None
) -> SearchOutcome:
    """The best node within the time limit; the highest is looked at however late it is.

    With `most`, no more are asked for once so many have been.
    """
    ask, settle = _asking(problem, options, most=most)
    minimal_nodes = getattr(options.specific, "minimal_nodes", False)
    outcome = best_node(
        problem.lattice,
        ask,
        known={} if minimal_nodes else problem.known,
        settle=settle,
        start=_start(problem, options),
        deadline=options.deadline,
        minimal_nodes=minimal_nodes,
    )
    problem.known.update(outcome.checks)
    return outcome if minimal_nodes else replace(outcome, checks=dict(problem.known))


def _start(problem: FullDomainProblem, options: Options[Any]) -> Start | None:
    """What finds a first good node from the table in memory; None where it cannot be there.

    It cannot where persons or a population are counted or the loss looks at gains, which are not
    counted there, or where memory is too small.
    """
    encoded, lattice, policy = problem.sets.encoded, problem.lattice, problem.policy
    if policy.entity is not None or policy.population_models or lattice.ratio is not None:
        return None
    rows = encoded.rows if encoded.details is None else encoded.details.rows
    figures = 4 * encoded.layout.words + 2 * len(lattice.low) + ROW_FIGURES
    if rows * figures * 8 > (MEMORY if options.memory is None else options.memory):
        return None

    return partial(_good_node, problem, options.seed)


def _good_node(problem: FullDomainProblem, seed: int, deadline: Deadline) -> Node | None:
    """A good node by the counts of classes in memory; None without time, or where it finds none.

    Every model is asked, but none again where suppression changes what it refers to.
    """
    # A narrow lattice needs none of these.
    from sqlanon.microdata.distinct import combinations_in_memory, may_be_read
    from sqlanon.search.lattice.descent import RowsInMemory, good_node

    sets, subject = problem.sets, problem.subject
    if not may_be_read(sets.engine, sets.encoded.rows):
        return None
    try:
        with sets.engine.limited(deadline):
            k = problem.policy.by_class.k  # models of all classes surely hold by it
            distinct = combinations_in_memory(sets.engine, subject, encoded=sets.encoded, k=k)
    except TimeLimitError:
        return None
    rows = RowsInMemory(
        list(distinct.leaves.T.astype("int32", order="C")),
        distinct.sizes,
        [tree.nodes for tree in subject.trees],
        () if problem.costs is None else problem.costs.costs,
        k,
        distinct.demands(),
    )
    return good_node(problem.lattice, rows, seed=seed, deadline=deadline)


def _asking(
    problem: FullDomainProblem, options: Options[Any], *, most: int | None = None
) -> tuple[Ask, Settle | None]:
    """What checks nodes, and what settles them, within the time limit."""
    checks, highest = problem.models or problem.sizes, problem.lattice.high

    def until(nodes: Sequence[Node]) -> AbstractContextManager[None]:
        ended = NEVER if list(nodes) == [highest] else options.deadline
        return problem.sets.engine.limited(ended)

    def ask(nodes: Sequence[Node]) -> list[Check]:
        if most is not None and problem.sets.asked >= most and list(nodes) != [highest]:
            raise TimeLimitError
        with until(nodes):
            return checks.ask(nodes)

    def settle(check: Check) -> Check:
        assert problem.models is not None
        with until([check.node]):
            return problem.models.settle(check)

    return ask, settle if problem.models else None


def _decided(
    problem: FullDomainProblem,
    outcome: SearchOutcome,
    *,
    options: Options[Any],
    encoded_at: float,
) -> Decided:
    """The best node of a search, with every measure of publishing it that applies."""
    searched_at = time.monotonic()
    if outcome.best is None:
        # Most searches find something.
        from sqlanon.methods.fulldomain.alternatives import unsatisfiable

        raise unsatisfiable(problem, outcome)
    subject, policy, node = problem.subject, problem.policy, outcome.best.node
    engine, lattice, checks = problem.sets.engine, problem.lattice, outcome.checks
    suppressed, rounds, smallest = problem.settled(outcome.best)
    tell("measuring: loss and classes of the best recoding")
    # Where tables are kept for the next search, those of the release are not among them.
    with nullcontext() if options.shared.stored is None else engine.workspace():
        release = node_release(
            engine,
            subject,
            encoded=problem.sets.encoded,
            policy=policy,
            node=node,
            suppressed=suppressed,
        )
    loss, kept = measured(release), _published(policy, release)
    objective, name = lattice.objective, key(options.loss)
    tops = tuple(tree.height for tree in subject.trees)
    cells = _suppressed_cells(release)
    keeping = keeping_notes(policy, lattice.allowance, all_generalized=node == tops)
    alternatives = _alternatives(problem, outcome, options)
    tradeoff: tuple[Mapping[str, Any], ...] = ()
    says_little = 2 * cells >= len(subject.names) * subject.records
    # Under a time limit the search alone may take its time.
    if says_little and outcome.proven and not options.deadline.is_limited:
        from sqlanon.methods.fulldomain.alternatives import higher_limits  # most results say more

        tradeoff = tuple(higher_limits(problem, outcome, loss=options.loss, value=loss[name]))
    report = Report(
        method=options.method.name,
        loss_name=options.loss,
        loss=loss,
        lower_bound=loss[name] if outcome.proven else objective.loss(outcome.bound),
        levels=dict(zip(subject.names, node, strict=True)),
        heights={name: t.height for name, t in zip(subject.names, subject.trees, strict=True)},
        level_names=subject.level_names,
        records=subject.records,
        suppressed_records=outcome.best.suppressed,
        suppressed_cells=cells,
        statistics=kept,
        entity=policy.entity,
        models=model_results(policy, kept),
        minimal_nodes=None
        if outcome.minimal_nodes is None
        else tuple(dict(zip(subject.names, n, strict=True)) for n in outcome.minimal_nodes),
        minimal_node_figures=tuple(
            {
                "loss": objective.loss(checks[node].value),
                "suppressed_records": checks[node].suppressed,
            }
            for node in outcome.minimal_nodes or ()
            if node in checks
        ),
        alternatives=alternatives,
        suppression_tradeoff=tradeoff,
        search=LatticeSearch(
            nodes=math.prod(tree.height + 1 for tree in subject.trees),
            candidates=lattice.box.size,
            checked=outcome.checked,
            combinations=problem.sets.encoded.rows,
            rolled_up=problem.sets.rolled_up,
            rounds=rounds,
            proven=outcome.proven,
            cut_short=_is_cut(outcome, options),
        ),
        notes=(
            *subject.warnings(),
            *spelling_notes(subject),
            *policy_notes(policy),
            *keeping,
            *_unfinished(outcome, options),
        ),
    )
    return Decided(
        FullDomain(node), report, encoded_at, searched_at, rounds=rounds, smallest=smallest
    )


def _alternatives(
    problem: FullDomainProblem, outcome: SearchOutcome, options: Options[Any]
) -> tuple[Mapping[str, Any], ...] | None:
    """What lower levels of each column take, on request; None where that is not asked for."""
    if not getattr(options.specific, "alternatives", False) or options.deadline == _OVER:
        return None
    from sqlanon.methods.fulldomain.alternatives import lower_columns  # rarely asked for

    tell("alternatives: recodings with a column at a lower level")
    ask, settle = _asking(problem, options)
    return tuple(lower_columns(problem, outcome, ask=ask, settle=settle, deadline=options.deadline))


def _suppressed_cells(release: Release) -> int:
    """Cells that say nothing any more, those of suppressed records included; unweighted."""
    columns = len(release.columns)
    average = cell_measure("suppressed-cells", release, weights=[1.0] * columns)
    return int(average * columns * release.records)


def _published(policy: Policy, release: Release) -> ClassStatistics:
    """The classes that will be published, that of suppressed records included where it is."""
    if policy.suppressed == "drop" or not release.suppressed:
        return release.statistics
    sizes = dict(release.statistics.histogram)
    sizes[release.suppressed] = sizes.get(release.suppressed, 0) + 1
    return ClassStatistics.of(sizes.items())


def _is_cut(outcome: SearchOutcome, options: Options[Any]) -> bool:
    """Whether the time limit ended the search; whoever leaves it no time says himself why."""
    return not outcome.proven and options.deadline != _OVER


def _unfinished(outcome: SearchOutcome, options: Options[Any]) -> list[str]:
    """Notes on searches that the time limit cut short."""
    notes = []
    if _is_cut(outcome, options):
        notes.append(
            f"the time limit ended the search of the lattice after "
            f"{counted(len(outcome.checks), 'node')}: a better recoding may exist, see the bound"
        )
    if getattr(options.specific, "minimal_nodes", False) and outcome.minimal_nodes is None:
        notes.append("the time limit came before every minimal node was found; none are listed")
    if getattr(options.specific, "alternatives", False) and options.deadline == _OVER:
        notes.append("the time limit came before any alternative was looked for; none are listed")
    return notes


def _refuse_ambiguous_label(subject: Subject, policy: Policy) -> None:
    """Refuses to publish suppressed values under a label that a node allowed may publish, too."""
    label = policy.suppressed_label
    if policy.suppressed == "drop" or not policy.allowance(subject.records):
        return
    bounds = zip(subject.names, subject.trees, subject.low, subject.high, strict=True)
    for name, tree, low, high in bounds:
        levels = range(low, min(high + 1, tree.height))
        clashing = [str(level) for level in levels if label in tree.labels[level]]
        if clashing:
            raise PolicyError(
                f"the label for suppressed values also stands for a value or a node of column "
                f"{name!r} at level {listed(clashing)}; choose another with suppressed_label "
                "(--suppressed-label)"
            )
