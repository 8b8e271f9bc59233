"""Frames of a program in a database: read once as Arrow, and handed back as what they were.

What DuckDB makes of pandas or of a lazy query depends on its own sample of the rows and on when
it looks. Columns that are published as they are go in as whatever keeps their values apart and
come back in their own type, which is tried before the search where no list says so. Categories
are worked out anew, since a type that lists suppressed values publishes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

import duckdb
from sqlglot import exp

from sqlanon.engine.base import Engine, Use, render, without_enums
from sqlanon.engine.duckdb.capabilities import QUERIES_LEAVE_NOTHING
from sqlanon.engine.duckdb.catalog import fold, qualified
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.engine.duckdb.errors import attempt, fault
from sqlanon.engine.duckdb.syntax import create_temporary, type_of
from sqlanon.engine.frames import (
    ArrowFrame,
    FrameKind,
    PandasFrame,
    PolarsFrame,
    comes_back,
    in_types,
    refuse_finer,
    restored,
    same,
    stored,
)
from sqlanon.errors import EngineError, SourceError
from sqlanon.wording import counted

_Type = exp.DataType.Type
_TOLD = frozenset(
    {
        *exp.DataType.NUMERIC_TYPES,
        *exp.DataType.TEXT_TYPES,
        *exp.DataType.TEMPORAL_TYPES - {_Type.TIMETZ},
        *exp.DataType.NESTED_TYPES - {_Type.UNION},
        *(
            _Type.BOOLEAN,
            _Type.VARBINARY,
            _Type.UUID,
            _Type.INTERVAL,
        ),
        *(_Type.ENUM, _Type.JSON, _Type.TIME),
    }
) - {_Type.BIT}
"""Types whose values come back from DuckDB by way of Arrow."""


class HeldFrame:
    """A frame of the program, as a table to be read, and its likeness to be made.

    Args:
        frame: A pandas or Polars frame, an Arrow table or reader, a relation of DuckDB.
    """

    def __init__(self, frame: Any) -> None:
        self._frame, self.title = frame, f"{_package(frame)} {type(frame).__name__}"
        self._types: dict[str, Any] = {}
        self._kind: FrameKind | None = None
        self._relation: duckdb.DuckDBPyRelation | None = None
        if isinstance(frame, duckdb.DuckDBPyRelation):
            self._relation, self.title = frame, "DuckDB relation"

    def loaded(
        self, engine: DuckDB, use: Callable[[Sequence[str]], Use], *, is_callers: bool
    ) -> exp.Table:
        """The frame as a table of an engine, until it releases what it registered.

        A relation is read where it is, whenever it is asked, on the connection of the caller whose
        it must be; everything else is read once.

        Raises:
            SourceError: Its columns have no names that a table can have, or a column holds what no
                table can, or what could not be given back.
        """
        if self._relation is not None and is_callers:
            table = _resolved(engine, self._relation)
            use(list(engine.columns(table)))
            return table
        import pyarrow

        self._kind = kind = _kind(self._frame)
        names = kind.names()
        _refuse_names(names, self.title)
        used = use(names)
        flat = frozenset(n for n in used.counted if not kind.is_nested(n))
        used = replace(used, counted=flat)
        equal_alone = used.equal_alone | used.counted
        rows = None
        with suppress(SourceError):  # of a column that is dropped, too
            rows = kind.read(used.read(names), equal_alone)
        if rows is None:
            rows = kind.read(used.kept(names), equal_alone)
        self._types = dict(zip(rows.column_names, rows.schema.types, strict=True))
        columns = {}
        for name, column in zip(rows.column_names, rows.columns, strict=True):
            if name in used.counted and not comes_back(column.type):
                continue
            columns[name] = stored(column) if name in equal_alone else column
            if used.by_value is not None and name not in equal_alone:
                refuse_finer(name, column)
        for name in names:
            columns.setdefault(name, pyarrow.nulls(rows.num_rows))
        table = engine.register(pyarrow.table({name: columns[name] for name in names}))
        for name in used.as_is:
            column, kind = rows.column(name), self._types[name]
            is_as_known = name in used.equal_alone or stored(column).type == kind
            if not (is_as_known and comes_back(kind)):
                self._refuse_lossy(engine, table, name=name, column=column)
        return table

    def handed_back(
        self, engine: Engine, table: exp.Table, *, source: exp.Table, coded: Collection[str]
    ) -> Any:
        """A frame of the same kind as this one, of the rows of a table.

        Args:
            engine: Where the table is, and this frame as it was loaded.
            table: The table.
            source: What `loaded` returned.
            coded: The columns that are generalized; categories of theirs become texts.
        """
        assert isinstance(engine, DuckDB)
        if self._kind is None:
            return _related(engine, table)
        published = engine.fetch(exp.select("*").from_(table.copy()))
        before, now = engine.columns(source), engine.columns(table)
        kept = {
            name: self._types[name]
            for name, kind in now.items()
            if name not in coded or (kind == before[name] and not self._kind.has_categories(name))
        }
        return self._kind.made(published, kept)

    def _refuse_lossy(self, engine: DuckDB, table: exp.Table, *, name: str, column: Any) -> None:
        """Refuses a column whose values would not come back, before there is any work."""
        import pyarrow

        rows = exp.select(exp.column(name, quoted=True)).from_(table.copy())
        with suppress(EngineError, pyarrow.ArrowException):
            if same(restored(engine.fetch(rows).column(0), column.type), column):
                return
        raise SourceError(
            f"column {name!r} of the {self.title} is of a type whose values a database does not "
            "give back as they are; convert or drop it"
        )


def owned(frame: object) -> tuple[object, object]:
    """What to open for a frame without a connection: a source, and its table or None.

    Raises:
        SourceError: A relation of which this version of DuckDB does not tell the connection.
    """
    held = HeldFrame(frame)
    if not isinstance(frame, duckdb.DuckDBPyRelation) or QUERIES_LEAVE_NOTHING:
        return held, None
    default = duckdb.default_connection()
    try:
        with _variable(frame) as name:
            default.sql(f"SELECT * FROM {name} LIMIT 0")
    except duckdb.Error:
        pass
    else:
        return default, held
    raise SourceError(
        "the relation is of a connection of its own, which this version of DuckDB does not tell; "
        "give the connection, then the relation, then the policy"
    )


def _refuse_names(names: Sequence[object], title: str) -> None:
    """Refuses names that a table of a database cannot have."""
    others = [name for name in names if not isinstance(name, str)]
    if others:
        one = f"column of the {title} has a name that is no text"
        more = f"columns of the {title} have names that are no texts"
        raise SourceError(
            f"{counted(len(others), one, more=more)}; "
            "rename them, for instance by frame.columns = frame.columns.map(str)"
        )
    folded = [fold(str(name)) for name in names]
    alike = [name for name in names if folded.count(fold(str(name))) > 1]
    if alike:
        raise SourceError(
            f"columns {', '.join(map(repr, alike))} of the {title} have one name, but for the case "
            "of letters; rename them"
        )
    if not names:
        raise SourceError(f"the {title} has no columns")


def _refuse_untold(kinds: Mapping[str, str]) -> None:
    """Refuses types whose values Arrow, between two databases, is not known to tell."""
    for name, kind in kinds.items():
        for part in type_of(kind).find_all(exp.DataType):
            if part.this not in _TOLD and kind != "TIMESTAMPTZ_NS":
                raise SourceError(
                    f"column {name!r} ({part.sql('duckdb')}) cannot be read without the relation's "
                    "connection; give the connection, then the relation, then the policy"
                )


def _related(engine: DuckDB, table: exp.Table) -> duckdb.DuckDBPyRelation:
    """A relation of the rows of a table, in a temporary table that stays with the connection."""
    place = engine.beside(qualified("temp", "main", ""))
    rows = exp.select("*").from_(table.copy())
    engine.run(create_temporary(place.copy(), rows))
    text = render(exp.select("*").from_(place), engine.dialect)
    return engine.attempt(
        lambda: engine.connection.sql(text), lambda error: fault(error, "read what was published")
    )


@contextmanager
def _variable(value: object) -> Iterator[str]:
    """A variable of this module that DuckDB reads, by a name that no table or view has.

    A table of that name would be read in its place.
    """
    name = f"_sqlanon_{uuid4().hex}"
    globals()[name] = value
    try:
        yield name
    finally:
        del globals()[name]


def _package(frame: Any) -> str:
    return type(frame).__module__.partition(".")[0]


def _resolved(engine: DuckDB, relation: duckdb.DuckDBPyRelation) -> exp.Table:
    with suppress(EngineError):
        return engine.resolve(relation)
    raise SourceError("the relation is of another connection than the one that is given")


def _kind(frame: Any) -> FrameKind:
    """The kind of a frame, also of one whose class is derived from a known one."""
    bases = {(base.__module__.partition(".")[0], base.__name__) for base in type(frame).__mro__}
    if ("pandas", "DataFrame") in bases:
        return PandasFrame(frame)
    if {("polars", "DataFrame"), ("polars", "LazyFrame")} & bases:
        return PolarsFrame(frame)
    if "Series" in {name for _, name in bases}:
        raise SourceError(
            f"a {_package(frame)} Series is not a table; make a frame of it by to_frame()"
        )
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return _Relation(frame)
    return ArrowFrame(frame)


class _Relation(ArrowFrame):
    """A relation of another connection than the engine's."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        super().__init__(relation)
        self._relation = relation
        kinds = zip(relation.columns, relation.types, strict=True)
        self._duckdb_types = {name: without_enums(type_of(str(kind))) for name, kind in kinds}

    def read(self, names: Sequence[str], equal_alone: Collection[str]) -> Any:
        """Some of its columns."""
        kinds = zip(self._relation.columns, self._relation.types, strict=True)
        _refuse_untold({name: str(kind) for name, kind in kinds if name in names})
        return super().read(names, equal_alone)

    def made(self, published: Any, kept: Mapping[str, Any]) -> duckdb.DuckDBPyRelation:
        """A relation of the connection that the first one is of.

        Raises:
            SourceError: The connection is set to read no variables of Python.
        """
        [(reads_variables,)] = self._query(
            "SELECT current_setting('python_enable_replacements')"
        ).fetchall()
        if not reads_variables:
            raise SourceError(
                "python_enable_replacements is off on the relation's connection, without which no "
                "table can be handed back to it; give the connection, then the relation, then the "
                "policy"
            )
        published = in_types(published, kept)
        columns = [
            exp.cast(exp.column(name, quoted=True), self._duckdb_types[name]).as_(name, quoted=True)
            if name in kept
            else exp.column(name, quoted=True)
            for name in published.column_names
        ]
        with _variable(published) as name:
            return self._query(render(exp.select(*columns).from_(name), "duckdb"))

    def _query(self, text: str) -> duckdb.DuckDBPyRelation:
        """Rows of a query on the connection that the relation is of."""
        made = attempt(
            lambda: self._relation.query("_sqlanon_original", text),
            lambda error: fault(error, "hand back what was published"),
        )
        assert made is not None
        return made
