"""Binding: a policy and a table brought together, checked once and encoded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.codes import Layout
from sqlanon.engine.base import Engine, plain
from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy import Tree
from sqlanon.policy import Policy, QuasiIdentifier
from sqlanon.query import encode
from sqlanon.query.labels import level_labels
from sqlanon.query.names import create_temporary

NESTED = ("LIST", "ARRAY", "STRUCT", "MAP", "UNION")
NESTED_TYPES = {getattr(exp.DataType.Type, name) for name in NESTED}


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
    """

    table: exp.Table
    columns: dict[str, exp.DataType]
    attributes: dict[str, QuasiIdentifier]
    trees: tuple[Tree, ...]
    records: int
    nullable: frozenset[str]

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

    def warnings(self) -> list[str]:
        """What is odd about the hierarchies and does no harm at one level per column.

        Labels are named where the user wrote them; those of a rule are made of values.
        """
        return [
            warning
            for attribute, tree in zip(self.attributes.values(), self.trees, strict=True)
            for warning in tree.warnings(show_labels=attribute.hierarchy.rows is not None)
        ]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A table's distinct quasi-identifier combinations as packed codes.

    Args:
        table: Codes and sizes, one row per combination.
        rows: Number of combinations.
        layout: Which bits hold which level of which column.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
    """

    table: exp.Table
    rows: int
    layout: Layout
    counts: tuple[tuple[int, ...], ...]

    def entropies(self, trees: Sequence[Tree]) -> list[list[float]]:
        """Entropy of every column at every level [bits]."""
        return [
            [_entropy(tree, level, counts) for level in range(tree.height + 1)]
            for tree, counts in zip(trees, self.counts, strict=True)
        ]


def column_types(engine: Engine, table: exp.Table) -> dict[str, exp.DataType]:
    """The columns of a table and their types.

    An enumeration counts as text: the labels of its type are values of the table, and would be
    published with it even where no record holds them any more.
    """
    return {
        name: plain(exp.DataType.build(text, dialect=engine.dialect, udt=True))
        for name, text in engine.columns(table).items()
    }


def enumerated(engine: Engine, table: exp.Table) -> tuple[str, ...]:
    """The columns that are enumerations, or hold some inside."""
    return tuple(
        name
        for name, text in engine.columns(table).items()
        for kind in exp.DataType.build(text, dialect=engine.dialect, udt=True).find_all(
            exp.DataType
        )
        if kind.this == exp.DataType.Type.ENUM
    )


def bind(engine: Engine, table: exp.Table, policy: Policy) -> Subject:
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
    _refuse_nested({name: columns[name] for name in attributes})
    records, *present = engine.rows(encode.presence(table, list(attributes)))[0]
    if records == 0:
        raise SourceError("the table is empty; there is nothing to anonymize")
    if policy.k > records:
        raise PolicyError(f"k is {policy.k} but the table has only {records} records")
    nullable = frozenset(
        name for name, count in zip(attributes, present, strict=True) if count < records
    )
    trees = _grow(engine, table, attributes, columns, nullable)
    subject = Subject(table, columns, attributes, trees, records, nullable)
    _check_levels(subject)
    return subject


def resolved(engine: Engine, attribute: QuasiIdentifier) -> QuasiIdentifier:
    """The same quasi-identifier, its hierarchy read from the database if it is stored there."""
    if attribute.hierarchy.kind != "table":
        return attribute
    from sqlanon.hierarchies import resolved_hierarchy  # few policies need it

    return replace(attribute, hierarchy=resolved_hierarchy(engine, attribute.hierarchy))


def _refuse_nested(columns: dict[str, exp.DataType]) -> None:
    nested = [name for name, kind in columns.items() if kind.this in NESTED_TYPES]
    if nested:
        raise SourceError(
            f"quasi-identifiers of a nested type: {', '.join(map(repr, nested))}; "
            "unnest them into columns of their own first"
        )


def _grow(
    engine: Engine,
    table: exp.Table,
    attributes: dict[str, QuasiIdentifier],
    columns: dict[str, exp.DataType],
    nullable: frozenset[str],
) -> tuple[Tree, ...]:
    trees: list[Tree] = []
    faults: list[str] = []
    for name, attribute in attributes.items():
        hierarchy = attribute.hierarchy
        try:
            if hierarchy.rows is not None:
                rows = list(hierarchy.rows)
                trees.append(Tree.grow(name, rows, with_null=name in nullable))
            else:
                kind = columns[name].sql("duckdb")
                labels = level_labels(hierarchy, encode.value(), kind, name=name)
                paths = engine.rows(encode.distinct_paths(table, name, labels))
                trees.append(Tree.grow(name, paths))
        except HierarchyError as error:
            faults += error.faults
    if faults:
        raise HierarchyError(faults)
    return tuple(trees)


def _check_levels(subject: Subject) -> None:
    faults = [
        f"column {name!r}: level {bound} is above the {tree.height} levels of its hierarchy"
        for (name, attribute), tree in zip(subject.attributes.items(), subject.trees, strict=True)
        for bound in {attribute.min_level, attribute.max_level or 0}
        if bound > tree.height
    ]
    if faults:
        raise PolicyError("; ".join(faults))


def encode_subject(engine: Engine, subject: Subject) -> Encoded:
    """Writes the table of distinct combinations, as packed codes, beside the data.

    Raises:
        HierarchyError: Values that no leaf covers, or leaves that are one value, all at once.
    """
    layout = Layout.of(subject.trees)
    maps = {
        name: _load_leaves(engine, subject, layout, number)
        for number, name in enumerate(subject.names)
    }
    _refuse_repeated(engine, subject, maps)
    table = engine.temporary("encoded")
    query = encode.encoded(subject.table, maps, set(subject.nullable), layout.words)
    engine.run(create_temporary(table, query))
    rows, records = engine.rows(encode.extent(table))[0]
    if records != subject.records:
        raise HierarchyError(_uncovered(engine, subject, maps))
    counts = _leaf_counts(engine, subject, layout, table)
    return Encoded(table, rows, layout, counts)


def _load_leaves(engine: Engine, subject: Subject, layout: Layout, number: int) -> exp.Table:
    tree, name = subject.trees[number], subject.names[number]
    cast = encode.needs_cast(subject.columns[name])
    carried: dict[str, Sequence[object]] = {
        encode.word(w): codes for w, codes in enumerate(layout.leaf_codes(number, tree))
    }
    loaded = engine.temporary("leaves")
    types = dict.fromkeys(carried, "BIGINT")
    key = encode.LEAF if cast else encode.VALUE
    engine.load(loaded, {key: tree.leaves, **carried}, {key: "VARCHAR", **types})
    if not cast:
        return loaded
    table = engine.temporary("values")
    query = encode.leaf_map(loaded, subject.columns[name], list(carried))
    engine.run(create_temporary(table, query))
    return table


def _refuse_repeated(engine: Engine, subject: Subject, maps: dict[str, exp.Table]) -> None:
    faults = []
    for name, attribute in subject.attributes.items():
        if attribute.hierarchy.rows is not None and encode.needs_cast(subject.columns[name]):
            repeated = engine.rows(encode.repeated_values(maps[name]))[0][0]
            if repeated:
                faults.append(
                    f"hierarchy of column {name!r} lists {repeated} values of the column's type "
                    "more than once, in different spellings; keep one row of each"
                )
    if faults:
        raise HierarchyError(faults)


def _uncovered(engine: Engine, subject: Subject, maps: dict[str, exp.Table]) -> list[str]:
    faults = []
    for name, table in maps.items():
        values, records = engine.rows(encode.uncovered(subject.table, name, table))[0]
        if values:
            faults.append(
                f"hierarchy of column {name!r} misses {values} values that {records} records "
                "hold; add a row for each of them"
            )
    return faults


def _leaf_counts(
    engine: Engine, subject: Subject, layout: Layout, table: exp.Table
) -> tuple[tuple[int, ...], ...]:
    masks = [layout.column_masks(number, 0) for number in range(len(subject.trees))]
    leaves = []
    for number, tree in enumerate(subject.trees):
        codes = layout.leaf_codes(number, tree)
        leaves.append({code: leaf for leaf, code in enumerate(zip(*codes, strict=True))})
    counts = [[0] * len(tree.leaves) for tree in subject.trees]
    for number, *code, records in engine.rows(encode.marginals(table, masks)):
        counts[number][leaves[number][tuple(code)]] = records
    return tuple(map(tuple, counts))


def node_counts(tree: Tree, level: int, counts: Sequence[int]) -> list[int]:
    """Records under each node of a level, from the records of each leaf."""
    result = [0] * (tree.nodes[level][-1] + 1)
    for node, count in zip(tree.nodes[level], counts, strict=True):
        result[node] += count
    return result


def _entropy(tree: Tree, level: int, counts: Sequence[int]) -> float:
    total = sum(counts)
    shares = [count / total for count in node_counts(tree, level, counts) if count]
    return -sum(part * math.log2(part) for part in shares)
