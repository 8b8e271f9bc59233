"""Mined: itemsets that were found, in the database, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.encoding import Encoded
from sqlanon.engine.base import Engine
from sqlanon.hierarchy import Tree
from sqlanon.itemcodes import ItemCodes
from sqlanon.query import cheapest, itemsets
from sqlanon.query.encode import ATTRIBUTE
from sqlanon.query.extension import Step
from sqlanon.query.names import create_temporary, drop_table
from sqlanon.search.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Found:
    """Itemsets as arrays of one length, in the order of the trees, the first attribute first.

    Args:
        nodes: Per attribute the number of the itemset's node in the attribute's taxonomy, in the
            smallest signed type that holds them all.
        supports: Records of each itemset.
    """

    nodes: tuple[NDArray[np.signedinteger], ...]
    supports: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Members:
    """Which records hold which itemsets, in the compact form that mining goes through.

    Args:
        encoded: The table that was mined.
        values: Per attribute and leaf its packed code and its code for mining.
        levels: Per attribute in the order of mining what was known of it, and the members of the
            itemsets without it.
    """

    encoded: Encoded
    values: exp.Table
    levels: tuple[tuple[Step, exp.Table], ...]

    def drop(self, engine: Engine) -> None:
        """Drops their tables."""
        for table in (self.values, *(members for _, members in self.levels)):
            engine.run(drop_table(table, exists=True))


@dataclass(frozen=True, slots=True)
class Itemsets:
    """Itemsets that were found, in the database.

    Args:
        table: Their codes and supports, temporary, in any order.
        count: Number of itemsets.
        memberships: Number of pairs of an itemset and a record of its support.
        codes: What the codes mean.
        members: Which records hold them; None where that was not to be kept.
    """

    table: exp.Table
    count: int
    memberships: int
    codes: ItemCodes
    members: Members | None = None

    def fetch(self, engine: Engine) -> Found:
        """All of them, out of the database.

        Args:
            engine: The one that found them.
        """
        rows = engine.fetch(itemsets.ordered(self.table, self.codes.words))
        words = [column.to_numpy() for column in rows.columns[:-1]]
        nodes = [_small(self.codes.nodes(n, words)) for n in range(len(self.codes.forests))]
        return Found(tuple(nodes), rows.columns[-1].to_numpy())

    def labelled(self, engine: Engine, trees: Sequence[Tree]) -> exp.Select:
        """A query of the itemsets as generalized values and their support.

        Args:
            engine: The one that found them; it gets a temporary table of labels.
            trees: The hierarchies, in the order of the attributes.
        """
        labels = {
            attribute: _labels(tree, self.codes.forests[attribute].numbers)
            for attribute, tree in enumerate(trees)
        }
        table = self._of_nodes(engine, labels, itemsets.LABEL, "VARCHAR")
        columns = {tree.column: self.codes.bits(n) for n, tree in enumerate(trees)}
        return itemsets.labelled(self.table, table, columns)

    def _of_nodes(
        self, engine: Engine, given: Mapping[int, Sequence[object]], name: str, kind: str
    ) -> exp.Table:
        """A table of what belongs to each node, by the node's code."""
        rows = [
            (attribute, *code, value)
            for attribute, values in given.items()
            for code, value in zip(self.codes.codes(attribute), values, strict=True)
        ]
        names = [ATTRIBUTE, *(itemsets.code(w) for w in range(self.codes.words))]
        return loaded(engine, name, rows, {**dict.fromkeys(names, "BIGINT"), name: kind})

    def cheapest(self, engine: Engine, costs: Sequence[Sequence[int]]) -> exp.Table:
        """What the cheapest itemset that holds it costs, per row of the encoded table.

        With a loss that never shrinks on the way up, no k-anonymization costs a record less.

        Args:
            engine: The one that found them, with their members.
            costs: Per attribute and node of its taxonomy what a cell costs there [units].

        Returns:
            A temporary table of the encoded table's words, its size, and COST; rows that no
            itemset holds are not in it.

        Source:
            Gionis, Mazza, Tassa 2008, section 4; Kenig 2009, chapter 8, for closed itemsets.
        """
        assert self.members is not None, "the members were not kept"
        prices = self._prices(engine, costs)
        best = engine.temporary("best")
        engine.run(create_temporary(best, self._finished(costs)))
        for step, members in reversed(self.members.levels):
            query = cheapest.cheapest(members, best, prices, step)
            longer, best = best, engine.temporary("best")
            engine.run(create_temporary(best, query))
            engine.run(drop_table(longer))
        found = engine.temporary("cheapest")
        engine.run(create_temporary(found, self._by_combination(self.members, best)))
        for table in (best, prices):
            engine.run(drop_table(table))
        return found

    def _prices(self, engine: Engine, costs: Sequence[Sequence[int]]) -> exp.Table:
        forests = self.codes.forests
        prices = {n: [int(costs[n][m]) for m in forests[n].numbers] for n in self.codes.order}
        return self._of_nodes(engine, prices, cheapest.COST, "BIGINT")

    def _finished(self, costs: Sequence[Sequence[int]]) -> exp.Select:
        constant = sum(
            int(own[int(forest.numbers[0])])
            for own, forest in zip(costs, self.codes.forests, strict=True)
            if forest.is_constant
        )
        return cheapest.finished(self.table, self.codes.words, constant)

    def _by_combination(self, members: Members, best: exp.Table) -> exp.Select:
        layout = members.encoded.layout
        masks = {attribute: layout.column_masks(attribute, 0) for attribute in self.codes.order}
        sizes = layout.words, self.codes.words
        return cheapest.by_combination(members.encoded.table, members.values, best, masks, sizes)


def lower_bound(engine: Engine, costs: exp.Table) -> int:
    """What all records cost at least [units]; 0 where no itemset holds any.

    Args:
        engine: Where the table is.
        costs: What `Itemsets.cheapest` found.
    """
    return int(engine.rows(cheapest.lower_bound(costs))[0][0])


def loaded(
    engine: Engine, prefix: str, rows: Sequence[tuple[object, ...]], types: Mapping[str, str]
) -> exp.Table:
    """A temporary table of rows.

    Args:
        engine: Where it goes.
        prefix: How its name begins.
        rows: Its rows.
        types: The database's type text by column name.
    """
    table = engine.temporary(prefix)
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in types]
    engine.load(table, dict(zip(types, columns, strict=True)), types)
    return table


def taxonomy_of(tree: Tree) -> Taxonomy:
    """The numbering of a hierarchy's nodes, where costs do not matter."""
    return Taxonomy.of(tree, [[0] * len(tree.sizes(level)) for level in range(tree.height + 1)])


def _labels(tree: Tree, numbers: NDArray[np.int64]) -> list[str | None]:
    taxonomy = taxonomy_of(tree)
    pairs = zip(taxonomy.level[numbers].tolist(), taxonomy.low[numbers].tolist(), strict=True)
    return [tree.labels[level][leaf] for level, leaf in pairs]


def _small(numbers: NDArray[np.int64]) -> NDArray[np.signedinteger]:
    largest = int(numbers.max(initial=0))
    kind = next(kind for kind in (np.int8, np.int16, np.int32) if largest <= np.iinfo(kind).max)
    return numbers.astype(kind)
