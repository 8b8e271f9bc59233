"""Encoding: a table's distinct quasi-identifier combinations as packed codes, beside the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engine.base import Engine, by_column
from sqlanon.errors import HierarchyError, SourceError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.layout import Layout
from sqlanon.hierarchy.tree import node_counts
from sqlanon.microdata.binding import Subject, column_types, listing, named
from sqlanon.microdata.tables import change_fault
from sqlanon.policy.policy import Policy
from sqlanon.policy.population import DeltaPresence
from sqlanon.query import encode
from sqlanon.query.classes.frequency import roll_up
from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.syntax import TEXT, rows_of
from sqlanon.sqltext import Sql
from sqlanon.wording import Note, counted, is_about, listed

if TYPE_CHECKING:
    from sqlanon.microdata.sensitive import Details, SensitiveCodes
    from sqlanon.query.encode import Carried

Maps = Mapping[str, encode.LeafMap]

JOINED = 20
"""Columns that one statement encodes: to plan 100 joins takes DuckDB longer than five statements
of 20 take, and 300 a minute, which no time limit can interrupt."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A table's distinct quasi-identifier combinations as packed codes.

    Args:
        table: Codes and sizes, one row per combination.
        rows: Number of combinations.
        layout: Which bits hold which level of which column.
        counts: `counts[column][leaf]`: records that hold a leaf [records].
        maps: Per column its leaf map; of columns that are at their top in any case there may be
            none.
        details: What models beyond k need besides; None where there are none.
        values: The codes with sensitive values that only the report looks at, each attribute's in
            a column `value_of` its place in the policy; None where these are read anew.
        presence: The combinations of the table and of its population, with the records of both;
            None where no model asks for these.
        present: Rows of it.
    """

    table: exp.Table
    rows: int
    layout: Layout
    counts: tuple[tuple[int, ...], ...]
    maps: Maps
    details: Details | None = None
    values: exp.Table | None = None
    presence: exp.Table | None = None
    present: int = 0

    def entropies(self, trees: Sequence[Tree]) -> list[list[float]]:
        """Entropy of every column at every level [bits]."""
        return [
            [_entropy(tree, level, counts=counts) for level in range(tree.height + 1)]
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
    table, details, values = _combinations(
        engine, subject, policy=policy, valued=valued, coding=(layout, maps)
    )
    rows, records = engine.rows(encode.extent(table, layout.words))[0]
    if records != subject.records:
        raise HierarchyError(uncovered_faults(engine, subject, maps=maps, show_values=show_values))
    counts = leaf_counts(engine, subject, layout=layout, table=table)
    encoded = Encoded(table, rows, layout, counts, maps, details, values)
    return _with_population(engine, subject, policy, encoded, names=subject.names)


def encode_top(
    engine: Engine, subject: Subject, policy: Policy, valued: Sequence[str] = ()
) -> Encoded:
    """As `encode_subject`, as far as the highest node allowed needs it, which takes little time.

    Columns at the top of their hierarchies tell no records apart: where their values are counted
    already, they are not looked at.

    Raises:
        HierarchyError: As `encode_subject`.
    """
    parts = zip(subject.names, subject.trees, subject.high, subject.counts, strict=True)
    tells = {name: (high < tree.height, counts) for name, tree, high, counts in parts}
    open_ = [name for name, (apart, counts) in tells.items() if apart or counts is None]
    layout, maps = leaf_maps(engine, subject, open_)
    kept = {name: rows for name, rows in maps.items() if tells[name][0]}
    counts = [
        _column_counts(engine, subject, coding=(layout, maps), number=n) for n in range(len(tells))
    ]
    if any(sum(column) != subject.records for column in counts):
        raise HierarchyError(uncovered_faults(engine, subject, maps=maps))
    table, details, values = _combinations(
        engine, subject, policy=policy, valued=valued, coding=(layout, kept)
    )
    rows = engine.rows(encode.extent(table))[0][0]
    encoded = Encoded(table, rows, layout, tuple(map(tuple, counts)), maps, details, values)
    return _with_population(engine, subject, policy, encoded, names=list(kept))


def _with_population(
    engine: Engine, subject: Subject, policy: Policy, encoded: Encoded, *, names: Sequence[str]
) -> Encoded:
    """The codes with those of the population, by some columns, where a model asks for it.

    Raises:
        HierarchyError: Values of the population that no leaf covers, all at once.
        SourceError: Bounds of shares are asked for, and the table is no part of the population.
    """
    if subject.population is None or not policy.population_models:
        return encoded
    table, details = subject.population, encoded.details
    people = replace(subject, table=table, columns=column_types(engine, table))
    layout, maps = leaf_maps(engine, people, names)
    query = coded(engine, people, source=table, coding=(layout, maps))
    codes = engine.materialize("people", query)
    [(records,)] = engine.rows(rows_of(table))
    if engine.rows(encode.extent(codes, layout.words))[0][1] != records:
        faults = uncovered_faults(engine, people, maps=maps)
        raise HierarchyError([f"the population: {fault}" for fault in faults])
    query = encode.present(encoded.table, codes, words=layout.words)
    presence, present = engine.materialize_counted("presence", query)
    crowded = engine.rows(encode.crowded(presence))[0]
    tell_crowded(engine, policy, crowded, names=names or subject.names)
    if details is None:
        from sqlanon.microdata.sensitive import Details  # k alone needs none of these

        details = Details(encoded.table, (), False, encoded.rows)
    return replace(encoded, details=details, presence=presence, present=present)


def tell_crowded(
    engine: Engine, policy: Policy, crowded: Sequence[int], *, names: Sequence[str]
) -> None:
    """Notes that a table is no part of its population, or refuses it where shares are bounded.

    Args:
        engine: Where the note goes, once for a table.
        policy: The policy.
        crowded: Combinations with more records than people, and how many of both these have.
        names: The columns of these.

    Raises:
        SourceError: There are some, and shares are bounded.
    """
    combinations, records, people = crowded
    if not combinations:
        return
    text = (
        "the population does not hold everybody of the table: "
        f"{counted(combinations, 'combination')} of {listed(list(map(repr, names)))} "
        f"{'has' if combinations == 1 else 'have'} {counted(records, 'record')} in the table "
        f"and {people:,} in the population; give the population that they were drawn from, with "
        "its values spelt as in the table"
    )
    if any(isinstance(model, DeltaPresence) for model in policy.population_models):
        raise SourceError(text)
    if not any(is_about(note, "crowded") for note in engine.opened.notes):
        engine.opened.notes.append(Note(text, "crowded"))


def _combinations(
    engine: Engine,
    subject: Subject,
    *,
    policy: Policy,
    valued: Sequence[str],
    coding: tuple[Layout, Maps],
) -> tuple[exp.Table, Details | None, exp.Table | None]:
    """The table of distinct combinations, and those of details and values: see `Encoded`."""
    if policy.demands or policy.entity or valued:
        from sqlanon.microdata.sensitive import ranked  # k alone needs none of these

        codes = ranked(engine, subject, policy=policy, valued=valued)
        return *_detailed(engine, subject, coding=coding, codes=codes), None
    # A table that is elsewhere is read once: that takes most of the time.
    is_elsewhere = engine.can.local_rows is not None
    names = list(policy.sensitive_attributes) if is_elsewhere else []
    carried = {value_of(number): encode.Carried(name) for number, name in enumerate(names)}
    query = coded(engine, subject, source=subject.table, coding=coding, carried=carried)
    if not names:
        return engine.materialize("encoded", query), None, None
    values = engine.materialize("valued", query)
    return engine.materialize("encoded", roll_up(values, (-1,) * coding[0].words)), None, values


def _column_counts(
    engine: Engine, subject: Subject, *, coding: tuple[Layout, Maps], number: int
) -> list[int]:
    """Records per leaf of one column."""
    known = subject.counts[number]
    if known is not None:
        return list(known)
    (layout, maps), tree, name = coding, subject.trees[number], subject.names[number]
    query = encode.encoded(
        subject.table, {name: maps[name]}, nullable=set(subject.nullable), words=layout.words
    )
    leaves, counts = layout.node_codes(number, tree, level=0), [0] * len(tree.leaves)
    for *code, records in engine.rows(query):
        if None not in code:
            counts[leaves[tuple(code)]] += records
    return counts


def leaf_maps(
    engine: Engine, subject: Subject, names: Sequence[str] | None = None
) -> tuple[Layout, dict[str, encode.LeafMap]]:
    """The layout of packed codes, and per column its leaf map.

    Without `names`, of every column.

    Raises:
        HierarchyError: Leaves that are one value, all at once.
    """
    layout = Layout.of(subject.trees)
    wanted = set(subject.names if names is None else names)
    numbers = {name: n for n, name in enumerate(subject.names) if name in wanted}
    leaves = _load_leaves(engine, subject, layout=layout, numbers=list(numbers.values()))
    maps = {
        name: encode.leaf_map(
            leaves,
            number,
            column_type=subject.columns[name],
            words=_words_with_bits(layout, number),
        )
        for name, number in numbers.items()
    }
    _refuse_repeated(engine, subject, maps=maps)
    return layout, maps


def _words_with_bits(layout: Layout, column: int) -> list[int]:
    """The words of a column's codes, one at least."""
    return [w for w, bits in enumerate(layout.column_masks(column, 0)) if bits] or [0]


