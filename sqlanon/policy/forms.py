"""Forms and thresholds of privacy models: how models are told apart, checked and written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from sqlanon.arguments import plain
from sqlanon.wording import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Form = tuple[str, ...]
"""A family and, where it has several, a kind."""
TOLERANCE = 1e-12
"""Rounding that comparisons of entropies and distances with a threshold allow."""


def choice_faults(what: str, value: object, *, choices: Sequence[str]) -> list[str]:
    """The fault of a value that must be one of several, if any."""
    if value in choices:
        return []
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    return [f"{what} is {value!r}; it must be one of {', '.join(choices)}{hint}"]


def plain_numbers(made: DataclassInstance) -> None:
    """Makes numbers of other libraries, such as numpy, Python's own in fields of a dataclass."""
    for field in fields(made):
        object.__setattr__(made, field.name, plain(getattr(made, field.name)))


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, float) and math.isfinite(value)


def is_whole(value: object) -> bool:
    """Whether it is a whole number of at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def short(number: float) -> str:
    """A number for people: no more digits than were meant."""
    return str(number) if isinstance(number, int) else f"{number:.12g}"
