"""Units: what is counted in the original and in a release, which may differ."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.release_report.gathering import Gathered


def unit_of(found: Gathered) -> str:
    """What figures of both tables count: records, persons, or either."""
    if found.uncounted is None:
        return found.before.unit
    return f"{found.before.unit} or {found.after.unit}"


def heads_of(found: Gathered, names: Sequence[str]) -> list[str]:
    """The columns of figures of both tables, with what each counts where that differs."""
    if found.uncounted is None:
        return list(names)
    sides = (found.before, found.after)
    return [f"{name} ({side.unit})" for name, side in zip(names, sides, strict=True)]
