"""Covers: what methods share that choose clusters from the frequent itemsets of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import FirstClusters, Priced, effort_of
from sqlanon.methods.itemsets import MiningRequest, mined
from sqlanon.methods.local.input import (
    EncodedRecords,
    plain,
    read_once,
    read_records,
    reading_end,
    refuse_mixed_labels,
)
from sqlanon.methods.options import CoverOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.methods.shared import SharedWork
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import block_of
from sqlanon.microdata.encoding import Encoded, encode_subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.dual_bound import Ascent, dual_bound
from sqlanon.search.clustering.lower_bound import Cheapest, column_bounds
from sqlanon.search.clustering.problem import Candidates, Clustering, ClusteringProblem
from sqlanon.search.clustering.reduced_cost_cover import reduced_cost_cover
from sqlanon.search.clustering.set_cover import within
from sqlanon.wording import counted

MINED = 0.8
"""Share of the time for a cover that mining may take: what it finds is to be sorted and chosen."""
PRICED = 0.4
"""Share of the time that is left then for what records are worth."""
Cover = Callable[[ClusteringProblem, Candidates], FirstClusters]
"""The first clusters of a table or of a block of it, chosen from its candidates."""


@dataclass(frozen=True, slots=True)
class Mine:
    """A table in codes, in the database and out of it, whose itemsets can be mined.

    Args:
        engine: Where the table lives.
        encoded: Its codes there.
        read: Its codes out of it.
        shared: What other searches of it have found.
    """

    engine: Engine
    encoded: Encoded
    read: EncodedRecords
    shared: SharedWork = field(default_factory=SharedWork)

    @classmethod
    def of(
        cls,
        engine: Engine,
        subject: Subject,
        *,
        policy: Policy,
        loss: str,
        shared: SharedWork | None = None,
    ) -> Mine:
        """Encodes a table."""
        shared = SharedWork() if shared is None else shared
        encoded = encode_subject(engine, subject, plain(policy))

        def read() -> EncodedRecords:
            return read_records(engine, subject, policy=policy, loss=loss, encoded=encoded)

        return cls(engine, encoded, read_once(shared, subject, read, policy=policy), shared)

    def candidates(
        self,
        problem: ClusteringProblem,
        kind: str = "closed",
        *,
        progress: Callable[[str], None] | None = None,
    ) -> Candidates:
        """The itemsets that clusters of the table, or of a block of it, may be published as."""
        lowest = [0] * len(self.read.subject.trees)
        wanted = MiningRequest(problem.k, kind, lowest, self.read.subject.high, progress)
        return self.shared.once(
            ("itemsets", kind, problem.digest),
            lambda: self._mined(problem, wanted),
            records=problem.records,
        )

    def cheapest(
        self, problem: ClusteringProblem, candidates: Candidates, kind: str = "closed"
    ) -> Cheapest:
        """What each record costs at least, by the candidates of one kind, or until the deadline."""
        return self.shared.once(
            ("bounds", kind, problem.digest),
            lambda: Cheapest.of(problem, candidates),
            records=problem.records,
            is_whole=lambda _: not problem.deadline.expired,
        )

    def priced(
        self,
        problem: ClusteringProblem,
        every: Candidates,
        *,
        effort: Ascent,
        kind: str = "closed",
        cheapest: Cheapest | None = None,
    ) -> Priced:
        """What records are worth together, by all candidates of one kind, or until the deadline."""

        def search() -> Priced:
            own = cheapest or self.cheapest(problem, every, kind)
            duals = dual_bound(problem, every, effort=effort, cheapest=own)
            return Priced(duals, effort, problem.deadline.expired)

        name = ("prices", kind, effort.name, problem.allowance, problem.digest)
        return self.shared.once(
            name, search, records=problem.records, is_whole=lambda found: not found.is_cut
        )

    def by_reduced_cost(
        self, problem: ClusteringProblem, every: Candidates, *, priced: Priced | None, kind: str
    ) -> Clustering | None:
        """A cover by reduced cost; None where prices are not known, or it finds none in time."""
        if priced is None or not len(priced.duals.near):
            return None
        own = problem.allowance, problem.demand is None, problem.digest
        try:
            return self.shared.once(
                ("cover by reduced cost", kind, priced.effort.name, *own),
                lambda: reduced_cost_cover(problem, every, duals=priced.duals),
                records=problem.records,
                is_whole=lambda _: not priced.is_cut,
            )
        except (TimeLimitError, UnsatisfiableError):
            return None

    def _mined(self, problem: ClusteringProblem, wanted: MiningRequest) -> Candidates:
        engine, subject, own = self.engine, self.read.subject, self.encoded
        with engine.workspace(), engine.limited(problem.deadline), phase("mining"):
            if problem.records < subject.records:
                own = block_of(engine, subject, encoded=own, problem=problem)
            found = mined(engine, own, trees=subject.trees, wanted=wanted).fetch(engine)
            problem.deadline.check()
            return Candidates.of(problem, np.stack(found.nodes, axis=1), support=found.supports)


def decide_cover(
    engine: Engine,
    subject: Subject,
    *,
    policy: Policy,
    options: Options[CoverOptions],
    cover: Cover,
) -> Decided:
    """A recoding of every record, from the first clusters that a cover by itemsets chooses.

    Raises:
        HierarchyError: A hierarchy does not fit its column, or has one label for different nodes.
        PolicyError: The policy asks for what this method cannot do.
        UnsatisfiableError: No clusters satisfy the policy.
    """
    refuse_mixed_labels(subject)
    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        mine = Mine.of(engine, subject, policy=policy, loss=options.loss, shared=options.shared)
    own = options.own
    kind = "frequent" if own.candidates == "frequent" else "closed"

    def start(problem: ClusteringProblem, quick: Clustering | None) -> FirstClusters:
        before = replace(problem, deadline=problem.deadline.share(MINED))
        every = mine.candidates(before, kind, progress=options.progress)
        cheapest = mine.cheapest(problem, every, kind)
        bounds = cheapest.cost
        if problem.deadline.expired:
            bounds = np.maximum(bounds, column_bounds(problem))
        priced, effort = None, effort_of(options, problem.records, memberships=every.memberships)
        if effort is not None:
            options.tell(f"prices: {counted(len(every), 'candidate')}")
            own_share = replace(problem, deadline=problem.deadline.share(PRICED))
            priced = mine.priced(own_share, every, effort=effort, kind=kind, cheapest=cheapest)
        options.tell(f"cover: {counted(len(every), 'candidate')}")
        cheap = every if own.beta is None else within(problem, every, beta=own.beta)
        try:
            first = cover(problem, cheap)
        except TimeLimitError:
            if quick is None:
                raise
            first = FirstClusters(quick, ended="the cover", is_instead=True)
            return replace(first, bounds=bounds, candidates=len(every), priced=priced)
        first = replace(first, bounds=bounds, candidates=len(every), priced=priced)
        if not own.refine:
            return first
        other = mine.by_reduced_cost(problem, every, priced=priced, kind=kind)
        return replace(first, other=other)

    return decide_clusters(mine.read, options, start=start)
