"""Wide tables: coded in parts, with the figures of one query, and a budget of sets."""

import random
from unittest.mock import patch

import pytest

import sqlanon
from sqlanon import KAnonymity, LDiversity, Policy
from sqlanon.assessment import codes
from sqlanon.engine.base import render
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.errors import PolicyError

NAMES = [f"c{number}" for number in range(7)]


def fill(connection, records=60):
    chance = random.Random(4)
    kinds = ["VARCHAR", "INTEGER", "DATE", "DOUBLE", "BOOLEAN", "VARCHAR", "TIMESTAMP"]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(NAMES, kinds, strict=True))
    connection.execute(f"CREATE OR REPLACE TABLE t ({columns}, s VARCHAR, who INTEGER)")
    for number in range(records):
        first = [chance.choice(["1", "2", None]), chance.choice([1, 2])]
        dates = [f"2020-01-0{1 + number % 2}", f"2020-01-01 0{number % 3}:00:00"]
        others = [chance.choice([0.5, None]), chance.choice([True, False]), "x"]
        cells = [*first, dates[0], *others, dates[1], chance.choice("ab"), number // 3]
        connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(cells))})", cells)
    return NAMES


def documents(connection, entity):
    """What risk and check say, without the time they took."""
    policy = Policy(NAMES, ["s"], models=[KAnonymity(2), LDiversity(2)], entity=entity)
    found = [
        sqlanon.risk(connection, policy, table="t", max_columns=3).to_dict(),
        sqlanon.check(connection, policy, table="t").to_dict(),
    ]
    for document in found:
        document.pop("seconds")
        document.pop("created")
    found[0]["subsets"].pop("search")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("entity", [None, "who"])
def test_wide_table_has_the_figures_of_one_query(connection, entity):
    fill(connection)
    at_once = documents(connection, entity)
    # As if seven columns were wide.
    with patch.multiple(codes, MAX_COLUMNS_AT_ONCE=2, COLUMNS_OF_A_PART=3):
        assert documents(connection, entity) == at_once


def wide(connection, columns, records=30):
    values = ", ".join(f"hash(i, {n}) % 3 AS c{n}" for n in range(columns))
    connection.execute(f"CREATE TABLE w AS SELECT {values}, i % 2 AS s FROM range({records}) r(i)")
    return [f"c{number}" for number in range(columns)]


@pytest.mark.slow
@pytest.mark.parametrize("call", [sqlanon.risk, sqlanon.check])
def test_wide_table_is_never_joined_column_by_column(connection, call):
    """Planning a query of so many joins takes longer than everything else."""
    names, joins = wide(connection, 80), []

    def watched(ask):
        def watch(self, statement, *given, **named):
            joins.append(render(statement, "duckdb").count("JOIN"))
            return ask(self, statement, *given, **named)

        return watch

    with patch.multiple(DuckDB, run=watched(DuckDB.run), rows=watched(DuckDB.rows)):
        call(connection, Policy(names, ["s"]), table="w")
    assert max(joins) <= codes.COLUMNS_OF_A_PART + 1


def test_empty_wide_table_is_an_error(connection):
    names = wide(connection, 40, records=0)
    with pytest.raises(sqlanon.SqlanonError, match="empty"):
        sqlanon.risk(connection, Policy(names), table="w")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "options", "largest", "sets"),
    [
        (100, {}, 1, 100),
        (40, {"max_sets": 820}, 2, 820),
        (40, {"max_sets": 819}, 1, 40),
        (40, {"max_sets": 1}, 1, 40),
        (40, {"max_columns": 2}, 2, 820),
        (40, {"max_columns": 1, "max_sets": 6_000}, 1, 40),
    ],
)
def test_the_largest_sets_are_left_out_to_keep_the_budget(
    connection, columns, options, largest, sets
):
    found = sqlanon.risk(
        connection, Policy(wide(connection, columns)), table="w", **options
    ).subsets
    assert (found.largest, found.looked_at) == (largest, sets)


@pytest.mark.slow
def test_the_budget_of_sets_is_said(connection):
    report = sqlanon.risk(connection, Policy(wide(connection, 100)), table="w", max_sets=150)
    [note] = [
        note for note in report.notes if "sets of more than 1 column were not looked at" in note
    ]
    assert "those among them that contain an identifying set are identifying, too" in note
    assert "(100 sets were looked at, of at most 150)" in note
    assert report.to_dict()["subsets"]["max_sets"] == 150
    # A count of 31 digits is no help to a reader.
    assert "100 of about 1 x 10^30 sets" in report.to_text()


@pytest.mark.parametrize("bad", [0, -1, 200_001])
def test_budget_of_sets_that_cannot_be_is_an_error(connection, bad):
    with pytest.raises(PolicyError, match=r"max_sets .* is not a whole number from 1 to 200,000"):
        sqlanon.risk(connection, Policy(["c0"]), table="w", max_sets=bad)
