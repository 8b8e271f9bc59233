"""Purity: how the values of a sensitive attribute are spread over published classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.loss.release import Spread
from sqlanon.query.assess import release


@dataclass(frozen=True, slots=True)
class SensitiveColumn:
    """A sensitive attribute, and the columns that make the classes that tell of it.

    Args:
        by: The quasi-identifiers.
        name: The attribute's column, in both tables.
        nulls: Whether NULL is a value; else its records do not count.
    """

    by: Sequence[str]
    name: str
    nulls: bool


def class_spread(
    engine: Engine,
    original: exp.Table,
    *,
    table: exp.Table,
    sensitive: SensitiveColumn,
    suppressed: str | None,
) -> Spread:
    """Spread of a sensitive attribute's values over the classes of a published table.

    `suppressed` is the label of suppressed records; None where no class counts as suppressed.
    """
    every = release.column_values(original, sensitive.name)
    kept = release.class_values(
        table, sensitive.by, sensitive=sensitive.name, suppressed=suppressed
    )
    if not sensitive.nulls:
        every, kept = release.without_null(every), release.without_null(kept)
    [(records, squares)] = engine.rows(release.value_squares(every))
    rows = engine.rows(release.spread(kept, label_keys(sensitive.by)))
    return Spread(rows, records, squares)


def label_keys(names: Sequence[str]) -> list[str]:
    """The columns that hold the labels of quasi-identifiers."""
    return list(map(release.label, range(len(names))))
