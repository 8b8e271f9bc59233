"""Folders of a disk or a store of objects, as this program reaches them beside Spark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sqlanon.errors import SourceError


def is_local(address: str) -> bool:
    """Whether an address is a path of this machine."""
    return "://" not in address.removeprefix("file://")


def local_path(address: str) -> Path:
    """The path of an address on this machine."""
    return Path(re.sub("^file:(//)?(?=/)", "", address)).absolute()


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
