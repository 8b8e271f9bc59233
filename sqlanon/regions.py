"""Regions: a local recoding of combinations of values, which numbers millions of them in arrays.

Strict parts never split a combination, so combinations are numbered by the places of their values,
and a run of them goes to one node. Nodes are known by levels alone.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", definition
of strict multidimensional partitionings.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlanon.errors import PolicyError
from sqlanon.recoding import Levels, Node, per_level


@dataclass(frozen=True, slots=True)
class Regions:
    """A local recoding in which records alike in all quasi-identifiers go to the same node.

    Combinations of values are numbered in the order of their values. Millions of them are arrays
    of numbers here, a run for those that follow each other.

    Args:
        nodes: One level per quasi-identifier; None where records are not published.
        sizes: The records of each node [records].
        values: Distinct values of each quasi-identifier.
        lengths: How many combinations each run has.
        numbers: The number of its node.

    Raises:
        PolicyError: A run or node is missing or empty, or widths differ.
    """

    kind: ClassVar[str] = "regions"
    node: ClassVar[None] = None
    is_listed: ClassVar[bool] = False
    columns: ClassVar[tuple[()]] = ()

    nodes: tuple[Node | None, ...]
    sizes: tuple[int, ...]
    values: tuple[int, ...]
    lengths: array[int]
    numbers: array[int]

    def __post_init__(self) -> None:
        nodes = range(len(self.nodes))
        if len(self.lengths) != len(self.numbers) or set(self.numbers) != {*nodes}:
            raise PolicyError("the recoding does not say where each combination of values goes")
        if min(self.lengths) < 1 or len(self.sizes) != len(nodes) or min(self.sizes) < 1:
            raise PolicyError("the recoding has runs or nodes without a record")
        widths = {len(self.values), *map(len, self.published)}
        if len(widths) != 1 or not self.published or min(self.values) < 1:
            raise PolicyError("the recoding has not one level per quasi-identifier everywhere")

    @property
    def published(self) -> tuple[Node, ...]:
        """The nodes of records that are published."""
        return tuple(node for node in self.nodes if node is not None)

    @property
    def records(self) -> int:
        """Records that are recoded."""
        return sum(self.sizes)

    @property
    def published_records(self) -> int:
        """Records that are published."""
        pairs = zip(self.sizes, self.nodes, strict=True)
        return sum(records for records, node in pairs if node is not None)

    @property
    def levels(self) -> Levels:
        """Per quasi-identifier the levels that records are published at, ascending."""
        return tuple(tuple(sorted(set(column))) for column in zip(*self.published, strict=True))

    def per_level(self, heights: Sequence[int]) -> list[list[int]]:
        """Per quasi-identifier its published records at each level [records]."""
        return per_level(zip(self.nodes, self.sizes, strict=True), heights)

    def to_document(self) -> dict[str, Any]:
        """Its nodes and runs, these as one text: `length:node`, parted by spaces."""
        runs = zip(self.lengths, self.numbers, strict=True)
        return {
            "kind": self.kind,
            "nodes": [node and list(node) for node in self.nodes],
            "sizes": list(self.sizes),
            "values": list(self.values),
            "runs": " ".join(f"{length}:{number}" for length, number in runs),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Regions:
        """Reads what `to_document` wrote."""
        nodes = [None if node is None else tuple(node) for node in document["nodes"]]
        runs = [run.split(":") for run in document["runs"].split()]
        lengths, numbers = ([int(one) for one, _ in runs], [int(one) for _, one in runs])
        sizes, values = tuple(document["sizes"]), tuple(document["values"])
        return cls(tuple(nodes), sizes, values, array("q", lengths), array("q", numbers))
