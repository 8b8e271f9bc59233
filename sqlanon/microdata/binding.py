"""Binding: a policy and a table brought together and checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from sqlanon.engine.base import Engine, without_enums
from sqlanon.errors import EngineError, HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy, Path, Tree, grown
from sqlanon.hierarchy.rules import level_names
from sqlanon.microdata.population import population_of
from sqlanon.policy.policy import Policy
from sqlanon.policy.population import DeltaPresence, KMap
from sqlanon.policy.roles import QuasiIdentifier
from sqlanon.query import encode
from sqlanon.query.syntax import TEXT, is_nested, is_unknown, type_name
from sqlanon.sqlglot_version import type_id
from sqlanon.sqltext import DIALECT
from sqlanon.wording import columns_named, counted, listed, shell_word


@dataclass(frozen=True, slots=True)
class Subject:
    """A table whose quasi-identifiers fit its policy.

    Args:
        table: The table.
        columns: Its columns and their types.
        attributes: The quasi-identifiers; no hierarchy refers to a stored one any more.
        trees: Their hierarchies, bound to the values present.
        records: Number of records.
        nullable: Quasi-identifiers that hold NULLs.
        counts: Per quasi-identifier the records of each leaf, where its hierarchy is a rule that
            was worked out over the values; else None.
        population: The people that its records are of, whose values are leaves, too; None where no
            model asks for them.
    """

    table: exp.Table
    columns: dict[str, exp.DataType]
    attributes: dict[str, QuasiIdentifier]
    trees: tuple[Tree, ...]
    records: int
    nullable: frozenset[str]
    counts: tuple[tuple[int, ...] | None, ...]
    population: exp.Table | None = None

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers, in the policy's order."""
        return list(self.attributes)

    @property
    def weights(self) -> list[float]:
        """Their weights."""
        return [attribute.weight for attribute in self.attributes.values()]

    @property
    def low(self) -> tuple[int, ...]:
        """Their lowest levels allowed."""
        return tuple(attribute.min_level for attribute in self.attributes.values())

    @property
    def high(self) -> tuple[int, ...]:
        """Their highest levels allowed."""
        return tuple(
            tree.height if attribute.max_level is None else attribute.max_level
            for attribute, tree in zip(self.attributes.values(), self.trees, strict=True)
        )

    @property
    def allowed(self) -> list[range]:
        """The levels allowed of each."""
        return [range(low, high + 1) for low, high in zip(self.low, self.high, strict=True)]

    @property
    def level_names(self) -> dict[str, list[str]]:
        """What each level of each of them is called, from 0 up."""
        return {name: level_names(role.hierarchy.rule) for name, role in self.attributes.items()}

    def warnings(self) -> list[str]:
        """Oddities of the hierarchies that do no harm at one level per column.

        Labels are named where the user wrote them; those of a rule are made of values.
        """
        return [
            warning
            for attribute, tree in zip(self.attributes.values(), self.trees, strict=True)
            for warning in tree.warnings(show_labels=attribute.hierarchy.is_listed)
        ]


def column_types(engine: Engine, table: exp.Table) -> dict[str, exp.DataType]:
    """The columns of a table and their types.

    An enumeration counts as text: the labels of its type are values of the table, and would be
    published with it even where no record holds them any more.
    """
    return {name: without_enums(kind) for name, kind in engine.columns(table).items()}


def enumerated(engine: Engine, table: exp.Table) -> tuple[str, ...]:
    """The columns that are enumerations, or hold some inside."""
    return tuple(
        name for name, kind in engine.columns(table).items() if without_enums(kind) != kind
    )


