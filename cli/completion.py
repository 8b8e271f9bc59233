"""Completion in shells: of commands and options by Typer, of what options take by their metavars.

An option is completed as soon as it is declared, since what stands for its value in the help
(`COLUMN,...`, `METHOD`, `quick|full`) tells what it takes. Columns are asked of the source by a
policy that ends its opening before it is read.

`--show-completion SHELL` prints the script that a shell runs; with it, a shell starts this program
for every word, and the program answers with the words that fit.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlanon.engine.endings import DATA
from sqlanon.errors import SqlanonError

from .output import write

NAME = "sqlanon"
ASKED = "_SQLANON_COMPLETE"
"""The variable by which a shell asks for words."""
WIDTH = "COLUMNS"
"""The variable that says how wide a terminal is."""
SHELLS = ("bash", "zsh", "fish", "powershell")
Words = list[tuple[str, str]]
Completer = Callable[[typer.Context, str], Words]
_ALTERNATIVES = re.compile(r"[a-z][a-z-]*(\|[a-z][a-z-]*)*")
_FILES_OR_TABLES = ("RELEASED", "FILE|TABLE")
"""What stands for a table of the source, or for a file: those are for the shell."""
_SOURCES = ("source", "database")


def is_asked() -> bool:
    """Whether a shell asks for words, not for a command to run."""
    return bool(os.environ.get(ASKED))


def answer(program: typer.Typer) -> None:
    """Tells a shell the words that fit.

    Raises:
        Exit: All is told; fish looks at the code.
    """
    import_module("typer.completion").completion_init()
    width = os.environ.get(WIDTH)
    # What is told of a word is one line: fish would take a second one for a word.
    os.environ[WIDTH] = "1000"
    try:
        typer.main.get_command(program).main(args=[], prog_name=NAME)
    except SystemExit as leave:
        raise typer.Exit(leave.code if isinstance(leave.code, int) else 0) from None
    finally:
        del os.environ[WIDTH]
        if width is not None:
            os.environ[WIDTH] = width


def _shell(value: str) -> str:
    if value not in SHELLS:
        raise typer.BadParameter(f"{value!r} is not known; choose one of {', '.join(SHELLS)}")
    return value


def _show(value: str | None) -> None:
    if value is not None:
        shared = import_module("typer.completion")
        script = shared.get_completion_script(
            prog_name=NAME, complete_var=ASKED, shell=_shell(value)
        )
        write(script)
        raise typer.Exit


def _install(value: str | None) -> None:
    if value is not None:
        shared = import_module("typer.completion")
        _, path = shared.install(shell=_shell(value), prog_name=NAME, complete_var=ASKED)
        write(f"completion is installed in {path}; it works in new terminals")
        raise typer.Exit


ShowCompletion = Annotated[
    str | None,
    typer.Option(
        "--show-completion",
        metavar="|".join(SHELLS),
        callback=_show,
        is_eager=True,
        help=(
            "Print the script with which a shell completes commands, options, methods and columns."
        ),
    ),
]
InstallCompletion = Annotated[
    str | None,
    typer.Option(
        "--install-completion",
        metavar="|".join(SHELLS),
        callback=_install,
        is_eager=True,
        help="Install that script, for all terminals opened from now on.",
    ),
]


def completer(name: str, metavar: str | None, *, kind: Any) -> Completer | None:
    """What completes the value of an option or argument; None where only the user knows it.

    Args:
        name: Its name.
        metavar: What stands for its value.
        kind: Its type.
    """
    metavar = metavar or ""
    if _ALTERNATIVES.fullmatch(metavar):
        return _one_of(lambda: ((word, "") for word in metavar.split("|")))
    if (metavar == "TABLE" and name == "table") or metavar in _FILES_OR_TABLES:
        return _tables
    if metavar.startswith(("COLUMN", "[COLUMN=]")):
        return _columns(name, metavar)
    word, *more = metavar.split(",")
    known = _BY_NAME.get(name) or _BY_METAVAR.get(word)
    if known is not None:
        return _listed(known) if more else _one_of(known)
    return _files if kind in (Path, Path | None, list[Path]) else None


def _one_of(words: Callable[[], Iterable[tuple[str, str]]]) -> Completer:
    def complete(context: typer.Context, incomplete: str) -> Words:
        return [word for word in words() if word[0].startswith(incomplete)]

    return complete


def _listed(words: Callable[[], Iterable[tuple[str, str]]]) -> Completer:
    """Completes the last of several words that commas part."""

    def complete(context: typer.Context, incomplete: str) -> Words:
        before, comma, last = incomplete.rpartition(",")
        named = before.split(",")
        return [
            (f"{before}{comma}{word}", hint)
            for word, hint in words()
            if word.startswith(last) and word not in named
        ]

    return complete


def _files(_context: typer.Context, _incomplete: str) -> Words:
    """No words: then a shell completes the names of files."""
    return []


def _tables(context: typer.Context, incomplete: str) -> Words:
    """Tables of the source."""
    from sqlanon.microdata.stored_hierarchies import table_names  # loads the database

    source, names = _source(context), list[str]()
    if source is not None and not source.lower().endswith(DATA):
        with suppress(SqlanonError, OSError):
            names = table_names(source)
    return [(name, "") for name in _plain(names) if name.startswith(incomplete)]


def _columns(option: str, metavar: str) -> Completer:
    """Columns of the source; with what follows a column where an option takes more."""

    def words(context: typer.Context) -> Words:
        ends = "=" if "=" in metavar and "[=" not in metavar else ""
        kinds = _kinds(option) if metavar.startswith("[") else []
        return [*kinds, *((f"{name}{ends}", "") for name in _columns_of(context))]

    def complete(context: typer.Context, incomplete: str) -> Words:
        known = words(context)
        factory = _listed if metavar == "COLUMN,..." else _one_of
        return factory(lambda: known)(context, incomplete)

    return complete


def _columns_of(context: typer.Context) -> list[str]:
    from sqlanon.microdata.opening import column_names  # loads the database

    source = _source(context)
    if source is None:
        return []
    with suppress(SqlanonError, OSError):
        return _plain(column_names(source, context.params.get("table")))
    return []


def _source(context: typer.Context) -> str | None:
    """The source that the words so far name."""
    named = (context.params.get(name) for name in _SOURCES)
    return next((str(source) for source in named if source), None)


def _plain(names: Sequence[str]) -> list[str]:
    """Names that a shell takes as they are."""
    return [name for name in names if shlex.quote(name) == name]


def _methods() -> Words:
    from sqlanon.methods.registry import AUTO, METHODS

    return [(AUTO, "the method that suits table and policy"), *_guarantees(METHODS)]


def _guarantees(methods: Mapping[str, Any]) -> Words:
    return [(name, row.guarantee) for name, row in methods.items()]


def _losses() -> Words:
    from sqlanon.methods.registry import METHODS

    return [(loss, "") for loss in dict.fromkeys(n for row in METHODS.values() for n in row.losses)]


def _kinds(family: str) -> Words:
    """The kinds of a family of models, as an option begins with them."""
    from sqlanon.policy.privacy import FAMILIES

    return [(f"{kind}:", "") for kind in FAMILIES[family].kinds[1:]] if family in FAMILIES else []


def _figures() -> Words:
    from .comparing import SWEPT

    return [(f"{key}=", "") for key in SWEPT]


def _specs() -> Words:
    return [(word, "") for word in ("suppress", "intervals:", "prefix:", "dates:", "table:")]


_BY_METAVAR: Mapping[str, Callable[[], Words]] = {
    "METHOD": _methods,
    "LOSS": _losses,
    "KEY=VALUE": _figures,
    "SPEC": _specs,
}
"""Words by what stands for the value of an option."""
_BY_NAME: Mapping[str, Callable[[], Words]] = {
    "dialect": lambda: [(name, "") for name in ("duckdb", "postgres", "spark")],
    "scheme": lambda: [(name, "") for name in ("bhs", "ghs", "gsps", "gops", "ops", "sps")],
}
"""Words by the name of an option, where others have the same metavar."""
