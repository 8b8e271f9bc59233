"""The registry of methods: what follows from its rows, and what is refused."""

import ast
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon.api import Settings
from sqlanon.engine.base import Opening
from sqlanon.errors import PolicyError
from sqlanon.methods.registry import (
    AUTO,
    CHOICE,
    DEFAULT,
    METHODS,
    OPTIONS,
    Options,
    described,
    method_named,
    owners_of,
)

pytestmark = pytest.mark.every_row
ROOT = Path(__file__).parents[2]
COVER = {"method": "direct-cover"}
ANNEAL, LNS = ({**COVER, "improve": way} for way in ("anneal", "lns"))
COMMON = {"method": "str", "loss": "str", "seed": "int", "progress": "Progress | None"}


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda row: row.name)
def test_every_method_has_a_home_that_decides(method):
    assert callable(import_module(method.home).decide)


def test_the_choice_has_a_home_that_settles_on_a_method():
    assert callable(import_module(CHOICE.home).settled)


def test_the_typed_keywords_are_the_options_of_the_methods():
    own = {
        each.name: each.type
        for row in (*METHODS.values(), CHOICE)
        for each in fields(row.options)
        if each.name in described(row.options)
    }
    typed = {name: hint.__forward_arg__ for name, hint in Settings.__annotations__.items()}
    assert {name: typed[name] for name in typed if name not in Opening.__annotations__} == {
        **COMMON,
        **own,
    }


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda row: row.name)
def test_an_option_has_the_same_default_with_every_method(method):
    assert {each.name: each.default for each in fields(method.options)} == {
        each.name: OPTIONS[each.name].default for each in fields(method.options)
    }


@pytest.mark.slow
def test_no_other_module_compares_the_names_of_methods():
    """A module of its own may say its method's name in a message, but decide nothing by it."""
    for path in [*(ROOT / "sqlanon").rglob("*.py"), *(ROOT / "cli").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                texts = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                assert not texts & METHODS.keys(), path


def test_the_page_of_methods_has_a_row_of_each_with_its_recoding_and_guarantee():
    text = (ROOT / "docs" / "explanation" / "methods.md").read_text("utf-8")
    section = text[text.index("## All methods") : text.index("## What of a policy")]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if "](#" in line]
    assert [re.findall("`(.*?)`", row[0])[0] for row in rows] == list(METHODS)
    for row, method in zip(rows, METHODS.values(), strict=True):
        assert row[1] == method.recoding
        assert method.guarantee in row[2]