def bind(engine: Engine, table: exp.Table, *, policy: Policy) -> Subject:
    """Holds a policy against a table and grows its hierarchies over the values present.

    Raises:
        PolicyError: Missing columns, levels out of range, or k beyond the number of records.
        HierarchyError: Faults of any hierarchy, all at once.
        SourceError: An empty table, or a quasi-identifier of a nested type.
    """
    columns = column_types(engine, table)
    policy.check_columns(list(columns))
    attributes = {
        name: resolved(engine, attribute) for name, attribute in policy.attributes.items()
    }
    if not attributes:
        raise PolicyError("no quasi-identifier is named; name them with --qi COLUMN")
    refuse_unread(engine, columns, policy=policy)
    refuse_unsuited(engine, table, columns={name: columns[name] for name in attributes})
    records, *present = engine.rows(encode.presence(table, list(attributes)))[0]
    if records == 0:
        raise SourceError("the table is empty; there is nothing to anonymize")
    if policy.k > records:
        raise PolicyError(f"k is {policy.k} but the table has only {counted(records, 'record')}")
    nullable = frozenset(
        name for name, count in zip(attributes, present, strict=True) if count < records
    )
    population = population_of(engine, policy)
    if population is None:
        trees, counts = grow(
            engine, table, attributes=attributes, columns=columns, nullable=nullable
        )
    else:
        comparable(engine, population, types={name: columns[name] for name in attributes})
        people, *known = engine.rows(encode.presence(population, list(attributes)))[0]
        _refuse_few(policy, records=records, people=people)
        nullable |= {name for name, n in zip(attributes, known, strict=True) if n < people}
        with engine.workspace():
            both = encode.distinct_rows([table, population], list(attributes))
            trees, _ = grow(
                engine,
                engine.materialize("domain", both),
                attributes=attributes,
                columns=columns,
                nullable=nullable,
            )
        counts = (None,) * len(trees)
    faults = [
        f"column {name!r}: level {bound} is above the {counted(tree.height, 'level')} of its "
        "hierarchy"
        for (name, attribute), tree in zip(attributes.items(), trees, strict=True)
        for bound in {attribute.min_level, attribute.max_level or 0}
        if bound > tree.height
    ]
    if faults:
        raise PolicyError("; ".join(faults))
    return Subject(table, columns, attributes, trees, records, nullable, counts, population)


def _refuse_few(policy: Policy, *, records: int, people: int) -> None:
    """Refuses a population that is too small, or too large, for any recoding.

    Raises:
        PolicyError: A model fails for all records and people as one class.
    """
    for model in policy.population_models:
        if isinstance(model, KMap) and model.k > people:
            raise PolicyError(
                f"k of k-map is {model.k} and the population has only {counted(people, 'record')}"
            )
        if isinstance(model, DeltaPresence) and records < Fraction(str(model.least)) * people:
            raise PolicyError(
                f"the table has {records:,} of the population's {counted(people, 'record')}, a "
                f"share of {records / people:.4g}, so that some class has less than the "
                f"{model.least:g} that delta-presence asks for, however it is recoded"
            )


def comparable(
    engine: Engine,
    population: exp.Table,
    *,
    types: Mapping[str, exp.DataType],
    way_out: str = "cast them alike, in a database or in Parquet files",
) -> dict[str, exp.DataType]:
    """The columns of a population and their types, the quasi-identifiers as the table has them.

    Args:
        engine: Where it is.
        population: The population.
        types: The quasi-identifiers of the table and their types.
        way_out: What to do where types differ.

    Raises:
        SourceError: It lacks a quasi-identifier, or has it as another type.
    """
    others = column_types(engine, population)
    missing = [name for name in types if name not in others]
    if missing:
        raise SourceError(
            f"the population has no {columns_named(missing)}; it needs every quasi-identifier"
        )
    unlike = [
        f"column {name!r} is {kind.sql('duckdb')} in the table and "
        f"{others[name].sql('duckdb')} in the population"
        for name, kind in types.items()
        if family(kind) != family(others[name])
    ]
    if unlike:
        raise SourceError(f"{'; '.join(unlike)}; {way_out}")
    refuse_unsuited(engine, population, columns={name: others[name] for name in types})
    return others


