"""Database files and files of data: says which engine writes, replaces and searches them."""

from __future__ import annotations

from sqlanon.engine.duckdb.export import ending_of, export
from sqlanon.engine.duckdb.leftovers import file_of, leftovers, own_parts
from sqlanon.engine.duckdb.rewrite import fresh_file, refuse_second_name, rewrite

__all__ = [
    "ending_of",
    "export",
    "file_of",
    "fresh_file",
    "leftovers",
    "own_parts",
    "refuse_second_name",
    "rewrite",
]
