"""Brute force of the search: every node of a small lattice under every model, from the records."""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from databases import empty_database, insert

from oracles import models
from oracles.measures import cell_loss
from sqlanon import (
    Hierarchy,
    KAnonymity,
    Policy,
    QuasiIdentifier,
    Sensitive,
    SubsetAnonymity,
)
from sqlanon.loss import cells
from sqlanon.policy.sizes import SizeModel
from sqlanon.search.privacy import ValueDemand

LOSSES = [name for name in cells.LOSSES if name != "monotone-entropy"]  # no fraction
JOBS = [("nurse", "care", "*"), ("clerk", "desk", "*"), ("boss", "desk", "*"), (None, "?", "*")]
JOB_PATHS = {row[0]: row[1:] for row in JOBS}
ORDERS = ([row[0] for row in JOBS], [1, 2, 3, 7, None])  # job by its hierarchy, pay by its type
GONE = "gone"


@dataclass(frozen=True)
class Case:
    """A table and a policy.

    Args:
        trees: Hierarchy rows per quasi-identifier.
        bounds: Lowest and highest level per quasi-identifier.
        weights: Weight per quasi-identifier.
        records: Quasi-identifiers, job, pay, person.
        k: Smallest class size allowed.
        limit: Share of the records that may be suppressed.
        loss: Its name.
        models: Pairs of a model and what it is about: 0 for job, 1 for pay.
        nulls: Per sensitive column `value` or `none`.
        persons: Whether persons count.
        suppressed: `drop` or `keep`.
        whole: Models of all classes together.
    """

    trees: list
    bounds: list
    weights: list
    records: list
    k: int
    limit: float
    loss: str
    models: list
    nulls: tuple
    persons: bool
    suppressed: str
    whole: tuple = ()

    @property
    def names(self):
        return [f"c{number}" for number in range(len(self.trees))]

    @property
    def policy(self):
        attributes = {
            name: QuasiIdentifier(Hierarchy.from_rows(rows), weight, *bounds)
            for name, rows, weight, bounds in zip(
                self.names, self.trees, self.weights, self.bounds, strict=True
            )
        }
        job, pay = ([model for about, model in self.models if about == n] for n in (0, 1))
        return Policy(
            attributes,
            sensitive={
                "job": Sensitive(job, Hierarchy.from_rows(JOBS), nulls=self.nulls[0]),
                "pay": Sensitive(pay, nulls=self.nulls[1]),
            },
            drop=[] if self.persons else ["person"],
            models=[KAnonymity(self.k), *self.whole],
            suppression_limit=self.limit,
            suppressed=self.suppressed,
            suppressed_label=GONE if self.suppressed == "keep" else "*",
            entity="person" if self.persons else None,
        )

    @property
    def published_policy(self):
        """What can be asked of the published table, which has no persons."""
        return replace(self.policy, entity=None, drop=[])

    def connection(self, threads=1):
        """A connection with the table `people`."""
        opened = empty_database(threads)
        columns = ", ".join(f"{name} VARCHAR" for name in self.names)
        opened.execute(f"CREATE TABLE people ({columns}, job VARCHAR, pay INTEGER, person INTEGER)")
        insert(opened, "people", self.records)
        return opened

    def nodes(self):
        return list(itertools.product(*(range(low, high + 1) for low, high in self.bounds)))


def fails(model, values, whole, about=0, members=(None, None)):
    """Whether a class violates a model.

    Args:
        model: Any beyond k.
        values: Of the records of the class that count.
        whole: Those of the table that is referred to.
        about: 0 for job, 1 for pay.
        members: As of `models.fails`.
    """
    paths = JOB_PATHS if about == 0 else None
    return models.fails(model, values, whole, order=ORDERS[about], paths=paths, members=members)


@dataclass(frozen=True)
class Released:
    """What publishing a node comes to.

    Args:
        loss: To be minimized.
        suppressed: Records.
        accepted: Whether it may be published.
        minimal: Whether so many records may be suppressed at all.
        rows: The published rows.
        rounds: How often suppression had to be looked at.
    """

    loss: Fraction
    suppressed: int
    accepted: bool
    within: bool
    rows: Counter
    rounds: int


def released(case, node):
    """What a node comes to."""
    labels = generalized(case, node)
    classes = defaultdict(list)
    for label, record in zip(labels, case.records, strict=True):
        classes[label].append(record)
    allowed = Fraction(str(case.limit)) * len(case.records)
    gone, rounds = settled(case, classes, allowed)
    lost = [record for label in gone for record in classes[label]]
    keeping = case.suppressed == "keep"
    within = len(lost) <= allowed
    accepted = within and (keeping or len(lost) < len(case.records))
    kept = {label: held for label, held in classes.items() if label not in gone}
    if keeping and lost and accepted:
        accepted = not violates(case, lost, case.records, case.k)
        kept[GONE,] = lost
    accepted = accepted and keeps_sizes(case, kept)
    rare = [m for m in case.whole if isinstance(m, SubsetAnonymity) and 0 < len(lost) < m.k]
    accepted = accepted and not (keeping and rare)
    rows = Counter()
    for label, (*_, job, pay, _) in zip(labels, case.records, strict=True):
        if label not in gone:
            rows[(*label, job, pay)] += 1
        elif keeping:
            rows[(*[GONE] * len(label), job, pay)] += 1
    loss = loss_of(case, node, classes, gone)
    return Released(loss, len(lost), accepted, within, rows, rounds)


def generalized(case, node):
    """The labels of every record."""
    maps = [
        {row[0]: row[level] for row in rows} for rows, level in zip(case.trees, node, strict=True)
    ]
    return [
        tuple(labels[value] for labels, value in zip(maps, record, strict=False))
        for record in case.records
    ]


