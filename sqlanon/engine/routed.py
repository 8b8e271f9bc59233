"""An engine of two: the tables of a database elsewhere, and an embedded DuckDB beside it.

What is large stays where it is; whatever was counted there and has few rows goes on here, where a
query takes milliseconds. A query is carried out there if it names a table of there, and what else
it names is sent along; otherwise it is carried out here. Counting, search and proof know nothing of
all this. `Remote` is what the database elsewhere must do for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

import sqlglot
from sqlglot import exp

from sqlanon.deadline import NEVER, Deadline
from sqlanon.dialects import translated
from sqlanon.engine.base import Abilities, FarTables, Row, Whole
from sqlanon.engine.duckdb.connection import DuckDB, whole_columns
from sqlanon.engine.duckdb.resources import bytes_of
from sqlanon.engine.duckdb.syntax import set_option
from sqlanon.errors import EngineError, SqlanonError
from sqlanon.sqlglot_version import FROM, WITH
from sqlanon.sqltext import DIALECT, Sql, Statement, value
from sqlanon.sqltext import tree as tree_of

if TYPE_CHECKING:
    import pyarrow


class Remote(Protocol):
    """A connection to the database elsewhere, as it must be for `Routed` to work beside it.

    Its tables are large and stay where they are. Texts are in its own dialect; answers come as
    Arrow. Temporaries are its own: nobody else sees them, and none outlives it.

    Every member raises an `EngineError`, or a `SourceError` where a table or column is missing or
    may not be read or written, in words of its own: no message of the database, which may quote
    values, is passed on or logged, only the class of its error.
    """

    @property
    def dialect(self) -> str:
        """The dialect of sqlglot that it reads."""
        ...

    @property
    def phrasing(self) -> str:
        """The row of `PHRASINGS` by which statements are written for it."""
        ...

    @property
    def collation(self) -> str | None:
        """By which texts are compared byte by byte; None where they are so anyway."""
        ...

    @property
    def can(self) -> Abilities:
        """What not every engine can do."""
        ...

    @property
    def tables(self) -> FarTables:
        """The names that its tables have."""
        ...

    @property
    def notes(self) -> list[str]:
        """What a reader should know of it: one list, to which the near one adds, too."""
        ...

    @property
    def zone(self) -> str:
        """The time zone of its session, in which instants are written."""
        ...

    def columns(self, table: exp.Table) -> dict[str, exp.DataType]:
        """Name and type of every column of a table or temporary, as DuckDB calls the types."""
        ...

    def run(self, text: str) -> None:
        """Carries a statement out."""
        ...

    def answer(self, text: str) -> pyarrow.Table:
        """The rows of a query, whole; types as DuckDB reads them from Arrow."""
        ...

    def store(self, name: str, text: str, *, most: int) -> int:
        """Stores the rows of a query under a name: how many there are.

        Queries may use it as a temporary where it has more than `most`; else it is only `brought`.
        """
        ...

    def brought(self, name: str) -> pyarrow.RecordBatchReader:
        """The rows of what was stored."""
        ...

    def ship(self, name: str, rows: pyarrow.Table) -> None:
        """Makes a temporary of given rows."""
        ...

    def drop(self, name: str) -> None:
        """Drops a temporary, which may be gone."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All statements inside take effect together, where it can; the caller's own is joined."""
        ...

    def limited(self, deadline: Deadline) -> AbstractContextManager[None]:
        """Statements inside end at the deadline, by a `TimeLimitError`, and by Ctrl-C."""
        ...

    def close(self) -> None:
        """Drops every temporary; what sqlanon opened by itself is closed."""
        ...


ROW_BYTES = 64
"""Memory that a row of a temporary table takes here, at most, but for texts [bytes]."""
MEMORY_SHARE = 0.25
"""Share of the embedded database's memory that one of them may take. Memory alone decides: to fetch
one of up to five million rows takes as long as four statements on it elsewhere at most, and a plan
saves dozens (`benchmarks/fetching.py`)."""
_Asked = tuple[Statement, Sequence[object]]


