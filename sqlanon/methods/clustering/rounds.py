"""Rounds: parts that memory does not hold are cut in the database, all of them at once.

A round asks for the records of every such part by the values of each column, which is a small
answer, decides on all cuts as in memory, and names the rows' parts anew in one statement. Parts
that memory holds are then read, several at a time, and cut to the end there: to group all rows by
a million parts and a column, for each column and round, takes the database longer than sorting them
once in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import TimeLimitError
from sqlanon.microdata.distinct import Units
from sqlanon.query.classes import parts
from sqlanon.query.classes.frequency import mask
from sqlanon.query.encode import SIZE, word
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.mondrian import (
    Candidate,
    Histogram,
    PartedRows,
    PartRows,
    Rule,
    candidates,
    chosen,
    groups,
)


@dataclass(frozen=True, slots=True)
class PartBatch:
    """Parts that are read at once.

    Args:
        rows: Their rows.
        unit: The combination of each row.
        part: The part of each row.
        waiting: How many batches follow.
    """

    rows: PartRows
    unit: Numbers
    part: Numbers
    waiting: int


def batches(
    engine: Engine, units: Units, state: exp.Table, *, most: int, measure: str
) -> Iterator[PartBatch]:
    """The parts, so many rows or records at a time and more only where one part has more.

    Args:
        engine: Where the table lives.
        units: Its combinations.
        state: The table of them, parted.
        most: Rows or records that are read at once.
        measure: Which of these, `parts.ROWS` or `SIZE`.
    """
    packed = list(_packed(sizes_of(engine, state, measure), most))
    for waiting, numbers in zip(reversed(range(len(packed))), packed, strict=True):
        arrays = engine.numbers(parts.rows_of(state, numbers, carried=units.carried))
        yield PartBatch(units.rows(arrays), arrays[parts.UNIT], arrays[parts.PART], waiting)


def _packed(sizes: Sequence[tuple[int, int]], most: int) -> Iterator[list[int]]:
    """Neighbouring parts, so large together at most."""
    batch, room = list[int](), most
    for part, size in sizes:
        if batch and size > room:
            yield batch
            batch, room = [], most
        batch.append(part)
        room -= size
    if batch:
        yield batch


def sizes_of(engine: Engine, state: exp.Table, measure: str) -> list[tuple[int, int]]:
    """The parts and their rows or records, in the order of parts."""
    figures = engine.numbers(parts.part_sizes(state))
    return list(zip(figures[parts.PART].tolist(), figures[measure].tolist(), strict=True))


def cut_large(
    engine: Engine, units: Units, state: exp.Table, *, most: int, measure: str, rule: Rule
) -> exp.Table:
    """Cuts parts of more than so many rows or records until none is left that can be cut.

    Returns:
        The table of combinations with its last parts.
    """
    whole = set[int]()
    try:
        while not rule.deadline.expired:
            sizes = sizes_of(engine, state, measure)
            large = [part for part, size in sizes if size > most and part not in whole]
            if not large:
                break
            cuts = _Cuts.of(engine, units, state, large=large, rule=rule)
            whole |= set(large) - set(cuts.part.tolist())
            if len(cuts.part):
                first = sizes[-1][0] + 1
                before, state = state, _applied(engine, units, state, cuts=cuts, first=first)
                # Only now: time may be over at any statement, and the parts are needed after it.
                engine.tables.drop(before)
    except TimeLimitError:
        pass  # parts are as they were before the round
    return state


@dataclass(frozen=True, slots=True)
class _Cuts:
    """The cuts of parts: rows of the part, the code of a value, and the group that it goes to.

    Args:
        part: The part.
        codes: `codes[row, word]`.
        group: The group, from 0 up over all parts.
        masks: Per part that is cut the bits of its column.
    """

    part: Numbers
    codes: Numbers
    group: Numbers
    masks: dict[int, tuple[int, ...]]

    @classmethod
    def of(
        cls, engine: Engine, units: Units, state: exp.Table, *, large: Sequence[int], rule: Rule
    ) -> _Cuts:
        """Asks for what the parts hold, column by column, and decides."""
        proposed: list[Candidate] = []
        counted: list[tuple[int, PartedRows, Numbers]] = []
        layout, names = units.layout, np.array(large)
        for column in range(len(rule.dimensions)):
            bits = layout.column_masks(column, 0)
            query = parts.marginal(state, bits, carried=units.carried, parts=large)
            parted, codes = _marginal(units, engine.numbers(query), large=names)
            for candidate in candidates(parted, column, rule=rule):
                proposed.append(candidate)
                counted.append((column, parted, codes))
        choice = chosen(proposed, len(large))
        named = groups(proposed, choice, parted=[marginal for _, marginal, _ in counted])
        rows: list[tuple[Numbers, Numbers, Numbers]] = []
        masks = dict[int, tuple[int, ...]]()
        for number, ((column, parted, codes), pair) in enumerate(zip(counted, named, strict=True)):
            places, group = pair
            rows.append((names[parted.part[places]], codes[places], group))
            cut = np.flatnonzero(choice == number).tolist()
            masks |= {large[place]: layout.column_masks(column, 0) for place in cut}
        if not rows:
            nothing = np.zeros(0, np.int64)
            return cls(nothing, np.zeros((0, layout.words), np.int64), nothing, {})
        part, codes, group = (np.concatenate(arrays) for arrays in zip(*rows, strict=True))
        distinct = np.unique(np.column_stack([part, group, codes]), axis=0)
        return cls(distinct[:, 0], distinct[:, 2:], distinct[:, 1], masks)


def _marginal(
    units: Units, arrays: dict[str, Numbers], *, large: Numbers
) -> tuple[PartedRows, Numbers]:
    """Rows of one column in the order of their parts, whose numbers are places among the large."""
    nothing = np.zeros_like(arrays[SIZE])
    whole = {word(w): arrays.get(word(w), nothing) for w in range(units.layout.words)}
    rows = units.rows(arrays | whole)
    part = np.searchsorted(large, arrays[parts.PART])
    return PartedRows(rows, part, len(large)), np.stack(list(whole.values()), axis=1)


def _applied(
    engine: Engine, units: Units, state: exp.Table, *, cuts: _Cuts, first: int
) -> exp.Table:
    """The table of combinations with its parts cut; new ones are numbered from the first on."""
    words = units.layout.words
    marks = {parts.PART: list(cuts.masks)}
    marks |= {mask(w): [bits[w] for bits in cuts.masks.values()] for w in range(words)}
    rows = {parts.PART: cuts.part.tolist(), parts.GROUP: (cuts.group + first).tolist()}
    rows |= {word(w): codes.tolist() for w, codes in enumerate(cuts.codes.T)}
    marked, listed = engine.load_rows("marks", marks), engine.load_rows("cuts", rows)
    query = parts.cut(state, marked, listed, words=words, carried=units.carried)
    fresh = engine.materialize("parts", query)
    for table in (marked, listed):
        engine.tables.drop(table)
    return fresh


def initial(engine: Engine, units: Units, state: exp.Table) -> tuple[Histogram, Numbers]:
    """The parts as entries of a histogram, and their numbers."""
    nothing = [0] * units.layout.words
    arrays = engine.numbers(parts.marginal(state, nothing, carried=units.carried))
    numbers, part = np.unique(arrays[parts.PART], return_inverse=True)
    rows = units.rows_at(np.zeros((len(part), 0), np.int64), arrays)
    parted = PartedRows(rows, part, len(numbers))
    histogram, _ = parted.histogram(np.zeros_like(part), width=np.ones_like(numbers))
    return histogram, numbers


def without(engine: Engine, state: exp.Table, numbers: Numbers) -> exp.Table:
    """The table of combinations without some parts."""
    gone = engine.load_rows("gone", {parts.PART: numbers.tolist()})
    fresh = engine.materialize("parts", parts.without(state, gone))
    for table in (state, gone):
        engine.tables.drop(table)
    return fresh


def combinations(engine: Engine, units: Units) -> int:
    """How many combinations of values the table has."""
    count: int = engine.rows(parts.combinations(units.coded, units.keys))[0][0]
    return count