def coded(
    engine: Engine,
    subject: Subject,
    *,
    source: exp.Table,
    coding: tuple[Layout, Maps],
    carried: Mapping[str, Carried] | None = None,
) -> Sql:
    """The query of distinct combinations, as `encode.encoded`; many columns are joined in stages.

    Args:
        engine: Where the source is; it gets a temporary table for what is encoded so far.
        subject: The table whose columns are encoded.
        source: It, or a table of its columns.
        coding: The layout of codes, and the leaf maps of the columns.
        carried: Other columns that tell rows apart.
    """
    (layout, maps), nullable = coding, set(subject.nullable)
    if len(maps) <= JOINED:
        return encode.encoded(source, maps, nullable=nullable, words=layout.words, carried=carried)
    carried, names, coded_words = carried or {}, list(maps), list[str]()
    wanted = [*names, *(item.origin for item in carried.values())]
    places = {name: f"held_{place}" for place, name in enumerate(dict.fromkeys(wanted))}
    now, rows = {name: name for name in places}, source
    for start in range(0, len(names), JOINED):
        part = names[start : start + JOINED]
        rest = wanted[start + len(part) :]
        leaves = {now[name]: maps[name] for name in part}
        empty = {now[name] for name in part if name in nullable}
        kept = {places[name]: now[name] for name in rest}
        stage = engine.materialize(
            "stage",
            encode.joined(rows, leaves, nullable=empty, source_words=coded_words, kept=kept),
        )
        if rows is not source:
            engine.tables.drop(rows)
        words = {word for codes in leaves.values() for word in codes.words}
        now, rows, coded_words = places, stage, sorted({*coded_words, *words})
    renamed = {name: replace(item, origin=places[item.origin]) for name, item in carried.items()}
    return encode.grouped(rows, layout.words, carried=renamed)