class Routed:
    """A database elsewhere behind the engine protocol.

    Args:
        near: The embedded one, in memory, opened for this alone.
        far: The one that holds the tables.
        local_rows: Most rows of a temporary table that is brought near; None for as many as fit
            into a share of the near one's memory.

    Attributes:
        tables: The names of the far one's tables.
        opened: What is told of it.

    Raises:
        EngineError: `local_rows` is below 0, or the time zone of the far one is unknown here.
    """

    def __init__(self, near: DuckDB, far: Remote, *, local_rows: int | None = None) -> None:
        self.near, self.far = near, far
        if local_rows is not None and local_rows < 0:
            raise EngineError(f"local_rows must be at least 0, not {local_rows}")
        if local_rows is None:
            memory = bytes_of(near.setting("memory_limit"))
            local_rows = int(MEMORY_SHARE * memory) // ROW_BYTES
        self._most = local_rows
        _set_zone(near, far.zone)
        self.tables, self.opened = RoutedTables(self), near.opened
        # Both tell what a reader should know in one list.
        far.notes[:0] = near.opened.notes
        near.opened.notes = far.notes
        self._stored: list[str] = []
        self._shipped: set[str] = set()

    @property
    def dialect(self) -> str:
        """The dialect of sqlglot in which a release is written."""
        return self.far.dialect

    @property
    def can(self) -> Abilities:
        """What the far one can do, and how much of its tables may come here."""
        return replace(self.far.can, local_rows=self._most)

    @property
    def deadline(self) -> Deadline:
        """The limit of `limited` that holds now."""
        return self.near.deadline

    def run(self, statement: Statement, parameters: Sequence[object] = ()) -> None:
        """Carries a statement out and drops its result."""
        with self._routed(statement, parameters) as (near, text):
            if text is None:
                self.near.run(*near)
            else:
                self.far.run(text)

    @contextmanager
    def query_there(self, made: exp.Create) -> Iterator[str]:
        """The query that a far table is made of, in the far one's dialect."""
        with self._routed(made) as ((tree, _), _text):
            assert isinstance(tree, exp.Create)
            yield translated(tree.expression, self.far.phrasing)

    def rows(self, query: Statement, parameters: Sequence[object] = ()) -> list[Row]:
        """All rows of a small result, as Python tuples."""
        with self._routed(query, parameters) as (near, text):
            if text is None:
                return self.near.rows(*near)
            columns = [_plain(column) for column in self.far.answer(text).columns]
            return list(zip(*columns, strict=True))

    def numbers(self, query: Statement) -> dict[str, Whole]:
        """The columns of a result of whole numbers; NULL is -1."""
        with self._routed(query) as (near, text):
            if text is None:
                return self.near.numbers(near[0])
            return whole_columns(self.far.answer(text))

    def columns(self, table: exp.Table) -> dict[str, exp.DataType]:
        """Name and type of every column, in table order; the types are DuckDB's."""
        return (self.far if self._is_far(table) else self.near).columns(_bare(table, self._stored))

    def materialize(
        self, prefix: str, query: Statement, *, parameters: Sequence[object] = ()
    ) -> exp.Table:
        """A temporary table of a query's rows, under a fresh name."""
        return self.materialize_counted(prefix, query, parameters=parameters)[0]

    def materialize_counted(
        self, prefix: str, query: Statement, *, parameters: Sequence[object] = ()
    ) -> tuple[exp.Table, int]:
        """A temporary table as `materialize` makes it, and how many rows it has.

        It stays where its rows are counted, unless they are few.
        """
        return self._materialized(prefix, query, parameters, most=self._most)

    def _materialized(
        self, prefix: str, query: Statement, parameters: Sequence[object] = (), *, most: int
    ) -> tuple[exp.Table, int]:
        """The same; it is brought here where it has at most so many rows."""
        with self._routed(query, parameters) as (near, text):
            if text is None:
                return self.near.materialize_counted(prefix, near[0], parameters=near[1])
            table = self.near.temporary(prefix)
            self._stored.append(table.name)
            rows = self.far.store(table.name, text, most=most)
            if rows <= most:
                self.near.fill(table, self.far.brought(table.name))
                self._forget(table.name)
            return table, rows

    def load_rows(
        self,
        prefix: str,
        columns: Mapping[str, Sequence[object]],
        types: Mapping[str, exp.DataType] | None = None,
    ) -> exp.Table:
        """A temporary table of given columns, under a fresh name; types left out are BIGINT."""
        return self.near.load_rows(prefix, columns, types)

    @contextmanager
    def workspace(self) -> Iterator[None]:
        """Temporary tables of `materialize` and `load_rows` inside are dropped at its end."""
        mark, shipped = len(self._stored), set(self._shipped)
        try:
            with self.near.workspace():
                yield
        finally:
            for name in [*self._stored[mark:], *(self._shipped - shipped)]:
                with suppress(SqlanonError):
                    self.far.drop(name)
            del self._stored[mark:]
            self._shipped = shipped

    @contextmanager
    def transaction(self, until: Deadline = NEVER) -> Iterator[None]:
        """All statements inside take effect together, where the far one can do that."""
        with self.far.transaction():
            yield

    @contextmanager
    def limited(self, deadline: Deadline) -> Iterator[None]:
        """Statements inside end at the deadline, by a `TimeLimitError`; `NEVER` lifts a limit."""
        with self.near.limited(deadline), self.far.limited(deadline):
            yield

    def brought(self, table: exp.Table) -> exp.Table:
        """A temporary as a near one, however many rows it has."""
        if table.name not in self._stored:
            return table
        made = self.near.temporary("brought")
        self.near.fill(made, self.far.brought(table.name))
        return made

    def drop(self, table: exp.Table) -> None:
        """Drops a table or a temporary of either."""
        if table.name in self._stored and _is_temporary(table):
            self._forget(table.name)
        elif _is_temporary(table):
            self.near.tables.drop(table)
            if table.name in self._shipped:
                self._shipped.remove(table.name)
                self.far.drop(table.name)
        else:
            self.far.tables.drop(table)

    def _forget(self, name: str) -> None:
        self._stored.remove(name)
        self.far.drop(name)

    def _is_far(self, table: exp.Table) -> bool:
        return not _is_temporary(table) or table.name in self._stored

    @contextmanager
    def _routed(
        self, statement: Statement, parameters: Sequence[object] = ()
    ) -> Iterator[tuple[_Asked, str | None]]:
        """A statement as it is carried out: near, or as a text of the far one's dialect.

        Whatever it asks of near tables alone is worked out before, so that the far one gets rows
        and not expressions: labels are DuckDB's, wherever they are published.
        """
        if isinstance(statement, Sql):
            # Parsing takes longer than most queries: what names no far table need not be.
            names = (*self._stored, *self.tables.known)
            if not any(name in statement.text for name in names):
                yield (statement, parameters), None
                return
            tree: exp.Expr = sqlglot.parse_one(_filled(statement.text, parameters), read=DIALECT)
        else:
            tree = statement.copy()
        if self._is_near(tree):
            yield (statement, parameters), None
            return
        parts = list[exp.Table]()
        try:
            self._work_out_named(tree, parts)
            self._work_out_nested(tree, parts)
            yield (tree, ()), None if self._is_near(tree) else self._text(tree)
        finally:
            with suppress(SqlanonError):
                for part in parts:
                    self.drop(part)

    def _work_out_named(self, tree: exp.Expr, parts: list[exp.Table]) -> None:
        """Named queries of near tables alone, and those that the far one would work out again.

        Where a table is made, those that group far rows are stored there: how its records are
        joined to them follows from how many rows they have.
        """
        is_made = isinstance(tree, exp.Create)
        body = tree.args.get("expression") if is_made else tree
        if not isinstance(body, exp.Query) or not body.ctes:
            return
        left = list[exp.CTE]()
        for query in body.ctes:
            name, definition = query.alias, query.this
            uses = [node for node in tree.find_all(exp.Table) if node.name == name and not node.db]
            is_near, is_used_once = self._is_near(definition), len(uses) < 2
            if not is_near and is_used_once and not (is_made and definition.args.get("group")):
                left.append(query)
                continue
            alone = definition.copy()
            if left and not is_near:
                alone = _with(alone, left)
            most = 0 if is_used_once and not is_near else self._most
            made, _ = self._materialized("part", alone, most=most)
            parts.append(made)
            for use in uses:
                use.replace(_under(made, use.alias or name))
        body.set(WITH, exp.With(expressions=left) if left else None)

    def _work_out_nested(self, tree: exp.Expr, parts: list[exp.Table]) -> None:
        """Relations of near tables alone, and the distinct values of far columns."""
        named = {query.alias for query in tree.find_all(exp.CTE)}
        for nested in list(tree.find_all(exp.Subquery, exp.Values)):
            is_relation = isinstance(nested.parent, exp.From | exp.Join) and nested.alias
            if not is_relation or nested.root() is not tree:  # it was within one that is done
                continue
            for reduced in list(nested.find_all(exp.Subquery)):
                if reduced.alias and _is_reduced(reduced, named) and not self._is_near(reduced):
                    self._work_out(reduced, parts)
            if self._is_near(nested):
                self._work_out(nested, parts)

    def _work_out(self, relation: exp.Expr, parts: list[exp.Table]) -> None:
        alias = relation.args.get("alias")
        is_renamed = isinstance(relation, exp.Values) or bool(alias and alias.args.get("columns"))
        rows = exp.select("*").from_(relation.copy()) if is_renamed else relation.this
        made = self._fetched(rows) if _is_reduced(relation, set()) else None
        parts.append(made or self.materialize("part", rows))
        relation.replace(_under(parts[-1], relation.alias))

    def _fetched(self, query: exp.Select) -> exp.Table | None:
        """A near table of a far query's rows, without a stop on the way; None where they are many.

        What is in the way of a query of few rows is mostly the start of another job.
        """
        text = self._text(query.limit(self._most + 1, copy=True))
        rows = self.far.answer(text)
        if rows.num_rows > self._most:
            return None
        table = self.near.temporary("part")
        self.near.fill(table, rows.to_reader())
        return table

    def _read_by_bytes(self, table: exp.Table) -> None:
        """Puts a table's texts as such in its place, compared byte by byte as they are here."""
        collation = self.far.collation
        if collation is None:
            return
        name = table.alias or table.name
        named = exp.Table(**{part: table.args.get(part) for part in ("this", "db", "catalog")})
        cells: list[exp.Expr] = []
        for column, kind in self.far.columns(named).items():
            cell: exp.Expr = exp.column(column, quoted=True)
            if kind.this in exp.DataType.TEXT_TYPES:
                text, ordered = exp.cast(cell, "TEXT"), exp.to_identifier(collation, quoted=True)
                cell = exp.alias_(exp.Collate(this=text, expression=ordered), column, quoted=True)
            cells.append(cell)
        rows = exp.select(*cells).from_(named.copy())
        table.replace(rows.subquery(exp.to_identifier(name, quoted=True)))

    def _is_near(self, tree: exp.Expr) -> bool:
        """Whether a statement names no far table, nor a query that is named elsewhere."""
        names = {query.alias for query in tree.find_all(exp.CTE)}
        return not any(
            self._is_far(table)
            for table in tree.find_all(exp.Table)
            if not isinstance(table.this, exp.Func)
            if table.db or table.name not in names
        )

    def _text(self, tree: exp.Expr) -> str:
        """A statement of far tables in their dialect; what else it names is sent there."""
        queries = {query.alias for query in tree.find_all(exp.CTE)}
        for table in list(tree.find_all(exp.Table)):
            if not _is_temporary(table):
                if isinstance(table.parent, exp.From | exp.Join) and table.name not in queries:
                    self._read_by_bytes(table)
                continue
            if not self._is_far(table) and table.name not in self._shipped:
                named = exp.Table(**{part: table.args[part] for part in ("this", "db", "catalog")})
                self._shipped.add(table.name)
                rows = self.near.fetch(exp.select("*").from_(named.copy()))
                self.far.ship(table.name, _with_uuids(rows, self.near.columns(named)))
            table.set("catalog", None)
            table.set("db", None)
        return translated(tree, self.far.phrasing)


