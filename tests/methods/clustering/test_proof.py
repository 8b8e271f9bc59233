"""What plans prove of every other recoding: never more than the least loss there is."""

from __future__ import annotations

import numpy as np
import pytest
from databases import empty_database, sixty_people
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.covers import problem_of
from test_bound import bounded, least, opened

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier, Sensitive
from sqlanon.errors import PolicyError, TimeLimitError, UnsatisfiableError
from sqlanon.loss.cells import CellCosts
from sqlanon.methods.clustering import pricing
from sqlanon.methods.clustering.first import Proof
from sqlanon.methods.clustering.pricing import Mine, _takes_a_moment, effort_of
from sqlanon.methods.registry import Options
from sqlanon.search.clustering.clustering_problem import Clustering
from sqlanon.search.clustering.dual_bound import Ascent
from sqlanon.search.clustering.effort import PASSES

pytestmark = pytest.mark.slow

METHODS = ["direct-cover", "set-cover", "forest", "agglomerative", "diameter-cover"]
ROUNDING = 1e-9


@pytest.fixture
def people():
    return sixty_people()


def policy(**more):
    columns = {"a": Hierarchy.intervals(2, 6, 12), "b": Hierarchy.suppression()}
    return Policy(columns, models=[KAnonymity(3)], others="drop", **more)


@settings(max_examples=8)
@given(bounded(), st.sampled_from(METHODS), st.sampled_from(["columns", "quick", "full"]))
def test_no_plan_proves_more_than_the_least_loss(case, method, bound):
    connection, own = opened(*case)
    records = case[3]
    possible = least(own, records)
    asked = {"method": method, "bound": bound}
    with connection:
        try:
            reports = [
                sqlanon.plan(connection, own, table="people", **asked, block_records=most).report
                for most in (len(records), 4)
            ]
        except UnsatisfiableError:
            assert possible is None
            return
    for report in reports:
        assert report.lower_bound <= possible + ROUNDING


@pytest.mark.parametrize("method", [*METHODS, "agglomerative-modified", "partial-domain"])
def test_a_plan_proves_more_with_more_effort(people, method):
    found = [
        sqlanon.plan(people, policy(), table="people", method=method, bound=bound, passes=1).report
        for bound in ("columns", "quick", "full")
    ]
    least, quick, full = (each.lower_bound for each in found)
    assert least < quick <= full <= found[0].loss["lm"]
    assert [each.search.bound for each in found[1:]] == ["quick", "full"]
    assert found[0].search.bound in ("columns", "records")
    document = found[1].to_dict()
    assert document["lower_bound"] == quick
    assert document["ratio"] == pytest.approx(document["loss"]["value"] / quick)
    assert f"{found[1].ratio:.3g} times as much" in found[1].to_text()


@pytest.mark.parametrize(
    "more", [{"entity": "c"}, {"sensitive": {"c": Sensitive([LDiversity(2)])}}], ids=["entity", "l"]
)
def test_what_the_bound_does_not_look_at_does_not_lower_it(people, more):
    asked = policy(**more)
    alone = sqlanon.bound(people, policy(), table="people").lower_bound
    report = sqlanon.plan(people, asked, table="people", method="direct-cover", passes=1).report
    assert report.lower_bound == alone == sqlanon.bound(people, asked, table="people").lower_bound
    assert alone <= report.loss["lm"]


def test_blocks_have_a_bound_of_their_own(people):
    asked = {"method": "set-cover", "block_records": 25}
    report = sqlanon.plan(people, policy(), table="people", **asked).report
    whole = sqlanon.plan(people, policy(), table="people", method="set-cover").report
    own = report.search.block_bound
    assert report.search.bound == "columns"
    assert report.lower_bound < own <= report.loss["lm"]
    assert own >= whole.lower_bound - ROUNDING
    assert any(note.startswith("clusters that stay within these blocks") for note in report.notes)
    assert whole.search.block_bound is None
    assert "suppression limit" not in " ".join(report.notes)
    limited = sqlanon.plan(people, policy(suppression_limit=0.1), table="people", **asked).report
    assert "suppression limit shared among blocks" in " ".join(limited.notes)


def test_what_blocks_prove_says_nothing_of_clusters_that_cross_them(people, monkeypatch):
    def alternating(problem, _):
        return [np.arange(first, problem.records, 15) for first in range(15)], None

    monkeypatch.setattr("sqlanon.methods.clustering.first._blocks", alternating)
    report = sqlanon.plan(
        people, policy(), table="people", method="forest", bound="full", block_records=25
    ).report
    told = " ".join(report.notes)
    assert report.search.blocks == 15
    assert "first clusters do not cross them" in told
    assert report.search.block_bound is None
    assert "stay within these blocks" not in told


def test_prices_are_raised_in_full_where_refinement_takes_longer():
    def effort(**asked):
        return effort_of(Options.of("direct-cover", **asked), 60)

    assert effort() == (Ascent.FULL, PASSES * 30)
    assert effort(passes=1) == (Ascent.FULL, 30)
    assert effort(refine=False) == (Ascent.FULL, 0)
    assert effort(bound="full") == effort(improve="lns") == (Ascent.FULL, np.inf)
    assert effort(bound="quick") == (Ascent.QUICK, np.inf)
    assert effort(bound="columns")[0] is None


