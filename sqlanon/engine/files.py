"""Database files and files of data: says which engine writes, replaces and searches them."""

from __future__ import annotations

from sqlanon.engine.duckdb.database_objects import (
    broken_views,
    dependents,
    drop_type,
    file_of,
    leftovers,
    picking,
    referring,
    table_parts,
    table_types,
)
from sqlanon.engine.duckdb.export import ending_of, export, refuse_folder, refuse_output
from sqlanon.engine.duckdb.rewrite import fresh_file, refuse_second_name, rewrite
from sqlanon.engine.duckdb.traces import beside, file_traces, free_blocks, texts_in
from sqlanon.engine.locked_folders import DraftFile, digest, swept, write_file, write_private

__all__ = [
    "DraftFile",
    "beside",
    "broken_views",
    "dependents",
    "digest",
    "drop_type",
    "ending_of",
    "export",
    "file_of",
    "file_traces",
    "free_blocks",
    "fresh_file",
    "leftovers",
    "picking",
    "referring",
    "refuse_folder",
    "refuse_output",
    "refuse_second_name",
    "rewrite",
    "swept",
    "table_parts",
    "table_types",
    "texts_in",
    "write_file",
    "write_private",
]
