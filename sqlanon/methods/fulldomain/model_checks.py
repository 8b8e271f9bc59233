"""Model checks: nodes judged by every privacy model, and what they suppress at the fixpoint.

A node suppresses the classes that fail any model. Where that changes the distribution that
t-closeness refers to (suppressed records are not published), more classes may fail then: they are
suppressed in turn until no class that is left fails. What is left satisfies every model by its own
distribution, as a check of the published table will find.

What a check proves about the nodes below it must hold whatever they suppress. Let C be a class of
the node and K the union of the classes within it that a node below publishes. For a model that is
closed under union, K satisfies it, so at least as many records of C are suppressed there as have to
be removed from C until the rest can satisfy it:

- k, distinct l: all records of C, since a part of it is no larger and no more diverse.
- entropy l: H is concave and at least 0, so with a share s of C removed H(C) >= (1 - s) ln l
  fails unless s >= 1 - H(C) / ln l.
- recursive (c, l): the tail of K is at most that of C, so no value keeps c times the tail of C.
- alpha: of a value with c of the n records, the x that go leave c - x <= alpha (n - x) at best, so
  x >= (c - alpha n) / (1 - alpha).
- ratios: suppression leaves at least M of N records, so no value with C records has a share above
  C / M in what is published, and none of K above most C / M. Of a value with ratio r in the class,
  which has r C n / N of its n records, at least (C n / N) (r - most N / M) have to go, and C is at
  least that of the rarest value. Where each value has a least ratio, a class without more values
  than suppression may remove wholly has no part that can be published.
- t, `equal`: suppression leaves at least M of N records, so no value with C records has a share
  above u = C / M in what is published. Let V be the values of which C has more than that. What is
  published of C has at most t more of V than u(V); taking x records away, at best all of V, gets
  there if n P(V) - x <= (n - x) (u(V) + t). So x >= n (P(V) - u(V) - t) / (1 - u(V) - t).
- other t: a distance D convex in P and at most M over all P has D(C) <= (1 - s) t' + s M, so
  s >= (D(C) - t') / (M - t'). The reference is that of the whole table here; suppressing a share a
  of the records moves it by at most a, so t' = t + a. (`ordered` counts ranks of values that are
  present; each of v values that suppression may remove adds at most 1 / (m - 1) to t'.)
- k-map: all records of C, since a part of it has no more people in the population.
- delta-presence, at most: K has at most `most` times its people, who are among the p of C, so of
  the n records of C at least n - most p have to go.
- delta-presence, at least: where the share of C is below `least`, that of a part of C is, of which
  it is a mean. So every node below fails, whatever it suppresses, which takes shares to 0; and so
  it does below a class that the population alone has. A node that satisfies a `least` above 0
  suppresses nothing.

Above a node, the records that fail k-map only become fewer, as those that fail k do. Those that
fail delta-presence may become more: of at most 1/2, 1 of 1 fails and 1 of 2 does not, and above all
2 of 3 do. But where no class fails none does above, since shares of unions are means.

Models that are not closed under union prove nothing about other nodes, and of those that count
persons only k and distinct l do.

Models of all classes together fail no class by itself, so it is said which are suppressed:

- Of class sizes (`SizeModel`): those smaller than m, as if m were k, for the least m from k on by
  which what is left satisfies all models, or more is suppressed than the limit allows. The rule
  knows neither ties nor an order. Nodes below may suppress fewer or more classes by it, but no
  fewer records than `fewest_left_out` says of the classes of k records and more.
- Of subsets of columns: those with a combination that fewer than k of the records left share, in
  turn until none has. What is left is the greatest set of classes that satisfies it, so no node
  below suppresses fewer records (see `SubsetAnonymity`).

Where no record has to be suppressed for any of them, none has to be above.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from itertools import accumulate, combinations
from operator import or_
from typing import Any

from sqlglot import exp

from sqlanon.loss.objectives import ClassCounts, SuppressedCells
from sqlanon.methods.fulldomain.frequency_sets import (
    LARGE_SET_ROWS,
    Batch,
    FrequencySets,
    Prepared,
    Rows,
)
from sqlanon.methods.fulldomain.size_checks import SizeChecks
from sqlanon.microdata.sensitive import Details, SensitiveCodes
from sqlanon.policy.population import PopulationModel
from sqlanon.policy.privacy import (
    BY_RATIO,
    TOLERANCE,
    AlphaAnonymity,
    BetaLikeness,
    ByForm,
    LDiversity,
    TCloseness,
    ValueModel,
)
from sqlanon.policy.sizes import SizeModel, SubsetAnonymity, least_size, records_of
from sqlanon.query.classes import violations
from sqlanon.query.classes.frequency import (
    CLASS_SIZE,
    NUMBER,
    REQUIRED,
    Masks,
    Selected,
    added_up,
    class_rows,
    class_sizes,
    in_parts,
    with_nodes,
)
from sqlanon.query.classes.violations import ENTITY, Condition, Figures, value_of
from sqlanon.query.encode import PEOPLE, SIZE, VALUE, word_names
from sqlanon.query.privacy import models, population
from sqlanon.query.privacy.figures import (
    RATIO,
    Needed,
    class_figures,
    distance,
    tail,
)
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Check
from sqlanon.sqltext import Fragment, Sql, expression, name, value

SAFETY = 1e-6  # records; far more than rounding can make of a figure that is compared with it


@dataclass(frozen=True, slots=True)
class ViolationCounts:
    """The violating classes of a node.

    Args:
        classes: How many there are.
        records: Records in them [records].
        squares: Their squared sizes, summed.
        cost: What the cells of their records would cost [units].
        required: Records that no node below can publish [records].
        required_squares: Those times the size of their class, summed.
        required_cost: What their cells would cost [units].
    """

    classes: int
    records: int
    squares: int
    cost: int
    required: int
    required_squares: int
    required_cost: int


NOTHING = ViolationCounts(0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Settled:
    """The suppressed classes of a node at the fixpoint.

    Args:
        violations: The suppressed classes.
        rounds: How often suppression was looked at: 1 where the first look was enough.
        suppressed: A temporary table with their words.
        smallest: The least size of a class that is not suppressed for its size [records].
    """

    violations: ViolationCounts
    rounds: int
    suppressed: exp.Table
    smallest: int


@dataclass(frozen=True, slots=True)
class SuppressionScope:
    """The table, its details and the policy, as far as violations depend on them.

    Args:
        details: Codes with sensitive values and persons.
        words: Number of words of the code.
        k: Smallest class size allowed [records, or persons].
        records: Records of the table.
        allowance: Records that may be suppressed.
        keeping: Whether suppressed records are published without their quasi-identifiers, so that
            the reference of t-closeness is that of the whole table whatever is suppressed.
        population: What is asked of classes beside those of the population.
        sizes: Models of the sizes of all classes.
        subsets: Models of combinations of some columns.
    """

    details: Details
    words: int
    k: int
    records: int
    allowance: int
    keeping: bool
    population: tuple[PopulationModel, ...] = ()
    sizes: tuple[SizeModel, ...] = ()
    subsets: tuple[SubsetAnonymity, ...] = ()

    @property
    def keys(self) -> list[str]:
        """The columns that tell the classes of a node apart."""
        return word_names(self.words)

    @property
    def union_closed(self) -> bool:
        """Whether unions of classes that satisfy all models satisfy them, too."""
        return all(
            model.union_closed and (model.superset_monotone or not attribute.persons)
            for attribute in self.details.attributes
            for model in attribute.models
        )

    @property
    def superset_monotone(self) -> bool:
        """Whether classes that satisfy all models still do with any records added."""
        if self.sizes or self.subsets:
            return False  # these are no models of a class
        return all(model.superset_monotone for model in [*self._models, *self.population])

    @property
    def counts_absent(self) -> bool:
        """Whether classes of the population without any record matter."""
        return any(model.forbids_suppression for model in self.population)

    @property
    def moving(self) -> bool:
        """Whether what is suppressed changes what the models refer to."""
        return not self.keeping and any(model.relative for model in self._models)

    @property
    def is_of_sizes(self) -> bool:
        """Whether no model looks at values, persons or a population."""
        return not (self._models or self.details.entity or self.population)

    @property
    def _models(self) -> list[ValueModel]:
        return [model for attribute in self.details.attributes for model in attribute.models]

    @property
    def unsettled(self) -> bool:
        """Whether a node that suppresses records needs a second look."""
        return self.moving or self.keeping

    def required(self, attribute: SensitiveCodes, model: ValueModel) -> Sql:
        """Records of a violating class that no node below can publish.

        An expression over the figures of `class_figures`.
        """
        # Without an allowance, one violating class is too many.
        proves = model.union_closed and not attribute.persons and self.allowance
        if not (model.superset_monotone or proves):
            return value(0)
        return _REQUIRED.of(model)(self, attribute, model)

    def needed(self, attribute: SensitiveCodes) -> Needed:
        """The figures that models and what they require look at."""
        if "equal" not in attribute.needed.distances:
            return attribute.needed
        return replace(attribute.needed, left=self.left(attribute))

    def left(self, attribute: SensitiveCodes) -> int:
        """Records that are published at least."""
        return max(attribute.records - (0 if self.keeping else self.allowance), 0)

    def moved(self, attribute: SensitiveCodes) -> float:
        """The share of records that suppression may take out of the reference."""
        return 0.0 if self.keeping else self.allowance / max(attribute.records, 1)

    def vanishing(self, attribute: SensitiveCodes) -> int:
        """The number of values that suppression may remove from the reference."""
        sums = accumulate(sorted(attribute.counts))
        return 0 if self.keeping else sum(records <= self.allowance for records in sums)


Required = Callable[[SuppressionScope, SensitiveCodes, Any], Sql]


def _all(scope: SuppressionScope, _: SensitiveCodes, __: ValueModel) -> Sql:
    """More than a class can have."""
    return value(scope.records)


def _by_entropy(_: SuppressionScope, __: SensitiveCodes, model: LDiversity) -> Sql:
    needed = math.log(model.l) - TOLERANCE
    share = value(0.0)
    if needed > 0:
        share = expression("1 - entropy / {{ needed }}", needed=value(needed))
    return expression(
        "CASE WHEN counted = 0 THEN class_size ELSE {{ gone }} END",
        gone=_whole(expression("counted * {{ share }}", share=share)),
    )


def _by_tail(_: SuppressionScope, __: SensitiveCodes, model: LDiversity) -> Sql:
    """The largest count loses what keeps it from being below c times the tail of the class."""
    factor = Fraction(str(model.c))
    # The factor may be a quotient of large numbers: 1 / 3 as it was written has 16 digits.
    return expression(
        "CASE WHEN {{ rest }} = 0 THEN class_size ELSE CAST("
        "largest - (CAST({{ rest }} AS INT128) * {{ over }} - 1) // {{ under }} AS BIGINT) END",
        rest=name(tail(int(model.l))),
        over=factor.numerator,
        under=factor.denominator,
    )


def _by_share(_: SuppressionScope, __: SensitiveCodes, model: AlphaAnonymity) -> Sql:
    """X >= (c - alpha n) / (1 - alpha) in whole numbers, as alpha is written."""
    alpha = Fraction(str(model.alpha))
    rest = alpha.denominator - alpha.numerator
    if not rest:
        return value(0)
    return expression(
        "CAST((CAST(largest AS INT128) * {{ under }} - CAST(counted AS INT128) * {{ over }}"
        " + {{ more }}) // {{ rest }} AS BIGINT)",
        under=alpha.denominator,
        over=alpha.numerator,
        more=rest - 1,
        rest=rest,
    )


def _by_ratio(scope: SuppressionScope, attribute: SensitiveCodes, model: BetaLikeness) -> Sql:
    left, records = scope.left(attribute), attribute.records
    if not left:
        return value(0)
    gone = expression(
        "counted * {{ rarest }} * ({{ ratio }} - {{ most }})",
        rarest=value(min(attribute.counts) / records),
        ratio=name(distance(RATIO)),
        most=value(float(model.most_ratio * records / left)),
    )
    if not model.least_ratio:
        return _whole(gone)
    return expression(
        "CASE WHEN distinct_values < {{ fewest }} THEN {{ every }} ELSE {{ gone }} END",
        fewest=attribute.values - scope.vanishing(attribute),
        every=scope.records,
        gone=_whole(gone),
    )


def _by_excess(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> Sql:
    """See the module's docstring; both sides of the quotient are multiplied by n M."""
    left, limit = scope.left(attribute), model.t + TOLERANCE
    if not left:
        return value(0)
    excess = expression("exceeding - counted * {{ most }}", most=value(limit * left))
    rest = expression("{{ room }} - favoured", room=value((1 - limit) * left))
    return expression(
        "CASE WHEN {{ excess }} > 0 THEN {{ gone }} ELSE 0 END",
        excess=excess,
        gone=_whole(expression("{{ excess }} / {{ rest }}", excess=excess, rest=rest)),
    )


