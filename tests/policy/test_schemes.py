"""Schemes as callers ask for them."""

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy.schemes import DEFAULT, SchemeChoice


@pytest.mark.parametrize(
    ("given", "common", "own"),
    [
        (None, DEFAULT, {}),
        ("ops", "ops", {}),
        ({"age": "ops"}, DEFAULT, {"age": "ops"}),
        ({"": "sps", "age": "ops"}, "sps", {"age": "ops"}),
        (["age=ops", "sps", "a=b=bhs"], "sps", {"age": "ops", "a=b": "bhs"}),
        ([], DEFAULT, {}),
    ],
)
def test_schemes_are_of_all_columns_or_of_one(given, common, own):
    choice = SchemeChoice.of(given)
    assert (choice.common, choice.of_columns(["age", "a=b"])) == (common, own)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("opps", "scheme 'opps' is not known; .*; did you mean 'ops'?"),
        (["age="], "scheme '' is not known"),
        (["ops", "sps"], "2 schemes are given for all columns"),
        (["age=ops", "age=sps"], "scheme is given twice for 'age'"),
        ({"age": 3}, "scheme must be the name of one, or a mapping"),
        (3, "scheme must be the name of one, or a mapping"),
    ],
)
def test_what_is_no_scheme_is_refused(given, message):
    with pytest.raises(PolicyError, match=message):
        SchemeChoice.of(given)


def test_a_column_that_is_none_is_refused_with_what_was_meant():
    with pytest.raises(PolicyError, match=r"'agee' is not a quasi-identifier; .* 'age'\?"):
        SchemeChoice.of({"agee": "ops"}).of_columns(["age"])
