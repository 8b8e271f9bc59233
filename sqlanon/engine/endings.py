"""Endings of files: what is read by each, and what can be written."""

from __future__ import annotations

CSV = frozenset({".csv", ".tsv", ".txt"})
JSON = frozenset({".json", ".jsonl", ".ndjson"})
ARROW = frozenset({".arrow", ".arrows", ".feather", ".ipc"})
PARQUET = frozenset({".parquet"})
DATABASE = frozenset({".duckdb", ".ddb", ".db"})
COMPRESSED = ".gz"
"""What may follow the ending of a text file."""
DATA = (*sorted(CSV | JSON | ARROW | PARQUET), COMPRESSED)
"""What files of data end with, which hold one table."""
READ_LISTED = ".csv, .csv.gz, .tsv, .json, .jsonl, .parquet, .arrow or .feather"
"""The usual ones of these for people."""
READ_FORMATS = "CSV, CSV.gz, Parquet, JSON or Arrow IPC"
"""What their formats are called."""
WRITTEN = (".csv", ".csv.gz", ".parquet", ".arrow", ".duckdb")
"""What says in which format a table is written."""
WRITTEN_LISTED = f"{', '.join(WRITTEN[:-1])} or {WRITTEN[-1]}"
"""The same for people."""
