"""Mining: the closed frequent generalized itemsets of a table, found inside the database.

An itemset names one node per quasi-identifier; the records below all of them are its support. It
is frequent with a support of k records or more, and closed where no lower nodes have the same
support. So the closed frequent itemsets are the classes that a local recoding may choose from.
Sources: Kenig 2009, chapter 7; Park and Shim 2007, sections 4.3 and 4.4, for suppression.

Attributes are taken one after the other by the statements of `extended`. Records
are rows of the encoded table, so that those alike are counted once with their size. Nothing but
the codes of values goes to the database, and nothing comes back until it is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from sqlanon.engine.base import Engine, by_column
from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.layout import Words
from sqlanon.methods.itemsets.codes import Forest, ItemCodes
from sqlanon.methods.itemsets.itemsets import Itemsets, taxonomy_of
from sqlanon.microdata.encoding import Encoded
from sqlanon.progress import ProgressLine
from sqlanon.query import itemsets
from sqlanon.query.encoding.encode import ATTRIBUTE, word
from sqlanon.query.itemsets import Depth, Step
from sqlanon.sqltext import Fragment
from sqlanon.wording import counted

KINDS = ("closed", "frequent")


@dataclass(frozen=True, slots=True)
class MiningRequest:
    """Which itemsets to mine.

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


def mined(
    engine: Engine, encoded: Encoded, *, trees: Sequence[Tree], wanted: MiningRequest
) -> Itemsets:
    """The frequent generalized itemsets of a table, closed ones alone or all.

    There are none where k is more than the number of records. Nodes are numbered as in the
    taxonomies of the trees. Call it in a workspace, which drops what an error leaves behind.
    """
    levels = zip(wanted.low, wanted.high, strict=True)
    forests = [
        Forest.of(taxonomy_of(tree), counts, k=wanted.k, levels=bounds)
        for tree, counts, bounds in zip(trees, encoded.counts, levels, strict=True)
    ]
    return _Mining(engine, ItemCodes.of(forests), wanted).run(encoded, trees)


@dataclass(frozen=True, slots=True)
class _Mining:
    """One run, which drops its tables as soon as they have served."""

    engine: Engine
    codes: ItemCodes
    wanted: MiningRequest

    def run(self, encoded: Encoded, trees: Sequence[Tree]) -> Itemsets:
        """Gives the itemset without nodes a node of one attribute after the other."""
        members = self._compacted(encoded, trees)
        # Where an attribute has no frequent node, not even all records have an itemset.
        least = sum(encoded.counts[0]) + 1 if self.codes.is_empty else self.wanted.k
        prefixes = self.engine.materialize(
            "prefixes", itemsets.whole(members, least, words=self.codes.words)
        )
        steps = self._steps()
        for step in steps[:-1]:
            self._tell(step, prefixes)
            longer = self.engine.materialize(
                "prefixes", itemsets.extended(prefixes, members, step=step)
            )
            wider = self.engine.materialize(
                "members", itemsets.extended_members(longer, members, step=step)
            )
            self._drop(prefixes, members)
            prefixes, members = longer, wider
        query: Fragment = prefixes
        for step in steps[-1:]:
            self._tell(step, prefixes)
            query = itemsets.extended(prefixes, members, step=step)
        table = self.engine.materialize("itemsets", itemsets.finished(query, self.codes.words))
        self._drop(prefixes, members)
        count, memberships = self.engine.rows(itemsets.totals(table))[0]
        return Itemsets(table, count, memberships, self.codes)

    def _drop(self, *tables: exp.Table) -> None:
        for table in tables:
            self.engine.drop(table)

    def _tell(self, step: Step, prefixes: exp.Table) -> None:
        if self.wanted.progress is not None:
            count, _ = self.engine.rows(itemsets.totals(prefixes))[0]
            place, steps = self.codes.order.index(step.attribute) + 1, len(self.codes.order)
            told = counted(count, "itemset")
            line = f"mining: attribute {place} of {steps}, {told} so far"
            self.wanted.progress(ProgressLine(line, (place - 1) / steps))

    def _steps(self) -> list[Step]:
        """The attributes in the order of mining, with the bits that their statements compare."""
        codes, steps = self.codes, []
        if codes.is_empty:
            return []
        bits = [codes.bits(attribute) for attribute in codes.order]
        for place, attribute in enumerate(codes.order):
            before, mined_bits = bits[:place], bits[: place + 1]
            highest = [_highest(own) for own in mined_bits]
            lower = [
                tuple(a & ~b for a, b in zip(own, top, strict=True))
                for own, top in zip(mined_bits, highest, strict=True)
            ]
            step = Step(
                attribute=attribute,
                k=self.wanted.k,
                depths=self._depths(attribute),
                bits=bits[place],
                before=_together(before, codes.words),
                rest=_together(bits[place + 1 :], codes.words),
                closed=(_together(lower, codes.words), _together(highest, codes.words))
                if self.wanted.kind == "closed"
                else None,
            )
            steps.append(step)
        return steps

    def _depths(self, attribute: int) -> list[Depth]:
        """The depths of an attribute's nodes, from the top, if there is one."""
        count = len(self.codes.fields[attribute])
        first = 0 if self.codes.forests[attribute].top is not None else 1
        return [
            Depth(
                above=self.codes.bits(attribute, max(depth - 1, 0), high=depth),
                path=self.codes.bits(attribute, 0, high=depth),
                below=self.codes.bits(attribute, depth, high=depth + 1),
            )
            for depth in range(first, count + 1)
        ]

    def _values(self, encoded: Encoded, trees: Sequence[Tree]) -> exp.Table:
        """Every leaf that records hold, in packed codes and in codes for mining."""
        codes, layout = self.codes, encoded.layout
        rows: list[tuple[object, ...]] = []
        for attribute in codes.order:
            forest, own = codes.forests[attribute], codes.codes(attribute)
            packed = layout.leaf_codes(attribute, trees[attribute])
            for leaf in np.flatnonzero(forest.records).tolist():
                node = int(forest.deepest[leaf])
                every = own[node] if node >= 0 else (0,) * codes.words
                some = codes.some(attribute, node, code=every)
                rows.append((attribute, *packed[leaf], *every, *some))
        names = [ATTRIBUTE, *(word(w) for w in range(layout.words))]
        names += [name(w) for name in (itemsets.every, itemsets.some) for w in range(codes.words)]
        return self.engine.load_rows("values", by_column(names, rows))

    def _compacted(self, encoded: Encoded, trees: Sequence[Tree]) -> exp.Table:
        """The encoded table in the codes for mining: values alike there are one from now on."""
        values, codes = self._values(encoded, trees), self.codes
        masks = {a: encoded.layout.column_masks(a, 0) for a in codes.order}
        query = itemsets.compacted(encoded.table, values, masks=masks, words=codes.words)
        members = self.engine.materialize("members", query)
        self._drop(values)
        return members


def _highest(bits: Words) -> Words:
    """The highest bit of each word that is set."""
    return tuple(1 << own.bit_length() - 1 if own else 0 for own in bits)


def _together(masks: Sequence[Words], words: int) -> Words:
    """The union of masks that have no bit in common."""
    return tuple(sum(own[w] for own in masks) for w in range(words))
