"""Folders of data: what a path stands for, its newest version, and one written beside its place.

They lie on a disk or in a store of objects, which this program reaches beside Spark.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engine.locked_folders import HIDDEN, LockedFolder, swept, sync, usual_mode
from sqlanon.errors import SourceError

if TYPE_CHECKING:
    import pyarrow

FORMATS = frozenset({"parquet", "delta", "iceberg", "orc", "csv", "json"})
"""Formats of folders that are read; a folder is a table named so, in whose schema stands one."""
ATOMIC = frozenset({"delta", "iceberg"})
"""Formats that keep versions, and so are replaced in one step."""
_WRITTEN = ("parquet", "delta")
_NAMED = re.compile(r"`?(\w+)`?\.`(.+)`")


def is_local(address: str) -> bool:
    """Whether an address is a path of this machine."""
    return "://" not in address.removeprefix("file://")


def local_path(address: str) -> Path:
    """The path of an address on this machine."""
    return Path(re.sub("^file:(//)?(?=/)", "", address)).absolute()


def folder(kind: str, path: str) -> exp.Table:
    """A folder as a table, by the name that Spark reads."""
    return exp.table_(path, db=kind, quoted=True)


def is_folder(table: exp.Table) -> bool:
    """Whether a table is a folder."""
    return table.db.lower() in FORMATS and not table.catalog


def folder_named(name: str) -> exp.Table | None:
    """The folder that a name for a new table stands for: a path, or `` format.`path` ``; else None.

    Raises:
        SourceError: It is in a store of objects, which give no folder another name in one step, or
            there is no folder around it, or its format cannot be written so.
    """
    named = _NAMED.fullmatch(name)
    kind, address = (named[1].lower(), named[2]) if named else ("", name)
    if kind not in (FORMATS if named else {""}) or "/" not in address or "`" in address:
        return None
    if not is_local(address):
        raise SourceError(
            "a release goes to a folder that Spark and this machine see; for a store of objects "
            "name a table whose files lie there"
        )
    path = local_path(address)
    if not path.parent.is_dir():
        raise SourceError(f"there is no folder {str(path.parent)!r} to publish in")
    kind = kind or format_of(path)
    if kind not in _WRITTEN and not (kind in ATOMIC and path.exists()):
        raise SourceError(
            f"a new folder is published as Parquet or Delta, not as {kind}; name another format, "
            "or a table of Spark's catalog"
        )
    return folder(kind, str(path.resolve()))


def format_of(path: Path) -> str:
    """The format of a folder, by what is in it."""
    marks = {"_delta_log": "delta", "metadata": "iceberg"}
    return next((kind for mark, kind in marks.items() if (path / mark).is_dir()), "parquet")


def newest_version(kind: str, path: Path) -> int | None:
    """The version that whoever reads a folder now gets; None where it has none."""
    with suppress(OSError, ValueError, KeyError):
        if kind == "delta":
            commits = (path / "_delta_log").glob("*.json")
            return max(int(commit.stem) for commit in commits if commit.stem.isdigit())
        if kind == "iceberg":
            newest = int((path / "metadata" / "version-hint.text").read_text("utf-8"))
            written = (path / "metadata" / f"v{newest}.metadata.json").read_text("utf-8")
            return int(json.loads(written)["current-snapshot-id"])
    return None


class FolderDraft:
    """A folder that is written beside its place, where only its owner can read it.

    It lies in a locked folder, which the next run there sweeps if this one is killed.

    Args:
        place: Its place.
        kind: Its format.

    Attributes:
        kind: Its format.
        path: Where it is until `publish`.
        notes: What killed runs had left there.

    Raises:
        SourceError: Nothing can be written beside the place.
    """

    def __init__(self, place: Path, kind: str) -> None:
        self.kind, self._place, self.notes = kind, place, swept([place.parent])
        try:
            self._folder = LockedFolder.make(place.parent, HIDDEN)
        except OSError as error:
            raise SourceError(f"the folder {str(place.parent)!r}: {error.strerror}") from None
        self.path = self._folder.path / "draft"

    @property
    def is_seen(self) -> bool:
        """Whether what Spark wrote is here."""
        return any(self.path.rglob("*.parquet"))

    def fill(self, rows: pyarrow.Table) -> None:
        """Writes a file of no rows, for which Sail writes none.

        Raises:
            SourceError: There are rows, so Spark wrote them elsewhere.
        """
        from pyarrow import parquet

        if rows.num_rows:
            raise SourceError(
                f"Spark writes nothing that this machine sees in {str(self._place.parent)!r}; name "
                "a folder that both see, or a table"
            )
        self.path.mkdir(exist_ok=True)
        parquet.write_table(rows, self.path / "part-00000.parquet")

    def publish(self) -> None:
        """Gives the folder its name in one step, once it is safe on the disk.

        Raises:
            SourceError: Something of that name has appeared meanwhile, or it cannot be renamed.
        """
        try:
            written = [self.path, *self.path.rglob("*")]
            mode = usual_mode(self._place)
            for path in written:
                path.chmod(mode | (mode >> 2 & 0o111 if path.is_dir() else 0))
                sync(path)
            if os.path.lexists(self._place):
                reason = "it is there by now"
            else:
                self.path.rename(self._place)
                with suppress(OSError):
                    sync(self._place.parent)
                return
        except OSError as error:
            reason = str(error.strerror)
        finally:
            self.discard()
        raise SourceError(f"the folder {str(self._place)!r}: {reason}; nothing is published")

    def discard(self) -> None:
        """Removes what was written; after `publish` it does nothing."""
        self._folder.remove()


def same(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two names mean one table, of which one may leave out the catalog."""
    names = [[part.lower() for part in reversed(name)] for name in (one, other)]
    return all(first == second for first, second in zip(*names, strict=False))
