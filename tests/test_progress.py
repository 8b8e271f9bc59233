"""Progress: lines with shares, from whatever works to whoever follows."""

import random

import duckdb
import pytest

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.progress import ProgressLine, advance, following, portion, tell

pytestmark = pytest.mark.slow

POLICY = Policy(
    quasi_identifiers={
        "age": Hierarchy.intervals(5, 10, 20, 40),
        "zip": Hierarchy.prefix(3, 2, 1),
        "sex": Hierarchy.suppression(),
    },
    models=[KAnonymity(3)],
    suppression_limit=0.1,
)


@pytest.fixture(scope="module")
def people():
    drawn = random.Random(4)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (age INTEGER, zip VARCHAR, sex VARCHAR)")
    rows = [
        (drawn.randrange(20, 80), f"{drawn.randrange(100, 140)}", drawn.choice("fm"))
        for _ in range(120)
    ]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    yield connection
    connection.close()


def test_a_line_is_a_text_with_a_phase_and_a_share():
    line = ProgressLine("search: 16 nodes checked", 1.2)
    assert (line, line.phase, line.share) == ("search: 16 nodes checked", "search", 1.0)
    assert ProgressLine("reading").share is None


def test_shares_are_told_by_whole_steps_and_of_their_portion():
    told = []
    with following(told.append):
        tell("refine: 3 clusters", 0.0)
        advance(0.001)
        with portion(0.5, 1.0), portion(0.0, 0.5):
            advance(1.0)
        advance(0.6)  # less than before
    advance(0.9)
    assert [line.share for line in told] == [0.0, 0.75]
    assert {line.phase for line in told} == {"refine"}


def test_who_follows_inside_hears_what_is_told_inside():
    outer, inner = [], []
    with following(outer.append):
        with following(inner.append):
            tell("one")
        with following(None):
            tell("two")
    assert (outer, inner) == (["two"], ["one"])


@pytest.mark.parametrize(
    ("method", "phases"),
    [
        ("incognito", {"reading", "encoding", "search", "measuring"}),
        ("set-cover", {"reading", "mining", "prices", "cover", "refine", "measuring"}),
        ("direct-cover", {"mining", "prices", "cover", "refine"}),
        ("forest", {"neighbours", "forest", "refine"}),
        ("mondrian", {"partition"}),
    ],
)
def test_the_share_of_a_phase_never_falls(people, method, phases):
    lines = []
    passes = {"passes": 2} if "refine" in phases else {}
    sqlanon.plan(people, POLICY, table="people", method=method, progress=lines.append, **passes)
    assert phases <= {line.phase for line in lines}
    for phase in phases:
        runs = [[]]
        for line in lines:
            if line.phase == phase and line.share is not None:
                runs[-1].append(line.share)
            else:
                runs.append([])
        assert all(run == sorted(run) for run in runs)
        assert all(0 <= share <= 1 for run in runs for share in run)


def test_a_search_of_the_lattice_tells_how_many_nodes_are_settled(people):
    lines = []
    sqlanon.plan(people, POLICY, table="people", progress=lines.append)
    shares = [line.share for line in lines if line.phase == "search"]
    assert shares[0] < 0.5
    assert shares[-1] > shares[0]


def test_publishing_tells_that_it_writes_and_checks(people):
    lines = []
    sqlanon.anonymize(people, POLICY, table="people", into="published", progress=lines.append)
    phases = list(dict.fromkeys(line.phase for line in lines))
    assert phases[-3:] == ["writing", "checking", "publishing"]
    plan = sqlanon.plan(people, POLICY, table="people")
    heard = []
    sqlanon.apply(people, plan, into="again", progress=heard.append)
    assert "writing: 120 records" in heard


def test_checking_and_measuring_tell_what_they_do(people):
    lines = []
    sqlanon.check(people, POLICY, table="people", progress=lines.append)
    sqlanon.measure(people, "people", POLICY, table="people", progress=lines.append)
    assert [line.phase for line in lines] == [
        "checking", "reading", "measuring", "attacking",
    ]  # fmt: skip
