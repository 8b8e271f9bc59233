"""Names of tables of a PostgreSQL connection."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from sqlglot import exp

from sqlanon.arguments import kind_of
from sqlanon.engine.base import Row, appeared
from sqlanon.engine.duckdb.catalog import Catalog, Entry, qualified
from sqlanon.errors import SourceError
from sqlanon.sqltext import name as quoted

MOST_BYTES_OF_A_NAME = 63
"""Bytes that PostgreSQL reads of a name."""
_CATALOG = """
SELECT 'path' AS kind, current_database(), schema, NULL
FROM unnest(current_schemas(true)) WITH ORDINALITY AS path(schema, place)
UNION ALL
SELECT 'schema', current_database(), nspname, NULL
FROM pg_catalog.pg_namespace
UNION ALL
SELECT c.relkind::text, current_database(), n.nspname, c.relname
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  AND (n.oid = pg_my_temp_schema() OR NOT pg_is_other_temp_schema(n.oid))
"""
_VIEWS = ("v", "m")
_STORED = ("r", "p", "m")
_STEADY = """
SELECT relkind::text, current_setting('transaction_isolation')
FROM pg_catalog.pg_class WHERE oid = '{}'::regclass
"""


_TEXTS = """
SELECT attname FROM pg_catalog.pg_attribute
JOIN pg_catalog.pg_collation ON pg_collation.oid = attcollation
WHERE attrelid = '{}'::regclass AND attnum > 0 AND NOT attisdropped AND collname = 'C'
  AND atttypid = 'pg_catalog.text'::regtype
"""
_RESET = 'ALTER COLUMN {} TYPE text COLLATE pg_catalog."default"'


class PostgresTables:
    """The tables that a connection can see: its own, partitioned and foreign ones, and views.

    Args:
        run: Carries a statement out.
        rows: The rows of a small query, as text.
    """

    def __init__(self, run: Callable[[str], None], rows: Callable[[str], list[Row]]) -> None:
        self._run, self._rows = run, rows

    def resolve(self, table: object) -> exp.Table:
        """The fully qualified table that a name stands for.

        A string is first taken as one exact name, dots and all, looked up along the search path;
        then as `table`, `schema.table` or `database.schema.table`, each part quoted or not. A name
        in another case is taken where there is none in the same.

        Raises:
            MissingTableError: There is no such table; the message names up to five near ones.
            SourceError: It is no name.
        """
        if isinstance(table, exp.Table):
            return table if table.catalog and table.db else self.resolve(table.name)
        if not isinstance(table, str):
            raise SourceError(
                f"{kind_of(table)} is not a table in PostgreSQL; give the name of one there"
            )
        catalog = self.catalog()
        resolved = catalog.find(table)
        if resolved is None:
            raise catalog.missing(table)
        return resolved

    def target(self, name: str, source: exp.Table) -> exp.Table:
        """The table that a name for a new table stands for: beside `source` unless it says more.

        Raises:
            SourceError: There is no such schema, or PostgreSQL would shorten the name.
        """
        place = self.catalog().target(name, source)
        if len(place.name.encode()) > MOST_BYTES_OF_A_NAME:
            raise SourceError(
                f"the name {place.name!r} is longer than the {MOST_BYTES_OF_A_NAME} bytes that "
                "PostgreSQL reads of a name"
            )
        return place

    def beside(self, table: exp.Table) -> exp.Table:
        """A fresh name in the schema of a table."""
        return qualified(table.catalog, table.db, f"_sqlanon_{secrets.token_hex(8)}")

    def portable(self, table: exp.Table) -> exp.Table:
        """The table by its schema and name, as in a copy of its database."""
        return exp.Table(this=table.this.copy(), db=table.args["db"].copy())

    def write(self, place: exp.Table, text: str) -> None:
        """Makes a table of the rows of a query."""
        self._run(f"CREATE TABLE {text_of(place)} AS {text}")

    def exists(self, table: exp.Table) -> bool:
        """Whether there is a table or view of that fully qualified name."""
        return self._entry(table) is not None

    def is_base_table(self, table: exp.Table) -> bool:
        """Whether a fully qualified name is a table's, which may be partitioned or foreign."""
        entry = self._entry(table)
        return entry is not None and not entry.is_view

    def is_steady(self, table: exp.Table) -> bool:
        """Whether it is stored, not worked out or elsewhere, and the transaction is a snapshot."""
        place = text_of(table).replace("'", "''")
        ((kind, isolation),) = self._rows(_STEADY.format(place))
        return kind in _STORED and not str(isolation).startswith("read ")

    def drop(self, table: exp.Table) -> None:
        """Drops a table that exists."""
        self._run(f"DROP TABLE {text_of(table)}")

    def refuse_fixed(self, place: exp.Table) -> None:
        """Refuses what is no table of its own.

        Raises:
            SourceError: A view stands there.
        """
        entry = self._entry(place)
        if entry is not None and entry.is_view:
            raise SourceError(f"{place.name!r} is a view; name another table")

    def replace(self, written: exp.Table, place: exp.Table, *, overwrite: bool) -> None:
        """Gives a table that was written beside a place its name; what stood there is gone.

        Raises:
            SourceError: A view stands there, or something depends on the table that does, or it is
                not to be overwritten.
        """
        self.refuse_fixed(place)
        if self.exists(place):
            if not overwrite:
                raise appeared(place)
            self.drop(place)
        # Written and checked byte by byte, its texts are compared as others of the database again.
        texts = self._rows(_TEXTS.format(text_of(written).replace("'", "''")))
        changes = ", ".join(_RESET.format(quoted(name).text) for (name,) in texts)
        if changes:
            self._run(f"ALTER TABLE {text_of(written)} {changes}")
        self._run(f"ALTER TABLE {text_of(written)} RENAME TO {quoted(place.name).text}")

    def catalog(self) -> Catalog:
        """Every table and view that the connection can see."""
        rows = self._rows(_CATALOG)
        entries = sorted(
            (database, schema, name, kind in _VIEWS)
            for kind, database, schema, name in rows
            if name is not None
        )
        path = [(database, schema) for kind, database, schema, _ in rows if kind == "path"]
        database, first = path[0]  # that of the catalogue at least, which is on every path
        has_temporary = first.startswith("pg_temp_")
        return Catalog(
            tuple(Entry(*entry) for entry in entries),
            # As in DuckDB the place of temporary tables stands first.
            tuple(path if has_temporary else [(database, "pg_temp"), *path]),
            tuple((database, schema) for kind, database, schema, _ in rows if kind == "schema"),
        )

    def _entry(self, table: exp.Table) -> Entry | None:
        wanted = table.catalog, table.db, table.name
        entries = self.catalog().entries
        return next((e for e in entries if (e.database, e.schema, e.name) == wanted), None)


def text_of(table: exp.Table) -> str:
    """A table's name as PostgreSQL reads it; a bare one is a temporary's."""
    parts = [part for part in (table.catalog, table.db, table.name) if part]
    return ".".join(quoted(part).text for part in (parts if table.db else ["pg_temp", *parts]))
