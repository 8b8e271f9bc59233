"""Regions: the statement that recodes all records of a combination of values alike.

A value is known by its place among those of its column, a combination by the places of its values,
so neither a recoding nor its statement holds a value of the table. A combination's run is the last
that begins at or before it, which every engine finds in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.publish.clusters import (
    FIRST,
    NODE,
    listed_numbers,
    local_recodes,
    nodes,
    recoded,
)
from sqlanon.query.publish.recode import labels_of
from sqlanon.regions import Regions
from sqlanon.sqltext import Sql, name, names, render

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


def places(source: exp.Table, column: str) -> Sql:
    """The distinct values of a column in their order: rows of VALUE and sqlanon_place, from 0."""
    return render("publish/places", source=source, column=name(column))


def published(
    source: exp.Table,
    columns: Mapping[str, exp.DataType | None],
    *,
    hierarchies: Mapping[str, tuple[Hierarchy, exp.DataType]],
    recoding: Regions,
    suppressed: str | None = None,
    ordered: bool = True,
) -> Sql:
    """The rows to publish, in an order that tells nothing; arguments as of `clusters.published`."""
    kept = suppressed if None in recoding.nodes else None
    recodes = local_recodes(source, hierarchies, recoding, suppressed=kept)
    words: dict[int, list[tuple[Sql, int]]] = {}
    for own, (word, factor) in zip(hierarchies, factors(recoding.values), strict=True):
        words.setdefault(word, []).append((name(labels_of(own)), factor))
    keys = [(name(key(word)), words[word]) for word in sorted(words)]
    parted = []
    for own, recode in recodes.items():
        rows = recode.labels.rows
        labels = [] if rows is None else names(rows.named_selects[1:])
        held = name(f"sqlanon_values_{recode.number}")
        parted.append((name(own), held, name(labels_of(own)), places(source, own), rows, labels))
    return render(
        "publish/regions",
        source=source,
        parted=parted,
        keys=keys,
        names=[own for own, _ in keys],
        runs=listed_numbers(_runs(recoding), [FIRST, NODE]),
        nodes=nodes(recoding, every=kept is not None),
        number_of_nodes=len(recoding.nodes),
        published=recoded(columns, recodes),
        sorted_by=names(columns) if ordered else [],
    )


def _runs(recoding: Regions) -> Iterator[str]:
    """The runs by their first combination; those that are not published end others."""
    first = 0
    for length, node in zip(recoding.lengths, recoding.numbers, strict=True):
        yield f"{first}:{node}"
        first += length
