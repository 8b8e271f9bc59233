"""Output: results on standard output, everything else on standard error."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import typer

from sqlanon.errors import SqlanonError

from .options import RunOptions
from .terminal import has_colour, page_for, painted

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
_aside: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar(
    "aside", default=nullcontext
)


def show(run: RunOptions, document: Mapping[str, Any], *, text: Callable[[], str]) -> None:
    """Prints a result: as JSON, as text for people, or not at all with --quiet."""
    if run.as_json:
        strict = json.dumps(
            finite(document), indent=2, allow_nan=False, ensure_ascii=not _is_unicode(sys.stdout)
        )
        write(strict)
    elif not run.quiet:
        write(page_on(sys.stdout, text))


def present(
    run: RunOptions, report: Any, command: str, *, search: Mapping[str, Any] | None = None
) -> None:
    """Prints what a command found, and with --verbose how long that took."""
    timings(run, {command: report.seconds}, search=search or {})
    show(run, report.to_dict(), text=report.to_text)


def infos(run: RunOptions, findings: Iterable[Any]) -> None:
    """With --verbose, the findings that are only to be known."""
    if run.verbose:
        for finding in findings:
            if finding.severity == "info":
                complain(f"info: {finding.note}")


def leave_unless(holds: bool) -> None:
    """Ends a command with 1 where something that is asked for does not hold."""
    if not holds:
        raise typer.Exit(1)


def page_on(stream: TextIO, text: Callable[[], str]) -> str:
    """A page as a stream shows it, without control characters of its names."""
    return page_for(stream, text, clean=partial(printable, keep="\n"))


class OutputError(SqlanonError):
    """Standard output is full, or not open: a result could not be printed."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(
            f"standard output cannot be written: {cause.strerror} "
            "(what the command writes elsewhere is written)"
        )


class StandardOutput(io.FileIO):
    """Standard output, whoever prints there; a reader that has gone away is no error.

    Once it fails it takes all and prints nothing: Python flushes again, which must not fail again.
    """

    def write(self, data: Any, /) -> int:
        """Writes bytes.

        Raises:
            OutputError: They cannot be written.
        """
        try:
            return super().write(data)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if isinstance(error, BrokenPipeError):
                return len(data)
            raise OutputError(error) from None


def open_streams() -> None:
    """Makes the standard streams fit for use.

    One that is closed is opened, or the next file would take its place: such an input is empty,
    such an output cannot be written and messages go nowhere. Letters that an encoding lacks are
    written as escapes.
    """
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdout, io.TextIOWrapper):
        raw = StandardOutput(sys.stdout.fileno(), "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            sys.stdout.encoding,
            sys.stdout.errors,
            line_buffering=bool(sys.stdout.line_buffering),
        )


def write(text: str) -> None:
    """Prints on standard output at once."""
    print(text, flush=True)


def say(run: RunOptions, line: str) -> None:
    """Prints a message on standard error, unless --quiet."""
    if not run.quiet:
        complain(line)


@contextmanager
def reporting(run: RunOptions) -> Iterator[None]:
    """While it lasts, notes are told as a command was asked to report."""
    token = _quiet.set(run.quiet)
    try:
        yield
    finally:
        _quiet.reset(token)


def note(line: str) -> None:
    """Prints what the user may not have meant on standard error, unless --quiet."""
    if not _quiet.get():
        complain(f"note: {line}")


def notes(lines: Iterable[str]) -> None:
    """Prints notes as `note` does each."""
    for line in lines:
        note(line)


def complain(line: str) -> None:
    """Prints one line on standard error, whatever it holds."""
    message = f"sqlanon: {printable(line)}"
    tell(painted(message) if has_colour(sys.stderr) else message)


def tell(text: str, end: str = "\n") -> None:
    """Prints on standard error, which is for nothing but the reader's ease and may be full."""
    with aside(), suppress(OSError):
        print(text, end=end, file=sys.stderr, flush=True)


def aside() -> AbstractContextManager[None]:
    """While it lasts, the terminal is free of what is drawn there."""
    return _aside.get()()


@contextmanager
def standing_aside(hidden: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """While it lasts, `aside` hides something that is drawn.

    Args:
        hidden: Hides it while its context lasts.
    """
    token = _aside.set(hidden)
    try:
        yield
    finally:
        _aside.reset(token)


def _is_listed(value: object) -> bool:
    """Whether a value is many, which the page has lines for."""
    return isinstance(value, Mapping) or (
        isinstance(value, Sequence) and not isinstance(value, str)
    )


def timings(run: RunOptions, seconds: Mapping[str, float], *, search: Mapping[str, Any]) -> None:
    """With --verbose, how long each part took and what the search did, its figures alone."""
    if run.verbose:
        parts = [f"{name} {value:.3f} s" for name, value in seconds.items()]
        parts += [f"{name} {value}" for name, value in search.items() if not _is_listed(value)]
        complain(", ".join(parts))


def finite(value: object) -> object:
    """A value for strict JSON: numbers that are not finite become null."""
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


def _is_unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf")
