"""Recodings: a full-domain node of the lattice, a map of values, or clusters with their own nodes.

A full-domain recoding is a node of the generalization lattice: every value of a column goes to the
same level, 0 for the original values, the height of the hierarchy for its top. A local recoding
decides record by record: alike records may go to different levels. Either way a record's cell is
the ancestor of its own value at some level, so such a recoding is levels and holds no value.

A map parts the values of each column into groups, whether nodes of a hierarchy or not, and every
value is published as its group. A group of any values has no other name than these, so a map holds
them, also where they are those of a table.

`query/publish/statement` says which statement carries a kind out.

Source: Samarati 2001, "Protecting respondents' identities in microdata release"; Kenig 2009,
section 2.2.1, for local recoding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any, ClassVar, NamedTuple, Protocol

from sqlanon.errors import PolicyError

Node = tuple[int, ...]
Levels = tuple[tuple[int, ...], ...]
"""Per quasi-identifier the levels that records are published at, ascending."""


class Recoding(Protocol):
    """The levels that the quasi-identifiers of every record are generalized to."""

    kind: ClassVar[str]
    """Its name in saved plans and for the statements that carry it out."""

    @property
    def node(self) -> Node | None:
        """The lattice node that it is; None where levels may differ within a column."""

    @property
    def levels(self) -> Levels:
        """Per quasi-identifier the levels that records are published at, ascending."""

    @property
    def records(self) -> int | None:
        """Records of the only table that it fits [records].

        None where values alone decide, so that it can be applied to records not seen before.
        """

    @property
    def published_records(self) -> int | None:
        """Records that are not suppressed; None where the sizes of classes decide [records]."""

    @property
    def is_listed(self) -> bool:
        """Whether labels are listed value by value, instead of made by the hierarchies' rules."""

    @property
    def columns(self) -> tuple[ColumnMap, ...]:
        """Per quasi-identifier its values with their labels, where these are listed; else empty."""

    def to_document(self) -> Any:
        """As a saved plan holds it, with its `kind`; `from_document` reads it."""