def test_a_small_table_is_priced_unasked_and_a_large_one_on_request(people, monkeypatch):
    def by(**asked):
        return sqlanon.plan(people, policy(), table="people", method="forest", **asked).report

    assert by().search.bound == "full"
    monkeypatch.setattr(pricing, "MAX_PRICED_COMBINATIONS", 10)
    assert by().search.bound == "records"
    assert by(bound="full").search.bound == "full"


def test_a_table_is_small_in_rows_and_in_nodes_times_patience(monkeypatch):
    problem = problem_of([(str(row),) for row in range(12)], 2)
    for name, limit in (("MAX_PRICED_COMBINATIONS", 6), ("MAX_PRICED_MEMBERSHIPS", 12)):
        with monkeypatch.context() as own:
            own.setattr(pricing, name, limit)
            assert [_takes_a_moment(problem, patience) for patience in (1, 2)] == [False, True]


def test_prices_leave_time_for_the_search(people, monkeypatch):
    left, candidates = [], Mine.candidates

    def seen(self, problem, *given, **more):
        left.append(problem.deadline.left())
        return candidates(self, problem, *given, **more)

    monkeypatch.setattr(Mine, "candidates", seen)
    asked = {"method": "forest", "passes": 1, "time_limit": 100}
    sqlanon.plan(people, policy(), table="people", **asked)
    assert 0 < left[0] < 40


def test_clusters_for_k_alone_that_are_exchanged_are_not_priced(people, monkeypatch):
    times, priced = [], Mine.priced

    def seen(self, problem, *given, **more):
        times.append(problem.demand)
        return priced(self, problem, *given, **more)

    monkeypatch.setattr(Mine, "priced", seen)
    asked = policy(sensitive={"c": Sensitive([LDiversity(2)])})
    sqlanon.plan(people, asked, table="people", method="forest", improve="anneal", passes=1)
    assert times
    assert None not in times


@pytest.mark.parametrize("method", ["anytime", "forest"])
def test_no_more_itemsets_than_a_bound_takes_are_mined_and_the_others_are_told(
    people, method, monkeypatch
):
    settings = {"table": "people", "method": method, "bound": "full", "passes": 1}
    whole = sqlanon.plan(people, policy(), **settings).report
    monkeypatch.setattr("sqlanon.methods.clustering.pricing.MOST_ITEMSETS", 5)
    report = sqlanon.plan(people, policy(), **settings).report
    assert 0 < report.lower_bound < whole.lower_bound
    for told, expected in ((whole, 0), (report, 1)):
        notes = [note for note in told.notes if "only the cheapest itemsets" in note]
        assert len(notes) == expected


def test_a_bound_that_was_cut_short_says_so():
    costs = CellCosts.of("lm", [], weights=[], records=1, counts=[])
    [note] = Proof(0, "quick", is_cut=True).notes(costs, 1)
    assert note.startswith("the share of the time limit for the bound ran out")


def test_an_unknown_effort_is_refused(people):
    with pytest.raises(PolicyError, match="choose quick or full"):
        sqlanon.bound(people, policy(), table="people", effort="columns")


def test_a_chain_below_the_lowest_level_costs_what_that_level_does():
    """`a0` repeats no label but every value of its node, so it is one node at both levels."""
    tree = Hierarchy.from_rows([("a0", "a_1", "*"), ("b0", "b_1", "*"), ("b1", "b_1", "*")])
    own = Policy({"a": QuasiIdentifier(tree, min_level=1)}, models=[KAnonymity(2)])
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT unnest(['a0', 'a0', 'b0', 'b1']) AS a")
        for method in ("set-cover", "mondrian", "forest"):
            report = sqlanon.plan(
                connection, own, table="people", method=method, loss="tree"
            ).report
            assert report.search.proven
            assert report.lower_bound == pytest.approx(report.loss["tree"])
        least = sqlanon.bound(connection, own, table="people", loss="tree").lower_bound
        assert least == pytest.approx(report.loss["tree"])


def test_prices_that_the_time_limit_leaves_out_are_told(people, monkeypatch):
    def ended(*_, **__):
        raise TimeLimitError("mining")

    monkeypatch.setattr("sqlanon.methods.clustering.pricing.Mine.candidates", ended)
    report = sqlanon.plan(people, policy(), table="people", method="forest", bound="full").report
    assert report.search.bound == "records"
    assert report.is_cut
    assert any(
        note.startswith("the share of the time limit for the bound") for note in report.notes
    )


@pytest.mark.parametrize("is_far", [False, True])
def test_a_cover_by_prices_is_refined_unless_it_begins_far_behind(people, monkeypatch, is_far):
    def in_one(self, problem, every, *, priced):
        return Clustering.of(problem, np.zeros(problem.records, np.int64))

    asked = {"table": "people", "method": "direct-cover"}
    alone = sqlanon.plan(people, policy(), **asked, refine=False).report
    if is_far:
        monkeypatch.setattr(Mine, "by_reduced_cost", in_one)
    report = sqlanon.plan(people, policy(), **asked).report
    by_reduced_cost = "refinement started from a cover by reduced cost"
    assert any(note.startswith(by_reduced_cost) for note in report.notes) is not is_far
    assert report.loss["lm"] <= alone.loss["lm"]
