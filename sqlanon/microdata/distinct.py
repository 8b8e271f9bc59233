"""Distinct combinations of a table as arrays, for searches that recode record by record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import EngineError, HierarchyError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.layout import Layout
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.encoding import Encoded, Maps, coded, leaf_maps, uncovered_faults
from sqlanon.microdata.sensitive import SensitiveCodes, ranked
from sqlanon.policy.policy import Policy
from sqlanon.query import encode
from sqlanon.query.classes import parts
from sqlanon.query.classes.violations import ENTITY, value_of
from sqlanon.query.encode import SIZE, Carried, LeafMap, word, word_names
from sqlanon.query.publish import runs
from sqlanon.query.publish.runs import factors, places
from sqlanon.query.syntax import column
from sqlanon.search.arrays import Numbers, united
from sqlanon.search.clustering.clustering_problem import ClusteringProblem
from sqlanon.search.clustering.mondrian import PartRows
from sqlanon.search.privacy import Demands, ValueDemand
from sqlanon.sqltext import expression
from sqlanon.wording import counted

COUNT = "records"
PERSON = "person_number"


class TooManyCombinationsError(EngineError):
    """A table elsewhere has more distinct combinations than may be read into this process."""


@dataclass(frozen=True, slots=True)
class DistinctCombinations:
    """Distinct combinations of all that a search looks at, in the order of their values.

    Args:
        by: The columns that tell combinations apart, quasi-identifiers first.
        sizes: Records of each combination.
        codes: `codes[combination, word]`: the packed leaves.
        leaves: `leaves[combination, column]`: the leaf of the quasi-identifier's hierarchy.
        values: `values[combination, attribute]`: the rank of the sensitive value, -1 for none.
        attributes: The sensitive attributes that models look at.
        persons: The number of each combination's person; None where none are counted.
        k: The smallest class allowed [persons].
    """

    by: tuple[str, ...]
    sizes: Numbers
    codes: Numbers
    leaves: Numbers
    values: Numbers
    attributes: tuple[SensitiveCodes, ...]
    persons: Numbers | None = None
    k: int = 0

    def leaf_counts(self, trees: Sequence[Tree]) -> tuple[tuple[int, ...], ...]:
        """Records per leaf of every column [records]."""
        return tuple(
            tuple(np.bincount(leaf, self.sizes, len(tree.leaves)).astype(np.int64).tolist())
            for leaf, tree in zip(self.leaves.T, trees, strict=True)
        )

    def demands(self) -> Demands | None:
        """The models beyond k, asked of groups of distinct combinations; None without any."""
        every = value_demands((attribute.number, attribute) for attribute in self.attributes)
        if not every and self.persons is None:
            return None
        return Demands(self.values, every, self.persons, self.k)


def value_demands(attributes: Iterable[tuple[int, SensitiveCodes]]) -> tuple[ValueDemand, ...]:
    """The models of sensitive attributes, which are given with their numbers."""
    return tuple(
        ValueDemand(
            number,
            model,
            np.array(attribute.counts),
            tuple(map(np.array, attribute.nodes)),
            attribute.holders,
        )
        for number, attribute in attributes
        for model in attribute.models
    )


def distinct_combinations(
    engine: Engine,
    subject: Subject,
    *,
    coding: tuple[Layout, Maps],
    policy: Policy,
    valued: Sequence[str] = (),
) -> DistinctCombinations:
    """Reads the distinct combinations of quasi-identifiers and of the values that models look at.

    The values of the sensitive attributes in `valued` are read, too.

    Where persons are counted, records of two persons are no such combination.

    Raises:
        TooManyCombinationsError: They are more than may be read into this process.
        HierarchyError: Values that no leaf covers, all at once.
    """
    layout, maps = coding
    attributes: Sequence[SensitiveCodes] = ()
    carried: dict[str, Carried] = {}
    if policy.demands or policy.entity is not None or valued:
        attributes, carried = ranked(engine, subject, policy=policy, valued=valued)
    by = tuple(dict.fromkeys([*subject.names, *(item.origin for item in carried.values())]))
    table, count = engine.materialize_counted("combinations", runs.units(subject.table, by))
    if not may_be_read(engine, count):
        raise TooManyCombinationsError(
            f"the table has {counted(count, 'distinct combination')}, which this method reads "
            f"all into this process, where {engine.can.local_rows:,} may be read; choose --method "
            "mondrian, anytime or incognito, which count where the table is, or allow more rows "
            "here (--memory-limit, --local-rows)"
        )
    words = layout.words
    unit, size = runs.free(runs.UNIT, by), runs.free(SIZE, by)
    units = {runs.UNIT: Carried(unit), COUNT: Carried(size)}
    query = coded(engine, subject, source=table, coding=coding, carried=units | carried)
    coded_rows = engine.materialize("coded", query)
    is_counted = carried.pop(ENTITY, None) is not None
    # A person may be a text or a date. Records without one are one person's.
    in_order = expression(
        "SELECT {{ listed(figures) }}{% if is_counted %},"
        " CAST(DENSE_RANK() OVER (ORDER BY entity) AS BIGINT) AS person_number{% endif %}"
        " FROM {{ rows }} ORDER BY sqlanon_unit",
        figures=[column(name) for name in (*word_names(words), COUNT, *carried)],
        is_counted=is_counted,
        rows=coded_rows,
    )
    rows = engine.numbers(in_order)
    codes = np.stack([rows[word(w)] for w in range(words)], axis=1)
    if (codes < 0).any():
        raise HierarchyError(uncovered_faults(engine, subject, maps=maps))
    ranks = [rows[name] for name in carried]
    return DistinctCombinations(
        by,
        rows[COUNT],
        codes,
        leaf_numbers(subject.trees, layout, codes=codes),
        np.stack(ranks, axis=1) if ranks else np.empty((len(codes), 0), np.int64),
        tuple(attributes),
        rows[PERSON] if is_counted else None,
        policy.k,
    )


def may_be_read(engine: Engine, rows: int) -> bool:
    """Whether so many rows of a table may be read into this process."""
    most = engine.can.local_rows
    return most is None or rows <= most


def combinations_in_memory(
    engine: Engine, subject: Subject, *, encoded: Encoded, k: int
) -> DistinctCombinations:
    """Reads the combinations of an encoded table, without persons and in no order."""
    details, attributes = encoded.details, tuple[SensitiveCodes, ...]()
    table = encoded.table
    if details is not None:
        table, attributes = details.table, details.attributes
    rows = engine.numbers(expression("SELECT * FROM {{ rows }} AS rows", rows=table))
    numbers = sorted({attribute.number for attribute in attributes})
    ranks = [rows[value_of(number)] for number in numbers]
    codes = np.stack([rows[word(w)] for w in range(encoded.layout.words)], axis=1)
    return DistinctCombinations(
        tuple(subject.names),
        rows[SIZE],
        codes,
        leaf_numbers(subject.trees, encoded.layout, codes=codes),
        np.stack(ranks, axis=1) if ranks else np.empty((len(codes), 0), np.int64),
        attributes,
        k=k,
    )


def block_of(
    engine: Engine, subject: Subject, *, encoded: Encoded, problem: ClusteringProblem
) -> Encoded:
    """The codes of the records of a problem, as those of a table of their own."""
    leaves, sizes = np.unique(problem.leaves, axis=0, return_counts=True)
    codes = packed_codes(subject.trees, encoded.layout, leaves=leaves)
    columns = {word(w): code.tolist() for w, code in enumerate(codes.T)} | {SIZE: sizes.tolist()}
    table = engine.load_rows("block", columns)
    counts = tuple(
        tuple(np.bincount(problem.leaves[:, number], minlength=len(tree.leaves)).tolist())
        for number, tree in enumerate(subject.trees)
    )
    return replace(encoded, table=table, rows=len(leaves), counts=counts)


def expanded(sizes: Numbers) -> Numbers:
    """The distinct combination of every record."""
    return np.repeat(np.arange(len(sizes)), sizes)


@dataclass(frozen=True, slots=True)
class Units:
    """The combinations of a table, and how a search reads them.

    Args:
        subject: The table.
        layout: Which bits hold which level of which column.
        coded: Words, keys, what is carried, and the size of each row.
        keys: The columns of a combination's places, which number it.
        values: Distinct values of each quasi-identifier.
        attributes: The sensitive attributes that models look at.
        carried: What rows carry for them.
        ranks: Per attribute the number of each value; -1 for one that no record holds any more.
    """

    subject: Subject
    layout: Layout
    coded: exp.Table
    keys: tuple[str, ...]
    values: tuple[int, ...]
    attributes: tuple[SensitiveCodes, ...]
    carried: tuple[str, ...]
    ranks: tuple[Numbers, ...]

    def referring(self, counts: Sequence[Numbers]) -> Units:
        """The same, where records of each attribute's values are these; no others have a number.

        Args:
            counts: Per attribute the records of each value, or persons, and those with any.
        """
        attributes, ranks = [], []
        for attribute, rank, count in zip(self.attributes, self.ranks, counts, strict=True):
            values = len(attribute.counts)
            present = np.flatnonzero(count[:values])
            nodes = tuple(tuple(np.array(level)[present].tolist()) for level in attribute.nodes)
            persons = int(count[-1]) if attribute.persons else None
            attributes.append(
                replace(
                    attribute,
                    counts=tuple(count[present].tolist()),
                    nodes=nodes,
                    reference=replace(attribute.reference, persons=persons),
                )
            )
            number = np.full(values + 1, -1)  # the last one is that of no value
            number[present] = np.arange(len(present))
            ranks.append(number[rank])
        return replace(self, attributes=tuple(attributes), ranks=tuple(ranks))

    def parted(self, engine: Engine, node: tuple[int, ...]) -> exp.Table:
        """The table of combinations, parted by the nodes of the lattice's node."""
        query = parts.parted(
            self.coded,
            self.layout.words,
            keys=self.keys,
            carried=self.carried,
            bits=self.layout.node_masks(node),
        )
        return engine.materialize("parts", query)

    def rows(self, columns: Mapping[str, Numbers]) -> PartRows:
        """Rows of a search, from columns of a table of combinations."""
        codes = np.stack([columns[word(w)] for w in range(self.layout.words)], axis=1)
        return self.rows_at(leaf_numbers(self.subject.trees, self.layout, codes=codes), columns)

    def rows_at(self, leaves: Numbers, columns: Mapping[str, Numbers]) -> PartRows:
        """Rows with `leaves[row, column]`, and the other columns of a table of combinations."""
        pairs = zip(self.attributes, self.ranks, strict=True)
        values = [rank[columns[value_of(attribute.number)]] for attribute, rank in pairs]
        return PartRows(
            tuple(np.ascontiguousarray(leaf, np.int32) for leaf in leaves.T),
            columns[encode.SIZE],
            tuple(values),
            tuple(attribute.persons for attribute in self.attributes),
            columns.get(ENTITY),
        )


