"""The program: its commands, and what becomes of errors."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

from sqlanon.errors import SqlanonError

from . import demo, hierarchies, tables
from .grouping import help_without_command
from .output import complain, tolerant

BUG = 3
INTERRUPTED = 130
# Typer exports this class in recent versions only; it is the base of one that it always does.
_UsageError: Any = typer.BadParameter.__mro__[1]
# Messages of these speak of code; those of any other may quote values of a table.
_ABOUT_CODE = (AttributeError, ImportError, NameError, TypeError)

commands = typer.Typer(
    name="sqlanon",
    help="Anonymize tables where they live: k-anonymity by SQL inside DuckDB, proved on the "
    "published table.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
demo.add(commands)
tables.add(commands)
commands.add_typer(hierarchies.commands, name="hierarchy")


def app(arguments: Sequence[str] | None = None) -> None:
    """Runs the program and exits with its status.

    Args:
        arguments: What stands behind the program's name; those of the process where left out.
    """
    # Syntax trees are many small objects; the default threshold costs a plan a tenth of its time.
    gc.set_threshold(200_000)
    # Ended politely, a run must leave no spill file behind, as after Ctrl-C.
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
    tolerant(sys.stdout)
    tolerant(sys.stderr)
    code = status(arguments)
    # All is closed by now; taking the interpreter apart would only cost time.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def status(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit code; every error has become a message."""
    command = typer.main.get_command(commands)
    try:
        code = command.main(
            args=None if arguments is None else list(arguments),
            prog_name="sqlanon",
            standalone_mode=False,
        )
        code = code if isinstance(code, int) else 0
    except SqlanonError as error:
        complain(f"error: {error}")
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort) as error:
        code = INTERRUPTED
        for note in getattr(error, "__notes__", ()):
            complain(note)
    except _UsageError as error:
        complain(f"error: {error.format_message()}")
        return int(error.exit_code)
    except Exception as error:
        report_bug(error)
        return BUG
    if code == INTERRUPTED:
        complain("interrupted")
    return code


def report_bug(error: BaseException) -> None:
    """Prints where an unexpected error came from, without any value that it may quote."""
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.insert(0, step)
        step = step.__cause__ or step.__context__
    for link in chain:
        print("Traceback (most recent call last):", file=sys.stderr)
        for line in traceback.format_tb(link.__traceback__):
            print(line, end="", file=sys.stderr)
        told = str(link) if isinstance(link, _ABOUT_CODE) else "(not shown: it may quote the table)"
        complain(f"{type(link).__name__}: {told}")
    complain("error: this is a bug of sqlanon; please report it with the lines above")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # slow to import, and only this needs it

        print(f"sqlanon {version('sqlanon')}")
        raise typer.Exit


@commands.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    help_without_command(context)
