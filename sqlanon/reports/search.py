"""Search of a plan: what each family of methods tells of how it found a recoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

from sqlanon.wording import counted, figure, in_columns, part_of

ENDED = ("given_up", "cut_short")
"""What documents say of a search that a time limit ended."""


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
    keys: ClassVar[tuple[str, ...]] = ("proven", *ENDED)
    """The figures of its documents, in their order."""
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
        """The key `search` of the JSON document: the figures that are known."""
        figures = {name: getattr(self, name) for name in (*self.keys, "chosen_by", "reason")}
        figures["cut_short"] = self.is_cut or None
        return {name: _plain(value) for name, value in figures.items() if value is not None}

    def summary(self, classes: str) -> str:
        """For a reader: what was found among what.

        Args:
            classes: The classes of the published table, counted.
        """
        return classes

    def lines(self, loss: str) -> Iterator[str]:
        """For a reader: what the search came to besides, by the loss of this name."""
        yield from ()


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
    keys: ClassVar[tuple[str, ...]] = (
        *("nodes", "candidates", "checked", "combinations", "rolled_up", "rounds", "proven"),
        *ENDED,
    )
    kind: ClassVar[str] = "full-domain recoding"
    bounds_every: ClassVar[bool] = False

    nodes: int
    candidates: int
    checked: int
    combinations: int
    rolled_up: int
    rounds: int

    def summary(self, classes: str) -> str:
        """For a reader: whether it is proven best, and of how many."""
        candidates = counted(self.candidates, "recoding")
        return f"{_proof(self)} of {candidates}, {self.checked:,} checked"


@dataclass(frozen=True, slots=True)
class FlexibilityFigures:
    """A less flexible choice of schemes.

    Args:
        schemes: The scheme of each column.
        loss: What the recoding by them loses.
        proven: Whether that is the least.
    """

    schemes: Mapping[str, str]
    loss: float
    proven: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeSearch(SearchFigures):
    """A search among groups of values.

    Args:
        combinations: Different combinations of quasi-identifiers.
        checked: Recodings that were looked at.
        candidates: Recodings that the schemes allow; None for more than are counted.
        less_flexible: Less flexible choices of schemes.
    """

    mark: ClassVar[str] = "less_flexible"
    keys: ClassVar[tuple[str, ...]] = (
        *("candidates", "combinations", "checked", "proven"),
        *ENDED,
        "less_flexible",
    )
    kind: ClassVar[str] = "recoding by these schemes"
    bounds_every: ClassVar[bool] = False

    combinations: int
    checked: int
    candidates: int | None = None
    less_flexible: tuple[FlexibilityFigures, ...] = ()

    def summary(self, classes: str) -> str:
        """For a reader: whether it is proven best, and of how many where these are counted."""
        every = f"of {counted(self.candidates, 'recoding')}" if self.candidates else "recoding"
        return f"{_proof(self)} {every}, {self.checked:,} checked"

    def lines(self, loss: str) -> Iterator[str]:
        """For a reader: what less flexible schemes lose."""
        rows = []
        for step in self.less_flexible:
            every = set(step.schemes.values())
            listed = ", ".join(f"{name} {scheme}" for name, scheme in step.schemes.items())
            rows.append(
                (every.pop() if len(every) == 1 else listed, figure(step.loss), _proof(step))
            )
        if rows:
            yield f"  less flexible schemes, {loss}"
            yield from (f"  {line}" for line in in_columns(rows, "<><"))


@dataclass(frozen=True, slots=True)
class ClustersByModel:
    """How clusters stand with a model.

    Args:
        failing: Clusters that do not satisfy it.
        worst: Its figure of the worst cluster.
        mean: Its figure of the mean cluster.
    """

    failing: int
    worst: float
    mean: float


@dataclass(frozen=True, slots=True)
class AnnealedModel:
    """How clusters stood with a model before the exchange of records, and after it.

    Args:
        model: The model in words.
        column: The sensitive column that it is of.
        persons: Whether it counts persons.
        threshold: What it asks for.
        clusters: Clusters.
        before: How they stood before.
        after: How they stood after.
    """

    model: str
    column: str
    persons: bool
    threshold: float
    clusters: int
    before: ClustersByModel
    after: ClustersByModel


@dataclass(frozen=True, slots=True)
class AnnealingLosses:
    """What clusters lose.

    Args:
        clusters_of_k: Those for k alone.
        exchanged: These after the exchanges.
        annealed: These once every model holds.
        ordinary: Those without annealing.
    """

    clusters_of_k: float
    exchanged: float
    annealed: float
    ordinary: float


@dataclass(frozen=True, slots=True)
class AnnealingFigures:
    """What the exchange of records came to.

    Args:
        iterations: Exchanges that were tried.
        accepted: Those that stood.
        kept: Whether its clusters lose less than those without it, so that they are published.
        loss: What clusters lose.
        models: How they stood with each model.
    """

    iterations: int
    accepted: int
    kept: bool
    loss: AnnealingLosses
    models: tuple[AnnealedModel, ...]

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> AnnealingFigures:
        """Reads back what `SearchFigures.to_dict` wrote of it."""
        models = (
            {**model, **{when: ClustersByModel(**model[when]) for when in ("before", "after")}}
            for model in document["models"]
        )
        return cls(
            **{
                **document,
                "loss": AnnealingLosses(**document["loss"]),
                "models": tuple(AnnealedModel(**model) for model in models),
            }
        )

    def lines(self) -> Iterator[str]:
        """For a reader."""
        accepted = part_of(self.accepted, self.iterations) if self.iterations else "0"
        yield f"  annealed        {self.iterations:,} exchanges tried, {accepted} accepted"
        for of in self.models:
            persons = " by persons" if of.persons else ""
            yield (
                f"    {of.model} of {of.column}{persons}: {of.before.failing:,} of "
                f"{of.clusters:,} clusters failed, {of.after.failing:,} after it; worst "
                f"{figure(of.before.worst)}, then {figure(of.after.worst)}; mean "
                f"{figure(of.before.mean)}, then {figure(of.after.mean)}"
            )
        loss, kept = self.loss, "kept" if self.kept else "not kept"
        yield (
            f"    loss {figure(loss.clusters_of_k)} of clusters for k alone, "
            f"{figure(loss.exchanged)} after the exchanges, {figure(loss.annealed)} with every "
            f"model ({kept}); without annealing {figure(loss.ordinary)}"
        )


@dataclass(frozen=True, slots=True)
class PoolLosses:
    """What clusters lose before pools of them are parted anew, and after.

    Args:
        refined: Before.
        parted: After.
    """

    refined: float
    parted: float


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """What the parting of pools of clusters came to.

    Args:
        pools: Pools that were parted by a program.
        better_pools: Those of them that lost less.
        loss: What clusters lose.
    """

    pools: int
    better_pools: int
    loss: PoolLosses

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> PoolFigures:
        """Reads back what `SearchFigures.to_dict` wrote of it."""
        return cls(**{**document, "loss": PoolLosses(**document["loss"])})


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
        annealing: What the exchange of records came to; None where there was none.
        lns: What the parting of pools came to; None where there was none.
    """

    mark: ClassVar[str] = "blocks"
    keys: ClassVar[tuple[str, ...]] = (
        *("candidates", "clusters", "blocks", "left_out", "proven"),
        *("bound", "block_bound", "annealing", "lns"),
        *ENDED,
    )

    candidates: int
    clusters: int
    blocks: int
    left_out: int
    bound: str
    block_bound: float | None = None
    annealing: AnnealingFigures | None = None
    lns: PoolFigures | None = None

    def summary(self, classes: str) -> str:
        """For a reader: the clusters, and where they come from."""
        chosen = f" from {counted(self.candidates, 'candidate')}" if self.candidates else ""
        apart = f", in {self.blocks:,} blocks" if self.blocks > 1 else ""
        return f"{counted(self.clusters, 'cluster')}{chosen}{apart}"

    def lines(self, loss: str) -> Iterator[str]:
        """For a reader: what annealing came to."""
        if self.annealing is not None:
            yield from self.annealing.lines()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSearch(SearchFigures):
    """A search for parts of the table, cut from the top.

    Args:
        parts: Parts that it was cut into.
        combinations: Different combinations of quasi-identifiers, or those that rounds leave.
        annealing: As in `ClusterSearch`.
    """

    mark: ClassVar[str] = "parts"
    keys: ClassVar[tuple[str, ...]] = ("parts", "combinations", "proven", *ENDED, "annealing")

    parts: int
    combinations: int
    annealing: AnnealingFigures | None = None

    def lines(self, loss: str) -> Iterator[str]:
        """For a reader: what annealing came to."""
        if self.annealing is not None:
            yield from self.annealing.lines()


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
    keys: ClassVar[tuple[str, ...]] = (
        *("clusters", "used_patterns", "average_cluster", "maximum_cluster"),
        *("usefulness_of_values", "left_over", "proven", "gap", "components", "candidates"),
        *ENDED,
    )
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

    def summary(self, classes: str) -> str:
        """For a reader: the classes, and the patterns that they are made by."""
        return f"{classes} by {self.used_patterns:,} of {counted(self.candidates, 'pattern')}"


_NESTED: Mapping[str, Callable[[Any], Any]] = {
    "less_flexible": lambda steps: tuple(FlexibilityFigures(**step) for step in steps),
    "annealing": AnnealingFigures.from_dict,
    "lns": PoolFigures.from_dict,
}
"""What reads back the figures that are more than one."""
FAMILIES = (LatticeSearch, SchemeSearch, ClusterSearch, PartSearch, PatternSearch)


def search_of(document: Mapping[str, Any]) -> SearchFigures:
    """Reads back what a family's `to_dict` wrote."""
    family = next((kind for kind in FAMILIES if kind.mark in document), SearchFigures)
    names = {field.name for field in fields(family)}
    known: dict[str, Any] = {n: value for n, value in document.items() if n in names}
    for name in known.keys() & _NESTED.keys():
        known[name] = _NESTED[name](known[name])
    return family(**known)


def _plain(value: Any) -> Any:
    """A figure as JSON has it."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _proof(search: SearchFigures | FlexibilityFigures) -> str:
    return "proven best" if search.proven else "best found"