def settled(case, classes, allowed):
    """The classes that are suppressed and the rounds, for the least size by which sizes are kept.

    Or the first one by which too much is suppressed.
    """
    k = case.k
    while True:
        gone, rounds = fixpoint(case, classes, k, allowed)
        left = {label: held for label, held in classes.items() if label not in gone}
        if keeps_sizes(case, left) or sum(len(classes[label]) for label in gone) > allowed:
            return gone, rounds
        k += 1


def keeps_sizes(case, classes):
    """Whether classes satisfy the models of their sizes."""
    sizes = {label: len(held) for label, held in classes.items()}
    return not any(
        models.fails_together(model, sizes) for model in case.whole if isinstance(model, SizeModel)
    )


def fixpoint(case, classes, k, allowed):
    """The classes that are suppressed, looked at again until no other one fails; and the rounds."""
    gone, rounds = set(), 0
    while True:
        left = [r for label, held in classes.items() if label not in gone for r in held]
        reference = case.records if case.suppressed == "keep" else left
        rare = rare_among(case, {name: held for name, held in classes.items() if name not in gone})
        more = {
            label
            for label, held in classes.items()
            if label not in gone and (label in rare or violates(case, held, reference, k))
        }
        if not more:
            return gone, max(rounds, 1)
        gone, rounds = gone | more, rounds + 1
        if sum(len(classes[label]) for label in gone) > allowed:
            return gone, rounds


def rare_among(case, classes):
    """The labels with a combination of some columns that too few records share."""
    sizes = {label: len(held) for label, held in classes.items()}
    subsets = (model for model in case.whole if isinstance(model, SubsetAnonymity))
    return {label for model in subsets for label in models.rare(model, sizes)}


def violates(case, held, reference, k):
    """Whether records make no class: too few, or any model violated by persons or by records."""
    if len(held) < k or (case.persons and len({r[-1] for r in held}) < k):
        return True
    ways = [False, True] if case.persons else [False]
    return any(
        fails(
            model,
            counted(case, held, about, persons=persons),
            counted(case, reference, about, persons=persons),
            about,
            members=[persons and members(case, part, about) for part in (held, reference)],
        )
        for about, model in case.models
        for persons in ways
    )


def counted(case, records, about, *, persons):
    """The values that count; a person's value once."""
    pairs = [(record[-1], record[len(case.trees) + about]) for record in records]
    values = [value for _, value in (set(pairs) if persons else pairs)]
    return [v for v in values if v is not None or case.nulls[about] == "value"]


def members(case, records, about):
    """How many persons have a value that counts."""
    return len({r[-1] for r in records if counted(case, [r], about, persons=True)})


def loss_of(case, node, classes, gone):
    """The loss of a node by its formula."""
    records = len(case.records)
    lost = sum(len(held) for label, held in classes.items() if label in gone)
    kept = {label: len(held) for label, held in classes.items() if label not in gone}
    if case.loss == "discernibility":
        return Fraction(sum(size * size for size in kept.values()) + lost * records)
    if case.loss == "average-class-size":
        return Fraction(-len(kept))
    if case.loss == "utility":
        return utility(case, node, [held for label, held in classes.items() if label not in gone])
    weights = [Fraction(str(weight)) for weight in case.weights]
    loss = Fraction(lost)
    for label, size in kept.items():
        nodes = zip(case.trees, label, node, strict=True)
        lost_cells = [
            cell_loss(case.loss, tree, {row[0] for row in tree if row[level] == part}, level)
            for tree, part, level in nodes
        ]
        shares = zip(weights, lost_cells, strict=True)
        loss += size * sum(weight * cost for weight, cost in shares) / sum(weights)
    return loss / records


def utility(case, node, classes):
    """Khaitan's E: what the levels of the published classes cost, over the purity they gain."""
    total, published = len(case.records), sum(map(len, classes))
    weights = [Fraction(str(weight)) for weight in case.weights]
    levels = zip(weights, node, case.trees, strict=True)
    part = sum(weight * Fraction(n, len(tree[0]) - 1) for weight, n, tree in levels) / sum(weights)
    cost = (part * published + total - published) / total
    gain = Fraction(0)
    for about in (0, 1):
        every = Counter(counted(case, case.records, about, persons=False))
        baseline = Fraction(sum(n * n for n in every.values()), max(every.total(), 1) ** 2)
        for held in classes:
            values = Counter(counted(case, held, about, persons=False))
            if size := values.total():
                pure = Fraction(sum(n * n for n in values.values()), size)
                gain += (pure - size * baseline) / every.total() / 2
    return 0 if not cost else cost / gain if gain > 0 else math.inf


@dataclass(frozen=True)
class Best:
    """The best node with what it comes to, and every minimal one."""

    node: tuple | None
    released: Released | None
    minimal: list


def brute_force(case):
    """Loss, then suppressed records, then levels from the last column on decide."""
    found = {node: released(case, node) for node in case.nodes()}
    accepted = [node for node in found if found[node].accepted]
    best = min(
        accepted,
        key=lambda node: (found[node].loss, found[node].suppressed, node[::-1]),
        default=None,
    )
    within = [node for node in found if found[node].within]
    minimal = [node for node in within if not any(_is_below(o, node) for o in within)]
    return Best(best, found.get(best), minimal)


def _is_below(one, other):
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def demand_of(model, whole):
    """The demand by the distribution of all values, and what their numbers are."""
    present = [value for value in ORDERS[0] if value in whole]
    counts = np.array([whole.count(value) for value in present])
    inner = list(zip(*(JOB_PATHS[value][:-1] for value in present), strict=True))
    nodes = tuple(np.unique(level, return_inverse=True)[1] for level in inner)
    return ValueDemand(0, model, counts, nodes), present
