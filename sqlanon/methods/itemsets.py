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

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine, by_column
from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Tree
from sqlanon.hierarchy.layout import WORD_BITS, Field, Words, field_masks
from sqlanon.microdata.binding import Subject, bind
from sqlanon.microdata.encoding import Encoded, encode_subject
from sqlanon.microdata.tables import place_of, try_place, unchanged, written_beside
from sqlanon.policy.policy import Policy
from sqlanon.policy.sizes import KAnonymity
from sqlanon.progress import tell
from sqlanon.query import itemsets
from sqlanon.query.encode import ATTRIBUTE, word_names
from sqlanon.query.itemsets import SUPPORT, Depth, Step
from sqlanon.query.syntax import TEXT, rows_and_sum
from sqlanon.reports.document import Provenance, SelfShown, ShownTable, page
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.taxonomy import Taxonomy
from sqlanon.sqltext import Sql
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True)
class Forest:
    """The frequent nodes of one hierarchy between two levels.

    No frequent itemset holds a node below k records (Kenig 2009, algorithm 16, steps 2-4). What
    remains without these is a laminar forest, and values that no frequent node tells apart are one
    value from then on.

    Args:
        numbers: Per node its number in the taxonomy, ascending.
        parents: Per node the index of the lowest node above it; -1 where there is none.
        depths: Per node how many nodes are above it; one more where no node holds every leaf.
        deepest: Per leaf the index of the lowest node that holds it; -1 where there is none.
        records: Per leaf the records that hold it.
        top: The node that holds every leaf, if it is among them.
    """

    numbers: Numbers
    parents: Numbers
    depths: Numbers
    deepest: Numbers
    records: Numbers
    top: int | None

    @classmethod
    def of(
        cls, taxonomy: Taxonomy, counts: Sequence[int], *, k: int, levels: tuple[int, int]
    ) -> Forest:
        """Keeps the nodes of at least k records.

        Args:
            taxonomy: The hierarchy.
            counts: Records per leaf [records].
            k: Fewest records of a node.
            levels: Lowest and highest level allowed; a node counts at every level that repeats it.
        """
        records = np.asarray(counts, np.int64)
        before = np.concatenate(([0], np.cumsum(records)))
        allowed = np.unique(taxonomy.ancestors[levels[0] : levels[1] + 1])
        supports = before[taxonomy.high[allowed] + 1] - before[taxonomy.low[allowed]]
        numbers = allowed[supports >= k]
        low, high = taxonomy.low[numbers], taxonomy.high[numbers]
        has_top = len(numbers) > 0 and low[-1] == 0 and high[-1] == taxonomy.leaves - 1
        parents, depths = np.full(len(numbers), -1), np.full(len(numbers), 0 if has_top else 1)
        deepest = np.full(taxonomy.leaves, -1)
        for node in reversed(range(len(numbers))):  # whatever is above has a higher number
            parents[node] = deepest[low[node]]
            if parents[node] >= 0:
                depths[node] = depths[parents[node]] + 1
            deepest[low[node] : high[node] + 1] = node
        top = len(numbers) - 1 if has_top else None
        return cls(numbers, parents, depths, deepest, records, top)

    @property
    def is_constant(self) -> bool:
        """Whether every itemset has the same node."""
        return self.top == 0

    @property
    def children(self) -> Numbers:
        """Children of each node; the last entry counts the nodes below no other."""
        counts = np.bincount(self.parents + 1, minlength=len(self.numbers) + 1)
        return np.roll(counts, -1)

    @property
    def places(self) -> list[int]:
        """The place of each node among its siblings, from 1."""
        places, taken = [], [0] * (len(self.numbers) + 1)
        for parent in self.parents.tolist():
            taken[parent] += 1
            places.append(taken[parent])
        return places

    @property
    def score(self) -> float:
        """Entropy of the attribute times log2 of its values [bits^2]: how it tells records apart.

        Attributes are mined in descending order of it. Those with few values come last: then the
        members of an itemset differ little in what is still to come, and members alike are one row.
        Near-constant ones come after those of as many values: they hardly make an itemset smaller.
        """
        counts = np.bincount(self.deepest + 1, weights=self.records)
        shares = counts[counts > 0] / counts.sum()
        return float(np.log2(len(shares)) * -(shares * np.log2(shares)).sum())

    def ancestors(self, node: int) -> list[int]:
        """A node and those above it, upwards; none for -1."""
        nodes = []
        while node >= 0:
            nodes.append(node)
            node = int(self.parents[node])
        return nodes


