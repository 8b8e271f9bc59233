"""What one column is taken for, by its name and its figures alone."""

from decimal import Decimal

import pytest
from sqlglot import exp

from sqlanon.reports.separation import ColumnFigures, SubsetFigures, SubsetRisk
from sqlanon.suggestion.by_figures import advise_by_sets
from sqlanon.suggestion.profile import ColumnProfile, NumberFigures
from sqlanon.suggestion.roles import Role, advise


def of_numbers(
    name, *, distinct, records=1000, least=0, most=10_000, whole=True, lengths=(1, 3, 5)
):
    """A column of numbers between two outer quantiles."""
    return ColumnProfile(
        name,
        exp.DataType.build("BIGINT" if whole else "DOUBLE", dialect="duckdb"),
        records,
        present=records,
        distinct=distinct,
        uniqueness=distinct / records,
        lengths=lengths,
        numbers=NumberFigures(records, records if whole else 0, (Decimal(least), Decimal(most))),
    )


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("distinct", "found"),
    [
        (
            950,
            "; whoever does, as from another file of the same source, finds the record, with 95%",
        ),
        (500, "; whoever does, as from another file of the same source, is left with 2 records on"),
        (10, "; whoever does, as from another file of the same source, is left with 100 records"),
        (9, ". Is it what nobody should learn"),
    ],
)
def test_who_knows_a_measurement_finds_as_many_records_as_share_it(distinct, found):
    own = advise(of_numbers("score", distinct=distinct, whole=False))
    assert own.role is Role.UNDECIDED
    assert f"which others seldom know exactly{found}" in own.reason


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("distinct", "role"), [(899, Role.UNDECIDED), (900, Role.IDENTIFIER), (1000, Role.IDENTIFIER)]
)
def test_whole_numbers_of_which_nearly_every_record_has_its_own_are_no_measurements(distinct, role):
    assert advise(of_numbers("figure", distinct=distinct)).role is role


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("distinct", "role"), [(200, Role.QUASI_IDENTIFIER), (201, Role.IDENTIFIER)]
)
def test_an_address_of_five_records_on_average_is_a_place(distinct, role):
    own = ColumnProfile(
        "address",
        exp.DataType.build("VARCHAR", dialect="duckdb"),
        1000,
        present=1000,
        distinct=distinct,
        uniqueness=distinct / 1000,
        lengths=(4, 5.0, 9),
    )
    assert advise(own).role is role


@pytest.mark.parametrize(
    ("columns", "among", "role"),
    [
        (("age", "strat", "r"), None, Role.QUASI_IDENTIFIER),
        (("age", "strat", "r"), ["age"], Role.UNDECIDED),
        (("age", "strat", "r"), ["age", "strat"], Role.QUASI_IDENTIFIER),
        (("strat", "r"), ["age"], Role.QUASI_IDENTIFIER),
        (("r",), [], Role.QUASI_IDENTIFIER),
    ],
)
def test_columns_of_unknown_meaning_do_not_speak_for_codes_in_large_sets(columns, among, role):
    told = SubsetFigures(columns, classes=500, unique=60, total=1000, pairs=None)
    risk = SubsetRisk(
        identifying=0.05,
        largest=4,
        whole=told,
        columns=(ColumnFigures("r", values=4, unique=0, lost=60, total=1000),),
        minimal=(told,),
        strongest=(),
        looked_at=1,
        implied=0,
    )
    assert advise_by_sets("r", risk, among=among).role is role
