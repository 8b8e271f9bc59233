"""The engine protocol, and the text of a syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

from sqlglot import exp

from sqlanon.deadline import NEVER, Deadline
from sqlanon.dialects import written
from sqlanon.errors import SourceError
from sqlanon.sqltext import DIALECT, Sql, Statement, expression

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.workers import Workers

Row = tuple[Any, ...]
Whole: TypeAlias = "npt.NDArray[np.int64]"
_Type = exp.DataType.Type


class Limits(TypedDict, total=False):
    """Resources of a database that sqlanon opens: the arguments of `Resources`."""

    threads: int | None
    memory_limit: str | None
    temp_directory: str | Path | None
    temp_limit: str | None


class TextDetails(TypedDict, total=False):
    """How a text file that sqlanon opens is written: the arguments of `TextFormat`."""

    date_format: str | None
    nullstr: str | Sequence[str] | None
    delimiter: str | None
    encoding: str | None


class Elsewhere(TypedDict, total=False):
    """How a database elsewhere is reached, and how an engine of two works that is made of it.

    `engine` is its kind where the source is a name of its table, `remote` its address and
    `spark_config` its settings; `local_rows` is the most rows of an intermediate that goes on in
    this process, `materialize` how others are stored there, and `scratch` where.
    """

    engine: str | None
    remote: str | None
    spark_config: Mapping[str, str] | None
    local_rows: int | None
    materialize: str | None
    scratch: str | None


class Opening(Limits, TextDetails, Elsewhere, total=False):
    """All that is said of how a source is opened."""


@dataclass(frozen=True, slots=True)
class Use:
    """Use that is made of the columns of a file.

    Args:
        left_out: Columns that nobody reads; they are not loaded, and read as NULL.
        by_value: Columns of which the values count, not how these are written; None for all.
        equal_alone: Columns of frames of which no more counts than which values are equal.
        as_is: Columns that are to be published as they are, and so must come back.
        dated: Columns that must be dates.
        types: Types of columns of another table that these are compared with, which columns of a
            text file get where they can: 12345 is text where that table has 04103.
        counted: Columns left out of which is counted how often a value repeats: where a file is
            loaded, hashes with a key that nobody keeps.
    """

    left_out: frozenset[str] = frozenset()
    by_value: frozenset[str] | None = None
    equal_alone: frozenset[str] = frozenset()
    as_is: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    dated: frozenset[str] = frozenset()
    types: Mapping[str, str] = field(default_factory=dict)

    def kept(self, names: Sequence[str]) -> list[str]:
        """The columns that are loaded."""
        return [name for name in names if name not in self.left_out] or list(names)

    def read(self, names: Sequence[str]) -> list[str]:
        """The columns that are loaded, and those that are counted."""
        kept = self.kept(names)
        return [name for name in names if name in kept or name in self.counted]

    def is_exact(self, name: str) -> bool:
        """Whether a column's values count as they are written."""
        return self.by_value is not None and name not in self.by_value


def render(statement: Statement, dialect: str, *, pretty: bool = False) -> str:
    """The text of a statement: identifiers quoted, nothing dropped that the dialect lacks.

    Args:
        statement: Any statement, query or table; a text stands as it is in its own dialect.
        dialect: A dialect of sqlglot ("duckdb", "spark", ...).
        pretty: One clause a line, for people.

    Raises:
        EngineError: The dialect cannot express a part of the statement.
    """
    if isinstance(statement, exp.Table) and dialect == DIALECT:
        return expression("{{ table }}", table=statement).text
    if isinstance(statement, Sql):
        if dialect == DIALECT and not pretty:
            return statement.text
        statement = statement.tree()
    return written(statement, dialect, pretty=pretty)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What not every engine can do.

    Args:
        fresh_file: Whether a database is a file, whose place a fresh one can take.
        in_place: Whether a table can be replaced by what is published of it.
        keeps_versions: Whether such a table keeps what it was, and nothing else depends on it.
        unstored: Types that values may have and columns of a table may not, as `type_id` names
            them.
        stages_beside: Whether a release is written where it belongs, under a name of its own, and
            renamed once it is checked; else it is copied there from a temporary table.
        sorts_in_parts: Whether rows can be dealt out by their values and sorted in each part.
        local_rows: Most rows of a table that may be read into this process; None for any number.
        workers: Where tasks are done by its own machines; None for nowhere.
        reads_nan: Whether a table that it has written still has NaN when it is read.
    """

    fresh_file: bool
    in_place: bool
    keeps_versions: bool = False
    unstored: frozenset[str] = frozenset()
    stages_beside: bool = False
    sorts_in_parts: bool = False
    local_rows: int | None = None
    workers: Workers | None = None
    reads_nan: bool = True


class Names(Protocol):
    """Names of tables, and what stands under them."""

    def resolve(self, table: object) -> exp.Table:
        """The fully qualified table that a name or a frame stands for.

        Raises:
            MissingTableError: There is no such table.
        """
        ...

    def target(self, name: str, source: exp.Table) -> exp.Table:
        """The table that a name for a new table stands for: beside `source` unless it says more."""
        ...

    def beside(self, table: exp.Table) -> exp.Table:
        """A fresh name in the schema of a table."""
        ...

    def portable(self, table: exp.Table) -> exp.Table:
        """The table by the name that it has in a copy of its database, too."""
        ...

    def exists(self, table: exp.Table) -> bool:
        """Whether there is a table or view of that fully qualified name."""
        ...

    def is_base_table(self, table: exp.Table) -> bool:
        """Whether a fully qualified name is a table's, not a view's."""
        ...

    def is_steady(self, table: exp.Table) -> bool:
        """Whether statements of one transaction all read the same of it, whatever others write."""
        ...

    def drop(self, table: exp.Table) -> None:
        """Drops a table that exists."""
        ...

    def refuse_fixed(self, place: exp.Table) -> None:
        """Refuses a table that `replace` could not replace in one step, by a `SourceError`."""
        ...

    def replace(self, written: exp.Table, place: exp.Table, *, overwrite: bool) -> None:
        """Gives a table that was written beside a place its name; what stood there is gone.

        Raises:
            SourceError: Something stands there, and is not to be overwritten.
        """
        ...


class FarTables(Names, Protocol):
    """The same of a database elsewhere."""

    def write(self, place: exp.Table, text: str) -> None:
        """Makes a table of the rows of a query in its own dialect."""
        ...


class TableNames(Names, Protocol):
    """The same of an engine."""

    def write(self, place: exp.Table, rows: Statement) -> None:
        """Makes a table of rows, of which those that are not sorted are put in an order.

        Where and in which order a row lies follows from the published rows alone.
        """
        ...


class HowOpened(Protocol):
    """How an engine was opened, and what its tables are read from."""

    @property
    def files(self) -> list[Path]:
        """The files that hold the tables, which therefore nothing else may be written over."""
        ...

    @property
    def notes(self) -> list[str]:
        """What a reader should know of how the engine was opened and what it found there."""
        ...

    @property
    def population(self) -> exp.Table | None:
        """The people that the table's records are of, where they were opened beside it."""
        ...

    def refuse_changed(self) -> None:
        """Raises a `SourceError` where what tables are read from was replaced or changed."""
        ...


