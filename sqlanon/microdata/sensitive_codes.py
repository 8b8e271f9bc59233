"""Details: what models beyond k need of the encoded table, beside the codes.

The table of details has a row per combination of quasi-identifier codes, ranks of the sensitive
values and person, with its number of records. Sensitive values are ranks in their attribute's
order, so that no value of the table is copied and grouping is by whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.sensitive import BoundSensitive, bound, counted_by
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import ValueModel
from sqlanon.query.classes import violations
from sqlanon.query.encoding.encode import Carried
from sqlanon.query.privacy import figures
from sqlanon.query.privacy.figures import Needed, Reference, reference


@dataclass(frozen=True, slots=True)
class SensitiveCodes:
    """A sensitive attribute whose values are ranks.

    Args:
        number: Its number; `violations.value_of(number)` is its column in the details.
        models: What it must satisfy.
        needed: The figures that these look at.
        reference: Its distribution over the table, by rank.
        order: Ranks with the nodes of its hierarchy, where it has one.
        counts: Records per rank.
        persons: Whether persons are counted, once for each value, instead of records.
        nodes: Per inner level of its hierarchy the node of each rank.
    """

    number: int
    models: tuple[ValueModel, ...]
    needed: Needed
    reference: Reference
    order: exp.Table | None
    counts: tuple[int, ...]
    persons: bool = False
    nodes: tuple[tuple[int, ...], ...] = ()

    @property
    def records(self) -> int:
        """Records that count: N."""
        return sum(self.counts)

    @property
    def values(self) -> int:
        """Values present: m."""
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class Details:
    """The details of an encoded table.

    Args:
        table: Words, a rank per attribute, the person where records have one, and SIZE.
        attributes: The sensitive attributes that models or the loss look at. With persons, models
            that more records can break are asked of the records, too: where the persons are not
            published, nobody can count but these.
        entity: Whether records have persons.
        rows: Rows of the table.
    """

    table: exp.Table
    attributes: tuple[SensitiveCodes, ...]
    entity: bool
    rows: int

    @property
    def carried(self) -> list[str]:
        """The columns beside the words and the size."""
        numbers = dict.fromkeys(attribute.number for attribute in self.attributes)
        ranks = list(map(violations.value_of, numbers))
        return [*ranks, violations.ENTITY] if self.entity else ranks

    def renewed(
        self, engine: Engine, attribute: SensitiveCodes, *, rows: exp.Table
    ) -> SensitiveCodes:
        """The attribute with the distribution that some of the details have."""
        source = violations.attribute_rows(
            rows, (), attribute=attribute.number, persons=attribute.persons
        )
        query = reference(
            source,
            nulls=False,  # a record whose NULL is no value has no rank
            order=attribute.order,
            height=attribute.reference.height,
        )
        return _referring(engine, attribute, table=engine.materialize("reference", query))


def ranked(
    engine: Engine, subject: Subject, *, policy: Policy, valued: Sequence[str] = ()
) -> tuple[list[SensitiveCodes], dict[str, Carried]]:
    """The sensitive attributes as ranks, and what the details carry.

    Args:
        engine: Where the table lives.
        subject: The table.
        policy: The policy, whose demands say which attributes models look at.
        valued: Attributes that the loss looks at; they come after those of the models.

    Raises:
        PolicyError: An attribute whose values have no order that a model needs.
        HierarchyError: A hierarchy or order that misses values.
    """
    attributes: list[SensitiveCodes] = []
    carried: dict[str, Carried] = {}
    names = dict.fromkeys([*(demand.column for demand in policy.demands), *valued])
    asked = [
        bound(engine, subject.table, policy=policy, columns=subject.columns, name=name)
        for name in names
    ]
    for number, each in enumerate(asked):
        for models, entity in counted_by(each.models, policy.entity):
            own = replace(each, models=models)
            values, by_rank = rank_values(engine, subject.table, asked=own, entity=entity)
            ranks = Carried(each.name, values, each.needed.nulls)
            carried.setdefault(violations.value_of(number), ranks)
            coded = _coded(own, by_rank, number=number, persons=entity is not None)
            attributes.append(_referring(engine, coded, table=by_rank))
    if policy.entity is not None:
        carried[violations.ENTITY] = Carried(policy.entity)
    return attributes, carried


def rank_values(
    engine: Engine, table: exp.Table, *, asked: BoundSensitive, entity: str | None
) -> tuple[exp.Table, exp.Table]:
    """Ranks an attribute's values and counts the records, or persons, that hold each.

    The temporary tables, by value and by rank, stay until the engine's workspace ends.
    """
    query = reference(
        figures.held(table, asked.name, entity=entity),
        nulls=asked.needed.nulls,
        order=asked.order,
        height=asked.height,
    )
    values = engine.materialize("values", query)
    return values, engine.materialize("reference", figures.by_rank(values, asked.height))


def _coded(
    asked: BoundSensitive, by_rank: exp.Table, *, number: int, persons: bool
) -> SensitiveCodes:
    """An attribute whose distribution has not been counted."""
    return SensitiveCodes(
        number,
        asked.models,
        replace(asked.needed, nulls=False),
        Reference(by_rank, 0, 0, asked.height),
        # Ranks are their own order; nodes have to come from somewhere.
        by_rank if asked.height > 1 else None,
        (),
        persons,
    )


def _referring(engine: Engine, attribute: SensitiveCodes, *, table: exp.Table) -> SensitiveCodes:
    """The attribute with another distribution to refer to."""
    height = attribute.reference.height
    rows = sorted(engine.rows(figures.rank_counts(table, height)))
    _, counts, *levels = zip(*rows, strict=True) if rows else ((), ())
    numbers = [{label: n for n, label in enumerate(dict.fromkeys(level))} for level in levels]
    return replace(
        attribute,
        reference=Reference(table, sum(counts), len(counts), height),
        counts=counts,
        nodes=tuple(
            tuple(number[label] for label in level)
            for number, level in zip(numbers, levels, strict=True)
        ),
    )
