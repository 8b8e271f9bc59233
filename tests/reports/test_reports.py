"""Reports: figures of classes, risks, and documents that read back."""

import json
import statistics
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.classes import ClassStatistics
from sqlanon.reports.bound import BoundReport
from sqlanon.reports.check import CheckReport, ModelResult
from sqlanon.reports.plan import Report
from sqlanon.reports.search import (
    AnnealedModel,
    AnnealingFigures,
    AnnealingLosses,
    ClustersByModel,
    ClusterSearch,
    FlexibilityFigures,
    LatticeSearch,
    PartSearch,
    PatternSearch,
    PoolFigures,
    PoolLosses,
    SchemeSearch,
    SearchFigures,
    search_of,
)

# Classes of 1, 1, 2, 4, 4 and 8 records.
SIZES = ClassStatistics.of([(4, 2), (1, 2), (8, 1), (2, 1)])
EMPTY = ClassStatistics.of([])
SEARCH = LatticeSearch(
    nodes=10, candidates=8, checked=4, combinations=20, rolled_up=0, rounds=1, proven=True
)
CLUSTERS = ClusterSearch(
    candidates=0, clusters=2, blocks=1, left_out=0, proven=False, bound="columns"
)
PARTS = PartSearch(parts=9, combinations=7, proven=False)
PATTERNS = PatternSearch(
    clusters=4,
    used_patterns=2,
    average_cluster=5.5,
    maximum_cluster=9,
    usefulness_of_values=0.25,
    left_over=0,
    candidates=8,
)
STEPS = (FlexibilityFigures({"age": "pgs"}, 14.0, True),)
SCHEMES = SchemeSearch(combinations=7, checked=5, proven=True, less_flexible=STEPS)
ANNEALED = AnnealingFigures(
    iterations=9,
    accepted=2,
    kept=True,
    loss=AnnealingLosses(1.0, 2.0, 3.0, 4.0),
    models=(
        AnnealedModel(
            model="entropy 2-diversity",
            column="work",
            persons=False,
            threshold=2.0,
            clusters=3,
            before=ClustersByModel(2, 1.0, 1.5),
            after=ClustersByModel(0, 2.0, 2.5),
        ),
    ),
)
POOLS = PoolFigures(5, 2, PoolLosses(refined=4.0, parted=3.0))
REPLACED = ["proven", "given_up", "cut_short"]


def statistics_of(sizes):
    return ClassStatistics.of(Counter(sizes).items())


sizes = st.lists(st.integers(1, 30), min_size=1, max_size=40)


@given(sizes)
def test_figures_are_those_of_the_class_sizes(sizes):
    found = statistics_of(sizes)
    assert (found.records, found.classes) == (sum(sizes), len(sizes))
    assert (found.smallest, found.largest) == (min(sizes), max(sizes))
    assert found.median == statistics.median(sizes)
    assert found.mean == pytest.approx(statistics.mean(sizes))
    assert found.unique == sizes.count(1)


@given(sizes, st.integers(1, 31))
def test_a_size_splits_the_records(sizes, size):
    found = statistics_of(sizes)
    smaller, others = [[s for s in sizes if (s < size) is is_less] for is_less in (True, False)]
    assert found.to_dict(threshold=1 / size)["risk"]["records_at_risk"] == sum(smaller)
    assert found.records - sum(smaller) == statistics_of(others).records
    large = {s: count for s, count in found.histogram.items() if s >= size}
    assert large == statistics_of(others).histogram


def test_risk_of_a_record_is_one_over_its_class_size():
    risk = SIZES.to_dict(threshold=0.2)["risk"]
    records = [1 / 1] * 2 + [1 / 2] * 2 + [1 / 4] * 8 + [1 / 8] * 8
    assert risk["prosecutor_max"] == 1.0
    assert risk["prosecutor_mean"] == pytest.approx(statistics.mean(records)) == 6 / 20


