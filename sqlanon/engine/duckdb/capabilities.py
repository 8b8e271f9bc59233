"""What differs between the versions of DuckDB that may be installed.

The table for users is `docs/reference/versions.md`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    import pyarrow

VERSION = tuple(int(part) for part in re.findall(r"\d+", duckdb.__version__)[:2])
"""The first two numbers of the version."""
HAS_TRIGGERS = VERSION >= (2, 0)
"""Whether a database may have triggers, which `duckdb_triggers` then lists."""
TELLS_GENERATED = VERSION >= (2, 0)
"""Whether `duckdb_columns` tells which columns are generated."""
NUMBERS_PARQUET_COLUMNS = VERSION >= (1, 5)
"""Whether `parquet_schema` numbers what it lists, which is in the file's order anyway."""
QUERIES_LEAVE_NOTHING = VERSION >= (2, 0)
"""Whether `relation.query` leaves no view in the database."""
UNSTORED = frozenset({"VARIANT"}) if VERSION < (1, 5) else frozenset[str]()
"""Types of values that no table can hold, by their names as `type_id` tells them."""

_ROWS_PER_BATCH = 131_072
"""Rows that are read at a time: 1.4 and 1.5 else read a million."""


def arrow_reader(relation: duckdb.DuckDBPyRelation) -> pyarrow.RecordBatchReader:
    """The rows of a relation as Arrow batches, none of which is read before it is asked for."""
    # Before 1.5 it has the name that later versions warn of.
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    batches: pyarrow.RecordBatchReader = read(_ROWS_PER_BATCH)
    return batches
