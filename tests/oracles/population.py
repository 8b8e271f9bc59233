"""Models of a population by their definitions: who keeps to them, and the best of a lattice.

A case has values, labels and people as Python has them, and no code of ours but the policy.
"""

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction

from databases import empty_database, insert

import sqlanon
from oracles.models import fails_together
from sqlanon import (
    AverageRisk,
    DeltaPresence,
    Hierarchy,
    KAnonymity,
    KMap,
    LDiversity,
    Policy,
    ShareAtRisk,
)
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.policy.sizes import SizeModel

WIDTH = 3
LIMITS = [0.0, 0.1, 0.3, 0.6, 1.0]
GONE = "gone"


@dataclass(frozen=True)
class Case:
    """A table of values and an illness, its people, the hierarchies, and what is asked.

    Args:
        trees: Per column its rows: value, labels. Labels of whole numbers are those of a rule, by
            which the values that anybody has are leaves.
        people: The values of everybody.
        chosen: The numbers of those whose records the table has.
        ill: The illness of each of these.
        models: Models.
        limit: Share of the records that may be suppressed.
        suppressed: `drop` or `keep`.
        ruled: The columns of whole numbers.
    """

    trees: list
    people: list
    chosen: list
    ill: list
    models: list
    limit: float
    suppressed: str
    ruled: tuple = ()

    @property
    def names(self):
        return [f"c{number}" for number in range(len(self.trees))]

    @property
    def records(self):
        return [self.people[number] for number in self.chosen]

    @property
    def policy(self):
        return Policy(
            {
                name: Hierarchy.intervals(WIDTH) if at in self.ruled else Hierarchy.from_rows(rows)
                for at, (name, rows) in enumerate(zip(self.names, self.trees, strict=True))
            },
            sensitive=["ill"],
            models=self.models,
            suppression_limit=self.limit,
            suppressed=self.suppressed,
            suppressed_label=GONE if self.suppressed == "keep" else "*",
            population="everybody",
        )

    def connection(self):
        """A connection with the table `people` and the population `everybody`."""
        opened = empty_database(1)
        columns = ", ".join(
            f"{name} {'INTEGER' if at in self.ruled else 'VARCHAR'}"
            for at, name in enumerate(self.names)
        )
        opened.execute(f"CREATE TABLE people ({columns}, ill VARCHAR)")
        opened.execute(f"CREATE TABLE everybody ({columns})")
        insert(opened, "everybody", map(self.typed, self.people))
        rows = zip(self.records, self.ill, strict=True)
        insert(opened, "people", [(*self.typed(values), ill) for values, ill in rows])
        return opened

    def typed(self, values):
        """The values of a person as their columns have them."""
        return tuple(
            int(value) if at in self.ruled and value is not None else value
            for at, value in enumerate(values)
        )


def interval(low):
    """The label of the numbers from one on."""
    high = low + WIDTH - 1
    return f"{low} to {high}" if low < 0 else f"{low}-{high}"


