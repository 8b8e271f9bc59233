"""Recode: what becomes of the values of a column in a statement that publishes a table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sqlglot import exp

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.encode import LEAF, VALUE, distinct_values, values_of
from sqlanon.query.hierarchy.value_labels import level_labels
from sqlanon.query.publish.suppression import SuppressionQuery
from sqlanon.query.syntax import alias, column, nested, select, text_of, varchar
from sqlanon.recoding import ColumnMap
from sqlanon.sqltext import Fragment, Sql, name, names, render, value


@dataclass(frozen=True, slots=True)
class Publication:
    """The columns, hierarchies and suppression to publish, whatever the recoding.

    Args:
        source: The table.
        columns: The published columns, in order, with a type where one is to be cast to.
        hierarchies: The hierarchy and the type of each quasi-identifier.
        suppressed: Which classes are suppressed; None where there are none.
        few: Columns of few labels, which records are sorted by the places of.
        label: What every cell of a suppressed record has, where a recoding says of single records
            which are suppressed; None where these are dropped.
        ordered: Whether the rows are sorted.
        population: The people that suppression looks at; None where it looks at none.
        carried: Columns that are published once more, as they are: their names there, and what
            they are called in the source.
    """

    source: exp.Table
    columns: Mapping[str, exp.DataType | None]
    hierarchies: Mapping[str, tuple[Hierarchy, exp.DataType]]
    suppressed: SuppressionQuery | None = None
    few: Collection[str] = ()
    label: str | None = None
    ordered: bool = True
    population: exp.Table | None = None
    carried: Mapping[str, str] = field(default_factory=dict)

    @property
    def carried_cells(self) -> list[Cell]:
        """The columns that are published once more."""
        return [
            (name(new), column(origin, "record"), None, None)
            for new, origin in self.carried.items()
        ]

    @property
    def sorted_by(self) -> list[Sql]:
        """All columns, whose order is deterministic and tells nothing that they do not; or none."""
        return names(self.columns) if self.ordered else []

    def recodes(self, levels: Iterable[Sequence[int]]) -> dict[str, Recode]:
        """How each quasi-identifier is recoded to levels of its hierarchy, ascending."""
        parts = zip(self.hierarchies.items(), levels, strict=True)
        return {
            attribute: recode(self.source, attribute, hierarchy=hierarchy, levels=at, kind=kind)
            for (attribute, (hierarchy, kind)), at in parts
        }

    def people(self, levels: Sequence[int]) -> dict[str, Recode]:
        """How the quasi-identifiers of the population are recoded; none where there is none."""
        if self.population is None:
            return {}
        # A population may have greater numbers than the type of the table holds.
        wider = {
            name: (hierarchy, _WIDEST if kind.this in _NARROW else kind)
            for name, (hierarchy, kind) in self.hierarchies.items()
        }
        theirs = replace(self, source=self.population, hierarchies=wider)
        return theirs.recodes((level,) for level in levels)


_NARROW = exp.DataType.INTEGER_TYPES - {
    getattr(exp.DataType.Type, name) for name in ("BIGINT", "UBIGINT", "INT128", "UINT128", "BIT")
}
_WIDEST = exp.DataType(this=exp.DataType.Type.BIGINT)

Cell: TypeAlias = "tuple[Sql, Fragment, Sql | None, Fragment | None]"
"""A published column: its name, its value, and when this gives way to which label, if to any."""


def label(at: int) -> str:
    """The column of a value's label at a level."""
    return f"label_{at}"


@dataclass(frozen=True, slots=True)
class Recode:
    """The recoding of one quasi-identifier to levels of its hierarchy.

    Args:
        name: The column.
        kind: Its type.
        levels: The levels of its records, ascending.
        constants: The labels of levels at which all values become one.
        rows: A query of `value` and its `label` at each varying level; None where there is none.
    """

    name: str
    kind: exp.DataType
    levels: tuple[int, ...]
    constants: Mapping[int, str]
    rows: Fragment | None

    @property
    def varying(self) -> list[int]:
        """The levels above 0 at which values have several labels."""
        return [at for at in self.levels if at and at not in self.constants]

    @property
    def constant(self) -> str | None:
        """The label that every value becomes, as at the top."""
        return self.constants.get(self.levels[0]) if len(self.levels) == 1 else None

    @property
    def relation(self) -> str:
        """The relation of the labels."""
        return f"{self.name} labels"

    def published(
        self, cast: exp.DataType | None, *, level: exp.Column | None = None, as_text: bool = False
    ) -> exp.Expr:
        """The value of a record, which depends on its level where there are several.

        Args:
            cast: The type that an original value is cast to, if any.
            level: The records' levels, where there are several.
            as_text: Whether an original value has to be text.
        """
        original = as_published(column(self.name, "record"), cast)
        if self.levels == (0,) and not as_text:
            return original
        texts = [(at, self._text(at, original)) for at in self.levels]
        if len(texts) == 1:
            return texts[0][1]
        ifs = [exp.If(this=exp.convert(at), true=text) for at, text in texts]
        return exp.Case(this=level, ifs=ifs)

    def _text(self, at: int, original: exp.Expr) -> exp.Expr:
        if at == 0:
            return text_of(original, self.kind)
        if at in self.constants:
            return varchar(exp.Literal.string(self.constants[at]))
        return column(label(at), self.relation)