def test_auto_is_a_method_and_not_the_default():
    assert method_named(AUTO) is CHOICE
    assert DEFAULT is METHODS["incognito"]
    assert Options.of().method is DEFAULT
    assert OPTIONS["method"].default == DEFAULT.name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "incognitto"}, "one of auto, .*, pattern-exact; did you mean 'incognito'?"),
        ({"method": 3}, "method 3 is not known"),
        ({"loss": "precison"}, "loss 'precison' is not known; .*; did you mean 'precision'?"),
        (
            {"method": "pattern-greedy", "beta": 2.0},
            "beta belongs to set-cover and direct-cover, not to pattern-greedy; ask for one of "
            "them with --method set-cover or direct-cover$",
        ),
        (
            {"scheme": "ghs"},
            "scheme belongs to scheme, not to incognito; ask for it with --method scheme$",
        ),
        (
            {"bound": "quick"},
            "not to incognito; ask for one of them with --method; `sqlanon bound` proves one for "
            "every method$",
        ),
        ({"consistent": True}, "incognito keeps one level per column anyway"),
        (
            {"method": "direct-cover", "consistent": True},
            "consistent belongs to auto, not to direct-cover; ask for it with --method auto$",
        ),
        (
            {"method": "auto", "patterns": "all", "scheme": "ghs"},
            "no method takes patterns, scheme and loss lm together",
        ),
        (
            {"method": "auto", "consistent": True, "loss": "hdm"},
            "no method takes consistent and loss hdm together",
        ),
        ({"method": "auto", "beta": "x"}, "^beta 'x' is not a number"),
        ({"method": "auto", "loss": "lmm"}, "loss 'lmm' is not known"),
        ({"patterns": "all"}, "patterns belong to pattern-greedy and pattern-exact, not to"),
        ({"method": "direct-cover", "candidates": "all"}, "belong to set-cover, not to direct"),
        ({"beta": "x"}, "beta 'x' is not a number of at least 1"),
        ({"method": "set-cover", "block_records": True}, "a block has 1 record or more"),
        ({"method": "set-cover", "passes": 0}, "passes are 0"),
        ({"method": "set-cover", "passes": 5, "refine": False}, "--no-refine leaves out"),
        ({"method": "mondrian", "passes": 5}, "passes belong to"),
        ({"time_limit": float("nan")}, "is not a number above 0"),
        ({**COVER, "improve": "warm"}, "improve 'warm' is not known; choose anneal or lns"),
        ({**COVER, "improve": 3}, "improve 3 is not known"),
        ({**COVER, "iterations": 5}, "iterations belongs to --improve anneal"),
        ({**COVER, "temperature": 1.0, "cooling": 0.5}, "temperature and cooling belong to --impr"),
        ({**ANNEAL, "iterations": -1}, "iterations are -1; give a whole number"),
        ({**ANNEAL, "temperature": -0.1}, "temperature -0.1 is not a number"),
        ({**ANNEAL, "cooling": 0.0}, "cooling 0.0 is not a number above 0"),
        ({**ANNEAL, "loss_weight": float("inf")}, "loss_weight inf is not a number"),
        ({**COVER, "pools": 5}, "pools belong to --improve lns"),
        ({**LNS, "pools": 0}, "pools are 0; give a whole number of at least 1"),
        ({**LNS, "refine": False}, "begins with refined clusters"),
        ({**LNS, "temperature": 1.0}, "temperature belongs to --improve anneal"),
        ({**LNS, "method": "mondrian"}, "mondrian refines none"),
        ({**LNS, "method": "incognito"}, "improve belongs to"),
        ({"method": "set-cover", "loss": "discernibility"}, "cannot steer set-cover"),
        ({"method": "set-cover", "candidates": "some"}, "not known"),
        ({"method": "set-cover", "beta": 0.5}, "at least 1"),
        ({"method": "set-cover", "block_records": 0}, "1 record or more"),
        ({"method": "set-cover", "minimal_nodes": True}, "belong to incognito"),
        ({"method": "set-cover", "suppress_uncovered": True}, "belongs to direct-cover"),
        ({"candidates": "frequent"}, "belong to set-cover and direct-cover, not to incognito"),
        ({"method": "agglomerative", "distance": "near"}, "'near' is not known; choose growth, cl"),
        ({"method": "forest", "bound": "most"}, "choose columns, quick or full"),
    ],
)
def test_what_a_method_does_not_take_is_refused(settings, message):
    with pytest.raises(PolicyError, match=message):
        Options.of(**settings)


@pytest.mark.parametrize("name", METHODS)
def test_a_foreign_option_that_is_not_given_or_off_is_no_fault(name):
    defaults = {own: OPTIONS[own].default for own in OPTIONS if owners_of(own)}
    given = {own: value for own, value in defaults.items() if value is None or value in (0, 1)}
    assert Options.of(name, **given).specific == METHODS[name].options()


@pytest.mark.parametrize("name", METHODS)
def test_a_foreign_option_that_is_given_is_refused_at_its_default_too(name):
    for own in ("candidates", "block_records"):
        if not METHODS[name].takes(own):
            with pytest.raises(PolicyError, match=f"not to {name}"):
                Options.of(name, **{own: OPTIONS[own].default})


def test_an_unknown_setting_is_refused_with_what_was_meant():
    with pytest.raises(
        PolicyError, match=r"'time_limt' is not known; .*; did you mean 'time_limit'"
    ):
        sqlanon.plan(
            duckdb.connect(), {"quasi_identifiers": {"age": {}}}, table="people", time_limt=1
        )


@pytest.mark.parametrize(
    ("settings", "candidates"),
    [
        ({}, list(METHODS)),
        ({"consistent": True}, ["incognito"]),
        ({"minimal_nodes": True}, ["incognito"]),
        ({"candidates": "all"}, ["set-cover"]),
        ({"suppress_uncovered": True}, ["direct-cover"]),
        ({"scheme": "ghs"}, ["scheme"]),
        ({"patterns": "all"}, ["pattern-greedy", "pattern-exact"]),
        ({"loss": "hdm"}, ["scheme"]),
        ({"loss": "discernibility"}, ["incognito", "scheme"]),
    ],
)
def test_auto_chooses_among_those_that_take_the_options_and_the_loss(settings, candidates):
    assert list(Options.of(AUTO, **settings).specific.candidates) == candidates
