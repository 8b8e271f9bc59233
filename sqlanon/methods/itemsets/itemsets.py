"""Itemsets that were found, in the database: fetched as arrays, or labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.engine.base import Engine, by_column
from sqlanon.hierarchy.declaration import Tree
from sqlanon.methods.itemsets.codes import ItemCodes
from sqlanon.query import itemsets
from sqlanon.query.encoding.encode import ATTRIBUTE
from sqlanon.query.text import TEXT
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class MinedItemsets:
    """Itemsets as arrays of one length, in the order of the trees, the first attribute first.

    Args:
        nodes: Per attribute the number of the itemset's node in the attribute's taxonomy, in the
            smallest signed type that holds them all.
        supports: Records of each itemset.
    """

    nodes: tuple[NDArray[np.signedinteger], ...]
    supports: Numbers


@dataclass(frozen=True, slots=True)
class Itemsets:
    """Itemsets that were found, in the database.

    Args:
        table: Their codes and supports, temporary, in any order.
        count: Number of itemsets.
        memberships: Number of pairs of an itemset and a record of its support.
        codes: What the codes mean.
    """

    table: exp.Table
    count: int
    memberships: int
    codes: ItemCodes

    def fetch(self, engine: Engine) -> MinedItemsets:
        """All of them, out of the database of the engine that found them."""
        rows = engine.fetch(itemsets.ordered(self.table, self.codes.words))
        words = [column.to_numpy() for column in rows.columns[:-1]]
        nodes = [_small(self.codes.nodes(n, words)) for n in range(len(self.codes.forests))]
        return MinedItemsets(tuple(nodes), rows.columns[-1].to_numpy())

    def labelled(self, engine: Engine, trees: Sequence[Tree]) -> exp.Query:
        """A query of the itemsets as generalized values and their support.

        The engine that found them gets a temporary table of labels.
        """
        rows = [
            (attribute, *code, label)
            for attribute, tree in enumerate(trees)
            for code, label in zip(
                self.codes.codes(attribute),
                _labels(tree, self.codes.forests[attribute].numbers),
                strict=True,
            )
        ]
        words = [itemsets.code(w) for w in range(self.codes.words)]
        listed = by_column([ATTRIBUTE, *words, itemsets.LABEL], rows)
        table = engine.load_rows("labels", listed, {itemsets.LABEL: TEXT})
        columns = {tree.column: self.codes.bits(n) for n, tree in enumerate(trees)}
        return itemsets.labelled(self.table, table, columns=columns).tree()


def taxonomy_of(tree: Tree) -> Taxonomy:
    """The numbering of a hierarchy's nodes, where costs do not matter."""
    return Taxonomy.of(tree, [[0] * len(tree.sizes(level)) for level in range(tree.height + 1)])


def _labels(tree: Tree, numbers: Numbers) -> list[str | None]:
    taxonomy = taxonomy_of(tree)
    pairs = zip(taxonomy.level[numbers].tolist(), taxonomy.low[numbers].tolist(), strict=True)
    return [tree.labels[level][leaf] for level, leaf in pairs]


def _small(numbers: Numbers) -> NDArray[np.signedinteger]:
    largest = int(numbers.max(initial=0))
    kind = next(kind for kind in (np.int8, np.int16, np.int32) if largest <= np.iinfo(kind).max)
    return numbers.astype(kind)
