"""A fresh file for a database, so that no byte of a replaced table remains in the old one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from sqlanon.engine.base import Engine, Row
from sqlanon.engine.catalog import qualified
from sqlanon.engine.duckdb import DuckDB
from sqlanon.engine.export import sync
from sqlanon.engine.source import Resources
from sqlanon.errors import EngineError, SourceError, SqlanonError

_OLD, _NEW = "sqlanon_old", "sqlanon_new"
_NAMED = 10
_CONSTANTS = frozenset(kind for kind in TokenType if kind.name.endswith(("STRING", "NUMBER")))
# sqlglot has no tree for this statement; both names are the constants above.
_COPY_ALL = exp.Command(this="COPY", expression=f"FROM DATABASE {_OLD} TO {_NEW}")

# What must be equal in both files: (table function, its columns besides the database's name).
_CATALOG: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("duckdb_schemas", ("schema_name",)),
    ("duckdb_tables", ("schema_name", "table_name", "column_count", "has_primary_key",
                       "index_count", "check_constraint_count", "comment")),
    ("duckdb_columns", ("schema_name", "table_name", "column_index", "column_name", "data_type",
                        "is_nullable", "column_default", "comment")),
    ("duckdb_constraints", ("schema_name", "table_name", "constraint_type", "constraint_text")),
    ("duckdb_indexes", ("schema_name", "table_name", "index_name", "is_unique", "sql", "comment")),
    ("duckdb_views", ("schema_name", "view_name", "sql", "comment")),
    ("duckdb_sequences", ("schema_name", "sequence_name", "increment_by", "last_value")),
    ("duckdb_types", ("schema_name", "type_name", "logical_type", "labels", "comment")),
    ("duckdb_functions", ("schema_name", "function_name", "parameters", "macro_definition")),
)  # fmt: skip


def rewrite(
    path: str | Path, *, threads: int | None = None, memory_limit: str | None = None
) -> None:
    """Copies a database into a fresh file and puts that in the old one's place.

    DuckDB leaves the pages of dropped tables in its file, where anybody who has the file can read
    them. The copy is compared with the original (tables, columns, constraints, indexes, views,
    sequences, types, macros, and every table's number of rows) before it takes its name, rights
    and owner; the write-ahead log goes too. The old file stays locked and valid until then.

    What the database keeps is copied, so a value that is quoted in a view, a macro, a comment or
    the labels of an ENUM stays: `leftovers` counts those. Blocks that the disk has freed are out
    of reach.

    Args:
        path: A database file that no connection of this process holds.
        threads: At least 1; None leaves the choice to DuckDB.
        memory_limit: A size such as "2GB".

    Raises:
        EngineError: The copy failed or differs; the old file is as it was.
        SourceError: The file is missing, or another process holds it.
    """
    target = Path(path).resolve()
    if not target.is_file():
        raise SourceError(f"there is no file {str(path)!r}")
    reason: object
    try:
        folder = Path(tempfile.mkdtemp(prefix=".sqlanon-", dir=target.parent))
        try:
            with Resources(threads, memory_limit, folder).connect() as engine:
                _replace(engine, target, folder / target.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    except SqlanonError as error:
        raised, reason = type(error), error
    except OSError as error:
        raised, reason = EngineError, error.strerror
    raise raised(
        f"database {str(target)!r} could not be rewritten: {reason}; it is valid and as it was, "
        "but may hold pages of replaced tables; remove the cause and run "
        "sqlanon.rewrite(path) again"
    )


def leftovers(engine: Engine, table: exp.Table) -> list[str]:
    """What else in a table's database may quote values of the original, one sentence a kind.

    A rewrite keeps all of it. Only names and counts are told, never a text.

    Args:
        engine: Where the table is, after the original was replaced.
        table: The table, fully qualified.
    """
    found = (
        ("view(s) with constants", _quoting(engine, table, "duckdb_views", "view_name", "sql")),
        ("macro(s) with constants",
         _quoting(engine, table, "duckdb_functions", "function_name", "macro_definition")),
        ("ENUM type(s), whose labels may be values", _enum_types(engine, table)),
        ("index(es) over constants",
         _quoting(engine, table, "duckdb_indexes", "index_name", "sql")),
        ("table(s) with column defaults or generated columns that hold constants",
         _quoting(engine, table, "duckdb_columns", "table_name", "column_default")),
        ("table(s) with checks",
         _quoting(engine, table, "duckdb_constraints", "table_name", "constraint_text")),
        ("object(s) with comments", _commented(engine, table)),
    )  # fmt: skip
    return [
        f"{len(names)} {kind}: {', '.join(repr(name) for name in names[:_NAMED])}"
        f"{', ...' if len(names) > _NAMED else ''}"
        for kind, names in found
        if names
    ]


def _replace(engine: DuckDB, target: Path, fresh: Path) -> None:
    log = target.with_name(target.name + ".wal")
    # Attached for writing: nobody else may change the old file while it is being copied.
    with _attached(engine, target, _OLD):
        engine.run(exp.Command(this="CHECKPOINT", expression=_OLD))
        if log.exists():
            raise EngineError("its write-ahead log cannot be merged")
        with _attached(engine, fresh, _NEW, _storage(engine)):
            engine.run(_COPY_ALL)
            _compare(engine)
        status = target.stat()
        fresh.chmod(status.st_mode & 0o777)
        owner = (status.st_uid, status.st_gid)
        if hasattr(os, "chown") and (fresh.stat().st_uid, fresh.stat().st_gid) != owner:
            os.chown(fresh, status.st_uid, status.st_gid)
        sync(fresh)
        fresh.replace(target)
        sync(target.parent)


@contextmanager
def _attached(
    engine: DuckDB, path: Path, name: str, options: dict[str, exp.Expr] | None = None
) -> Iterator[None]:
    alias = exp.alias_(exp.Literal.string(str(path)), name, quoted=True)
    settings = [
        exp.AttachOption(this=exp.var(key), expression=value)
        for key, value in (options or {}).items()
    ]
    engine.run(exp.Attach(this=alias, expressions=settings))
    try:
        yield
    finally:
        engine.run(exp.Detach(this=exp.to_identifier(name, quoted=True)))


def _storage(engine: DuckDB) -> dict[str, exp.Expr]:
    """The old file's storage version and block size, so that who could read it still can."""
    version = exp.Bracket(
        this=exp.column("tags"), expressions=[exp.Literal.string("storage_version")]
    )
    [(tag,)] = engine.rows(_of_database("duckdb_databases", [version], _OLD))
    [(block_size,)] = engine.rows(
        _of_database("pragma_database_size", [exp.column("block_size")], _OLD)
    )
    options: dict[str, exp.Expr] = {"BLOCK_SIZE": exp.convert(block_size)}
    if tag:
        options["STORAGE_VERSION"] = exp.Literal.string(str(tag).rstrip("+"))
    return options


def _of_database(function: str, columns: list[exp.Expr], database: str) -> exp.Select:
    source = exp.Table(this=exp.Anonymous(this=function))
    named = exp.EQ(this=exp.column("database_name"), expression=exp.Literal.string(database))
    return exp.select(*columns).from_(source).where(named)


def _compare(engine: DuckDB) -> None:
    """Refuses a copy whose catalog or numbers of rows are not the original's."""
    for function, columns in _CATALOG:
        parts = [exp.column(name) for name in columns]
        old, new = (
            sorted(engine.rows(_of_database(function, list(parts), name)), key=repr)
            for name in (_OLD, _NEW)
        )
        if old != new:
            differing = sum(row not in new for row in old) + sum(row not in old for row in new)
            raise EngineError(f"the copy differs in {differing} entries of {function}")
    names = [exp.column("schema_name"), exp.column("table_name")]
    for schema, table in engine.rows(_of_database("duckdb_tables", list(names), _OLD)):
        counts = [
            engine.rows(exp.select(exp.Count(this=exp.Star())).from_(
                qualified(name, schema, table)))
            for name in (_OLD, _NEW)
        ]  # fmt: skip
        if counts[0] != counts[1]:
            raise EngineError(f"the copy of table {table!r} has another number of rows")


def _quoting(engine: Engine, table: exp.Table, function: str, name: str, text: str) -> list[str]:
    """The names of objects whose text holds a constant, or cannot be read."""
    query = _of_database(function, [exp.column(name), exp.column(text)], table.catalog)
    if function in {"duckdb_views", "duckdb_functions"}:
        query = query.where(exp.Not(this=exp.column("internal")))
    if function == "duckdb_constraints":
        query = query.where(
            exp.EQ(this=exp.column("constraint_type"), expression=exp.Literal.string("CHECK"))
        )
    rows: list[Row] = engine.rows(query)
    return sorted({name for name, text in rows if text is not None and _has_constant(text)})


def _has_constant(text: str) -> bool:
    # Tokens, not a tree: the parser logs a part of what it does not know.
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except SqlglotError:
        return True
    return any(token.token_type in _CONSTANTS for token in tokens)


def _enum_types(engine: Engine, table: exp.Table) -> list[str]:
    query = _of_database("duckdb_types", [exp.column("type_name")], table.catalog).where(
        exp.Not(this=exp.column("internal")),
        exp.Not(this=exp.Is(this=exp.column("labels"), expression=exp.Null())),
    )
    return sorted(name for (name,) in engine.rows(query))


def _commented(engine: Engine, table: exp.Table) -> list[str]:
    functions = {
        "duckdb_tables": "table_name",
        "duckdb_columns": "table_name",
        "duckdb_views": "view_name",
        "duckdb_indexes": "index_name",
        "duckdb_sequences": "sequence_name",
        "duckdb_types": "type_name",
        "duckdb_functions": "function_name",
    }
    present = exp.Not(this=exp.Is(this=exp.column("comment"), expression=exp.Null()))
    found: set[str] = set()
    for function, name in functions.items():
        query = _of_database(function, [exp.column(name)], table.catalog).where(present.copy())
        found.update(name for (name,) in engine.rows(query))
    return sorted(found)
