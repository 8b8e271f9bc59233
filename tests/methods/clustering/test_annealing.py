"""Annealing end to end: never worse than without it, told in the report, refused where idle."""

from __future__ import annotations

import json

import pytest
from databases import empty_database
from deadlines import until

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, TCloseness
from sqlanon.errors import PolicyError
from sqlanon.policy.policy import Sensitive
from sqlanon.search.clustering.annealing import anneal
from sqlanon.search.clustering.effort import Schedule


@pytest.fixture
def people():
    """Jobs come in runs of ages, so neighbours have the same."""
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT range AS age, range % 4 AS zone, "
        "chr((97 + range // 7 % 3)::INTEGER) AS job FROM range(84)"
    )
    with connection:
        yield connection


def policy(*models, **more):
    hierarchies = {"age": Hierarchy.intervals(7, 14, 28), "zone": Hierarchy.intervals(2)}
    return Policy(
        hierarchies,
        sensitive={"job": Sensitive(order=["a", "b", "c"])} if models else (),
        others="keep",
        models=[KAnonymity(4), *models],
        **more,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "model", "own"),
    [
        ("direct-cover", LDiversity(2.5, "entropy"), {"refine": False}),
        ("direct-cover", TCloseness(0.3, "ordered"), {"passes": 1}),
        ("set-cover", TCloseness(0.3), {"refine": False}),
        ("mondrian", LDiversity(3), {"partitioning": "strict"}),
        ("mondrian", LDiversity(3), {"partitioning": "relaxed"}),
    ],
)
def test_annealing_satisfies_the_models_and_never_loses_more(people, method, model, own):
    own = {"method": method, **own}
    ordinary = sqlanon.plan(people, policy(model), table="people", **own).report
    report = sqlanon.anonymize(
        people, policy(model), table="people", **own, improve="anneal", into="released"
    )
    assert report.holds
    assert sqlanon.check(people, policy(model), table="released").holds
    told = report.search.annealing
    assert told.loss.ordinary == pytest.approx(ordinary.loss["lm"])
    assert report.loss["lm"] == pytest.approx(min(told.loss.ordinary, told.loss.annealed))
    assert told.loss.clusters_of_k <= told.loss.exchanged + 1e-12


@pytest.mark.slow
def test_the_report_tells_what_annealing_came_to(people):
    model = LDiversity(2.5, "entropy")
    plan = sqlanon.plan(
        people,
        policy(model),
        table="people",
        method="direct-cover",
        improve="anneal",
        loss_weight=0.0,
        refine=False,
    )
    told = json.loads(json.dumps(plan.report.to_dict()))["search"]["annealing"]
    (state,) = told["models"]
    assert (state["model"], state["column"]) == ("entropy 2.5-diversity", "job")
    assert state["before"]["worst"] < 2.5 <= state["after"]["worst"] + 1e-9
    assert state["before"]["failing"] > state["after"]["failing"] == 0
    assert 0 < told["accepted"] <= told["iterations"] <= 5 * 84
    text = plan.report.to_text()
    assert f"annealed        {told['iterations']:,} exchanges tried" in text
    assert f"{state['before']['failing']} of {state['clusters']} clusters failed, 0 after" in text
    assert "without annealing" in text


@pytest.mark.slow
def test_no_exchange_leaves_all_to_mending(people):
    model = LDiversity(2.5, "entropy")
    report = sqlanon.plan(
        people,
        policy(model),
        table="people",
        method="direct-cover",
        improve="anneal",
        iterations=0,
        refine=False,
    ).report
    told = report.search.annealing
    assert (told.iterations, told.accepted) == (0, 0)
    assert told.models[0].before == told.models[0].after
    assert told.loss.clusters_of_k == told.loss.exchanged < told.loss.annealed


@pytest.mark.slow
def test_the_schedule_and_the_seed_reach_the_search(people, monkeypatch):
    schedules = []

    def annealed(problem, demands, *, label, schedule):
        schedules.append(schedule)
        return anneal(problem, demands, label=label, schedule=schedule)

    monkeypatch.setattr("sqlanon.methods.clustering.annealing.anneal", annealed)
    given = {"iterations": 30, "temperature": 0.5, "cooling": 0.25, "loss_weight": 2.0}
    for settings in (given, {}):
        sqlanon.plan(
            people,
            policy(LDiversity(3)),
            table="people",
            method="direct-cover",
            improve="anneal",
            refine=False,
            seed=7,
            **settings,
        )
    assert schedules == [Schedule(30, 0.5, 0.25, 2.0, seed=7), Schedule(seed=7)]


@pytest.mark.slow
def test_blocks_are_annealed_each_on_its_own(people):
    report = sqlanon.plan(
        people,
        policy(LDiversity(2)),
        table="people",
        method="direct-cover",
        improve="anneal",
        block_records=50,
        refine=False,
    ).report
    assert report.search.blocks > 1
    told = report.search.annealing
    assert told.kept == (told.loss.annealed < told.loss.ordinary)
    assert report.loss["lm"] <= told.loss.ordinary + 1e-12


@pytest.mark.parametrize("method", ["direct-cover", "forest", "auto"])
def test_annealing_is_refused_where_there_is_no_model_to_anneal_for(people, method):
    with pytest.raises(PolicyError, match="the policy has none; leave it out, or ask for such"):
        sqlanon.plan(people, policy(), table="people", method=method, improve="anneal")
    with pytest.raises(PolicyError, match="the policy has none; leave it out, or ask for such"):
        sqlanon.compare(people, policy(), table="people", methods=[method], improve="anneal")


@pytest.mark.slow
def test_a_time_limit_keeps_what_there_is(people, monkeypatch):
    def hurried(problem, demands, *, label, schedule):
        return anneal(until(problem, 4), demands, label=label, schedule=schedule)

    monkeypatch.setattr("sqlanon.methods.clustering.annealing.anneal", hurried)
    monkeypatch.setattr("sqlanon.search.clustering.annealing.ITERATIONS_BETWEEN_LOOKS", 1)
    model = LDiversity(2.5, "entropy")
    report = sqlanon.anonymize(
        people,
        policy(model),
        table="people",
        method="direct-cover",
        improve="anneal",
        refine=False,
        into="released",
    )
    told = report.search.annealing
    assert told.iterations == 2
    assert told.models[0].after.failing > 0
    assert "the time limit ended annealing before its last iteration" in report.notes
    assert report.holds
    assert report.loss["lm"] <= told.loss.ordinary + 1e-12
