"""Figures of billions of records: products of counts beyond a BIGINT, as fractions say."""

from fractions import Fraction

import pytest
from databases import empty_database, insert

from sqlanon.query.privacy.figures import (
    EXCEEDING,
    FAVOURED,
    Needed,
    Reference,
    class_figures,
    distance,
    reference,
)
from sqlanon.query.syntax import table

RECORDS = 3_000_000_000
COUNTS = tuple(RECORDS // 20 for _ in range(20))
HELD = [RECORDS // 2 + 1, *[0] * 18, RECORDS // 4]


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


def figures(connection, needed):
    """Those of a class with few values, beside a class with all the rest."""
    rest = [a - b for a, b in zip(COUNTS, HELD, strict=True)]
    rows = [(c, v, n) for c, held in ((0, HELD), (1, rest)) for v, n in enumerate(held) if n]
    connection.execute("CREATE TABLE source (class BIGINT, value BIGINT, size BIGINT)")
    insert(connection, "source", rows)
    whole = [(rank, rank, n) for rank, n in enumerate(COUNTS)]
    connection.execute("CREATE TABLE whole (value BIGINT, rank BIGINT, size BIGINT)")
    insert(connection, "whole", whole)
    counts = reference(table("whole")).text
    connection.execute(f"CREATE TABLE reference AS {counts}")
    query = class_figures(
        table("source"),
        ["class"],
        needed=needed,
        reference=Reference(table("reference"), RECORDS, len(COUNTS)),
    )
    connection.execute(f"CREATE TABLE figures AS {query.text}")
    names = [*map(distance, needed.distances)]
    names += [] if needed.left is None else [EXCEEDING, FAVOURED]
    row = connection.execute(f"SELECT {', '.join(names)} FROM figures WHERE class = 0").fetchone()
    return dict(zip(names, row, strict=True))


@pytest.mark.parametrize(("name", "exact"), [("equal", equal), ("ordered", ordered)])
def test_distances_of_billions_of_records_are_exact(name, exact):
    with empty_database() as connection:
        found = figures(connection, Needed(distances=(name,)))
    assert found[distance(name)] == pytest.approx(float(exact(HELD)), rel=1e-14)


def test_what_exceeds_is_exact_for_billions_of_records():
    n, left = sum(HELD), RECORDS - 7
    more = [(c * left - n * q, q) for c, q in zip(HELD, COUNTS, strict=True) if c * left > n * q]
    with empty_database() as connection:
        found = figures(connection, Needed(distances=("equal",), left=left))
    assert int(found[EXCEEDING]) == sum(excess for excess, _ in more)
    assert found[FAVOURED] == sum(records for _, records in more)
