"""Mining: the closed frequent generalized itemsets of a table, found inside the database.

An itemset names one node per quasi-identifier; the records below all of them are its support. It
is frequent with a support of k records or more, and closed where no lower nodes have the same
support. So the closed frequent itemsets are the classes that a local recoding may choose from.
Sources: Kenig 2009, chapter 7; Gionis, Mazza, Tassa 2008 for what they are good for.

Attributes are taken one after the other, the statements are those of `query.extension`. Records
are rows of the encoded table, so that those alike are counted once with their size. Nothing but
the nodes' numbers goes to the database, and nothing comes back until it is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.encoding import Encoded
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.hierarchy import Tree
from sqlanon.itemcodes import Forest, ItemCodes, Words
from sqlanon.query import extension, itemsets
from sqlanon.query.encode import ATTRIBUTE, word
from sqlanon.query.extension import Step
from sqlanon.query.names import create_temporary, drop_table
from sqlanon.search.taxonomy import Taxonomy

KINDS = ("closed", "frequent")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be mined.

    Args:
        k: Fewest records of an itemset, at least 1.
        kind: `closed`, or `frequent` for those that are not closed, too.
        low: Per attribute the lowest level of its nodes.
        high: Per attribute the highest level of its nodes.
        progress: Called with a line that says how far the mining is.

    Raises:
        PolicyError: An unknown kind, or no k.
    """

    k: int
    kind: str
    low: Sequence[int]
    high: Sequence[int]
    progress: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise PolicyError(f"unknown kind {self.kind!r}; choose from {', '.join(KINDS)}")
        if self.k < 1:
            raise PolicyError(f"k is {self.k}; an itemset has at least 1 record")


@dataclass(frozen=True, slots=True)
class Found:
    """Itemsets in the order of their nodes, as arrays of one length.

    Args:
        nodes: Per attribute the number of the itemset's node in the attribute's taxonomy, in the
            smallest signed type that holds them all.
        supports: Records of each itemset.
    """

    nodes: tuple[NDArray[np.signedinteger], ...]
    supports: NDArray[np.int64]


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

    def fetch(self, engine: Engine) -> Found:
        """All of them, out of the database.

        Args:
            engine: The one that found them.
        """
        rows = engine.fetch(itemsets.ordered(self.table, self.codes.itemset_words))
        words = [column.to_numpy() for column in rows.columns[:-1]]
        nodes = []
        for field, forest in zip(self.codes.nodes, self.codes.forests, strict=True):
            own = (words[field.word] >> field.offset) & ((1 << field.width) - 1)
            nodes.append(_small(forest.numbers)[own])
        return Found(tuple(nodes), rows.columns[-1].to_numpy())

    def labelled(self, engine: Engine, trees: Sequence[Tree]) -> exp.Select:
        """A query of the itemsets as generalized values and SUPPORT.

        Args:
            engine: The one that found them; it gets a temporary table of labels.
            trees: The hierarchies, in the order of the attributes.
        """
        columns: dict[str, list[object]] = {ATTRIBUTE: [], itemsets.NODE: [], itemsets.LABEL: []}
        for attribute, tree in enumerate(trees):
            field = self.codes.nodes[attribute]
            numbers = self.codes.forests[attribute].numbers
            columns[ATTRIBUTE] += [attribute] * len(numbers)
            columns[itemsets.NODE] += [index << field.offset for index in range(len(numbers))]
            columns[itemsets.LABEL] += _labels(tree, numbers)
        types = {**dict.fromkeys(columns, "BIGINT"), itemsets.LABEL: "VARCHAR"}
        labels = engine.temporary("labels")
        engine.load(labels, columns, types)
        fields = {
            tree.column: (field.word, field.mask)
            for tree, field in zip(trees, self.codes.nodes, strict=True)
        }
        return itemsets.labelled(self.table, labels, fields, self.codes.itemset_words)


def mined(engine: Engine, encoded: Encoded, trees: Sequence[Tree], wanted: Wanted) -> Itemsets:
    """The frequent generalized itemsets of a table, closed ones alone or all.

    Args:
        engine: Where the table is.
        encoded: The table.
        trees: The hierarchies of its quasi-identifiers; nodes are numbered as in their taxonomies.
        wanted: What is to be mined.

    Returns:
        None of them where k is more than the number of records.
    """
    levels = zip(wanted.low, wanted.high, strict=True)
    forests = [
        Forest.of(_taxonomy(tree), counts, wanted.k, bounds)
        for tree, counts, bounds in zip(trees, encoded.counts, levels, strict=True)
    ]
    codes = ItemCodes.of(forests)
    table = engine.temporary("itemsets")
    with engine.workspace():
        last = _Mining(engine, codes, wanted).run(encoded, trees)
        engine.run(create_temporary(table, itemsets.finished(last, codes.itemset_words)))
    count, memberships = engine.rows(itemsets.totals(table))[0]
    return Itemsets(table, count, memberships, codes)


