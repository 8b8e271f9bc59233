"""Comparing in Python: rows, failures, limits, and what stays as it was."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier, SubsetAnonymity
from sqlanon.comparison import comparing
from sqlanon.comparison.report import ComparedRow, Comparison
from sqlanon.deadline import Deadline
from sqlanon.errors import EngineError, PolicyError, SourceError, TimeLimitError
from sqlanon.methods import choice
from sqlanon.methods.clustering.pricing import Mine
from sqlanon.methods.registry import METHODS
from sqlanon.publishing import planner
from sqlanon.search.clustering.effort import PASSES

POLICY = Policy(
    {"a": Hierarchy.intervals(2, 4), "b": Hierarchy.suppression()}, models=[KAnonymity(2)]
)
QUICK = ["incognito", "direct-cover"]


@pytest.fixture
def connection():
    with empty_database() as opened:
        opened.execute(
            "CREATE TABLE people AS SELECT range % 7 AS a, range % 3 AS b FROM range(60)"
        )
        yield opened


def failing(monkeypatch, name, error):
    """Has one method fail."""
    decided = planner._decided

    def decide(engine, subject, *, policy, options):
        if options.method.name == name:
            raise error
        return decided(engine, subject, policy=policy, options=options)

    monkeypatch.setattr(planner, "_decided", decide)


def test_values_of_k_are_asked_of_subsets_where_these_alone_are(connection):
    policy = replace(POLICY, models=[SubsetAnonymity(1, k=2)])
    compared = sqlanon.compare(connection, policy, table="people", methods=["incognito"], ks=[5])
    [row] = compared.rows
    asked = [(result.model, result.threshold) for result in row.report.models]
    assert asked == [("k-anonymity of every quasi-identifier", 5)]


def test_rows_hold_reports_and_figures(connection):
    found = sqlanon.compare(connection, POLICY, table="people", methods=QUICK, ks=[2, 5])
    assert [(row.asked.method, row.asked.k) for row in found.rows] == [
        ("incognito", 2), ("direct-cover", 2), ("incognito", 5), ("direct-cover", 5),
    ]  # fmt: skip
    for row in found.rows:
        planned = sqlanon.plan(
            connection,
            Policy(POLICY.quasi_identifiers, models=[KAnonymity(row.asked.k)]),
            table="people",
            method=row.asked.method,
        )
        assert row.value == planned.report.loss["lm"]
        assert row.report.statistics == planned.report.statistics
        assert row.seconds > 0
        assert row.peak_memory is None or row.peak_memory > 0.9 * row.memory_before > 0
    assert found.provenance.policy == POLICY


@pytest.mark.slow
@pytest.mark.parametrize("error", [EngineError("out of memory"), TimeLimitError("mining")])
def test_a_method_that_fails_is_a_row_and_others_go_on(connection, monkeypatch, error):
    failing(monkeypatch, "incognito", error)
    failed, done = sqlanon.compare(connection, POLICY, table="people", methods=QUICK).rows
    assert failed.failure.message == str(error)
    assert failed.failure.kind == type(error).__name__
    assert (failed.report, failed.value) == (None, float("inf"))
    assert done.report is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "search", "highest"),
    [
        ("set-cover", "sqlanon.methods.clustering.pricing.Mine.candidates", None),
        ("direct-cover", "sqlanon.methods.clustering.covers.direct_cover", 2),
        ("forest", "sqlanon.methods.clustering.linkage.Neighbours.of", 2),
        ("agglomerative", "sqlanon.methods.clustering.linkage.agglomerative", None),
    ],
)
def test_clusters_of_quick_cuts_are_no_result_of_another_method(
    connection, monkeypatch, method, search, highest
):
    def ended(*_, **__):
        raise TimeLimitError("its search")

    monkeypatch.setattr(search, ended)
    columns = {
        "a": QuasiIdentifier(Hierarchy.intervals(2, 4), max_level=highest),
        "b": Hierarchy.suppression(),
    }
    policy = Policy(columns, models=[KAnonymity(2)])
    done, failed = sqlanon.compare(
        connection, policy, table="people", methods=["mondrian", method], time_limit=60
    ).rows
    assert done.report is not None
    assert failed.report is None
    assert f" of {method}, before there was a result" in failed.failure.message
    # A plan is wanted whatever it is made of, and tells what that is.
    report = sqlanon.plan(connection, policy, table="people", method=method, time_limit=60).report
    assert report.search.given_up in failed.failure.message


def test_a_source_at_fault_ends_all(connection, monkeypatch):
    failing(monkeypatch, "incognito", SourceError("the source has changed"))
    with pytest.raises(SourceError, match="has changed"):
        sqlanon.compare(connection, POLICY, table="people", methods=QUICK)


def test_where_all_are_refused_the_first_refusal_is_raised(connection):
    with pytest.raises(PolicyError, match="no privacy model is given"):
        sqlanon.compare(connection, Policy(["a"]), table="people", methods=QUICK)


def recorded(monkeypatch):
    """What each method of a comparison is asked for."""
    given = {}
    made = comparing.make_plan

    def make(engine, table, policy, options):
        given[options.method.name] = options
        return made(engine, table, policy, options)

    monkeypatch.setattr(comparing, "make_plan", make)
    return given


@pytest.mark.slow
def test_without_a_time_limit_no_row_has_one_but_those_that_search_until_it_is_proven(
    connection, monkeypatch
):
    given = recorded(monkeypatch)
    found = sqlanon.compare(connection, POLICY, table="people", refine=False, patterns="all")
    limited = [name for name, options in given.items() if options.deadline.is_limited]
    assert limited == ["scheme", "pattern-exact"]
    assert [row.asked.method for row in found.rows] == [*METHODS]


@pytest.mark.slow
def test_a_share_of_the_time_that_is_too_little_is_prolonged_once(connection, monkeypatch):
    ticks, shares = itertools.count(1), []

    def limited(seconds):
        shares.append(seconds)
        return Deadline(next(ticks) + seconds, ticks.__next__)

    monkeypatch.setattr(Deadline, "of_processor", limited)
    monkeypatch.setattr(planner, "GRACE_SECONDS", 1e9)
    monkeypatch.setattr(comparing, "PROVING_SECONDS", 1.0)
    found = sqlanon.compare(connection, POLICY, table="people", methods=["scheme"])
    [row] = found.rows
    assert shares == [1.0, comparing.PROVING_AGAIN]
    assert row.failure is None
    assert row.report.search.given_up is not None
    assert "> scheme" in found.to_text()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_row_loses_more_than_its_plan_without_its_mark(connection, method):
    settings = {"patterns": "all"} if "pattern" in method else {}
    given = {"table": "people", **settings}
    [row] = sqlanon.compare(connection, POLICY, methods=[method], **given).rows
    best = sqlanon.plan(connection, POLICY, method=method, **given).report.loss["lm"]
    assert row.is_cut or row.value <= best + 1e-12


@pytest.mark.slow
def test_a_time_limit_is_that_of_each_row(connection, monkeypatch):
    given = recorded(monkeypatch)
    sqlanon.compare(connection, POLICY, table="people", methods=QUICK, time_limit=5)
    ends = [options.deadline.end for options in given.values()]
    assert ends[0] < ends[1] < ends[0] + 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "passes"),
    [
        ({}, comparing.BRIEF_PASSES),
        ({"time_limit": 30.0}, PASSES),
        ({"passes": 3}, 3),
        ({"refine": False}, PASSES),
    ],
)
def test_a_first_look_refines_briefly_whatever_the_clock_says(
    connection, monkeypatch, settings, passes
):
    given = recorded(monkeypatch)
    found = sqlanon.compare(connection, POLICY, table="people", methods=QUICK, **settings)
    assert given["direct-cover"].specific.passes == passes
    assert found.passes == (None if settings else comparing.BRIEF_PASSES)
    assert ("for a first look" in found.to_text()) == (not settings)
    assert found.to_dict()["passes"] == found.passes


@pytest.mark.slow
def test_pools_are_parted_by_those_that_refine_clusters_and_as_many_each_time(
    connection, monkeypatch
):
    asked = recorded(monkeypatch)
    names = ["mondrian", "direct-cover"]
    given = {"methods": names, "improve": "lns"}
    mondrian, cover = sqlanon.compare(connection, POLICY, table="people", **given).rows
    assert mondrian.failure is None
    assert "lns" not in mondrian.report.search.to_dict()
    assert cover.report.search.lns.pools <= comparing.BRIEF_POOLS
    for limit, pools in ((None, comparing.BRIEF_POOLS), (5.0, None)):
        sqlanon.compare(connection, POLICY, table="people", time_limit=limit, **given)
        assert asked["direct-cover"].specific.pools == pools
    with pytest.raises(PolicyError, match="mondrian refines none"):
        sqlanon.compare(connection, POLICY, table="people", methods=["mondrian"], improve="lns")


def test_auto_chooses_from_all_methods_in_a_first_look(connection):
    [row] = sqlanon.compare(
        connection, POLICY, table="people", methods=["auto"], losses=["discernibility"]
    ).rows
    assert row.asked.method == "incognito"
    assert row.reason is not None


@pytest.mark.slow
def test_each_row_of_nodes_is_held_against_what_closed_itemsets_prove(connection):
    found = sqlanon.compare(
        connection, POLICY, table="people", methods=["mondrian", "scheme"], ks=[7]
    )
    policy = replace(POLICY, models=(KAnonymity(7),))
    bound = sqlanon.bound(connection, policy, table="people").lower_bound
    mondrian, scheme = found.rows
    assert found.bound("lm", 7) == bound > mondrian.report.lower_bound
    assert found.ratio(mondrian) == mondrian.value / bound >= 1
    assert found.ratio(scheme) is None


@pytest.mark.slow
def test_a_bound_that_a_cover_proves_is_not_looked_for_again(connection, monkeypatch):
    home = "sqlanon.methods.clustering.bound.bound_table"
    monkeypatch.setattr(home, lambda *_, **__: pytest.fail("it is looked for"))
    found = sqlanon.compare(connection, POLICY, table="people", methods=QUICK)
    assert found.bounds == ()
    assert found.bound("lm", 2) == found.rows[1].report.lower_bound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "efforts"),
    [({}, ["quick"]), ({"bound": "full"}, ["full"]), ({"bound": "columns"}, [])],
    ids=["unasked", "full", "columns"],
)
def test_the_bound_of_a_comparison_takes_the_effort_asked_for(
    connection, asked, efforts, monkeypatch
):
    monkeypatch.setattr(ComparedRow, "bounds_by_itemsets", False)
    methods = ["incognito", "forest"]
    found = sqlanon.compare(connection, POLICY, table="people", methods=methods, **asked)
    told = [each.effort for each in found.bounds]
    assert told == efforts


def test_a_bound_that_the_time_limit_lowers_says_so(connection, monkeypatch):
    def ended(*_, **__):
        raise TimeLimitError("mining")

    monkeypatch.setattr("sqlanon.methods.clustering.pricing.Mine.candidates", ended)
    found = sqlanon.compare(connection, POLICY, table="people", methods=["incognito"])
    assert "; its share of the time ended mining: a higher bound may hold)" in found.to_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "limit"),
    [({}, 700.0), ({"bound": "quick"}, None), ({"time_limit": 60.0}, 60.0)],
    ids=["unasked", "asked", "limited"],
)
def test_a_bound_that_nobody_asked_for_takes_no_longer_than_the_rows(
    connection, monkeypatch, settings, limit
):
    shares, after = [], Deadline.after

    def recorded(seconds):
        shares.append(seconds)
        return after(seconds)

    row = comparing._Runner._row

    def slow(*given, **named):
        return replace(row(*given, **named), seconds=350.0)

    monkeypatch.setattr(comparing._Runner, "_row", slow)
    monkeypatch.setattr(Deadline, "after", recorded)
    monkeypatch.setattr(ComparedRow, "bounds_by_itemsets", False)
    methods = ["incognito", "forest"]
    found = sqlanon.compare(connection, POLICY, table="people", methods=methods, **settings)
    assert shares[-1] == limit
    [bound] = found.bounds
    assert f"(sought in {bound.seconds:.1f} s)" in found.to_text()
    assert found.to_dict()["bounds"][0]["seconds"] == bound.seconds


@pytest.mark.slow
def test_a_row_whose_prices_were_cut_is_marked_and_its_bound_sought_again(connection, monkeypatch):
    priced = Mine.priced

    def ended(*given, **named):
        return replace(priced(*given, **named), is_cut=True)

    monkeypatch.setattr(Mine, "priced", ended)
    found = sqlanon.compare(connection, POLICY, table="people", methods=["direct-cover"])
    [row] = found.rows
    assert row.is_cut
    assert found.to_dict()["methods"][0]["cut_short"]
    assert "> direct-cover" in found.to_text()
    assert "> cut short by its share of the time" in found.to_text()
    assert "Cut short by its share of the time: direct-cover." in found.panel("lm").description
    assert [each.k for each in found.bounds] == [2]


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"method": "incognito"}, "name methods to compare"),
        ({"loss": "lm"}, "name losses to compare"),
        ({"methods": ["x"]}, "method 'x' is not known"),
        ({"ks": [0]}, "at least 1"),
        ({"ks": [True]}, "ks must be a list of whole numbers"),
        ({"methods": "incognito"}, "methods must be a list of texts"),
        ({"ks": [2, 2]}, "compared twice"),
        *(
            ({name: []}, f"{name} is empty; name at least one")
            for name in ("methods", "losses", "ks")
        ),
        ({"losses": ["nothing"]}, "is not known"),
        ({"methods": QUICK, "scheme": "ghs"}, "option of none .* compare scheme, too"),
        ({"methods": QUICK, "consistent": True}, "option of none .* compare auto, too"),
        ({"time_limt": 3}, "'time_limt' is not known"),
        ({"time_limit": -1.0}, "above 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(connection, settings, part):
    with pytest.raises(PolicyError, match=part):
        sqlanon.compare(connection, POLICY, table="people", **settings)


@pytest.mark.slow
def test_an_open_transaction_is_joined(connection):
    connection.begin()
    connection.execute("INSERT INTO people FROM people")
    found = sqlanon.compare(connection, POLICY, table="people", methods=["incognito"])
    assert found.rows[0].report.records == 120
    connection.rollback()


@pytest.mark.slow
def test_progress_tells_which_search_it_is(connection):
    lines = []
    sqlanon.compare(connection, POLICY, table="people", methods=QUICK, progress=lines.append)
    assert "lm, k = 2: incognito, 1 of 2" in lines
    assert any(line.startswith("lm, k = 2: direct-cover, 2 of 2: ") for line in lines)


def test_a_picture_needs_a_result(connection, monkeypatch, tmp_path):
    pytest.importorskip("altair")
    failing(monkeypatch, "incognito", TimeLimitError("mining"))
    found = sqlanon.compare(connection, POLICY, table="people", methods=["incognito"])
    with pytest.raises(PolicyError, match="nothing to draw"):
        found.chart(tmp_path / "x.svg")
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.slow
def test_auto_is_told_the_time_that_a_row_has(connection, monkeypatch):
    monkeypatch.setattr(choice, "COVER_SECONDS", 1e-3)
    connection.execute(
        "CREATE TABLE many AS SELECT range % 7 AS a, range % 3 AS b FROM range(2000)"
    )
    asked = {"methods": ["auto"], "patterns": None}
    [whole] = sqlanon.compare(connection, POLICY, table="many", **asked).rows
    [hurried] = sqlanon.compare(connection, POLICY, table="many", time_limit=1.5, **asked).rows
    assert (whole.asked.method, hurried.asked.method) == ("direct-cover", "anytime")
    assert "time limit" in hurried.reason


@pytest.mark.slow
def test_a_bound_of_a_smaller_k_holds_for_a_larger_one(connection):
    rows = sqlanon.compare(
        connection, POLICY, table="people", methods=["direct-cover"], ks=[5, 10]
    ).rows
    low, high = rows
    weak = replace(high, report=replace(high.report, lower_bound=0.0))
    asked = {"table": "people", "losses": ("lm",), "ks": (5, 10)}
    found = Comparison(rows=(low, weak), **asked)
    assert found.bound("lm", 10) == low.report.lower_bound
    assert found.ratio(weak) == high.value / low.report.lower_bound
    # And none of a larger one for a smaller one.
    assert Comparison(rows=(replace(low, report=None), high), **asked).bound("lm", 5) is None


@pytest.mark.slow
def test_a_bound_of_nothing_is_not_told(connection):
    [row] = sqlanon.compare(connection, POLICY, table="people", methods=["direct-cover"]).rows
    row = replace(row, report=replace(row.report, lower_bound=0.0))
    found = Comparison("people", (row,), ("lm",), (2,))
    assert found.ratio(row) is None
    assert "lm, k = 2: no lower bound above 0 of all recodings is known" in found.to_text()


MB = 1_000_000


@pytest.fixture
def begun():
    if not comparing.begin_peak():
        pytest.skip("the system's kernel cannot begin a peak anew")


@pytest.mark.slow
def test_a_peak_holds_what_was_given_back(begun):
    before = comparing.memory("VmHWM")
    block = np.ones(100 * MB, np.int8)
    del block
    assert 80 * MB < comparing.memory("VmHWM") - before < 150 * MB
    assert comparing.memory("VmRSS") < before + 50 * MB


@pytest.mark.slow
def test_a_peak_that_is_begun_anew_forgets(begun):
    before = comparing.memory("VmRSS")
    block = np.ones(100 * MB, np.int8)
    del block
    comparing.begin_peak()
    assert comparing.memory("VmHWM") < before + 50 * MB


def test_a_system_that_does_not_tell_gives_no_figure(monkeypatch, tmp_path):
    monkeypatch.setattr(comparing, "_PEAK", tmp_path / "missing" / "clear_refs")
    monkeypatch.setattr(comparing, "_STATUS", tmp_path / "status")
    assert comparing.begin_peak() is False
    assert (comparing.memory("VmHWM"), comparing.memory("VmRSS")) == (None, None)
