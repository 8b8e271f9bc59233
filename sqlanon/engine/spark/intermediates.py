"""Where intermediates are stored: they hold originals, so none outlives its run for long.

Folders of this machine are locked folders, which a later run sweeps. What lies elsewhere is written
down in a locked folder before it is made: a later run on this machine that finds the folder's owner
dead clears what it names. No other evidence counts, so a run that lives loses nothing, and what was
left by a machine that is gone stays until somebody drops `_sqlanon_…` by name.
"""

from __future__ import annotations

import json
import re
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlanon.engine.locked_folders import LockedFolder, reclaimed, swept
from sqlanon.engine.spark.calls import Calls, is_connect
from sqlanon.engine.spark.folders import is_local, local_path
from sqlanon.errors import SourceError, SqlanonError

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

PARQUET, TABLE, CHECKPOINT = "parquet", "table", "checkpoint"
MATERIALIZE = (PARQUET, TABLE, CHECKPOINT)
"""How intermediates are stored."""
_PREFIX = "_sqlanon_"
_NOTED = "sqlanon-far-"
_PLACES = "places"
MARK = "sqlanon.run"
"""The property by which a run knows a table of its own under a name that others may use."""
_HERE = "this process"


class Intermediates(Protocol):
    """Intermediates of a session by their names."""

    notes: list[str]

    def write(self, name: str, frame: Any) -> None:
        """Stores the rows of a query."""
        ...

    def frame(self, name: str) -> Any:
        """What is stored, as a data frame."""
        ...

    def files(self, name: str) -> Dataset | None:
        """What is stored, where this program reads the files themselves."""
        ...

    def drop(self, name: str) -> None:
        """Drops what is stored; it may be gone."""
        ...

    def close(self) -> None:
        """Drops everything."""
        ...


def intermediates(
    session: Any,
    calls: Calls,
    *,
    materialize: str | None,
    scratch: str | None,
    is_passing: bool = False,
) -> Intermediates:
    """The place for intermediates, in which killed runs of this machine have left nothing.

    Args:
        session: Open.
        calls: Its calls.
        materialize: One of `MATERIALIZE`; None for files where Spark runs on this machine or
            `scratch` is given, else tables.
        scratch: A folder or the address of one (`s3://…`) that Spark and this program see; for
            tables the schema, which had better be nobody else's.
        is_passing: Whether its catalog ends with this process.

    Raises:
        SourceError: There is no such way or place.
    """
    if materialize not in (None, *MATERIALIZE):
        raise SourceError(f"materialize is one of {', '.join(MATERIALIZE)}, not {materialize!r}")
    reclaimed(_NOTED, lambda folder: _cleared(folder, session, calls))
    if materialize == CHECKPOINT:
        return Checkpoints(session, calls, scratch=scratch)
    if materialize != TABLE and scratch is not None and not is_local(scratch):
        return RemoteFiles(session, calls, scratch=scratch)
    if materialize == PARQUET or (materialize is None and scratch is not None):
        return LocalFiles(session, calls, scratch=scratch)
    if materialize is None and _may_be_here(session, calls):
        try:
            return LocalFiles(session, calls)
        except SourceError:
            pass
    return Tables(session, calls, schema=scratch, is_passing=is_passing)


def cluster(session: Any, calls: Calls) -> str:
    """What tells a cluster and its catalogs from others."""
    address = ""
    if is_connect(session):
        builder = getattr(session.client, "_builder", None)  # the port, too, of tunnels to several
        address = str(getattr(builder, "endpoint", session.client.host))
    names = ("spark.master", "spark.sql.warehouse.dir")
    asked = lambda: [session.conf.get(name, "") for name in names]  # noqa: E731
    return " ".join([address, *map(str, calls(asked, "tell its settings"))])


def _may_be_here(session: Any, calls: Calls) -> bool:
    """Whether Spark may run on this machine; what looks so may be a tunnel to another."""
    if is_connect(session):
        return str(session.client.host) in ("localhost", "127.0.0.1", "::1")
    master = calls(lambda: session.conf.get("spark.master", ""), "tell its master")
    return str(master).startswith("local")


