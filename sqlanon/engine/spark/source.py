"""Opening a table of Spark: of a session, or of one that is begun for it."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from typing import Any

from sqlanon.engine.base import TextDetails, Use
from sqlanon.engine.duckdb.resources import Resources
from sqlanon.engine.duckdb.source import OpenedSource
from sqlanon.errors import SourceError
from sqlanon.wording import listed

_PORT = 15002  # of Spark Connect, where an address names none
_ANSWERED = 10.0  # longest wait for a connection [seconds]
_HOMES = ("pyspark.", "databricks.connect")
SAIL = "sail"
"""The address of an engine in this process that reads Spark's SQL and needs no Java."""
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # it would quote failed statements
}


def is_spark(source: object, engine: str | None) -> bool:
    """Whether a source is a session, or Spark is named; nothing is imported for it."""
    kind = type(source)
    return engine == "spark" or (
        kind.__name__ == "SparkSession" and kind.__module__.startswith(_HOMES)
    )


@contextmanager
def open_spark(
    source: Any,
    table: object,
    *,
    use: Callable[[Sequence[str]], Use],
    engine: str | None = None,
    remote: str | None = None,
    spark_config: Mapping[str, str] | None = None,
    local_rows: int | None = None,
    materialize: str | None = None,
    scratch: str | None = None,
    **limits: Any,
) -> Iterator[OpenedSource]:
    """A table of Spark, until its intermediates are dropped; a session that is given stays open.

    Args:
        source: A session; or the name or the path of a table, where `engine` is named.
        table: A name, a path or a DataFrame of the session.
        use: Called with the columns of the table before it is read; what it raises stops that.
        engine: "spark" where the source is no session.
        remote: The address of a session to begin: `sc://host:port`, "sail", "local[4]"; None for
            the one that Spark finds by itself.
        spark_config: Its settings.
        local_rows: Most rows of an intermediate that goes on in this process.
        materialize: How other intermediates are stored: see `SparkRemote`.
        scratch: Where.
        limits: The arguments of `Resources`, for the embedded database.

    Raises:
        SourceError: There is no such table, or none is named, or no session can be begun.
    """
    # Most tables are in this process.
    from sqlanon.engine.routed import Routed
    from sqlanon.engine.spark.remote import SparkRemote

    of_text = [name for name in TextDetails.__annotations__ if limits.pop(name, None)]
    if of_text:
        raise SourceError(f"{listed(of_text)} are of text files; leave them out for a table")
    if engine is None and (remote is not None or spark_config):
        raise SourceError("a session is open already; leave remote and spark_config out")
    if engine is not None and not (table is None and isinstance(source, str)):
        raise SourceError("with the engine spark the source is the name or path of one table")
    table = table if engine is None else source
    if table is None:
        raise SourceError("a Spark session holds many tables; name one with table")
    began = nullcontext(source) if engine is None else _started(remote, spark_config or {})
    with (
        began as session,
        Resources(**limits).connect() as near,
        closing(
            SparkRemote(
                session, materialize=materialize, scratch=scratch, is_ours=engine is not None
            )
        ) as far,
    ):
        routed = Routed(near, far, local_rows=local_rows)
        chosen = routed.tables.resolve(table)
        use(list(routed.columns(chosen)))
        yield OpenedSource(routed, chosen, None, "remote")


@contextmanager
def _started(remote: str | None, config: Mapping[str, str]) -> Iterator[Any]:
    """A session of our own, which is stopped at the end.

    Raises:
        SourceError: It cannot be begun, or in its place the caller's would be taken.
    """
    try:
        with _quietly():
            from pyspark.sql import SparkSession
    except ImportError:
        missing = "pyspark is not installed; install sqlanon[spark], or sqlanon[sail] without Java"
    else:
        from sqlanon.engine.spark.errors import attempt

        server = None
        if remote == SAIL:
            server, remote = _served()
        by_default = os.environ.get("SPARK_REMOTE", "")
        if remote is None and "://" in by_default:
            remote = by_default
        is_here = remote is None or "://" not in remote
        if remote is not None and not is_here:
            _refuse_unanswered(remote)
            # That of `pyspark.sql` would leave this process to Spark Connect alone.
            with _quietly():
                from pyspark.sql.connect.session import SparkSession  # type: ignore[assignment]
        else:
            _refuse_open(SparkSession)
        builder = SparkSession.builder
        for name, value in {**(_QUIET if is_here else {}), **config}.items():
            builder = builder.config(name, value)
        if remote is not None:
            builder = builder.master(remote) if is_here else builder.remote(remote)
        # Through Spark Connect never one that the caller has open already.
        begin = builder.getOrCreate if is_here else builder.create
        try:
            with _quietly():
                session = attempt(begin, "begin a session")
            if server is not None:
                _keep_interrupts()
            try:
                yield session
            finally:
                session.stop()
        finally:
            if server is not None:
                server.stop()
        return
    raise SourceError(missing)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without warnings of versions of pandas."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _refuse_open(sessions: Any) -> None:
    """Refuses to begin a session of Spark in this process where there is one: it would be taken.

    Raises:
        SourceError: There is one.
    """
    from pyspark.errors import PySparkRuntimeError

    try:
        sessions.active()
    except PySparkRuntimeError:
        return
    raise SourceError(
        "a session of Spark is open in this process; pass it as the source, with table, in place "
        "of the engine"
    )


def _refuse_unanswered(remote: str) -> None:
    """Refuses an address at which nothing listens: a client would ask again and again for minutes.

    Raises:
        SourceError: Nobody answers there.
    """
    # A table of this process, which is most, needs none of these.
    import socket
    from urllib.parse import urlsplit
    from urllib.request import getproxies

    if getproxies():  # by which a client may get where a socket does not
        return
    url = urlsplit(remote)
    try:
        place = url.hostname or "localhost", url.port or _PORT
        with socket.create_connection(place, timeout=_ANSWERED):
            return
    except (OSError, ValueError):
        # Neither a user's name nor a token that stands there.
        address = f"{url.scheme}://{url.netloc.rpartition('@')[2].partition(';')[0]}"
    raise SourceError(f"no server of Spark Connect answers at {address}; see --remote (remote)")


def _keep_interrupts() -> None:
    """Ctrl-C is this process's alone: Sail's server would end by it, and answer to no clean-up."""
    with suppress(ValueError):  # not in the main thread, which alone is interrupted
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))


def _served() -> tuple[Any, str]:
    """A server of Sail in this process, and its address."""
    try:
        from pysail.spark import SparkConnectServer
    except ImportError:
        missing = "pysail is not installed; install sqlanon[sail]"
    else:
        os.environ.setdefault("RUST_LOG", "off")  # its log would quote failed statements
        server = SparkConnectServer()
        server.start(background=True)
        return server, f"sc://localhost:{server.listening_address[1]}"
    raise SourceError(missing)
