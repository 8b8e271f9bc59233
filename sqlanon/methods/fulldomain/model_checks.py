"""Model checks: nodes judged by every privacy model, and what they suppress at the fixpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlanon.loss.objectives import ClassCounts, SuppressedCells
from sqlanon.methods.fulldomain.frequency_sets import LARGE, Batch
from sqlanon.methods.fulldomain.size_checks import SizeChecks
from sqlanon.methods.fulldomain.suppression_bounds import Settled, ViolationCounts
from sqlanon.methods.fulldomain.violations import Violations
from sqlanon.recoding import Node
from sqlanon.search.lattice.bounds import Check


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