def test_a_class_of_k_records_is_not_at_risk_at_the_threshold_of_k():
    at_risk = {
        k: ClassStatistics.of([(k, 3)]).to_dict(threshold=1 / k)["risk"]["records_at_risk"]
        for k in range(1, 1001)
    }
    assert [k for k, records in at_risk.items() if records] == []


def test_figures_of_an_empty_table_are_0():
    found = EMPTY.to_dict()
    assert found["class_size"] == {"min": 0, "mean": 0.0, "median": 0.0, "max": 0}
    assert found["risk"]["prosecutor_max"] == found["risk"]["prosecutor_mean"] == 0.0


def report(**changes):
    figures = {
        "method": "incognito",
        "loss_name": "suppressed-cells",
        "loss": {"suppressed_cells": 12.0, "lm": 0.25},
        "lower_bound": 12.0,
        "levels": {"age": 2, "sex": 0},
        "heights": {"age": 4, "sex": 1},
        "records": 22,
        "suppressed_records": 2,
        "suppressed_cells": 12,
        "statistics": ClassStatistics.of([(4, 2), (12, 1)]),
        "models": (ModelResult("k-anonymity", 4, 4, True),),
        "minimal_nodes": ({"age": 2, "sex": 0}, {"age": 1, "sex": 1}),
        "search": SEARCH,
        "output": "people_anon",
        "notes": ("a note",),
        "seconds": {"search": 0.5, "total": 1.0},
    }
    return Report(**{**figures, **changes})


def read_back(one):
    document = json.loads(json.dumps(one.to_dict()))
    histogram = json.loads(json.dumps(list(one.statistics.histogram.items())))
    return Report.from_dict(document, one.heights, histogram=histogram)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"minimal_nodes": None, "output": None},
        {"lower_bound": None, "notes": (), "seconds": {}, "search": SearchFigures()},
        {"statistics": EMPTY, "models": ()},
        {"loss": {"suppressed_cells": 12.0, "average_class_size": float("inf")}},
    ],
)
def test_report_is_read_back(changes):
    assert read_back(report(**changes)) == report(**changes)


@pytest.mark.parametrize(
    ("search", "last"),
    [
        (SearchFigures(), []),
        (SEARCH, ["rounds", "proven"]),
        (replace(SEARCH, cut_short=True), ["proven", "cut_short"]),
        (replace(SEARCH, given_up="the encoding"), REPLACED),
        (replace(PARTS, given_up="the encoding", reason="why"), [*REPLACED, "reason"]),
        (replace(PARTS, cut_short=True, given_up="it"), REPLACED),
        (replace(PARTS, cut_short=True, annealing=ANNEALED), ["cut_short", "annealing"]),
        (SCHEMES, ["proven", "less_flexible"]),
        (replace(SCHEMES, candidates=9, less_flexible=()), ["proven", "less_flexible"]),
        (
            replace(CLUSTERS, lns=POOLS, chosen_by="auto", reason="why"),
            ["lns", "chosen_by", "reason"],
        ),
        (
            replace(CLUSTERS, block_bound=1.5, given_up="it"),
            ["block_bound", "given_up", "cut_short"],
        ),
        (PATTERNS, ["left_over", "candidates"]),
        (
            replace(PATTERNS, proven=False, gap=0.5, components=2, cut_short=True),
            ["proven", "gap", "components", "candidates", "cut_short"],
        ),
    ],
)
def test_a_search_is_read_back_by_its_family_and_keeps_the_order_of_its_keys(search, last):
    document = search.to_dict()
    read = search_of(json.loads(json.dumps(document)))
    assert read == replace(search, given_up=read.given_up, cut_short=read.cut_short)
    assert (list(read.to_dict().items()), read.is_cut) == (list(document.items()), search.is_cut)
    assert list(document)[len(document) - len(last) :] == last


@pytest.mark.parametrize(
    ("search", "every", "text"),
    [
        (SEARCH, False, "every full-domain recoding loses at least 6"),
        (SCHEMES, False, "every recoding by these schemes loses at least 6"),
    ],
)
def test_a_bound_is_told_of_the_recodings_that_it_is_proven_of(search, every, text):
    found = report(search=replace(search, proven=False), lower_bound=6.0)
    assert found.bounds_every_recoding is every
    assert text in found.to_text()


