"""Which sources are PostgreSQL's, and a connection to a URL; psycopg is loaded for one alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlanon.engine.base import TextDetails, Use
from sqlanon.engine.duckdb.resources import Resources
from sqlanon.engine.duckdb.source import OpenedSource
from sqlanon.errors import EngineError, SourceError, SqlanonError
from sqlanon.wording import listed

if TYPE_CHECKING:
    from sqlanon.engine.postgres.connection import PostgresRemote

ENGINE = "postgres"
"""Its name, where a source is the name of a table."""
SCHEMES = ("postgresql://", "postgres://")
"""How a URL of a database begins."""


def recognised(source: object) -> bool:
    """Whether a source is a connection of psycopg, or a URL of PostgreSQL.

    Raises:
        SourceError: It is a connection of psycopg that answers asynchronously.
    """
    if isinstance(source, str):
        return source.startswith(SCHEMES)
    names = {
        parent.__name__
        for parent in type(source).__mro__
        if parent.__module__.partition(".")[0] == "psycopg"
    }
    if "AsyncConnection" in names:
        raise SourceError("an asynchronous connection is not read; give one of psycopg.connect")
    return "Connection" in names


def shown(url: str) -> str:
    """A URL for people: server and database alone, neither user nor password.

    >>> shown("postgresql://me:secret@db.example:5432/health?sslmode=require")
    'postgresql://db.example:5432/health'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "postgresql://..."
    return f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"


def is_postgres(source: object, engine: str | None) -> bool:
    """Whether a source is `recognised`, or PostgreSQL is named."""
    return engine == ENGINE or recognised(source)


@contextmanager
def open_postgres(
    source: Any,
    table: object,
    *,
    use: Callable[[Sequence[str]], Use],
    engine: str | None = None,
    remote: str | None = None,
    local_rows: int | None = None,
    **limits: Any,
) -> Iterator[OpenedSource]:
    """A table of PostgreSQL, until temporaries are dropped; a connection that is given stays open.

    Args:
        source: An open connection or a URL; or the name of a table, where `engine` is named.
        table: The name of a table.
        use: Called with the columns of the table before it is read; what it raises stops that.
        engine: "postgres" where the source is a table.
        remote: The URL of its database then.
        local_rows: Most rows of an intermediate that goes on in this process.
        limits: The arguments of `Resources`, for the embedded database.

    Raises:
        EngineError: psycopg is missing, or the connection is of no use.
        SourceError: There is no such table, none is named, the URL is none, or nobody answers.
    """
    from sqlanon.engine.routed import Routed  # most tables are in this process

    others = [*TextDetails.__annotations__, "spark_config", "materialize", "scratch"]
    given = [name for name in others if limits.pop(name, None)]
    if given:
        raise SourceError(f"{listed(given)} say nothing of a table of PostgreSQL; leave them out")
    if engine is not None and not recognised(source):
        if remote is None:
            raise SourceError("a table of PostgreSQL needs the URL of its database as remote")
        if table is not None or not isinstance(source, str):
            raise SourceError("with the engine postgres the source is the name of one table")
        source, table = remote, source
    elif remote is not None:
        raise SourceError("the source is a database already; leave remote out")
    if table is None:
        raise SourceError("a database of PostgreSQL holds many tables; name one with table")
    with Resources(**limits).connect() as near, closing(_far(source)) as far:
        routed = Routed(near, far, local_rows=local_rows)
        chosen = routed.tables.resolve(table)
        use(list(routed.columns(chosen)))
        yield OpenedSource(routed, chosen, None, "remote")


def _far(source: Any) -> PostgresRemote:
    if isinstance(source, str):
        return connected(source)
    from sqlanon.engine.postgres.connection import PostgresRemote

    return PostgresRemote(source)


def connected(url: str) -> PostgresRemote:
    """A connection to a URL, which `close` closes.

    Raises:
        EngineError: psycopg is missing, or the connection is of no use.
        SourceError: The URL is none, or nobody answers there.
    """
    try:
        import psycopg

        from sqlanon.engine.postgres.connection import PostgresRemote
        from sqlanon.engine.postgres.errors import fault
    except ImportError:
        raise EngineError(
            "PostgreSQL needs psycopg; install it with: pip install 'sqlanon[postgres]'"
        ) from None
    action = f"connect to {shown(url)!r}"
    try:
        connection = psycopg.connect(url, autocommit=True, client_encoding="UTF8")
    except psycopg.ProgrammingError:
        failed: SqlanonError = SourceError("the URL of PostgreSQL cannot be read as one")
    except psycopg.Error as error:
        failed = fault(error, action)
        if error.sqlstate is None:
            failed = SourceError(
                f"PostgreSQL could not {action}: no server answers there, or it does not let that "
                f"user in ({type(error).__name__})"
            )
    else:
        try:
            return PostgresRemote(connection, is_ours=True)
        except BaseException:
            connection.close()
            raise
    raise failed