class Engine(Protocol):
    """A database that carries statements out. Text exists only behind these members."""

    @property
    def dialect(self) -> str:
        """The dialect of sqlglot in which a release is written."""
        ...

    @property
    def can(self) -> Abilities:
        """What not every engine can do."""
        ...

    @property
    def opened(self) -> HowOpened:
        """How it was opened."""
        ...

    @property
    def tables(self) -> TableNames:
        """The names that tables have."""
        ...

    @property
    def deadline(self) -> Deadline:
        """The limit of `limited` that holds now."""
        ...

    def run(self, statement: Statement, parameters: Sequence[object] = ()) -> None:
        """Carries a statement out and drops its result."""
        ...

    def rows(self, query: Statement, parameters: Sequence[object] = ()) -> list[Row]:
        """All rows of a small result, as Python tuples."""
        ...

    def numbers(self, query: Statement) -> dict[str, Whole]:
        """The columns of a result of whole numbers; NULL is -1."""
        ...

    def columns(self, table: exp.Table) -> dict[str, exp.DataType]:
        """Name and type of every column, in table order."""
        ...

    def materialize(
        self, prefix: str, query: Statement, *, parameters: Sequence[object] = ()
    ) -> exp.Table:
        """A temporary table of a query's rows, under a fresh name."""
        ...

    def materialize_counted(
        self, prefix: str, query: Statement, *, parameters: Sequence[object] = ()
    ) -> tuple[exp.Table, int]:
        """A temporary table as `materialize` makes it, and how many rows it has."""
        ...

    def load_rows(
        self,
        prefix: str,
        columns: Mapping[str, Sequence[object]],
        types: Mapping[str, exp.DataType] | None = None,
    ) -> exp.Table:
        """A temporary table of given columns, under a fresh name; types left out are BIGINT."""
        ...

    def workspace(self) -> AbstractContextManager[None]:
        """Temporary tables of `materialize` and `load_rows` inside are dropped at its end."""
        ...

    def transaction(self, until: Deadline = NEVER) -> AbstractContextManager[None]:
        """All statements inside take effect together, or none does.

        It is the caller's where one is open. Under a deadline none of our own is begun: a statement
        that is interrupted would end it.
        """
        ...

    def limited(self, deadline: Deadline) -> AbstractContextManager[None]:
        """Statements inside end at the deadline, by a `TimeLimitError`; `NEVER` lifts a limit.

        Where a transaction is open that a failed statement would end, they are not interrupted:
        then the time is only looked at before each of them.
        """
        ...


def appeared(place: exp.Table) -> SourceError:
    """The error of a place that was free when the work began, and is not any more."""
    return SourceError(
        f"{place.name!r} has appeared meanwhile, so nothing is published; name another place, or "
        "replace it with overwrite (--overwrite)"
    )


def without_enums(kind: exp.DataType) -> exp.DataType:
    """A type in which every ENUM, also a nested one, is text: an ENUM lists values of the table."""
    return with_texts(kind, _has_labels)


def with_texts(kind: exp.DataType, is_text: Callable[[exp.DataType], bool]) -> exp.DataType:
    """A type in which every part that is to be text, also a nested one, is text."""

    def replaced(node: exp.Expr) -> exp.Expr:
        chosen = isinstance(node, exp.DataType) and is_text(node)
        return exp.DataType(this=_Type.TEXT) if chosen else node

    changed = kind.transform(replaced)
    assert isinstance(changed, exp.DataType)
    return changed


def _has_labels(part: exp.DataType) -> bool:
    """Whether a type is an ENUM, or one unknown to sqlglot, as a TUPLE is, that may hold one."""
    is_unknown = part.this == _Type.USERDEFINED
    return part.this == _Type.ENUM or (is_unknown and "ENUM(" in part.sql("duckdb"))


def by_column(
    names: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> dict[str, Sequence[object]]:
    """The values of rows by the names of their columns, as `load_rows` takes them."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return dict(zip(names, columns, strict=True))
