"""What a page of the documentation shows, carried out in order as a reader would do it.

Blocks of `console` hold commands after `$ ` with what they print: `…` stands for whatever varies,
alone in a line for any number of lines. Those of `python` and `sql` are executed, what a block of
`output` below says is what they print, and a block with a title is a file of that name.

Libraries that run blocks make each a test of its own, which may run in another process although it
depends on the one before, and none compares what a command prints with what the page shows.
"""

from __future__ import annotations

import io
import json
import re
import runpy
import shlex
import shutil
import textwrap
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import duckdb

from sqlanon import Policy
from sqlanon.cli.main import status

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?: +title=\"(?P<title>[^\"]+)\")?[^\n]*\n"
    r"(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
SHOWN_ONLY = ("text", "mermaid")
"""Languages of blocks that show formulas and layouts: nothing can be carried out there."""
INCLUDED = "--8<-- "
"""What begins a block that shows a file of the repository, which has tests of its own."""
SEARCH_KEYS = ("method", "loss", "patterns", "scheme", "direction")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str | None
    text: str
    line: int


def blocks_of(page):
    """The fenced blocks of a page in order, without the indentation of what they stand in."""
    return [
        Block(
            found["language"],
            found["title"],
            textwrap.dedent(found["text"]),
            page.count("\n", 0, found.start()) + 1,
        )
        for found in FENCE.finditer(page)
    ]


def commands_of(text):
    """The commands of a console block, each with the lines that it prints."""
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append([line[2:], []])
        elif commands and commands[-1][0].endswith("\\") and not commands[-1][1]:
            commands[-1][0] = commands[-1][0][:-1] + line.strip()
        else:
            commands[-1][1].append(line)
    return commands


def agrees(expected, printed):
    """Whether a text is what was expected, with `…` for whatever varies."""
    lines = [
        r"(?:[^\n]*\n)*?" if line.strip() == "…" else _line(line) + r"[ ]*\n"
        for line in expected.rstrip().splitlines()
    ]
    bare = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    return re.fullmatch("".join(lines), bare) is not None


def _line(line):
    return "[^\n]*?".join(map(re.escape, line.rstrip().split("…")))


class Reader:
    """Somebody who does what a page says, in the working directory.

    Args:
        run: What carries out a command of sqlanon: from its words to an exit code.
    """

    def __init__(self, run=status):
        self.run = run
        self.names = {"__name__": "__main__"}
        self.printed = ""
        self.code = 0

    def read(self, page):
        """Does everything that a page shows.

        Raises:
            AssertionError: Something is not as it is shown; the message says where.
        """
        for block in blocks_of(page):
            try:
                self.follow(block)
            except Exception as error:
                error.add_note(f"block of {block.language} in line {block.line}")
                raise

    def follow(self, block):
        """Does what a block shows."""
        if block.language in SHOWN_ONLY or block.text.startswith(INCLUDED):
            return
        if block.title is not None:
            Path(block.title).write_text(block.text, "utf-8")
        known = {
            "console": self._console,
            "python": self._python,
            "output": self._output,
            "sql": self._sql,
            "toml": _policy,
            "json": json.loads,
            "csv": lambda _: None,
            "yaml": lambda _: None,
        }
        if block.language in ("csv", "yaml"):
            assert block.title is not None, "a file needs a title"
        if not (block.title and block.language == "python"):
            known[block.language](block.text)

    def _console(self, text):
        self._close()
        commands = commands_of(text)
        following = [line for line, _ in commands[1:]] + [""]
        for (line, expected), after in zip(commands, following, strict=True):
            self.printed = self._carried_out(line)
            shown = "\n".join(expected).strip("\n")
            assert not shown or agrees(shown, self.printed), f"$ {line}\n{self.printed}"
            if after != "echo $?":
                assert self.code == 0, f"$ {line}\nexits with {self.code}\n{self.printed}"

    def _carried_out(self, line):
        words = shlex.split(line)
        target = words[words.index(">") + 1] if ">" in words else None
        program, *arguments = words[: words.index(">")] if target else words
        if (program, arguments) == ("echo", ["$?"]):
            printed, self.code = f"{self.code}\n", 0
            return printed
        printed, told = io.StringIO(), io.StringIO()
        with redirect_stdout(printed), redirect_stderr(told if target else printed):
            self.code = (
                self.run(arguments) if program == "sqlanon" else PROGRAMS[program](arguments)
            )
        if target is not None:
            Path(target).write_text(printed.getvalue(), "utf-8")
            return told.getvalue()
        return printed.getvalue()

    def _python(self, text):
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(text, "<page>", "exec"), self.names)
        self.printed = printed.getvalue()

    def _sql(self, text):
        with duckdb.connect("census.duckdb") as connection:
            found = [connection.sql(each) for each in connection.extract_statements(text)]
            self.printed = "".join(f"{rows}\n" for rows in found if rows is not None)

    def _output(self, text):
        assert agrees(text, self.printed), self.printed

    def _close(self):
        """Closes databases that examples have left open, as the end of their program would."""
        for value in self.names.values():
            if isinstance(value, duckdb.DuckDBPyConnection):
                value.close()


def _policy(text):
    """Reads a policy, without what it says of the search."""
    document = tomllib.loads(text)
    Policy.from_dict(
        {key: value for key, value in document.items() if key not in SEARCH_KEYS}, Path.cwd()
    )


def _copy(words):
    shutil.copy(*words)
    return 0


def _show(words):
    for name in words:
        print(Path(name).read_text("utf-8"), end="")
    return 0


def _first_lines(words):
    _, number, name = words
    print(*Path(name).read_text("utf-8").splitlines()[: int(number)], sep="\n")
    return 0


def _change_folder(words):
    import os

    os.chdir(*words)
    return 0


def _list_files(words):
    print(*sorted(path.name for path in Path(*words).iterdir()), sep="  ")
    return 0


def _run_script(words):
    runpy.run_path(words[0], run_name="__main__")
    return 0


PROGRAMS = {
    "cp": _copy,
    "cat": _show,
    "head": _first_lines,
    "cd": _change_folder,
    "ls": _list_files,
    "python": _run_script,
    "source": lambda words: 0 if words == [".venv/bin/activate"] else 1,
}