class RoutedTables:
    """The far one's tables, and temporaries of either.

    Attributes:
        known: The last parts of the names that were handed out: a query that has none of them is
            of near tables alone.
    """

    def __init__(self, engine: Routed) -> None:
        self._engine, self._far = engine, engine.far.tables
        self.known: set[str] = set()

    def resolve(self, table: object) -> exp.Table:
        """The fully qualified table that a name stands for."""
        return self._noted(self._far.resolve(table))

    def target(self, name: str, source: exp.Table) -> exp.Table:
        """The table that a name for a new table stands for: beside `source` unless it says more."""
        return self._noted(self._far.target(name, source))

    def beside(self, table: exp.Table) -> exp.Table:
        """A fresh name in the schema of a table."""
        return self._noted(self._far.beside(table))

    def portable(self, table: exp.Table) -> exp.Table:
        """The table by the name that it has in a copy of its database, too."""
        return self._far.portable(table)

    def exists(self, table: exp.Table) -> bool:
        """Whether there is a table or view of that fully qualified name."""
        return self._far.exists(table)

    def is_base_table(self, table: exp.Table) -> bool:
        """Whether a fully qualified name is a table's, not a view's."""
        return self._far.is_base_table(table)

    def is_steady(self, table: exp.Table) -> bool:
        """Whether statements of one transaction all read the same of it, whatever others write."""
        return self._far.is_steady(table)

    def drop(self, table: exp.Table) -> None:
        """Drops a table that exists, or a temporary."""
        self._engine.drop(table)

    def write(self, place: exp.Table, rows: Statement) -> None:
        """Makes a table of rows in an order of their values, dealt out by these where it can be.

        Equal rows are told apart by nothing, so neither the part nor the place that a row has says
        more than the rows do.
        """
        selected = tree_of(rows).copy()
        named = selected.args.get(WITH)
        selected.set(WITH, None)
        published = selected.subquery(exp.to_identifier("published", quoted=True))
        query = exp.select("*").from_(published)
        query.set(WITH, named)
        keys = [exp.column(name, quoted=True) for name in published.this.named_selects]
        ordered = [exp.Ordered(this=key.copy(), nulls_first=False) for key in keys]
        if self._engine.can.sorts_in_parts:
            query.set("distribute", exp.Distribute(expressions=keys))
            query.set("sort", exp.Sort(expressions=ordered))
        else:
            query = query.order_by(*ordered)
        made = exp.Create(this=place.copy(), kind="TABLE", expression=query)
        with self._engine.query_there(made) as text:
            self._far.write(place, text)

    def refuse_fixed(self, place: exp.Table) -> None:
        """Refuses a table that `replace` could not replace in one step, by a `SourceError`."""
        self._far.refuse_fixed(place)

    def replace(self, written: exp.Table, place: exp.Table, *, overwrite: bool) -> None:
        """Gives a table that was written beside a place its name; what stood there is gone."""
        self._far.replace(written, place, overwrite=overwrite)

    def _noted(self, table: exp.Table) -> exp.Table:
        # As the texts of queries have it.
        self.known.add(table.name.replace('"', '""'))
        return table


