"""What rows of a comparison have in common: found once, and without changing any of them."""

import time
from collections import Counter

import pytest
from databases import sixty_people

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier, Sensitive
from sqlanon.comparison.comparing import BRIEF_PASSES
from sqlanon.comparison.report import ComparedRow
from sqlanon.deadline import Deadline
from sqlanon.errors import TimeLimitError
from sqlanon.methods.clustering import linkage, pricing
from sqlanon.methods.fulldomain import method as fulldomain
from sqlanon.methods.registry import METHODS, SharedWork

CLUSTERS = [name for name, row in METHODS.items() if row.takes("passes")]
FOUND_ONCE = {
    "near records": (linkage.Neighbours, "of"),
    "itemsets": (pricing, "mined"),
    "bounds": (pricing.Cheapest, "of"),
    "prices": (pricing, "dual_bound"),
    "cover by reduced cost": (pricing, "reduced_cost_cover"),
    "full-domain node": (fulldomain, "quick_node"),
}


@pytest.fixture
def connection():
    return sixty_people()


def policy(k=3, highest=None, **more):
    columns = {
        "a": QuasiIdentifier(Hierarchy.intervals(2, 6, 12), max_level=highest),
        "b": Hierarchy.suppression(),
    }
    return Policy(columns, models=[KAnonymity(k)], **more)


POLICIES = [
    policy(),
    policy(highest=2, suppression_limit=0.1, sensitive={"c": Sensitive([LDiversity(2)])}),
]


def told(report):
    """What a report says but for times."""
    found = report.to_dict()
    return {name: found[name] for name in found.keys() - {"seconds", "created", "hashes", "policy"}}


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES, ids=["k", "highest and l"])
def test_rows_are_those_of_plans_that_share_nothing(connection, policy):
    rows = sqlanon.compare(connection, policy, table="people", methods=[*CLUSTERS, "mondrian"]).rows
    assert sum(row.shared_seconds > 0 for row in rows) == len(rows) - 1
    for row in rows:
        name = row.asked.method
        brief = {"passes": BRIEF_PASSES} if name in CLUSTERS else {}
        alone = sqlanon.plan(connection, policy, table="people", method=name, **brief)
        assert told(row.report) == told(alone.report), name


def counting(monkeypatch):
    """How often each thing that rows have in common is looked for."""
    calls = Counter()

    def counted(name, find):
        def call(*given, **named):
            calls[name] += 1
            return find(*given, **named)

        return call

    for name, (home, function) in FOUND_ONCE.items():
        monkeypatch.setattr(home, function, counted(name, getattr(home, function)))
    return calls


@pytest.mark.slow
def test_each_thing_is_found_once_for_a_loss_and_a_k(connection, monkeypatch):
    calls, methods = counting(monkeypatch), ["set-cover", "direct-cover", "forest", "agglomerative"]
    found = sqlanon.compare(connection, policy(), table="people", methods=methods, ks=[3, 5])
    assert calls == dict.fromkeys(FOUND_ONCE, 2)
    assert not found.failed


@pytest.mark.slow
def test_under_a_time_limit_each_row_finds_everything_by_itself(connection, monkeypatch):
    calls = counting(monkeypatch)
    methods = ["set-cover", "direct-cover", "forest", "diameter-cover"]
    found = sqlanon.compare(connection, policy(), table="people", methods=methods, time_limit=60)
    assert calls["near records"] == 2
    assert calls["itemsets"] == calls["prices"] == calls["full-domain node"] == 4
    assert [row.shared_seconds for row in found.rows] == [0.0] * 4


@pytest.mark.slow
def test_what_is_kept_fits_the_memory(connection, monkeypatch, tmp_path):
    monkeypatch.setattr("sqlanon.methods.options.RECORD_BYTES", 10**9)
    calls, methods = counting(monkeypatch), ["set-cover", "direct-cover"]
    path = str(tmp_path / "people.parquet")
    connection.execute(f"COPY people TO '{path}'")
    sqlanon.compare(path, policy(), methods=methods, memory_limit="1GB", passes=1)
    assert calls["itemsets"] == 2


@pytest.mark.slow
def test_a_bound_counts_what_it_takes_by_itself(connection, monkeypatch):
    mined = pricing.mined

    def slowly(*given, **named):
        time.sleep(0.5)
        return mined(*given, **named)

    monkeypatch.setattr(pricing, "mined", slowly)
    monkeypatch.setattr(ComparedRow, "bounds_by_itemsets", False)
    found = sqlanon.compare(connection, policy(), table="people", methods=["direct-cover"])
    [bound] = found.bounds
    assert bound.seconds > 0.5


@pytest.mark.slow
def test_a_row_counts_what_it_takes_by_itself(connection):
    found = sqlanon.compare(
        connection, policy(), table="people", methods=["forest", "diameter-cover"]
    )
    one, other = found.rows
    assert one.seconds_alone == one.seconds
    assert other.seconds_alone == other.seconds + other.shared_seconds > other.seconds
    entries = found.to_dict()["methods"]
    assert [each["shared_seconds"] for each in entries] == [0.0, other.shared_seconds]


def test_what_is_kept_is_whole_and_of_the_same_table():
    shared, calls = SharedWork(most=10), Counter()

    def ask(name, *, records=1, is_whole=True):
        def find():
            calls[name] += 1
            return calls[name]

        return shared.once((name,), find, records=records, is_whole=lambda _: is_whole)

    shared.read_from("a table")
    assert [ask("cut short", is_whole=False), ask("cut short"), ask("cut short")] == [1, 2, 2]
    assert [ask("large", records=11), ask("large", records=11)] == [1, 2]
    shared.read_from("a table")
    assert ask("cut short") == 2
    shared.read_from("another table")
    assert ask("cut short") == 3


def test_what_a_deadline_ended_is_not_kept():
    shared, over = SharedWork(most=10), Deadline.after(0)
    for _ in range(2):
        with pytest.raises(TimeLimitError):
            shared.once(("near records",), over.check, records=1)
    assert shared.once(("near records",), lambda: "all", records=1) == "all"
    assert shared.borrowed == 0
    assert shared.once(("near records",), lambda: "others", records=1) == "all"
    assert shared.borrowed > 0


@pytest.mark.slow
def test_a_node_that_was_cut_short_is_not_lent_to_others(connection, monkeypatch):
    calls, before = Counter(), fulldomain.quick_node

    def cut(*given, **named):
        calls["node"] += 1
        return before(*given, **named)[0], False

    monkeypatch.setattr(fulldomain, "quick_node", cut)
    sqlanon.compare(connection, policy(), table="people", methods=["forest", "diameter-cover"])
    assert calls["node"] == 2
