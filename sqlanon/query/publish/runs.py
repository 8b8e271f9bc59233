"""Runs: the statements that recode single records, or all records of a combination of values.

Clusters recode records one by one. Records that are alike in all that a search looks at are a unit.
Units are numbered in the order of their values, records within a unit by what else is published of
them, so a recoding names records without holding a value of the table, and the statement finds them
again.

Regions recode all records of a combination of values alike. A value is known by its place among
those of its column, a combination by the places of its values. A combination's run is the last that
begins at or before it, which every engine finds in one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.query.encode import SIZE
from sqlanon.query.publish.recode import (
    Cell,
    Publication,
    Recode,
    as_published,
    joined_labels,
    label,
)
from sqlanon.query.syntax import column
from sqlanon.recoding import Clusters
from sqlanon.regions import Regions
from sqlanon.sqltext import Sql, expression, name, names, render, value

_MAX_KEY = 2**62
UNIT = "sqlanon_unit"
POSITION = "sqlanon_position"
FIRST, LAST = "first", "last"
NODE = "node"
SUPPRESSED_LEVEL = -1
"""In place of each level of a record that is published with every cell suppressed."""


def free(wanted: str, taken: Iterable[str]) -> str:
    """The name of a column of ours that none of the table's has, whatever case it is spelt in."""
    others = {other.lower() for other in taken}
    while wanted.lower() in others:
        wanted += "_"
    return wanted


def level(number: int) -> str:
    """The column of a record's level of a quasi-identifier."""
    return f"level_{number}"


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


def cells(publication: Publication, recodes: Mapping[str, Recode], *, is_kept: bool) -> list[Cell]:
    """The published columns of records that have a level each, or are suppressed and kept."""
    numbers = {attribute: level(number) for number, attribute in enumerate(recodes)}
    label = value(publication.label) if is_kept and publication.label is not None else None
    result: list[Cell] = []
    for attribute, cast in publication.columns.items():
        if attribute in recodes:
            at = column(numbers[attribute], "sqlanon_nodes")
            text = recodes[attribute].published(cast, level=at, as_text=is_kept)
            gone = expression("{{ level }} = {{ none }}", level=at, none=SUPPRESSED_LEVEL)
            result.append((name(attribute), text, gone, label))
        else:
            result.append(
                (name(attribute), as_published(column(attribute, "record"), cast), None, None)
            )
    return result + publication.carried_cells


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
    records have a node, too, whose levels are all SUPPRESSED_LEVEL.
    """
    width = len(recoding.published[0])
    above = (SUPPRESSED_LEVEL,) * width if every else None
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


def clusters(recoding: Clusters, publication: Publication) -> Sql:
    """The rows to publish, recoded one by one."""
    is_kept = publication.label is not None and None in recoding.nodes
    recodes = publication.recodes(recoding.levels)
    by = list(dict.fromkeys([*recodes, *recoding.by]))
    needed = list(dict.fromkeys([*by, *publication.columns]))
    unit = free(UNIT, needed)
    return render(
        "publish/clusters",
        source=publication.source,
        by=names(by),
        needed=names(needed),
        unit=name(unit),
        position=name(free(POSITION, needed)),
        order=names([column for column in publication.columns if column not in by] or [unit]),
        assigned=assigned(recoding, every=is_kept),
        nodes=nodes(recoding, every=is_kept),
        labels=joined_labels(recodes),
        cells=cells(publication, recodes, is_kept=is_kept),
        sorted_by=publication.sorted_by,
    )


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
        if room * values[place] >= _MAX_KEY:
            words.append([])
            room = 1
        words[-1].append(place)
        room *= values[place]
    result: dict[int, tuple[int, int]] = {}
    for word, places_ in enumerate(words):
        factor = 1
        for place in reversed(places_):
            result[place] = (word, factor)
            factor *= values[place]
    return [result[place] for place in range(len(values))]


def places(source: exp.Table, column: str) -> Sql:
    """The distinct values of a column in their order: rows of VALUE and sqlanon_place, from 0."""
    return render("publish/places", source=source, column=name(column))


def regions(recoding: Regions, publication: Publication) -> Sql:
    """The rows to publish, all records of a combination recoded alike."""
    is_kept = publication.label is not None and None in recoding.nodes
    recodes = publication.recodes(recoding.levels)
    words: dict[int, list[tuple[Sql, int]]] = {}
    for recode, (word, factor) in zip(recodes.values(), factors(recoding.values), strict=True):
        words.setdefault(word, []).append((name(recode.relation), factor))
    keys = [(name(key(word)), words[word]) for word in sorted(words)]
    parted, joined = [], []
    for number, (attribute, recode) in enumerate(recodes.items()):
        values, labels = name(f"sqlanon_values_{number}"), names(map(label, recode.varying))
        parted.append((values, places(publication.source, attribute), recode.rows, labels))
        joined.append((name(attribute), name(recode.relation), values))
    return render(
        "publish/regions",
        source=publication.source,
        parted=parted,
        joined=joined,
        keys=keys,
        names=[key_name for key_name, _ in keys],
        runs=listed_numbers(_runs(recoding), [FIRST, NODE]),
        nodes=nodes(recoding, every=is_kept),
        number_of_nodes=len(recoding.nodes),
        cells=cells(publication, recodes, is_kept=is_kept),
        sorted_by=publication.sorted_by,
    )


def _runs(recoding: Regions) -> Iterator[str]:
    """The runs by their first combination; those that are not published end others."""
    first = 0
    for length, node in zip(recoding.lengths, recoding.numbers, strict=True):
        yield f"{first}:{node}"
        first += length
