"""Pages on a terminal: their width and colours, and that there are none elsewhere."""

import io
import re
from contextlib import redirect_stderr, redirect_stdout

import pytest
from cli_options import Terminal

from sqlanon.cli import output
from sqlanon.cli.main import status
from sqlanon.cli.options import RunOptions
from sqlanon.cli.terminal import has_colour
from sqlanon.wording import fitting, in_columns, padded, width_of

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    """An ordinary terminal of 80 columns."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("stream", "variables", "expected"),
    [
        (Terminal, {}, True),
        (io.StringIO, {}, False),
        (Terminal, {"NO_COLOR": "1"}, False),
        (Terminal, {"NO_COLOR": ""}, True),
        (Terminal, {"TERM": "dumb"}, False),
        (io.StringIO, {"FORCE_COLOR": "1"}, True),
        (Terminal, {"FORCE_COLOR": "0"}, False),
        (Terminal, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (Terminal, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_are_shown_where_they_are_wanted(monkeypatch, stream, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert has_colour(stream()) is expected


def checked(stream, folder, *words):
    """What checking a small table prints on a stream."""
    path = folder / "people.csv"
    path.write_text("age,a long name of a column\n1,x\n1,x\n2,y\n2,z\n")
    with redirect_stdout(stream), redirect_stderr(io.StringIO()):
        status(["check", str(path), *words])
    return stream.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(("k", "verdict", "code"), [(2, "holds", 32), (3, "does NOT hold", 31)])
def test_a_verdict_is_said_in_words_and_coloured(tmp_path, k, verdict, code):
    words = ("--qi", "age", "--k", str(k))
    shown = checked(Terminal(), tmp_path, *words)
    assert re.search(rf"k-anonymity {k} \x1b\[{code}m\x1b\[1m{verdict}\x1b\[0m: ", shown)
    assert COLOUR.sub("", shown).startswith("4 records in 2 classes by age\n")
    assert "\x1b" not in checked(io.StringIO(), tmp_path, *words)
    assert "\x1b" not in checked(Terminal(), tmp_path, *words, "--json")


@pytest.mark.slow
def test_lines_are_no_wider_than_the_terminal(tmp_path, monkeypatch):
    words = ("--qi", "age", "--sensitive", "a long name of a column", "--k", "2")
    monkeypatch.setenv("COLUMNS", "50")
    narrow = COLOUR.sub("", checked(Terminal(), tmp_path, *words))
    wide = checked(io.StringIO(), tmp_path, *words)
    assert max(map(len, narrow.splitlines())) <= 50 < max(map(len, wide.splitlines()))
    assert set(narrow.split()) == set(wide.split())  # a table may be parted


def test_errors_and_notes_are_coloured_on_a_terminal_alone():
    for stream, is_coloured in ((Terminal(), True), (io.StringIO(), False)):
        with redirect_stderr(stream):
            output.complain("error: no")
            output.note("something")
        assert ("\x1b" in stream.getvalue()) is is_coloured
        assert COLOUR.sub("", stream.getvalue()) == "sqlanon: error: no\nsqlanon: note: something\n"


def test_control_characters_of_names_are_not_sent():
    stream = Terminal()
    with redirect_stdout(stream):
        output.show(RunOptions(), {}, text=lambda: "title\nname \x1b[31m of a column")
    assert "\\x1b[31m" in stream.getvalue()


def test_wide_letters_count_twice_in_columns():
    rows = [["名前", "1"], ["age", "20"]]
    assert in_columns(rows, "<>") == ["  名前   1", "  age   20"]
    assert [width_of(line) for line in in_columns(rows, "<>")] == [10, 10]
    assert padded("é", 3) == "é  "
    assert padded("e\u0301", 3) == "e\u0301  "


ROWS = [
    ["column", "first", "second", "what it is like"],
    ["age", "1", "22", "a text of many words"],
]


def test_a_table_that_fits_is_one_table():
    with fitting(80):
        assert len(in_columns(ROWS, "<>><")) == 2
    assert in_columns(ROWS, "<>><") == [
        "  column  first  second  what it is like",
        "  age         1      22  a text of many words",
    ]


def test_a_long_last_text_goes_on_below_itself():
    rows = [["column", "text"], ["age", "word " * 20]]
    with fitting(50):
        lines = in_columns(rows, "<<")
    assert max(map(len, lines)) <= 48
    assert all(line.startswith(" " * 10 + "word") for line in lines[2:])
    assert " ".join(lines).split() == ["column", "text", "age", *["word"] * 20]


def test_columns_without_room_follow_below_beside_the_first():
    heads = ["method", *(f"figure {number}" for number in range(6))]
    with fitting(40):
        lines = in_columns([heads, ["forest", *"123456"]], "<" + ">" * 6)
    assert max(map(len, lines)) <= 38
    assert [line.split()[0] for line in lines if line] == ["method", "forest"] * 2
    assert "" in lines
    assert " ".join(lines).split() == [
        *["method", "figure", "0", "figure", "1", "figure", "2", "forest", "1", "2", "3"],
        *["method", "figure", "3", "figure", "4", "figure", "5", "forest", "4", "5", "6"],
    ]
