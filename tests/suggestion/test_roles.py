"""What one column is taken for, by its name and its figures alone."""

from decimal import Decimal

import pytest
from sqlglot import exp

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
