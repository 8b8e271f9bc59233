"""Clusters beside full-domain search: its best node is the result where it loses less."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.deadline import Deadline
from sqlanon.methods.clustering import clusters, partial_domain
from sqlanon.methods.clustering.first import FirstClusters, StartedBlock
from sqlanon.methods.fulldomain import method as fulldomain
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import METHODS
from sqlanon.publishing import planner
from sqlanon.search.clustering.clustering_problem import Clustering
from sqlanon.search.lattice.incognito import (
    DESCENT_NODES_PER_QUERY,
    WIDE_NODES_PER_QUERY,
    best_node,
)

CLUSTERS = [name for name, row in METHODS.items() if issubclass(row.options, ClusterOptions)]
# Every other value of a goes with one ill alone, its neighbour with four: their union is diverse.
STRUCTURED = """
    CREATE TABLE people AS
    SELECT i % 16 AS a, (i * 3) % 11 AS b, (i // 2) % 8 AS c,
           CASE WHEN (i % 16) // 2 % 2 = 0 THEN 0 ELSE 1 + (i // 16) % 4 END AS ill
    FROM range(240) AS r(i)
"""
GRIDS = {
    "a": Hierarchy.intervals(2, 4, 8),
    "b": Hierarchy.intervals(2, 4),
    "c": Hierarchy.intervals(2, 4),
}
DIVERSE = Policy(GRIDS, ["ill"], models=[KAnonymity(4), LDiversity(2, "entropy")], others="drop")
LOST = "this is the best full-domain recoding: "


@cache
def best_of_structured():
    """The loss of the best node of that table."""
    with empty_database() as connection:
        connection.execute(STRUCTURED)
        return sqlanon.plan(connection, DIVERSE, table="people").report.loss["lm"]


@pytest.fixture
def people():
    with empty_database() as connection:
        connection.execute(STRUCTURED)
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize("method", ["set-cover", "direct-cover", "mondrian"])
def test_the_best_node_is_the_result_of_a_method_that_loses_more(people, method, monkeypatch):
    own = {} if method == "mondrian" else {"passes": 1}
    best = best_of_structured()
    helped = sqlanon.plan(people, DIVERSE, table="people", method=method, **own).report
    monkeypatch.setattr(planner, "_quick_node", lambda *_, **__: None)
    alone = sqlanon.plan(people, DIVERSE, table="people", method=method, **own).report
    assert helped.loss["lm"] == min(best, alone.loss["lm"])
    assert helped.lower_bound == alone.lower_bound <= best
    assert (helped.method, helped.holds) == (method, True)
    is_node = best < alone.loss["lm"]
    assert is_node or method == "mondrian"
    assert any(note.startswith(LOST) for note in helped.notes) is is_node
    assert not any(note.startswith(LOST) for note in alone.notes)


@pytest.mark.slow
def test_clusters_that_stay_as_they_were_found_ask_for_nothing_else(people, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(planner, "_quick_node", refuse)
    assert sqlanon.plan(
        people, DIVERSE, table="people", method="direct-cover", refine=False
    ).report.holds


@pytest.mark.slow
def test_a_search_that_is_lent_looks_at_few_nodes_of_a_large_table(people, monkeypatch):
    monkeypatch.setattr(fulldomain, "MAX_QUICK_LOOKS", 0)
    monkeypatch.setattr(fulldomain, "MIN_NODES", 1)
    said = []
    found = sqlanon.plan(
        people, DIVERSE, table="people", method="direct-cover", progress=said.append
    )
    assert found.report.holds
    assert [line for line in said if line.startswith("search")] == ["search: 1 node checked"]


@pytest.fixture
def checked(monkeypatch):
    """How many nodes each full-domain search has looked at."""
    found = []

    def counting(*given, **settings):
        outcome = best_node(*given, **settings)
        found.append(outcome.checked)
        return outcome

    monkeypatch.setattr(fulldomain, "best_node", counting)
    return found


@pytest.mark.slow
def test_a_search_that_is_lent_looks_at_no_more_nodes_of_a_small_table(
    people, checked, monkeypatch
):
    monkeypatch.setattr(fulldomain, "MAX_QUICK_LOOKS", 3 * fulldomain.STATEMENT)
    monkeypatch.setattr(fulldomain, "MIN_NODES", 1)
    assert sqlanon.plan(people, DIVERSE, table="people", method="mondrian").report.holds
    assert 1 < checked[0] <= 3 + WIDE_NODES_PER_QUERY


@pytest.mark.slow
@pytest.mark.parametrize("method", list(dict.fromkeys([*CLUSTERS, "mondrian"])))
def test_small_tables_of_many_columns_are_clustered_without_a_limit(method, checked, monkeypatch):
    """Lattices of 2^30 nodes, which no search gets to the end of."""
    names, most = [f"c{column}" for column in range(30)], 20
    monkeypatch.setattr(fulldomain, "MAX_QUICK_LOOKS", most * fulldomain.STATEMENT)
    with empty_database() as connection:
        columns = ", ".join(f"hash(i * 100 + {n}) % 4 AS {name}" for n, name in enumerate(names))
        connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(20) AS r(i)")
        policy = Policy(dict.fromkeys(names, Hierarchy.suppression()), models=[KAnonymity(3)])
        briefly = {"passes": 1} if METHODS[method].takes("passes") else {}
        assert sqlanon.plan(connection, policy, table="wide", method=method, **briefly).report.holds
    assert checked[0] <= most + DESCENT_NODES_PER_QUERY


@pytest.fixture
def clock(monkeypatch):
    """The time that all deadlines look at, which stands still; they come at 100."""
    now = [0.0]
    monkeypatch.setattr(Deadline, "after", lambda _: Deadline(100.0, lambda: now[0]))
    return now


@pytest.mark.slow
@pytest.mark.parametrize("method", ["partial-domain", "diameter-cover", "direct-cover"])
def test_no_search_that_is_cut_short_loses_more_than_the_best_node(
    people, clock, monkeypatch, method
):
    def begin(releases, *_, **__):
        """Two halves of the table, and the time is over."""
        clock[0] = 1000.0
        problem = releases.problem
        halves = Clustering.of(problem, np.arange(problem.records) * 2 // problem.records)
        first = FirstClusters(halves, ended="the cover")
        return [StartedBlock(releases.placeable, problem, first)]

    best = best_of_structured()
    monkeypatch.setattr(clusters, "begin", begin)
    found = sqlanon.plan(people, DIVERSE, table="people", method=method, time_limit=1.0).report
    assert found.method == method
    assert found.loss["lm"] <= best + 1e-12


@pytest.mark.slow
def test_partial_domain_that_is_cut_short_falls_back_on_cuts(people, clock, monkeypatch):
    def interrupted(problem):
        clock[0] = 1000.0
        return Clustering.of(problem, np.zeros(problem.records, np.int64))

    monkeypatch.setattr(partial_domain, "partial_domain", interrupted)
    monkeypatch.setattr(planner, "_quick_node", lambda *_, **__: None)
    found = sqlanon.plan(
        people, DIVERSE, table="people", method="partial-domain", time_limit=1.0
    ).report
    assert found.method == "partial-domain"
    assert found.search.given_up == "the cuts of groups of partial-domain"
    assert found.search.parts > 1