def _detailed(
    engine: Engine,
    subject: Subject,
    *,
    coding: tuple[Layout, Maps],
    codes: tuple[Sequence[SensitiveCodes], Mapping[str, Carried]],
) -> tuple[exp.Table, Details]:
    """The table of combinations from that of the details, which carries sensitive codes, too."""
    from sqlanon.microdata.sensitive import Details  # k alone needs none of these

    (layout, _), (attributes, carried) = coding, codes
    query = coded(engine, subject, source=subject.table, coding=coding, carried=carried)
    detailed = engine.materialize("details", query)
    rows, _ = engine.rows(encode.extent(detailed, layout.words))[0]
    details = Details(detailed, tuple(attributes), ENTITY in carried, rows)
    every_bit = (-1,) * layout.words
    return engine.materialize("encoded", roll_up(detailed, every_bit)), details


def _load_leaves(
    engine: Engine, subject: Subject, *, layout: Layout, numbers: Sequence[int]
) -> exp.Table:
    """The leaves of some columns with their codes, in one table."""
    names = [encode.ATTRIBUTE, encode.LEAF, *encode.word_names(layout.words)]
    rows = [
        (number, leaf, *code)
        for number, tree in ((number, subject.trees[number]) for number in numbers)
        for leaf, code in zip(tree.leaves, layout.leaf_codes(number, tree), strict=True)
    ]
    return engine.load_rows("leaves", by_column(names, rows), {encode.LEAF: TEXT})


