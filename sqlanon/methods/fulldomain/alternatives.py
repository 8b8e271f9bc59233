"""Alternatives to the best node: lower levels, higher limits, and ways out where there is no node.

The search of the whole lattice has checked many of the nodes that are asked for here, and ruled
others out; what it found is where each question goes on from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from typing import Any

from sqlglot import exp

from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.loss.measures import measured
from sqlanon.methods.fulldomain.lattice_problem import FullDomainProblem
from sqlanon.methods.fulldomain.node_release import node_release
from sqlanon.methods.unsatisfiable import impossible, models_text, too_few_values
from sqlanon.policy.policy import least_share
from sqlanon.query import encode
from sqlanon.query.classes.frequency import Selected, class_rows
from sqlanon.query.encode import PEOPLE, SIZE
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Box, Check
from sqlanon.search.lattice.incognito import UNKNOWN, Ask, SearchOutcome, Settle, best_node, rank
from sqlanon.wording import counted, key

MOST_SUPPRESSED = 0.2
"""Share of the records that a limit worth telling may leave out."""
MOST_ROWS = 5
"""Higher limits that are told."""


def lower_columns(
    problem: FullDomainProblem,
    outcome: SearchOutcome,
    *,
    ask: Ask,
    settle: Settle | None,
    deadline: Deadline,
) -> Iterator[Mapping[str, Any]]:
    """For each column, and each level below that of the best recoding, the best node up to it.

    Each is a search of the nodes below a level of one column, which takes in all checks so far, so
    no node is checked twice. Levels between a row's and that of its node have the same best node,
    so they have no row.

    Args:
        problem: The table and its lattice.
        outcome: What the search of the lattice found.
        ask: As for `best_node`, but may raise `TimeLimitError` for any node.
        settle: As for `best_node`.
        deadline: When the best so far is what there is.

    Returns:
        Rows of the report: the column, its highest level, the best node known with its loss and
        suppressed records, whether it is proven best, what every such node loses at least, and how
        many had to be checked besides those of the searches before.
    """
    assert outcome.best is not None
    lattice, names, known = problem.lattice, problem.subject.names, dict(outcome.checks)
    loss = lattice.objective.loss
    for number, (name, level) in enumerate(zip(names, outcome.best.node, strict=True)):
        most = level - 1
        while most >= lattice.low[number]:
            high = (*lattice.high[:number], most, *lattice.high[number + 1 :])
            part = best_node(
                replace(lattice, high=high), ask, known=known, settle=settle, deadline=deadline
            )
            known |= part.checks
            best = part.best
            is_none = best is None and part.bound == UNKNOWN
            yield {
                "column": name,
                "max_level": most,
                "loss": None if best is None else loss(best.value),
                "lower_bound": None if is_none else loss(part.bound),
                "suppressed_records": None if best is None else best.suppressed,
                "levels": None if best is None else dict(zip(names, best.node, strict=True)),
                "proven": part.proven,
                "checked": part.checked,
            }
            if best is None:
                break  # what a level does not allow, no lower one does
            most = best.node[number] - 1


def settled_at_any_limit(problem: FullDomainProblem, node: Node) -> tuple[exp.Table | None, int]:
    """The classes that a node suppresses until none fails, whatever the limit, and their records.

    Under the policy's own limit, counting stops once it is exceeded. The classes are None where
    they are those smaller than k.
    """
    if problem.models is None:
        return None, problem.sizes.ask([node])[0].suppressed
    limited = problem.models.violations
    unlimited = replace(limited, scope=replace(limited.scope, allowance=limited.scope.records))
    settled = unlimited.settle(problem.sizes.sets.batch_of_node(node))
    return settled.suppressed, settled.violations.records


def higher_limits(
    problem: FullDomainProblem, outcome: SearchOutcome, *, loss: str, value: float
) -> Iterator[Mapping[str, Any]]:
    """Nodes that were checked and lose less than the best within the limit, by their limits.

    A node that suppresses more than the limit allows is ruled out, but its figures are known: how
    many records it suppresses is the least limit that allows for it, and what it loses is measured
    as that of any published table. Other nodes may lose less within the same limit.

    Args:
        problem: The table and its lattice.
        outcome: What the search has looked at.
        loss: Name of the loss.
        value: What the best node loses.

    Returns:
        Rows of the report: the least limit that allows for a node, to four decimals, the records
        that it leaves out, its loss and its levels.
    """
    policy = problem.policy
    if policy.suppressed == "keep" or policy.forbids_suppression:
        # Kept records must satisfy the models as a class, which limits do not settle.
        return
    least, records = value, problem.subject.records
    for check in _spread(_promising(problem, outcome)):
        classes, suppressed = settled_at_any_limit(problem, check.node)
        if suppressed > MOST_SUPPRESSED * records:
            continue
        release = node_release(
            problem.sets.engine,
            problem.subject,
            encoded=problem.sets.encoded,
            policy=policy,
            node=check.node,
            suppressed=classes,
            loss=loss,
        )
        lost = measured(release)[key(loss)]
        if lost < least:
            least = lost
            yield {
                "suppression_limit": least_share(suppressed, records),
                "suppressed_records": suppressed,
                "loss": lost,
                "levels": dict(zip(problem.subject.names, check.node, strict=True)),
            }


def _promising(problem: FullDomainProblem, outcome: SearchOutcome) -> list[Check]:
    """Nodes that each seem to lose less than all that suppress fewer records, by these."""
    most = int(MOST_SUPPRESSED * problem.subject.records)
    allowance, checks = problem.lattice.allowance, outcome.checks.values()
    over = [check for check in checks if allowance < check.suppressed <= most]
    kept: list[Check] = []
    least = None if outcome.best is None else outcome.best.value
    for check in sorted(over, key=lambda check: (check.suppressed, *rank(check))):
        if least is None or check.value < least:
            kept.append(check)
            least = check.value
    return kept


def _spread(checks: Sequence[Check]) -> list[Check]:
    """The first and the last, and a few from all parts between."""
    count = min(MOST_ROWS, len(checks))
    return [checks[number * (len(checks) - 1) // max(count - 1, 1)] for number in range(count)]


MOST_NODES = 512
"""Nodes that are looked at for a way out."""
MOST_SETTLED = 20


def unsatisfiable(problem: FullDomainProblem, outcome: SearchOutcome) -> UnsatisfiableError:
    """The error to raise where a search found no recoding."""
    lattice = problem.lattice
    too_much: list[str] = []
    with suppress(TimeLimitError):
        too_much = _too_much(problem)
    if too_much:
        return impossible(problem.policy, too_much)
    if not outcome.proven:
        return UnsatisfiableError(
            f"the time limit came after {outcome.checked} of {lattice.box.size} recodings "
            "and before one that satisfies the policy; allow more time with time_limit "
            "(--time-limit)"
        )
    asked = models_text(problem.policy)
    _, suppressed = settled_at_any_limit(problem, problem.subject.high)
    ways = _ways_out(problem, suppressed)
    return UnsatisfiableError(
        f"{_finding(problem, asked, suppressed=suppressed)}; {' or '.join(ways)}"
    )


def _too_much(problem: FullDomainProblem) -> list[str]:
    """Demands for more values than the table has, where neither levels nor suppression help."""
    policy = problem.policy
    diverse = [
        (demand.column, demand.model) for demand in policy.demands if demand.model.least_values
    ]
    persons = [] if policy.entity is None else [policy.entity]
    counts = _values(problem, list(dict.fromkeys([*persons, *(name for name, _ in diverse)])))
    faults = []
    if policy.entity is not None and policy.k > counts[policy.entity]:
        there = counted(counts[policy.entity], "person")
        faults.append(f"k is {policy.k} and the table has {there}")
    for column, model in diverse:
        if model.least_values > counts[column]:
            faults.append(too_few_values(model, column, values=counts[column]))
    return faults


def _values(problem: FullDomainProblem, names: Sequence[str]) -> dict[str, int]:
    """The number of values of columns; NULL is one unless the policy says otherwise."""
    if not names:
        return {}
    from sqlanon.query.assess.profile import counts  # only errors need it

    [(records, *figures)] = problem.sets.engine.rows(counts(problem.subject.table, names))
    present, distinct = figures[::2], figures[1::2]
    attributes = problem.policy.sensitive_attributes
    none = {name for name, attribute in attributes.items() if attribute.nulls == "none"}
    return {
        name: count + (filled < records and name not in none)
        for name, count, filled in zip(names, distinct, present, strict=True)
    }


def _fewest(problem: FullDomainProblem) -> int:
    """The fewest records that a node suppresses, of all in a small lattice, else of some.

    Without k alone a coarser node may suppress more: a class grows, and its values may be too
    uneven. What a check says is a lower bound, so nodes are settled in its order.
    """
    lattice = problem.lattice
    nodes = [node for node in _nodes(lattice.box) if problem.sets.reaches(node)]
    checks = (problem.models or problem.sizes).ask(nodes)
    fewest = lattice.records
    for check in sorted(checks, key=lambda check: check.suppressed)[:MOST_SETTLED]:
        if check.suppressed >= fewest:
            break
        fewest = min(fewest, settled_at_any_limit(problem, check.node)[1])
    return fewest


def _nodes(box: Box) -> list[Node]:
    """Every node of a small box; of a large one the corners and all nodes near the top."""
    if box.size <= MOST_NODES:
        return [box.node(place) for place in range(box.size)]
    levels = [
        sorted({low, max(low, high - 1), high}) for low, high in zip(box.low, box.high, strict=True)
    ]
    near = islice(product(*(reversed(column) for column in levels)), MOST_NODES)
    return list(dict.fromkeys([box.low, box.high, *near]))


def _satisfies_as_one(problem: FullDomainProblem) -> bool:
    """Whether the table satisfies the policy as one class, at the top of all hierarchies.

    It is as large and as diverse as any class can be, and at no distance from itself; its values
    may still be too uneven for entropy and recursive diversity.
    """
    from sqlanon.query.classes.violations import failing  # only errors need them
    from sqlanon.query.privacy import models, population
    from sqlanon.query.privacy.figures import as_one_class, class_figures, column_rows

    policy, engine = problem.policy, problem.sets.engine
    records = problem.subject.records
    if any(records < model.k for model in policy.of_subsets):
        return False
    if not all(model.holds({records: 1}) for model in policy.of_sizes):
        return False
    for demand in policy.demands:
        model = demand.model
        if model.relative or model.superset_monotone:
            continue
        nulls = policy.sensitive_attributes[demand.column].nulls == "value"
        needed = replace(models.needed_by([model], nulls=nulls), entropy=True)
        for entity in {policy.entity, None}:
            rows = as_one_class(column_rows(problem.subject.table, demand.column, entity=entity))
            figures = class_figures(
                rows, [encode.word(0)], needed=needed, persons=entity is not None
            )
            [row] = engine.rows(models.worst(figures, needed, models=[model]))
            if row[-1]:
                return False
    if not policy.population_models:
        return True
    table, words = problem.sets.kept[0].presence, problem.sets.encoded.layout.words
    assert table is not None
    whole = class_rows(
        table, words, selected=Selected({"released": SIZE, PEOPLE: PEOPLE}), masks=[(0,) * words]
    )
    fails = map(population.violates, policy.population_models)
    return not engine.rows(failing(whole, ["number"], conditions=list(fails)))


def _finding(problem: FullDomainProblem, asked: str, *, suppressed: int) -> str:
    lattice, records = problem.lattice, problem.subject.records
    if problem.policy.forbids_suppression:
        return (
            f"no recoding within the levels allowed satisfies {asked}, which lets no record be "
            "suppressed: a class that is left out would have none"
        )
    if suppressed <= lattice.allowance and lattice.smallest:
        return (
            f"no recoding suppresses none of the {records} records, or such that together they "
            f"satisfy {asked} as a class of their own"
        )
    if suppressed >= records <= lattice.allowance:
        return (
            f"no recoding within the levels allowed satisfies {asked} and leaves anything: even at "
            f"the highest levels {records} of {records} records are in classes that do not"
        )
    return (
        f"no recoding within the levels allowed satisfies {asked}: at the highest levels "
        f"{min(suppressed, records)} of {records} records {'is' if suppressed == 1 else 'are'} "
        "in classes that do not, and "
        f"{lattice.allowance} may be suppressed"
    )


def _ways_out(problem: FullDomainProblem, suppressed: int) -> list[str]:
    """Changes that help, each tried out: wider level bounds, a higher limit, dropping."""
    subject, lattice = problem.subject, problem.lattice
    ways = []
    bounded = [
        name
        for name, level, tree in zip(subject.names, subject.high, subject.trees, strict=True)
        if level < tree.height
    ]
    if bounded and _satisfies_as_one(problem):
        ways.append(f"raise max_level (--max-level) of {', '.join(map(repr, bounded))}")
    if problem.policy.forbids_suppression:
        return ways or ["ask for less, or give hierarchies with other levels"]
    fewest = min(suppressed, _fewest(problem))
    dropping = "use suppressed='drop' (--suppressed drop)" if lattice.smallest else ""
    if fewest <= lattice.allowance and dropping:
        ways.append(dropping)
    elif lattice.allowance < fewest < subject.records:
        limit = least_share(fewest, subject.records)
        raising = f"raise suppression_limit (--suppression-limit) to {limit:g} or more"
        ways.append(" and ".join([raising, *([dropping] if dropping else [])]))
    return ways or ["ask for less, or give hierarchies with other levels"]
