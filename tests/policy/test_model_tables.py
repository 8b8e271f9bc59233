"""Every layer says of every privacy model what it does with it, or why not."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest
import strategies
from hypothesis import Phase, find, settings
from oracles import lattice

from sqlanon.assessment import disclosure
from sqlanon.cli.options import PolicyOptions
from sqlanon.methods.fulldomain import suppression_bounds
from sqlanon.policy.privacy import FAMILIES, FORMS, ByForm, LDiversity
from sqlanon.query.privacy import models
from sqlanon.reports.check import ModelResult
from sqlanon.search import privacy
from sqlanon.search.patterns import cuts

pytestmark = pytest.mark.every_row
TABLES = [
    models._MODELS,
    privacy._FORMS,
    cuts._CUTS,
    suppression_bounds._REQUIRED,
]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.layer)
def test_every_form_has_a_row_of_its_own(table):
    assert set(table.rows) == set(FORMS)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.layer)
def test_a_model_is_never_taken_for_another(table):
    known = {form: row for form, row in table.rows.items() if form != ("l", "entropy")}
    with pytest.raises(LookupError, match=f"{table.layer}: nothing is said of entropy 3-diversity"):
        ByForm(table.layer, known).of(LDiversity(3, "entropy"))


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_every_form_is_drawn_and_defined_for_brute_force(form):
    once = settings(database=None, phases=[Phase.generate])
    drawn = find(strategies.models, lambda model: model.form == form, settings=once)
    assert lattice.fails(drawn, ["nurse"], ["nurse", "clerk"]) in (True, False)


def test_brute_force_refuses_what_it_has_no_definition_of():
    with pytest.raises(NotImplementedError, match="no definition of"):
        lattice.fails(object(), ["nurse"], ["nurse", "clerk"])


def test_every_family_has_an_option():
    assert {*FAMILIES} <= {option.name for option in fields(PolicyOptions)}


def test_a_check_reports_a_figure_of_every_family():
    assert {"l", "t", *disclosure._SHARES} == {*FAMILIES}


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
    assert ModelResult(model, 2.0, math.inf, holds=False, column="job").found().startswith(said)
