"""Ladder: the less flexible schemes under which a table is looked at first.

What each step of flexibility buys is told by them, and a search begins with what it found under the
step before. A column takes part as far as it can: in ordered steps where its values have an order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.methods.schemes.columns import SchemeColumn
from sqlanon.search.arrays import Numbers
from sqlanon.search.lattice.schemes.domain import Domain
from sqlanon.search.lattice.schemes.problem import SchemeProblem

_STEPS = ("bhs", "ghs", "gops", "gsps", "ops")
_BELOW = {
    "bhs": (),
    "ghs": ("bhs",),
    "gops": ("bhs", "ghs"),
    "gsps": ("bhs", "ghs", "gops"),
    "ops": ("bhs", "ghs", "gops"),
    "sps": ("bhs", "ghs", "gops", "gsps", "ops"),
}
"""Per scheme those whose recodings it has all of, where a column has a hierarchy and an order."""


def simpler_problems(
    columns: Sequence[SchemeColumn],
    problem: SchemeProblem,
    *,
    counts: Sequence[Sequence[int]],
    leaves: Numbers,
) -> list[SchemeProblem]:
    """The table under less flexible schemes, the least flexible first.

    Args:
        columns: The columns with their schemes.
        problem: The table under these.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
        leaves: `leaves[combination, column]`.
    """
    ladders = [
        _ladder(column, own, domain=domain)
        for column, own, domain in zip(columns, counts, problem.domains, strict=True)
    ]
    found: list[SchemeProblem] = []
    seen = {tuple(domain.scheme for domain in problem.domains)}
    for place in range(len(_STEPS)):
        steps = _STEPS[place::-1]
        domains = tuple(
            next((own[step] for step in steps if step in own), domain)
            for own, domain in zip(ladders, problem.domains, strict=True)
        )
        schemes = tuple(domain.scheme for domain in domains)
        if schemes not in seen:
            seen.add(schemes)
            units = np.stack([d.unit[leaves[:, c]] for c, d in enumerate(domains)], axis=1)
            found.append(replace(problem, domains=domains, units=units))
    return found


def _ladder(column: SchemeColumn, counts: Sequence[int], *, domain: Domain) -> dict[str, Domain]:
    """The domains of the schemes below that of a column, and its own, by scheme."""
    found = {}
    for scheme in _BELOW[domain.scheme]:
        if scheme in ("gops", "ops") and not column.has_order:
            continue
        try:
            found[scheme] = replace(column, scheme=scheme, otherwise=None).domain(counts)
        except PolicyError:
            continue  # an order that does not suit the hierarchy, or too many values
    return {**found, domain.scheme: domain}