def _set_zone(near: DuckDB, zone: str) -> None:
    """Gives the near one the time zone of the far one's session."""
    with suppress(EngineError):
        near.run(set_option("TimeZone", zone))
        return
    raise EngineError(
        f"the time zone of the session, {zone!r}, is none that DuckDB knows; set another, such as "
        "'UTC'"
    )


def _is_reduced(relation: exp.Expr, named: Collection[str]) -> bool:
    """Whether a relation is the values of one column of a table, distinct or counted.

    What stands under one of some names is a query, and no table.
    """
    query = relation.this
    if not isinstance(query, exp.Select) or query.args.get("joins") or query.args.get(WITH):
        return False
    source, group = query.args.get(FROM), query.args.get("group")
    if source is None or not isinstance(source.this, exp.Table):
        return False
    if not source.this.db and source.this.name in named:
        return False
    if group is not None:
        return len(group.expressions) == 1
    return query.args.get("distinct") is not None and len(query.expressions) == 1


def _under(table: exp.Table, name: str) -> exp.Expr:
    """A table under another name."""
    return exp.alias_(table.copy(), name, table=True, quoted=True)


def _with(query: exp.Query, named: Sequence[exp.CTE]) -> exp.Query:
    """A query with others that it may name before its own."""
    result = query.copy()
    queries = result.ctes
    result.set(WITH, exp.With(expressions=[*(other.copy() for other in named), *queries]))
    return result


