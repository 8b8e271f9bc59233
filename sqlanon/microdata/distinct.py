"""Distinct combinations of a table as arrays, for searches that recode record by record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.layout import Layout
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.encoding import Encoded, Maps, coded, uncovered_faults
from sqlanon.policy.policy import Policy
from sqlanon.query.encoding.encode import SIZE, Carried, word
from sqlanon.query.publish import clusters
from sqlanon.query.syntax import column, select, star
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.problem import ClusteringProblem
from sqlanon.search.packing import leaf_numbers, packed_codes
from sqlanon.search.privacy import Demands, ValueDemand

if TYPE_CHECKING:
    from sqlanon.microdata.sensitive_codes import SensitiveCodes

COUNT = "records"


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
        coded: A temporary table of their codes; UNIT and COUNT are its other columns.
    """

    by: tuple[str, ...]
    sizes: Numbers
    codes: Numbers
    leaves: Numbers
    values: Numbers
    attributes: tuple[SensitiveCodes, ...]
    coded: exp.Table

    def leaf_counts(self, trees: Sequence[Tree]) -> tuple[tuple[int, ...], ...]:
        """Records per leaf of every column [records]."""
        return tuple(
            tuple(np.bincount(own, self.sizes, len(tree.leaves)).astype(np.int64).tolist())
            for own, tree in zip(self.leaves.T, trees, strict=True)
        )

    def demands(self) -> Demands | None:
        """The models beyond k, asked of groups of distinct combinations; None without any."""
        every = tuple(
            ValueDemand(number, model, np.array(each.counts), tuple(map(np.array, each.nodes)))
            for number, each in enumerate(self.attributes)
            for model in each.models
        )
        return Demands(self.values, every) if every else None


def distinct_combinations(
    engine: Engine, subject: Subject, *, coding: tuple[Layout, Maps], policy: Policy
) -> DistinctCombinations:
    """Reads the distinct combinations of quasi-identifiers and of the values that models look at.

    Raises:
        HierarchyError: Values that no leaf covers, all at once.
    """
    layout, maps = coding
    attributes: Sequence[SensitiveCodes] = ()
    carried: dict[str, Carried] = {}
    if policy.demands:
        from sqlanon.microdata.sensitive_codes import ranked  # k alone does not need it

        attributes, carried = ranked(engine, subject, policy=policy)
    by = tuple(dict.fromkeys([*subject.names, *(item.origin for item in carried.values())]))
    table = engine.materialize("combinations", clusters.units(subject.table, by))
    words = layout.words
    unit, size = clusters.free(clusters.UNIT, by), clusters.free(SIZE, by)
    own = {clusters.UNIT: Carried(unit), COUNT: Carried(size)}
    query = coded(engine, subject, source=table, coding=coding, carried=own | carried)
    coded_rows = engine.materialize("coded", query)
    by_unit = exp.Ordered(this=column(clusters.UNIT))
    rows = engine.fetch(select([star()], coded_rows).order_by(by_unit, copy=False))
    if any(rows.column(word(w)).null_count for w in range(words)):
        raise HierarchyError(uncovered_faults(engine, subject, maps=maps))
    codes = np.stack([_whole(rows.column(word(w))) for w in range(words)], axis=1)
    ranks = [_whole(rows.column(name)) for name in carried]
    return DistinctCombinations(
        by,
        _whole(rows.column(COUNT)),
        codes,
        leaf_numbers(subject.trees, layout, codes=codes),
        np.stack(ranks, axis=1) if ranks else np.empty((len(codes), 0), np.int64),
        tuple(attributes),
        coded_rows,
    )


def _whole(values: object) -> Numbers:
    """An Arrow column of whole numbers; NULL is -1."""
    held: Any = values
    filled = held.fill_null(-1) if held.null_count else held
    # `to_numpy` would load pandas where it is installed, which takes longer than all the rest.
    parts = [np.from_dlpack(chunk) for chunk in filled.chunks]
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)


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
