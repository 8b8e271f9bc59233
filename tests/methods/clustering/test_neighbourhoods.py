"""Large neighbourhood search end to end: never worse, told in the report, refused where idle."""

from __future__ import annotations

import time
from importlib.util import find_spec

import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.errors import PolicyError


@pytest.fixture
def people():
    """Ages and zones that few records share."""
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT (range * 37) % 91 AS age, (range * 5) % 8 AS zone, "
        "chr((97 + range % 3)::INTEGER) AS job FROM range(90)"
    )
    with connection:
        yield connection


def policy(*models, **more):
    hierarchies = {"age": Hierarchy.intervals(7, 14, 28), "zone": Hierarchy.intervals(2, 4)}
    sensitive = ["job"] if models else ()
    keep = () if models else ["job"]
    models = [KAnonymity(4), *models]
    return Policy(hierarchies, sensitive=sensitive, keep=keep, models=models, **more)


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("direct-cover", policy()),
        ("forest", policy(LDiversity(2), suppression_limit=0.05)),
        ("set-cover", policy(suppression_limit=0.05)),
    ],
)
def test_pools_parted_anew_never_lose_more(people, method, asked):
    own = {"method": method, "passes": 1, "bound": "columns"}
    ordinary = sqlanon.plan(people, "people", asked, **own).report
    report = sqlanon.anonymize(
        people, "people", asked, **own, improve="lns", pools=5, into="released", overwrite=True
    )
    assert report.holds
    told = report.search["lns"]
    assert told["pools"] == 5
    assert told["loss"]["refined"] == pytest.approx(ordinary.loss["lm"])
    assert told["loss"]["parted"] == pytest.approx(report.loss["lm"])
    assert report.lower_bound <= report.loss["lm"] <= ordinary.loss["lm"] + 1e-12
    if method == "direct-cover":
        assert report.loss["lm"] < ordinary.loss["lm"]
        assert told["better_pools"]


def test_a_time_limit_is_used_and_kept(people):
    began = time.monotonic()
    report = sqlanon.plan(
        people, "people", policy(), method="direct-cover", improve="lns", time_limit=2
    ).report
    assert time.monotonic() - began < 4
    assert report.search["lns"]["pools"] > 1


def test_the_search_is_refused_without_its_solver(people, monkeypatch):
    def without(name):
        return None if name == "highspy" else find_spec(name)

    monkeypatch.setattr("sqlanon.publishing.planner.find_spec", without)
    message = r"pip install 'sqlanon\[exact\]'"
    for method in ("direct-cover", "auto"):
        with pytest.raises(PolicyError, match=message):
            sqlanon.plan(people, "people", policy(), method=method, improve="lns")
    with pytest.raises(PolicyError, match=message):
        sqlanon.compare(people, "people", policy(), methods=["forest"], improve="lns")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pools": 5}, "pools belong to --improve lns"),
        ({"improve": "lns", "pools": 0}, "pools are 0; give a whole number of at least 1"),
        ({"improve": "lns", "refine": False}, "begins with refined clusters"),
        ({"improve": "lns", "temperature": 1.0}, "temperature belongs to --improve anneal"),
        ({"improve": "lns", "method": "mondrian"}, "mondrian refines none"),
        ({"improve": "lns", "method": "incognito"}, "improve belongs to"),
    ],
)
def test_what_the_search_cannot_use_is_refused(people, settings, message):
    with pytest.raises(PolicyError, match=message):
        sqlanon.plan(people, "people", policy(), **{"method": "direct-cover", **settings})
