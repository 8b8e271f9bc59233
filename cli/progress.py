"""Progress on a terminal: the phase, its share and the time left, gone when the command goes on.

Rich draws, and is loaded by what outlasts a moment alone. A command only leaves what it was told
last; a thread of its own draws that a few times a second, so that telling costs a search nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any

from sqlanon.progress import ProgressLine

from .options import RunOptions
from .output import printable, standing_aside
from .terminal import console_of, draws_on

SHOWN_AFTER_SECONDS = 1.0
"""What a command takes at least to be shown [seconds]."""
REDRAWN = 0.25
"""Time between two drawings [seconds]."""
BAR_LETTERS = 24
"""Width of the bar [letters]."""


@contextmanager
def progress(run: RunOptions, line: str = "starting") -> Iterator[Callable[[str], None] | None]:
    """A function that shows how far a command is on one line of a terminal, or None.

    There is none with --quiet, for --json and where standard error is no terminal.

    Args:
        run: How the command reports.
        line: What is shown until the function is called.
    """
    if run.quiet or run.as_json or not draws_on(sys.stderr):
        yield None
        return
    bar = _Bar(ProgressLine(line))
    with standing_aside(bar.hidden):
        bar.thread.start()
        try:
            yield bar.tell
        finally:
            bar.end()


def reported(
    function: Callable[..., Any], given: Any, *others: Any, run: RunOptions, **asked: Any
) -> Any:
    """What a function of the library makes of a source, its progress shown meanwhile.

    Args:
        function: The function.
        given: The source: a group of options with `source`, `table` and `text`.
        others: What the function takes besides by place.
        run: How the command reports.
        asked: What it takes by name.
    """
    opening = run.opening(given.text)
    with progress(run) as tell:
        return function(given.source, *others, table=given.table, progress=tell, **asked, **opening)


@dataclass(slots=True)
class _Bar:
    """What is drawn, and whether it is.

    Args:
        line: What was told last.
    """

    line: str
    ended: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)
    drawn: Any = None
    phase: str = ""
    thread: Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = Thread(target=self._draw, name="progress", daemon=True)

    def tell(self, line: str) -> None:
        """Takes in what the next drawing shows."""
        self.line = line

    def end(self) -> None:
        """Removes what is drawn for good."""
        self.ended.set()
        self.thread.join()
        with self.lock:
            if self.drawn is not None:
                self.drawn.stop()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """While it lasts, nothing is drawn: somebody else writes to the terminal."""
        with self.lock:
            if self.drawn is not None:
                self.drawn.stop()
            try:
                yield
            finally:
                if self.drawn is not None and not self.ended.is_set():
                    self.drawn.start()

    def _draw(self) -> None:
        """Draws until the end, from the time on when a command has taken long enough."""
        pause = SHOWN_AFTER_SECONDS
        while not self.ended.wait(pause):
            pause = REDRAWN
            with self.lock:
                if self.drawn is None:
                    self.drawn = _made()
                    self.drawn.start()
                self._show(self.line)

    def _show(self, line: str) -> None:
        """Draws a line; a phase that is another one has its own share and its own time."""
        phase, _, detail = line.partition(":")
        share, [task] = getattr(line, "share", None), self.drawn.tasks
        if phase != self.phase or (share or 0.0) < task.completed:  # it begins anew
            self.phase = phase
            self.drawn.reset(task.id)
        task.total = None if share is None else 1.0  # `update` leaves a total where none is given
        self.drawn.update(
            task.id,
            description=printable(phase),
            completed=share or 0.0,
            detail=printable(detail.strip()),
        )
        self.drawn.refresh()


def _made() -> Any:
    """What draws a phase, its share, the time left of it and what is known of it besides."""
    from rich import progress as drawing  # slow to load, and short commands show nothing
    from rich.table import Column
    from rich.text import Text

    class Bar(drawing.BarColumn):
        """The share of a phase as a bar, where there is one."""

        def render(self, task: Any) -> Any:
            """The bar, or nothing: the spinner tells that work goes on."""
            return Text("") if task.total is None else super().render(task)

    class Share(drawing.ProgressColumn):
        """The share of a phase, where there is one, and its time."""

        def render(self, task: Any) -> Any:
            """The share as `42%` with the time left, or the time that the phase has taken."""
            if task.total is None:
                return Text(f"{_clock(task.elapsed or 0.0)} so far", style="progress.elapsed")
            text = Text(f"{int(task.percentage)}%", style="progress.percentage")
            if task.time_remaining is not None:
                text.append(f"  {_clock(task.time_remaining)} left", style="progress.remaining")
            return text

    detail = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    made = drawing.Progress(
        drawing.SpinnerColumn(),
        drawing.TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
        Bar(BAR_LETTERS),
        Share(table_column=Column(no_wrap=True)),
        drawing.TextColumn("{task.fields[detail]}", markup=False, table_column=detail),
        console=console_of(sys.stderr),
        auto_refresh=False,
        transient=True,
        expand=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    made.add_task("", total=None, detail="")
    return made


def _clock(seconds: float) -> str:
    """A time as clocks show it.

    >>> _clock(75), _clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
