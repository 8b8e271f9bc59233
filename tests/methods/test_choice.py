"""The choice of a method: a reason for each, and what the report says of it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from databases import empty_database

import sqlanon
from sqlanon import AverageRisk, Hierarchy, KAnonymity, LDiversity, Policy, QuasiIdentifier
from sqlanon.methods import choice
from sqlanon.methods.choice import RULES, Situation, choose
from sqlanon.methods.registry import METHODS, Options
from sqlanon.microdata.binding import bind
from sqlanon.microdata.opening import opened_for
from sqlanon.policy.patterns import MaskColumn, Masks

pytestmark = pytest.mark.slow
ROWS = "SELECT range % 7 AS a, range % 3 AS b, range % 2 AS who, range % 4 AS s FROM range(84)"
POLICY = Policy(
    {"a": Hierarchy.intervals(2, 4), "b": Hierarchy.suppression()}, models=[KAnonymity(2)]
)

DIVERSE = replace(POLICY, sensitive=["s"], models=[KAnonymity(2), LDiversity(2)])


@pytest.fixture(scope="module")
def connection():
    with empty_database() as opened:
        opened.execute(f"CREATE TABLE people AS {ROWS}")
        yield opened


@pytest.fixture
def situation(connection):
    """The situation of the table under a policy, with options of a search."""

    def made(
        policy=POLICY, *, records=None, memory=None, local_rows=None, table="people", **settings
    ):
        options = replace(Options.of("auto", **settings), memory=memory)
        with (
            opened_for(connection, table, policy, read_only=True) as (source, resolved),
            source.engine.transaction(options.deadline),
        ):
            subject = bind(source.engine, source.table, policy=resolved)
        if records is not None:
            subject = replace(subject, records=records)
        return Situation(subject, resolved, options, local_rows)

    return made


def capped(**changes):
    column = QuasiIdentifier(Hierarchy.intervals(2, 4), **changes)
    return replace(POLICY, quasi_identifiers={"a": column, "b": Hierarchy.suppression()})


@pytest.mark.parametrize(
    ("settings", "method", "reason"),
    [
        ({}, "direct-cover", "a cover of 84 records proves how little"),
        ({"records": 10_000}, "direct-cover", "proves"),
        ({"records": 10_001}, "anytime", "10,001 records are more than covers handle in a moment"),
        ({"records": 2_000, "memory": 10**7}, "anytime", "more than covers handle"),
        ({"records": 2_000, "memory": 10**6}, "mondrian", "memory is not for 2,000 records"),
        ({"records": 2_000_001}, "mondrian", "memory is not for"),
        ({"local_rows": 83}, "mondrian", "84 records are more than the 83 that may be read here"),
        ({"records": 10_001, "block_records": 9}, "anytime", "more than covers handle"),
        ({"records": 10_000, "time_limit": 0.01}, "anytime", "longer than the time limit"),
        ({"records": 10_000, "time_limit": 10}, "direct-cover", "proves"),
        ({"consistent": True}, "incognito", "one level"),
        ({"loss": "discernibility"}, "incognito", "discernibility is not a loss of cells"),
        ({"loss": "utility"}, "incognito", "no other method"),
        ({"loss": "hdm"}, "scheme", "no other method"),
        ({"scheme": "ghs"}, "scheme", "no other method"),
        ({"cuts": "nodes"}, "mondrian", "no other method"),
        ({"cuts": "nodes", "records": 250_001}, "mondrian", "no other method"),
        ({"minimal_nodes": True}, "incognito", "no other method"),
        ({"candidates": "all"}, "set-cover", "no other method"),
        ({"candidates": "frequent", "records": 250_001}, "direct-cover", "a cover of"),
        ({"patterns": [["a"], ["b"]]}, "pattern-exact", "84 records and 2 patterns"),
        ({"patterns": "all", "records": 20_000}, "pattern-greedy", "4 patterns"),
    ],
)
def test_each_rule_has_its_method_and_its_reason(situation, settings, method, reason):
    found = choose(situation(**settings))
    assert found.method == method
    assert reason in found.reason


@pytest.mark.parametrize(
    ("policy", "method", "reason"),
    [
        (replace(POLICY, entity="who"), "direct-cover", "proves"),
        (capped(max_level=1), "direct-cover", "proves"),
        (capped(order=[str(n) for n in range(7)]), "scheme", "the order of 'a'"),
        (DIVERSE, "direct-cover", "proves"),
    ],
)
def test_each_part_of_a_policy_has_its_method_and_its_reason(situation, policy, method, reason):
    found = choose(situation(policy))
    assert found.method == method
    assert reason in found.reason


def test_no_proof_is_promised_of_models_of_all_classes(situation):
    policy = replace(POLICY, models=[AverageRisk(0.5)])
    assert choose(situation(policy)).reason == "recoding record by record loses least"
    held = choose(situation(policy, records=10_001))
    assert (held.method, "takes about" in held.more) == ("anytime", False)


def test_tables_of_many_columns_and_levels_are_not_covered(connection, situation):
    """Of 84 records a cover takes long by 2^24 nodes, and a moment by a few."""
    names = [f"c{n}" for n in range(24)]
    columns = ", ".join(f"a AS {name}" for name in names)
    connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM people")
    policy = Policy(dict.fromkeys(names, Hierarchy.suppression()), models=[KAnonymity(2)])
    found = choose(situation(policy, table="wide"))
    assert found.method == "anytime"
    assert found.more == "`--method direct-cover` takes about 2 minutes for one"
    assert "in this many columns and levels takes long" in found.reason
    assert choose(situation(policy, table="wide", improve="anneal")).method == "anytime"


def test_what_more_time_gives_is_told_by_known_figures_alone(situation):
    cover = "`--method direct-cover` takes about 60 s for one"
    large = choose(situation(records=12_500_000 // 8, block_records=9))
    assert large.more == "`sqlanon bound` may prove one"
    chosen = choose(situation(records=100_000))
    assert (chosen.method, choose(situation()).more) == ("anytime", "")

    def told(loss, bound):
        report = SimpleNamespace(loss={"lm": loss}, loss_name="lm", lower_bound=bound)
        return list(choice._further(report, replace(chosen, more=cover)))

    assert told(0.109, 0.1) == [f"the loss is within 9 % of the bound; {cover}"]
    assert told(0.109, 0.01) == told(0.1, None) == [f"no near bound on the loss is known; {cover}"]
    assert not told(0.1, 0.1)


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.01, "1 s"), (77.2, "77 s"), (600.0, "10 minutes")]
)
def test_how_long_a_cover_takes_is_told_as_far_as_it_is_known(seconds, told):
    assert choice._rounded(seconds) == told


def test_labels_of_several_nodes_need_whole_columns(situation):
    # "low" is a node of level 1 below some values, and one of level 2 above others.
    rows = [(str(n), "low" if n < 2 else "high", "rest" if n < 2 else "low", "*") for n in range(7)]
    mixed = Hierarchy.from_rows(rows)
    policy = replace(POLICY, quasi_identifiers={"a": mixed})
    found = choose(situation(policy))
    assert found.method == "incognito"
    assert "labels of 'a' stand for different nodes" in found.reason


@pytest.mark.parametrize("levels", [{"max_level": 1}, {"min_level": 2}])
@pytest.mark.parametrize("method", ["auto", "mondrian", "forest", "direct-cover", "pattern-greedy"])
def test_labels_of_several_nodes_that_cannot_mix_are_no_fault(connection, method, levels):
    rows = [(str(n), "low" if n < 2 else "high", "rest" if n < 2 else "low", "*") for n in range(7)]
    column = QuasiIdentifier(Hierarchy.from_rows(rows), **levels)
    columns = {"a": column, "b": Hierarchy.suppression()}
    policy = replace(POLICY, quasi_identifiers=columns, others="drop")
    patterns = {"patterns": "all"} if method == "pattern-greedy" else {}
    found = sqlanon.anonymize(
        connection, policy, table="people", method=method, into="x", **patterns
    )
    assert found.holds
    assert found.method != "incognito"
    connection.execute("DROP TABLE x")


def test_patterns_are_counted_and_not_listed(situation, monkeypatch):
    rules = ["at most 1 suppressed", "a never with b"]
    for patterns, number in (("all", 4), (rules[0], 3), ([["a@1"], ["a", "b"]], 2)):
        at = situation(patterns=patterns)
        columns = [MaskColumn(name, 0, high) for name, high in (("a", 3), ("b", 1))]
        assert at.patterns == len(at.masks.nodes(columns)) == number
    monkeypatch.setattr(Masks, "nodes", lambda *_: pytest.fail("they are listed"))
    assert choose(situation(patterns="all")).method == "pattern-exact"
    told = choose(situation(patterns=rules, records=20_000)).reason
    assert told == "up to 3 patterns to keep columns by"


def test_a_column_of_one_level_makes_no_patterns(situation):
    at = situation(capped(min_level=1, max_level=1), patterns="all")
    assert at.patterns == 2


def test_models_besides_k_or_a_missing_solver_leave_patterns_to_the_greedy(situation, monkeypatch):
    policy = replace(POLICY, sensitive=["s"], models=[KAnonymity(2), LDiversity(2)])
    assert choose(situation(policy, patterns="all")).method == "pattern-greedy"
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    assert choose(situation(patterns="all")).method == "pattern-greedy"


def test_rules_speak_for_methods_that_there_are():
    assert {rule.method for rule in RULES} <= METHODS.keys()


def test_the_report_names_the_method_and_says_why(connection):
    plan = sqlanon.plan(connection, POLICY, table="people", method="auto")
    asked = sqlanon.plan(connection, POLICY, table="people", method="direct-cover")
    assert plan.report.method == "direct-cover"
    assert plan.report.loss == asked.report.loss
    assert plan.report.lower_bound == asked.report.lower_bound
    assert plan.report.search.chosen_by == "auto"
    assert f"auto chose direct-cover: {plan.report.search.reason}" in plan.report.notes


def test_options_reach_the_method_that_is_chosen(connection):
    plan = sqlanon.plan(connection, POLICY, table="people", method="auto", minimal_nodes=True)
    assert plan.report.method == "incognito"
    assert plan.report.minimal_nodes


def test_without_a_method_nothing_is_chosen(connection):
    report = sqlanon.plan(connection, POLICY, table="people").report
    assert report.method == "incognito"
    assert report.search.chosen_by is None
