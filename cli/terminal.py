"""Terminals: how wide a stream is and whether it has colours, and pages that fit it.

After no-color.org and what other programs do: `NO_COLOR` goes before `FORCE_COLOR`, each counts
where it is not empty, and a terminal of the type `dumb` neither shows colours nor draws.

Colours only repeat what words say. What goes to a file or another program has neither: reports make
plain texts, tables alone are told the width by a context (`wording.fitting`), since only they know
their columns, and all else is folded and coloured here, line by line, from words that stand there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

import typer

from sqlanon.wording import FAILS, HOLDS, fitting, width_of

USUAL_WIDTH = 80
"""Width of a terminal that does not tell its own [letters]."""
LEAST_WIDTH = 40
"""Width below which no page is fitted to a terminal [letters]."""
MOST_INDENT = 20
"""Most letters that a line goes on below, where it begins with a label."""
_LABEL = re.compile(r"\s*\S+(?: \S+)?\s{2,}")
_STYLES: tuple[tuple[re.Pattern[str], Mapping[str, Any]], ...] = (
    (re.compile(rf"(?<=\S ){HOLDS}(?=[:;,.]|$)"), {"fg": "green", "bold": True}),
    (re.compile(rf"(?<=\S ){FAILS}(?=[:;,.]|$)"), {"fg": "red", "bold": True}),
    (re.compile(r"^(?:sqlanon: )?note:"), {"fg": "yellow"}),
    (re.compile(r"^(?:sqlanon: )?error:"), {"fg": "red", "bold": True}),
    (re.compile(r"(?<=  )#+\.*(?=  |$)"), {"fg": "cyan"}),
)
"""What is coloured in a line, and how."""


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
    setting = os.environ.get("COLUMNS", "")
    if setting.isdecimal() and int(setting):
        return max(int(setting), LEAST_WIDTH)
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # it claims to be a terminal, and is none
        columns = 0
    return max(columns or USUAL_WIDTH, LEAST_WIDTH)


def console_of(stream: TextIO) -> Any:
    """A console of rich that goes by the same rules."""
    from rich.console import Console  # slow to load

    return Console(file=stream, no_color=not has_colour(stream), width=columns_of(stream))


def page_for(stream: TextIO, make: Callable[[], str], *, clean: Callable[[str], str]) -> str:
    """A page as a stream shows it.

    Args:
        stream: Where it goes.
        make: Makes it.
        clean: Takes control characters out of it.
    """
    width = columns_of(stream)
    with fitting(width):
        text = clean(make())
    lines = text.split("\n")
    if width is not None:
        lines = [part for line in lines for part in folded(line, width)]
    if has_colour(stream):
        first = [typer.style(lines[0], bold=True)] if lines[0] else lines[:1]
        lines = [*first, *map(painted, lines[1:])]
    return "\n".join(lines)


def painted(line: str) -> str:
    """A line with its verdict, its kind or its bar in colours."""
    for pattern, style in _STYLES:
        line = pattern.sub(lambda match, style=style: typer.style(match[0], **style), line)  # type: ignore[misc]
    return line


def folded(line: str, width: int) -> Iterator[str]:
    """The parts of a line that are no wider than a terminal, the later ones indented.

    >>> list(folded("note: one two three", 12))
    ['note: one', '  two three']
    """
    if width_of(line) <= width:
        yield line
        return
    from textwrap import wrap  # slow to import, and most lines are short

    label = _LABEL.match(line)
    indent = len(line) - len(line.lstrip()) + 2
    if label is not None and len(label[0]) <= MOST_INDENT:
        indent = len(label[0])
    yield from wrap(
        line,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
