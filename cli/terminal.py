"""Terminals: whether a stream is one, how wide it is, and whether it shows colours.

After no-color.org and what other programs do: `NO_COLOR` goes before `FORCE_COLOR`, each counts
where it is not empty, and a terminal of the type `dumb` neither shows colours nor draws.
"""

from __future__ import annotations

import os
from typing import Any, TextIO

USUAL_WIDTH = 80
"""Width of a terminal that does not tell its own [letters]."""
LEAST_WIDTH = 40
"""Width below which no page is fitted to a terminal [letters]."""


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream, which may be closed, goes to a terminal."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def is_dumb() -> bool:
    """Whether the terminal can do nothing but print."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def has_colour(stream: TextIO) -> bool:
    """Whether what is printed on a stream may have colours."""
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return is_terminal(stream) and not is_dumb()


def draws_on(stream: TextIO) -> bool:
    """Whether a line of a stream can be drawn again and again."""
    return is_terminal(stream) and not is_dumb()


def columns_of(stream: TextIO) -> int | None:
    """How many letters a line of a stream may have; None for any number, where it is no terminal.

    `COLUMNS` goes before what the terminal says.
    """
    if not is_terminal(stream):
        return None
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return max(int(told), LEAST_WIDTH)
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # it claims to be a terminal, and is none
        columns = 0
    return max(columns or USUAL_WIDTH, LEAST_WIDTH)


def console_of(stream: TextIO) -> Any:
    """A console of rich that goes by the same rules."""
    from rich.console import Console  # slow to load

    return Console(file=stream, no_color=not has_colour(stream), width=columns_of(stream))
