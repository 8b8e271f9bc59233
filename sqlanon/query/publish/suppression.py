"""Suppression: which published classes fail a model, as part of the statement that publishes.

How their rows look is said by `statement` and `runs`.

The statement works it out from the records themselves, since a list of the classes would show rare
values. What is suppressed changes the distribution that t-closeness refers to, so there is a round
for each time that the search had to look again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.policy.population import PopulationModel
from sqlanon.policy.privacy import ValueModel
from sqlanon.policy.sizes import SubsetAnonymity
from sqlanon.query.classes import violations
from sqlanon.query.privacy import models, population
from sqlanon.query.privacy.figures import (
    Needed,
    Reference,
    class_figures,
    persons_with_values,
    reference,
)
from sqlanon.query.syntax import table
from sqlanon.sqltext import Fragment, Sql, expression, names, value

_DETAILS = "sqlanon_details"
POPULATION = "sqlanon_population"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A sensitive attribute and its models.

    Args:
        models: What its values in every class must satisfy.
        needed: The figures that these look at.
        order: Its values in order with the nodes of its hierarchy, or None for the type's order.
        height: Height of the hierarchy.
        number: Number of its column among the details.
        persons: Whether persons are counted, once for each value, instead of records.
    """

    models: tuple[ValueModel, ...]
    needed: Needed
    order: Fragment | None
    height: int
    number: int = 0
    persons: bool = False


@dataclass(frozen=True, slots=True)
class SuppressionQuery:
    """The models whose violation suppresses a class, and the fate of its records.

    Args:
        k: The least size of a class that is not suppressed for it [records, or persons].
        attributes: What is asked of the sensitive attributes.
        sensitive: The columns of these.
        entity: The column that says whose record it is.
        rounds: How often suppression is looked at.
        label: What replaces the quasi-identifiers of suppressed records; None drops them.
        population: What is asked of classes beside those of a population.
        subsets: What is asked of combinations of some quasi-identifiers.
    """

    k: int
    attributes: tuple[Attribute, ...] = ()
    sensitive: tuple[str, ...] = ()
    entity: str | None = None
    rounds: int = 1
    label: str | None = None
    population: tuple[PopulationModel, ...] = ()
    subsets: tuple[SubsetAnonymity, ...] = ()

    def steps(self, keys: Sequence[str]) -> list[tuple[str, Sql]]:
        """Named queries, each from those before; the last one has a row per suppressed class.

        The first look at `sqlanon_details`: rows of the keys, which tell classes apart, a value per
        attribute, the person where records have one, and SIZE. Where a population is asked for,
        it is at `sqlanon_population`: rows of the keys and PEOPLE.
        """
        rows = table(_DETAILS)
        parts = [violations.small(rows, keys, k=self.k)]
        if self.entity is not None:
            parts.append(violations.few_persons(rows, keys, k=self.k))
        if self.population:
            beside = violations.beside(rows, table(POPULATION), keys)
            fails = list(map(population.violates, self.population))
            parts.append(violations.failing(beside, keys, conditions=fails))
        parts += self._rare(rows, keys)
        references, failing = self._failing(rows, keys, number=1)
        steps = [*references, (_suppressed(1), violations.merged([*parts, *failing], keys))]
        for number in range(2, self.rounds + 1):
            gone, left = table(_suppressed(number - 1)), f"sqlanon_left_{number}"
            known = expression("SELECT * FROM {{ gone }}", gone=gone)
            references, failing = self._failing(table(left), keys, number=number)
            failing += self._rare(table(left), keys)
            steps += [
                (left, violations.without(rows, gone, keys=keys, nullable=True)),
                *references,
                (_suppressed(number), violations.merged([known, *failing], keys)),
            ]
        return steps

    def _rare(self, rows: exp.Table, keys: Sequence[str]) -> list[Sql]:
        """The classes that have a rare combination of some quasi-identifiers."""
        return [
            violations.rare_among(rows, keys, subsets=model.subsets, k=model.k)
            for model in self.subsets
        ]

    def _failing(
        self, rows: exp.Table, keys: Sequence[str], *, number: int
    ) -> tuple[list[tuple[str, Sql]], list[Sql]]:
        """The classes that fail a model in a round, and the references that these ask for.

        Only relative models have more to say after the first round.
        """
        references, failing = [], []
        for place, attribute in enumerate(self.attributes):
            asked = [m for m in attribute.models if number == 1 or m.relative]
            if not asked:
                continue
            name = f"sqlanon_reference_{place}_{number}"
            counted = violations.attribute_rows(
                rows, (), attribute=attribute.number, persons=attribute.persons
            )
            counts = reference(
                counted,
                nulls=attribute.needed.nulls,
                order=attribute.order,
                height=attribute.height,
            )
            references.append((name, counts))
            persons = None
            if attribute.persons:
                persons = persons_with_values(counted, nulls=attribute.needed.nulls)
            spread = violations.attribute_rows(
                rows, keys, attribute=attribute.number, persons=attribute.persons
            )
            figures = class_figures(
                spread,
                keys,
                needed=attribute.needed,
                reference=Reference.of(table(name), height=attribute.height, persons=persons),
                persons=attribute.persons,
            )
            conditions = [models.violates(model) for model in asked]
            failing.append(violations.failing(figures, keys, conditions=conditions))
        return references, failing


def _suppressed(number: int) -> str:
    return f"sqlanon_suppressed_{number}"


def all_labelled(source: exp.Table, columns: Sequence[str], *, label: str) -> Sql:
    """Number of records of a published table with the label of suppressed ones in some columns."""
    return expression(
        "SELECT CAST(COUNT(*) AS BIGINT) FROM {{ source }} WHERE {% for column in columns %}"
        "{% if not loop.first %} AND {% endif %}CAST({{ column }} AS VARCHAR) = {{ label }}"
        "{% endfor %}",
        source=source,
        columns=names(columns),
        label=value(label),
    )