def test_report_is_strict_json():
    document = report().to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_report_names_its_loss_and_gives_its_value_beside_every_measure():
    assert report().to_dict()["loss"] == {
        "name": "suppressed-cells",
        "value": 12.0,
        "suppressed_cells": 12.0,
        "lm": 0.25,
    }


def test_report_counts_the_published_classes():
    document = report().to_dict()
    assert (document["published_records"], document["classes"], document["k"]) == (20, 3, 4)


@pytest.mark.parametrize(
    ("least", "told"),
    [
        (12.0, "(no recoding that satisfies k loses less)"),
        (6.0, "(no recoding that satisfies k loses less than 6; this is 2 times as much)"),
        (1e-4, "(no useful lower bound was found; `sqlanon bound` may prove more)"),
        (0.0, "(no useful lower bound was found; `sqlanon bound` may prove more)"),
    ],
)
def test_a_bound_is_told_where_it_says_something(least, told):
    text = report(
        records_per_level={"age": {2: 20}}, lower_bound=least, search=SearchFigures()
    ).to_text()
    assert f"suppressed-cells 12 {told}" in text


def test_report_text_shows_levels_loss_and_verdict():
    text = report().to_text()
    assert "suppressed-cells 12 (no full-domain recoding loses less)" in text
    assert "age  2 of 4  ##.." in text
    assert "k-anonymity 4 holds: 4" in text


def checked(**changes):
    figures = {
        "statistics": SIZES,
        "models": (ModelResult("k-anonymity", 2, 1, False),),
        "threshold": 0.5,
        "quasi_identifiers": ("age", "sex"),
        "notes": ("a note",),
        "seconds": 0.1,
    }
    return CheckReport(**{**figures, **changes})


def test_a_check_report_is_strict_json_and_says_what_does_not_hold():
    report = checked()
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert document == report.to_dict()
    assert document["holds"] is False
    assert "k-anonymity 2 does NOT hold: the table has 1" in report.to_text()


def test_a_share_that_is_not_all_does_not_read_so():
    nearly = checked(statistics=ClassStatistics({1: 99_999, 2: 1}))
    assert "unique records  99,999 (>99.99%)" in nearly.to_text()


@pytest.mark.parametrize(
    ("search", "said"),
    [
        (SearchFigures(), "new: 3 classes"),
        (CLUSTERS, "new: 2 clusters"),
        (replace(CLUSTERS, candidates=1), "new: 2 clusters from 1 candidate"),
        (
            replace(CLUSTERS, candidates=9, blocks=2),
            "new: 2 clusters from 9 candidates, in 2 blocks",
        ),
    ],
)
def test_a_local_method_is_told_by_what_is_known_of_its_search(search, said):
    found = report(method="new", search=search, levels={}, records_per_level={"age": [20, 2]})
    assert found.to_text().splitlines()[0] == said


def test_levels_of_single_records_are_named_where_they_have_names():
    found = report(
        levels={},
        heights={"age": 2, "sex": 1},
        records_per_level={"age": [11, 11, 0], "sex": [22, 0]},
        level_names={"age": ["original value", "intervals of 5", "*"]},
    )
    lines = [line.split() for line in found.to_text().splitlines()]
    assert ["age", "50%", "50%", "intervals", "of", "5", "0%", "*"] in lines
    assert ["sex", "100%", "0%"] in lines


def test_a_bound_that_rounding_leaves_of_zero_is_zero_in_text_and_in_json():
    report = BoundReport("lm", 1e-17, 5, 100, 10, single_records=-3e-18)
    document = report.to_dict()
    assert (document["lower_bound"], document["single_record_bound"]) == (0.0, 0.0)
    assert "loses at least lm 0 (" in report.to_text()
    assert "e-1" not in repr(report) + report.to_text() + json.dumps(document)
