"""Every layer says of every privacy model what it does with it, or why not."""

from __future__ import annotations

from dataclasses import fields

import pytest

from sqlanon.cli.options import PolicyOptions
from sqlanon.methods.fulldomain import suppression_bounds
from sqlanon.policy.privacy import FAMILIES, FORMS, ByForm, LDiversity
from sqlanon.query.privacy import models
from sqlanon.search import privacy
from sqlanon.search.patterns import cuts

TABLES = [models._MODELS, privacy._HOLDS, cuts._CUTS, suppression_bounds._REQUIRED]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.layer)
def test_every_form_has_a_row_of_its_own(table):
    assert set(table.rows) == set(FORMS)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.layer)
def test_a_model_is_never_taken_for_another(table):
    known = {form: row for form, row in table.rows.items() if form != ("l", "entropy")}
    with pytest.raises(LookupError, match=f"{table.layer}: nothing is said of entropy 3-diversity"):
        ByForm(table.layer, known).of(LDiversity(3, "entropy"))


def test_every_family_has_an_option():
    assert {*FAMILIES} <= {option.name for option in fields(PolicyOptions)}
