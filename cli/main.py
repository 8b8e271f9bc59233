"""The program: its commands, and what becomes of errors."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer

from sqlanon.errors import SqlanonError

from .completion import InstallCompletion, ShowCompletion, answer, is_asked
from .examples import EXAMPLES
from .failures import INTERRUPTED, LeaveAtOnce, document, wants_json
from .option_groups import PanelCommand, PanelGroup, grouped, help_without_command
from .output import OutputError, complain, open_streams, tell, write

BUG = 3
# Typer exports this class in recent versions only; it is the base of one that it always does.
_UsageError: Any = typer.BadParameter.__mro__[1]
# Messages of these speak of code; those of any other may quote values of a table.
_ABOUT_CODE = (AttributeError, ImportError, NameError, TypeError)

_COMMANDS = {
    "demo": ("publishing", "Make up a census, anonymize it and show the result."),
    "init": ("init", "Draft a policy.toml with roles, their reasons and hierarchies."),
    "check": ("reading", "Report which privacy models a table satisfies as it stands."),
    "plan": ("publishing", "Find the recoding that loses least and show what it costs."),
    "apply": ("publishing", "Carry out a saved plan and verify the published table."),
    "anonymize": (
        "publishing",
        "Plan and apply in one: publish a table anonymized and verified.",
    ),
    "rewrite": ("publishing", "Copy a database into a fresh file, without its deleted data."),
    "verify": ("reading", "Check a release against the manifest that was written with it."),
    "measure": ("reading", "Measure what a release has lost against its original."),
    "mine": ("reading", "Count or list the generalized itemsets of k records or more."),
    "bound": ("reading", "Prove what any k-anonymization loses at least, by any method."),
    "compare": ("comparing", "Show the results of several methods side by side."),
    "risk": ("reading", "Report how easily people can be recognized in a table."),
    "lint": ("reading", "Find what a release gives away besides: order, columns, file, database."),
    "report": ("reading", "Write a report on a release for a data protection officer."),
    "hierarchy": (
        "hierarchies",
        "Show, check, make and store hierarchies: how a column's values are generalized.",
    ),
}
"""Per command its module and, for the list of commands, how its help begins."""


def program(words: Sequence[str] | None = None) -> typer.Typer:
    """The program, with the commands that are among the words, or with all of them.

    Taking up all commands and their options takes a short one half of its time, so a command that
    no word names is nothing but its line in the list of commands.
    """
    made = typer.Typer(
        name="sqlanon",
        help=(
            "Anonymize tables in DuckDB, files, Spark and PostgreSQL, by k-anonymity, l-diversity, "
            "t-closeness and other privacy models, and verify the models on the published table."
        ),
        add_completion=False,
        cls=PanelGroup,
        epilog=EXAMPLES[""],
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    )
    made.callback(invoke_without_command=True)(_root)
    for name, (module, line) in _COMMANDS.items():
        if words is not None and name not in words:
            made.command(name, help=line)(lambda: None)
            continue
        home = import_module(f".{module}", __package__)
        if name == "hierarchy":
            made.add_typer(home.commands, name=name)
        else:
            made.command(cls=PanelCommand, epilog=EXAMPLES[name])(grouped(getattr(home, name)))
    return made


def run(words: Sequence[str]) -> None:
    """Runs the program on these words and ends the process with its exit code."""
    _run(lambda: status(words))


def run_all(commands: Iterable[Sequence[str]]) -> None:
    """Runs commands one after the other and ends the process with their highest exit code."""
    _run(lambda: max(map(_run_titled, commands), default=0))


def _run_titled(words: Sequence[str]) -> int:
    """Runs a command, and says first which file it is about."""
    tell(f"{words[1]}:")
    return status(words)


def _run(work: Callable[[], int]) -> None:
    """Does the work of a process and ends it with the exit code that comes of it."""
    # Syntax trees are many small objects; the default threshold costs a plan a tenth of its time.
    gc.set_threshold(200_000)
    # Nothing here multiplies matrices, and the waiting threads of numpy's library take a core from
    # the database while a short command starts.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_streams()
    code = INTERRUPTED
    try:
        _listen()
        code = work()
    except KeyboardInterrupt:  # one more, while the first one was told
        complain("interrupted")
    # All is closed by now; taking the interpreter apart would only cost time.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _listen() -> None:
    """Lets signals interrupt a run: it must leave no spill file behind, however it is ended."""
    if isinstance(signal.getsignal(signal.SIGINT), LeaveAtOnce):
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # `nohup` ignores the second one.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def status(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit code; every error has become a message."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if not is_asked():
            _invoke(words)
        else:
            answer(program())
    except typer.Exit as leave:
        return leave.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(words)
    except OutputError as error:
        complain(f"error: {error}")
        return error.exit_code
    except (SqlanonError, _UsageError) as error:
        known = isinstance(error, SqlanonError)
        kind = type(error).__name__ if known else "UsageError"
        message = str(error) if known else error.format_message()  # type: ignore[union-attr]
        complain(f"error: {message}")
        return _failed(words, kind, message=message, code=error.exit_code)
    except Exception as error:
        # Before Python 3.12, one that comes while a class is made is wrapped.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _interrupted(words)
        report_bug(error)
        return _failed(
            words, "Bug", message="this is a bug of sqlanon; standard error says where", code=BUG
        )
    return 0


def _invoke(words: Sequence[str]) -> None:
    """Runs the command that the words name."""
    command = typer.main.get_command(program(words))
    with command.make_context("sqlanon", list(words)) as context:
        command.invoke(context)


def _interrupted(words: Sequence[str]) -> int:
    """Says that the run was interrupted; its exit code."""
    complain("interrupted")
    return _failed(words, "Interrupted", message="interrupted", code=INTERRUPTED)


def _failed(words: Sequence[str], kind: str, *, message: str, code: int) -> int:
    """Prints the JSON document of a run that failed, where one is asked for."""
    if wants_json(words):
        with suppress(OutputError):  # standard error has told what went wrong
            write(document(kind, message, code=code))
    return code


def report_bug(error: BaseException) -> None:
    """Prints where an unexpected error came from, without any value that it may quote."""
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.insert(0, step)
        step = step.__cause__ or step.__context__
    for link in chain:
        tell("Traceback (most recent call last):")
        for line in traceback.format_tb(link.__traceback__):
            tell(line, end="")
        message = (
            str(link) if isinstance(link, _ABOUT_CODE) else "(not shown: it may quote the table)"
        )
        complain(f"{type(link).__name__}: {message}")
    complain("error: this is a bug of sqlanon; please report it with the lines above")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # slow to import, and only this needs it

        write(f"sqlanon {version('sqlanon')}")
        raise typer.Exit


def _root(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    _show: ShowCompletion = None,
    _install: InstallCompletion = None,
) -> None:
    help_without_command(context)
