"""Statements by the kind of recoding."""

import pytest
from snapshots import PEOPLE

from sqlanon.errors import PolicyError
from sqlanon.publishing.plan import READERS
from sqlanon.query.publish.statement import STATEMENTS, Publication, published_rows
from sqlanon.recoding import FullDomain


def test_every_kind_that_a_plan_can_hold_has_a_statement():
    assert STATEMENTS.keys() == READERS.keys()


def test_a_recoding_that_no_statement_carries_out_is_an_error():
    class Unknown(FullDomain):
        kind = "unheard of"

    with pytest.raises(PolicyError, match="unheard of"):
        published_rows(Unknown(()), Publication(PEOPLE, {}, {}))
