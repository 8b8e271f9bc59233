"""What a command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from .options import RunOptions

CLEAR = "\r\x1b[K"


def show(run: RunOptions, document: Mapping[str, Any], text: Callable[[], str]) -> None:
    """Prints a result: as JSON, as text for people, or not at all with --quiet.

    Args:
        run: How to report.
        document: The result for programs.
        text: Makes the result for people.
    """
    if run.as_json:
        strict = json.dumps(
            finite(document), indent=2, allow_nan=False, ensure_ascii=not _is_unicode(sys.stdout)
        )
        write(strict)
    elif not run.quiet:
        write(printable(text(), keep="\n"))


def write(text: str) -> None:
    """Prints on standard output; a reader that has gone away is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes once more when it exits, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(run: RunOptions, line: str) -> None:
    """Prints a message on standard error, unless --quiet."""
    if not run.quiet:
        complain(line)


def complain(line: str) -> None:
    """Prints one line on standard error, whatever it holds."""
    print(f"sqlanon: {printable(line)}", file=sys.stderr)


def timings(run: RunOptions, seconds: Mapping[str, float], search: Mapping[str, Any]) -> None:
    """With --verbose, how long each part took and what the search did."""
    if run.verbose:
        parts = [f"{name} {value:.3f} s" for name, value in seconds.items()]
        parts += [f"{name} {value}" for name, value in search.items()]
        complain(", ".join(parts))


@contextmanager
def progress(run: RunOptions) -> Iterator[Callable[[str], None] | None]:
    """A function that shows how far a command is on one line of a terminal, or None.

    The line is gone when the command goes on.
    """
    if run.quiet or not sys.stderr.isatty():
        yield None
        return

    def tell(line: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(CLEAR + printable(line)[:width])
        sys.stderr.flush()

    try:
        yield tell
    finally:
        sys.stderr.write(CLEAR)
        sys.stderr.flush()


def finite(value: object) -> object:
    """The same value for strict JSON: numbers that are not finite become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return value


def printable(text: str, keep: str = "") -> str:
    r"""The text without line breaks and control characters, which names of columns can hold.

    >>> printable("new\nline")
    'new\\nline'
    """
    return "".join(
        letter
        if letter.isprintable() or letter in keep
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def tolerant(stream: TextIO) -> None:
    """Lets a stream write letters that its encoding lacks as escapes instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _is_unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf")
