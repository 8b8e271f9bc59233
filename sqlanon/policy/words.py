"""Words: models and hierarchies as a command line and a policy file write them alike."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sqlanon.errors import PolicyError
from sqlanon.policy.privacy import FAMILIES


def number(text: str, kinds: Sequence[type[int | float]] = (int, float)) -> int | float:
    """A finite number of the first kind that reads the text.

    Raises:
        PolicyError: The text is no number, or one that is not finite.

    >>> number("3"), number("0.5")
    (3, 0.5)
    """
    if not text.strip():
        raise PolicyError("no number is given")
    found = next(filter(None, (_read(text, kind) for kind in kinds)), None)
    if found is None:
        raise PolicyError(f"{text!r} is not a number")
    if not math.isfinite(found[0]):
        raise PolicyError(f"{text!r} is not a finite number")
    return found[0]


def _read(text: str, kind: type[int | float]) -> tuple[int | float] | None:
    try:
        return (kind(text),)
    except ValueError:
        return None


def model_form(key: str, text: str) -> dict[str, Any]:
    """The table of a policy file for `3`, `entropy:3`, `recursive:2:3` (c before l), or itself.

    Raises:
        PolicyError: The text is none of these.

    >>> model_form("l", "recursive:2:3")
    {'value': 3, 'kind': 'recursive', 'c': 2}
    >>> model_form("t", '{ value = 0.2, distance = "ordered" }')
    {'value': 0.2, 'distance': 'ordered'}
    """
    written = inline_table(text)
    if written is not None:
        return written
    family = FAMILIES[key]
    before, parted, value = text.rpartition(":")
    said = before.split(":") if family.figures else [before]
    kind, *figures = said if parted else [*family.kinds, ""][:1]
    names = family.figures.get(kind, ())
    if len(figures) != len(names) or (parted and not family.kinds):
        raise PolicyError(f"{text!r} must have the form {family.written}")
    form: dict[str, Any] = {"value": number(value)}
    form |= {family.keys[0]: kind} if family.kinds else {}
    form |= {name: number(each) for name, each in zip(names, figures, strict=True)}
    return form


def toml_value(text: str) -> Any:
    """The value that a text is in TOML; None where it is none, or more than one.

    >>> toml_value("['low', 'high']"), toml_value("low")
    (['low', 'high'], None)
    """
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        document = tomllib.loads(f"it = {text.strip()}")
        if document.keys() == {"it"}:
            return document["it"]
    return None


def inline_table(text: str) -> dict[str, Any] | None:
    """The table that a text in braces is in TOML; None for any other text.

    Raises:
        PolicyError: The text begins as one and is none.

    >>> inline_table("{ intervals = [5, 10] }"), inline_table("intervals:5,10")
    ({'intervals': [5, 10]}, None)
    """
    if not text.lstrip().startswith("{"):
        return None
    written = toml_value(text)
    if written is not None:
        return dict(written)
    raise PolicyError(
        f"{text!r} is not a table as policy.toml has it, such as {{ prefix = [3, 2] }}"
    )
