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
from sqlanon.query.classes.frequency import level
from sqlanon.query.encoding.encode import SIZE
from sqlanon.query.publish.recode import (
    RECORD,
    Labelled,
    as_published,
    constant_text,
    labelled,
    labels_of,
)
from sqlanon.query.syntax import column
from sqlanon.query.text import text_of
from sqlanon.recoding import Clusters
from sqlanon.regions import Regions
from sqlanon.sqltext import Fragment, Sql, name, names, render, value

UNIT = "sqlanon_unit"
POSITION = "sqlanon_position"
FIRST, LAST = "first", "last"
NODE = "node"
SUPPRESSED = -1
"""In place of each level of a record that is published with every cell suppressed."""


def label(at: int) -> str:
    """The column of a value's label at a level."""
    return f"label_{at}"


def free(wanted: str, taken: Iterable[str]) -> str:
    """The name of a column of ours that none of the table's has, whatever case it is spelt in."""
    others = {other.lower() for other in taken}
    while wanted.lower() in others:
        wanted += "_"
    return wanted


def units(source: exp.Table, by: Sequence[str]) -> Sql:
    """One row per unit, as `by` tells them: values, SIZE [records], UNIT (from 0, in their order).

    Both of these under a `free` name.
    """
    return render(
        "publish/units",
        source=source,
        by=names(by),
        unit=name(free(UNIT, by)),
        size=name(free(SIZE, by)),
    )


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

    def published(self, original: exp.Expr) -> tuple[list[tuple[int, Fragment]], Fragment]:
        """The text of a record at each level where these differ, and else its value."""
        if self.levels == (0,) and self.suppressed is None:
            return [], original
        texts: list[tuple[int, Fragment]] = [(at, self._text(at, original)) for at in self.levels]
        if self.suppressed is not None:
            return [*texts, (SUPPRESSED, value(self.suppressed))], original
        return ([], texts[0][1]) if len(texts) == 1 else (texts, original)

    def _text(self, at: int, original: exp.Expr) -> exp.Expr:
        if at == 0:
            return text_of(original, self.kind)
        constant = self.labels.constants.get(at)
        if constant is None:
            return column(label(at), labels_of(self.name))
        return constant_text(constant)


def local_recodes(
    source: exp.Table,
    hierarchies: Mapping[str, tuple[Hierarchy, exp.DataType]],
    recoding: Clusters | Regions,
    *,
    suppressed: str | None,
) -> dict[str, LocalRecode]:
    """How each quasi-identifier is recoded; arguments as of `published`."""
    recodes = {}
    parts = zip(hierarchies.items(), recoding.levels, strict=True)
    for number, ((own, (hierarchy, kind)), levels) in enumerate(parts):
        above = {at: label(at) for at in levels if at}
        labels = labelled(source, own, hierarchy=hierarchy, levels=above, column_type=kind)
        recodes[own] = LocalRecode(own, number, levels, labels, kind, suppressed)
    return recodes


def recoded(
    columns: Mapping[str, exp.DataType | None], recodes: Mapping[str, LocalRecode]
) -> list[tuple[Sql, Sql, list[tuple[int, Fragment]], Fragment]]:
    """Columns for the macro `published_columns`: name, level, texts, value; see `published`."""
    result = []
    for own, kind in columns.items():
        original, recode = as_published(column(own, RECORD), kind), recodes.get(own)
        texts, else_ = ([], original) if recode is None else recode.published(original)
        place = name(level(recode.number if recode is not None else 0))
        result.append((name(own), place, texts, else_))
    return result


def assigned(recoding: Clusters, *, every: bool = False) -> Sql:
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


def nodes(recoding: Clusters | Regions, *, every: bool = False) -> Sql:
    """The nodes of the published runs as rows of NODE and a `level` per quasi-identifier.

    They are few: their levels are written once, not with every run. With `every`, suppressed
    records have a node, too, whose levels are all SUPPRESSED.
    """
    width = len(recoding.published[0])
    above = (SUPPRESSED,) * width if every else None
    numbered = enumerate(above if node is None else node for node in recoding.nodes)
    rows = (":".join(map(str, (number, *node))) for number, node in numbered if node is not None)
    return listed_numbers(rows, [NODE, *(level(n) for n in range(width))])


def listed_numbers(rows: Iterable[str], columns: Sequence[str]) -> Sql:
    """Rows of whole numbers, parted by colons."""
    return render(
        "publish/listed_numbers",
        rows=value(" ".join(rows)),
        columns=list(enumerate(names(columns), start=1)),
    )


def published(
    source: exp.Table,
    columns: Mapping[str, exp.DataType | None],
    *,
    hierarchies: Mapping[str, tuple[Hierarchy, exp.DataType]],
    recoding: Clusters,
    suppressed: str | None = None,
    ordered: bool = True,
) -> Sql:
    """The rows to publish: recoded one by one, in an order that tells nothing.

    Arguments as of `recode.published`, with the hierarchy and the type of each quasi-identifier;
    `suppressed` is the label of suppressed records, which are dropped without one.
    """
    kept = suppressed if None in recoding.nodes else None
    recodes = local_recodes(source, hierarchies, recoding, suppressed=kept)
    by = list(dict.fromkeys([*recodes, *recoding.by]))
    needed = list(dict.fromkeys([*by, *columns]))
    unit = free(UNIT, needed)
    return render(
        "publish/clusters",
        source=source,
        by=names(by),
        needed=names(needed),
        unit=name(unit),
        position=name(free(POSITION, needed)),
        order=names([own for own in columns if own not in by] or [unit]),
        assigned=assigned(recoding, every=kept is not None),
        nodes=nodes(recoding, every=kept is not None),
        labels=[
            (name(own), name(labels_of(own)), each.labels.rows)
            for own, each in recodes.items()
            if each.labels.rows is not None
        ],
        published=recoded(columns, recodes),
        sorted_by=names(columns) if ordered else [],
    )
