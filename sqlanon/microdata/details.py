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
from sqlanon.microdata.sensitive import BoundSensitive, bound, bound_sensitive
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import ValueModel
from sqlanon.query.classes import violations
from sqlanon.query.encoding.encode import Carried
from sqlanon.query.privacy import details
from sqlanon.query.privacy.figures import Needed, Reference, reference
from sqlanon.query.syntax import nested


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

    def vanishing(self, allowance: int) -> int:
        """How many values may go wholly where so many records are suppressed."""
        gone = 0
        for count in sorted(self.counts):
            allowance -= count
            if allowance < 0:
                break
            gone += 1
        return gone


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

    def renewed(self, engine: Engine, attribute: SensitiveCodes, rows: exp.Table) -> SensitiveCodes:
        """The attribute with the distribution that some of the details have."""
        source = details.values(rows, attribute.number, entity=attribute.persons)
        query = reference(
            nested(source, "rows"),
            nulls=False,  # a record whose NULL is no value has no rank
            order=attribute.order,
            height=attribute.reference.height,
        )
        return _referring(engine, attribute, engine.materialize("reference", query))


def ranked(
    engine: Engine, subject: Subject, policy: Policy, valued: Sequence[str] = ()
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
    attributes, carried = [], {}
    asked = bound_sensitive(engine, subject.table, policy, subject.columns)
    demanded = {each.name for each in asked}
    others = (
        bound(engine, subject.table, policy, subject.columns, name)
        for name in valued
        if name not in demanded
    )
    for number, each in enumerate([*asked, *others]):
        values = _ranks(engine, subject, each, policy.entity)
        carried[violations.value_of(number)] = Carried(each.name, values, each.needed.nulls)
        attributes.append(_coded(engine, number, each, values, policy.entity))
        fragile = tuple(model for model in each.models if not model.superset_monotone)
        if policy.entity is not None and fragile:
            again = replace(each, models=fragile)
            values = _ranks(engine, subject, each, None)
            attributes.append(_coded(engine, number, again, values, None))
    if policy.entity is not None:
        carried[violations.ENTITY] = Carried(policy.entity)
    return attributes, carried


def _ranks(engine: Engine, subject: Subject, each: BoundSensitive, entity: str | None) -> exp.Table:
    """The values of an attribute with their ranks, and how many records or persons hold them."""
    source = details.held(subject.table, each.name, entity)
    query = reference(
        nested(source, "rows"),
        nulls=each.needed.nulls,
        order=each.order,
        height=each.height,
    )
    return engine.materialize("values", query)


def _coded(
    engine: Engine, number: int, each: BoundSensitive, values: exp.Table, entity: str | None
) -> SensitiveCodes:
    table = engine.materialize("reference", details.by_rank(values, each.height))
    coded = SensitiveCodes(
        number,
        each.models,
        replace(each.needed, nulls=False),
        Reference(table, 0, 0, each.height),
        # Ranks are their own order; nodes have to come from somewhere.
        table if each.height > 1 else None,
        (),
        entity is not None,
        _nodes(engine, table, each.height),
    )
    return _referring(engine, coded, table)


def _nodes(engine: Engine, reference: exp.Table, height: int) -> tuple[tuple[int, ...], ...]:
    """Per inner level of a hierarchy the node of each rank, by number."""
    if height < 2:
        return ()
    rows = sorted(engine.rows(details.rank_nodes(reference, height)))
    levels = list(zip(*rows, strict=True))[1:]
    numbers = [{label: n for n, label in enumerate(dict.fromkeys(level))} for level in levels]
    return tuple(
        tuple(number[label] for label in level)
        for number, level in zip(numbers, levels, strict=True)
    )


def _referring(engine: Engine, attribute: SensitiveCodes, table: exp.Table) -> SensitiveCodes:
    """The attribute with another distribution to refer to."""
    counts = _counts(engine, table)
    reference = Reference(table, sum(counts), len(counts), attribute.reference.height)
    return replace(attribute, reference=reference, counts=counts)


def _counts(engine: Engine, reference: exp.Table) -> tuple[int, ...]:
    rows: Sequence[tuple[int, ...]] = engine.rows(details.rank_counts(reference))
    return tuple(records for _, records in sorted(rows))
