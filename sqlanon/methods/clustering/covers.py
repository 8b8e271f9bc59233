"""Covers: what methods share that choose clusters from the frequent itemsets of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import TimeLimitError
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.itemsets.mining import MiningRequest, mined
from sqlanon.methods.local.input import (
    EncodedRecords,
    plain,
    read_records,
    reading_end,
    refuse_mixed_labels,
)
from sqlanon.methods.options import CoverOptions
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import block_of
from sqlanon.microdata.encoding import Encoded, encode_subject
from sqlanon.policy.policy import Policy
from sqlanon.search.clustering.lower_bound.cheapest import column_bounds, record_bounds
from sqlanon.search.clustering.problem import Candidates, Clustering, ClusteringProblem
from sqlanon.search.clustering.set_cover import within
from sqlanon.wording import counted

MINED = 0.8
"""Share of the time for a cover that mining may take: what it finds is to be sorted and chosen."""
Cover = Callable[[ClusteringProblem, Candidates], FirstClusters]
"""The first clusters of a table or of a block of it, chosen from its candidates."""


@dataclass(frozen=True, slots=True)
class Mine:
    """A table in codes, in the database and out of it, whose itemsets can be mined."""

    engine: Engine
    encoded: Encoded
    read: EncodedRecords

    @classmethod
    def of(cls, engine: Engine, subject: Subject, *, policy: Policy, loss: str) -> Mine:
        """Encodes a table."""
        encoded = encode_subject(engine, subject, plain(policy))
        return cls(
            engine,
            encoded,
            read_records(engine, subject, policy=policy, loss=loss, encoded=encoded),
        )

    def candidates(
        self,
        problem: ClusteringProblem,
        kind: str = "closed",
        *,
        progress: Callable[[str], None] | None = None,
    ) -> Candidates:
        """The itemsets that clusters of the table, or of a block of it, may be published as."""
        engine, subject, own = self.engine, self.read.subject, self.encoded
        lowest = [0] * len(subject.trees)
        wanted = MiningRequest(problem.k, kind, lowest, subject.high, progress)
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
        mine = Mine.of(engine, subject, policy=policy, loss=options.loss)
    own = options.own
    kind = "frequent" if own.candidates == "frequent" else "closed"

    def start(problem: ClusteringProblem, quick: Clustering | None) -> FirstClusters:
        before = replace(problem, deadline=problem.deadline.share(MINED))
        every = mine.candidates(before, kind, progress=options.progress)
        bounds = record_bounds(problem, every, uncovered=problem.suppressed)
        if problem.deadline.expired:
            bounds = np.maximum(bounds, column_bounds(problem))
        options.tell(f"cover: {counted(len(every), 'candidate')}")
        cheap = every if own.beta is None else within(problem, every, beta=own.beta)
        try:
            first = cover(problem, cheap)
        except TimeLimitError:
            if quick is None:
                raise
            first = FirstClusters(quick, ended="the cover", is_instead=True)
        return replace(first, bounds=bounds, candidates=len(every))

    return decide_clusters(mine.read, options, start=start)