@dataclass(frozen=True, slots=True)
class FullDomain:
    """A full-domain recoding: every record goes to one node of the lattice.

    Args:
        node: One level per quasi-identifier.
    """

    kind: ClassVar[str] = "node"
    records: ClassVar[None] = None
    published_records: ClassVar[None] = None
    is_listed: ClassVar[bool] = False
    columns: ClassVar[tuple[ColumnMap, ...]] = ()

    node: Node

    @property
    def levels(self) -> Levels:
        """Per quasi-identifier its level."""
        return tuple((level,) for level in self.node)

    def to_document(self) -> dict[str, Any]:
        """Its levels."""
        return {"kind": self.kind, "levels": list(self.node)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> FullDomain:
        """Reads what `to_document` wrote."""
        return cls(tuple(document["levels"]))


class Run(NamedTuple):
    """Records of one distinct combination that are recoded alike.

    The runs of a combination follow each other.

    Args:
        unit: The combination: records alike in all that a search looks at, numbered in their order.
        records: How many they are [records].
        node: The number of their node.
    """

    unit: int
    records: int
    node: int


@dataclass(frozen=True, slots=True)
class Clusters:
    """A local recoding: a node for each cluster.

    Args:
        nodes: One level per quasi-identifier; None where records are suppressed: dropped, or kept
            with every cell suppressed, as the policy has it.
        runs: Every record once, by combination and position.
        by: The columns that tell combinations apart, besides the quasi-identifiers.

    Raises:
        PolicyError: A combination or node is missing, a run has no record, or widths differ.
    """

    kind: ClassVar[str] = "clusters"
    node: ClassVar[None] = None
    is_listed: ClassVar[bool] = False
    columns: ClassVar[tuple[ColumnMap, ...]] = ()

    nodes: tuple[Node | None, ...]
    runs: tuple[Run, ...]
    by: tuple[str, ...] = ()
    _sizes: Mapping[int, int] = field(init=False, repr=False, compare=False)
    _levels: Levels = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        before, sizes = -1, Counter[int]()
        for unit, records, node in self.runs:
            if unit not in (before, before + 1) or unit < 0:
                raise PolicyError(f"unit {unit} is recoded where unit {before + 1} was expected")
            if records < 1 or not 0 <= node < len(self.nodes):
                raise PolicyError(f"unit {unit} is not recoded record by record")
            before = unit
            sizes[node] += records
        object.__setattr__(self, "_sizes", sizes)
        if len(set(map(len, self.published))) != 1:
            raise PolicyError("the recoding has not one level per quasi-identifier everywhere")
        # There may be as many as records, and every look at a plan asks for these.
        columns = zip(*self.published, strict=True)
        levels = tuple(tuple(sorted(set(column))) for column in columns)
        object.__setattr__(self, "_levels", levels)

    @property
    def published(self) -> tuple[Node, ...]:
        """The nodes of records that are published."""
        return tuple(node for node in self.nodes if node is not None)

    @property
    def records(self) -> int:
        """Records that are recoded."""
        return sum(self._sizes.values())

    @property
    def published_records(self) -> int:
        """Records that are not suppressed."""
        return sum(records for node, records in self._sizes.items() if self.nodes[node] is not None)

    @property
    def levels(self) -> Levels:
        """Per quasi-identifier the levels that records are published at, ascending."""
        return self._levels

    def per_level(self, heights: Sequence[int]) -> list[list[int]]:
        """Per quasi-identifier its published records at each level [records].

        Args:
            heights: The highest level of each.
        """
        sizes = self._sizes.items()
        return per_level(((self.nodes[number], records) for number, records in sizes), heights)

    def to_document(self) -> dict[str, Any]:
        """Its nodes, runs and columns."""
        return {
            "kind": self.kind,
            "nodes": [node and list(node) for node in self.nodes],
            "runs": list(map(list, self.runs)),
            "by": list(self.by),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Clusters:
        """Reads what `to_document` wrote."""
        nodes = [None if node is None else tuple(node) for node in document["nodes"]]
        runs = tuple(starmap(Run, document["runs"]))
        return cls(tuple(nodes), runs, tuple(document["by"]))


class Group(NamedTuple):
    """Values of a column that are published alike.

    Args:
        label: What they are published as; None for NULL itself.
        values: Their texts; None for NULL.
    """

    label: str | None
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The groups of a column's values.

    Args:
        groups: Every leaf of the hierarchy once, those that the table does not hold included.
        levels: The levels that groups are of, ascending. A group that is a node has the level of
            its label. Any other has two: the highest of whose whole nodes it is made, and that of
            the lowest node that holds it. So a group is made of nodes of the lowest level or
            higher, and lies within a node of the highest.

    Raises:
        PolicyError: A value has no group or several, or a label could be taken for something else.
    """

    groups: tuple[Group, ...]
    levels: tuple[int, ...]

    def __post_init__(self) -> None:
        values = [value for group in self.groups for value in group.values]
        labels = [group.label for group in self.groups]
        if not all(isinstance(text, str | None) for text in (*values, *labels)):
            raise PolicyError("a map names values and labels that are no texts")
        if not all(group.values for group in self.groups) or len(set(values)) != len(values):
            raise PolicyError("a map has not every value in one group")
        owners = {value: group.label for group in self.groups for value in group.values}
        shared = (
            len(labels)
            - len(set(labels))
            + sum(label in owners and owners[label] != label for label in labels)
        )
        if shared or any(label is None and members != (None,) for label, members in self.groups):
            raise PolicyError("a map has groups whose label stands for other values, too")
        if not (all(type(at) is int for at in self.levels) and self.levels) or list(
            self.levels
        ) != sorted(set(self.levels)):
            raise PolicyError("a map does not say of which levels its groups are")

    @property
    def is_original(self) -> bool:
        """Whether every value is published as it is."""
        return all(label == members[0] and len(members) == 1 for label, members in self.groups)


@dataclass(frozen=True, slots=True)
class ValueMap:
    """A global recoding: every value of a column goes to the group that it is in.

    Args:
        columns: One map per quasi-identifier.
    """

    kind: ClassVar[str] = "map"
    records: ClassVar[None] = None
    published_records: ClassVar[None] = None
    is_listed: ClassVar[bool] = True

    columns: tuple[ColumnMap, ...]

    @property
    def node(self) -> Node | None:
        """The lattice node that it is, where all groups of each column are nodes of one level."""
        levels = self.levels
        return (
            None
            if any(len(column_levels) > 1 for column_levels in levels)
            else tuple(level for (level,) in levels)
        )

    @property
    def levels(self) -> Levels:
        """Per quasi-identifier the levels of its groups, see `ColumnMap`."""
        return tuple(column.levels for column in self.columns)

    def per_level(self, heights: Sequence[int]) -> list[list[int]]:
        """Nothing: groups have levels, see `ColumnMap`, but records have none of their own."""
        return []

    def to_document(self) -> dict[str, Any]:
        """Its groups, values and all."""
        columns = [
            {
                "levels": list(column.levels),
                "groups": [{"label": g.label, "values": list(g.values)} for g in column.groups],
            }
            for column in self.columns
        ]
        return {"kind": self.kind, "columns": columns}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> ValueMap:
        """Reads what `to_document` wrote."""
        return cls(
            tuple(
                ColumnMap(
                    tuple(Group(g["label"], tuple(g["values"])) for g in column["groups"]),
                    tuple(column["levels"]),
                )
                for column in document["columns"]
            )
        )


def per_level(nodes: Iterable[tuple[Node | None, int]], heights: Sequence[int]) -> list[list[int]]:
    """Per quasi-identifier its published records at each level [records].

    Args:
        nodes: Nodes with their records; None where these are not published.
        heights: The highest level of each.
    """
    counts = [[0] * (height + 1) for height in heights]
    for node, records in nodes:
        for column_counts, level in zip(counts, node or (), strict=False):
            column_counts[level] += records
    return counts
