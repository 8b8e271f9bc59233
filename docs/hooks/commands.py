"""A page for each command, as its own help has it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import typer

from sqlanon.cli.main import program

_PLACEHOLDER = re.compile(r"(?<![`\w])(--[a-z][a-z-]*)(?![\w`-])")


@cache
def pages() -> dict[str, str]:
    """A page by the name of each command, the list of all of them first."""
    root = typer.main.get_command(program())
    found = dict(every(root, ()))
    index = [
        "# Commands\n",
        "Every command reads `sqlanon COMMAND SOURCE [TABLE] [options]`. What each prints is for "
        "people; with `--json` it is one [JSON document](../json.md). These pages are made from "
        "the program itself, as `sqlanon COMMAND --help` is. `python -m sqlanon` is the same "
        "program.\n",
        "| command | does |\n|---|---|",
        *(
            f"| [`sqlanon {name}`]({_file(name)}.md) | {_first(command)} |"
            for name, command in found.items()
        ),
        "",
        "## Exit codes\n",
        "| code | means |\n|---|---|",
        "| 0 | done, and every model holds |",
        "| 1 | it ran, but the table does not satisfy the policy, no recoding can, a verification "
        "failed, or a time limit ended before there was a result: nothing is published |",
        "| 2 | wrong usage, policy or input: one line on standard error, nothing is written |",
        "| 3 | a bug of sqlanon |",
        "| 130 | interrupted |",
        "",
    ]
    return {
        "index": "\n".join(index),
        **{_file(name): _page(name, command) for name, command in found.items()},
    }


def _file(name: str) -> str:
    return name.replace(" ", "-")


def every(command: Any, path: tuple[str, ...]) -> Any:
    """Every command that does something, by the words that call it."""
    for name, inner in getattr(command, "commands", {}).items():
        if hasattr(inner, "commands"):
            yield from every(inner, (*path, name))
        else:
            yield " ".join((*path, name)), inner


def _first(command: Any) -> str:
    return _cell((command.help or "").strip().split("\n\n")[0])


def _cell(text: str) -> str:
    """A text in a table: an option's name is code."""
    text = " ".join(text.split()).replace("|", "\\|")
    return _PLACEHOLDER.sub(r"`\1`", text).replace("<", "&lt;").replace("*", "\\*")


def _page(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=f"sqlanon {name}")
    usage = " ".join(command.collect_usage_pieces(context)[1:]).replace("{", "").replace("}", "")
    parts = [
        f"# sqlanon {name}\n",
        "\n\n".join(
            _PLACEHOLDER.sub(r"`\1`", " ".join(part.split()))
            for part in (command.help or "").split("\n\n")
        ),
        f"\n```text\nsqlanon {name} {usage} [options]\n```\n",
    ]
    for panel, parameters in _panels(command, context).items():
        what = parameters[0].param_type_name
        parts.append(f"## {panel}\n\n| {what} | meaning |\n|---|---|")
        parts += [f"| {_names(each, context)} | {_text(each)} |" for each in parameters]
        parts.append("")
    if command.epilog:
        parts.append(f"## Examples\n\n```text\n{command.epilog.strip()}\n```\n")
    return "\n".join(parts)


def _panels(command: Any, context: Any) -> dict[str, list[Any]]:
    """Arguments and options by the heading that they stand below in the help."""
    panels: dict[str, list[Any]] = {}
    for each in command.get_params(context):
        if each.get_help_record(context) is not None and each.name != "help":
            own = "Arguments" if each.param_type_name == "argument" else "Options"
            panels.setdefault(getattr(each, "rich_help_panel", None) or own, []).append(each)
    return panels


def _names(parameter: Any, context: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.make_metavar(context)}`"
    names = ", ".join(f"`{each}`" for each in reversed(parameter.opts))
    if parameter.is_flag:
        return names
    return f"{names} <code>{parameter.make_metavar(context).replace('|', '&#124;')}</code>"


def _text(parameter: Any) -> str:
    default = parameter.default
    text = _cell(parameter.help or "")
    if isinstance(default, int | float | str) and not isinstance(default, bool):
        text += f" Default: `{default}`."
    return text
