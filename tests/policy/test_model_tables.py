"""Every layer says of every privacy model what it does with it, or why not."""

from __future__ import annotations

import math
from functools import cache

import duckdb
import pytest
from hypothesis import Phase, find, settings
from oracles import lattice
from oracles.models import DRAWN, SHARES, fails

import sqlanon
from sqlanon import Hierarchy, Policy, Sensitive
from sqlanon.assessment import disclosure
from sqlanon.methods.fulldomain import model_checks
from sqlanon.policy.population import AT_LEAST, AT_MOST
from sqlanon.policy.privacy import FAMILIES, FORMS, ByForm, LDiversity, figure_of
from sqlanon.query.privacy import models
from sqlanon.reports.check import ModelResult
from sqlanon.search import patterns, privacy

pytestmark = pytest.mark.every_row
OF_ALL = [models._MODELS, privacy._FORMS]
OF_CLOSED = [patterns._CUTS, model_checks._REQUIRED]
TABLES = [*OF_ALL, *OF_CLOSED]


@cache
def drawn(form):
    """A model of a form."""
    once = settings(database=None, phases=[Phase.generate], max_examples=100)
    return find(DRAWN, lambda model: model.form == form, settings=once)


@pytest.mark.parametrize("table", OF_ALL, ids=lambda table: table.layer)
def test_every_form_has_a_row_of_its_own(table):
    assert set(table.rows) == set(FORMS)


@pytest.mark.parametrize("table", OF_CLOSED, ids=lambda table: table.layer)
def test_every_form_that_is_closed_under_union_has_a_row_of_its_own(table):
    assert set(table.rows) == {form for form in FORMS if drawn(form).union_closed}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.layer)
def test_a_model_is_never_taken_for_another(table):
    known = {form: row for form, row in table.rows.items() if form != ("l", "entropy")}
    with pytest.raises(LookupError, match=f"{table.layer}: nothing is said of entropy 3-diversity"):
        ByForm(table.layer, known).of(LDiversity(3, "entropy"))


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_every_form_is_drawn_and_defined_for_brute_force(form):
    assert lattice.fails(drawn(form), ["nurse"], ["nurse", "clerk"]) in (True, False)


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_every_form_is_checked_as_by_brute_force(form):
    model, values = drawn(form), {"x": ["flu", "flu", "flu", "hiv"], "y": ["flu", "cold", "hiv"]}
    rows = [(label, value) for label, held in values.items() for value in held]
    database = duckdb.connect()
    database.execute("CREATE TABLE t (q VARCHAR, s VARCHAR)")
    database.executemany("INSERT INTO t VALUES (?, ?)", rows)
    paths = {"flu": ("mild", "*"), "cold": ("mild", "*"), "hiv": ("grave", "*")}
    tree = Hierarchy.from_rows([(value, *path) for value, path in paths.items()])
    sensitive = Sensitive(hierarchy=tree, order=[*paths], models=[model])
    report = sqlanon.check(database, Policy(["q"], {"s": sensitive}), table="t")
    whole = [value for _, value in rows]
    failing = [fails(model, held, whole, order=[*paths], paths=paths) for held in values.values()]
    assert report.holds is not any(failing)


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_every_form_has_a_meaning_in_a_report(form):
    assert figure_of(drawn(form).describe()).meaning


@pytest.mark.parametrize("name", ["k-map", AT_LEAST, AT_MOST])
def test_models_of_a_population_have_a_meaning_in_a_report(name):
    assert "population" in figure_of(name).meaning


def test_brute_force_refuses_what_it_has_no_definition_of():
    with pytest.raises(NotImplementedError, match="no definition of"):
        lattice.fails(object(), ["nurse"], ["nurse", "clerk"])


def test_every_family_has_a_figure_in_a_check():
    assert {"l", "t", *disclosure._SHARES} == {*FAMILIES}
    assert {*disclosure._SHARES} == {*SHARES}


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            "recursive (2, 3)-diversity",
            "classes of fewer than l values, for which it fails for every c",
        ),
        ("1.5-disclosure privacy", "classes that lack some value of the table"),
        ("enhanced 2-likeness", "a value that is more than 1 - ln q times as frequent"),
    ],
)
def test_a_figure_that_no_threshold_allows_says_why(model, said):
    assert (
        ModelResult(model, 2.0, math.inf, holds=False, column="job").figure_text().startswith(said)
    )