class _Files:
    """Parquet files in a folder that Spark and this program reach; `close` removes it.

    A kind calls `__init__` last, which closes what Spark cannot reach.

    Args:
        session: Open.
        calls: Its calls.
        address: The folder as Spark names it.
        system: Its file system, for this program.
        path: The folder there.

    Raises:
        SourceError: Spark writes elsewhere; the folder is closed.
    """

    def __init__(self, session: Any, calls: Calls, *, address: str, system: Any, path: str) -> None:
        self._session, self._calls, self._address = session, calls, address
        self._system, self._path = system, path
        try:
            self._refuse_unseen()
        except BaseException:
            self.close()
            raise

    def write(self, name: str, frame: Any) -> None:
        """Stores the rows of a query."""
        place, path = self._place(name), f"{self._path}/{name}"
        self._calls(lambda: frame.write.parquet(place, compression="zstd"), "store an intermediate")
        # Sail makes nothing for no rows. A write that outlives its deadline makes no folder anew.
        self._calls(lambda: self._system.create_dir(path), "store an intermediate")

    def frame(self, name: str) -> Any:
        """What is stored, as a data frame."""
        return self._session.read.parquet(self._place(name))

    def files(self, name: str) -> Dataset | None:
        """The files, which may be none for no rows."""
        return _dataset(f"{self._path}/{name}", self._system)

    def drop(self, name: str) -> None:
        """Removes what is stored; it may be gone."""
        deleted(self._system, f"{self._path}/{name}")

    def close(self) -> None:
        """Removes the folder."""
        raise NotImplementedError

    def _place(self, name: str) -> str:
        return f"{self._address}/{name}"

    def _refuse_unseen(self) -> None:
        """Refuses a folder in which Spark does not write what this program reads: it tries."""
        seen = None
        with suppress(SqlanonError):
            self.write("tried", self._session.sql("SELECT 1 AS `one`"))
            seen = self.files("tried")
            self.drop("tried")
        if seen is None or not seen.files:
            raise SourceError(
                "Spark writes no file where sqlanon could read it; name a folder or an address "
                "that both reach with scratch, or choose table for materialize"
            )


class LocalFiles(_Files):
    """Parquet files in a locked folder of this machine, for the owner alone.

    Args:
        session: Open.
        calls: Its calls.
        scratch: The folder around it; None for the system's temporary one.

    Raises:
        SourceError: The folder cannot be made, or Spark writes elsewhere.
    """

    def __init__(self, session: Any, calls: Calls, *, scratch: str | None = None) -> None:
        from pyarrow import fs

        parent = None if scratch is None else local_path(scratch)
        self.notes = swept([parent])
        try:
            self._folder = LockedFolder.make(parent)
        except OSError as error:
            raise SourceError(f"the folder for intermediates: {error.strerror}") from None
        path = str(self._folder.path)
        super().__init__(session, calls, address=path, system=fs.LocalFileSystem(), path=path)

    def close(self) -> None:
        """Removes the folder."""
        self._folder.remove()


class RemoteFiles(_Files):
    """Parquet files in a fresh folder of a store that Spark and this program reach.

    Who may read it is said by the store.

    Args:
        session: Open.
        calls: Its calls.
        scratch: The address of the folder around it.

    Raises:
        SourceError: This program cannot reach it, and so could not clear it; or Spark cannot.
    """

    def __init__(self, session: Any, calls: Calls, *, scratch: str) -> None:
        self.notes = list[str]()
        address = f"{scratch.rstrip('/')}/{_PREFIX}{uuid.uuid4().hex}"
        system, path = reached(address)
        self._noted = _noting()
        _note(self._noted, {"folder": address})
        super().__init__(session, calls, address=address, system=system, path=path)

    def close(self) -> None:
        """Removes the folder; where it stays, the next run tries again."""
        if deleted(self._system, self._path):
            self._noted.remove()


