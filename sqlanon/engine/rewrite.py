"""Rewriting a database file: says which engine does."""

from __future__ import annotations

from sqlanon.engine.duckdb.rewrite import refuse_second_name, rewrite

__all__ = ["refuse_second_name", "rewrite"]
