"""Local recoding: units of alike records, and the statement that recodes them one by one.

Records that are alike in all that a search looks at are a unit. Units are numbered in the order of
their values, records within a unit by what else is published of them, so a recoding names records
without holding a value of the table, and the statement finds them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.hierarchy import Hierarchy
from sqlanon.query.encode import LEAF, SIZE, VALUE, same_value, values_of
from sqlanon.query.labels import level_labels
from sqlanon.query.names import alias, bigint, column, count_all, named, nested, table
from sqlanon.recoding import Node, Run

UNIT = "sqlanon_unit"
POSITION = "sqlanon_position"
FIRST, LAST = "first", "last"
ASSIGNED = "sqlanon_assigned"
NODES = "sqlanon_nodes"
NODE = "node"
RECORDS = "sqlanon_records"
RECORD = "record"
_RUN = "run"


def level(number: int) -> str:
    """The column of a run's level of a quasi-identifier."""
    return f"level_{number}"


def label(at: int) -> str:
    """The column of a value's label at a level."""
    return f"label_{at}"


def free(name: str, taken: Iterable[str]) -> str:
    """The name of a column of ours that none of the table's has, whatever case it is spelt in."""
    others = {other.lower() for other in taken}
    while name.lower() in others:
        name += "_"
    return name


def units(source: exp.Table, by: Sequence[str]) -> exp.Select:
    """One row per unit: its values, UNIT (from 0, in their order) and SIZE [records].

    Both of these under a `free` name.

    Args:
        source: The table.
        by: The columns that tell units apart.
    """
    values = [column(name) for name in by]
    size = alias(bigint(count_all()), free(SIZE, by))
    grouped = exp.select(*values, size).from_(source.copy())
    grouped = grouped.group_by(*(value.copy() for value in values))
    unit = _numbered(exp.RowNumber(), by, free(UNIT, by))
    return exp.Select(expressions=[exp.Star(), unit]).from_(nested(grouped, "grouped"), copy=False)


@dataclass(frozen=True, slots=True)
class LocalRecode:
    """How one quasi-identifier is published, at a level of each record's own.

    Args:
        name: The column.
        lowest: The lowest level of any record.
        highest: The highest level of any record.
        labels: A query of VALUE and a `label` per level from 1 on, in the order of the levels.
        number: Its place among the quasi-identifiers.
    """

    name: str
    lowest: int
    highest: int
    labels: exp.Select
    number: int

    @property
    def is_original(self) -> bool:
        """Whether all values stay as they are."""
        return self.highest == 0

    def published(self, original: exp.Expr) -> exp.Expr:
        """The published value of a record, of its original."""
        if self.is_original:
            return original
        relation = f"{self.name} labels"
        text = exp.cast(original, exp.DataType.Type.VARCHAR)
        ifs = [
            exp.If(
                this=exp.Literal.number(at),
                true=text if at == 0 else column(label(at), relation),
            )
            for at in range(self.lowest, self.highest + 1)
        ]
        return exp.Case(this=column(level(self.number), NODES), ifs=ifs)


def local_labels(
    source: exp.Table, name: str, hierarchy: Hierarchy, column_type: exp.DataType
) -> exp.Select:
    """The labels of a column's values at every level above the leaves.

    Args:
        source: The table.
        name: The column.
        hierarchy: Explicit rows, or a rule that is written as expressions over the values.
        column_type: The column's type.

    Returns:
        Rows of VALUE and `label(1)` to the label of the top.
    """
    names = [label(at) for at in range(1, hierarchy.height + 1)]
    if hierarchy.rows is not None:
        rows = list(hierarchy.rows)
        if all(row[0] is not None for row in rows):
            rows.append((*(None,) * hierarchy.height, rows[0][-1]))
        listed = exp.values(
            [tuple(map(_text, row)) for row in rows], alias="listed", columns=[LEAF, *names]
        )
        return values_of(listed, column_type, names)
    labels = level_labels(hierarchy, column(VALUE), column_type.sql("duckdb"), name=name)
    held = exp.select(alias(column(name), VALUE)).distinct().from_(source.copy()).subquery("held")
    named_labels = [alias(part, own) for part, own in zip(labels, names, strict=True)]
    return exp.select(column(VALUE), *named_labels).from_(held)


def _text(value: str | None) -> exp.Expr:
    return exp.null() if value is None else exp.Literal.string(value)


def assigned(runs: Sequence[Run]) -> exp.Select:
    """The published runs as rows of UNIT, FIRST, LAST and the number of their NODE."""
    place = _numbers(runs)
    rows = [
        (run.unit, run.first, run.last, place[run.node]) for run in runs if run.node is not None
    ]
    return _listed(rows, [UNIT, FIRST, LAST, NODE])