def drawn(draw):
    """A random case, from a `random.Random`."""
    trees, ruled = [], []
    for at in range(draw.randint(1, 3)):
        values = [*"abcd"[: draw.randint(2, 4)], *([None] if draw.random() < 0.3 else [])]
        low = {value: draw.choice("pq") for value in values}
        rows = [(value, low[value], "*") for value in values]
        if draw.random() < 0.3:
            numbers = [draw.randint(-4, 9) for _ in range(4)]
            low = {n: n // WIDTH * WIDTH for n in numbers}
            rows = [(str(n), interval(low[n]), "*") for n in {*numbers}]
            rows += [(None, None, "*")] if draw.random() < 0.3 else []
            ruled.append(at)
        elif draw.random() < 0.3:
            rows = [(value, "*") for value in values]
        trees.append(rows)
    pick = [lambda rows=rows: draw.choice(rows)[0] for rows in trees]
    people = [tuple(one() for one in pick) for _ in range(draw.randint(2, 30))]
    # Of a rule nobody's values are no leaves.
    trees = [
        [row for row in rows if at not in ruled or row[0] in {values[at] for values in people}]
        for at, rows in enumerate(trees)
    ]
    chosen = sorted(draw.sample(range(len(people)), draw.randint(1, min(12, len(people)))))
    least = draw.choice([0, 0, 0, 0.05, 0.1, 0.25])
    shares = DeltaPresence(least, draw.choice([s for s in (0.3, 0.5, 0.6, 0.75, 1) if s >= least]))
    models = draw.choice([[KMap(draw.randint(1, 6))], [shares], [KMap(draw.randint(1, 4)), shares]])
    models += [KAnonymity(draw.randint(1, 3))] if draw.random() < 0.4 else []
    models += [LDiversity(2, draw.choice(["distinct", "entropy"]))] if draw.random() < 0.3 else []
    if draw.random() < 0.4:
        risk, share = draw.choice([0.2, 0.25, 0.4, 0.5]), draw.choice([0, 0.1, 0.3])
        models.append(draw.choice([AverageRisk(risk), ShareAtRisk(risk, share)]))
    keeps = shares not in models and draw.random() < 0.3
    ill = [draw.choice(["flu", "cold"]) for _ in chosen]
    suppressed = "keep" if keeps else "drop"
    limit = draw.choice(LIMITS)
    return Case(trees, people, chosen, ill, models, limit, suppressed, tuple(ruled))


def faults(case, released, *, kept=0):
    """The models that released classes violate: the whole check, by their labels alone.

    Args:
        case: The case.
        released: Pairs of the labels and the illness of each released record, those kept without
            their quasi-identifiers left out.
        kept: How many these are.
    """
    columns = [{*labels} for labels in zip(*(own for own, _ in released), strict=True)]
    levels = [
        next(at for at in range(len(rows[0])) if column <= {row[at] for row in rows})
        for rows, column in zip(case.trees, columns or [set()] * len(case.trees), strict=True)
    ]
    everybody = Counter(labels_of(case, values, levels) for values in case.people)
    classes = Counter(labels for labels, _ in released)
    for model in case.models:
        if isinstance(model, KMap):
            people = [everybody[labels] for labels in classes]
            yield from [model for each in [*people, *[len(case.people)] * kept] if each < model.k]
        elif isinstance(model, DeltaPresence):
            shares = [Fraction(classes[labels], size) for labels, size in everybody.items()]
            low, high = Fraction(str(model.least)), Fraction(str(model.most))
            yield from [model for share in shares if not low <= share <= high]
        elif isinstance(model, KAnonymity):
            sizes = [*classes.values(), *([kept] if kept else [])]
            yield from [model for size in sizes if size < model.k]
    if is_risky(case, [*classes.values(), *([kept] if kept else [])]):
        yield "sizes"


def is_risky(case, sizes):
    """Whether classes of these sizes violate a model of all classes together."""
    classes = dict(enumerate(sizes))
    return any(
        fails_together(model, classes) for model in case.models if isinstance(model, SizeModel)
    )


def labels_of(case, values, levels):
    """The labels of a person at some levels."""
    return tuple(
        next(row for row in rows if row[0] == value)[level]
        for rows, value, level in zip(case.trees, values, levels, strict=True)
    )


def outcome(case, levels):
    """What a node loses (lm), or None where it may not be published."""
    everybody = Counter(labels_of(case, values, levels) for values in case.people)
    classes = defaultdict(list)
    for values, ill in zip(case.records, case.ill, strict=True):
        classes[labels_of(case, values, levels)].append(ill)

    def fails(model, ills, people):
        if isinstance(model, KMap):
            return people < model.k
        if isinstance(model, KAnonymity):
            return len(ills) < model.k
        if isinstance(model, DeltaPresence):
            share = Fraction(len(ills), people)
            return not Fraction(str(model.least)) <= share <= Fraction(str(model.most))
        if not isinstance(model, LDiversity):
            return False
        counts = Counter(ills).values()
        return len(counts) < 2 or (model.kind == "entropy" and len({*counts}) != 1)

    gone = {
        labels
        for labels, ills in classes.items()
        if any(fails(model, ills, everybody[labels]) for model in case.models)
    }
    left = Counter({own: len(ills) for own, ills in classes.items() if own not in gone})
    while is_risky(case, left.values()):
        smallest = min(left.values())
        gone |= {own for own, size in left.items() if size == smallest}
        left = Counter({own: size for own, size in left.items() if size > smallest})
    lost = [ill for labels in gone for ill in classes[labels]]
    keeps = case.suppressed == "keep"
    if len(lost) > Fraction(str(case.limit)) * len(case.records) or not (left or keeps):
        return None
    if keeps and lost:
        if any(fails(model, lost, len(case.people)) for model in case.models):
            return None
        if is_risky(case, [*left.values(), len(lost)]):
            return None
    for model in case.models:
        if isinstance(model, DeltaPresence) and model.least:
            least = Fraction(str(model.least))
            if any(left[labels] < least * people for labels, people in everybody.items()):
                return None
    cells = Fraction(len(lost) * len(case.trees))
    for labels, size in left.items():
        for rows, label, level in zip(case.trees, labels, levels, strict=True):
            under = sum(row[level] == label for row in rows)
            cells += size * Fraction(under - 1, max(len(rows) - 1, 1))
    return cells / (len(case.records) * len(case.trees))


def text(cell):
    """A published cell as it is compared."""
    return None if cell is None else str(cell)


def nodes(case):
    """Every choice of one level per column."""
    return itertools.product(*(range(len(rows[0])) for rows in case.trees))


def hold_to_brute_force(case):
    """Raises where the best node is not that of brute force; says what became of the case."""
    every = [found for node in nodes(case) if (found := outcome(case, node)) is not None]
    connection = case.connection()
    try:
        plan = sqlanon.plan(connection, case.policy, table="people")
    except (PolicyError, UnsatisfiableError) as error:
        plan, told = None, type(error).__name__
    assert bool(every) == (plan is not None), "refused though there is a release, or the other way"
    if plan is None:
        return told
    assert abs(plan.report.loss["lm"] - float(min(every))) < 1e-9
    assert plan.report.lower_bound == plan.report.loss["lm"]
    report = sqlanon.apply(connection, plan, into="released")
    rows = connection.execute("SELECT * FROM released").fetchall()
    whole = [row for row in rows if {*row[:-1]} != {GONE}]
    released = [(tuple(map(text, row[:-1])), row[-1]) for row in whole]
    assert not [*faults(case, released, kept=len(rows) - len(whole))]
    assert all(result.holds for result in report.models)
    assert report.models == plan.report.models
    checked = sqlanon.check(connection, case.policy, table="released")
    assert [m for m in checked.models if m.column is None] == [
        m for m in report.models if m.column is None
    ]
    return "published"
