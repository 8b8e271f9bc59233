"""Recode: the statement that publishes a table, for any engine that speaks SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.encoding.encode import (
    LEAF,
    SIZE,
    VALUE,
    distinct_values,
    same_value,
    values_of,
)
from sqlanon.query.hierarchy.value_labels import level_labels
from sqlanon.query.publish.suppression import SuppressionQuery, is_published, is_suppressed
from sqlanon.query.syntax import (
    alias,
    bigint,
    column,
    count_all,
    named,
    nested,
    select,
    table,
    when,
)
from sqlanon.query.text import text_of, varchar
from sqlanon.sqltext import Sql, Statement, expression

LABEL = "label"
RECORD = "record"
SMALL = "small"
_MARK = "is_listed"


@dataclass(frozen=True, slots=True)
class Recode:
    """The recoding of one quasi-identifier: each of its values has one label.

    Args:
        name: The column.
        constant: The label that every value becomes, as at the top.
        labels: A query of `value` and `label`, where values have several; None for the original
            values.
    """

    name: str
    constant: str | None = None
    labels: exp.Select | None = None

    def published(self, kind: exp.DataType | None = None) -> exp.Expr:
        """The published value of a record of the source, an original one cast to a type."""
        if self.labels is not None:
            return column(LABEL, labels_of(self.name))
        if self.constant is not None:
            return constant_text(self.constant)
        return as_published(column(self.name, RECORD), kind)

    def text(self, value: exp.Expr, kind: exp.DataType | None) -> exp.Expr:
        """A published value of a record as text, an original one of a type."""
        is_original = self.labels is None and self.constant is None
        return text_of(value, kind) if is_original and kind is not None else varchar(value)


def recode(
    source: exp.Table, name: str, *, hierarchy: Hierarchy, level: int, column_type: exp.DataType
) -> Recode:
    """The recoding of a column to a level of its hierarchy, in [0, height].

    A rule is written as an expression over the values, so that no value of the table stands in the
    statement.
    """
    if level == 0:
        return Recode(name)
    found = labelled(
        source, name, hierarchy=hierarchy, levels={level: LABEL}, column_type=column_type
    )
    return Recode(name, found.constants.get(level), found.rows)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Generalized values of a column at some levels of its hierarchy.

    Args:
        constants: Levels at which all values become one label.
        rows: A query of `value` and a column of labels for each other level; None where there is
            none.
    """

    constants: Mapping[int, str]
    rows: exp.Select | None


def labelled(
    source: exp.Table,
    name: str,
    *,
    hierarchy: Hierarchy,
    levels: Mapping[int, str],
    column_type: exp.DataType,
) -> Labelled:
    """Generalized values of a column at levels above the leaves, in columns of the given names."""
    if hierarchy.rows is not None:
        top = {hierarchy.height: hierarchy.rows[0][-1]} if hierarchy.height in levels else {}
        others = {at: own for at, own in levels.items() if at not in top}
        rows = listed_labels(hierarchy.rows, others, column_type=column_type) if others else None
        if rows is not None and hierarchy.others is not None:
            common = {own: hierarchy.others[at - 1] for at, own in others.items()}
            rows = _with_unlisted(source, name, rows=rows, labels=common)
        return Labelled({at: str(text) for at, text in top.items()}, rows)
    every = level_labels(hierarchy, column(VALUE), column_type=column_type, name=name)
    labels = {at: every[at - 1] for at in levels}
    constants = {at: own.this for at, own in labels.items() if isinstance(own, exp.Literal)}
    varying = [alias(own, levels[at]) for at, own in labels.items() if at not in constants]
    if not varying:
        return Labelled(constants, None)
    values = nested(distinct_values(source, name), "held")
    return Labelled(constants, select([column(VALUE), *varying], values))


def listed_labels(
    rows: Sequence[Sequence[str | None]], levels: Mapping[int, str], *, column_type: exp.DataType
) -> exp.Select:
    """The labels that explicit rows list: rows of `value` and a column for each level named."""
    kept = [(row[0], *(row[at] for at in levels)) for row in rows]
    if all(row[0] is not None for row in kept):
        kept.append((None,) * (len(levels) + 1))
    names = list(levels.values())
    listed = exp.values(
        [tuple(map(exp.convert, row)) for row in kept], alias="listed", columns=[LEAF, *names]
    )
    return values_of(listed, column_type, carried=names)


def _with_unlisted(
    source: exp.Table, name: str, *, rows: exp.Select, labels: Mapping[str, str]
) -> exp.Select:
    """The labels that are listed, and those that all other values of the column have in common.

    The statement names none of these values.
    """
    value = column(VALUE, "held")
    same = same_value(value, column(VALUE, "known"), nullable=True)
    listed = [column(VALUE), *map(column, labels), alias(exp.true(), _MARK)]
    marked = nested(select(listed, nested(rows, "listed")), "known")
    is_other = exp.and_(column(_MARK, "known").is_(exp.null()), value.is_(exp.null()).not_())
    figures = [
        alias(when(is_other, exp.Literal.string(text), default=column(own, "known")), own)
        for own, text in labels.items()
    ]
    query = select([value, *figures], nested(distinct_values(source, name), "held"))
    return query.join(marked, on=same, join_type="left", copy=False)


