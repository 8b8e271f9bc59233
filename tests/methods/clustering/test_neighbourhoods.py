"""Large neighbourhood search end to end: never worse, told in the report, refused where idle."""

from __future__ import annotations

import math
import re
import time
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.deadline import Deadline
from sqlanon.errors import PolicyError
from sqlanon.methods.clustering import neighbourhoods
from sqlanon.search.clustering import repartition as search


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


@pytest.mark.slow
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
    ordinary = sqlanon.plan(people, asked, table="people", **own).report
    report = sqlanon.anonymize(
        people,
        asked,
        table="people",
        **own,
        improve="lns",
        pools=5,
        into="released",
        overwrite=True,
    )
    assert report.holds
    told = report.search.lns
    assert told.pools == 5
    assert told.loss.refined == pytest.approx(ordinary.loss["lm"])
    assert told.loss.parted == pytest.approx(report.loss["lm"])
    assert report.lower_bound <= report.loss["lm"] <= ordinary.loss["lm"] + 1e-12
    [note] = [
        each for each in report.notes if each.startswith("large neighbourhood search: 5 pools")
    ]
    assert f"lm {told.loss.refined:.6g} -> {told.loss.parted:.6g}" in note
    if method == "direct-cover":
        assert report.loss["lm"] < ordinary.loss["lm"]
        assert told.better_pools


@pytest.mark.slow
def test_progress_tells_loss_bound_and_ratio(people, monkeypatch):
    monkeypatch.setattr(search, "POOLS_BETWEEN_REPORTS", 2)
    lines, own = [], {"method": "direct-cover", "passes": 1, "bound": "quick"}
    report = sqlanon.plan(
        people, policy(), table="people", **own, improve="lns", pools=4, progress=lines.append
    ).report
    told = re.findall(r"lns: (\d) pools, lm (\S+) >= (\S+), ratio (\S+)", "\n".join(lines))
    assert [int(pools) for pools, *_ in told] == [2, 4]
    _, loss, bound, ratio = (float(each) for each in told[-1])
    assert loss == pytest.approx(report.loss["lm"], rel=1e-4)
    assert bound == pytest.approx(report.lower_bound, rel=1e-4)
    assert ratio == pytest.approx(loss / bound, rel=1e-3)


@pytest.fixture
def asked_of_search(monkeypatch):
    """What each search was given, none of which is done."""
    given = []

    def none(problem, clusters, *, price, least, **_):
        given.append((price, least))
        return search.Repartition(clusters, 0, 0)

    monkeypatch.setattr(neighbourhoods, "repartitioned", none)
    return given


@pytest.mark.slow
@pytest.mark.every_row
@pytest.mark.parametrize(("method", "suppressed"), [("direct-cover", 0), ("forest", 0.05)])
def test_a_search_is_given_what_records_are_worth(people, asked_of_search, method, suppressed):
    asked = policy(suppression_limit=suppressed)
    bounds = []
    for bound in ("columns", "quick"):
        own = {"method": method, "passes": 1, "bound": bound, "improve": "lns", "pools": 1}
        bounds.append(sqlanon.plan(people, asked, table="people", **own).report.lower_bound)
    (columns, _), (price, least) = asked_of_search
    assert columns.sum() < price.sum()
    assert bounds[0] < bounds[1]
    if not suppressed:
        assert least == pytest.approx(price.sum(), rel=1e-3)
        assert least / columns.sum() == pytest.approx(bounds[1] / bounds[0], rel=1e-2)


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("k", "records", "pools"), [(3, 10, 50), (3, 4_000, 400), (3, 10**7, 5_000), (50, 10_000, 184)]
)
def test_each_record_is_in_six_pools_unless_another_number_is_said(k, records, pools):
    """Of 60 records each at k = 3, 325 at k = 50."""
    problem = SimpleNamespace(k=k, records=records, deadline=Deadline())
    releases = SimpleNamespace(problem=problem)
    options = SimpleNamespace(specific=SimpleNamespace(pools=None))
    assert neighbourhoods._pools(releases, options) == pools
    options.specific.pools = 7
    assert neighbourhoods._pools(releases, options) == 7
    options.specific.pools, problem.deadline = None, Deadline(5)
    assert neighbourhoods._pools(releases, options) == math.inf


@pytest.mark.slow
def test_a_time_limit_is_used_and_kept(people):
    began = time.monotonic()
    report = sqlanon.plan(
        people, policy(), table="people", method="direct-cover", improve="lns", time_limit=2
    ).report
    assert time.monotonic() - began < 12
    assert report.search.lns.pools > 1


def test_the_search_is_refused_without_its_solver(people, monkeypatch):
    def without(name):
        return None if name == "highspy" else find_spec(name)

    monkeypatch.setattr("sqlanon.publishing.planner.find_spec", without)
    message = r"pip install 'sqlanon\[exact\]'"
    for method in ("direct-cover", "auto"):
        with pytest.raises(PolicyError, match=message):
            sqlanon.plan(people, policy(), table="people", method=method, improve="lns")
    with pytest.raises(PolicyError, match=message):
        sqlanon.compare(people, policy(), table="people", methods=["forest"], improve="lns")
