"""Models of a population: which classes fail them, from `released` records and PEOPLE.

Shares are compared as the decimal numbers that were written.
"""

from __future__ import annotations

from fractions import Fraction

from sqlanon.policy.population import DeltaPresence, KMap, PopulationModel
from sqlanon.sqltext import Sql, expression, value


def violates(model: PopulationModel) -> Sql:
    """Whether a class violates a model."""
    if isinstance(model, KMap):
        return expression("people < {{ k }}", k=model.k)
    return expression(
        "{{ below }} OR {{ above }}", below=below(model.least), above=above(model.most)
    )


def below(share: float) -> Sql:
    """Whether less than a share of the people of a class is released."""
    return expression(
        "CAST(released AS INT128) * {{ under }} < CAST(people AS INT128) * {{ over }}",
        **_exact(share),
    )


def above(share: float) -> Sql:
    """Whether more than a share of the people of a class is released."""
    return expression(
        "CAST(released AS INT128) * {{ under }} > CAST(people AS INT128) * {{ over }}",
        **_exact(share),
    )


def required(model: PopulationModel, *, every: int) -> Sql:
    """Records of a violating class that no node below can publish; `every` for all of them.

    Proofs are those of `methods.fulldomain.model_checks`.
    """
    if not isinstance(model, DeltaPresence) or model.least:
        return value(every)
    return expression(
        "CAST(released - CAST(people AS INT128) * {{ over }} // {{ under }} AS BIGINT)",
        **_exact(model.most),
    )


def _exact(share: float) -> dict[str, int]:
    """The whole numbers that a share is the quotient of."""
    exact = Fraction(str(share))
    return {"over": exact.numerator, "under": exact.denominator}
