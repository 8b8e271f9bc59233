"""Files to open, and what an opened source holds."""

import gzip

from sqlglot import exp


def file(folder, data, name="people.csv"):
    """A file of a text or of bytes, compressed where its name says so."""
    path = folder / name
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def all_rows(source):
    return source.engine.rows(exp.select("*").from_(source.table))


def types(source):
    return [kind.sql("duckdb") for kind in source.engine.columns(source.table).values()]
