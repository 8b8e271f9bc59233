"""Search of a plan: what each family of methods tells of how it found a recoding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import takewhile
from typing import Any, ClassVar

from sqlanon.reports.annealing import annealing_lines
from sqlanon.reports.groups import step_lines
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFigures:
    """What every family tells; by itself that of a search of which no more is known.

    Args:
        proven: Whether no recoding of its kind loses less; None where nobody asked.
        cut_short: Whether a time limit ended a part of the search before its own end.
        given_up: The method's own search that the time limit ended, so that another's result took
            its place; None where the result is the method's own.
        chosen_by: `auto` where it chose the method; else None.
        reason: Why it did.
    """

    mark: ClassVar[str] = ""
    """A key that the documents of this family alone have, and have always."""
    kind: ClassVar[str] = "recoding into nodes of the hierarchies that satisfies k"
    """The recodings that its lower bound is proven of."""
    bounds_every: ClassVar[bool] = True
    """Whether these are all recodings into nodes of the hierarchies."""

    proven: bool | None = None
    cut_short: bool = False
    given_up: str | None = None
    chosen_by: str | None = None
    reason: str | None = None

    @property
    def is_cut(self) -> bool:
        """Whether a time limit ended this search, or the one that this stands in the place of."""
        return self.cut_short or self.given_up is not None

    def to_dict(self) -> dict[str, Any]:
        """The key `search` of the JSON document."""
        return self._document({"proven": self.proven})

    def found(self, classes: str) -> str:
        """For a reader: what was found among what.

        Args:
            classes: The classes of the published table, counted.
        """
        return classes

    def lines(self, loss: str) -> Iterator[str]:
        """For a reader: what the search came to besides, by the loss of this name."""
        yield from ()

    def _document(self, first: Mapping[str, Any], **last: object) -> dict[str, Any]:
        """The figures that are known: a family's own, around what became of the search."""
        replaced = {"given_up": self.given_up, "cut_short": True} if self.given_up else {}
        every = {
            **first,
            **({"cut_short": True} if self.cut_short else {}),
            **replaced,
            **last,
            "chosen_by": self.chosen_by,
            "reason": self.reason,
        }
        return {name: value for name, value in every.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeSearch(SearchFigures):
    """A search among the choices of one level per column.

    Args:
        nodes: Nodes of the lattice.
        candidates: Those within the level bounds.
        checked: Those that were looked at.
        combinations: Different combinations of quasi-identifiers.
        rolled_up: Tables of counts that others were counted from.
        rounds: Rounds of suppression until nothing changed.
    """

    mark: ClassVar[str] = "nodes"
    kind: ClassVar[str] = "full-domain recoding"
    bounds_every: ClassVar[bool] = False

    nodes: int
    candidates: int
    checked: int
    combinations: int
    rolled_up: int
    rounds: int

    def to_dict(self) -> dict[str, Any]:
        """The key `search` of the JSON document."""
        return self._document(
            {
                "nodes": self.nodes,
                "candidates": self.candidates,
                "checked": self.checked,
                "combinations": self.combinations,
                "rolled_up": self.rolled_up,
                "rounds": self.rounds,
                "proven": self.proven,
            }
        )

    def found(self, classes: str) -> str:
        """For a reader: whether it is proven best, and of how many."""
        candidates = counted(self.candidates, "recoding")
        return f"{_proof(self)} of {candidates}, {self.checked:,} checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeSearch(SearchFigures):
    """A search among groups of values.

    Args:
        combinations: Different combinations of quasi-identifiers.
        checked: Recodings that were looked at.
        candidates: Recodings that the schemes allow; None for more than are counted.
        less_flexible: Per less flexible choice of schemes these `schemes` by column, what the
            recoding by them loses (`loss`), and whether that is `proven` the least.
    """

    mark: ClassVar[str] = "less_flexible"
    kind: ClassVar[str] = "recoding by these schemes"
    bounds_every: ClassVar[bool] = False

    combinations: int
    checked: int
    candidates: int | None = None
    less_flexible: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The key `search` of the JSON document."""
        own = {
            "candidates": self.candidates,
            "combinations": self.combinations,
            "checked": self.checked,
            "proven": self.proven,
        }
        return self._document(own, less_flexible=[dict(each) for each in self.less_flexible])

    def found(self, classes: str) -> str:
        """For a reader: whether it is proven best, and of how many where these are counted."""
        every = f"of {counted(self.candidates, 'recoding')}" if self.candidates else "recoding"
        return f"{_proof(self)} {every}, {self.checked:,} checked"

    def lines(self, loss: str) -> Iterator[str]:
        """For a reader: what less flexible schemes lose."""
        yield from step_lines(self.less_flexible, loss)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSearch(SearchFigures):
    """A search for clusters of records.

    Args:
        candidates: Clusters that were to choose from.
        clusters: Clusters.
        blocks: Blocks that the table was cut into.
        left_out: Records that are in no cluster.
        bound: How the lower bound was proven: `columns`, `records`, `quick` or `full`.
        block_bound: What clusters that stay within blocks lose at least; None where not known.
        annealing: What the exchange of records came to, as `annealing_lines` has it.
        lns: What the solving of pools came to: `pools`, `better_pools`, and the `loss` before
            (`refined`) and after (`parted`).
    """

    mark: ClassVar[str] = "blocks"

    candidates: int
    clusters: int
    blocks: int
    left_out: int
    bound: str
    block_bound: float | None = None
    annealing: Mapping[str, Any] | None = None
    lns: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The key `search` of the JSON document."""
        return self._document(
            {
                "candidates": self.candidates,
                "clusters": self.clusters,
                "blocks": self.blocks,
                "left_out": self.left_out,
                "proven": self.proven,
                "bound": self.bound,
                "block_bound": self.block_bound,
                "annealing": self.annealing,
                "lns": self.lns,
                "given_up": self.given_up,
            }
        )

    def found(self, classes: str) -> str:
        """For a reader: the clusters, and where they come from."""
        chosen = f" from {counted(self.candidates, 'candidate')}" if self.candidates else ""
        apart = f", in {self.blocks:,} blocks" if self.blocks > 1 else ""
        return f"{counted(self.clusters, 'cluster')}{chosen}{apart}"

    def lines(self, loss: str) -> Iterator[str]:
        """For a reader: what annealing came to."""
        yield from annealing_lines(self.annealing or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSearch(SearchFigures):
    """A search for parts of the table, cut from the top.

    Args:
        parts: Parts that it was cut into.
        combinations: Different combinations of quasi-identifiers, or those that rounds leave.
        annealing: As in `ClusterSearch`.
    """

    mark: ClassVar[str] = "parts"

    parts: int
    combinations: int
    annealing: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The key `search` of the JSON document."""
        own = {"parts": self.parts, "combinations": self.combinations, "proven": self.proven}
        return self._document(own, annealing=self.annealing)

    def lines(self, loss: str) -> Iterator[str]:
        """For a reader: what annealing came to."""
        yield from annealing_lines(self.annealing or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSearch(SearchFigures):
    """A search for a pattern of each record.

    Args:
        clusters: Clusters, that of records left over among them.
        used_patterns: Patterns that have records.
        average_cluster: Mean size of a cluster [records].
        maximum_cluster: Size of the largest [records].
        usefulness_of_values: The usefulness of Bredereck et al.
        left_over: Records without a place in a pattern.
        candidates: Patterns.
        gap: How far the solver's bound is from its result, a share; None without a solver.
        components: Parts that its program fell into; None without a solver.
    """

    mark: ClassVar[str] = "used_patterns"
    kind: ClassVar[str] = "choice of these patterns that satisfies the policy"
    bounds_every: ClassVar[bool] = False

    clusters: int
    used_patterns: int
    average_cluster: float
    maximum_cluster: int
    usefulness_of_values: float
    left_over: int
    candidates: int
    gap: float | None = None
    components: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The key `search` of the JSON document."""
        return self._document(
            {
                "clusters": self.clusters,
                "used_patterns": self.used_patterns,
                "average_cluster": self.average_cluster,
                "maximum_cluster": self.maximum_cluster,
                "usefulness_of_values": self.usefulness_of_values,
                "left_over": self.left_over,
                "proven": self.proven,
                "gap": self.gap,
                "components": self.components,
                "candidates": self.candidates,
            }
        )

    def found(self, classes: str) -> str:
        """For a reader: the classes, and the patterns that they are made by."""
        return f"{classes} by {self.used_patterns:,} of {counted(self.candidates, 'pattern')}"


FAMILIES = (LatticeSearch, SchemeSearch, ClusterSearch, PartSearch, PatternSearch)


def search_of(document: Mapping[str, Any]) -> SearchFigures:
    """Reads back what a family's `to_dict` wrote."""
    family = next((each for each in FAMILIES if each.mark in document), SearchFigures)
    names = {each.name for each in fields(family)}
    known = {name: value for name, value in document.items() if name in names}
    # A search that another's took the place of is cut short, too, but is named before.
    known["cut_short"] = "cut_short" in takewhile("given_up".__ne__, document)
    if "less_flexible" in known:
        known["less_flexible"] = tuple(known["less_flexible"])
    return family(**known)


def _proof(search: SearchFigures) -> str:
    return "proven best" if search.proven else "best found"
