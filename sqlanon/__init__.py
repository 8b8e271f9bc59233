"""sqlanon: anonymize tables where they live.

Names are loaded when they are first used, so that a program which needs few of them starts fast.
Likewise slow libraries are imported where they are used: a plan loads duckdb, sqlglot and numpy
alone, and answers of a search are fetched as tuples, without pyarrow.
Type checkers read in `__init__.pyi` which there are and where they live, and so does this module.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # not from typing, which is slow to load and not always needed
    from typing import Any


def _homes() -> dict[str, str]:
    """The module of each name, from lines `from module import name as name`."""
    loader: Any = __spec__.loader  # reads from an archive, too
    lines = loader.get_data(f"{__file__.rpartition('.')[0]}.pyi").decode().splitlines()
    return {name: home for _, home, _, _, _, name in map(str.split, lines)}


_HOMES = _homes()
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
