"""Report document: what the JSON documents of all reports have in common."""

from __future__ import annotations

import math

SCHEMA_VERSION = 1


def rounded(value: float) -> float | None:
    """A figure for JSON: counts as they are, others to twelve digits, and no infinity."""
    if isinstance(value, int):
        return value
    # What logarithms leave of a zero is noise.
    return finite(0.0 if abs(value) < 1e-12 else float(f"{value:.12g}"))


def finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None
