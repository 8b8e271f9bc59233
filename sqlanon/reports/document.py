"""Report document: the common parts of pages and JSON documents of all reports."""

from __future__ import annotations

import math
from collections.abc import Iterable

from sqlanon.classes import ClassStatistics

SCHEMA_VERSION = 1


def rounded(value: float) -> float | None:
    """A figure for JSON: counts as they are, others to twelve digits, and no infinity."""
    if isinstance(value, int):
        return value
    # Below it is noise that logarithms leave of a zero.
    return finite(0.0 if abs(value) < 1e-12 else float(f"{value:.12g}"))


def page(lines: Iterable[str], notes: Iterable[str] = ()) -> str:
    """A page for a reader: its lines, then the notes."""
    return "\n".join([*lines, *(f"note: {note}" for note in notes)])


def size_line(statistics: ClassStatistics) -> str:
    """The sizes of the equivalence classes, as a line of a page."""
    return (
        f"  class size      smallest {statistics.smallest:,}, median {statistics.median:,.1f}, "
        f"mean {statistics.mean:,.1f}, largest {statistics.largest:,}"
    )


def finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None