@dataclass(frozen=True, slots=True)
class _Mining:
    """One run; tables are dropped as soon as they have served."""

    engine: Engine
    codes: ItemCodes
    wanted: Wanted

    def run(self, encoded: Encoded, trees: Sequence[Tree]) -> exp.Query:
        """Gives the itemset without nodes a node of one attribute after the other.

        Returns:
            A query of the itemsets that have all their nodes, not run yet.
        """
        members, nodes = self._compacted(encoded, trees), self._nodes()
        sizes = self.codes.itemset_words, self.codes.words
        query: exp.Query = itemsets.whole(members, self.wanted.k, sizes)
        prefixes, before = None, None
        for step in self._steps():
            extended = self._made("prefixes", query)
            if prefixes is not None and before is not None:
                wider = extension.extended_members(extended, members, nodes, before)
                old, members = members, self._made("members", wider)
                self.engine.run(drop_table(old))
                self.engine.run(drop_table(prefixes))
            prefixes, before = extended, step
            self._tell(step, prefixes)
            query = extension.extended(prefixes, members, nodes, step)
        return query

    def _made(self, prefix: str, query: exp.Query) -> exp.Table:
        table = self.engine.temporary(prefix)
        self.engine.run(create_temporary(table, query))
        return table

    def _tell(self, step: Step, prefixes: exp.Table) -> None:
        if self.wanted.progress is not None:
            count, _ = self.engine.rows(itemsets.totals(prefixes))[0]
            place, steps = self.codes.order.index(step.attribute) + 1, len(self.codes.order)
            self.wanted.progress(f"mining attribute {place} of {steps}, {count:,} itemsets so far")

    def _steps(self) -> list[Step]:
        """The attributes in the order of mining, with what their statements need to know."""
        codes, steps = self.codes, []
        bits = {attribute: codes.bits(attribute) for attribute in codes.order}
        before, closed = [0] * codes.itemset_words, []
        for place, attribute in enumerate(codes.order):
            forest, field = codes.forests[attribute], codes.nodes[attribute]
            if self.wanted.kind == "closed" and any(bits[attribute]):
                closed.append(bits[attribute])
            rest = [bits[later] for later in codes.order[place + 1 :]]
            step = Step(
                attribute=attribute,
                k=self.wanted.k,
                word=field.word,
                field=field.mask,
                before=tuple(before),
                bits=bits[attribute],
                rest=tuple(sum(own) for own in zip(*rest, strict=True)) or (0,) * codes.words,
                closed=tuple(closed),
                top=None if forest.top is None else forest.top << field.offset,
                top_split=self._splits(attribute)[-1] if forest.top is not None else (),
            )
            steps.append(step)
            before[field.word] |= field.mask
        return steps

    def _splits(self, attribute: int) -> list[Words]:
        """Per node the bits in which its records must differ; none where any itemset is wanted."""
        splits = self.codes.splits(attribute)
        if self.wanted.kind == "closed":
            return splits
        return [(0,) * self.codes.words for _ in splits]

    def _nodes(self) -> exp.Table:
        """The nodes above every value, of all attributes, in one table."""
        codes = self.codes
        every = [itemsets.every(w) for w in range(codes.words)]
        splits = [itemsets.split(w) for w in range(codes.words)]
        flags = [extension.IS_TOP, extension.IS_SINGLE]
        rows: list[tuple[object, ...]] = []
        for attribute in codes.order:
            forest, offset = codes.forests[attribute], codes.nodes[attribute].offset
            children, bits = forest.children.tolist(), self._splits(attribute)
            for deepest, (code, _) in codes.codes(attribute).items():
                for node in forest.ancestors(deepest):
                    flagged = node == forest.top, not children[node]
                    rows.append((attribute, *code, node << offset, *bits[node], *flagged))
        names = [ATTRIBUTE, *every, itemsets.NODE, *splits, *flags]
        types = {**dict.fromkeys(names, "BIGINT"), **dict.fromkeys(flags, "BOOLEAN")}
        return self._loaded("nodes", rows, types)

    def _compacted(self, encoded: Encoded, trees: Sequence[Tree]) -> exp.Table:
        """The encoded table in the codes for mining: values alike there are one from now on."""
        codes, layout = self.codes, encoded.layout
        rows: list[tuple[object, ...]] = []
        for attribute in codes.order:
            forest, own = codes.forests[attribute], codes.codes(attribute)
            packed = list(zip(*layout.leaf_codes(attribute, trees[attribute]), strict=True))
            for leaf in np.flatnonzero(forest.records).tolist():
                every, some = own[int(forest.deepest[leaf])]
                rows.append((attribute, *packed[leaf], *every, *some))
        names = [ATTRIBUTE, *(word(w) for w in range(layout.words))]
        names += [name(w) for name in (itemsets.every, itemsets.some) for w in range(codes.words)]
        values = self._loaded("values", rows, dict.fromkeys(names, "BIGINT"))
        masks = {attribute: layout.column_masks(attribute, 0) for attribute in codes.order}
        sizes = codes.itemset_words, codes.words
        return self._made("members", itemsets.compacted(encoded.table, values, masks, sizes))

    def _loaded(
        self, prefix: str, rows: Sequence[tuple[object, ...]], types: Mapping[str, str]
    ) -> exp.Table:
        table = self.engine.temporary(prefix)
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in types]
        self.engine.load(table, dict(zip(types, columns, strict=True)), types)
        return table


def _taxonomy(tree: Tree) -> Taxonomy:
    costs = [[0] * len(tree.sizes(level)) for level in range(tree.height + 1)]
    return Taxonomy.of(tree, costs)


def _labels(tree: Tree, numbers: NDArray[np.int64]) -> list[str | None]:
    taxonomy = _taxonomy(tree)
    pairs = zip(taxonomy.level[numbers].tolist(), taxonomy.low[numbers].tolist(), strict=True)
    return [tree.labels[level][leaf] for level, leaf in pairs]


def _small(numbers: NDArray[np.int64]) -> NDArray[np.signedinteger]:
    largest = int(numbers.max(initial=0))
    kind = next(kind for kind in (np.int8, np.int16, np.int32) if largest <= np.iinfo(kind).max)
    return numbers.astype(kind)
