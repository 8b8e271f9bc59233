"""Random tables elsewhere, held against their original in plain Python, and what they showed."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.fuzzed import outcome_of, releasing

import sqlanon
from sqlanon.errors import SourceError

pytestmark = pytest.mark.slow


@settings(
    max_examples=10, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(st.integers(0, 2**32).map(random.Random))
def test_a_random_table_is_published_as_promised_or_refused_without_a_value(database, draw):
    with tempfile.TemporaryDirectory() as folder:
        outcome_of(releasing(draw, there=True), Path(folder), database)


def test_persons_are_counted_on_the_records_that_are_published(database):
    rows = {"age": [1, 1, 1, 2, 2, 2], "who": [1, 2, 2, 3, 4, 4], "ill": [*"aabbab"]}
    database.load(pyarrow.table(rows))
    policy = {"k": 2, "quasi_identifiers": {"age": {}}, "sensitive": {"ill": {}}, "entity": "who"}
    report = sqlanon.anonymize(database.source, policy, table="people", into="out")
    assert [result.value for result in report.models] == [2]
    assert len(database.rows("out")) == 6
    database.clear()


def test_nan_is_refused_where_a_table_that_has_it_reads_as_other_numbers(database):
    """Statistics of a column of -7.0 and NaN say that all of it is -7.0, which Sail believes."""
    database.load(pyarrow.table({"age": [float("nan"), -7.0, float("nan"), -7.0]}))
    policy = {"k": 2, "quasi_identifiers": {"age": {}}}
    how = {"table": "people", "into": "out"}
    if database.name == "sail":
        with pytest.raises(SourceError, match="'age' has 2 cells of NaN"):
            sqlanon.anonymize(database.source, policy, **how)
        return
    sqlanon.anonymize(database.source, policy, **how)
    assert sorted(str(value) for (value,) in database.rows("out")) == ["-7.0", "-7.0", "nan", "nan"]
    database.clear()
