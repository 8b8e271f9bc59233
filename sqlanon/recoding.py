"""Recodings: what a search decides.

A full-domain recoding is a node of the generalization lattice: every value of a column goes to the
same level, 0 for the original values, the height of the hierarchy for its top. A local recoding
decides record by record: alike records may go to different levels. Either way a record's cell is
the ancestor of its own value at some level, so a recoding is levels and holds no value.

Source: Samarati 2001, "Protecting respondents' identities in microdata release"; Kenig 2009,
section 2.3, for local recoding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlanon.errors import PolicyError

Node = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Records of one unit that are recoded alike.

    Args:
        unit: The unit: records alike in all that a search looks at, numbered in their order.
        first: Position of the first record within the unit.
        last: Position of the last one.
        node: One level per quasi-identifier; None where the records are not published.
    """

    unit: int
    first: int
    last: int
    node: Node | None


@dataclass(frozen=True, slots=True)
class Clusters:
    """A local recoding.

    Args:
        runs: Every record once, by unit and position.
        by: The columns that tell units apart, besides the quasi-identifiers.

    Raises:
        PolicyError: A record is missing or recoded twice, or nodes of different widths.
    """

    runs: tuple[Run, ...]
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number, (unit, runs) in enumerate(groupby(self.runs, lambda run: run.unit)):
            position = 0
            for run in runs:
                if run.first != position or run.last < run.first:
                    raise PolicyError(f"unit {unit} is not recoded record by record")
                position = run.last + 1
            if unit != number:
                raise PolicyError(f"unit {unit} is recoded where unit {number} was expected")
        if len({len(node) for node in self._nodes}) != 1:
            raise PolicyError("the recoding has not one level per quasi-identifier everywhere")

    @property
    def _nodes(self) -> set[Node]:
        return {run.node for run in self.runs if run.node is not None}

    @property
    def records(self) -> int:
        """Records that are recoded."""
        return sum(run.last - run.first + 1 for run in self.runs)

    @property
    def lowest(self) -> Node:
        """Per quasi-identifier the lowest level of any record."""
        return tuple(map(min, zip(*self._nodes, strict=True)))

    @property
    def highest(self) -> Node:
        """Per quasi-identifier the highest level of any record."""
        return tuple(map(max, zip(*self._nodes, strict=True)))

    def to_dict(self) -> dict[str, Any]:
        """As a saved plan holds it: the nodes once, and a row of numbers per run."""
        nodes = dict.fromkeys(run.node for run in self.runs)
        place = {node: number for number, node in enumerate(nodes)}
        rows = [[run.unit, run.last - run.first + 1, place[run.node]] for run in self.runs]
        return {"nodes": [node and list(node) for node in nodes], "runs": rows, "by": list(self.by)}

    @classmethod
    def from_dict(cls, document: Any) -> Clusters:
        """Reads what `to_dict` wrote.

        Raises:
            LookupError: Something is missing.
            PolicyError: It is no recoding.
        """
        nodes = [None if node is None else tuple(node) for node in document["nodes"]]
        runs = []
        for unit, own in groupby(document["runs"], itemgetter(0)):
            first = 0
            for _, records, place in own:
                runs.append(Run(unit, first, first + records - 1, nodes[place]))
                first += records
        return cls(tuple(runs), tuple(document["by"]))


Recoding = Node | Clusters