def family(kind: exp.DataType) -> exp.DataType | str:
    """Types of one family tell the same values apart, and compare without loss."""
    if kind.this in encode.WHOLE:
        return "whole number"
    return "text" if kind.this in exp.DataType.TEXT_TYPES else kind


def refuse_unstored(engine: Engine, columns: Mapping[str, exp.DataType]) -> None:
    """Refuses columns of types that no table of the engine can hold.

    Raises:
        SourceError: There is one; the message names it and its type.
    """
    for name, kind in columns.items():
        types = {type_id(part) for part in kind.find_all(exp.DataType)} & engine.can.unstored
        if types:
            raise SourceError(
                f"column {name!r} holds values of type {listed(sorted(types))}, which no table of "
                "this version of DuckDB can hold; cast it in a view, drop it, or upgrade duckdb"
            )


def refuse_nan(engine: Engine, table: exp.Table, columns: Mapping[str, exp.DataType]) -> None:
    """Refuses columns with NaN where the engine would read other numbers in what is published.

    Raises:
        SourceError: There is one; the message names it and how many of its cells are NaN.
    """
    real = [name for name, kind in columns.items() if kind.is_type(*exp.DataType.FLOAT_TYPES)]
    if engine.can.reads_nan or not real:
        return
    for name, count in zip(real, engine.rows(encode.nan_cells(table, real))[0], strict=True):
        if count:
            raise SourceError(
                f"column {name!r} has {counted(count, 'cell')} of NaN, which this engine reads as "
                "other numbers once they are in a table; make it NULL in a view, or drop the column"
            )


def refuse_unread(engine: Engine, columns: Mapping[str, exp.DataType], *, policy: Policy) -> None:
    """Refuses columns whose values must be read, of types that are not read from elsewhere.

    Raises:
        SourceError: There is one; the message names it and its type.
    """
    if engine.dialect == DIALECT:
        return
    for name in (*policy.attributes, *policy.sensitive, *policy.counting_columns):
        if is_unknown(columns[name]):
            raise SourceError(
                f"column {name!r} is of type {type_name(columns[name])}, of which sqlanon does not "
                f"read every value from {engine.dialect}; cast it in a view, such as to text, or "
                "leave it out"
            )


def is_unsuited(kind: exp.DataType) -> bool:
    """Whether values of a type are not told apart by how they are written."""
    return is_nested(kind) or kind.this == exp.DataType.Type.INTERVAL


def resolved(engine: Engine, attribute: QuasiIdentifier) -> QuasiIdentifier:
    """A quasi-identifier with its hierarchy read from the database if it is stored there."""
    if attribute.hierarchy.kind != "table":
        return attribute
    from sqlanon.microdata.stored_hierarchies import resolved_hierarchy  # few policies need it

    return replace(attribute, hierarchy=resolved_hierarchy(engine, attribute.hierarchy))


def refuse_unsuited(
    engine: Engine, table: exp.Table, *, columns: Mapping[str, exp.DataType]
) -> None:
    """Refuses columns whose values cannot be told apart by how they are written.

    Raises:
        SourceError: Nested types, VARIANT (1 and 1.0 are one value), intervals (30 days count as
            1 month), or collations that take different spellings for one value: a class would hold
            values that differ when published.
    """
    variants = [n for n, kind in columns.items() if kind.this == exp.DataType.Type.VARIANT]
    nested = [n for n, kind in columns.items() if is_nested(kind) and n not in variants]
    intervals = [n for n, kind in columns.items() if kind.this == exp.DataType.Type.INTERVAL]
    texts = [name for name, kind in columns.items() if kind.this in exp.DataType.TEXT_TYPES]
    confused = engine.rows(encode.confused(table, texts))[0] if texts else ()
    collated = [name for name, is_one in zip(texts, confused, strict=True) if is_one]
    unsuited = [
        ("of type VARIANT", variants, "cast them to the type that they hold first"),
        ("of a nested type", nested, "unnest them into columns of their own first"),
        ("of type INTERVAL", intervals, "cast them to text or to a number first"),
        (
            "with a collation",
            collated,
            "it takes different spellings for one value, so write them in one spelling in a column "
            "without",
        ),
    ]
    faults = [
        f"quasi-identifiers {which}: {', '.join(map(repr, names))}; {advice}"
        for which, names, advice in unsuited
        if names
    ]
    if faults:
        raise SourceError("; ".join(faults))


