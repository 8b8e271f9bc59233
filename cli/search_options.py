"""Options of a search, as the registry of methods has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import Field, dataclass, make_dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.errors import PolicyError
from sqlanon.methods.registry import METHODS, OPTIONS, owners_of
from sqlanon.wording import listed

from .options import (
    PolicyOptions,
    PublishingOptions,
    RunOptions,
    option,
    repeatable,
    switch,
)
from .policies import PolicyMaker


def search_field(name: str) -> str:
    """The name of a search's option on the command line: a switch says what is not the default.

    >>> search_field("refine")
    'no_refine'
    """
    return f"no_{name}" if OPTIONS[name].default is True else name


def _panel(name: str) -> str | None:
    """The heading of an option that only some methods take: these, or the fewer others."""
    owners = owners_of(name)
    others = [method for method in METHODS if method not in owners]
    if not owners or not others:
        return None
    few = len(owners) <= len(others)
    return f"Only with {listed(owners)}" if few else f"Not with {listed(others)}"


OF_ONE = ("method", "loss", "minimal_nodes", "alternatives")
"""Options of one search that a comparison of several has no use for."""


def _registered(*left_out: str) -> Iterator[tuple[str, Any, Field[Any]]]:
    """The options of a search as fields of a group; what is not given is empty."""
    for name, setting in OPTIONS.items():
        if name in left_out:
            continue
        panel = _panel(name)
        if setting.metavar is None:
            yield search_field(name), bool, switch(setting.help, panel=panel)
        elif setting.reads == list[str]:
            yield (
                name,
                list[str],
                option(setting.metavar, setting.help, panel=panel, default_factory=list),
            )
        else:
            yield name, setting.reads | None, option(setting.metavar, setting.help, panel=panel)


if TYPE_CHECKING:
    SearchOptions = Any  # a type checker cannot follow the registry
    MethodOptions = Any
else:
    _PATTERN = repeatable(
        "COLUMN,...",
        "In place of --patterns: columns that a record may keep while all others are suppressed; "
        "zip@2 keeps zip at level 2.",
        panel=_panel("patterns"),
    )
    SearchOptions = make_dataclass(
        "SearchOptions",
        [*_registered(), ("pattern", list[str], _PATTERN)],
        frozen=True,
        namespace={"__doc__": "How the recoding is found.", "panel": "Method"},
    )
    MethodOptions = make_dataclass(
        "MethodOptions",
        [*_registered(*OF_ONE), ("pattern", list[str], _PATTERN)],
        frozen=True,
        namespace={
            "__doc__": "Options of methods, each for those that take it.",
            "panel": "Method",
        },
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Everything that a plan follows from, but the table."""

    policy: PolicyOptions
    publishing: PublishingOptions
    search: SearchOptions


@dataclass(frozen=True, slots=True)
class WantedOfAll:
    """Everything that plans by several methods follow from, but the table and what they lose."""

    policy: PolicyOptions
    publishing: PublishingOptions
    search: MethodOptions


def search_settings(search: Any, *left_out: str) -> dict[str, Any]:
    """What is given of the options of searches, as the library takes it.

    Args:
        search: The options.
        left_out: Those that their group does not have.
    """
    if search.pattern and search.patterns:
        raise PolicyError("--pattern and --patterns exclude each other; give one of them")
    settings: dict[str, Any] = {}
    for name in OPTIONS:
        value = None if name in left_out else getattr(search, search_field(name))
        if value is not None and value is not False and value != []:
            settings[name] = not OPTIONS[name].default if value is True else value
    if search.pattern:
        settings["patterns"] = [[text] for text in search.pattern]
    return settings


def search_and_policy(
    wanted: Wanted, run: RunOptions, *, complete: bool = False, varies: Iterable[str] = ()
) -> tuple[dict[str, Any], PolicyMaker]:
    """Settings of the search as options give them, and the maker of the policy."""
    maker = PolicyMaker(wanted.policy, wanted.publishing, complete, varies=varies)
    return search_settings(wanted.search) | {"seed": run.seed}, maker
