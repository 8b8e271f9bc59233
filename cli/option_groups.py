"""Commands that take groups of options, and help that shows them by purpose."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from sqlanon.errors import PolicyError

from .completion import completer, is_asked
from .options import OUTPUT, RunOptions
from .output import complain, reporting, write

COLUMN = 30
"""Widest names of options beside which their explanation begins [letters]."""


class PanelCommand(TyperCommand):
    """A command whose help shows options by purpose, without rich, which takes long to load."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the words of a command line, each option of one value once at most.

        Raises:
            PolicyError: The last of several would have gone before the others unseen.
        """
        if ctx.resilient_parsing and args and args[-1].startswith("-"):
            args = args[:-1]  # its value is what a shell asks for; without it nothing is read
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        single: list[Any] = [option for option in order if option.param_type_name == "option"]
        twice = [
            option.opts[0]
            for option in dict.fromkeys(single)
            if single.count(option) > 1 and not (option.multiple or option.is_flag)
        ]
        if twice:
            raise PolicyError(f"{' and '.join(twice)} is given twice; keep one of them")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes a section for the arguments and one for each panel of options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                heading = "Arguments" if parameter.param_type_name == "argument" else "Options"
                named = OUTPUT if parameter.name == "help" else heading
                panel = getattr(parameter, "rich_help_panel", None) or named
                panels.setdefault(panel, []).append(record)
        width = min(COLUMN, max(len(name) for rows in panels.values() for name, _ in rows))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl([(f"{name:{width}}", text) for name, text in rows], COLUMN)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Writes the examples as they stand."""
        write_examples(self.epilog, formatter)


class PanelGroup(TyperGroup):
    """A group of commands whose help ends with examples."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Writes the examples as they stand."""
        write_examples(self.epilog, formatter)


def write_examples(epilog: str | None, formatter: Any) -> None:
    """Writes the lines of examples into a help, none of them wrapped."""
    if epilog:
        with formatter.section("Examples, in the folder that sqlanon demo makes"):
            for line in epilog.splitlines():
                formatter.write(f"  {line}\n")


def help_without_command(context: typer.Context) -> None:
    """Prints the help of a group of commands where none of them is named."""
    if context.invoked_subcommand is None:
        write(context.get_help())
        raise typer.Exit


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command for Typer from one that takes groups: each group becomes its options.

    Args:
        command: Its parameters are keyword-only groups: dataclasses whose fields are options, or
            groups in turn; one of them is `RunOptions`.
    """
    groups = get_type_hints(command)
    del groups["return"]

    def run(**values: object) -> None:
        started = time.monotonic()
        taken: dict[str, Any] = {name: _made(group, values) for name, group in groups.items()}
        how = next(group for group in taken.values() if isinstance(group, RunOptions))
        with reporting(how):
            command(**taken)
        if how.verbose:
            complain(f"{command.__name__} took {time.monotonic() - started:.3f} s")

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    parameters = [option for group in groups.values() for option in _options(group)]
    vars(run)["__signature__"] = Signature(parameters)
    return run


def _options(group: Any) -> Iterator[Parameter]:
    """The options of a group, and of the groups in it, as parameters."""
    hints = get_type_hints(group)
    for option in fields(group):
        kind = hints[option.name]
        if is_dataclass(kind):
            yield from _options(kind)
            continue
        info = copy(option.metadata["option"])
        # Typer takes the first name for a default, and would add a switch that says no.
        if kind is bool and not str(info.default).startswith("--"):
            info.param_decls = (*info.param_decls, f"--{option.name.replace('_', '-')}")
        panel = getattr(group, "panel", None)
        info.rich_help_panel = info.rich_help_panel or panel
        if is_asked():  # to look at all completers takes Typer a while
            info.autocompletion = completer(option.name, info.metavar, kind=kind)
        default = option.default
        if option.default_factory is not MISSING:
            default = option.default_factory()
        yield Parameter(
            option.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if default is MISSING else default,
            annotation=Annotated[kind, info],
        )


def _made(group: Any, values: Mapping[str, object]) -> Any:
    """A group of the values of its options, and of the groups in it."""
    hints = get_type_hints(group)
    return group(
        **{
            option.name: _made(hints[option.name], values)
            if is_dataclass(hints[option.name])
            else values[option.name]
            for option in fields(group)
        }
    )