@dataclass(frozen=True, slots=True)
class ItemCodes:
    """Bit fields that hold the frequent nodes of all attributes.

    The code of a value is its path from the top: per depth a field with the place of its node among
    the children of the node above, from 1; fields below its deepest node are 0. So the code of a
    node above it is the same without the fields further down. With that goes what records agree on:
    `every` is the code, and `some` too, but for the field below the deepest node, which has all
    bits set there. Values of the same deepest node thus agree on nothing below it. They need not:
    if all records of an itemset had one lower node in common, it would be frequent.

    Args:
        forests: Per attribute its frequent nodes.
        fields: `fields[attribute][depth]` tells the children of a node of that depth apart.
        words: Number of words.
    """

    forests: tuple[Forest, ...]
    fields: tuple[tuple[Field, ...], ...]
    words: int

    @classmethod
    def of(cls, forests: Sequence[Forest]) -> ItemCodes:
        """Packs the fields, the first attribute's coarsest one into the highest bits.

        So itemsets in the order of their words, the last one first, have their nodes in the order
        of the trees, each before those below it.
        """
        widths = [_widths(forest)[::-1] for forest in reversed(forests)]
        packed, words = _packed([width for forest_widths in widths for width in forest_widths])
        rest = iter(packed)
        fields = [tuple(next(rest) for _ in forest_widths)[::-1] for forest_widths in widths]
        return cls(tuple(forests), tuple(reversed(fields)), words)

    @property
    def is_empty(self) -> bool:
        """Whether an attribute has no frequent node, so that there is no itemset."""
        return any(not len(forest.numbers) for forest in self.forests)

    @property
    def order(self) -> list[int]:
        """The attributes that tell itemsets apart, in the order of mining."""
        varying = [n for n, forest in enumerate(self.forests) if not forest.is_constant]
        return sorted(varying, key=lambda n: (-self.forests[n].score, n))

    def bits(self, attribute: int, low: int = 0, *, high: int | None = None) -> Words:
        """The bits in each word of an attribute's fields of depths from `low` to below `high`."""
        return field_masks(self.fields[attribute][low:high], self.words)

    def codes(self, attribute: int) -> list[Words]:
        """The code of each node."""
        forest, fields = self.forests[attribute], self.fields[attribute]
        places, codes = forest.places, []
        for node in range(len(forest.numbers)):
            code = [0] * self.words
            for ancestor in forest.ancestors(node):
                if ancestor != forest.top:
                    field = fields[int(forest.depths[ancestor]) - 1]
                    code[field.word] |= places[ancestor] << field.offset
            codes.append(tuple(code))
        return codes

    def some(self, attribute: int, node: int, *, code: Words) -> Words:
        """The bits that any of the values of a deepest node may have set; node -1 is none."""
        depth = int(self.forests[attribute].depths[node]) if node >= 0 else 0
        below = self.bits(attribute, depth, high=depth + 1)
        return tuple(bits | other for bits, other in zip(code, below, strict=True))

    def nodes(self, attribute: int, words: Sequence[Numbers]) -> Numbers:
        """The nodes of itemsets, by their numbers in the taxonomy, from the words of their codes.

        They are found from the top, field by field.
        """
        forest = self.forests[attribute]
        below = np.argsort(forest.parents, kind="stable")
        first = np.concatenate(([0], np.cumsum(np.roll(forest.children, 1))[:-1]))
        node = np.full(len(words[0]), -1 if forest.top is None else forest.top)
        for bits in self.fields[attribute]:
            place = (words[bits.word] >> bits.offset) & (bits.mask >> bits.offset)
            deeper = np.flatnonzero(place)
            node[deeper] = below[first[node[deeper] + 1] + place[deeper] - 1]
        numbers: Numbers = forest.numbers[node]
        return numbers


