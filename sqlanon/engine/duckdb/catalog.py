"""Finding the table that a name stands for, among what a DuckDB connection can see."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import FrameType

from sqlglot import exp

from sqlanon.engine.base import Row
from sqlanon.engine.duckdb.capabilities import HAS_TRIGGERS
from sqlanon.errors import MissingTableError, SourceError
from sqlanon.sqltext import Sql, expression, listed, name, names, projected, value, word
from sqlanon.wording import alike, counted

_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'
_DOTTED = re.compile(rf"{_PART}(?:\.{_PART}){{0,2}}", re.DOTALL)
_PATH_ITEM = re.compile(r'(?:"(?:[^"]|"")+"|[^",])+')
_MAX_NAMED = 10
_MAX_SUGGESTED = 5
# The functions of the catalog that list parts of tables.
_OF_TABLES = frozenset(
    f"duckdb_{kind}" for kind in ("tables", "columns", "constraints", "indexes", "triggers")
)

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A table or view of the catalog."""

    database: str
    schema: str
    name: str
    is_view: bool

    @property
    def table(self) -> exp.Table:
        """The entry, fully qualified and quoted."""
        return qualified(self.database, self.schema, self.name)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tables and schemas that a connection can see, and its search path.

    Args:
        entries: Every table and view, those of the system left out.
        path: (database, schema) pairs in the order in which a bare name is looked up.
        schemas: (database, schema) of every schema that there is.
    """

    entries: tuple[Entry, ...]
    path: tuple[Place, ...]
    schemas: tuple[Place, ...]

    def find(self, text: str) -> exp.Table | None:
        """The table that a name means: the exact whole name first, then its dotted form.

        Raises:
            SourceError: Two tables fit a two-part name.
        """
        entry = self._on_path(text)
        if entry is not None:
            return entry.table
        parts = split(text)
        if parts is None:
            return None
        if len(parts) == 1:
            entry = self._on_path(parts[0])
            return entry.table if entry else None
        fitting = self._among(parts)
        if len(fitting) > 1:
            raise SourceError(
                f"the name {text!r} fits {len(fitting)} tables; write database.schema.table"
            )
        return fitting[0].table if fitting else None

    def entry(self, table: exp.Table) -> Entry | None:
        """The table or view of a fully qualified name, or None."""
        place = fold(table.catalog), fold(table.db)
        here = (one for one in self.entries if (fold(one.database), fold(one.schema)) == place)
        return _named(here, table.name)

    def only_table(self, database: str | None = None) -> exp.Table:
        """The only table, of one database where it is named; views count where there is no table.

        Raises:
            SourceError: There is none, or there are several.
        """
        tables = [
            one
            for one in self.entries
            if one.schema != "sqlanon" and not one.name.startswith("_sqlanon_")
            if database in (None, one.database)
        ]
        candidates = [one for one in tables if not one.is_view] or tables
        if len(candidates) == 1:
            return candidates[0].table
        if not candidates:
            raise SourceError("the database holds no table")
        names = first_names([self.display(one) for one in candidates])
        raise SourceError(f"the database holds {len(candidates)} tables; name one of {names}")

    def target(self, text: str, source: exp.Table) -> exp.Table:
        """Where a new table of that name goes.

        Args:
            text: A bare name, or a dotted one whose first parts are a schema that exists.
            source: The table beside which a bare name goes, unless that one is temporary.

        Raises:
            SourceError: A dotted name in a schema that does not exist.
        """
        place = self.path[1] if source.catalog == "temp" else (source.catalog, source.db)
        whole = qualified(*place, text)
        parts = split(text)
        if parts is None or self.entry(whole) is not None:
            return whole
        *qualifiers, name = parts
        if not qualifiers:
            return qualified(*place, name)
        wanted: list[Place] = (
            [(place[0], qualifiers[0]), (qualifiers[0], "main")]
            if len(qualifiers) == 1
            else [(qualifiers[0], qualifiers[1])]
        )
        for one in wanted:
            for database, schema in self.schemas:
                if (fold(database), fold(schema)) == (fold(one[0]), fold(one[1])):
                    return qualified(database, schema, name)
        raise SourceError(
            f"there is no schema {'.'.join(qualifiers)!r} for the table {text!r}; create it, "
            "or put the whole name in double quotes"
        )

    def missing(self, text: str) -> MissingTableError:
        """The error for a name that fits nothing: how many tables there are, and near ones."""
        names = {self.display(entry): entry.name for entry in self.entries}
        wanted = fold(text.rpartition(".")[2])
        folded = {shown: fold(name) for shown, name in names.items()}
        near_names = alike(wanted, sorted(set(folded.values())), most=_MAX_SUGGESTED)
        near = [shown for wish in near_names for shown in names if folded[shown] == wish]
        hint = f"; near it: {', '.join(map(repr, near[:_MAX_SUGGESTED]))}" if near else ""
        among = f" among {counted(len(names), 'table')}" if names else ": the database holds none"
        return MissingTableError(f"there is no table {text!r}{among}{hint}")

    def display(self, entry: Entry) -> str:
        """The shortest name under which `find` finds the entry."""
        if (entry.database, entry.schema) in self.path:
            return entry.name
        return ".".join(_spell(part) for part in (entry.database, entry.schema, entry.name))

    def _on_path(self, name: str) -> Entry | None:
        matches = (self.entry(qualified(*place, name)) for place in self.path)
        return next((entry for entry in matches if entry is not None), None)

    def _among(self, parts: Sequence[str]) -> list[Entry]:
        *qualifiers, name = (fold(part) for part in parts)
        # The search path starts with the temporary tables; a schema's name means the next entry's.
        current = fold(self.path[1][0])

        def fits(entry: Entry) -> bool:
            place = [fold(entry.database), fold(entry.schema)]
            if len(qualifiers) == 2:
                return qualifiers == place
            return place in ([current, qualifiers[0]], [qualifiers[0], "main"])

        return [entry for entry in self.entries if fold(entry.name) == name and fits(entry)]


def qualified(database: str, schema: str, name: str) -> exp.Table:
    """A table by its three names, each quoted."""
    return exp.table_(name, db=schema, catalog=database, quoted=True)


def split(text: str) -> list[str] | None:
    """The parts of a dotted name, quotes taken off; None where it is no such name.

    >>> split('db.main."a.b"')
    ['db', 'main', 'a.b']
    """
    if not _DOTTED.fullmatch(text):
        return None
    parts = re.findall(_PART, text, re.DOTALL)
    return [
        part[1:-1].replace('""', '"') if part.startswith('"') else part.strip() for part in parts
    ]


def fold(name: str) -> str:
    """A name as DuckDB compares it: the case of ASCII letters alone is folded."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def first_names(names: Sequence[str]) -> str:
    """The first names of a list, quoted, for a message."""
    more = ", ..." if len(names) > _MAX_NAMED else ""
    return f"{', '.join(map(repr, names[:_MAX_NAMED]))}{more}"


