"""Shown: a table and a picture of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 160
"""Longest text of a cell [characters]."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of a page, whose first column says what a row is of.

    Args:
        title: What it is of.
        heads: Its columns.
        rows: Its cells.
        is_text: Whether its cells are texts, not figures.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_text: bool = False

    @property
    def cells(self) -> list[list[str]]:
        """Its cells, long texts clipped."""
        return [[clipped(cell, LONGEST) for cell in row] for row in self.rows]


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with the table of its figures.

    Args:
        svg: The chart.
        title: What it is of.
        text: What it shows, for who does not see it.
        table: The same figures.
        is_pair: Whether it has a bar for the original and one for the release.
        names: What the first and the second bar of a row are.
    """

    svg: str
    title: str
    text: str
    table: ReportTable
    is_pair: bool = False
    names: tuple[str, str] = ("original", "release")


def clipped(text: str, most: int) -> str:
    """A text, cut where it is longer.

    >>> clipped("abcdef", 4), clipped("abc", 4)
    ('abc…', 'abc')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
