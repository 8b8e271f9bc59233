"""Time limits: whenever the time is over, what is found satisfies the policy and says so."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from databases import empty_database, insert, tables_of

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.deadline import Deadline
from sqlanon.errors import StalePlanError, TimeLimitError
from sqlanon.methods.clustering import mondrian
from sqlanon.methods.local import search_end
from sqlanon.methods.registry import METHODS
from sqlanon.publishing import planner
from sqlanon.reports.search import SearchFigures

pytestmark = pytest.mark.slow

K, LIMIT, RECORDS = 3, 0.1, 30
NAMES = ["age", "zip", "sex", "job"]
POLICY = Policy(
    quasi_identifiers={
        "age": Hierarchy.intervals(10, 40),
        "zip": Hierarchy.prefix(2, 1),
        "sex": Hierarchy.suppression(),
        "job": Hierarchy.suppression(),
    },
    sensitive=["ill"],
    models=[KAnonymity(K), LDiversity(2)],
    suppression_limit=LIMIT,
)
SETTINGS = {
    # Else most looks are those of refinement, one like the other.
    **{name: {"passes": 2} if row.takes("passes") else {} for name, row in METHODS.items()},
    "pattern-greedy": {"patterns": "all"},
    "pattern-exact": {"patterns": [["age@1", "sex"], ["zip@1"], ["age", "job"], ["sex"]]},
}


def betters(method):
    """Whether another method has a share of every limit, so that one may only help."""
    fallback = METHODS[method].fallback
    return fallback is not None and fallback.always


LOOKS = [0, 1, 2, 4, 7, 12, 20, 35, 60, 110, 250]
ENOUGH = 20_000


@pytest.fixture
def people():
    return made()


@cache
def loss_of(method, limit=None):
    """What a method loses without a limit, or with one that does not come."""
    report = sqlanon.plan(made(), POLICY, table="people", method=method, time_limit=limit).report
    return report.loss["lm"]


def made():
    chance = random.Random(5)
    connection = empty_database()
    connection.execute("CREATE TABLE people (age INTEGER, zip TEXT, sex TEXT, job TEXT, ill TEXT)")
    rows = [
        (
            chance.randrange(20, 80),
            str(chance.choice([101, 117, 203, 209])),
            chance.choice("fm"),
            chance.choice(["clerk", "nurse", "smith"]),
            chance.choice(["flu", "gout", "none"]),
        )
        for _ in range(RECORDS)
    ]
    insert(connection, "people", rows)
    return connection


@contextmanager
def expiring(looks, grace=1e9):
    """Every deadline comes after so many looks at the clock, and reading the table is free."""
    ticks = itertools.count(1)
    after = patch.object(Deadline, "after", lambda _: Deadline(looks, ticks.__next__))
    with after, patch.object(planner, "GRACE_SECONDS", grace):
        yield


def planned(connection, method, looks, policy=POLICY, table="people", **more):
    with expiring(looks):
        return sqlanon.plan(connection, policy, table=table, method=method, time_limit=1.0, **more)


def published(connection, method, looks, **more):
    asked = {"table": "people", "into": "published", "time_limit": 1.0, **SETTINGS[method], **more}
    with expiring(looks):
        return sqlanon.anonymize(connection, POLICY, method=method, **asked)


def assert_satisfied(connection):
    """The published table satisfies the policy, counted by hand."""
    classes = defaultdict(list)
    for *values, ill in connection.execute(
        f"SELECT {', '.join(NAMES)}, ill FROM published"
    ).fetchall():
        classes[tuple(values)].append(ill)
    assert all(len(each) >= K and len(set(each)) >= 2 for each in classes.values())
    assert sum(map(len, classes.values())) >= RECORDS * (1 - LIMIT)


def leftovers(connection):
    return [name for name in tables_of(connection) if name.startswith("_sqlanon")]


@pytest.mark.parametrize("method", METHODS)
def test_whenever_the_time_is_over_the_result_satisfies_the_policy(people, method):
    best = sqlanon.plan(
        people, POLICY, table="people", method=method, **SETTINGS[method]
    ).report.loss["lm"]
    quick = loss_of("mondrian")
    ended = set()
    # Each method at every third moment: most of what they do in between is alike.
    for looks in sorted({0, *LOOKS[[*METHODS].index(method) % 3 :: 3], ENOUGH}):
        report = published(people, method, looks)
        assert_satisfied(people)
        assert report.holds
        assert not leftovers(people)
        bound, loss = report.lower_bound, report.loss["lm"]
        assert bound is None or bound <= loss + 1e-9
        told = [note for note in report.notes if "time limit ended" in note]
        if looks == 0:  # no time at all is the highest node
            assert report.levels == {"age": 3, "zip": 3, "sex": 1, "job": 1}
            [note] = told
            assert "the time limit ended the encoding" in note
        assert not told or not report.search.proven
        assert report.is_cut or not told
        if method == "anytime":  # which leaves out what there is no time for, or goes on longer
            best = min(loss, quick)
        assert told or loss <= best + 1e-9
        assert told or loss == pytest.approx(best) or betters(method)
        ended.add(bool(told))
        people.execute("DROP TABLE published")
        if not told:  # more time makes the same once more
            break
    assert ended == {True, False}


def test_whenever_it_is_over_pools_parted_anew_satisfy_the_policy(people):
    pools = []
    for looks in (60, 600):
        report = published(people, "direct-cover", looks, improve="lns")
        assert_satisfied(people)
        assert report.holds
        assert not leftovers(people)
        assert report.lower_bound <= report.loss["lm"] + 1e-9
        pools.append(report.search.to_dict().get("lns", {}).get("pools", 0))
        people.execute("DROP TABLE published")
    assert 0 == pools[0] < pools[1]


def levels_fixed(node):
    """The policy with every column at a level."""
    pairs = zip(POLICY.attributes.items(), node, strict=True)
    fixed = {name: replace(own, min_level=at, max_level=at) for (name, own), at in pairs}
    return replace(POLICY, quasi_identifiers=fixed)


@pytest.mark.parametrize("batch", [8, 10_000])
def test_mondrian_never_loses_more_than_the_node_that_its_limit_leaves_time_for(
    people, monkeypatch, batch
):
    """Whenever it comes: in the search of that node, the encoding, a round, or the last part."""
    monkeypatch.setattr("sqlanon.methods.clustering.mondrian.ROWS_IN_MEMORY", batch)
    found, before = [], planner._quick_node
    monkeypatch.setattr(
        planner, "_quick_node", lambda *a, **k: found.append(before(*a, **k)) or found[-1]
    )
    losses, nodes = [], {}
    for looks in (8, 20, *range(36, 60, 4), 80, 120, 10_000):
        plan = planned(people, "mondrian", looks)
        node = (found.pop() or (None,))[0] if found else None
        if node is not None and node not in nodes:
            fixed = sqlanon.plan(people, levels_fixed(node), table="people").report
            nodes[node] = fixed.loss["lm"]
        losses.append(plan.report.loss["lm"])
        assert losses[-1] <= nodes.get(node, 1.0) + 1e-9
    assert len(set(losses)) > 2
    assert min(losses) == losses[-1]


@pytest.mark.parametrize("place", ["units_of", "cut_large", "batches"])
def test_mondrian_loses_no_more_than_full_domain_where_its_time_is_over_later(
    people, monkeypatch, place
):
    """In the encoding, in a round of cuts, or when what is left of it is read."""
    best, now = loss_of("incognito"), [0.0]
    home = "sqlanon.methods.clustering.mondrian"
    own = getattr(mondrian, place)

    def late(*args, **kwargs):
        now[0] = 2.0
        if place == "units_of":
            raise TimeLimitError
        return own(*args, **kwargs)

    monkeypatch.setattr(f"{home}.{place}", late)
    monkeypatch.setattr(Deadline, "after", lambda _: Deadline(1.0, lambda: now[0]))
    report = sqlanon.plan(people, POLICY, table="people", method="mondrian", time_limit=1.0).report
    assert report.loss["lm"] <= best + 1e-9 < 1
    assert report.holds
    assert report.lower_bound <= report.loss["lm"]
    assert any("the time limit ended" in note for note in report.notes)


def ended(monkeypatch, method, *, found):
    """Has the time limit end a method without a result, or with one that loses everything."""
    home = import_module(METHODS[method].home)
    own = home.decide

    def decide(*given, **named):
        if not found:
            raise TimeLimitError("the encoding")
        result = own(*given, **named)
        loss = {**result.report.loss, "lm": 1.0}
        return replace(
            result, report=replace(result.report, loss=loss, search=SearchFigures(cut_short=True))
        )

    monkeypatch.setattr(home, "decide", decide)


@pytest.mark.parametrize("method", [name for name, row in METHODS.items() if row.fallback])
def test_a_method_without_a_result_is_what_stands_first(people, monkeypatch, method):
    fallback = METHODS[method].fallback
    others = ["mondrian"] * (fallback.cut_beyond < RECORDS) + ["anytime"] * (fallback.share < 1)
    losses = {name: loss_of(name) for name in (*others, "incognito")}
    ended(monkeypatch, method, found=False)
    plan = sqlanon.plan(
        people, POLICY, table="people", method=method, time_limit=1e6, **SETTINGS[method]
    )
    report = plan.report
    first = min(losses, key=losses.__getitem__)
    assert report.loss["lm"] == losses[first]
    assert (first == "incognito") is (not others)
    assert (report.method, report.search.given_up) == (method, f"the encoding of {method}")
    assert report.is_cut
    [note] = [note for note in report.notes if "the time limit ended" in note]
    assert note.startswith(f"the time limit ended the encoding of {method}: the plan is ")
    assert f" of {first}" in note


@pytest.mark.parametrize("method", ["scheme", "set-cover", "forest", "partial-domain"])
def test_a_result_that_was_cut_short_loses_no_more_than_what_stands_first(
    people, monkeypatch, method
):
    others = [] if method == "scheme" else ["mondrian", "anytime"]
    best = min(loss_of(name) for name in (*others, "incognito"))
    ended(monkeypatch, method, found=True)
    report = sqlanon.plan(people, POLICY, table="people", method=method, time_limit=1e6).report
    assert report.loss["lm"] == best < 1
    assert report.search.given_up == f"the search of {method}"


WIDE = 16
LARGE = Policy(
    {f"c{n}": Hierarchy.intervals(5, 10, 50) for n in range(WIDE)},
    models=[KAnonymity(5)],
    suppression_limit=0.02,
)
"""Of 5^16 nodes, which no search looks at all of."""


@pytest.fixture
def wide():
    values = ", ".join(f"(hash(i, {n}) % 100)::INTEGER AS c{n}" for n in range(WIDE))
    connection = empty_database()
    connection.execute(f"CREATE TABLE people AS SELECT {values} FROM range(120) t(i)")
    return connection


# Between 140 and 170 looks full-domain search alone has found the next lower loss.
@pytest.mark.parametrize("looks", [40, 130, 180])
def test_no_method_loses_more_of_a_wide_table_than_full_domain_and_cuts_in_that_time(wide, looks):
    losses = {}
    for method, row in METHODS.items():
        if row.fallback is not None and not row.fallback.replaces:
            continue  # patterns are the user's own
        losses[method] = planned(wide, method, looks, LARGE).report.loss["lm"]
    best = losses["incognito"]
    assert {name: loss for name, loss in losses.items() if loss > best + 1e-9} == {}
    best = losses["mondrian"]
    local = [name for name in losses if METHODS[name].recoding == "local"]
    assert {name: losses[name] for name in local if losses[name] > best + 1e-9} == {}


def test_patterns_of_the_user_stay_though_they_lose_more_than_what_stands_first(
    people, monkeypatch
):
    ended(monkeypatch, "pattern-greedy", found=True)
    report = sqlanon.plan(
        people, POLICY, table="people", method="pattern-greedy", patterns="all", time_limit=1e6
    ).report
    assert report.search.given_up is None
    assert not any("that of mondrian" in note for note in report.notes)


def test_only_a_finished_full_domain_plan_names_a_method_that_keeps_more():
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT (hash(i, 1) % 90)::INTEGER AS a, "
        "(hash(i, 2) % 90)::INTEGER AS b FROM range(60) t(i)"
    )
    policy = Policy(["a", "b"], models=[KAnonymity(5)])

    def told(looks, method):
        notes = planned(connection, method, looks, policy).report.notes
        return [note for note in notes if "`--method auto`" in note]

    assert len(told(ENOUGH, "incognito")) == 1
    assert [told(0, method) for method in ("incognito", "mondrian", "direct-cover")] == [[]] * 3


def test_a_long_search_says_what_a_recoding_record_by_record_loses(people, monkeypatch):
    monkeypatch.setattr(planner, "_quick_node", lambda *_, **__: None)
    node, parts = loss_of("incognito"), loss_of("mondrian")
    monkeypatch.setattr(planner, "MIN_COMPARED_LOOKS", 1)
    told = (
        f"one level per column loses {node:.2g}; record by record {parts:.2g} and less: "
        "`--method auto`"
    )
    for settings, at_most, is_told in [
        ({}, 1.0, True),
        ({"time_limit": 1e6}, 1.0, True),
        ({"method": "mondrian"}, 1.0, False),
        ({}, parts / node - 1e-6, False),
    ]:
        monkeypatch.setattr(planner, "MAX_CUT_SHARE", at_most)
        notes = sqlanon.plan(people, POLICY, table="people", **settings).report.notes
        assert (told in notes) is is_told
    monkeypatch.setattr(planner, "MAX_CUT_SHARE", 1.0)
    monkeypatch.setattr(planner, "MAX_CUT_ROWS", 1)
    assert told not in sqlanon.plan(people, POLICY, table="people").report.notes


def test_a_plan_in_place_of_another_is_told_by_the_loss_that_was_asked_for(people):
    plan = planned(people, "scheme", 0, loss="hdm").report
    document = plan.to_dict()
    assert document["loss"]["name"] == "hdm"
    assert document["loss"]["value"] == plan.loss["hdm"]
    assert (plan.lower_bound, plan.search.proven) == (None, False)


def test_a_choice_is_told_when_its_time_is_over(people):
    report = planned(people, "auto", 0).report
    chosen = report.search.reason
    assert (report.method, report.search.chosen_by) == ("direct-cover", "auto")
    assert report.search.given_up == "the encoding of direct-cover"
    assert f"auto chose direct-cover: {chosen}" in report.notes
    assert not any("of auto" in note for note in report.notes)


@pytest.mark.parametrize("method", [name for name in METHODS if betters(name)])
def test_under_a_limit_slow_methods_lose_no_more_than_the_one_that_has_its_rest(people, method):
    limited = sqlanon.plan(people, POLICY, table="people", method=method, time_limit=1e6).report
    own, rest = loss_of(method), loss_of("anytime", 1e6)
    assert limited.loss["lm"] == min(own, rest)
    told = f"the plan is that of anytime, which loses less than {method} does"
    is_other = rest < own
    assert any(note.startswith(told) for note in limited.notes) is is_other
    assert not limited.is_cut


@pytest.mark.parametrize("method", [name for name in METHODS if not betters(name)])
def test_a_limit_that_does_not_come_changes_nothing(people, method):
    plans = [
        sqlanon.plan(
            people, POLICY, table="people", method=method, time_limit=limit, **SETTINGS[method]
        )
        for limit in (None, 1e6)
    ]
    assert plans[0].recoding == plans[1].recoding
    assert plans[0].report.notes == plans[1].report.notes


def test_a_table_that_cannot_be_read_in_time_is_told(people):
    late = expiring(-5, planner.GRACE_SECONDS)
    with late, pytest.raises(TimeLimitError, match="during the reading of the table"):
        sqlanon.plan(people, POLICY, table="people", time_limit=1.0)
    assert not leftovers(people)


def test_an_open_transaction_survives_a_time_limit(people):
    people.execute("BEGIN")
    people.execute("CREATE TABLE mine AS SELECT 1 AS one")
    report = published(people, "direct-cover", 4)
    people.execute("COMMIT")
    assert report.holds
    assert people.execute("SELECT one FROM mine").fetchall() == [(1,)]
    assert_satisfied(people)


def test_a_table_that_changes_during_a_limited_search_is_not_published(people):
    [(database,)] = people.execute("SELECT current_database()").fetchall()

    def change(line):
        row = "(33, '101', 'f', 'clerk', 'flu')"
        if line.startswith("search"):
            people.cursor().execute(f"INSERT INTO {database}.people VALUES {row}")

    with pytest.raises(StalePlanError):
        sqlanon.anonymize(
            people, POLICY, table="people", into="published", time_limit=1e6, progress=change
        )
    assert not leftovers(people)


@pytest.mark.parametrize("looks", [0, 4, 40, 80, 200])
def test_a_bound_under_a_time_limit_is_one(people, looks):
    whole = sqlanon.bound(people, POLICY, table="people")
    with expiring(looks, planner.GRACE_SECONDS):
        try:
            found = sqlanon.bound(people, POLICY, table="people", effort="quick", time_limit=1.0)
        except TimeLimitError:
            return
    assert found.lower_bound <= whole.lower_bound + 1e-9
    assert found.notes or found.lower_bound == whole.lower_bound
    assert not leftovers(people)


def test_mining_that_is_cut_short_writes_nothing(people):
    with expiring(25, planner.GRACE_SECONDS), pytest.raises(TimeLimitError, match="during mining"):
        sqlanon.mine(people, POLICY, table="people", into="itemsets", time_limit=1.0)
    assert tables_of(people) == ["people"]


def planned_with_kept_columns(connection, looks, method="incognito"):
    connection.execute("CREATE OR REPLACE TABLE kept AS SELECT *, age % 7 AS team FROM people")
    policy = replace(POLICY, others="keep")
    return planned(connection, method, looks, policy, "kept", **SETTINGS[method])


def uncounted(report):
    return [note for note in report.notes if "for lack of time" in note]


@pytest.mark.parametrize("method", ["incognito", "direct-cover"])
def test_kept_columns_and_spellings_are_looked_at_while_there_is_time(people, method):
    def untold(looks):
        report = planned_with_kept_columns(people, looks, method).report
        assert report.holds
        assert [each.column for each in report.models] == [None, "ill"]
        told = uncounted(report)
        assert (report.kept_columns is None) is any("kept columns" in note for note in told)
        assert not leftovers(people)
        return len(told)

    few, many, seen = 0, 4_000, {untold(0), untold(4_000)}
    while seen <= {0, 3} and many - few > 1:  # how many looks all takes differs by method
        looks = (few + many) // 2
        seen.add(found := untold(looks))
        few, many = (looks, many) if found == 3 else (few, looks)
    # Spellings, persons and kept columns: some of them may be looked at, and others not. A cover
    # that is not cut short leaves time for all of them.
    assert seen == {0, 3} if method == "direct-cover" else {0, 3} < seen


def test_what_a_plan_had_no_time_to_count_is_counted_when_it_is_applied(people):
    plan = planned_with_kept_columns(people, 0)
    assert any(note.startswith("kept columns were not counted") for note in plan.report.notes)
    report = sqlanon.apply(people, plan, into="published")
    assert [one.name for one in report.kept_columns.columns] == ["team"]
    assert not any("kept columns were not counted" in note for note in report.notes)


@pytest.mark.parametrize(("models", "is_set_apart"), [([], False), ([LDiversity(2)], True)])
def test_time_is_set_apart_for_the_figures_of_sensitive_columns(people, models, is_set_apart):
    asked, shares, reserving = [], [], Deadline.reserving

    def recorded(own, seconds, most=0.25):
        asked.append(seconds)
        shares.append(most)
        return reserving(own, seconds, most)

    policy = replace(POLICY, models=[KAnonymity(K), *models])
    much = patch.object(planner, "COUNTS_PER_READING", 1e9)
    with much, patch.object(Deadline, "reserving", recorded):
        sqlanon.plan(people, policy, table="people", time_limit=1e6)
    assert (asked[0] > 1e4) is is_set_apart
    assert shares[0] == (0.5 if is_set_apart else 0.25)
    assert Deadline(8, lambda: 0).reserving(1e9, 0.5).left() == 4


@pytest.mark.parametrize(("sensitive", "times"), [([], 2), (["ill"], 3)])
def test_time_is_set_apart_to_measure_what_was_read_record_by_record(sensitive, times):
    policy = Policy(["age"], sensitive=sensitive, models=[KAnonymity(K)])
    read = SimpleNamespace(policy=policy, seconds=2.0)
    assert search_end(read, Deadline(100, lambda: 0)).left() == 100 - times * 2
