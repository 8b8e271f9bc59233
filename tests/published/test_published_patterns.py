"""The heuristic's published classes on Adult.

Bredereck, Nichterlein, Niedermeier 2013, table 1; `benchmarks/patterns.py` counts all its rows.
"""

from functools import partial

import numpy as np
import pytest
from public import read

from sqlanon import KAnonymity, Policy
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.methods.local.input import encode_records
from sqlanon.methods.patterns.instances import InstanceQueries
from sqlanon.methods.patterns.method import asked_nodes, pattern_problem
from sqlanon.methods.registry import Options
from sqlanon.microdata.binding import bind
from sqlanon.search.patterns.greedy import LEFT, greedy

COLUMNS = (
    "age", "workclass", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
)  # fmt: skip


@pytest.fixture(scope="module")
def adult():
    connection = read("adult.csv.gz", COLUMNS)
    engine, policy = DuckDB(connection), Policy(COLUMNS, models=[KAnonymity(2)])
    options = Options.of("pattern-greedy", patterns="all")
    with engine.workspace():
        subject = bind(engine, engine.resolve("people"), policy)
        coded_table = encode_records(engine, subject, policy, options.loss)
        table = pattern_problem(coded_table, asked_nodes(subject, options))
        yield table, partial(InstanceQueries, engine, coded_table.combinations, table.masks)
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "types", "average", "maximum"),
    [
        (2, 14589, 2.232, 16),
        (9, 2832, 11.498, 52),
        (10, 2559, 12.724, 56),
        (100, 274, 118.836, 317),
    ],
)
def test_greedy_finds_the_published_classes(adult, k, types, average, maximum):
    table, counted = adult
    placed = greedy(table.rows, table.masks, k, counted(k))
    there = placed.pattern != LEFT
    sizes = np.bincount(placed.group[there], weights=table.rows.sizes[there]).tolist()
    left = int(table.rows.sizes[~there].sum())
    assert left < k
    sizes += [left] if left else []  # fully suppressed, they count as one type more
    found = (len(sizes), round(sum(sizes) / len(sizes), 3), max(sizes))
    assert found == (types, average, maximum)
