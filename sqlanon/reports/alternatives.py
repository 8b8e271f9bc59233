"""Alternatives of a full-domain plan: what lower levels of single columns take, for a reader."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from sqlanon.reports.document import finite
from sqlanon.wording import figure, in_columns, key, part_of

_FIGURES = ("loss", "lower_bound")


class _Planned(Protocol):
    """What alternatives are held against."""

    @property
    def loss_name(self) -> str: ...

    @property
    def loss(self) -> Mapping[str, float]: ...

    @property
    def records(self) -> int: ...

    @property
    def level_names(self) -> Mapping[str, Sequence[str]]: ...


def alternatives_document(alternatives: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The entries of `alternatives` in a plan's document."""
    return [
        {
            name: finite(value) if name in _FIGURES and value is not None else value
            for name, value in each.items()
        }
        for each in alternatives
    ]


def alternatives_of(
    entries: Iterable[Mapping[str, Any]] | None,
) -> tuple[Mapping[str, Any], ...] | None:
    """Reads back what `alternatives_document` wrote."""
    if entries is None:
        return None
    return tuple(
        {**each, "loss": math.inf}
        if each["loss"] is None and each["levels"] is not None
        else dict(each)
        for each in entries
    )


def alternative_lines(
    alternatives: Sequence[Mapping[str, Any]], planned: _Planned
) -> Iterator[str]:
    """The alternatives as lines of a page: each column, what it would lose, and all levels."""
    if not alternatives:
        yield "  alternatives    no column is generalized, so none can be at a lower level"
        return
    yield "  alternatives    the best recodings with one column at a lower level"
    rows: list[tuple[str, ...]] = [
        ("column", "at most", planned.loss_name, "more", "suppressed", "levels of all columns")
    ]
    rows += [_row(each, planned) for each in alternatives]
    yield from (f"  {line}" for line in in_columns(rows, "<<>>><"))


def _row(each: Mapping[str, Any], planned: _Planned) -> tuple[str, ...]:
    column, most = each["column"], each["max_level"]
    names = planned.level_names.get(column, ())
    level = f"{most} ({names[most]})" if most < len(names) else f"{most}"
    if each["levels"] is None:
        why = "no recoding satisfies the policy" if each["proven"] else "none found in time"
        return column, level, "–", "–", "–", why
    levels = ", ".join(f"{name} {at}" for name, at in each["levels"].items())
    more = each["loss"] - planned.loss[key(planned.loss_name)]
    return (
        column,
        level,
        figure(each["loss"]) + ("" if each["proven"] else " or less"),
        "0" if abs(more) < 1e-12 else f"{more:+.4g}",
        part_of(each["suppressed_records"], planned.records),
        levels,
    )
