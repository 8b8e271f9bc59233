"""Methods that compare all records: bounds, guarantees, refusals and options, end to end."""

from __future__ import annotations

import pytest
from databases import empty_database, insert

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.errors import PolicyError
from sqlanon.methods.clustering import linkage
from sqlanon.methods.clustering.linkage import LINKAGES, Linkage
from sqlanon.methods.options import CLUSTER_DISTANCES
from sqlanon.search.clustering.agglomerative import DISTANCES
from sqlanon.search.clustering.neighbours import Neighbours

pytestmark = pytest.mark.slow

NAMES = ["age", "zip", "sex"]


def policy_of(k, *models, sensitive=(), **more):
    return Policy(
        quasi_identifiers={
            "age": Hierarchy.intervals(10, 40),
            "zip": Hierarchy.prefix(2, 1),
            "sex": Hierarchy.suppression(),
        },
        sensitive=sensitive,
        models=[KAnonymity(k), *models],
        **({} if sensitive else {"drop": ["ill"]}),
        **more,
    )


@pytest.fixture(scope="module")
def people():
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT (20 + hash(i, 1) % 60)::INTEGER AS age, "
        "(100 + hash(i, 2) % 5 * 27)::TEXT AS zip, 'fm'[(1 + hash(i, 3) % 2)::INTEGER] AS sex, "
        "'abc'[(1 + hash(i, 4) % 3)::INTEGER] AS ill FROM range(60) AS r(i)"
    )
    yield connection
    connection.close()


@pytest.mark.parametrize("method", LINKAGES)
def test_more_combinations_than_can_be_compared_are_refused_but_not_blocks_of_them(
    people, method, monkeypatch
):
    monkeypatch.setitem(LINKAGES, method, Linkage(LINKAGES[method].link, 40))
    with pytest.raises(PolicyError, match=rf"{method} compares .* Use mondrian or direct-cover"):
        sqlanon.plan(people, policy_of(3), table="people", method=method)
    plan = sqlanon.plan(
        people, policy_of(3), table="people", method=method, block_records=40, refine=False
    )
    assert plan.report.search.blocks > 1


@pytest.mark.parametrize("method", LINKAGES)
def test_more_combinations_are_refused_before_a_time_limit_can_end_the_encoding(
    people, method, monkeypatch
):
    found = people.execute(f"SELECT count(DISTINCT ({', '.join(NAMES)})) FROM people").fetchone()[0]
    monkeypatch.setattr(linkage, "encode_records", lambda *_, **__: pytest.fail("it is encoded"))
    monkeypatch.setitem(LINKAGES, method, Linkage(LINKAGES[method].link, found - 1))
    with pytest.raises(PolicyError, match=rf"{method} compares every two of {found} distinct"):
        sqlanon.plan(people, policy_of(3), table="people", method=method, time_limit=60)


def test_a_block_of_too_many_combinations_is_refused_before_another_is_searched(
    people, monkeypatch
):
    searched = []
    monkeypatch.setattr(Neighbours, "of", lambda *_: searched.append(1))
    monkeypatch.setitem(LINKAGES, "forest", Linkage(LINKAGES["forest"].link, 20))
    with pytest.raises(PolicyError, match=r"every two of 25 distinct .*--block-records 20"):
        sqlanon.plan(people, policy_of(3), table="people", method="forest", block_records=30)
    assert not searched


@pytest.mark.parametrize(
    ("method", "policy", "told"),
    [
        ("forest", policy_of(4), "forest loses at most 3 (k - 1) = 9 times"),
        ("forest", policy_of(1), ""),
        ("forest", policy_of(3, LDiversity(2), sensitive=["ill"]), ""),
        (
            "diameter-cover",
            policy_of(4),
            "diameter-cover loses at most 4k (1 + ln 2k) = 49.3",
        ),
        ("diameter-cover", policy_of(3, LDiversity(2), sensitive=["ill"]), ""),
        ("agglomerative", policy_of(4), ""),
    ],
)
def test_a_guarantee_is_told_where_there_is_one(people, method, policy, told):
    notes = sqlanon.plan(people, policy, table="people", method=method, passes=1).report.notes
    found = [note for note in notes if "at most" in note]
    assert len(found) == bool(told)
    assert all(note.startswith(told) for note in found)


def test_the_distances_of_the_option_are_those_that_there_are():
    assert list(CLUSTER_DISTANCES) == list(DISTANCES)


@pytest.mark.parametrize("method", ["agglomerative", "agglomerative-modified"])
def test_distances_give_clusters_of_their_own(people, method):
    settings = {"method": method, "refine": False}
    losses = [
        sqlanon.plan(people, policy_of(5), table="people", distance=each, **settings).report.loss[
            "lm"
        ]
        for each in DISTANCES
    ]
    default = sqlanon.plan(people, policy_of(5), table="people", **settings).report.loss["lm"]
    assert losses[0] == default
    assert len(set(losses)) > 1


@pytest.mark.parametrize("method", ["forest", "mondrian"])
def test_classes_that_say_nothing_are_told_apart_from_what_the_limit_counts(method, tmp_path):
    rows = [*[("a", "b")] * 4, *[("c", "d")] * 4, ("e", "f"), ("g", "h"), ("i", "j"), ("k", "l")]
    columns = {"left_part": Hierarchy.suppression(), "right_part": Hierarchy.suppression()}
    with empty_database() as connection:
        connection.execute("CREATE TABLE pairs (left_part TEXT, right_part TEXT)")
        insert(connection, "pairs", rows)
        policy = Policy(columns, models=[KAnonymity(3)])
        plan = sqlanon.plan(connection, policy, table="pairs", method=method)
    report = plan.report
    assert report.suppressed_records == report.silent_records == 4
    assert "  suppressed      0 records (0%)" in report.to_text()
    assert "  say nothing     4 records (33.33%): all cells are suppressed" in report.to_text()
    plan.save(tmp_path / "plan.json")
    assert sqlanon.Plan.load(tmp_path / "plan.json").report.silent_records == 4
