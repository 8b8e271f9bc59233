"""Parts of single records, in memory: relaxed ones, and those whose records are to be exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.clustering.clusters import decide_clusters
from sqlanon.methods.clustering.first import FirstClusters
from sqlanon.methods.local.input import encode_records, reading_end
from sqlanon.methods.options import (
    BLOCK_RECORDS,
    RECORD_BYTES,
    AnnealingOptions,
    ClusterOptions,
    PartOptions,
)
from sqlanon.methods.registry import Decided, Options
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.reports.search import ClusterSearch, PartSearch
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.search.clustering.problem import Clustering, ClusteringProblem


def by_records(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[PartOptions]
) -> Decided:
    """A recoding of single records, by blocks that memory holds record by record."""
    own = options.own
    relaxed = own.partitioning == "relaxed"

    def cut(problem: ClusteringProblem, begun: Clustering | None) -> Clustering:
        seed = options.seed
        return cut_clusters(problem, cuts=own.cuts, relaxed=relaxed, seed=seed, begun=begun)

    def start(problem: ClusteringProblem, _: Clustering | None) -> FirstClusters:
        found = cut(problem, None)
        ended = "the partition" if problem.deadline.expired else ""
        return FirstClusters(found, ended=ended)

    with engine.limited(reading_end(options.deadline)), phase("the encoding"):
        read = encode_records(engine, subject, policy=policy, loss=options.loss)
    given: Options[Any] = options
    annealing = {each.name: getattr(own, each.name) for each in fields(AnnealingOptions)}
    alone = replace(given, own=ClusterOptions(refine=False, **annealing))
    return decide_clusters(read, alone, start=start, further=cut)


def refuse_many(subject: Subject, options: Options[PartOptions]) -> None:
    """Refuses, by a `PolicyError`, to anneal more records than memory is given for."""
    memory = options.memory
    most = BLOCK_RECORDS if memory is None else min(BLOCK_RECORDS, memory // RECORD_BYTES)
    if subject.records > most:
        raise PolicyError(
            f"annealing exchanges single records, which have to be in memory, and "
            f"{subject.records:,} are more than the {most:,} that can be; leave --improve out, or "
            "choose --partitioning relaxed, which cuts such a table into blocks"
        )


def lesser(
    found: Decided, annealed: Decided, annealing: Mapping[str, Any], *, loss: str
) -> Decided:
    """Of what is found with annealing and without it what loses less, with what annealing did."""
    ordinary, other = found.report.loss[loss], annealed.report.loss[loss]
    kept = bool(annealing["kept"]) and other < ordinary
    best = annealed if kept else found
    search = best.report.search
    assert isinstance(search, ClusterSearch | PartSearch)
    losses = {**annealing["loss"], "ordinary": ordinary}
    search = replace(search, annealing={**annealing, "kept": kept, "loss": losses})
    return replace(best, report=replace(best.report, search=search))
