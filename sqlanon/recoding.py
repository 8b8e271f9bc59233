"""Recodings: what a search decides.

A full-domain recoding is a node of the generalization lattice: every value of a column goes to the
same level, 0 for the original values, the height of the hierarchy for its top. A local recoding
decides record by record: alike records may go to different levels. Either way a record's cell is
the ancestor of its own value at some level, so a recoding is levels and holds no value.

Source: Samarati 2001, "Protecting respondents' identities in microdata release"; Kenig 2009,
section 2.2.1, for local recoding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, NamedTuple

from sqlanon.errors import PolicyError

Node = tuple[int, ...]


class Run(NamedTuple):
    """Records of one unit that are recoded alike; the runs of a unit follow each other.

    Args:
        unit: The unit: records alike in all that a search looks at, numbered in their order.
        records: How many they are [records].
        node: The number of their node.
    """

    unit: int
    records: int
    node: int


@dataclass(frozen=True, slots=True)
class Clusters:
    """A local recoding.

    Args:
        nodes: What records are recoded to: one level per quasi-identifier, None where they are not
            published.
        runs: Every record once, by unit and position.
        by: The columns that tell units apart, besides the quasi-identifiers.

    Raises:
        PolicyError: A unit or a node is missing, a run has no record, or nodes differ in width.
    """

    nodes: tuple[Node | None, ...]
    runs: tuple[Run, ...]
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        before = -1
        for unit, records, node in self.runs:
            if unit not in (before, before + 1) or unit < 0:
                raise PolicyError(f"unit {unit} is recoded where unit {before + 1} was expected")
            if records < 1 or not 0 <= node < len(self.nodes):
                raise PolicyError(f"unit {unit} is not recoded record by record")
            before = unit
        if len(set(map(len, self.published))) != 1:
            raise PolicyError("the recoding has not one level per quasi-identifier everywhere")

    @property
    def published(self) -> tuple[Node, ...]:
        """The nodes of records that are published."""
        return tuple(node for node in self.nodes if node is not None)

    @property
    def records(self) -> int:
        """Records that are recoded."""
        return sum(records for _, records, _ in self.runs)

    @property
    def published_records(self) -> int:
        """Records that are published."""
        return sum(records for _, records, node in self.runs if self.nodes[node] is not None)

    @property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Per quasi-identifier the levels that records are published at, ascending."""
        return tuple(tuple(sorted(set(own))) for own in zip(*self.published, strict=True))

    def per_level(self, heights: Sequence[int]) -> list[list[int]]:
        """Per quasi-identifier its published records at each level [records].

        Args:
            heights: The highest level of each.
        """
        sizes: Counter[int] = Counter()
        for _, records, node in self.runs:
            sizes[node] += records
        counts = [[0] * (height + 1) for height in heights]
        for number, records in sizes.items():
            for own, level in zip(counts, self.nodes[number] or (), strict=False):
                own[level] += records
        return counts

    def to_dict(self) -> dict[str, Any]:
        """As a saved plan holds it."""
        nodes = [node and list(node) for node in self.nodes]
        return {"nodes": nodes, "runs": list(map(list, self.runs)), "by": list(self.by)}

    @classmethod
    def from_dict(cls, document: Any) -> Clusters:
        """Reads what `to_dict` wrote.

        Raises:
            LookupError: Something is missing.
            TypeError: A run has too few or too many numbers.
            PolicyError: It is no recoding.
        """
        nodes = [None if node is None else tuple(node) for node in document["nodes"]]
        runs = tuple(starmap(Run, document["runs"]))
        return cls(tuple(nodes), runs, tuple(document["by"]))


Recoding = Node | Clusters