class Tables:
    """Tables `_sqlanon_…` of a schema, which whoever may read that schema may read.

    Args:
        session: Open.
        calls: Its calls.
        schema: In Spark's spelling; None for the current one.
        is_passing: Whether its catalog ends with this process.
    """

    def __init__(
        self, session: Any, calls: Calls, *, schema: str | None, is_passing: bool = False
    ) -> None:
        self._session, self._calls, self.notes = session, calls, list[str]()
        self._run, self._made = uuid.uuid4().hex[:12], set[str]()
        current = "SELECT current_catalog() AS `catalog`, current_database() AS `schema`"
        row = calls(lambda: session.sql(current).toArrow().to_pylist()[0], "name its schema")
        quoted = (f"`{part.replace('`', '``')}`" for part in (row["catalog"], row["schema"]))
        self._schema = schema or ".".join(quoted)
        self._cluster = _HERE if is_passing else cluster(session, calls)
        self._files = f"{_files_of(session, calls, self._schema)}/{_PREFIX}{self._run}_"
        self._noted = _noting()

    def write(self, name: str, frame: Any) -> None:
        """Stores the rows of a query."""
        table = self._table(name)
        _note(self._noted, {"table": table, "cluster": self._cluster, "files": self._files})
        self._made.add(name)
        self._calls(lambda: frame.write.saveAsTable(table), "store an intermediate")

    def frame(self, name: str) -> Any:
        """What is stored, as a data frame."""
        return self._session.table(self._table(name))

    def files(self, name: str) -> Dataset | None:
        """None: a table's files are its format's own."""
        return None

    def drop(self, name: str) -> None:
        """Drops what is stored; it may be gone."""
        if name in self._made:
            self._calls.drop_table(self._table(name))
            self._made.remove(name)

    def close(self) -> None:
        """Drops every table; where one stays, the next run tries again."""
        for name in list(self._made):
            self.drop(name)
        # Sail leaves the folders of dropped tables, Spark files that were written just before.
        if not is_local(self._files) or _clear(self._files):
            self._noted.remove()

    def _table(self, name: str) -> str:
        return f"{self._schema}.`{_PREFIX}{self._run}_{name}`"


class Checkpoints:
    """Rows that Spark keeps on its executors: a run ends with an error where it loses one.

    Args:
        session: Open.
        calls: Its calls.
        scratch: None.

    Raises:
        SourceError: Spark does not clear what it keeps, or a place is given.
    """

    def __init__(self, session: Any, calls: Calls, *, scratch: str | None) -> None:
        if scratch is not None:
            raise SourceError("checkpoints lie on the executors; leave scratch out")
        if calls.is_sail:
            raise SourceError(
                "Sail leaves the files of checkpoints, which hold originals; choose parquet or "
                "table for materialize"
            )
        self._calls, self.notes, self._frames = calls, list[str](), dict[str, Any]()

    def write(self, name: str, frame: Any) -> None:
        """Stores the rows of a query."""
        # Files of a reliable checkpoint stay for good unless the cluster's settings say otherwise.
        kept = self._calls(lambda: frame.localCheckpoint(eager=True), "store an intermediate")
        self._frames[name] = kept

    def frame(self, name: str) -> Any:
        """What is stored, as a data frame."""
        return self._frames[name]

    def files(self, name: str) -> Dataset | None:
        """None: there are none."""
        return None

    def drop(self, name: str) -> None:
        """Lets go of what is stored, so that Spark clears it."""
        self._frames.pop(name, None)

    def close(self) -> None:
        """Lets go of everything."""
        self._frames.clear()


class Noted:
    """A table that is made under a name for a while: a later run drops it if this one is killed.

    Args:
        session: Open.
        calls: Its calls.
        table: Its name, quoted for Spark.
        mark: What its property `MARK` has, where others may use its name.
    """

    def __init__(self, session: Any, calls: Calls, table: str, *, mark: str = "") -> None:
        self._calls, self._table, self._mark = calls, table, mark
        self._folder = _noting()
        entry = {"table": table, "cluster": cluster(session, calls), "mark": mark}
        _note(self._folder, entry)

    def drop(self) -> None:
        """Drops it, where it is there; it is `done`."""
        self._calls.drop_table(self._table, mark=self._mark)
        self.done()

    def done(self) -> None:
        """It is gone, or where it belongs."""
        self._folder.remove()


