"""Sensitive attributes bound to a table: what is asked of each, and the order of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.tree import Tree
from sqlanon.microdata.binding import Subject, enumerated, listing, resolved
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import BY_ORDER, FAMILIES, ValueModel
from sqlanon.policy.roles import QuasiIdentifier, Sensitive
from sqlanon.query import encode
from sqlanon.query.classes import violations
from sqlanon.query.encode import Carried
from sqlanon.query.hierarchy.value_labels import leaf_faults, level_labels
from sqlanon.query.privacy import figures
from sqlanon.query.privacy.figures import Needed, Reference, reference
from sqlanon.query.privacy.models import needed_by
from sqlanon.query.publish.suppression import Attribute
from sqlanon.query.syntax import is_nested
from sqlanon.sqltext import Fragment
from sqlanon.wording import counted, shell_word

ORDERED_TYPES = (
    exp.DataType.NUMERIC_TYPES
    | exp.DataType.TEMPORAL_TYPES
    | {exp.DataType.Type.BOOLEAN, exp.DataType.Type.INTERVAL}
) - {exp.DataType.Type.BIT}
Columns = Mapping[str, exp.DataType]


@dataclass(frozen=True, slots=True)
class BoundSensitive:
    """A sensitive attribute of a table.

    Args:
        name: The column.
        models: What it must satisfy.
        needed: The figures that these look at.
        order: Rows of VALUE, RANK and the nodes of its hierarchy; None where the order is that of
            the column's type. It holds no value of the table, so that a statement can show it.
        height: Height of the hierarchy.
        is_ordered: Whether its values have an order at all.
    """

    name: str
    models: tuple[ValueModel, ...]
    needed: Needed
    order: Fragment | None
    height: int
    is_ordered: bool

    @property
    def distances(self) -> tuple[str, ...]:
        """Every distance that its values have."""
        by_order = BY_ORDER if self.is_ordered else ()
        return ("equal", *by_order, *(["hierarchical"] if self.height else []), "kl")


def bound(
    engine: Engine, table: exp.Table, *, policy: Policy, columns: Columns, name: str
) -> BoundSensitive:
    """A sensitive attribute, its models and the order of its values, fit for the table.

    Raises:
        PolicyError: A distance that needs an order or a hierarchy which the attribute lacks.
        SourceError: A column of a nested type.
        HierarchyError: An order or hierarchy that misses values of its column.
    """
    attribute, kind = _resolved(engine, policy.sensitive_attributes[name]), columns[name]
    if kind.this == exp.DataType.Type.VARIANT:
        raise SourceError(
            f"sensitive column {name!r} is of type VARIANT; cast it to the type that it holds"
        )
    if is_nested(kind):
        raise SourceError(
            f"sensitive column {name!r} is of a nested type; unnest it into columns of its own"
        )
    _refuse_zoned(attribute, name, kind=kind)
    models = _models(policy).get(name, ())
    order, height = value_order(attribute, name, kind=kind, table=table)
    is_ordered = order is not None or kind.this in ORDERED_TYPES
    if attribute.hierarchy is None:
        _refuse_flat(name, models)
    if not is_ordered:
        _refuse_unordered(name, models, is_enumeration=name in enumerated(engine, table))
    if order is not None:
        _refuse_unfit(engine, table, name=name, attribute=attribute, order=order)
    needed = needed_by(models, nulls=attribute.nulls == "value")
    return BoundSensitive(name, models, needed, order, height, is_ordered)


def asked(
    policy: Policy, table: exp.Table, *, columns: Columns
) -> tuple[tuple[str, ...], tuple[Attribute, ...]]:
    """The sensitive columns that models look at, and the models that they must satisfy.

    The policy's hierarchies refer to no stored one; `columns` has the types of the columns.
    """
    names = _models(policy)
    attributes = []
    for number, (name, models) in enumerate(names.items()):
        attribute = policy.sensitive_attributes[name]
        order, height = value_order(attribute, name, kind=columns[name], table=table)
        needed = needed_by(models, nulls=attribute.nulls == "value")
        attributes += [
            Attribute(counted_models, needed, order, height, number, entity is not None)
            for counted_models, entity in counted_by(models, policy.entity)
        ]
    return tuple(names), tuple(attributes)


def counted_by(
    models: tuple[ValueModel, ...], entity: str | None
) -> list[tuple[tuple[ValueModel, ...], str | None]]:
    """Models with the entity column whose persons they count, or None where they count records.

    With an entity column, models that more records can break are asked of the records, too: where
    the persons are not published, nobody can count but these.
    """
    fragile = tuple(model for model in models if not model.superset_monotone)
    return [(models, entity), *([(fragile, None)] if entity is not None and fragile else [])]


def _models(policy: Policy) -> dict[str, tuple[ValueModel, ...]]:
    """The models of each sensitive column that has any."""
    models: dict[str, tuple[ValueModel, ...]] = {}
    for demand in policy.demands:
        models[demand.column] = (*models.get(demand.column, ()), demand.model)
    return models


def resolved_sensitive(engine: Engine, policy: Policy) -> dict[str, Sensitive]:
    """The sensitive attributes, their hierarchies read from the database where stored there."""
    return {name: _resolved(engine, role) for name, role in policy.sensitive_attributes.items()}


def _resolved(engine: Engine, attribute: Sensitive) -> Sensitive:
    if attribute.hierarchy is None:
        return attribute
    read = resolved(engine, QuasiIdentifier(attribute.hierarchy))
    return replace(attribute, hierarchy=read.hierarchy)


def value_order(
    attribute: Sensitive, name: str, *, kind: exp.DataType, table: exp.Table
) -> tuple[Fragment | None, int]:
    """The order of an attribute's values and the height of its hierarchy; None for the type's own.

    The hierarchy refers to no stored one; a rule is applied to the values of the table.
    """
    if attribute.order is None:
        if attribute.hierarchy is None:
            return None, 0
        return _hierarchy_order(attribute.hierarchy, name, kind=kind, table=table)
    ends_with = [] if None in attribute.order else [None]
    texts = enumerate([*attribute.order, *ends_with])
    order = figures.listed_order([(text, rank) for rank, text in texts], kind, levels=[])
    if attribute.hierarchy is None:
        return order, 0
    nodes, height = _hierarchy_order(attribute.hierarchy, name, kind=kind, table=table)
    return figures.reordered(order, nodes, levels=range(1, height)), height


def _hierarchy_order(
    hierarchy: Hierarchy, name: str, *, kind: exp.DataType, table: exp.Table
) -> tuple[Fragment, int]:
    if hierarchy.others is not None:
        raise HierarchyError(
            f"hierarchy of sensitive column {name!r} has a row for all other values, which "
            "have no place in its order; give each a row of its own"
        )
    if hierarchy.rows is None:
        labels = level_labels(hierarchy, encode.labelled_value(), column_type=kind, name=name)
        return figures.ruled(table, name, labels=labels), len(labels)
    file = hierarchy.name, hierarchy.lines
    tree = Tree.grow(name, list(hierarchy.rows), with_null=True, name=file[0], lines=file[1])
    inner = range(1, tree.height)
    rows = [
        (leaf, rank, *(tree.nodes[level][rank] for level in inner))
        for rank, leaf in enumerate(tree.leaves)
    ]
    return figures.listed_order(rows, kind, levels=inner), tree.height


def _refuse_zoned(attribute: Sensitive, name: str, *, kind: exp.DataType) -> None:
    listed = list(attribute.order or ())
    if attribute.hierarchy is not None and attribute.hierarchy.rows is not None:
        listed += [path[0] for path in attribute.hierarchy.rows]
    faults = leaf_faults(listed, kind, name=name)
    if faults:
        raise HierarchyError(faults)


def _refuse_flat(name: str, models: Sequence[ValueModel]) -> None:
    needy = [model for model in models if model.needs == "hierarchy"]
    if needy:
        raise PolicyError(
            f"{_named(needy)} needs a hierarchy of sensitive column {name!r}; give one "
            f"with Sensitive(hierarchy=...) (--hierarchy {shell_word(name)}=FILE)"
        )


def _refuse_unordered(name: str, models: Sequence[ValueModel], *, is_enumeration: bool) -> None:
    needy = [model for model in models if model.needs == "order"]
    # Its labels in their order are part of its type, which is not published with the table.
    why = (
        "which is an enumeration and published as text, so that the order of its labels is lost"
        if is_enumeration
        else "whose type has none of their own"
    )
    if needy:
        raise PolicyError(
            f"{_named(needy)} needs an order of sensitive column {name!r}, {why}; write its "
            f"values, the lowest first: in Python sensitive={{{name!r}: Sensitive(order=['A', 'B', "
            f"...])}}, in policy.toml {name!r} = {{ order = ['A', 'B', ...] }} below [sensitive], "
            f"as option --order {shell_word(name)}=A,B,...; or give a hierarchy, whose leaves are "
            f"in order (--hierarchy {shell_word(name)}=FILE)"
        )


def _named(models: Sequence[ValueModel]) -> str:
    """The first kind of models, in alphabetical order."""
    family, *kind = min(model.form for model in models)
    return " ".join([*kind, FAMILIES[family].title])


def _refuse_unfit(
    engine: Engine,
    table: exp.Table,
    *,
    name: str,
    attribute: Sensitive,
    order: Fragment,
) -> None:
    """Refuses an order that misses values of its column, or has one in two spellings."""
    given = {"order": attribute.order, "hierarchy": attribute.hierarchy}
    kinds = [kind for kind, value in given.items() if value is not None]
    what, faults = f"{' or '.join(kinds)} of sensitive column {name!r}", []
    adding = (
        f"add what is missing; {listing(name)}"
        if attribute.hierarchy is not None
        else f"name every value of the column (order = [...], --order {shell_word(name)}=A,B,...); "
        f"list them with `sqlanon hierarchy make SOURCE TABLE --column {shell_word(name)} "
        "--hierarchy suppress --output FILE`"
    )
    missing, records = engine.rows(encode.uncovered(table, name, leaves=order))[0]
    if missing:
        faults.append(
            f"{what} misses {counted(missing, 'value')} that {counted(records, 'record')} "
            f"{'holds' if records == 1 else 'hold'}; {adding}"
        )
    repeated = engine.rows(encode.repeated_values(order))[0][0]
    if repeated:
        faults.append(
            f"{what} has {counted(repeated, 'value')} in several spellings that are one value "
            "of the column's type; keep one each"
        )
    if faults:
        raise HierarchyError(faults)


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
    def holders(self) -> int | None:
        """Persons of the table with a value that counts; None where records are counted."""
        persons = self.reference.persons
        return persons if isinstance(persons, int) else None

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
        persons = None
        if attribute.persons:
            persons = engine.rows(figures.persons_with_values(source, nulls=False))[0][0]
        table = engine.materialize("reference", query)
        return _referring(engine, attribute, table=table, persons=persons)


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
    for number, attribute in enumerate(asked):
        for models, entity in counted_by(attribute.models, policy.entity):
            part = replace(attribute, models=models)
            values, by_rank = rank_values(engine, subject.table, asked=part, entity=entity)
            ranks = Carried(attribute.name, values, attribute.needed.nulls)
            carried.setdefault(violations.value_of(number), ranks)
            coded = _coded(part, by_rank, number=number, persons=entity is not None)
            persons = persons_of(engine, subject.table, asked=part, entity=entity)
            attributes.append(_referring(engine, coded, table=by_rank, persons=persons))
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
        figures.column_rows(table, asked.name, entity=entity),
        nulls=asked.needed.nulls,
        order=asked.order,
        height=asked.height,
    )
    values = engine.materialize("values", query)
    return values, engine.materialize("reference", figures.by_rank(values, asked.height))


def persons_of(
    engine: Engine, table: exp.Table, *, asked: BoundSensitive, entity: str | None
) -> int | None:
    """The persons of a table who have a value of an attribute that counts; None without any."""
    if entity is None:
        return None
    rows = figures.column_rows(table, asked.name, entity=entity)
    persons: int = engine.rows(figures.persons_with_values(rows, nulls=asked.needed.nulls))[0][0]
    return persons


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


def _referring(
    engine: Engine, attribute: SensitiveCodes, *, table: exp.Table, persons: int | None
) -> SensitiveCodes:
    """The attribute with another distribution, of so many persons, to refer to."""
    height = attribute.reference.height
    rows = sorted(engine.rows(figures.rank_counts(table, height)))
    _, counts, *levels = zip(*rows, strict=True) if rows else ((), ())
    numbers = [{label: n for n, label in enumerate(dict.fromkeys(level))} for level in levels]
    return replace(
        attribute,
        reference=Reference(table, sum(counts), len(counts), height, persons),
        counts=counts,
        nodes=tuple(
            tuple(number[label] for label in level)
            for number, level in zip(numbers, levels, strict=True)
        ),
    )
