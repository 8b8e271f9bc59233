"""Encoding in stages: many columns joined a few at a time give the codes of one statement."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from databases import empty_database
from sqlglot import exp

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.errors import HierarchyError
from sqlanon.microdata import encoding
from sqlanon.microdata.binding import bind
from sqlanon.microdata.encoding import encode_subject, encode_top
from sqlanon.query.syntax import select

WIDTH = 7


@pytest.fixture
def engine():
    connection = empty_database()
    columns = ", ".join(
        f"CASE WHEN i % 11 = {n} THEN NULL ELSE hash(i, {n}) % {n + 2} END AS held_{n}"
        for n in range(WIDTH)
    )
    connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM range(200) t(i)")
    return DuckDB(connection)


def policy_of(models):
    names = [f"held_{n}" for n in range(WIDTH)]
    return Policy(
        {name: Hierarchy.suppression() for name in names[:-1]},
        sensitive=names[-1:],
        models=models,
        suppression_limit=0.5,
    )


def encoded(engine, policy, joined):
    with patch.object(encoding, "JOINED", joined):
        found = encode_subject(
            engine, bind(engine, engine.tables.resolve("people"), policy=policy), policy
        )
    tables = [found.table, *([found.details.table] if found.details else [])]
    return found.counts, [sorted(engine.rows(select([exp.Star()], each))) for each in tables]


@pytest.mark.parametrize("models", [[KAnonymity(2)], [KAnonymity(2), LDiversity(2)]])
@pytest.mark.parametrize("joined", [1, 2, 4])
def test_stages_give_the_codes_of_one_statement(engine, models, joined):
    policy = policy_of(models)
    assert encoded(engine, policy, joined) == encoded(engine, policy, 20)


def test_the_code_of_the_top_is_one_row_with_the_counts_of_all(engine):
    policy = policy_of([KAnonymity(2)])
    subject = bind(engine, engine.tables.resolve("people"), policy=policy)
    top, every = encode_top(engine, subject, policy), encode_subject(engine, subject, policy)
    assert top.rows == 1
    assert top.counts == every.counts
    assert not top.maps  # all counted before, so no leaf is looked up again


def test_a_hierarchy_that_misses_values_is_told_in_stages_too(engine):
    policy = policy_of([KAnonymity(2)])
    listed = Hierarchy.from_rows([("0", "*")])
    attributes = {**{n: a.hierarchy for n, a in policy.attributes.items()}, "held_3": listed}
    other = Policy(attributes, drop=[f"held_{WIDTH - 1}"], models=[KAnonymity(2)])
    with patch.object(encoding, "JOINED", 2), pytest.raises(HierarchyError, match="held_3"):
        sqlanon.plan(engine.connection, other, table="people")