def as_published(original: exp.Column, kind: exp.DataType | None) -> exp.Expr:
    """A value of the source; minus zero, which counts as zero, is published as zero."""
    if kind is None:
        return original
    if kind.this in exp.DataType.FLOAT_TYPES:
        return exp.cast(exp.Add(this=original, expression=exp.Literal.number("0.0")), kind)
    return exp.cast(original, kind)


def joined_labels(recodes: Mapping[str, Recode]) -> list[tuple[Sql, Sql, Fragment]]:
    """Labels that records are joined to: per column its name, the relation, and its rows."""
    return [
        (name(attribute), name(recode.relation), recode.rows)
        for attribute, recode in recodes.items()
        if recode.rows is not None
    ]


def recode(
    source: exp.Table, name: str, *, hierarchy: Hierarchy, levels: Sequence[int], kind: exp.DataType
) -> Recode:
    """The recoding of a column of a type to levels of its hierarchy, ascending.

    A rule is written as an expression over the values, so that no value of the table stands in the
    statement.
    """
    above = [at for at in levels if at]
    if hierarchy.rows is not None:
        top = hierarchy.rows[0][-1]
        constants = {at: str(top) for at in above if at == hierarchy.height}
        others = [at for at in above if at not in constants]
        if not others:
            return Recode(name, kind, tuple(levels), constants, None)
        listed: Fragment = listed_labels(hierarchy.rows, others, kind=kind)
        if hierarchy.others is not None:
            common = {label(at): hierarchy.others[at - 1] for at in others}
            listed = _with_unlisted(source, name, rows=listed, labels=common)
        return Recode(name, kind, tuple(levels), constants, listed)
    every = level_labels(hierarchy, column(VALUE), column_type=kind, name=name) if above else []
    labels = {at: every[at - 1] for at in above}
    constants = {at: str(text.this) for at, text in labels.items() if isinstance(text, exp.Literal)}
    varying = [alias(text, label(at)) for at, text in labels.items() if at not in constants]
    values = nested(distinct_values(source, name), "held")
    rows = select([column(VALUE), *varying], values) if varying else None
    return Recode(name, kind, tuple(levels), constants, rows)


def recode_by_map(name: str, groups: ColumnMap, *, kind: exp.DataType) -> Recode:
    """The recoding of a column to groups of its values; those that stay keep their type.

    Otherwise every value is listed with its label: a group of any values has no other name.
    """
    if groups.is_original:
        return Recode(name, kind, (0,), {}, None)
    if len(groups.groups) == 1:
        return Recode(name, kind, (1,), {1: str(groups.groups[0].label)}, None)
    rows = [(value, group.label) for group in groups.groups for value in group.values]
    return Recode(name, kind, (1,), {}, listed_labels(rows, [1], kind=kind))


def listed_labels(
    rows: Sequence[Sequence[str | None]], levels: Sequence[int], *, kind: exp.DataType
) -> Sql:
    """The labels that explicit rows list: rows of `value` and a `label` of each level."""
    kept = [(row[0], *(row[at] for at in levels)) for row in rows]
    if all(row[0] is not None for row in kept):
        kept.append((None,) * (len(levels) + 1))
    labels = list(map(label, levels))
    listed = exp.values(
        [tuple(map(exp.convert, row)) for row in kept], alias="listed", columns=[LEAF, *labels]
    )
    return values_of(listed, kind, carried=labels)


def _with_unlisted(
    source: exp.Table, attribute: str, *, rows: Fragment, labels: Mapping[str, str]
) -> Sql:
    """The labels that are listed, and those that all other values of the column have in common.

    The statement names none of these values.
    """
    return render(
        "publish/with_unlisted",
        source=source,
        column=name(attribute),
        listed_labels=rows,
        labels=[(name(label_column), value(text)) for label_column, text in labels.items()],
    )


def create_table(target: exp.Table, rows: exp.Query) -> exp.Create:
    """CREATE TABLE target AS the rows."""
    return exp.Create(this=target, kind="TABLE", expression=rows)
