"""Every method under every demand of a policy: the page of methods says which it takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from databases import empty_database

import sqlanon
from sqlanon import (
    AverageRisk,
    Hierarchy,
    KAnonymity,
    KMap,
    LDiversity,
    Policy,
    QuasiIdentifier,
    ShareAtRisk,
    SubsetAnonymity,
    TCloseness,
)
from sqlanon.errors import PolicyError
from sqlanon.methods.registry import METHODS

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "methods.md"
GRID = Hierarchy.intervals(4, 8)
BETWEEN = QuasiIdentifier(GRID, min_level=1, max_level=2)
FIXED = QuasiIdentifier(GRID, min_level=2, max_level=2)
DEMANDS = {
    "levels": {"a": BETWEEN, "suppression_limit": 0.1},
    "fixed levels": {"a": FIXED, "suppression_limit": 0.1},
    "`--entity`": {"entity": "who"},
    "weights": {"b": QuasiIdentifier(Hierarchy.suppression(), weight=2.5)},
    "suppression limit": {"suppression_limit": 0.1},
    "l": {"models": [KAnonymity(2), LDiversity(2, "entropy")], "sensitive": ["ill"]},
    "t": {"models": [KAnonymity(2), TCloseness(0.4)], "sensitive": ["ill"]},
    "average risk, share at risk": {
        "models": [KAnonymity(2), AverageRisk(0.2), ShareAtRisk(0.3, 0.1)],
        "suppression_limit": 0.1,
    },
    "k of subsets": {"models": [KAnonymity(2), SubsetAnonymity(1, 3)], "suppression_limit": 0.1},
    "`--population`": {"models": [KAnonymity(2), KMap(3)], "population": "people"},
}
TOGETHER = (
    ("levels", "weights", "suppression limit", "l"),
    ("fixed levels", "`--entity`"),
    ("t",),
    ("average risk, share at risk",),
    ("k of subsets",),
    ("`--population`",),
)
"""Demands that are made at once, where a method takes them."""


@pytest.fixture(scope="module")
def people():
    """32 records of 16 persons, and one record in a class of its own."""
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i // 2 AS who, (i * 7) % 16 AS a, i % 3 AS b, "
            "i % 4 AS ill FROM range(32) AS r(i) UNION ALL SELECT 99, 40, 0, 0"
        )
        yield connection


def told():
    """What the page says of each method, by the demands in the head of the table."""
    text = PAGE.read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    start = next(n for n, line in enumerate(lines) if "| fixed levels |" in line)
    names = [cell.strip() for cell in lines[start].strip("|").split("|")][1:]
    rows = {}
    for line in lines[start + 2 :]:
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) != len(names) + 1:
            break
        rows |= {
            method: dict(zip(names, cells[1:], strict=True))
            for method in re.findall("`(.*?)`", cells[0])
        }
    return rows


def test_the_page_tells_of_every_method_and_every_demand():
    rows = told()
    assert set(rows) == set(METHODS)
    assert all(list(row) == list(DEMANDS) for row in rows.values())


def test_every_demand_is_made():
    assert {demand for demands in TOGETHER for demand in demands} == set(DEMANDS)


def planned(people, method, demands):
    """The policy of some demands, and the plan of a method under it."""
    asked = {"a": GRID, "b": Hierarchy.suppression(), "models": [KAnonymity(2)], "others": "drop"}
    for demand in demands:
        asked |= DEMANDS[demand]
    policy = Policy({name: asked.pop(name) for name in "ab"}, **asked)
    given = {"patterns": "all", "refine": False}
    own = {name: given[name] for name in given if METHODS[method].takes(name)}
    return policy, sqlanon.plan(people, policy, table="people", method=method, **own)


@pytest.mark.every_row
@pytest.mark.parametrize("method", METHODS)
def test_every_method_publishes_what_it_planned(people, method):
    if method == "pattern-exact":
        pytest.importorskip("highspy")
    policy, plan = planned(people, method, [])
    assert sqlanon.apply(people, plan, table="people", into="released", overwrite=True).holds
    checked = sqlanon.check(people, policy, table="released")
    assert checked.holds
    assert checked.statistics == plan.report.statistics


@pytest.mark.parametrize("demands", TOGETHER, ids=" ".join)
@pytest.mark.parametrize("method", METHODS)
def test_a_method_takes_a_demand_or_refuses_it_as_readme_tells(people, method, demands):
    if method == "pattern-exact":
        pytest.importorskip("highspy")
    says = told()[method]
    refused = [demand for demand in demands if says[demand].startswith("no")]
    for demand in refused:
        with pytest.raises(PolicyError):
            planned(people, method, [demand])
    policy, plan = planned(people, method, [each for each in demands if each not in refused])
    report = plan.report
    assert report.holds
    assert report.statistics.smallest >= 2
    assert (report.lower_bound or 0.0) <= report.loss["lm"] + 1e-12
    assert report.suppressed_records <= policy.allowance(33) or not report.levels


@pytest.mark.slow
@pytest.mark.parametrize("method", ["incognito", "mondrian", "set-cover"])
def test_a_plan_knows_models_of_class_sizes_without_another_count(people, method, monkeypatch):
    monkeypatch.setattr("sqlanon.publishing.expected.expected_results", None)
    policy, _ = planned(people, method, ["average risk, share at risk"])
    plan = sqlanon.plan(people, policy, table="people", method=method)
    sqlanon.apply(people, plan, table="people", into="released", overwrite=True)
    assert sqlanon.check(people, policy, table="released").models == plan.report.models
