"""Tables besides their records: where new ones may stand, and whether one stays as it is.

A place is tried before there is any work: rights, a file system that is read-only and a transaction
that has written elsewhere are told by nothing else than a try.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError, SqlanonError
from sqlanon.query.encode import fingerprint
from sqlanon.query.syntax import is_same, is_unknown
from sqlanon.sqltext import DIALECT, Statement


def place_of(
    engine: Engine, into: str, *, source: exp.Table, overwrite: bool, itself: str
) -> exp.Table:
    """The place of a new table beside the one that it is made of.

    Args:
        engine: Where both are.
        into: The new table's name.
        source: The table that it is made of.
        overwrite: Whether a table of that name may be replaced.
        itself: What is said where the name means the source.

    Raises:
        SourceError: The name means the source or a view, or is taken and may not be replaced.
    """
    place = engine.tables.target(into, source)
    if not engine.tables.exists(place):
        return place
    if is_same(place, source):
        raise SourceError(f"the new table is {itself}")
    if not engine.tables.is_base_table(place):
        raise SourceError(f"{into!r} is a view; drop it or choose another name")
    engine.tables.refuse_fixed(place)
    if not overwrite:
        raise SourceError(f"table {into!r} exists already; replace it with overwrite (--overwrite)")
    return place


def try_place(engine: Engine, place: exp.Table) -> None:
    """Makes a table of one cell beside a place and drops it, to learn whether that can be done.

    Of no row a database elsewhere may write no file, and so would not tell where its files go.

    Raises:
        SourceError: The database is open for reading only, or the open transaction has written to
            another one already, or what is written is not seen here.
    """
    trial = engine.tables.beside(place)
    nothing = exp.select(exp.cast(exp.null(), "INT").as_("nothing"))
    engine.tables.write(trial, nothing)
    engine.tables.drop(trial)


@contextmanager
def written_beside(
    engine: Engine, rows: Statement, *, place: exp.Table, overwrite: bool
) -> Iterator[exp.Table]:
    """A table of rows beside a place, which it takes on leaving; after a failure it is gone.

    Args:
        engine: Where both are.
        rows: The rows.
        place: The place.
        overwrite: Whether what stands there by then may be replaced.

    Raises:
        SourceError: Something stands there that may not be.
    """
    written = engine.tables.beside(place)
    try:
        engine.tables.write(written, rows)
        yield written
        engine.tables.replace(written, place, overwrite=overwrite)
    except BaseException:
        # It may not be made yet, and in a failed transaction nothing can nor need be dropped.
        with suppress(SqlanonError):
            engine.tables.drop(written)
        raise


CHANGED = "the table changed while it was read; try again"
_UNSTEADY = "the view gives other rows each time that it is read; store its rows in a table first"


def change_fault(engine: Engine, table: exp.Table, *, otherwise: str) -> str:
    """What to say of a table that did not stay the same while it was read.

    Args:
        engine: Where it is.
        table: The table or view.
        otherwise: What to say unless it is a view that gives other rows each time.
    """
    return _UNSTEADY if _is_unsteady(engine, table) else otherwise


@contextmanager
def unchanged(engine: Engine, table: exp.Table, names: Container[str]) -> Iterator[None]:
    """Reads a table that others may write to, before and after, to learn whether they did.

    Args:
        engine: Where it is.
        table: The table.
        names: Those of its columns that are looked at.

    Raises:
        SourceError: These, or the number of records, are not what they were.
    """
    if engine.tables.is_steady(table):
        yield
        return
    types = engine.columns(table)
    # What is unknown the work itself refuses.
    columns = {n: kind for n, kind in types.items() if n in names and not is_unknown(kind)}
    before = engine.rows(fingerprint(table, columns))
    yield
    if engine.rows(fingerprint(table, columns)) != before:
        raise SourceError(change_fault(engine, table, otherwise=CHANGED))


def refuse_unsteady(engine: Engine, table: exp.Table, columns: Iterable[str]) -> None:
    """Refuses a view that gives other rows each time, also where they are as many by chance.

    Args:
        engine: Where it is.
        table: The table or view.
        columns: Those of its columns that are read.

    Raises:
        SourceError: It does.
    """
    if is_reread(engine, table) and _is_unsteady(engine, table, columns):
        raise SourceError(_UNSTEADY)


def is_reread(engine: Engine, table: exp.Table) -> bool:
    """Whether a table is a view whose rows may be read once more to learn whether they stay.

    Files of data, temporary views here, are held while they are read, and elsewhere another reading
    may take as long as all the rest: publishing looks again.
    """
    rows_stay = engine.dialect != DIALECT or table.catalog == "temp"
    return not rows_stay and not engine.tables.is_base_table(table)


def _is_unsteady(engine: Engine, table: exp.Table, read: Iterable[str] | None = None) -> bool:
    """Whether two readings of a view, or of some columns of it, differ, as of one with random()."""
    if engine.tables.is_base_table(table):
        return False
    columns = engine.columns(table)
    if read is not None:
        columns = {name: columns[name] for name in read}
    one, other = (engine.rows(fingerprint(table, columns)) for _ in range(2))
    return one != other