def _by_order(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> Sql:
    steps = attribute.values - 1
    if steps < 1:
        return value(0)
    mean = sum(rank * count for rank, count in enumerate(attribute.counts)) / attribute.records
    slack = scope.moved(attribute) + scope.vanishing(attribute) / steps
    return _by_furthest(model, slack, furthest=max(mean, steps - mean) / steps)


def _by_level(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> Sql:
    return _by_furthest(model, scope.moved(attribute), furthest=1.0)


def _by_divergence(scope: SuppressionScope, attribute: SensitiveCodes, model: TCloseness) -> Sql:
    if scope.moved(attribute) or not attribute.counts:
        return value(0)
    return _by_furthest(model, 0.0, furthest=math.log(attribute.records / min(attribute.counts)))


def _by_furthest(model: TCloseness, slack: float, *, furthest: float) -> Sql:
    """S >= (D(C) - t') / (M - t') of a convex distance, t' being t and the slack.

    The slack is what suppression may change of the distance of any class, and the furthest distance
    from the reference, M, that of a class whose records all hold one value.
    """
    limit = model.t + slack + TOLERANCE
    if limit >= furthest:
        return value(0)
    gone = expression(
        "counted * ({{ distance }} - {{ limit }}) / {{ room }}",
        distance=name(distance(model.distance)),
        limit=value(limit),
        room=value(furthest - limit),
    )
    return _whole(gone)


_REQUIRED: ByForm[Required] = ByForm(
    "records that must go",
    {
        ("l", "distinct"): _all,
        ("l", "entropy"): _by_entropy,
        ("l", "recursive"): _by_tail,
        ("alpha",): _by_share,
        **dict.fromkeys(BY_RATIO, _by_ratio),
        ("t", "equal"): _by_excess,
        ("t", "ordered"): _by_order,
        ("t", "hierarchical"): _by_level,
        ("t", "kl"): _by_divergence,
    },
)


def _whole(records: Sql) -> Sql:
    """The least whole number of records, not below 0; rounding never makes it one too many."""
    return expression(
        "CAST(GREATEST(CEIL({{ records }} - {{ safety }}), 0) AS BIGINT)",
        records=records,
        safety=value(SAFETY),
    )


COMBINED_AT_ONCE = 8_000_000
"""Classes times sets of columns that are combined at a time, as far as one set allows."""


@dataclass(slots=True)
class Violations:
    """Counts the violations of all models of a policy.

    Beside each frequency set stand its details, with a row per class and sensitive value; a query
    groups them by value, then by class, and counts what fails for sixteen or twenty nodes at once.
    A column per value instead makes sixteen sums of one row, but to plan these takes the database
    longer than to group. On small sets k is asked in the same query; on large ones by itself first,
    since it rules out many nodes for half the work.

    Args:
        sets: The frequency sets to count from.
        scope: What the violations depend on.
        squares: Whether the loss needs squared class sizes.
    """

    sets: FrequencySets
    scope: SuppressionScope
    squares: bool
    _prepared: Prepared = field(default_factory=dict)
    _prepared_sizes: Prepared = field(default_factory=dict)

    def count(self, batch: Batch) -> list[ViolationCounts]:
        """The violations of several nodes, in the order given, by the whole table's reference."""
        counts = {number: ViolationCounts(*row) for number, *row in self._counts(batch)}
        return [counts.get(number, NOTHING) for number in range(len(batch.nodes))]

    def settle(self, batch: Batch) -> Settled:
        """The fixpoint of a node's suppression, counted from the node's own set.

        With models of class sizes, that of the least size by which what is left satisfies them, or
        of the first one by which too much is suppressed.
        """
        assert [batch.source.node] == list(batch.nodes)
        scope, smallest = self.scope, self.scope.k
        while True:
            settled = self._fixpoint(batch, self._asked(), k=smallest)
            if not scope.sizes or settled.violations.records > scope.allowance:
                return settled
            left = self._left_sizes(batch, settled.suppressed)
            least = least_size(scope.sizes, left, k=smallest)
            if least == smallest:
                return settled
            # What else is suppressed may depend on the size, so that none may be passed over.
            smallest = min(left) + 1 if scope.moving or scope.subsets else least

    def of_subsets(self, batch: Batch) -> int:
        """Records that no node below can publish for models of subsets of columns, and k."""
        alone = Violations(self.sets, replace(self.scope, population=()), self.squares)
        return alone._fixpoint(batch, [], k=self.scope.k).violations.records

    def sizes(self, batch: Batch) -> list[dict[int, int]]:
        """How many classes of each size several nodes have, in the order given."""
        unpriced = replace(batch, source=replace(batch.source, prices=None))

        def query(masks: Sequence[Masks] | None) -> Sql:
            return class_sizes(self._rows_of(batch), self.scope.words, masks=masks)

        histograms: list[dict[int, int]] = [{} for _ in batch.nodes]
        for number, size, classes in self.sets.rows(unpriced, self._prepared_sizes, query):
            histograms[number][size] = classes
        return histograms

    def _fixpoint(self, batch: Batch, asked: Sequence[_Asked], *, k: int) -> Settled:
        """What is suppressed of a node for what is asked, with a least class size, in turn."""
        classes, scope = self._classes(batch, batch.masks), self.scope
        gone = self._suppressed(self._failing(classes, asked, k=k))
        gone = self._with_rare(batch, gone, left=classes.details)
        counts, rounds = self._violations(batch, gone), 1
        is_moving = scope.moving and bool(asked)
        while (is_moving or scope.subsets) and 0 < counts.records <= scope.allowance:
            grown = gone
            left = self.sets.engine.materialize(
                "left", violations.without(classes.details, gone, keys=scope.keys)
            )
            if is_moving:
                grown = self._suppressed(gone, self._newly(classes, left))
            grown = self._with_rare(batch, grown, left=left)
            again = self._violations(batch, grown)
            if again.classes == counts.classes:
                break
            gone, counts, rounds = grown, again, rounds + 1
        return Settled(counts, rounds, gone, k)

    def _suppressed(self, *parts: Fragment) -> exp.Table:
        """A table of suppressed classes, from rows of which none is in two parts."""
        query = expression(
            "{% for part in parts %}{% if not loop.first %} UNION ALL {% endif %}"
            "SELECT * FROM {{ part }} AS part{% endfor %}",
            parts=parts,
        )
        return self.sets.engine.materialize("suppressed", query)

    def _with_rare(self, batch: Batch, gone: exp.Table, *, left: exp.Table) -> exp.Table:
        """Suppressed classes with those, among some, that have a rare combination of columns."""
        [node], keys = batch.nodes, self.scope.keys
        for model in self.scope.subsets:
            columns = [batch.layout.column_masks(number, at) for number, at in enumerate(node)]
            masks = [
                tuple(reduce(or_, words) for words in zip(*subset, strict=True))
                for subset in combinations(columns, model.subsets)
            ]
            for part in in_parts(masks, batch.source.rows, most=COMBINED_AT_ONCE):
                rare = violations.rare(left, part, k=model.k)
                gone = self._suppressed(gone, violations.without(rare, gone, keys=keys))
        return gone

    def _left_sizes(self, batch: Batch, gone: exp.Table) -> dict[int, int]:
        """How many classes of each size of a node are not suppressed."""
        rows = violations.without(self._rows_of(batch), gone, keys=self.scope.keys)
        left = self.sets.engine.materialize("left", rows)
        query = class_sizes(left, self.scope.words, masks=batch.masks)
        return {size: classes for _, size, classes in self.sets.engine.rows(query)}

    def is_published(self, settled: Settled, batch: Batch) -> bool:
        """Whether the suppressed records may be published as one class without their cells."""
        if not settled.violations.records:
            return True
        if any(settled.violations.records < model.k for model in self.scope.subsets):
            return False
        if self.scope.sizes:
            sizes = Counter(self._left_sizes(batch, settled.suppressed))
            sizes[settled.violations.records] += 1
            if not all(model.holds(sizes) for model in self.scope.sizes):
                return False
        classes = self._classes(batch, [(0,) * self.scope.words])
        inside = violations.within(classes.details, settled.suppressed, keys=self.scope.keys)
        together = replace(classes, details=self.sets.engine.materialize("together", inside))
        return not self.sets.engine.rows(self._failing(together, self._asked(), k=self.scope.k))

    def _counts(self, batch: Batch) -> Rows:
        """Sums over violating classes."""
        words, prices = self.scope.words, batch.source.prices

        def query(masks: Sequence[Masks] | None) -> Sql:
            failing = self._failing(self._classes(batch, masks), self._asked(), k=self.scope.k)
            added = self._added_up(failing, batch)
            return with_nodes(added, words, nodes=masks is None, prices=prices)

        return self.sets.rows(batch, self._prepared, query)

    def _classes(self, batch: Batch, masks: Sequence[Masks] | None = None) -> _Classes:
        """Classes counted from a batch's set: of nodes by their bits, or by parameters."""
        rows = self._rows_of(batch)
        return _Classes(rows, self.scope.words, masks, batch.source.presence)

    def _rows_of(self, batch: Batch) -> exp.Table:
        """The rows that classes are counted from: details, where there are any."""
        source = batch.source
        return source.table if source.details is None else source.details

    def _violations(self, batch: Batch, gone: exp.Table) -> ViolationCounts:
        added, prices = self._added_up(gone, batch), batch.source.prices
        query = with_nodes(added, self.scope.words, nodes=False, prices=prices)
        rows = self.sets.engine.rows(query, batch.price_lists)
        return ViolationCounts(*rows[0][1:]) if rows else NOTHING

    def _added_up(self, classes: Fragment, batch: Batch) -> Sql:
        counts = (CLASS_SIZE, REQUIRED)
        return added_up(
            classes,
            self.scope.words,
            prices=batch.source.prices,
            counts=counts,
            squares=self.squares,
        )

    def _failing(self, classes: _Classes, asked: Sequence[_Asked], *, k: int = 0) -> Sql:
        """The classes that fail what is asked or have fewer than k records, or persons."""
        entity = self.scope.details.entity
        parts = [classes.figures(demand) for demand in asked]
        if entity:
            few = expression("persons < {{ k }}", k=k)
            parts = [
                classes.sizes(),
                Figures(classes.persons(), [(few, self.scope.records)]),
                *parts,
            ]
        elif k:
            parts = parts or [classes.sizes()]
            small = expression("class_size < {{ k }}", k=k)
            conditions = [(small, name(CLASS_SIZE)), *parts[0].conditions]
            parts[0] = replace(parts[0], conditions=conditions)
        if k and self.scope.population:
            beside = classes.beside_population(self.scope)
            # Those of the population alone have no other figures.
            parts = [beside, *parts] if self.scope.counts_absent else [*parts, beside]
        return violations.violating(parts, classes.keys)

    def _asked(self) -> list[_Asked]:
        """All models by the reference of the whole table."""
        return [
            _Asked(
                attribute,
                self.scope.needed(attribute),
                [(models.violates(m), self.scope.required(attribute, m)) for m in attribute.models],
            )
            for attribute in self.scope.details.attributes
            if attribute.models
        ]

    def _newly(self, classes: _Classes, left: exp.Table) -> Sql:
        """Classes that fail a relative model by the distribution of what is not suppressed."""
        asked = []
        for attribute in self.scope.details.attributes:
            close = [model for model in attribute.models if model.relative]
            if close:
                renewed = self.scope.details.renewed(self.sets.engine, attribute, rows=left)
                needed = models.needed_by(close, nulls=attribute.needed.nulls)
                conditions = [(models.violates(m), 0) for m in close]
                asked.append(_Asked(renewed, needed, conditions))
        return self._failing(replace(classes, details=left), asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The conditions on one sensitive attribute.

    Args:
        attribute: The attribute, with the distribution that it refers to.
        needed: The figures that the conditions look at.
        conditions: As of `Figures`.
    """

    attribute: SensitiveCodes
    needed: Needed
    conditions: Sequence[Condition]


@dataclass(frozen=True, slots=True)
class _Classes:
    """The classes of nodes, grouped from details.

    Args:
        details: The details.
        words: Number of words of the code.
        masks: Per node its bits; None for the nodes of the query's parameters.
        presence: The same classes beside those of the population, where a model asks for these.
    """

    details: exp.Table
    words: int
    masks: Sequence[Masks] | None = None
    presence: exp.Table | None = None

    @property
    def keys(self) -> list[str]:
        """The columns that tell the classes of several nodes apart."""
        return [NUMBER, *word_names(self.words)]

    def sizes(self) -> Figures:
        """CLASS_SIZE of every class."""
        return Figures(self._rows(CLASS_SIZE), [])

    def beside_population(self, scope: SuppressionScope) -> Figures:
        """Records and people of every class, and what the models of a population make of them."""
        assert self.presence is not None
        selected = Selected({"released": SIZE, PEOPLE: PEOPLE}, carried=True)
        rows = class_rows(self.presence, self.words, selected=selected, masks=self.masks)
        conditions = [
            (population.violates(m), population.required(m, every=scope.records))
            for m in scope.population
        ]
        return Figures(
            violations.compared(rows, self.keys, counts_absent=scope.counts_absent), conditions
        )

    def persons(self) -> Sql:
        """The `persons` of every class."""
        return violations.persons(self._rows(SIZE, {ENTITY: ENTITY}), self.keys)

    def figures(self, asked: _Asked) -> Figures:
        """The figures of one sensitive attribute."""
        attribute, by = asked.attribute, {VALUE: value_of(asked.attribute.number)}
        if attribute.persons:
            persons = self._rows(SIZE, {**by, ENTITY: ENTITY})
            values = violations.once_per_person(persons, self.keys)
        else:
            values = self._rows(SIZE, by)
        figures = class_figures(
            values,
            self.keys,
            needed=asked.needed,
            reference=attribute.reference,
            grouped=not attribute.persons,
            persons=attribute.persons,
        )
        return Figures(figures, asked.conditions)

    def _rows(self, size: str, by: Mapping[str, str] | None = None) -> Sql:
        selected = Selected({size: SIZE}, carried=True, by=by or {})
        return class_rows(self.details, self.words, selected=selected, masks=self.masks)


@dataclass(slots=True)
class ModelChecks:
    """Checks of nodes for k and every other model of a policy.

    Args:
        sizes: Checks for k alone.
        violations: What fails the models.
        looks_at_classes: Whether the loss looks at the number of all classes, or their sizes.
    """

    sizes: SizeChecks
    violations: Violations
    looks_at_classes: bool
    _known: dict[Node, ClassCounts] = field(default_factory=dict)
    _settled: dict[Node, tuple[Batch, Settled]] = field(default_factory=dict)

    def ask(self, nodes: Sequence[Node]) -> list[Check]:
        """Checks of nodes, in the order given."""
        checks, scope = self._of_classes(nodes), self.violations.scope
        open_ended = [check for check in checks if check.fewest_below <= scope.allowance]
        if not (scope.sizes or scope.subsets) or not open_ended:
            return checks
        histograms: dict[Node, dict[int, int]] = {}
        if scope.sizes:
            for batch in self.sizes.sets.batches([check.node for check in open_ended]):
                sizes = self.violations.sizes(batch)
                histograms |= dict(zip(batch.nodes, sizes, strict=True))
        together = {
            check.node: self._of_all(check, histograms.get(check.node, {})) for check in open_ended
        }
        return [together.get(check.node, check) for check in checks]

    def _of_all(self, check: Check, sizes: Mapping[int, int]) -> Check:
        """A check of single classes with what models of all classes together add to it."""
        scope = self.violations.scope
        required, suppressed = check.fewest_below, check.suppressed
        large = {size: classes for size, classes in sizes.items() if size >= scope.k}
        small = records_of(sizes) - records_of(large)
        for model in scope.sizes:
            required = max(required, small + model.fewest_left_out(large))
        if scope.subsets:
            with self.sizes.sets.engine.workspace():
                batch = self.sizes.sets.batch_of_node(check.node)
                required = max(required, self.violations.of_subsets(batch))
        if scope.sizes and not scope.subsets and scope.is_of_sizes:
            least = least_size(scope.sizes, sizes, k=scope.k)
            suppressed = records_of({size: n for size, n in sizes.items() if size < least})
        suppressed = max(suppressed, required)
        if scope.keeping and suppressed:
            suppressed = max(suppressed, scope.k)  # fewer make no class of their own
        none = not required and check.most == 0
        return replace(
            check,
            suppressed=suppressed,
            required=required,
            most=0 if none else scope.records,
            settled=check.settled and none,
        )

    def _of_classes(self, nodes: Sequence[Node]) -> list[Check]:
        """Checks of nodes by the models of single classes, in the order given."""
        sets, scope = self.sizes.sets, self.violations.scope
        sets.prepare(nodes)
        if not self.looks_at_classes and sets.kept[0].scanned <= LARGE_SET_ROWS:
            return self._examined(nodes)  # k in the same query, which does not count all classes
        counts = self.sizes.count(nodes)
        checks = [self.sizes.check(node, counts[node]) for node in nodes]
        within = [check.node for check in checks if check.suppressed <= scope.allowance]
        self._known |= {node: counts[node] for node in within}
        examined = {check.node: check for check in self._examined(within)}
        # The counts of the others are of k alone: other models may take more.
        return [examined.get(check.node) or replace(check, most=scope.records) for check in checks]

    def settle(self, check: Check) -> Check:
        """The check of a node within the allowance, with what it suppresses at the fixpoint."""
        if check.settled:
            return check
        node, scope, gains = check.node, self.violations.scope, self.sizes.gains
        batch, settled = self.settlement(node)
        counts = self._violating(node, settled.violations)
        if gains is not None and counts.gains is not None:
            counts = replace(
                counts, gains=gains.settled(counts.gains, batch, suppressed=settled.suppressed)
            )
        checked = self.sizes.check(node, counts)
        if scope.keeping and not self.violations.is_published(settled, batch):
            checked = replace(checked, suppressed=scope.records + 1)
        # What suppression brought about later proves nothing about other nodes.
        return replace(
            checked, up=check.up, down=check.down, required=check.required, most=check.most
        )

    def settlement(self, node: Node) -> tuple[Batch, Settled]:
        """The fixpoint of a node's suppression, with the set of its own classes; found once."""
        if node not in self._settled:
            batch = self.sizes.sets.batch_of_node(node)
            self._settled[node] = batch, self.violations.settle(batch)
        return self._settled[node]

    def _examined(self, nodes: Sequence[Node]) -> list[Check]:
        checks: dict[Node, Check] = {}
        for batch in self.sizes.sets.batches(nodes):
            results = dict(zip(batch.nodes, self.violations.count(batch), strict=True))
            unknown = {
                node: self.sizes.small(node, (counts.classes, counts.records, counts.cost))
                for node, counts in results.items()
                if node not in self._known
            }
            self._known |= self.sizes.with_gains(batch, unknown)
            checks |= {node: self._judged(node, counts) for node, counts in results.items()}
        return [checks[node] for node in nodes]

    def _judged(self, node: Node, counts: ViolationCounts) -> Check:
        """The check of a node with the violations of all models."""
        scope, required = self.violations.scope, counts.required
        most = None if scope.superset_monotone else scope.records
        if scope.union_closed:
            # Classes that all satisfy the models make unions that do: above, and so below.
            required = max(required, min(counts.records, 1))
            most = most if counts.records else 0
        settled = not counts.records or not (scope.unsettled or self.sizes.gains is not None)
        check = self.sizes.check(node, self._violating(node, counts))
        return replace(check, required=required, most=most, settled=settled)

    def _violating(self, node: Node, sums: ViolationCounts) -> ClassCounts:
        """The counts of a node with the violations of all models."""
        counts = replace(
            self._known[node],
            small_classes=sums.classes,
            small_records=sums.records,
            small_squares=sums.squares,
            small_cost=sums.cost,
            required=SuppressedCells(sums.required, sums.required_squares, sums.required_cost),
        )
        return self.sizes.with_uniform_costs(node, counts)
