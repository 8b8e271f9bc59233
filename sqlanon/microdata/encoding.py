"""Encoding: a table's distinct quasi-identifier combinations as packed codes, beside the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engine.base import Engine, by_column
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.layout import Layout
from sqlanon.hierarchy.tree import node_counts
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.trees import listing, named
from sqlanon.policy.policy import Policy
from sqlanon.query.classes.frequency import roll_up
from sqlanon.query.encoding import encode
from sqlanon.query.text import TEXT
from sqlanon.wording import counted, listed

if TYPE_CHECKING:
    from sqlanon.microdata.sensitive_codes import Details, SensitiveCodes
    from sqlanon.query.encoding.encode import Carried

Maps = Mapping[str, exp.Select]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A table's distinct quasi-identifier combinations as packed codes.

    Args:
        table: Codes and sizes, one row per combination.
        rows: Number of combinations.
        layout: Which bits hold which level of which column.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
        maps: Per column its leaf map: rows of value and words.
        details: What models beyond k need besides; None where there are none.
    """

    table: exp.Table
    rows: int
    layout: Layout
    counts: tuple[tuple[int, ...], ...]
    maps: Maps
    details: Details | None = None

    def entropies(self, trees: Sequence[Tree]) -> list[list[float]]:
        """Entropy of every column at every level [bits]."""
        return [
            [_entropy(tree, level, counts) for level in range(tree.height + 1)]
            for tree, counts in zip(trees, self.counts, strict=True)
        ]


def encode_subject(
    engine: Engine,
    subject: Subject,
    policy: Policy,
    valued: Sequence[str] = (),
    *,
    show_values: int = 0,
) -> Encoded:
    """Writes the table of distinct combinations, and that of the details where models need it.

    The details also hold the sensitive attributes that the loss looks at, `valued`. So many values
    that a hierarchy misses are named, `show_values`, where their owner asks for them.

    Raises:
        HierarchyError: Values that no leaf covers, or leaves that are one value, all at once.
    """
    layout, maps = leaf_maps(engine, subject)
    details: Details | None = None
    if policy.demands or policy.entity or valued:
        from sqlanon.microdata.sensitive_codes import ranked  # k alone needs none of these

        codes = ranked(engine, subject, policy, valued)
        table, details = _detailed(engine, subject, (layout, maps), codes)
    else:
        query = encode.encoded(subject.table, maps, set(subject.nullable), layout.words)
        table = engine.materialize("encoded", query)
    rows, records = engine.rows(encode.extent(table))[0]
    if records != subject.records:
        raise HierarchyError(uncovered_faults(engine, subject, maps, show_values=show_values))
    counts = _leaf_counts(engine, subject, layout, table)
    return Encoded(table, rows, layout, counts, maps, details)


def leaf_maps(engine: Engine, subject: Subject) -> tuple[Layout, dict[str, exp.Select]]:
    """The layout of packed codes, and per column its leaf map: rows of value and words.

    Raises:
        HierarchyError: Leaves that are one value, all at once.
    """
    layout = Layout.of(subject.trees)
    leaves = _load_leaves(engine, subject, layout)
    maps = {
        name: encode.leaf_map(leaves, number, subject.columns[name], layout.words)
        for number, name in enumerate(subject.names)
    }
    _refuse_repeated(engine, subject, maps)
    return layout, maps


def _detailed(
    engine: Engine,
    subject: Subject,
    coding: tuple[Layout, Maps],
    codes: tuple[Sequence[SensitiveCodes], Mapping[str, Carried]],
) -> tuple[exp.Table, Details]:
    """The table of combinations from that of the details, which carries sensitive codes, too."""
    from sqlanon.microdata.sensitive_codes import Details  # k alone needs none of these
    from sqlanon.query.classes.violations import ENTITY

    (layout, maps), (attributes, carried) = coding, codes
    query = encode.encoded(subject.table, maps, set(subject.nullable), layout.words, carried)
    detailed = engine.materialize("details", query)
    rows, _ = engine.rows(encode.extent(detailed))[0]
    details = Details(detailed, tuple(attributes), ENTITY in carried, rows)
    every_bit = (-1,) * layout.words
    return engine.materialize("encoded", roll_up(detailed, every_bit)), details


def _load_leaves(engine: Engine, subject: Subject, layout: Layout) -> exp.Table:
    """All columns' leaves with their codes, in one table."""
    names = [encode.ATTRIBUTE, encode.LEAF, *map(encode.word, range(layout.words))]
    rows = [
        (number, leaf, *code)
        for number, tree in enumerate(subject.trees)
        for leaf, code in zip(tree.leaves, layout.leaf_codes(number, tree), strict=True)
    ]
    return engine.load_rows("leaves", by_column(names, rows), {encode.LEAF: TEXT})


def _refuse_repeated(engine: Engine, subject: Subject, maps: Maps) -> None:
    faults = []
    for name, attribute in subject.attributes.items():
        if attribute.hierarchy.rows is not None and encode.needs_cast(subject.columns[name]):
            repeated = engine.rows(encode.repeated_values(maps[name]))[0][0]
            if repeated:
                faults.append(
                    f"{named(attribute.hierarchy, name)} lists {counted(repeated, 'value')} of the "
                    "column's type more than once, in different spellings; keep one row of each"
                )
    if faults:
        raise HierarchyError(faults)


def uncovered_faults(
    engine: Engine, subject: Subject, maps: Maps, *, show_values: int = 0
) -> list[str]:
    """Values that hierarchies miss, and the records that hold them, where records have no code.

    The values themselves, so many at most, are told where their owner asks for them.
    """
    faults = []
    for name, leaves in maps.items():
        values, records = engine.rows(encode.uncovered(subject.table, name, leaves))[0]
        if values:
            way = listing(name)
            if show_values:
                asked = encode.missed(subject.table, name, leaves, show_values)
                way = f"they are {_listed(engine.rows(asked), values)}"
            which = named(subject.attributes[name].hierarchy, name)
            verb = "holds" if records == 1 else "hold"
            faults.append(
                f"{which} misses {counted(values, 'value')} that "
                f"{counted(records, 'record')} {verb}; "
                f"add a row for each of them, or one of * for all others; {way}"
            )
    return faults or ["the number of records changed while the table was read; try again"]


def _listed(found: Sequence[tuple[str | None, int]], values: int) -> str:
    """Values and their records, the first ones of many."""
    named = [
        f"{'NULL' if value is None else repr(value)} ({counted(records, 'record')})"
        for value, records in found
    ]
    rest = [f"{values - len(named):,} more"] if values > len(named) else []
    return listed([*named, *rest])


def _leaf_counts(
    engine: Engine, subject: Subject, layout: Layout, table: exp.Table
) -> tuple[tuple[int, ...], ...]:
    masks = [layout.column_masks(number, 0) for number in range(len(subject.trees))]
    leaves = [layout.node_codes(number, tree, 0) for number, tree in enumerate(subject.trees)]
    counts = [[0] * len(tree.leaves) for tree in subject.trees]
    for number, *code, records in engine.rows(encode.marginals(table, masks)):
        counts[number][leaves[number][tuple(code)]] = records
    return tuple(map(tuple, counts))


def _entropy(tree: Tree, level: int, counts: Sequence[int]) -> float:
    total = sum(counts)
    shares = [count / total for count in node_counts(tree, level, counts) if count]
    return -sum(part * math.log2(part) for part in shares)
