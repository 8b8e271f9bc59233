"""Regions: the statement that recodes all records of a combination of values alike.

A value is known by its place among those of its column, a combination by the places of its values,
so neither a recoding nor its statement holds a value of the table. A combination's run is the last
that begins at or before it, which every engine finds in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.arithmetic import minus, number, over, plus, times
from sqlanon.query.encoding.encode import VALUE, distinct_values, same_columns, same_value
from sqlanon.query.publish.clusters import (
    ASSIGNED,
    FIRST,
    NODE,
    NODES,
    UNIT,
    LocalRecode,
    label,
    listed_numbers,
    nodes,
)
from sqlanon.query.publish.recode import RECORD, Labelled, as_published, labelled, labels_of
from sqlanon.query.syntax import added, alias, bigint, column, named, nested, select, table
from sqlanon.regions import Regions

PLACE = "sqlanon_place"
_RUNS, _UNITS, _LATEST = "sqlanon_runs", "sqlanon_units", "sqlanon_latest"
_WIDEST = 2**62


def key(number: int) -> str:
    """The column of a number of a combination's places."""
    return f"sqlanon_key_{number}"


def factors(values: Sequence[int]) -> list[tuple[int, int]]:
    """Per column the number that its place goes into, and what it is multiplied by there.

    Columns of many values count least: combinations that follow each other then differ where nodes
    hold many values, so that fewer runs go to different nodes.

    Args:
        values: Distinct values of each column.
    """
    order = sorted(range(len(values)), key=lambda place: (values[place], place))
    words, room = [list[int]()], 1
    for place in order:
        if room * values[place] >= _WIDEST:
            words.append([])
            room = 1
        words[-1].append(place)
        room *= values[place]
    found: dict[int, tuple[int, int]] = {}
    for word, places_ in enumerate(words):
        factor = 1
        for place in reversed(places_):
            found[place] = (word, factor)
            factor *= values[place]
    return [found[place] for place in range(len(values))]


def places(source: exp.Table, name: str) -> exp.Select:
    """The distinct values of a column in their order: rows of VALUE and PLACE, from 0."""
    order = [exp.Ordered(this=column(VALUE))]
    place = alias(bigint(minus(over(exp.RowNumber(), order=order), number(1))), PLACE)
    return select([column(VALUE), place], nested(distinct_values(source, name), "held"))


def published(
    source: exp.Table,
    columns: Mapping[str, exp.DataType | None],
    *,
    hierarchies: Mapping[str, tuple[Hierarchy, exp.DataType]],
    recoding: Regions,
    suppressed: str | None = None,
) -> exp.Select:
    """The rows to publish, in an order that tells nothing; arguments as of `clusters.published`."""
    kept = suppressed if None in recoding.nodes else None
    keyed = _Keyed(source, hierarchies, recoding, kept)
    values = {name: as_published(column(name, RECORD), kind) for name, kind in columns.items()}
    values |= {
        name: own.published(values[name]) for name, own in keyed.recodes().items() if name in values
    }
    query = keyed.records([alias(value, name) for name, value in values.items()])
    same = [
        exp.EQ(this=column(key(word), ASSIGNED), expression=own)
        for word, own in enumerate(keyed.keys())
    ]
    query.join(table(ASSIGNED), on=exp.and_(*same, copy=False), copy=False)
    query.join(table(NODES), on=same_columns(ASSIGNED, NODES, names=[NODE]), copy=False)
    parts = {**keyed.values(), **keyed.assigned(), NODES: nodes(recoding, every=kept is not None)}
    for name, part in parts.items():
        query.with_(exp.Identifier(this=name, quoted=True), as_=part, copy=False)
    return query.order_by(*(exp.Ordered(this=column(name)) for name in columns), copy=False)


