"""Progress on a terminal: when it is drawn, what it shows, and that nothing stays."""

import io
import re
import time
from contextlib import contextmanager, redirect_stderr

import pytest
from cli_options import Terminal

from sqlanon.cli import output
from sqlanon.cli import progress as drawing
from sqlanon.cli.options import RunOptions
from sqlanon.progress import ProgressLine


@pytest.fixture
def terminal(monkeypatch):
    """Standard error as a terminal of 80 columns, on which progress is drawn at once."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(drawing, "SHOWN_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(drawing, "REDRAWN", 0.005)
    return Terminal()


@contextmanager
def drawn_on(stream, **run):
    """Progress of a command whose standard error is a stream."""
    with redirect_stderr(stream), drawing.progress(RunOptions(**run)) as tell:
        yield tell


def shown(terminal, line):
    """What is drawn while a line is the last one told."""
    with drawn_on(terminal) as tell:
        tell(line)
        begun = time.monotonic()
        while line.phase not in terminal.getvalue() and time.monotonic() < begun + 5:
            time.sleep(0.005)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())


def test_a_phase_is_drawn_with_its_share_and_what_is_known(terminal):
    drawn = shown(terminal, ProgressLine("mining: 12 itemsets so far", 0.42))
    assert re.search(r"mining\s+━+[╸╺ ]?━*\s+42%.*12 itemsets so far", drawn)


def test_without_a_share_there_is_no_bar_but_the_time(terminal):
    drawn = shown(terminal, ProgressLine("reading: the table"))
    assert re.search(r"reading\s+0:00 so far\s+the table", drawn)
    assert "━" not in drawn.rpartition("reading")[2]


def test_nothing_stays_on_the_terminal(terminal):
    shown(terminal, ProgressLine("mining: 12 itemsets so far", 0.42))
    ended = terminal.getvalue()
    assert ended.endswith("\x1b[2K")
    assert ended.rfind("\x1b[?25h") > ended.rfind("\x1b[?25l")  # the cursor is back


def test_a_line_is_no_wider_than_the_terminal(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    drawn = shown(terminal, ProgressLine("mining: " + "many itemsets " * 20, 0.1))
    assert max(map(len, re.split(r"[\r\n]", drawn))) <= 50


def test_control_characters_of_a_line_are_not_sent(terminal):
    assert "\x1b]" not in (shown(terminal, ProgressLine("search: \x1b]0;title\x07", 0.5)))
    assert "\x07" not in terminal.getvalue()


def test_messages_are_told_above_what_is_drawn(terminal):
    with drawn_on(terminal) as tell:
        tell(ProgressLine("mining: 12 itemsets", 0.5))
        while "mining" not in terminal.getvalue():
            time.sleep(0.005)
        output.complain("something")
    assert re.search(r"\x1b\[2Ksqlanon: something\n", terminal.getvalue())


@pytest.mark.parametrize("run", [{"quiet": True}, {"as_json": True}])
def test_nobody_who_asks_for_less_sees_it(terminal, run):
    with drawn_on(terminal, **run) as tell:
        assert tell is None


def test_no_progress_is_drawn_where_nothing_can_be_drawn(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    with drawn_on(terminal) as tell:
        assert tell is None
    with drawn_on(io.StringIO()) as tell:
        assert tell is None


def test_without_colours_it_is_drawn_all_the_same(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    shown(terminal, ProgressLine("mining: 12 itemsets so far", 0.42))
    assert "mining" in terminal.getvalue()
    assert not re.search(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", terminal.getvalue())


def test_a_command_that_takes_a_moment_loads_nothing(terminal, monkeypatch):
    monkeypatch.setattr(drawing, "SHOWN_AFTER_SECONDS", 60.0)
    with drawn_on(terminal) as tell:
        tell(ProgressLine("mining: 12 itemsets", 0.5))
    assert terminal.getvalue() == ""
