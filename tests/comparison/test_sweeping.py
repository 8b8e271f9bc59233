"""Sweeps: each point is what a plan by that policy reports, and shared work changes nothing."""

import random
from contextlib import closing
from dataclasses import fields, replace

import duckdb
import numpy
import pytest

import sqlanon
from sqlanon import (
    Hierarchy,
    KAnonymity,
    LDiversity,
    Policy,
    Sensitive,
    SqlanonError,
    TCloseness,
    UnsatisfiableError,
)
from sqlanon.errors import PolicyError
from sqlanon.microdata import encoding
from sqlanon.policy.varied import VARIED, variation

POLICY = Policy(
    quasi_identifiers={
        "age": Hierarchy.intervals(5, 10, 20, 40),
        "zip": Hierarchy.prefix(3, 2, 1),
        "sex": Hierarchy.suppression(),
    },
    sensitive=["job"],
    models=[KAnonymity(3)],
    suppression_limit=0.1,
)
GRID = {"k": [2, 4], "suppression_limit": [0, 0.2]}


@pytest.fixture(scope="module")
def people():
    drawn = random.Random(7)
    rows = [
        (drawn.randrange(20, 80), f"{drawn.randrange(100, 130)}", drawn.choice("fm"), job)
        for job in [drawn.choice("abcd") for _ in range(50)]
    ]
    with closing(duckdb.connect()) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, zip VARCHAR, sex VARCHAR, job CHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
        yield connection


@pytest.fixture(scope="module")
def swept(people):
    return sqlanon.sweep(people, POLICY, table="people", over=GRID)


def planned(people, point, **settings):
    """What a plan by the policy of a point reports."""
    policy = POLICY
    for each in point.values.values():
        policy = each.policy(policy)
    return sqlanon.plan(people, policy, table="people", **settings).report


@pytest.mark.slow
@pytest.mark.parametrize(
    ("over", "settings"),
    [
        (GRID, {}),
        ({"l": [2, "entropy:2"], "suppression_limit": [0.1, 0]}, {"loss": "utility"}),
        ({"suppression_limit": [0, 0.1]}, {"method": "set-cover", "passes": 1}),
    ],
)
def test_every_point_is_what_its_plan_reports(people, over, settings):
    swept = sqlanon.sweep(people, POLICY, table="people", over=over, **settings)
    assert [tuple(point.values) for point in swept.points] == [tuple(over)] * len(swept.points)
    for point in swept.points:
        if point.report is None:
            with pytest.raises(UnsatisfiableError):
                planned(people, point, **settings)
            continue
        alone, mine = planned(people, point, **settings).to_dict(), point.report.to_dict()
        for name in ("loss", "lower_bound", "levels", "suppressed_records", "models", "classes"):
            assert mine[name] == alone[name], (point.labels, name)
    assert swept.done


@pytest.mark.slow
def test_a_full_domain_sweep_encodes_once_and_checks_fewer_nodes(people, monkeypatch):
    combined, original = [], encoding._combinations

    def counting(*given, **how):
        combined.append(given)
        return original(*given, **how)

    monkeypatch.setattr(encoding, "_combinations", counting)
    swept = sqlanon.sweep(people, POLICY, table="people", over=GRID)
    assert len(combined) == 1
    together = sum(point.report.search.checked for point in swept.points)
    alone = sum(planned(people, point).search.checked for point in swept.points)
    assert together < alone


@pytest.mark.slow
def test_a_sweep_leaves_no_tables_behind(people):
    before = people.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
    sqlanon.sweep(people, POLICY, table="people", over={"k": [2, 3]})
    assert people.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == before


@pytest.mark.slow
def test_the_page_has_the_loss_by_both_figures_and_every_point(swept):
    text = swept.to_text()
    assert "lm by k (down) and suppression_limit (across)" in text
    found = {point.labels: f"{point.loss:.6g}" for point in swept.points}
    [row] = [line.split() for line in text.splitlines() if line.split()[:1] == ["4"]][:1]
    assert row == ["4", *(found["4", limit] for limit in ("0", "0.2"))]
    document = swept.to_dict()
    assert document["sweep"] == {"k": [2, 4], "suppression_limit": [0, 0.2]}
    assert [point["asked"] for point in document["points"]][:2] == [
        {"k": 2, "suppression_limit": 0},
        {"k": 2, "suppression_limit": 0.2},
    ]
    assert document["points"][0]["loss"]["value"] == swept.points[0].loss


@pytest.mark.slow
def test_a_point_that_nothing_satisfies_says_so(people):
    swept = sqlanon.sweep(people, POLICY, table="people", over={"l": [2, 9]})
    assert [point.report is None for point in swept.points] == [False, True]
    assert swept.to_dict()["points"][1]["error"]["kind"] == "UnsatisfiableError"
    assert "– l 9: " in swept.to_text()