def constant_text(text: str) -> exp.Expr:
    """A label that all values become."""
    return varchar(exp.Literal.string(text))


def published(
    source: exp.Table,
    columns: Mapping[str, exp.DataType | None],
    *,
    recodes: Mapping[str, Recode],
    suppressed: SuppressionQuery | None,
    ordered: bool = True,
) -> exp.Select:
    """The rows to publish: generalized, without suppressed classes, in an order that tells nothing.

    Sorting by every published column is deterministic, and tells nothing that the columns do not.
    Columns come in order, with a type where one is to be cast to.
    """
    query = generalized(source, recodes)
    values = {
        name: recodes.get(name, Recode(name)).published(kind) for name, kind in columns.items()
    }
    if suppressed is not None:
        query = with_suppressed(query, source, recodes=recodes, suppressed=suppressed)
        if suppressed.label is not None:
            gone, label = is_suppressed(SMALL), exp.Literal.string(suppressed.label)
            texts = {n: item.text(values[n], columns.get(n)) for n, item in recodes.items()}
            values |= {n: when(gone, label, default=text) for n, text in texts.items()}
    query.select(*(alias(value, name) for name, value in values.items()), copy=False)
    if not ordered:
        return query
    return query.order_by(*(exp.Ordered(this=column(name)) for name in columns), copy=False)


def with_suppressed(
    query: exp.Select,
    source: exp.Table,
    *,
    recodes: Mapping[str, Recode],
    suppressed: SuppressionQuery,
) -> exp.Select:
    """The query joined to the suppressed classes, or without these where they are dropped.

    It is the query given that is changed, as the builders of sqlglot do.
    """
    # A column with one label tells no classes apart, unless there is no other.
    varying = [item for item in recodes.values() if item.constant is None]
    parts = {
        f"key_{place}": item.published()
        for place, item in enumerate(varying or list(recodes.values())[:1])
    }
    carried = {value_of(n): column(name, RECORD) for n, name in enumerate(suppressed.sensitive)}
    if suppressed.entity is not None:
        carried[ENTITY] = column(suppressed.entity, RECORD)
    grouped = {**parts, **carried}
    details = (
        generalized(source, recodes)
        .select(*(alias(value, name) for name, value in grouped.items()), copy=False)
        .select(alias(bigint(count_all()), SIZE), copy=False)
        .group_by(*grouped.values(), copy=False)
    )
    statements = suppressed.statements(details, list(parts))
    for name, statement in statements:
        query.with_(exp.to_identifier(name, quoted=True), as_=statement, copy=False)
    same = [same_value(column(key, SMALL), value, nullable=True) for key, value in parts.items()]
    last = named(table(statements[-1][0]), SMALL)
    query.join(last, on=exp.and_(*same, copy=False), join_type="left", copy=False)
    return query.where(is_published(SMALL), copy=False) if suppressed.label is None else query


def as_published(value: exp.Column, kind: exp.DataType | None) -> exp.Expr:
    """A value of the source; minus zero, which counts as zero, is published as zero."""
    if kind is None:
        return value
    if kind.this in exp.DataType.FLOAT_TYPES:
        return exp.cast(exp.Add(this=value, expression=exp.Literal.number("0.0")), kind)
    return exp.cast(value, kind)


def generalized(source: exp.Table, recodes: Mapping[str, Recode]) -> exp.Select:
    """The records of a table, each joined to its labels."""
    query = exp.Select().from_(named(source, RECORD))
    return with_labels(query, {item.name: item.labels for item in recodes.values()})


def with_labels(query: exp.Select, labels: Mapping[str, exp.Select | None]) -> exp.Select:
    """The query of records, changed to join each to its labels, by column."""
    for name, rows in labels.items():
        if rows is not None:
            relation = labels_of(name)
            same = same_value(column(name, RECORD), column(VALUE, relation), nullable=True)
            query.join(nested(rows, relation), on=same, copy=False)
    return query


def labels_of(name: str) -> str:
    """The relation of a column's labels."""
    return f"{name} labels"


def create_table(target: exp.Table, rows: Statement, *, temporary: bool = False) -> Statement:
    """CREATE TABLE target AS the rows."""
    if isinstance(rows, Sql):
        return expression(
            "CREATE {% if temporary %}TEMPORARY {% endif %}TABLE {{ target }} AS {{ rows }}",
            target=target,
            rows=rows,
            temporary=temporary,
        )
    properties = exp.Properties(expressions=[exp.TemporaryProperty()]) if temporary else None
    return exp.Create(this=target, kind="TABLE", expression=rows, properties=properties)


def rename_table(table: exp.Table, name: str) -> exp.Alter:
    """ALTER TABLE table RENAME TO name."""
    return exp.Alter(
        this=table,
        kind="TABLE",
        actions=[exp.AlterRename(this=exp.Table(this=exp.to_identifier(name, quoted=True)))],
    )
