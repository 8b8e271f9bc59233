"""Opening a source: says which engine does."""

from __future__ import annotations

from sqlanon.engine.duckdb.source import OpenedSource, Resources, is_database, open_source

__all__ = ["OpenedSource", "Resources", "is_database", "open_source"]
