"""Names of Spark's tables and folders, and how one takes another's place.

Where a format keeps versions, the newest one is read throughout: a view shows it, whatever is
committed meanwhile.
"""

from __future__ import annotations

import itertools
import os
import re
import uuid
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from sqlanon.arguments import kind_of
from sqlanon.engine.base import appeared
from sqlanon.engine.spark.calls import Calls
from sqlanon.engine.spark.folders import (
    ATOMIC,
    FolderDraft,
    folder,
    folder_named,
    format_of,
    is_folder,
    is_local,
    local_path,
    newest_version,
    same,
)
from sqlanon.engine.spark.intermediates import MARK, Noted
from sqlanon.engine.spark.types import with_one_zero
from sqlanon.errors import (
    EngineError,
    MissingTableError,
    SourceError,
    SqlanonError,
    VerificationError,
)

_numbers = itertools.count(1)
_EVERY_ROW = 2**63 - 1
_BUILT_IN = frozenset({"spark_catalog", "sail"})
"""Names of the catalog that Spark or Sail has by itself."""
_LIMITED = re.compile(r"\bLIMIT\s+\d+\s*$")


class SparkTables:
    """The tables of a session's catalogs, and folders of data.

    Args:
        session: Open.
        calls: Its calls.
        notes: Where notes go.
        is_passing: Whether the catalog that Spark has by itself ends with this process, and so
            would a new table of it.
    """

    def __init__(
        self, session: Any, calls: Calls, *, notes: list[str], is_passing: bool = False
    ) -> None:
        self._is_passing, self._notes = is_passing, notes
        self._session, self._call, self._views = session, calls, list[str]()
        self._shown, self._versions = dict[str, exp.Table](), dict[str, int]()
        self._drafts, self._noted = dict[str, FolderDraft](), dict[str, Noted]()

    def resolve(self, table: object) -> exp.Table:
        """The table that a name, a path or a data frame of the session stands for.

        A name is `table`, `schema.table` or `catalog.schema.table`, each part in backticks or not;
        `` format.`path` `` is a folder of data, and so is the path of a folder on this machine.
        Of what has versions it is the newest one by now.

        Raises:
            MissingTableError: There is no such table.
            SourceError: It is no name, or as well a table's as a folder's.
        """
        if isinstance(table, exp.Table):
            return table
        if hasattr(table, "createOrReplaceTempView"):
            return self._view(table)
        if not isinstance(table, str) or not table:
            what = "the name is empty" if table == "" else f"{kind_of(table)} is not a table"
            raise SourceError(f"{what}; give the name of a table, or a DataFrame of the session")
        if not is_local(table) or local_path(table).is_dir():
            if "/" not in table and self._is_known(table):
                raise SourceError(
                    f"{table!r} is a table and a folder; write ./{table} for the folder, or the "
                    "table's name with its schema"
                )
            return self._of_path(table)
        named = _parsed(table)
        if is_folder(named):
            return self._folder(named.db.lower(), named.name)
        if not self.exists(named):
            raise MissingTableError(f"there is no table {table!r} that Spark knows")
        if self._is_view(named):
            return self._read_alike(named)
        if not named.db:
            catalog, schema = self._current()
            named = exp.table_(named.name, db=schema, catalog=catalog, quoted=True)
        return self._pinned(named) or self._read_alike(named)

    def target(self, name: str, source: exp.Table) -> exp.Table:
        """The table that a name for a new table stands for: beside `source` unless it says more.

        It is `source` where the name means that; a path is a folder.

        Raises:
            SourceError: It would be gone with this process, or is a folder that cannot be written.
        """
        original = self._original(source)
        place = folder_named(name) or self._table_named(name, original)
        parts = [[part.name for part in table.parts] for table in (place, original)]
        is_itself = is_folder(place) == is_folder(original) and same(*parts)
        return source if is_itself else place

    def _table_named(self, name: str, original: exp.Table) -> exp.Table:
        place = _parsed(name)
        if not (place.db or not original.db or is_folder(original)):
            catalog = original.catalog or None
            place = exp.table_(place.name, db=original.db, catalog=catalog, quoted=True)
        if self._is_passing and (place.catalog or self._current()[0]) in _BUILT_IN:
            raise SourceError(
                "the catalog of this Spark ends with its session, and a new table would, too; "
                "publish to a folder (--into ./FOLDER), or to a file with output (--output FILE)"
            )
        return place

    def beside(self, table: exp.Table) -> exp.Table:
        """A fresh name in the schema of a table, where others write, too; or beside a folder."""
        table = self._original(table)
        fresh = f"_sqlanon_{uuid.uuid4().hex[:12]}_{next(_numbers)}"
        if is_folder(table):
            kind = "parquet" if self.exists(table) else table.db
            self._drafts[fresh] = FolderDraft(Path(table.name), kind)
            self._notes += self._drafts[fresh].notes
            return exp.table_(fresh, quoted=True)
        return exp.table_(fresh, db=table.db or None, catalog=table.catalog or None, quoted=True)

    def portable(self, table: exp.Table) -> exp.Table:
        """The table or folder by the name that it has everywhere."""
        return self._original(table)

    def write(self, place: exp.Table, text: str) -> None:
        """Makes a table or draft of a query's rows; a killed run leaves nothing of it for good."""
        draft = self._drafts.get(place.name)
        if self._call.is_sail and (draft is None or draft.kind != "parquet"):
            # But for plain files it leaves out an order that does not decide which rows there are.
            text = with_limit(text)
        if draft is None:
            self._note(place)
            self._run(f"CREATE TABLE {_text(place)} AS {text}")
            return
        path = str(draft.path)

        def write() -> None:
            rows = self._session.sql(text)
            rows.write.format(draft.kind).save(path)
            if not draft.is_seen:  # Sail writes no file for no rows
                draft.fill(rows.limit(1).toArrow())

        self._call(write, "write a folder")
        self._view(self._read(folder(draft.kind, path)), place.name)

    def exists(self, table: exp.Table) -> bool:
        """Whether there is a table, view or folder of that name."""
        if is_folder(table):
            return os.path.lexists(table.name)
        text = _text(table)
        is_there: bool = self._call(
            lambda: self._session.catalog.tableExists(text), "look for a table"
        )
        return is_there

    def is_base_table(self, table: exp.Table) -> bool:
        """Whether a name is a table's or a folder's, not a view's."""
        table = self._original(table)
        return self.exists(table) and (is_folder(table) or not self._is_view(table))

    def is_steady(self, table: exp.Table) -> bool:
        """Whether one version of it is read."""
        return table.name in self._versions

    def drop(self, table: exp.Table) -> None:
        """Drops a table or draft that exists."""
        draft = self._drafts.pop(table.name, None)
        if draft is not None:
            draft.discard()
            return
        noted = self._noted.pop(_text(table), None)
        if noted is None:
            self._call.drop_table(_text(table))
        else:
            noted.drop()

    def close(self) -> None:
        """Drops drafts, tables that took no place, and views of paths and data frames."""
        for draft in self._drafts.values():
            draft.discard()
        for noted in self._noted.values():
            with suppress(SqlanonError):
                noted.drop()
        while self._views:
            name = self._views.pop()
            self._call(partial(self._session.catalog.dropTempView, name), "drop a view")

    def replace(self, written: exp.Table, place: exp.Table, *, overwrite: bool) -> None:
        """Gives a table that was written beside a place its name; what stood there is gone.

        Raises:
            SourceError: It cannot be replaced or is not to be, or has changed since it was
                resolved.
            VerificationError: Where a table is copied, what arrives is something else.
        """
        shown, place = place, self._original(place)
        if self.exists(place):
            if not overwrite:
                raise appeared(place)
            self.refuse_fixed(place)
            self._refuse_newer(shown)
            self._overwrite(written, place)
        elif written.name in self._drafts:
            self._drafts[written.name].publish()
        else:
            try:  # both are in one schema, which some catalogs refuse to be told
                self._run(f"ALTER TABLE {_text(written)} RENAME TO {_quoted(place.name)}")
            except SqlanonError:  # without renaming, as Sail is and some catalogs are
                self._copy(written, place)
            if not self.exists(place):
                raise VerificationError("the table is not where it was to be; name another schema")
        self.drop(written)

    def refuse_fixed(self, place: exp.Table) -> None:
        """Refuses a table of a format that cannot be replaced in one step.

        Raises:
            SourceError: A crash in between would leave neither the old one nor the new one.
        """
        place = self._original(place)
        if self._format(place) not in ATOMIC:
            raise SourceError(
                f"{'folder' if is_folder(place) else 'table'} {place.name!r} is there, and cannot "
                "be replaced in one step, as Delta and Iceberg tables can; publish under another "
                "name, then drop it yourself"
            )

    def _overwrite(self, written: exp.Table, place: exp.Table) -> None:
        """Commits the rows of a table as the next version of another, with their columns.

        By a writer, not CREATE OR REPLACE, by which Sail keeps the old types and loses values.
        """
        kind, arrived = self._format(place), place

        def write() -> None:
            copied = self._session.table(_text(written)).write.format(kind).mode("overwrite")
            writer = copied.option("overwriteSchema", "true")
            if is_folder(place):
                writer.save(place.name)
            else:
                writer.saveAsTable(_text(place))

        self._call(write, "publish")
        if is_folder(place):
            arrived = self._view(self._read(place))
        if self._differ(written, arrived):
            raise VerificationError(
                "the version committed is not the one checked; the one before is in its history"
            )

    def _copy(self, written: exp.Table, place: exp.Table) -> None:
        """Writes a table anew under another name; after a failure `close` drops it.

        Others may have made a table of that name meanwhile, so ours has a mark until it is whole.
        """
        mark, name = uuid.uuid4().hex, _text(place)
        self._note(place, mark=mark)
        keys = ", ".join(map(_quoted, self._columns(written)))
        rows = with_limit(f"SELECT * FROM {_text(written)} ORDER BY {keys}")
        self._run(f"CREATE TABLE {name} TBLPROPERTIES ('{MARK}' = '{mark}') AS {rows}")
        if self._differ(written, place):
            raise VerificationError(
                "the table written is not the one checked; nothing is published"
            )
        with suppress(EngineError):  # where a catalog cannot, the mark stays, which says nothing
            self._run(f"ALTER TABLE {name} UNSET TBLPROPERTIES ('{MARK}')")
        self._noted.pop(name).done()

    def _differ(self, one: exp.Table, other: exp.Table) -> bool:
        """Whether two tables hold other rows; of maps, which are not compared, no value counts."""
        first, second = map(_text, (one, other))
        count = f"SELECT (SELECT count(*) FROM {first}) - (SELECT count(*) FROM {second})"
        rows = f"SELECT {', '.join(map(_quoted, self._columns(one, compared=True)))} FROM"
        lost = f"SELECT count(*) FROM ({rows} {first} EXCEPT ALL {rows} {second})"
        asked = lambda: [  # noqa: E731
            self._session.sql(text).collect()[0][0] for text in (count, lost)
        ]
        return any(self._call(asked, "compare tables"))

    def _columns(self, table: exp.Table, *, compared: bool = False) -> list[str]:
        fields = self._call(lambda: self._session.table(_text(table)).schema.fields, "read a table")
        kinds = {field.name: field.dataType.simpleString() for field in fields}
        return [name for name, kind in kinds.items() if not (compared and "map<" in kind)]

    def _note(self, table: exp.Table, *, mark: str = "") -> None:
        """Writes down that a table is made, so that the next run drops it if this one is killed."""
        self._noted[_text(table)] = Noted(self._session, self._call, _text(table), mark=mark)

    def _run(self, text: str) -> None:
        self._call(lambda: self._session.sql(text).toArrow(), "publish a table")

    def _format(self, table: exp.Table) -> str:
        """The format of a table, in small letters."""
        return (
            table.db.lower()
            if is_folder(table)
            else self._call.described(_text(table), "Provider").lower()
        )

    def _is_view(self, table: exp.Table) -> bool:
        entry = self._call(lambda: self._session.catalog.getTable(_text(table)), "describe a table")
        return bool(entry.isTemporary) or "VIEW" in str(entry.tableType).upper()

    def _current(self) -> tuple[str, str]:
        """The catalog and schema in which names of one part stand."""
        text = "SELECT current_catalog(), current_database()"
        row = self._call(lambda: self._session.sql(text).collect()[0], "name its catalog")
        return row[0], row[1]

    def _is_known(self, name: str) -> bool:
        """Whether Spark knows a table of a name, which may be none."""
        with suppress(SourceError):
            return self.exists(_parsed(name))
        return False

    def _original(self, table: exp.Table) -> exp.Table:
        """The table or folder that a view of ours shows, else the table itself."""
        return self._shown.get(table.name, table) if not table.db else table

    def _newest(self, table: exp.Table) -> int | None:
        """The newest version of a table or folder; None where it has none, or tells none."""
        kind = self._format(table)
        if kind not in ATOMIC:
            return None
        if is_folder(table) and is_local(table.name):
            return newest_version(kind, Path(table.name))
        with suppress(EngineError, SourceError):
            text = f"DESCRIBE HISTORY {_text(table)} LIMIT 1"
            rows = self._call(lambda: self._session.sql(text).toArrow(), "tell its history")
            return int(rows["version"][0].as_py())
        place = "" if is_folder(table) else self._call.described(_text(table), "Location")
        return newest_version(kind, local_path(place)) if place and is_local(place) else None

    def _refuse_newer(self, shown: exp.Table) -> None:
        """Refuses to replace a table that has another version than a view of ours shows."""
        version = self._versions.get(shown.name)
        if version is not None and self._newest(self._original(shown)) != version:
            raise SourceError(
                "the table changed while it was read, which its replacement would lose; nothing "
                "is published, so make a new plan"
            )

    def _pinned(self, table: exp.Table) -> exp.Table | None:
        """A view of the newest version of a table; None where it has none."""
        version = self._newest(table)
        if version is None:
            return None
        text = f"SELECT * FROM {_text(table)} VERSION AS OF {version}"
        frame = self._call(lambda: self._session.sql(text), "read a version of a table")
        view = self._view(frame)
        self._shown[view.name], self._versions[view.name] = table, version
        return view

    def _read_alike(self, table: exp.Table) -> exp.Table:
        """A table or view of the catalog; on Sail a view of it, where it has real numbers."""
        if not self._call.is_sail or table.name in self._views:
            return table

        def read() -> Any:
            frame = self._session.table(_text(table))
            return None if with_one_zero(frame) is frame else frame

        frame = self._call(read, "read a table")
        if frame is None:
            return table
        view = self._view(frame)
        self._shown[view.name] = table
        return view

    def _of_path(self, path: str) -> exp.Table:
        """The rows of a folder of data: of Delta, else of Iceberg, else of Parquet files."""
        if is_local(path):
            place = local_path(path).resolve()
            return self._folder(format_of(place), str(place))
        for kind in ("delta", "iceberg"):
            with suppress(EngineError, SourceError):
                return self._folder(kind, path)
        return self._folder("parquet", path)

    def _folder(self, kind: str, path: str) -> exp.Table:
        """The rows of a folder of a format."""
        source = folder(kind, path)
        view = self._pinned(source)
        if view is None:
            view = self._view(self._read(source))
            self._shown[view.name] = source
        return view

    def _read(self, source: exp.Table) -> Any:
        """The rows of a folder, of which the columns are known: what fails does so here."""

        def read() -> Any:
            frame = self._session.read.format(source.db).load(source.name)
            if not frame.schema.fields:
                raise SourceError(f"the folder {source.name!r} holds no files of {source.db}")
            return frame

        return self._call(read, "read a folder of data")

    def _view(self, frame: Any, name: str | None = None) -> exp.Table:
        """A data frame under a name, until the end."""
        name = name or f"_sqlanon_frame_{next(_numbers)}"
        self._views.append(name)
        read = with_one_zero if self._call.is_sail else lambda given: given
        self._call(lambda: read(frame).createOrReplaceTempView(name), "read a DataFrame")
        return exp.table_(name, quoted=True)


def with_limit(text: str) -> str:
    """A query with a limit that leaves no row out, without which Sail leaves its order out.

    >>> with_limit("SELECT 1 LIMIT 2")
    'SELECT 1 LIMIT 2'
    """
    return text if _LIMITED.search(text) else f"{text} LIMIT {_EVERY_ROW}"


def _text(table: exp.Table) -> str:
    """A table's name as Spark reads it."""
    return table.sql("spark", identify=True)


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("spark")


def _parsed(name: str) -> exp.Table:
    """A dotted name in Spark's spelling.

    Raises:
        SourceError: It is none.
    """
    try:
        table = exp.to_table(name, dialect="spark")
    except (ParseError, TokenError):
        raise SourceError(f"{name!r} is not the name of a table") from None
    for part in table.parts:
        part.set("quoted", True)
    return table
