"""Shown: a picture of a page, with its figures."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.reports.shown import ShownTable


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
    table: ShownTable
    is_pair: bool = False
    names: tuple[str, str] = ("original", "release")