def grow(
    engine: Engine,
    table: exp.Table,
    *,
    attributes: dict[str, QuasiIdentifier],
    columns: dict[str, exp.DataType],
    nullable: frozenset[str],
) -> tuple[tuple[Tree, ...], tuple[tuple[int, ...] | None, ...]]:
    """The hierarchies over the values present, and the records of their leaves, where known.

    Raises:
        HierarchyError: Faults of any hierarchy, all at once.
    """
    from sqlanon.query.hierarchy.value_labels import leaf_faults, level_labels

    trees: list[Tree] = []
    counts: list[tuple[int, ...] | None] = []
    faults: list[str] = []
    for name, attribute in attributes.items():
        hierarchy = attribute.hierarchy
        try:
            if hierarchy.rows is not None:
                rows = [
                    *hierarchy.rows,
                    *_unlisted(engine, table, name=name, hierarchy=hierarchy, kind=columns[name]),
                ]
                file = hierarchy.name, hierarchy.lines
                faults += leaf_faults(
                    [path[0] for path in hierarchy.rows], columns[name], name=name
                )
                trees.append(
                    Tree.grow(name, rows, with_null=name in nullable, name=file[0], lines=file[1])
                )
                counts.append(None)
            else:
                labels = level_labels(
                    hierarchy, encode.labelled_value(), column_type=columns[name], name=name
                )
                paths = engine.rows(
                    encode.distinct_paths(table, name, labels=labels, kind=columns[name])
                )
                trees.append(Tree.grow(name, [path[:-1] for path in paths]))
                leaf_counts = {text: records for text, *_, records in paths}
                counts.append(tuple(leaf_counts[leaf] for leaf in trees[-1].leaves))
        except HierarchyError as error:
            faults += error.faults
        except EngineError as error:
            faults.append(f"hierarchy of column {name!r} cannot be worked out: {error}")
            # The transaction has failed with it, and answers for no other column.
            break
    if faults:
        raise HierarchyError(faults)
    return tuple(trees), tuple(counts)


def _unlisted(
    engine: Engine, table: exp.Table, *, name: str, hierarchy: Hierarchy, kind: exp.DataType
) -> list[Path]:
    """The paths of the values that have no explicit row, where the hierarchy has one for them all.

    Raises:
        HierarchyError: That row does not nest with the others, whether the table needs it or not.
    """
    if hierarchy.rows is None or hierarchy.others is None:
        return []
    grown(hierarchy, name)
    leaves = [path[0] for path in hierarchy.rows]
    with engine.workspace():
        listed = engine.load_rows("listed", {encode.LEAF: leaves}, {encode.LEAF: TEXT})
        values = engine.rows(
            encode.unlisted(table, name, leaves=encode.values_of(listed, kind, carried=[]))
        )
    return [(value, *hierarchy.others) for (value,) in values]


def listing(column: str) -> str:
    """The way to see the values that a hierarchy misses, for a message that must not name them."""
    return (
        "list them with `sqlanon hierarchy check SOURCE TABLE --hierarchy "
        f"{shell_word(column)}=FILE --show-values`"
    )


def named(hierarchy: Hierarchy, column: str) -> str:
    """A hierarchy of a column, by its file where it has one, for a message."""
    quoted = f" {hierarchy.name!r}" if hierarchy.name else ""
    return f"hierarchy{quoted} of column {column!r}"