def _dataset(place: str, system: Any) -> Dataset:
    """Files that Spark wrote; instants are microseconds, which Spark may write as nanoseconds."""
    from pyarrow import dataset

    reading = dataset.ParquetReadOptions(coerce_int96_timestamp_unit="us")
    kind = dataset.ParquetFileFormat(read_options=reading)
    return dataset.dataset(place, format=kind, filesystem=system)


def _clear(files: str) -> bool:
    """Removes folders of tables, to whose names engines add; whether they are seen to be gone."""
    from pyarrow import fs

    place, _, name = files.rpartition("/")
    try:
        system, path = reached(place)
        entries = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
    except (SqlanonError, OSError):
        return False
    return all(deleted(system, e.path) for e in entries if e.base_name.startswith(name))


def _files_of(session: Any, calls: Calls, schema: str) -> str:
    """The address of the folder of a schema's tables; by default as Spark names it."""
    place = ""
    with suppress(SqlanonError):
        text = f"DESCRIBE SCHEMA {schema}"
        rows = calls(lambda: session.sql(text).collect(), "describe a schema")
        place = next((row[1] for row in rows if row[0] == "Location"), "")
    place = place or "spark-warehouse"
    return str(local_path(place)) if is_local(place) else place.rstrip("/")


def _noting() -> LockedFolder:
    """A locked folder for notes of what is made elsewhere."""
    try:
        return LockedFolder.make(None, _NOTED)
    except OSError as error:
        raise SourceError(f"the temporary folder of this machine: {error.strerror}") from None


def _note(folder: LockedFolder, entry: dict[str, str]) -> None:
    """Writes down what is about to be made elsewhere."""
    try:
        with (folder.path / _PLACES).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
    except OSError as error:
        raise SourceError(f"the temporary folder of this machine: {error.strerror}") from None


def _cleared(folder: Path, session: Any, calls: Calls) -> bool:
    """Clears what a dead run had written down; whether all of it is gone."""
    try:
        lines = (folder / _PLACES).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return True
    entries = [json.loads(line) for line in lines]
    left = [entry for entry in entries if not _is_gone(entry, session, calls)]
    # A catalog that ended with the run knows its tables no more.
    files = {entry["files"] for entry in entries if "files" in entry}
    return not left and all(_clear(path) for path in files)


def _is_gone(entry: dict[str, str], session: Any, calls: Calls) -> bool:
    try:
        if "folder" in entry:
            return deleted(*reached(entry["folder"]))
        if entry["cluster"] not in (_HERE, cluster(session, calls)):
            return False
        if entry["cluster"] != _HERE:
            calls.drop_table(entry["table"], mark=entry.get("mark", ""))
    except SqlanonError:
        return False
    return True


def reached(address: str) -> tuple[Any, str]:
    """The store of an address, and the path in it.

    Raises:
        SourceError: This program knows no such store, or has no right to it.
    """
    from pyarrow import fs

    try:
        if is_local(address):
            return fs.LocalFileSystem(), str(local_path(address))
        # Spark's other names for the same store are unknown to Arrow.
        system, path = fs.FileSystem.from_uri(re.sub("^s3[an]://", "s3://", address))
        system.get_file_info(path)
    except Exception as error:
        kind = type(error).__name__
    else:
        return system, path
    raise SourceError(
        f"sqlanon cannot reach {address!r} ({kind}), and so could not clear it; give this process "
        "the rights for it, or name a place that it reaches"
    )


def is_there(system: Any, path: str) -> bool:
    """Whether something has a path."""
    from pyarrow import fs

    return bool(system.get_file_info(path).type != fs.FileType.NotFound)


def deleted(system: Any, path: str) -> bool:
    """Removes a folder; whether it is gone."""
    try:
        if is_there(system, path):
            system.delete_dir(path)
    except OSError:
        return False
    return True