def entries(
    function: str,
    columns: Sequence[str],
    *,
    database: str | None = None,
    without: exp.Table | None = None,
    where: Sequence[Sql] = (),
) -> Sql:
    """Rows of a table function of the catalog.

    Args:
        function: Such as "duckdb_columns".
        columns: What to read of it.
        database: None for every database.
        without: A table whose parts are left out.
        where: Conditions, all of which hold.
    """
    if function == "duckdb_triggers" and not HAS_TRIGGERS:
        nulls = {column: value(None) for column in columns}
        return expression("SELECT {{ nulls }} WHERE FALSE", nulls=projected(nulls))
    conditions = [] if database is None else [equals("database_name", database)]
    if without is not None and function in _OF_TABLES:
        schema, table = equals("schema_name", without.db), equals("table_name", without.name)
        apart = expression("NOT ({{ schema }} AND {{ table }})", schema=schema, table=table)
        conditions.append(apart)
    return expression(
        "SELECT {{ columns }} FROM {{ function }}() WHERE TRUE"
        "{% for condition in conditions %} AND {{ condition }}{% endfor %}",
        columns=listed(names(columns)),
        function=word(function),
        conditions=[*conditions, *where],
    )


def equals(column: str, text: str) -> Sql:
    """Whether a column of the catalog is a text."""
    return expression("{{ column }} = {{ text }}", column=name(column), text=value(text))


CATALOG = expression("""
    SELECT *, current_database(), current_schema(), current_setting('search_path')
    FROM (
      SELECT 'table' AS kind, database_name, schema_name, table_name AS name
      FROM duckdb_tables() WHERE NOT internal
      UNION ALL
      SELECT 'view', database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
      UNION ALL
      SELECT 'schema', database_name, schema_name, NULL FROM duckdb_schemas()
    )
""")
"""Every table, view and schema, each beside the place and the search path of the connection.

Shape: kind, database, schema, name (NULL of a schema), current database and schema, path.
"""


def catalog_of(rows: Sequence[Row]) -> Catalog:
    """The catalog that the rows of `CATALOG` tell of."""
    named = sorted(
        (database, schema, name, kind == "view")
        for kind, database, schema, name, *_ in rows
        if kind != "schema"
    )
    schemas: list[Place] = sorted((row[1], row[2]) for row in rows if row[0] == "schema")
    database, schema, search_path = rows[0][4:]
    path: list[Place] = [("temp", "main"), (database, schema)]
    for item in _PATH_ITEM.findall(search_path or ""):
        parts = split(item.strip()) or []
        if parts:
            path.append((database, parts[0]) if len(parts) == 1 else (parts[0], parts[1]))
    return Catalog(
        tuple(Entry(*entry) for entry in named), tuple(dict.fromkeys(path)), tuple(schemas)
    )


def variable(name: str) -> object | None:
    """A variable of that name in the frames that called into sqlanon, if it holds a table.

    The innermost frame outside sqlanon wins, its locals before its globals, as in Python itself.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != "sqlanon":
            for variables in (frame.f_locals, frame.f_globals):
                candidate: object = variables.get(name)
                if candidate is not None and is_frame(candidate):
                    return candidate
        frame = frame.f_back
    return None


def is_frame(candidate: object) -> bool:
    """Whether an object is a table that DuckDB can scan: Arrow, pandas, Polars, a relation."""
    if isinstance(candidate, type):
        return False
    lazy = type(candidate).__module__.startswith("polars.") and hasattr(candidate, "collect")
    return lazy or hasattr(candidate, "__arrow_c_stream__")


def _named(candidates: Iterable[Entry], name: str) -> Entry | None:
    folded = [entry for entry in candidates if fold(entry.name) == fold(name)]
    return next((entry for entry in folded if entry.name == name), next(iter(folded), None))


def _spell(part: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", part)
    return part if plain else '"' + part.replace('"', '""') + '"'
