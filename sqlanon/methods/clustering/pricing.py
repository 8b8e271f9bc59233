"""Mining and pricing: the frequent itemsets of a table, and what its records are worth by them.

Methods that mine no itemsets to cluster by price records unasked where an upper bound on all
memberships says that it takes a moment, never by the clock, so that reports are the same
everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import TimeLimitError, UnsatisfiableError
from sqlanon.methods.clustering.first import FirstClusters, Priced, Start
from sqlanon.methods.itemsets import MiningRequest, mined
from sqlanon.methods.local import EncodedRecords, plain, read_once, read_records
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import Options, SharedWork
from sqlanon.microdata.binding import Subject
from sqlanon.microdata.distinct import block_of
from sqlanon.microdata.encoding import Encoded, encode_subject
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.search.clustering.clustering_problem import Candidates, Clustering, ClusteringProblem
from sqlanon.search.clustering.direct_cover import Cheapest
from sqlanon.search.clustering.dual_bound import Ascent, dual_bound, standing, stands_at
from sqlanon.search.clustering.price_proof import AlikeRecords
from sqlanon.search.clustering.reduced_cost_cover import reduced_cost_cover
from sqlanon.wording import counted

PRICED_SHARE = 0.4
"""Share of the time that is left for what records are worth."""
MOST_ITEMSETS = 3_000_000
"""Itemsets that are mined at most where no cover needs them all, the cheapest."""
MAX_PRICED_COMBINATIONS, MAX_PRICED_MEMBERSHIPS = 5_000, 5e7
"""Distinct combinations up to which records are priced unasked, and these times the nodes that may
stand for one of them, which are no fewer than their memberships in itemsets: it takes a second or
two."""
LOOKS_PER_MEMBER = 2
"""Looks of a refinement at records for each row of a nearly tight closure from which on prices in
full take no longer than that. In four tables there are 1.1 to 15, and prices take 3 to 7 times as
long as refinement where there are 1.1, and 1.1 times where there are 4 or more."""


@dataclass(frozen=True, slots=True)
class Mine:
    """A table in codes, in the database and out of it, whose itemsets can be mined.

    Args:
        engine: Where the table lives.
        encoded: Its codes there.
        read: Its codes out of it.
        shared: What other searches of it have found.
        kind: Which itemsets: `closed` or `frequent` ones.
    """

    engine: Engine
    encoded: Encoded
    read: EncodedRecords
    shared: SharedWork = field(default_factory=SharedWork)
    kind: str = "closed"

    @classmethod
    def of(
        cls,
        engine: Engine,
        subject: Subject,
        *,
        policy: Policy,
        loss: str,
        shared: SharedWork | None = None,
        kind: str = "closed",
    ) -> Mine:
        """Encodes a table."""
        shared = shared or SharedWork()
        encoded = encode_subject(engine, subject, plain(policy))

        def read() -> EncodedRecords:
            return read_records(engine, subject, policy=policy, loss=loss, encoded=encoded)

        return cls(engine, encoded, read_once(shared, subject, read, policy=policy), shared, kind)

    def candidates(self, problem: ClusteringProblem, *, most: int | None = None) -> Candidates:
        """The itemsets that clusters of the table, or of a block of it, may be published as.

        Args:
            problem: The table, or the block.
            most: How many at most, the cheapest; None for all. Another one stands for the others.
        """
        lowest, costs = [0] * len(problem.taxonomies), [tree.cost for tree in problem.taxonomies]
        high = self.read.subject.high
        wanted = MiningRequest(problem.k, self.kind, lowest, high, most, costs)
        return self.shared.once(
            ("itemsets", self.kind, problem.digest),
            lambda: self._mined(problem, wanted),
            records=problem.records,
            is_whole=lambda itemsets: stands_at(problem, itemsets) is None,
        )

    def cheapest(self, problem: ClusteringProblem, candidates: Candidates) -> Cheapest:
        """What each record costs at least by itself, or until the deadline."""
        is_whole = stands_at(problem, candidates) is None
        return self.shared.once(
            ("bounds", self.kind, problem.digest),
            lambda: Cheapest.of(problem, candidates),
            records=problem.records,
            is_whole=lambda _: is_whole and not problem.deadline.expired,
        )

    def priced(
        self,
        problem: ClusteringProblem,
        every: Candidates,
        *,
        effort: Ascent,
        cheapest: Cheapest,
        most: float = np.inf,
    ) -> Priced:
        """What records are worth together, by all candidates, or until the deadline.

        Args:
            problem: The table.
            every: The candidates.
            effort: How long prices are raised.
            cheapest: What the candidates say of each record.
            most: The `most_members` of `dual_bound`.
        """
        is_whole = stands_at(problem, every) is None

        def search() -> Priced:
            duals = dual_bound(problem, every, effort=effort, cheapest=cheapest, most_members=most)
            expired, below = problem.deadline.expired, stands_at(problem, every)
            return Priced(duals, duals.effort or effort, expired, below)

        name = ("prices", self.kind, effort.name, most, problem.allowance, problem.digest)
        return self.shared.once(
            name,
            search,
            records=problem.records,
            is_whole=lambda result: is_whole and not result.is_cut,
        )

    def by_reduced_cost(
        self, problem: ClusteringProblem, every: Candidates, *, priced: Priced
    ) -> Clustering | None:
        """A cover by reduced cost; None where no prices are known, or it finds none in time."""
        if not len(priced.duals.near):
            return None
        key = problem.allowance, problem.demand is None, problem.digest
        try:
            return self.shared.once(
                ("cover by reduced cost", self.kind, priced.effort.name, *key),
                lambda: reduced_cost_cover(problem, every, duals=priced.duals),
                records=problem.records,
                is_whole=lambda _: not priced.is_cut,
            )
        except (TimeLimitError, UnsatisfiableError):
            return None

    def _mined(self, problem: ClusteringProblem, wanted: MiningRequest) -> Candidates:
        engine, subject, encoded = self.engine, self.read.subject, self.encoded
        with engine.workspace(), engine.limited(problem.deadline), phase("mining"):
            if problem.records < subject.records:
                encoded = block_of(engine, subject, encoded=encoded, problem=problem)
            made = mined(engine, encoded, trees=subject.trees, wanted=wanted)
            itemsets = made.fetch(engine)
            engine.tables.drop(made.table)
            problem.deadline.check()
            nodes = np.stack(itemsets.nodes, axis=1)
            every = Candidates.of(problem, nodes, support=itemsets.supports)
            return every if made.below is None else standing(problem, every, made.below)


def effort_of(options: Options[ClusterOptions], records: int) -> tuple[Ascent | None, float]:
    """How long prices of records are raised, and rows of closures for which that is too long.

    No effort where they are not asked for. Unasked it is in full where refinement looks at records
    so often that it takes longer than that.
    """
    settings = options.specific
    if settings.bound == "columns":
        return None, 0
    if settings.bound is not None or settings.improve == "lns":
        return Ascent[(settings.bound or "full").upper()], np.inf
    looks = settings.passes * records if settings.refine else 0
    return Ascent.FULL, looks / LOOKS_PER_MEMBER


def priced(
    engine: Engine,
    read: EncodedRecords,
    options: Options[ClusterOptions],
    *,
    start: Start,
    patience: int = 1,
) -> Start:
    """First clusters with what records are worth, where that is asked for or takes a moment.

    Under a time limit mining and prices have a share of it together.

    Args:
        engine: Where the table lives.
        read: The table.
        options: How to cluster it.
        start: Finds the clusters.
        patience: How many times as much as in general is priced unasked.
    """

    def starting(problem: ClusteringProblem) -> FirstClusters:
        first = start(problem)
        if options.specific.bound is None and not _takes_a_moment(problem, patience):
            return first
        # Clusters for k alone, whose records are exchanged, prove nothing that others do not.
        is_begin = problem.demand is None and read.policy.demands
        if options.specific.bound == "columns" or is_begin:
            return first
        problem = replace(problem, deadline=problem.deadline.share(PRICED_SHARE))
        try:
            with engine.limited(problem.deadline), phase("mining"):
                encoded = encode_subject(engine, read.subject, plain(read.policy))
            mine = Mine(engine, encoded, read, options.shared)
            every = mine.candidates(problem, most=MOST_ITEMSETS)
            effort, members = effort_of(options, problem.records)
            assert effort is not None
            tell(f"prices: {counted(len(every), 'itemset')}")
            cheapest = mine.cheapest(problem, every)
            known = mine.priced(problem, every, effort=effort, cheapest=cheapest, most=members)
            return replace(first, priced=known)
        except TimeLimitError:
            return replace(first, is_unpriced=True)

    return starting


def _takes_a_moment(problem: ClusteringProblem, patience: int) -> bool:
    """Whether itemsets are so few, by an upper bound, that nobody has to ask for them."""
    combinations, nodes = len(AlikeRecords.of(problem)), 1.0
    for column, taxonomy in enumerate(problem.taxonomies):
        top = len(taxonomy.ancestors) - 1
        nodes *= 1 + (min(top, problem.highest[column]) if problem.highest else top)
    return (
        combinations <= patience * MAX_PRICED_COMBINATIONS
        and combinations * nodes <= patience * MAX_PRICED_MEMBERSHIPS
    )
