"""Progress: lines that say how far a command is, each with the share of its phase that is done.

Whoever is asked to report installs the function to call (`following`); whatever works says which
phase begins (`tell`) and, where it knows, how much of it is done (`advance`). Nobody hands the
function on, which would be a parameter of every problem and search, and where none is installed,
both cost a look-up. Shares are of what is settled (nodes ruled out, records covered), never of
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

Progress = Callable[[str], None]
"""Receives a line, mostly a `ProgressLine`."""
SHARE_STEP = 0.01
"""By how much a share grows from one line to the next."""


class ProgressLine(str):
    """A line about the progress of a command: a text, and what a progress bar shows.

    Args:
        line: The phase, then what is known of it after a colon: `search: 16 nodes checked`.
        share: How much of the phase is done, 0 to 1; None where nobody can tell.
    """

    __slots__ = ("share",)
    share: float | None

    def __new__(cls, line: str, share: float | None = None) -> ProgressLine:
        """A line with a share, which a text has no place for."""
        made = super().__new__(cls, line)
        made.share = None if share is None else min(max(share, 0.0), 1.0)
        return made

    @property
    def phase(self) -> str:
        """What stands before the colon, or all.

        >>> ProgressLine("search: 16 nodes checked").phase
        'search'
        """
        return self.partition(":")[0]


@dataclass(slots=True)
class _Report:
    """What a receiver was told last.

    Args:
        receive: The receiver.
        line: The last line.
        shown: The last share.
        begin: Where the part of the phase begins that shares are of.
        width: How much of the phase that part is.
    """

    receive: Progress
    line: str = ""
    shown: float = field(default=0.0)
    begin: float = 0.0
    width: float = 1.0


_report: ContextVar[_Report | None] = ContextVar("report", default=None)


@contextmanager
def following(receive: Progress | None) -> Iterator[None]:
    """While it lasts, lines go to a receiver; for None to whoever was there before."""
    if receive is None:
        yield
        return
    token = _report.set(_Report(receive))
    try:
        yield
    finally:
        _report.reset(token)


def tell(line: str, share: float | None = None) -> None:
    """Tells a line.

    Args:
        line: As for `ProgressLine`.
        share: Likewise; that of the line where left out.
    """
    report = _report.get()
    if report is not None:
        share = getattr(line, "share", None) if share is None else share
        report.line, report.shown = line, share or 0.0
        report.receive(ProgressLine(line, share))


def advance(share: float) -> None:
    """Tells the last line again, with the share that is done, where that has grown.

    Args:
        share: Share of the phase, or of the `portion` of it, 0 to 1.
    """
    report = _report.get()
    if report is None:
        return
    done = report.begin + report.width * share
    if done - report.shown >= SHARE_STEP:
        report.shown = done
        report.receive(ProgressLine(report.line, done))


@contextmanager
def portion(begin: float, end: float) -> Iterator[None]:
    """While it lasts, shares are of a part of what they were of before.

    Args:
        begin: Where the part begins, 0 to 1.
        end: Where it ends.
    """
    report = _report.get()
    if report is None:
        yield
        return
    before = report.begin, report.width
    report.begin, report.width = before[0] + before[1] * begin, before[1] * (end - begin)
    try:
        yield
    finally:
        report.begin, report.width = before