@dataclass(frozen=True, slots=True)
class _Keyed:
    """Records by the places of their values.

    Args:
        source: The table.
        hierarchies: The hierarchy and the type of each quasi-identifier.
        recoding: Where combinations go.
        suppressed: The label of suppressed records; None where none is published.
    """

    source: exp.Table
    hierarchies: Mapping[str, tuple[Hierarchy, exp.DataType]]
    recoding: Regions
    suppressed: str | None

    def _labels(self, name: str, levels: Sequence[int]) -> Labelled:
        hierarchy, kind = self.hierarchies[name]
        names = {at: label(at) for at in levels if at}
        return labelled(self.source, name, hierarchy=hierarchy, levels=names, column_type=kind)

    def recodes(self) -> dict[str, LocalRecode]:
        """How each column is recoded."""
        parts = enumerate(zip(self.hierarchies.items(), self.recoding.levels, strict=True))
        return {
            name: LocalRecode(name, at, levels, self._labels(name, levels), kind, self.suppressed)
            for at, ((name, (_, kind)), levels) in parts
        }

    def values(self) -> dict[str, exp.Select]:
        """The distinct values of each column with their places and labels, by a name of ours."""
        found = {}
        for place, (name, own) in enumerate(self.recodes().items()):
            query, rows = places(self.source, name), own.labels.rows
            if rows is not None:
                held = [column(item, "held") for item in (VALUE, PLACE)]
                labels = [column(item, "labelled") for item in rows.named_selects[1:]]
                same = same_value(column(VALUE, "held"), column(VALUE, "labelled"), nullable=True)
                query = select([*held, *labels], nested(query, "held"))
                query.join(nested(rows, "labelled"), on=same, join_type="left", copy=False)
            found[_values(place)] = query
        return found

    def keys(self) -> list[exp.Expr]:
        """The numbers of a record's combination."""
        words: dict[int, list[exp.Expr]] = {}
        parts = zip(self.hierarchies, factors(self.recoding.values), strict=True)
        for name, (word, factor) in parts:
            place = column(PLACE, labels_of(name))
            words.setdefault(word, []).append(times(place, exp.Literal.number(factor)))
        return [exp.Paren(this=added(words[word])) for word in sorted(words)]

    def records(self, figures: Sequence[exp.Expr]) -> exp.Select:
        """Figures of every record, from its columns and those of its values."""
        query = select(figures, named(self.source, RECORD))
        for place, name in enumerate(self.hierarchies):
            relation = labels_of(name)
            same = same_value(column(name, RECORD), column(VALUE, relation), nullable=True)
            query.join(named(table(_values(place)), relation), on=same, copy=False)
        return query

    def assigned(self) -> dict[str, exp.Select]:
        """Queries by name, the last of which has the node of every combination by its keys.

        A run is known by its first combination, so a combination's run is the last that began.
        """
        figures = [alias(own, key(word)) for word, own in enumerate(self.keys())]
        names = [figure.alias for figure in figures]
        keys = [column(name) for name in names]
        distinct = self.records(figures).distinct(copy=False)
        order = [exp.Ordered(this=each) for each in keys]
        unit = alias(bigint(minus(over(exp.RowNumber(), order=order), number(1))), UNIT)
        units = select([*keys, unit], nested(distinct, "held"))
        before = exp.WindowSpec(
            kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"
        )
        # The node rides along with the first combination, below it.
        room = len(self.recoding.nodes)
        begun = plus(times(column(FIRST, _RUNS), number(room)), column(NODE, _RUNS))
        latest = over(exp.Max(this=begun), order=[exp.Ordered(this=column(UNIT, _UNITS))])
        latest.set("spec", before)
        own = [column(name, _UNITS) for name in names]
        started = select([*own, alias(latest, _LATEST)], table(_UNITS))
        same = exp.EQ(this=column(UNIT, _UNITS), expression=column(FIRST, _RUNS))
        started.join(table(_RUNS), on=same, join_type="left", copy=False)
        node = exp.Mod(this=column(_LATEST), expression=number(room))
        assigned = select([*keys, alias(node, NODE)], nested(started, "started"))
        runs = listed_numbers(_runs(self.recoding), [FIRST, NODE])
        return {_RUNS: runs, _UNITS: units, ASSIGNED: assigned}


def _values(place: int) -> str:
    """The relation of a column's values."""
    return f"sqlanon_values_{place}"


def _runs(recoding: Regions) -> Iterator[str]:
    """The runs by their first combination; those that are not published end others."""
    first = 0
    for length, node in zip(recoding.lengths, recoding.numbers, strict=True):
        yield f"{first}:{node}"
        first += length