def _refuse_repeated(engine: Engine, subject: Subject, *, maps: Maps) -> None:
    faults = []
    for name, leaves in maps.items():
        attribute = subject.attributes[name]
        if attribute.hierarchy.rows is not None and encode.needs_cast(subject.columns[name]):
            repeated = engine.rows(encode.repeated_values(leaves.rows))[0][0]
            if repeated:
                faults.append(
                    f"{named(attribute.hierarchy, name)} lists {counted(repeated, 'value')} of the "
                    "column's type more than once, in different spellings; keep one row of each"
                )
    if faults:
        raise HierarchyError(faults)


def uncovered_faults(
    engine: Engine, subject: Subject, *, maps: Maps, show_values: int = 0
) -> list[str]:
    """Values that hierarchies miss, and the records that hold them, where records have no code.

    The values themselves, so many at most, are told where their owner asks for them.
    """
    faults = []
    for name, leaves in maps.items():
        values, records = engine.rows(encode.uncovered(subject.table, name, leaves=leaves.rows))[0]
        if values:
            way = listing(name)
            if show_values:
                asked = encode.missed(subject.table, name, leaves=leaves.rows, most=show_values)
                way = f"they are {_listed(engine.rows(asked), values)}"
            which = named(subject.attributes[name].hierarchy, name)
            verb = "holds" if records == 1 else "hold"
            faults.append(
                f"{which} misses {counted(values, 'value')} that "
                f"{counted(records, 'record')} {verb}; "
                f"add a row for each of them, or one of * for all others; {way}"
            )
    if not faults:
        faults = ["the number of records changed while the table was read; try again"]
    unsteady = change_fault(engine, subject.table, otherwise="")
    return [unsteady] if unsteady else faults


def _listed(rows: Sequence[tuple[str | None, int]], values: int) -> str:
    """Values and their records, the first ones of many."""
    named = [
        f"{'NULL' if value is None else repr(value)} ({counted(records, 'record')})"
        for value, records in rows
    ]
    rest = [f"{values - len(named):,} more"] if values > len(named) else []
    return listed([*named, *rest])


def leaf_counts(
    engine: Engine, subject: Subject, *, layout: Layout, table: exp.Table
) -> tuple[tuple[int, ...], ...]:
    """Records per leaf of every column, where binding has not counted them from the table."""
    open_ = [number for number, known in enumerate(subject.counts) if known is None]
    counts = [
        list(known or [0] * len(t.leaves))
        for known, t in zip(subject.counts, subject.trees, strict=True)
    ]
    for start in range(0, len(open_), JOINED):
        masks = {number: layout.column_masks(number, 0) for number in open_[start : start + JOINED]}
        leaves = {
            number: layout.node_codes(number, subject.trees[number], level=0) for number in masks
        }
        for number, *code, records in engine.rows(encode.marginals(table, masks)):
            counts[number][leaves[number][tuple(code)]] = records
    return tuple(map(tuple, counts))


def _entropy(tree: Tree, level: int, *, counts: Sequence[int]) -> float:
    total = sum(counts)
    shares = [count / total for count in node_counts(tree, level, counts=counts) if count]
    return -sum(part * math.log2(part) for part in shares)
