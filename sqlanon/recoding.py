"""Recodings: what a search decides.

A full-domain recoding is a node of the generalization lattice: one level per quasi-identifier,
0 for the original values, the height of the hierarchy for its top.
"""

from __future__ import annotations

from dataclasses import dataclass

Node = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NodeRecoding:
    """Full-domain generalization: every value of a column goes to the same level.

    Args:
        levels: One level per quasi-identifier, in the policy's order of columns.

    Source: Samarati 2001, "Protecting respondents' identities in microdata release".
    """

    levels: dict[str, int]

    @property
    def node(self) -> Node:
        """The levels alone, in the policy's order of columns."""
        return tuple(self.levels.values())
