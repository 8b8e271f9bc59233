"""Profiles of many records: products of counts beyond a BIGINT, decided as fractions say."""

from fractions import Fraction

import duckdb
import pytest
from sqlglot import exp

from sqlanon.privacy import TCloseness
from sqlanon.query import profiles, sensitive
from sqlanon.query.names import table
from sqlanon.query.profiles import KEPT, Condition, Distribution

RECORDS = 3_000_000_000
COUNTS = tuple(RECORDS // 20 for _ in range(20))


def equal(held):
    n = sum(held)
    return (
        sum(abs(Fraction(c, n) - Fraction(q, RECORDS)) for c, q in zip(held, COUNTS, strict=True))
        / 2
    )


def ordered(held):
    sums = [
        abs(Fraction(sum(held[:rank]), sum(held)) - Fraction(sum(COUNTS[:rank]), RECORDS))
        for rank in range(1, len(COUNTS))
    ]
    return sum(sums) / len(sums)


@pytest.mark.parametrize(("distance", "exact"), [("equal", equal), ("ordered", ordered)])
@pytest.mark.parametrize("above", [True, False])
def test_distances_of_billions_of_records_are_exact(distance, exact, above):
    held = [RECORDS // 2 + 1, *[0] * 18, RECORDS // 4]
    found = exact(held)
    assert found.denominator > 1
    t = float(found) + (-1e-9 if above else 1e-9)
    distribution = Distribution(0, COUNTS, left=RECORDS)
    condition = Condition(
        distribution, sensitive.violates(TCloseness(t, distance)), exp.Literal.number(7)
    )
    columns = {"class_size": sum(held)} | {f"held_0_{r}": c for r, c in enumerate(held)}
    query = profiles.judged(exp.select("*").from_(table("held")), 2, [condition], [])
    with duckdb.connect() as connection:
        values = ", ".join(f'{value}::BIGINT AS "{name}"' for name, value in columns.items())
        connection.execute(f"CREATE TABLE held AS SELECT {values}")
        [(required,)] = connection.execute(query.sql("duckdb")).fetchall()
    assert required == (7 if above else KEPT)
