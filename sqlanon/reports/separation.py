"""Separation: figures of the sets of columns that tell people apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlanon.wording import in_columns, many, part_of, percent

LISTED = 10  # smallest sets that a page shows of a longer list
SHOWN = 3  # sets that a page shows of each size


@dataclass(frozen=True, slots=True)
class SubsetFigures:
    """Uniques and classes by a set of columns.

    Args:
        columns: The columns.
        classes: Combinations of their values.
        unique: Records, or persons, that are alone with one [records or persons].
        total: All records, or persons.
        pairs: Pairs of records, or persons, with the same combination; None where a person may
            have several combinations.
    """

    columns: tuple[str, ...]
    classes: int
    unique: int
    total: int
    pairs: int | None

    @property
    def uniqueness(self) -> float:
        """Share of the records, or persons, that are unique, in [0, 1].

        It never shrinks when a column is added: who is alone in a class stays alone in each part
        of it.

        Source: Sweeney 2000, "Simple demographics often identify people uniquely".
        """
        return self.unique / self.total

    @property
    def distinction(self) -> float | None:
        """Distinct ratio, in (0, 1]: classes over records.

        It is the largest share of the records that the columns are a key of.

        Source: Motwani and Xu 2007, "Efficient algorithms for masking and finding
        quasi-identifiers".
        """
        return None if self.pairs is None else self.classes / self.total

    @property
    def separation(self) -> float | None:
        """Separation ratio, in [0, 1]: share of the pairs of records that differ in a column.

        1 - sum f_j (f_j - 1) / (n (n - 1)); None where there is no pair.

        Source: Motwani and Xu 2007, as above.
        """
        all_pairs = self.total * (self.total - 1) // 2
        return None if self.pairs is None or not all_pairs else (all_pairs - self.pairs) / all_pairs

    @property
    def is_key(self) -> bool:
        """Whether every record, or person, is unique."""
        return self.unique == self.total

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `subsets` in the JSON document."""
        return {
            "columns": list(self.columns),
            "classes": self.classes,
            "unique": self.unique,
            "uniqueness": self.uniqueness,
            "distinction": self.distinction,
            "separation": self.separation,
            "key": self.is_key,
        }


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """Uniques by one column, alone and beside the others.

    Args:
        name: The column.
        values: Distinct values, NULL among them.
        unique: Records, or persons, that are alone with their value.
        lost: By how many fewer are unique under all columns once this one is left out.
        total: All records, or persons.
    """

    name: str
    values: int
    unique: int
    lost: int
    total: int

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `columns` in the JSON document."""
        return {
            "values": self.values,
            "unique": self.unique,
            "uniqueness": self.unique / self.total,
            "lost_without": self.lost,
            "lost_share": self.lost / self.total,
        }


@dataclass(frozen=True, slots=True)
class SubsetRisk:
    """Columns, and smallest sets of columns, that tell people apart.

    Args:
        identifying: Share of unique records, or persons, that makes a set identifying, in (0, 1].
        largest: Most columns of a set that was looked at.
        whole: All columns together.
        columns: Every column.
        minimal: Sets that identify while no smaller set within them does, smallest first.
        strongest: Of each size the sets with most uniques, without those that hold a smaller
            identifying set, unless every subset was asked for.
        looked_at: Sets of at most `largest` columns.
        implied: How many of these hold a smaller identifying set, which makes them identifying.
        every: All sets of at most `largest` columns, where asked for.
        budget: Most sets that `largest` was chosen for.
        search: `counted` sets, and frequency sets `rolled_up` to count them from.
    """

    identifying: float
    largest: int
    whole: SubsetFigures
    columns: tuple[ColumnFigures, ...]
    minimal: tuple[SubsetFigures, ...]
    strongest: tuple[SubsetFigures, ...]
    looked_at: int
    implied: int
    every: tuple[SubsetFigures, ...] | None = None
    budget: int = 0
    search: Mapping[str, int] = field(default_factory=dict)

    @property
    def possible(self) -> int:
        """Sets of at least one column."""
        return int(2 ** len(self.columns)) - 1

    @property
    def left_out(self) -> int:
        """Sets that have more columns than were looked at."""
        return self.possible - self.looked_at

    def to_dict(self) -> dict[str, Any]:
        """The keys `columns` and `subsets` of the JSON document."""
        strongest: dict[str, list[dict[str, Any]]] = {}
        for one in self.strongest:
            strongest.setdefault(str(len(one.columns)), []).append(one.to_dict())
        subsets: dict[str, Any] = {
            "identifying": self.identifying,
            "max_columns": self.largest,
            "max_sets": self.budget,
            "possible": self.possible,
            "looked_at": self.looked_at,
            "left_out": self.left_out,
            "implied": self.implied,
            "whole": self.whole.to_dict(),
            "minimal_identifying": [one.to_dict() for one in self.minimal],
            "most_identifying": strongest,
            "search": dict(self.search),
        }
        if self.every is not None:
            subsets["every"] = [one.to_dict() for one in self.every]
        return {"columns": {one.name: one.to_dict() for one in self.columns}, "subsets": subsets}

    def to_lines(self, unit: str) -> list[str]:
        """Lines for a reader, of "records" or "persons"."""
        return [*self._column_lines(unit), *self._minimal_lines(unit), *self._strongest_lines(unit)]

    def _column_lines(self, unit: str) -> list[str]:
        rows = [("", "values", "by it alone", "only with it")]
        for one in sorted(self.columns, key=lambda one: (-one.lost, -one.unique)):
            alone, lost = (part_of(count, one.total) for count in (one.unique, one.lost))
            rows.append((one.name, f"{one.values:,}", alone, lost))
        return [f"unique {unit} by column", *in_columns(rows, "<>>>")]

    def _minimal_lines(self, unit: str) -> list[str]:
        sets = f"{self.looked_at:,} of" if self.left_out else "all"
        limit = "1 column" if self.largest == 1 else f"{self.largest} columns"
        heading = (
            f"smallest sets of columns that make at least {percent(self.identifying)} of the "
            f"{unit} unique (of up to {limit}; {sets} {many(self.possible)} sets looked at)"
        )
        if not self.minimal:
            return [heading, f"  none{self._why_none(unit)}"]
        lines = _set_lines(self.minimal[:LISTED], unit)
        if len(self.minimal) > LISTED:
            lines.append(f"  and {len(self.minimal) - LISTED:,} more, which --json lists")
        return [heading, *lines]

    def _why_none(self, unit: str) -> str:
        if self.whole.uniqueness >= self.identifying:
            return " of this size"
        together = percent(self.whole.uniqueness)
        return f", nor any larger one: all columns together make {together} of the {unit} unique"

    def _strongest_lines(self, unit: str) -> list[str]:
        shown: list[SubsetFigures] = []
        for one in self.strongest:
            if sum(len(other.columns) == len(one.columns) for other in shown) < SHOWN:
                shown.append(one)
        if not shown:
            return []
        left_out = (
            "" if self.every is not None else ", except sets that contain a smaller identifying set"
        )
        heading = f"sets of each size with the most unique {unit}{left_out}"
        return [heading, *_set_lines(shown, unit)]


def _set_lines(sets: Sequence[SubsetFigures], unit: str) -> list[str]:
    rows = []
    for one in sets:
        key = f"  (a key: all {unit})" if one.is_key else ""
        rows.append((f"{one.unique:,}", percent(one.uniqueness), ", ".join(one.columns) + key))
    return in_columns(rows, ">><")
