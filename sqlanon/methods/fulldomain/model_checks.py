"""Model checks: nodes judged by every privacy model, and what they suppress at the fixpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.loss.objectives import ClassCounts, SuppressedCells
from sqlanon.methods.fulldomain.frequency_sets import LARGE, Batch, Rows, costs_together
from sqlanon.methods.fulldomain.size_checks import SizeChecks
from sqlanon.methods.fulldomain.suppression_bounds import (
    NOTHING,
    Settled,
    SuppressionScope,
    ViolationCounts,
)
from sqlanon.microdata.sensitive import SensitiveCodes
from sqlanon.query.classes import violations
from sqlanon.query.classes.frequency import (
    CLASS_SIZE,
    NUMBER,
    REQUIRED,
    Masks,
    Selected,
    added_up,
    class_rows,
    classes_side_by_side,
    with_nodes,
)
from sqlanon.query.classes.violations import ENTITY, Condition, Figures, value_of
from sqlanon.query.encoding.encode import SIZE, VALUE
from sqlanon.query.privacy import models, sensitive
from sqlanon.query.privacy.figures import Needed
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Check
from sqlanon.sqltext import Fragment, Sql, expression, name

COSTS = (4, 7)  # where costs stand in a row of `added_up`


@dataclass(slots=True)
class Violations:
    """Counts the violations of all models of a policy.

    Beside each frequency set stand its details, with a row per class and sensitive value; a query
    groups them by value, then by class, and counts what fails for sixteen or twenty nodes at once.
    A column per value instead makes sixteen sums of one row, but to plan these takes the database
    longer than to group. On small sets k is asked in the same query; on large ones by itself first,
    since it rules out many nodes for half the work.

    Args:
        engine: Where the details live.
        scope: What the violations depend on.
        squares: Whether the loss needs squared class sizes.
    """

    engine: Engine
    scope: SuppressionScope
    squares: bool
    _prepared: dict[str, Callable[[Sequence[object]], Rows]] = field(default_factory=dict)

    def count(self, batch: Batch) -> list[ViolationCounts]:
        """The violations of several nodes, in the order given, by the whole table's reference."""
        rows = costs_together([self._counts(part) for part in batch.priced()], COSTS)
        found = {number: ViolationCounts(*row) for number, *row in rows}
        return [found.get(number, NOTHING) for number in range(len(batch.nodes))]

    def settle(self, batch: Batch) -> Settled:
        """The fixpoint of a node's suppression, counted from the node's own set."""
        assert [batch.source.node] == list(batch.nodes)
        classes = self._classes(batch, batch.masks)
        gone = self.engine.materialize(
            "suppressed", self._failing(classes, self._asked(), k=self.scope.k)
        )
        found, rounds = self._found(batch, gone), 1
        while self.scope.moving and 0 < found.records <= self.scope.allowance:
            grown = self.engine.materialize(
                "suppressed",
                expression(
                    "SELECT * FROM {{ gone }} UNION ALL {{ newly }}",
                    gone=gone,
                    newly=self._newly(classes, gone),
                ),
            )
            again = self._found(batch, grown)
            if again.classes == found.classes:
                break
            gone, found, rounds = grown, again, rounds + 1
        return Settled(found, rounds, gone)

    def is_published(self, settled: Settled, batch: Batch) -> bool:
        """Whether the suppressed records may be published as one class without their cells."""
        if not settled.found.records:
            return True
        classes = self._classes(batch, [(0,) * self.scope.words])
        inside = violations.within(classes.details, settled.suppressed, keys=self.scope.keys)
        together = replace(classes, details=self.engine.materialize("together", inside))
        return not self.engine.rows(self._failing(together, self._asked(), k=self.scope.k))

    def _counts(self, batch: Batch) -> Rows:
        """Sums over violating classes, from a query written once for a set that is small."""
        source, name = batch.source, batch.name
        if source.detailed > LARGE:
            query = self._counted(self._classes(batch, batch.masks), batch)
            return self.engine.rows(query, () if source.prices is None else batch.parameters)
        if name not in self._prepared:
            self._prepared[name] = self.engine.prepare(self._counted(self._classes(batch), batch))
        return self._prepared[name](batch.parameters)

    def _classes(self, batch: Batch, masks: Sequence[Masks] | None = None) -> _Classes:
        """Classes counted from a batch's set: of nodes by their bits, or by parameters."""
        source = batch.source
        assert source.details is not None
        return _Classes(source.details, self.scope.words, masks)

    def _counted(self, classes: _Classes, batch: Batch) -> Sql:
        failing = self._failing(classes, self._asked(), k=self.scope.k)
        words, prices = self.scope.words, batch.source.prices
        query = self._added_up(failing, batch)
        return (
            query if classes.masks and prices is None else with_nodes(query, words, prices=prices)
        )

    def _found(self, batch: Batch, gone: exp.Table) -> ViolationCounts:
        words, parts = self.scope.words, []
        for part in batch.priced():
            added = self._added_up(gone, part)
            query = with_nodes(added, words, prices=part.source.prices)
            parts.append(self.engine.rows(query, part.parameters))
        rows = costs_together(parts, COSTS)
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
        parts = [classes.figures(each) for each in asked]
        if entity:
            few = expression("persons < {{ k }}", k=k)
            parts = [
                classes.sizes(),
                Figures(classes.persons(), [(few, self.scope.records)]),
                *parts,
            ]
        elif k:
            small = expression("class_size < {{ k }}", k=k)
            conditions = [(small, name(CLASS_SIZE)), *parts[0].conditions]
            parts[0] = replace(parts[0], conditions=conditions)
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

    def _newly(self, classes: _Classes, gone: exp.Table) -> Sql:
        """Classes that fail a relative model by the distribution of what is not suppressed."""
        left = self.engine.materialize(
            "left", violations.without(classes.details, gone, keys=self.scope.keys)
        )
        asked = []
        for attribute in self.scope.details.attributes:
            close = [model for model in attribute.models if model.relative]
            if close:
                renewed = self.scope.details.renewed(self.engine, attribute, rows=left)
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
    """

    details: exp.Table
    words: int
    masks: Sequence[Masks] | None = None

    @property
    def keys(self) -> list[str]:
        """The columns that tell the classes of several nodes apart."""
        return [NUMBER, *violations.words(self.words)]

    def sizes(self) -> Figures:
        """CLASS_SIZE of every class."""
        return Figures(self._rows(CLASS_SIZE), [])

    def persons(self) -> Sql:
        """The `persons` of every class."""
        return violations.persons(self._rows(SIZE, {ENTITY: ENTITY}), self.keys)

    def figures(self, asked: _Asked) -> Figures:
        """The figures of one sensitive attribute."""
        attribute, by = asked.attribute, {VALUE: value_of(asked.attribute.number)}
        if attribute.persons:
            persons = self._rows(SIZE, {**by, ENTITY: ENTITY})
            values = violations.each_once(persons, self.keys)
        else:
            values = self._rows(SIZE, by)
        figures = sensitive.class_figures(
            values,
            self.keys,
            needed=asked.needed,
            reference=attribute.reference,
            grouped=not attribute.persons,
        )
        return Figures(figures, asked.conditions)

    def _rows(self, size: str, by: Mapping[str, str] | None = None) -> Sql:
        selected = Selected({size: SIZE}, violations.words(self.words), by or {})
        if self.masks is None:
            return class_rows(self.details, self.words, selected=selected)
        return classes_side_by_side(self.details, self.masks, selected=selected)


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
        sets, scope = self.sizes.sets, self.violations.scope
        sets.prepare(nodes)
        if not self.looks_at_classes and sets.held[0].scanned <= LARGE:
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
        counts = self._violating(node, settled.found)
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
            batch = self.sizes.sets.own_batch(node)
            self._settled[node] = batch, self.violations.settle(batch)
        return self._settled[node]

    def _examined(self, nodes: Sequence[Node]) -> list[Check]:
        checks: dict[Node, Check] = {}
        for batch in self.sizes.sets.batches(nodes):
            found = dict(zip(batch.nodes, self.violations.count(batch), strict=True))
            unknown = {
                node: self.sizes.small(node, (each.classes, each.records, each.cost))
                for node, each in found.items()
                if node not in self._known
            }
            self._known |= self.sizes.with_gains(batch, unknown)
            checks |= {node: self._judged(node, each) for node, each in found.items()}
        return [checks[node] for node in nodes]

    def _judged(self, node: Node, found: ViolationCounts) -> Check:
        """The check of a node with the violations of all models."""
        scope, required = self.violations.scope, found.required
        most = None if scope.superset_monotone else scope.records
        if scope.union_closed:
            # Classes that all satisfy the models make unions that do: above, and so below.
            required = max(required, min(found.records, 1))
            most = most if found.records else 0
        settled = not found.records or not (scope.unsettled or self.sizes.gains is not None)
        check = self.sizes.check(node, self._violating(node, found))
        return replace(check, required=required, most=most, settled=settled)

    def _violating(self, node: Node, found: ViolationCounts) -> ClassCounts:
        """The counts of a node with the violations of all models."""
        known = self._known[node]
        counts = ClassCounts(
            known.classes,
            found.classes,
            found.records,
            known.squares,
            found.squares,
            found.cost,
            required=SuppressedCells(found.required, found.required_squares, found.required_cost),
            gains=known.gains,
        )
        return self.sizes.with_uniform_costs(node, counts)