def nodes(runs: Sequence[Run]) -> exp.Select:
    """The nodes of the published runs as rows of NODE and a `level` per quasi-identifier.

    They are few: their levels are written once, not with every run.
    """
    place = _numbers(runs)
    width = len(next(iter(place), ()))
    rows = ((number, *node) for node, number in place.items())
    return _listed(rows, [NODE, *(level(n) for n in range(width))])


def _numbers(runs: Sequence[Run]) -> dict[Node, int]:
    found = dict.fromkeys(run.node for run in runs if run.node is not None)
    return {node: number for number, node in enumerate(found)}


def _listed(rows: Iterable[tuple[int, ...]], names: Sequence[str]) -> exp.Select:
    """Rows of whole numbers.

    They travel as one text: a literal for each number would be most of the statement.
    """
    text = " ".join(":".join(map(str, row)) for row in rows)
    split = exp.Split(this=exp.Literal.string(text), expression=exp.Literal.string(" "))
    parted = exp.Select(expressions=[alias(exp.Explode(this=split), _RUN)])
    parts = [
        alias(
            bigint(
                exp.SplitPart(
                    this=column(_RUN),
                    delimiter=exp.Literal.string(":"),
                    part_index=exp.Literal.number(place),
                )
            ),
            name,
        )
        for place, name in enumerate(names, start=1)
    ]
    return exp.Select(expressions=parts).from_(nested(parted, "runs"), copy=False)


def published(
    source: exp.Table,
    columns: Mapping[str, exp.Expr],
    recodes: Mapping[str, LocalRecode],
    by: Sequence[str],
    runs: Sequence[Run],
) -> exp.Select:
    """The rows to publish: recoded one by one, in an order that tells nothing.

    Args:
        source: The table.
        columns: The published columns, in order, as expressions over a record of the source.
        recodes: How each quasi-identifier is published.
        by: The columns that tell units apart, quasi-identifiers first.
        runs: The recoding.
    """
    values = {
        name: recodes[name].published(value) if name in recodes else value
        for name, value in columns.items()
    }
    needed = list(dict.fromkeys([*by, *columns]))
    query = (
        exp.select(*(alias(value, name) for name, value in values.items()))
        .from_(named(table(RECORDS), RECORD))
        .join(table(ASSIGNED), on=_own_run(needed))
        .join(table(NODES), on=exp.EQ(this=column(NODE, ASSIGNED), expression=column(NODE, NODES)))
    )
    for item in recodes.values():
        if not item.is_original:
            relation = f"{item.name} labels"
            same = same_value(column(item.name, RECORD), column(VALUE, relation), nullable=True)
            query = query.join(nested(item.labels.copy(), relation), on=same)
    order = [name for name in columns if name not in by]
    query = query.with_(_quoted(RECORDS), as_=_placed(source, needed, by, order))
    query = query.with_(_quoted(ASSIGNED), as_=assigned(runs))
    query = query.with_(_quoted(NODES), as_=nodes(runs))
    return query.order_by(*(exp.Ordered(this=column(name)) for name in columns))


def _own_run(needed: Sequence[str]) -> exp.Expr:
    unit = exp.EQ(this=column(free(UNIT, needed), RECORD), expression=column(UNIT, ASSIGNED))
    within = exp.Between(
        this=column(free(POSITION, needed), RECORD),
        low=column(FIRST, ASSIGNED),
        high=column(LAST, ASSIGNED),
    )
    return exp.and_(unit, within)


def _placed(
    source: exp.Table, needed: Sequence[str], by: Sequence[str], order: Sequence[str]
) -> exp.Select:
    """The records with their UNIT, and their POSITION within it by what else is published."""
    unit = _numbered(exp.DenseRank(), by, free(UNIT, needed))
    within = free(POSITION, needed)
    position = _numbered(exp.RowNumber(), order or by[:1], within, within=by)
    held = [column(name) for name in needed]
    return exp.Select(expressions=[*held, unit, position]).from_(source.copy(), copy=False)


def _numbered(
    function: exp.Expr, by: Sequence[str], name: str, *, within: Sequence[str] = ()
) -> exp.Expr:
    """A window's number, from 0."""
    window = exp.Window(
        this=function,
        partition_by=[column(each) for each in within],
        order=exp.Order(expressions=[exp.Ordered(this=column(each)) for each in by]),
    )
    return alias(bigint(exp.Sub(this=window, expression=exp.Literal.number(1))), name)


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