def units_of(engine: Engine, subject: Subject, *, policy: Policy) -> Units:
    """Encodes the distinct combinations of a table, with what models look at.

    Raises:
        HierarchyError: A hierarchy does not fit its column.
    """
    layout, maps = leaf_maps(engine, subject)
    attributes: list[SensitiveCodes] = []
    carried: dict[str, Carried] = {}
    if policy.demands or policy.entity:
        attributes, carried = ranked(engine, subject, policy=policy)
    if policy.entity is not None:
        carried[ENTITY] = Carried(policy.entity, _persons(engine, subject, policy.entity))
    values, placed = _placed(engine, subject, coding=(layout, maps))
    words = 1 + max(word_ for word_, _ in factors(values))
    wide = Layout(layout.fields, layout.words + words)
    query = coded(engine, subject, source=subject.table, coding=(wide, placed), carried=carried)
    table = engine.materialize("units", query)
    _, records = engine.rows(encode.extent(table, layout.words))[0]
    if records != subject.records:
        raise HierarchyError(uncovered_faults(engine, subject, maps=maps))
    keys = tuple(word(layout.words + number) for number in range(words))
    ranks = tuple(np.append(np.arange(len(attribute.counts)), -1) for attribute in attributes)
    return Units(subject, layout, table, keys, values, tuple(attributes), tuple(carried), ranks)


