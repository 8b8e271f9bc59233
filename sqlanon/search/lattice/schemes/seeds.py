"""Seeds: the best recoding so far, and recodings to begin with."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlanon.search.lattice.schemes.merging import Merging
from sqlanon.search.lattice.schemes.outcome import Recoding, SchemeOutcome
from sqlanon.search.lattice.schemes.problem import Evaluated, SchemeProblem
from sqlanon.search.lattice.schemes.prunings import Prunings
from sqlanon.search.lattice.schemes.spaces import Least

_LESS_FLEXIBLE = {"sps": "ops", "gsps": "gops", "gops": "ghs", "ghs": "bhs"}
"""Per scheme one whose recodings of the same units it has all of, and others."""
_FLEXIBILITY = {"ghs": 1, "gops": 2, "gsps": 3, "sps": 3}
"""Steps that there are below a scheme, as if each column had all."""


@dataclass(slots=True, eq=False)
class Best:
    """The best recoding that a systematic search has found.

    Args:
        problem: The table.
        recoding: It; None as long as none satisfies the policy.
        figures: What it costs and suppresses.
        checked: Recodings that were evaluated.
    """

    problem: SchemeProblem
    recoding: Recoding | None = None
    figures: Least = field(default_factory=lambda: Least(0, 0))
    checked: int = 0

    def evaluate(self, recoding: Recoding) -> Evaluated:
        """Evaluates a recoding from nothing, and takes it if it is better."""
        evaluated = self.problem.evaluate(recoding)
        self.offer(recoding, evaluated)
        return evaluated

    def offer(self, recoding: Recoding, evaluated: Evaluated) -> None:
        """Takes a recoding that is better."""
        self.checked += 1
        figures = Least(evaluated.cost, evaluated.suppressed)
        if not self.rules_out(figures, recoding):
            self.recoding, self.figures = recoding, figures

    def rules_out(self, least: Least, finest: Recoding) -> bool:
        """Whether nothing in a space is better.

        Args:
            least: What its recodings cost and suppress at least.
            finest: As great, in every column, as all of them.
        """
        if least.suppressed > self.problem.allowance:
            return True
        if self.recoding is None:
            return False
        return self.figures < least or (self.figures == least and finest <= self.recoding)

    def costs_less(self, least: Least) -> bool:
        """Whether whatever costs and suppresses at least so much is worse."""
        return least.suppressed > self.problem.allowance or (
            self.recoding is not None and self.figures < least
        )

    def outcome(self, coarsest: Evaluated, *, bound: int | None = None) -> SchemeOutcome:
        """The outcome of a search.

        Args:
            coarsest: The coarsest recoding, for its cost where none satisfies the policy.
            bound: What recodings that were not looked at cost at least; None where there are none.
        """
        found = self.figures
        if self.recoding is None:
            found = Least(coarsest.cost, coarsest.suppressed)
            bound = None if bound is None else min(bound, found.cost - 1)
        proved = found.cost if bound is None else min(bound, found.cost)
        return SchemeOutcome(self.recoding, found.cost, found.suppressed, proved, self.checked)


def less_flexible(problem: SchemeProblem) -> SchemeProblem | None:
    """The same table under the next less flexible schemes; None where all are the least.

    The most flexible go first, so that columns come to the same scheme.
    """
    schemes = [domain.scheme for domain in problem.domains]
    most = max((_FLEXIBILITY.get(scheme, 0) for scheme in schemes), default=0)
    if not most:
        return None
    domains = tuple(
        replace(own, scheme=_LESS_FLEXIBLE[own.scheme])
        if _FLEXIBILITY.get(own.scheme, 0) == most
        else own
        for own in problem.domains
    )
    return replace(problem, domains=domains)


def random_recodings(problem: SchemeProblem, prunings: Prunings) -> Iterator[Recoding]:
    """Some recodings: of each column a way of random length up its tree."""
    drawn = random.Random(prunings.seed)
    trees = [Merging(domain) for domain in problem.domains]
    for _ in range(prunings.random):
        recoding = []
        for tree in trees:
            position = tree.root
            for _ in range(drawn.randrange(tree.domain.units)):
                children = [*tree.children(position)]
                position = drawn.choice(children) if children else position
            recoding.append(position.partition)
        yield tuple(recoding)
