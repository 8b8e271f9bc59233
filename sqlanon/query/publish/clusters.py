"""Local recoding: distinct combinations, and the statement that recodes records one by one.

Records that are alike in all that a search looks at are a unit. Units are numbered in the order of
their values, records within a unit by what else is published of them, so a recoding names records
without holding a value of the table, and the statement finds them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.arithmetic import minus, number, over
from sqlanon.query.classes.frequency import level
from sqlanon.query.encoding.encode import SIZE, same_columns
from sqlanon.query.publish.recode import (
    RECORD,
    Labelled,
    as_published,
    constant_text,
    labelled,
    labels_of,
    with_labels,
)
from sqlanon.query.syntax import (
    alias,
    bigint,
    column,
    count_all,
    named,
    nested,
    select,
    star,
    table,
)
from sqlanon.query.text import text_of
from sqlanon.recoding import Clusters
from sqlanon.regions import Regions

UNIT = "sqlanon_unit"
POSITION = "sqlanon_position"
FIRST, LAST = "first", "last"
ASSIGNED = "sqlanon_assigned"
NODES = "sqlanon_nodes"
NODE = "node"
SUPPRESSED = -1
"""In place of each level of a record that is published with every cell suppressed."""
RECORDS = "sqlanon_records"
_RUN = "run"


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
    """One row per unit, as `by` tells them: values, UNIT (from 0, in their order), SIZE [records].

    Both of these under a `free` name.
    """
    values = [column(name) for name in by]
    grouped = select([*values, alias(bigint(count_all()), free(SIZE, by))], source, by=values)
    unit = _numbered(exp.RowNumber(), by, name=free(UNIT, by))
    return select([star(), unit], nested(grouped, "grouped"))


@dataclass(frozen=True, slots=True)
class LocalRecode:
    """The recoding of one quasi-identifier to a level of each record's own.

    Args:
        name: The column.
        number: Its place among the quasi-identifiers.
        levels: The levels of its records, ascending.
        labels: Its labels at those above 0, where they differ in columns called `label`.
        kind: Its type.
        suppressed: What a suppressed record has; None where none is published.
    """

    name: str
    number: int
    levels: tuple[int, ...]
    labels: Labelled
    kind: exp.DataType
    suppressed: str | None = None

    def published(self, original: exp.Expr) -> exp.Expr:
        """The published value of a record, of its original."""
        if self.levels == (0,) and self.suppressed is None:
            return original
        texts = {at: self._text(at, original) for at in self.levels}
        if self.suppressed is not None:
            texts[SUPPRESSED] = exp.Literal.string(self.suppressed)
        elif len(texts) == 1:
            return texts[self.levels[0]]
        ifs = [exp.If(this=number(at), true=text) for at, text in texts.items()]
        return exp.Case(this=column(level(self.number), NODES), ifs=ifs)

    def _text(self, at: int, original: exp.Expr) -> exp.Expr:
        if at == 0:
            return text_of(original, self.kind)
        constant = self.labels.constants.get(at)
        if constant is None:
            return column(label(at), labels_of(self.name))
        return constant_text(constant)


def assigned(recoding: Clusters, *, every: bool = False) -> exp.Select:
    """The published runs as rows of UNIT, FIRST, LAST and the number of their NODE.

    FIRST and LAST are positions within the unit, from 0. With `every`, suppressed ones, too.
    """
    return listed_numbers(_ranges(recoding, every=every), [UNIT, FIRST, LAST, NODE])


def _ranges(recoding: Clusters, *, every: bool) -> Iterator[str]:
    before, first = -1, 0
    for unit, records, node in recoding.runs:
        if unit != before:
            before, first = unit, 0
        if every or recoding.nodes[node] is not None:
            yield f"{unit}:{first}:{first + records - 1}:{node}"
        first += records


def nodes(recoding: Clusters | Regions, *, every: bool = False) -> exp.Select:
    """The nodes of the published runs as rows of NODE and a `level` per quasi-identifier.

    They are few: their levels are written once, not with every run. With `every`, suppressed
    records have a node, too, whose levels are all SUPPRESSED.
    """
    width = len(recoding.published[0])
    above = (SUPPRESSED,) * width if every else None
    numbered = enumerate(above if node is None else node for node in recoding.nodes)
    rows = (":".join(map(str, (number, *node))) for number, node in numbered if node is not None)
    return listed_numbers(rows, [NODE, *(level(n) for n in range(width))])


def listed_numbers(rows: Iterable[str], names: Sequence[str]) -> exp.Select:
    """Rows of whole numbers, parted by colons.

    They travel as one text: a literal for each number would be most of the statement.
    """
    text = exp.Literal.string(" ".join(rows))
    split = exp.Split(this=text, expression=exp.Literal.string(" "))
    parted = exp.Select(expressions=[alias(exp.Explode(this=split), _RUN)])
    colon = exp.Literal.string(":")
    parts = [
        exp.SplitPart(this=column(_RUN), delimiter=colon, part_index=number(place))
        for place in range(1, len(names) + 1)
    ]
    figures = [alias(bigint(part), name) for part, name in zip(parts, names, strict=True)]
    return select(figures, nested(parted, "runs"))


def published(
    source: exp.Table,
    columns: Mapping[str, exp.DataType | None],
    *,
    hierarchies: Mapping[str, tuple[Hierarchy, exp.DataType]],
    recoding: Clusters,
    suppressed: str | None = None,
) -> exp.Select:
    """The rows to publish: recoded one by one, in an order that tells nothing.

    Arguments as of `recode.published`, with the hierarchy and the type of each quasi-identifier;
    `suppressed` is the label of suppressed records, which are dropped without one.
    """
    label_kept = suppressed if None in recoding.nodes else None
    keeps, own = label_kept is not None, dict[str, LocalRecode]()
    for (name, (hierarchy, kind)), levels in zip(hierarchies.items(), recoding.levels, strict=True):
        labels = labelled(
            source,
            name,
            hierarchy=hierarchy,
            levels={at: label(at) for at in levels if at},
            column_type=kind,
        )
        own[name] = LocalRecode(name, len(own), levels, labels, kind, label_kept)
    values = {name: as_published(column(name, RECORD), kind) for name, kind in columns.items()}
    values |= {name: own[name].published(values[name]) for name in own if name in values}
    by = list(dict.fromkeys([*own, *recoding.by]))
    needed = list(dict.fromkeys([*by, *columns]))
    figures = [alias(value, name) for name, value in values.items()]
    query = select(figures, named(table(RECORDS), RECORD))
    query.join(table(ASSIGNED), on=_own_run(needed), copy=False)
    query.join(table(NODES), on=same_columns(ASSIGNED, NODES, names=[NODE]), copy=False)
    with_labels(query, {name: item.labels.rows for name, item in own.items()})
    order = [name for name in columns if name not in by]
    parts = {
        RECORDS: _placed(source, needed, by=by, order=order),
        ASSIGNED: assigned(recoding, every=keeps),
        NODES: nodes(recoding, every=keeps),
    }
    for name, part in parts.items():
        query.with_(exp.Identifier(this=name, quoted=True), as_=part, copy=False)
    return query.order_by(*(exp.Ordered(this=column(name)) for name in columns), copy=False)


def _own_run(needed: Sequence[str]) -> exp.Expr:
    unit = exp.EQ(this=column(free(UNIT, needed), RECORD), expression=column(UNIT, ASSIGNED))
    within = exp.Between(
        this=column(free(POSITION, needed), RECORD),
        low=column(FIRST, ASSIGNED),
        high=column(LAST, ASSIGNED),
    )
    return exp.and_(unit, within)


def _placed(
    source: exp.Table, needed: Sequence[str], *, by: Sequence[str], order: Sequence[str]
) -> exp.Select:
    """The records with their UNIT, and their POSITION within it by what else is published."""
    own, within = free(UNIT, needed), free(POSITION, needed)
    held = [column(name) for name in needed]
    units = select([*held, _numbered(exp.DenseRank(), by, name=own)], source)
    position = _numbered(exp.RowNumber(), order or [own], name=within, within=[own])
    return select([star(), position], nested(units, "numbered"))


def _numbered(
    function: exp.Expr, by: Sequence[str], *, name: str, within: Sequence[str] = ()
) -> exp.Expr:
    """A window's number, from 0."""
    order = [exp.Ordered(this=column(each)) for each in by]
    place = over(function, [column(each) for each in within], order=order)
    return alias(bigint(minus(place, number(1))), name)