def _placed(
    engine: Engine, subject: Subject, *, coding: tuple[Layout, Maps]
) -> tuple[tuple[int, ...], dict[str, LeafMap]]:
    """Distinct values per quasi-identifier, and its leaf map with the places of its values."""
    layout, maps = coding
    numbered = (places(subject.table, name) for name in subject.names)
    made = [engine.materialize_counted("places", query) for query in numbered]
    orders, values = zip(*made, strict=True)
    placed = {}
    for name, order, (number, factor) in zip(subject.names, orders, factors(values), strict=True):
        words, key = maps[name].words, word(layout.words + number)
        query = parts.placed_leaves(maps[name].rows, order, words=words, key=key, factor=factor)
        placed[name] = LeafMap(engine.materialize("leaves", query), [*words, key])
    return values, placed


def _persons(engine: Engine, subject: Subject, entity: str) -> exp.Table:
    """Rows of VALUE and RANK that number persons."""
    query = expression(
        "SELECT value, CAST(sqlanon_place AS BIGINT) AS rank FROM {{ places }} AS persons",
        places=places(subject.table, entity),
    )
    return engine.materialize("persons", query)


def packed_codes(trees: Sequence[Tree], layout: Layout, *, leaves: Numbers) -> Numbers:
    """Packed codes of records, `codes[record, word]`, of `leaves[record, column]`."""
    codes = np.zeros((len(leaves), layout.words), np.int64)
    for number, tree in enumerate(trees):
        codes |= np.array(layout.leaf_codes(number, tree), np.int64)[leaves[:, number]]
    return codes


def leaf_numbers(trees: Sequence[Tree], layout: Layout, *, codes: Numbers) -> Numbers:
    """The leaves that packed codes stand for: `leaves[record, column]` of `codes[record, word]`."""
    leaves = np.zeros((len(codes), len(trees)), np.int64)
    for number, tree in enumerate(trees):
        listed = np.array(layout.leaf_codes(number, tree), np.int64)
        keys = [
            np.concatenate((listed[:, w], codes[:, w] & mask))
            for w, mask in enumerate(layout.column_masks(number, 0))
            if mask
        ]
        if keys:  # a single leaf has no bits
            known, wanted = np.split(united(keys), [len(listed)])
            order = np.argsort(known)
            leaves[:, number] = order[np.searchsorted(known, wanted, sorter=order)]
    return leaves
