"""Locked folders: what is spilled or half written lies there, and none is left for good.

A folder is for its owner alone and holds a file that is locked for as long as its process lives:
the system lets go of the lock however that ends, `kill -9` included. So whoever can lock the file
knows that the folder is dead. What is half-made is never touched, nor what another user owns.
Without such locks (Windows, some network disks) nothing is swept. Process numbers would tell less:
they are given anew and differ between containers. DuckDB's encryption of spilled data would leave
nothing to read, but took 2.3 to 3.8 times as long in one rough measurement, and its own library
calls it unsafe.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlanon.wording import counted

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

VISIBLE, HIDDEN = "sqlanon-tmp-", ".sqlanon-tmp-"
OWNER = ".sqlanon-owner"
# Earlier versions left "tmp-" out, and people name folders like that: those need an owner's file.
_NAME = re.compile(r"\.?sqlanon-(tmp-)?[a-z0-9_]{8}")
_ABANDONED = 3600
"""Age from which an empty folder without an owner's file is no longer in the making [s]."""


@dataclass(frozen=True, slots=True)
class LockedFolder:
    """A folder that only its owner can read, until `remove`.

    Args:
        path: The folder.
        lock: The descriptor whose lock says that its owner lives; None where there are no locks.
    """

    path: Path
    lock: int | None

    @classmethod
    def make(cls, parent: str | Path | None = None, prefix: str = VISIBLE) -> LockedFolder:
        """A new folder.

        Args:
            parent: Where; None is the system's temporary directory.
            prefix: `VISIBLE`, or `HIDDEN` beside the user's files.

        Raises:
            OSError: It cannot be made.
        """
        place = Path(tempfile.gettempdir() if parent is None else parent).absolute()
        while True:
            # Named before it is made, so that an interruption while it is made leaves none behind.
            path = place / f"{prefix}{os.urandom(4).hex()}"
            try:
                path.mkdir(mode=0o700)
                folder = cls._owned(path)
            except FileExistsError:  # another one
                continue
            except BaseException:  # an interruption, too
                _remove(path)
                raise
            if folder is not None:
                return folder

    @classmethod
    def _owned(cls, path: Path) -> LockedFolder | None:
        """A folder with its owner's file, locked; None where a sweep took it away meanwhile."""
        owner = os.open(path / OWNER, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is None:
            os.close(owner)
            return cls(path, None)
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (path / OWNER).exists():
                return cls(path, owner)
        except BlockingIOError:
            pass
        except OSError:  # a disk without locks, on which none is swept either
            return cls(path, owner)
        os.close(owner)
        return None

    def remove(self) -> None:
        """Removes the folder and all in it, though interrupted; a second time it does nothing."""
        try:
            _remove(self.path)
        except KeyboardInterrupt:
            _remove(self.path)
            raise
        if self.lock is not None:
            with suppress(OSError):
                os.close(self.lock)


@contextmanager
def locked_folder(parent: str | Path | None = None, prefix: str = VISIBLE) -> Iterator[Path]:
    """The path of a `LockedFolder` for as long as it lasts."""
    folder = LockedFolder.make(parent, prefix)
    try:
        yield folder.path
    finally:
        folder.remove()


@dataclass(frozen=True, slots=True)
class DraftFile:
    """A text that is written beside its target, where only its owner can read it, until `publish`.

    Until then the target stays as it was, whatever goes wrong. Who follows a link gets the new one.

    Args:
        folder: A locked folder beside the target.
        target: The file that it becomes, links resolved.
    """

    folder: LockedFolder
    target: Path

    @classmethod
    def make(cls, target: Path, text: str) -> DraftFile:
        """Writes a text beside its target.

        Raises:
            OSError: It cannot be written; nothing is left of it.
        """
        target = target.resolve()
        draft = cls(LockedFolder.make(target.parent, HIDDEN), target)
        try:
            draft.fill(text)
        except BaseException:
            draft.discard()
            raise
        return draft

    def fill(self, text: str) -> None:
        """Writes a text over the one before, and waits until it is on the disk.

        Raises:
            OSError: It cannot be written.
        """
        file = self.folder.path / self.target.name
        file.write_text(text, encoding="utf-8", newline="\n")
        sync(file)

    def publish(self, mode: int | None = None) -> None:
        """Gives the file its name, and some rights; None for those of the one before or usual ones.

        Raises:
            OSError: The name cannot be given; the draft is gone all the same.
        """
        file = self.folder.path / self.target.name
        try:
            take_place(file, self.target, usual_mode(self.target) if mode is None else mode)
        finally:
            self.discard()

    def discard(self) -> None:
        """Removes what is not published."""
        self.folder.remove()


def write_private(target: Path, text: str) -> list[str]:
    """Writes a file for its owner alone, in place of an old one in one step: see `DraftFile`.

    What is no file but a device or a pipe is written to.

    Returns:
        What `swept` says of its folder.
    """
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return []
    notes = swept([target.resolve().parent])
    DraftFile.make(target, text).publish(0o600)
    return notes


def write_file(target: Path, text: str) -> None:
    """Writes a file in place of an old one in one step, with that one's rights or usual ones."""
    DraftFile.make(target, text).publish()


def take_place(draft: Path, target: Path, mode: int) -> None:
    """Gives a finished file the name of another in one step, with these rights."""
    draft.chmod(mode)
    draft.replace(target)
    # The file has its name by now, whether or not the disk can be told to remember it at once.
    with suppress(OSError):
        sync(target.parent)


def usual_mode(target: Path) -> int:
    """The rights of the file that is replaced, or those that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def sync(path: Path) -> None:
    """Waits until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal figures."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def swept(parents: Iterable[str | Path | None]) -> list[str]:
    """Removes locked folders whose owner is dead; returns a sentence for each place that had some.

    Args:
        parents: Where to look; None is the system's temporary directory.
    """
    places = {Path(tempfile.gettempdir() if one is None else one).absolute() for one in parents}
    counts = {place: _sweep(place) for place in sorted(places)}
    return [
        f"{counted(count, 'folder')} that a killed run had left in {str(place)!r} "
        f"{'was' if count == 1 else 'were'} removed"
        for place, count in counts.items()
        if count
    ]


def reclaimed(prefix: str, clears: Callable[[Path], bool]) -> None:
    """Removes dead folders of a prefix, which `swept` does not know, from the system's place.

    Args:
        prefix: Of folders that name what lies elsewhere.
        clears: Clears what a dead folder names; whether all of it is gone, else the folder stays.
    """
    _sweep(Path(tempfile.gettempdir()), re.compile(re.escape(prefix) + "[a-z0-9_]{8}"), clears)


def _sweep(
    parent: Path,
    names: re.Pattern[str] = _NAME,
    clears: Callable[[Path], bool] = lambda _: True,
) -> int:
    """Removes the dead folders of one place; returns how many there were."""
    try:
        with os.scandir(parent) as entries:
            mine = [
                Path(entry.path)
                for entry in entries
                if names.fullmatch(entry.name)
                and entry.is_dir(follow_symlinks=False)
                and _is_mine(entry.stat(follow_symlinks=False))
            ]
    except OSError:
        return 0
    return sum(_is_swept(path, clears) for path in mine)


def _is_mine(status: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and status.st_uid == os.geteuid()


def _is_swept(path: Path, clears: Callable[[Path], bool]) -> bool:
    """Removes a folder if its owner is surely dead; whether it did."""
    if fcntl is None:
        return False
    try:
        owner = os.open(path / OWNER, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return _is_abandoned(path)
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if clears(path):
            _remove(path)
        return not path.exists()
    except OSError:
        return False
    finally:
        os.close(owner)


def _is_abandoned(path: Path) -> bool:
    """Removes an empty folder whose owner died while making it; whether it did."""
    with suppress(OSError):
        status = path.stat(follow_symlinks=False)
        is_ours = path.name.startswith((VISIBLE, HIDDEN)) and stat.S_IMODE(status.st_mode) == 0o700
        if is_ours and time.time() - status.st_mtime > _ABANDONED:
            path.rmdir()
            return True
    return False


def _remove(path: Path) -> None:
    """Removes a folder, its owner's file last: without that no later run knew it for its own."""
    with suppress(OSError):
        for entry in [one for one in path.iterdir() if one.name != OWNER]:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with suppress(OSError):
                    entry.unlink()
        if [one.name for one in path.iterdir()] == [OWNER]:
            (path / OWNER).unlink()
        path.rmdir()
