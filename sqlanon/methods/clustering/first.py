"""First clusters: what a method starts from, of a table as a whole or cut into blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import phase
from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.methods.clustering.releases import Releases
from sqlanon.methods.options import RECORD_BYTES, ClusterOptions
from sqlanon.methods.registry import Options
from sqlanon.progress import portion
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.blocks import cut_blocks
from sqlanon.search.clustering.dual_bound import Ascent, Duals
from sqlanon.search.clustering.lower_bound import column_bounds
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.problem import NOWHERE, Clustering, ClusteringProblem
from sqlanon.wording import counted

QUICK, COVERED = 0.25, 0.75
"""Shares of the time that is left for clusters to fall back on, and for the cover that follows; the
refinement has the rest."""


@dataclass(frozen=True, slots=True)
class Priced:
    """What the records of a table or of a block of it are worth.

    Args:
        duals: Prices, and what they prove.
        effort: How long they were raised.
        is_cut: Whether the time limit ended that.
    """

    duals: Duals
    effort: Ascent
    is_cut: bool


@dataclass(frozen=True, slots=True)
class FirstClusters:
    """Clusters of a table or a block of it, before they are refined.

    Args:
        found: The clusters.
        bounds: Per record what it loses at least [units]; None where that is not known.
        candidates: How many itemsets they were chosen from.
        uncovered: How many records went elsewhere, as no itemset covers them.
        guarantee: How far from the best they are at most; empty where that is not known.
        ended: The part of the search that the time limit ended; empty for none.
        is_instead: Whether they are those to fall back on, in place of the method's own.
        other: Clusters from another start, to be refined beside them; None where there are none.
        priced: What records are worth together; None where that is not known.
        is_unpriced: Whether the time limit came before that was known.
    """

    found: Clustering
    bounds: Numbers | None = None
    candidates: int = 0
    uncovered: int = 0
    guarantee: str = ""
    ended: str = ""
    is_instead: bool = False
    other: Clustering | None = None
    priced: Priced | None = None
    is_unpriced: bool = False

    @property
    def starts(self) -> list[Clustering]:
        """All clusters to refine, the method's own first."""
        return [self.found] if self.other is None else [self.found, self.other]


STARTS, HELD = 2, 100
"""Refinements of each record, where there are two starts; and memberships in itemsets for each look
at a record up to which prices in full take no longer than that."""
Start = Callable[[ClusteringProblem, Clustering | None], FirstClusters]
"""The first clusters of a table or of a block of it, as each method finds them.

They keep to the problem's highest levels. `NOWHERE` stands for records that are left out within its
allowance, or that are suppressed as a class of their own. With a time limit it gets clusters to
fall back on. Raises UnsatisfiableError where none satisfy the policy, and TimeLimitError where the
limit comes before anything is known.
"""


Refuse = Callable[[ClusteringProblem, Sequence[Numbers]], None]
"""Refuses a table by a `PolicyError`, given the records of each block that it is cut into."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A table or a block of it, as numbers of all records, with its first clusters."""

    records: Numbers
    problem: ClusteringProblem
    first: FirstClusters


def begin(
    releases: Releases,
    options: Options[ClusterOptions],
    *,
    start: Start,
    refuse: Refuse | None = None,
) -> tuple[list[Begun], UnsatisfiableError | None]:
    """The first clusters of each block, or why there are none.

    Args:
        releases: The table.
        options: How to cluster it.
        start: Finds the clusters of a block.
        refuse: Looks at all blocks before the first one is searched.

    Raises:
        PolicyError: It is refused.
        TimeLimitError: The time limit came before anything was known.
    """
    problem = releases.problem
    with phase("the cut into blocks"):
        part = replace(problem, deadline=problem.deadline.share(QUICK))
        blocks = cut_blocks(part, largest_block(options))
    if refuse is not None:
        refuse(problem, blocks)
    found: list[Begun] = []
    room, open_ = problem.allowance, problem.records
    for number, records in enumerate(blocks, start=1):
        own = problem
        if len(blocks) > 1:
            options.tell(f"block {number} of {len(blocks)}: {counted(len(records), 'record')}")
            ended = problem.deadline.share(COVERED).share(1 / (len(blocks) - number + 1))
            own = replace(problem.part(records), deadline=ended)
        own = replace(own, allowance=room * len(records) // open_)
        try:
            with portion((number - 1) / len(blocks), number / len(blocks)):
                first = started(own, start)
        except UnsatisfiableError as error:
            return [], error
        room -= min(room, int((first.found.label == NOWHERE).sum()))
        open_ -= len(records)
        found.append(Begun(releases.placeable[records], own, first))
    return found, None


def started(problem: ClusteringProblem, start: Start) -> FirstClusters:
    """The first clusters, those of a quick partition where the time does not suffice for others."""
    deadline = problem.deadline
    if not deadline.is_limited:
        return start(problem, None)
    quick = _quick(replace(problem, deadline=deadline.share(QUICK)))
    try:
        return start(replace(problem, deadline=deadline.share(COVERED)), quick)
    except TimeLimitError as error:
        if quick is None:
            raise
        ended = error.phase or "the cover"
        return FirstClusters(quick, column_bounds(problem), ended=ended, is_instead=True)


def _quick(problem: ClusteringProblem) -> Clustering | None:
    """Clusters of a quick partition; None where it finds none."""
    try:
        return cut_clusters(problem)
    except UnsatisfiableError:
        return None


def largest_block(options: Options[ClusterOptions]) -> int:
    """Largest table that is clustered as a whole, where memory counts, too [records]."""
    most = options.own.block_records
    return most if options.memory is None else min(most, max(1, options.memory // RECORD_BYTES))


def effort_of(options: Options[ClusterOptions], records: int, *, memberships: int) -> Ascent | None:
    """How long prices of records are raised; None where they are not asked for.

    Unasked it is in full where refinement looks at records so often that it takes longer than that.
    """
    own = options.own
    looks = STARTS * own.passes * records if own.refine else 0
    lasts = own.improve == "lns" or memberships <= HELD * looks
    asked = own.bound or ("full" if lasts else "quick")
    return None if asked == "columns" else Ascent[asked.upper()]


def crosses_blocks(begun: Sequence[Begun], clusters: Clustering) -> bool:
    """Whether a cluster of all records holds some of several blocks."""
    sizes = np.bincount(clusters.label[clusters.label != NOWHERE])
    for each in begun:
        held = clusters.label[each.records]
        own = np.bincount(held[held != NOWHERE], minlength=len(sizes))
        if ((own > 0) & (own < sizes)).any():
            return len(begun) > 1
    return False


def block_notes(
    options: Options[ClusterOptions], begun: Sequence[Begun], *, crosses: bool
) -> Iterator[str]:
    """Notes on the blocks that a table was cut into, and whether clusters cross them even so."""
    if len(begun) < 2:
        return
    most = largest_block(options)
    limit = "" if most == options.own.block_records else ", as the memory limit allows"
    which = "first clusters do not" if crosses else "clusters do not"
    yield (
        f"the table was cut into {len(begun)} blocks of up to {counted(most, 'record')}{limit}, "
        f"along its hierarchies; {which} cross them, so the whole table at once may lose less, and "
        "the bound adds up those of single columns; `sqlanon bound` may prove more"
    )
    larger = sum(len(each.records) > most for each in begun)
    if larger:
        are = "is" if larger == 1 else "are"
        yield f"{counted(larger, 'block')} could not be cut any further and {are} larger than that"
