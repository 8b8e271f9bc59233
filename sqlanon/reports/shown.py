"""Reports as they show themselves: the tables of pages, and what a notebook shows.

That is a line, and a small table with the whole page folded below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_FRAME = (
    "border:1px solid rgba(128,128,128,.4);border-radius:4px;padding:.6em .8em;"
    "max-width:60em;overflow-x:auto;line-height:1.4"
)
_CELL = "padding:.1em 1em .1em 0;text-align:{};white-space:nowrap;vertical-align:top"


@dataclass(frozen=True, slots=True)
class ShownTable:
    """Figures to be shown in a notebook or on a page.

    Args:
        rows: Cells, the first of each row its name.
        heads: Names of the columns; empty for rows of a name and a figure.
        caption: What it is of.
        is_text: Whether its cells are texts, not figures.
    """

    rows: Sequence[Sequence[str]]
    heads: Sequence[str] = ()
    caption: str = ""
    is_text: bool = False


class SelfShown:
    """A report that shows itself: short as a text, as a table in a notebook.

    Neither holds a value of the table that `to_text` would not print.
    """

    __slots__ = ()

    def headline(self) -> str:
        """What it found, in a line."""
        raise NotImplementedError

    def shown_tables(self) -> Sequence[ShownTable]:
        """The figures that come first."""
        raise NotImplementedError

    def to_text(self) -> str:
        """A page for a reader."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline()}>"

    def _repr_html_(self) -> str:
        notes: Sequence[str] = getattr(self, "notes", ())
        listed = "".join(f'<li style="margin:.2em 0">{escape(note)}</li>' for note in notes)
        return (
            f'<div style="{_FRAME}">'
            f"<div><strong>{escape(type(self).__name__)}</strong> {escape(self.headline())}</div>"
            f"{''.join(map(_table, self.shown_tables()))}"
            f"{_folded(f'notes ({len(notes)})', f'<ul>{listed}</ul>') if listed else ''}"
            f"{_folded('as text', f'<pre>{escape(self.to_text())}</pre>')}"
            "</div>"
        )


def _table(table: ShownTable) -> str:
    heads = "".join(
        f'<th scope="col" style="{_CELL.format("right" if number else "left")}">{escape(head)}</th>'
        for number, head in enumerate(table.heads)
    )
    rows = "".join(
        f'<tr style="background:none"><th scope="row" style="{_CELL.format("left")};'
        f'font-weight:normal">{escape(first)}</th>'
        + "".join(f'<td style="{_CELL.format("right")}">{escape(cell)}</td>' for cell in others)
        + "</tr>"
        for first, *others in table.rows
    )
    caption = f'<caption style="text-align:left">{escape(table.caption)}</caption>'
    return (
        f'<table style="border-collapse:collapse;font-size:inherit;margin:.5em 0 0">'
        f"{caption if table.caption else ''}"
        f"{f'<thead><tr>{heads}</tr></thead>' if heads else ''}<tbody>{rows}</tbody></table>"
    )


def _folded(title: str, content: str) -> str:
    return f'<details style="margin-top:.5em"><summary>{escape(title)}</summary>{content}</details>'
