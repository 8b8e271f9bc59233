"""Thresholds: what the figures of privacy models are compared with, checked and written."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence

TOLERANCE = 1e-12
"""What comparisons of entropies and distances with a threshold allow."""


def near(text: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably meant by a text, whatever its letters' case."""
    by_lower = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(text.lower(), by_lower, n=1, cutoff=0.65)
    return by_lower[found[0]] if found else None


def choice_faults(what: str, value: object, choices: Sequence[str]) -> list[str]:
    """What is wrong with a value that must be one of several."""
    if value in choices:
        return []
    meant = near(value, choices) if isinstance(value, str) else None
    hint = f"; did you mean {meant!r}?" if meant else ""
    return [f"{what} is {value!r}; it must be one of {', '.join(choices)}{hint}"]


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