@pytest.mark.slow
def test_progress_tells_which_point_it_is(people):
    lines = []
    sqlanon.sweep(people, POLICY, table="people", over={"k": [2, 3]}, progress=lines.append)
    points = [line for line in lines if line.count(":") == 1]
    assert [(str(line), line.share) for line in points] == [
        ("sweep: 1 of 2, k 2", 0.0),
        ("sweep: 2 of 2, k 3", 0.5),
    ]


@pytest.mark.slow
def test_charts_show_a_line_for_each_value_of_the_other_figure(swept, tmp_path):
    pytest.importorskip("altair")
    swept.chart(tmp_path / "sweep.html")
    page = (tmp_path / "sweep.html").read_text("utf-8")
    assert page.count("<svg") == 1
    assert "sqlanon plan --sweep" in page
    assert page.count("<table>") == 2
    assert "<script" not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({}, "nothing is swept"),
        (
            {"kk": [2]},
            "'kk' is not a figure of a policy that can be swept; those are k, k_map,",
        ),
        ({"k": []}, "k has no list of values"),
        ({"k": "2"}, "k has no list of values"),
        ({"k": [2, 2]}, "k is swept over 2 twice"),
        ({"k": [0]}, "k is 0; it must be a whole number"),
        ({"k": ["many"]}, "'many' is not a number"),
        ({"suppression_limit": [2]}, "suppression_limit 2 is not a share"),
        ({"suppression_limit": [0], "suppression-limit": [1]}, "suppression_limit is swept twice"),
        ({"l": ["entropy:x"]}, "l: "),
        ({"k": [True]}, "must be a number or a text, not a bool"),
        ({"k": numpy.array(2)}, "k has no list of values"),
        ({"k": 2}, "k has no list of values"),
        ({"suppression_limit": [0.1234567, "0.1234567"]}, "over 0.1234567 twice"),
        ({"k": list(range(1, 51)), "t": [n / 100 for n in range(50)]}, "2,500 points"),
    ],
)
def test_what_cannot_be_swept_is_refused(people, over, message):
    with pytest.raises(PolicyError) as refused:
        sqlanon.sweep(people, POLICY, table="people", over=over)
    assert message in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["minimal_nodes", "alternatives"])
def test_what_is_about_one_plan_is_refused(people, name):
    with pytest.raises(PolicyError, match=f"{name} is about one plan"):
        sqlanon.sweep(people, POLICY, table="people", over={"k": [2]}, **{name: True})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "values", "written"),
    [
        ("k", ["1234567", 2], [1234567, 2]),
        ("suppression_limit", ["0.1234567", "0.1234568"], [0.1234567, 0.1234568]),
        ("l", ["2", "entropy:1.2345678"], [2, "entropy:1.2345678"]),
        ("k", numpy.array([2, 5]), [2, 5]),
        ("t", list(numpy.array([0.25, 0.5], numpy.float32)), [0.25, 0.5]),
        ("suppression_limit", (each / 4 for each in range(2)), [0, 0.25]),
    ],
)
def test_values_are_told_as_the_numbers_that_they_are(people, key, values, written):
    swept = sqlanon.sweep(people, POLICY, table="people", over={key: values})
    found = swept.to_dict()["sweep"][key]
    assert found == written
    assert {type(each) for each in found} <= {int, float, str}
    assert len({point.labels for point in swept.points}) == len(written)


@pytest.mark.slow
def test_where_every_point_is_refused_the_first_reason_is_the_error(people):
    plain = replace(POLICY, sensitive=())
    with pytest.raises(SqlanonError, match="needs a sensitive column"):
        sqlanon.sweep(people, plain, table="people", over={"l": [2, 3]})


@pytest.mark.parametrize("key", VARIED)
def test_every_figure_can_be_varied_and_goes_before_what_a_column_says(key):
    values = {"k": 7, "l": "entropy:3", "suppression_limit": 0.5}
    values |= {"share_at_risk": "0.25:0.1", "k_subsets": "1:2"}
    values |= {"k_map": 7, "delta_presence": "0.1:0.25"}
    value = values.get(key, "0.25")
    own = Sensitive(models=(LDiversity(5), TCloseness(0.9)))
    changed = variation(key, value).policy(
        replace(POLICY, sensitive={"job": own}, population="all")
    )
    assert variation(key, value).label == str(value)
    if key == "k":
        assert changed.k == 7
    elif key == "suppression_limit":
        assert changed.suppression_limit == 0.5
    else:
        asked = {*(each.model for each in changed.demands), *changed.models}
        [model] = [each for each in asked if each.family == key]
        expected = {"l": 3, "share_at_risk": 0.1, "k_subsets": 2, "k_map": 7}.get(key, 0.25)
        assert expected in [getattr(model, each.name) for each in fields(model)]