def _widths(forest: Forest) -> list[int]:
    """Bits per depth that tell the children of a node apart from each other and from none."""
    children = forest.children
    most = np.zeros(int(forest.depths.max(initial=0)) + 1, np.int64)
    np.maximum.at(most, forest.depths, children[:-1])
    if forest.top is None:
        most[0] = children[-1]
    return [int(number).bit_length() for number in most[:-1]]


def _packed(widths: Sequence[int]) -> tuple[list[Field], int]:
    """One field after the other, in as many words as it takes; at least one."""
    fields, word, used = [], 0, 0
    for width in widths:
        if used + width > WORD_BITS:
            word, used = word + 1, 0
        fields.append(Field(word, used, width))
        used += width
    return fields, word + 1


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
        below: All that cost less are found, and no others; None where all are.
    """

    table: exp.Table
    count: int
    memberships: int
    codes: ItemCodes
    below: int | None = None

    def fetch(self, engine: Engine) -> MinedItemsets:
        """All of them, out of the database of the engine that found them."""
        *words, support = engine.numbers(itemsets.ordered(self.table, self.codes.words)).values()
        nodes = [_small(self.codes.nodes(n, words)) for n in range(len(self.codes.forests))]
        return MinedItemsets(tuple(nodes), support)

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


KINDS = ("closed", "frequent")


@dataclass(frozen=True, slots=True)
class MiningRequest:
    """Which itemsets to mine.

    Args:
        k: Fewest records of an itemset, at least 1.
        kind: `closed`, or `frequent` for those that are not closed, too.
        low: Per attribute the lowest level of its nodes.
        high: Per attribute the highest level of its nodes.
        most: How many itemsets are kept, the cheapest, at least 1; None for all. Those that have
            nodes of some attributes are dropped as soon as so many are cheaper: with further nodes
            they cost no less.
        costs: Per attribute the cost of each node, which never shrinks on the way up; asked for
            with `most` alone.

    Raises:
        PolicyError: An unknown kind, or no k.
    """

    k: int
    kind: str
    low: Sequence[int]
    high: Sequence[int]
    most: int | None = None
    costs: Sequence[Numbers] = ()

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
        prefixes, count = self.engine.materialize_counted(
            "prefixes", itemsets.whole(members, least, words=self.codes.words)
        )
        below: int | None = None
        for step in self._steps():
            self._tell(step, count)
            query = itemsets.extended(prefixes, members, step=step)
            if not any(step.rest):
                query = itemsets.finished(query, self.codes.words)
            longer, count, below = self._kept(query, step, below)
            self._drop(prefixes)
            prefixes = longer
            if any(step.rest):
                wider = self.engine.materialize(
                    "members", itemsets.extended_members(prefixes, members, step=step)
                )
                self._drop(members)
                members = wider
        self._drop(members)
        count, memberships = self.engine.rows(rows_and_sum(prefixes, SUPPORT))[0]
        return Itemsets(prefixes, count, memberships, self.codes, below)

    def _kept(self, query: Sql, step: Step, below: int | None) -> tuple[exp.Table, int, int | None]:
        """Itemsets with a node of one more attribute, as many as wanted, and what all cost less.

        That limit falls from attribute to attribute, and an itemset costs no less than what it
        begins with. So all that cost less in the end have been kept.
        """
        most = self.wanted.most
        made: exp.Table | None = None
        if below is None:
            made, count = self.engine.materialize_counted("prefixes", query)
            if most is None or count <= most:
                return made, count, None
        costs = self._costs()
        mined = self.codes.order[: self.codes.order.index(step.attribute) + 1]
        forests = zip(self.wanted.costs, self.codes.forests, strict=True)
        least = [int(cost[forest.numbers].min()) for cost, forest in forests]
        cheaper = itemsets.cheaper(
            query if made is None else made,
            costs,
            columns={attribute: self.codes.bits(attribute) for attribute in mined},
            spare=sum(least) - sum(least[attribute] for attribute in mined),
            below=below,
        )
        kept, count = self.engine.materialize_counted("prefixes", cheaper)
        self._drop(costs, *([] if made is None else [made]))
        if most is None or count <= most:
            return kept, count, below
        [(below,)] = self.engine.rows(itemsets.cost_beyond(kept, most))
        fewer, count = self.engine.materialize_counted("prefixes", itemsets.below(kept, below))
        self._drop(kept)
        return fewer, count, below

    def _costs(self) -> exp.Table:
        """What every node of the attributes costs that tell itemsets apart."""
        rows = [
            (attribute, *code, cost)
            for attribute in self.codes.order
            for code, cost in zip(
                self.codes.codes(attribute),
                self.wanted.costs[attribute][self.codes.forests[attribute].numbers].tolist(),
                strict=True,
            )
        ]
        words = [itemsets.code(w) for w in range(self.codes.words)]
        return self.engine.load_rows("costs", by_column([ATTRIBUTE, *words, itemsets.COST], rows))

    def _drop(self, *tables: exp.Table) -> None:
        for table in tables:
            self.engine.tables.drop(table)

    def _tell(self, step: Step, count: int) -> None:
        done, steps = self.codes.order.index(step.attribute), len(self.codes.order)
        total = counted(count, "itemset")
        tell(f"mining: attribute {done + 1} of {steps}, {total} so far", done / steps)

    def _steps(self) -> list[Step]:
        """The attributes in the order of mining, with the bits that their statements compare."""
        codes, steps = self.codes, []
        if codes.is_empty:
            return []
        bits = [codes.bits(attribute) for attribute in codes.order]
        for place, attribute in enumerate(codes.order):
            before, mined_bits = bits[:place], bits[: place + 1]
            highest = [_highest(words) for words in mined_bits]
            lower = [
                tuple(a & ~b for a, b in zip(words, top, strict=True))
                for words, top in zip(mined_bits, highest, strict=True)
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
            forest, node_codes = codes.forests[attribute], codes.codes(attribute)
            packed = layout.leaf_codes(attribute, trees[attribute])
            for leaf in np.flatnonzero(forest.records).tolist():
                node = int(forest.deepest[leaf])
                every = node_codes[node] if node >= 0 else (0,) * codes.words
                some = codes.some(attribute, node, code=every)
                rows.append((attribute, *packed[leaf], *every, *some))
        names = [ATTRIBUTE, *word_names(layout.words)]
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
    return tuple(1 << value.bit_length() - 1 if value else 0 for value in bits)


def _together(masks: Sequence[Words], words: int) -> Words:
    """The union of masks that have no bit in common."""
    return tuple(sum(mask[w] for mask in masks) for w in range(words))


@dataclass(frozen=True, slots=True, repr=False)
class MiningReport(SelfShown):
    """Number of frequent or closed generalized itemsets of a table.

    Args:
        kind: `closed` or `frequent`.
        k: Fewest records of an itemset.
        records: Records of the table.
        itemsets: Number of itemsets.
        memberships: Number of pairs of an itemset and a record of its support.
        output: The table they were written to, if any.
        seconds: How long it took.
        notes: What a reader should know besides.
        provenance: What it was made of and when.
    """

    kind: str
    k: int
    records: int
    itemsets: int
    memberships: int
    output: str | None = None
    seconds: float = field(default=0.0, compare=False)
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The document of `mine --json`."""
        return {
            **self.provenance.head(),
            "kind": self.kind,
            "k": self.k,
            "records": self.records,
            "itemsets": self.itemsets,
            "memberships": self.memberships,
            "output": self.output,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }

    def headline(self) -> str:
        """How many there are."""
        return f"{counted(self.itemsets, f'{self.kind} itemset')} of {self.k:,} records or more"

    def shown_tables(self) -> list[ShownTable]:
        """What was counted."""
        rows = [
            ["records", f"{self.records:,}"],
            ["itemsets", f"{self.itemsets:,}"],
            ["pairs of an itemset and a record", f"{self.memberships:,}"],
            ["written to", self.output or "no table"],
        ]
        return [ShownTable(rows)]

    def to_text(self) -> str:
        """A page for a reader."""
        kind = "closed frequent" if self.kind == "closed" else "frequent"
        lines = [
            f"{counted(self.itemsets, f'{kind} generalized itemset')} of at least {self.k:,} of "
            f"{counted(self.records, 'record')}; {counted(self.memberships, 'pair')} "
            "of an itemset and a record that has it"
        ]
        if self.output is not None:
            lines.append(f"written to table {self.output}")
        return page(lines, self.notes)