def _with_uuids(rows: pyarrow.Table, kinds: Mapping[str, exp.DataType]) -> pyarrow.Table:
    """Rows in which numbers of type UUID are such, which DuckDB gives as texts."""
    import pyarrow as pa

    for place, (name, kind) in enumerate(kinds.items()):
        if kind.this == exp.DataType.Type.UUID:
            texts = rows.column(place).to_pylist()
            numbers = pa.array([text and UUID(text).bytes for text in texts], pa.binary(16))
            cells = pa.ExtensionArray.from_storage(pa.uuid(), numbers)
            rows = rows.set_column(place, name, cells)
    return rows


def _is_temporary(table: exp.Table) -> bool:
    return (table.catalog, table.db) == ("temp", "main")


def _bare(table: exp.Table, stored: Sequence[str]) -> exp.Table:
    """A table as its own side knows it: a far temporary has one name alone."""
    is_stored = _is_temporary(table) and table.name in stored
    return exp.Table(this=table.this.copy()) if is_stored else table


def _filled(text: str, parameters: Sequence[object]) -> str:
    """A query with literals in place of its parameters."""
    if not parameters:
        return text
    literals = iter(parameters)
    parts, end = list[str](), 0
    for token in sqlglot.tokenize(text, read=DIALECT):
        if token.text == "?" and text[token.start] == "?":
            parts += [text[end : token.start], _literal(next(literals))]
            end = token.end + 1
    return "".join((*parts, text[end:]))


def _literal(given: object) -> str:
    """A parameter as a literal."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return f"[{', '.join(map(_literal, given))}]"
    assert given is None or isinstance(given, str | float | bool | int)
    return value(given).text


def _plain(column: pyarrow.ChunkedArray) -> list[object]:
    """The values of a column, whole numbers as such: sums of these are decimals elsewhere."""
    values: list[object] = column.to_pylist()
    if getattr(column.type, "scale", None) != 0:
        return values
    return [int(cell) if isinstance(cell, Decimal) else cell for cell in values]
