"""A database elsewhere: what it must do for `routed.Routed` to work beside it.

Its tables are large and stay where they are. Texts are in its own dialect; answers come as Arrow,
and what is small enough goes on in an embedded DuckDB. Nothing here decides anything.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from sqlanon.deadline import Deadline
from sqlanon.engine.base import Abilities, FarTables

if TYPE_CHECKING:
    import pyarrow


class Remote(Protocol):
    """A connection to it. Temporaries are its own: nobody else sees them, and none outlives it.

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
        """What a reader should know of it, by now."""
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