@dataclass(frozen=True, slots=True)
class Listed:
    """Which itemsets to list, and where.

    Args:
        kind: `closed` or `frequent`.
        into: Name of a new table for the itemsets; None where they are only counted.
        overwrite: Whether that table may be there already, and be replaced.

    Raises:
        PolicyError: A table to be replaced, and none named.
    """

    kind: str = "closed"
    into: str | None = None
    overwrite: bool = False

    def __post_init__(self) -> None:
        if self.overwrite and self.into is None:
            raise PolicyError(
                "itemsets are only counted, and no table is replaced; name one with into (--into "
                "TABLE), or leave overwrite (--overwrite) out"
            )


@phase("mining")
def list_itemsets(
    engine: Engine, table: exp.Table, *, policy: Policy, listed: Listed
) -> MiningReport:
    """Mines the itemsets of a table within the level bounds of its quasi-identifiers.

    Raises:
        PolicyError: No k, an entity, or an unknown kind.
        HierarchyError: A hierarchy does not fit the table.
        SourceError: The new table's name is taken.
        TimeLimitError: The engine's deadline came before the end.
    """
    started = time.monotonic()
    plain = _plain(policy)
    place: exp.Table | None = None
    if listed.into is not None:
        itself = "the mined table itself; choose another name"
        place = place_of(
            engine, listed.into, source=table, overwrite=listed.overwrite, itself=itself
        )
    subject = bind(engine, table, policy=plain)
    if place is not None:
        _refuse_named_support(subject)
        try_place(engine, place)
    wanted = MiningRequest(policy.k, listed.kind, subject.low, subject.high)
    # Where something is published, it is looked at again before, else by whoever has opened it.
    steady = nullcontext() if place is None else unchanged(engine, table, subject.names)
    with engine.workspace():
        with steady:
            encoded = encode_subject(engine, subject, plain)
            result = mined(engine, encoded, trees=subject.trees, wanted=wanted)
        if place is not None:
            rows = result.labelled(engine, subject.trees)
            with written_beside(engine, rows, place=place, overwrite=listed.overwrite):
                pass
    return MiningReport(
        kind=listed.kind,
        k=policy.k,
        records=subject.records,
        itemsets=result.count,
        memberships=result.memberships,
        output=listed.into,
        seconds=time.monotonic() - started,
    )


def _plain(policy: Policy) -> Policy:
    """The quasi-identifiers alone: k may well be more than the number of records.

    Raises:
        PolicyError: No k, or an entity.
    """
    if not any(isinstance(model, KAnonymity) for model in policy.models):
        raise PolicyError("k says how many records an itemset has at least; give it with --k K")
    if policy.entity is not None:
        raise PolicyError("itemsets count records, not persons; leave the entity column out")
    nothing: Any = {"sensitive": (), "identifiers": (), "keep": (), "drop": ()}
    return replace(policy, models=(), **nothing)


def _refuse_named_support(subject: Subject) -> None:
    if any(name.lower() == SUPPORT for name in subject.names):
        raise PolicyError(
            f"a quasi-identifier is called {SUPPORT!r}, as the new table's column of counts is; "
            "rename it in a view of the table"
        )
