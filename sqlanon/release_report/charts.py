"""Charts of a release report: bars beside each other, narrow enough for a telephone.

Each is a picture in SVG that needs nothing else, and stands beside a table of the same figures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.pictures import COLOURS, FONT, apart, svg_of
from sqlanon.wording import percent

WIDTH, LABELS, FIGURES = 340, 122, 54
"""Width of a chart, of its labels and of the figures behind the longest bar [points]."""
ROW, BAR, GAP = 27, 10, 1
"""Height of a row, of a bar in it, and of what is between two bars [points]."""
FIRST, SECOND = COLOURS[1], COLOURS[0]
"""Colours of the first and the second bar of a row."""
PALE = "#fbe3d4"
"""What the first bar is filled with, so that the two differ without colour, too."""
_TEXT = "#1a1a1a"
# A picture is one image with a description; what its parts are called would be read out, too.
_ROLES = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"<>]*")')


@dataclass(frozen=True, slots=True)
class BarRow:
    """A row of a chart.

    Args:
        label: What it is of.
        shares: One bar or two, each a share in [0, 1].
        texts: What stands behind each bar; its share in per cent where left out.
    """

    label: str
    shares: tuple[float, ...]
    texts: tuple[str, ...] = ()

    @property
    def figures(self) -> tuple[str, ...]:
        """What stands behind each bar."""
        return self.texts or tuple(map(_rounded, self.shares))


class Pictures:
    """Draws charts, each with names inside that are its own."""

    def __init__(self) -> None:
        self._drawn = 0

    def bars(
        self, rows: Sequence[BarRow], *, whole: float | None = None, labels: int = LABELS
    ) -> str:
        """A chart of rows of bars.

        Args:
            rows: The rows, all of one number of bars.
            whole: The share that the longest bar stands for; the greatest one where left out.
            labels: Width of the labels [points].
        """
        self._drawn += 1
        most = whole or max((share for row in rows for share in row.shares), default=0) or 1.0
        picture = _ROLES.sub("", svg_of(_chart(rows, most, labels=labels)))
        return apart(picture, self._drawn)


def _chart(rows: Sequence[BarRow], most: float, *, labels: int) -> Any:
    import altair

    longest = WIDTH - FIGURES - labels
    bars = [
        {
            "first": len(row.shares) > 1 and number == 0,
            "top": place * ROW + _start(row) + number * (BAR + GAP),
            "end": place * ROW + _start(row) + number * (BAR + GAP) + BAR,
            "middle": place * ROW + _start(row) + number * (BAR + GAP) + BAR / 2,
            "long": share / most * longest,
            "text": text,
        }
        for place, row in enumerate(rows)
        for number, (share, text) in enumerate(zip(row.shares, row.figures, strict=True))
    ]
    named = [{"label": row.label, "top": place * ROW + ROW / 2} for place, row in enumerate(rows)]
    drawn = altair.Chart(_values(bars)).encode(y=_at("top"), y2="end", x=_at("long"))
    height = max(len(rows), 1) * ROW
    frame = altair.Chart(_values([{}])).mark_rule(opacity=0)
    base = altair.Chart(_values([{}])).mark_rule(color="#767676")
    return (
        altair.layer(
            frame.encode(
                x=altair.value(-labels), x2=altair.value(longest + FIGURES), y=altair.value(0)
            ),
            drawn.transform_filter("datum.first && datum.long > 0")
            .mark_rect(fill=PALE, stroke=FIRST, strokeWidth=1)
            .encode(x2=altair.value(0)),
            drawn.transform_filter("!datum.first")
            .mark_rect(fill=SECOND)
            .encode(x2=altair.value(0)),
            altair.Chart(_values(bars))
            .mark_text(align="left", baseline="middle", dx=4, fontSize=10, color=_TEXT)
            .encode(x=_at("long"), y=_at("middle"), text="text:N"),
            altair.Chart(_values(named))
            .mark_text(align="right", baseline="middle", fontSize=12, color=_TEXT, limit=labels - 8)
            .encode(x=altair.value(-6), y=_at("top"), text="label:N"),
            base.encode(x=altair.value(0), y=altair.value(0), y2=altair.value(height)),
        )
        .properties(width=longest, height=height)
        .configure(
            font=FONT,
            background="white",
            padding={"left": 2, "right": 2, "top": 4, "bottom": 4},
            aria=False,
        )
        .configure_view(stroke=None)
    )


def _start(row: BarRow) -> float:
    """Where the bars of a row begin, so that they stand in its middle."""
    bars = len(row.shares)
    return (ROW - bars * BAR - (bars - 1) * GAP) / 2


def _at(name: str) -> Any:
    """A place in points, by no scale."""
    import altair

    channel = altair.X if name == "long" else altair.Y
    return channel(f"{name}:Q", scale=None, axis=None)


def _values(rows: list[dict[str, Any]]) -> Any:
    import altair

    made: Any = altair.Data  # which says nothing of its types
    return made(values=rows)


def _rounded(share: float) -> str:
    """A share short enough to stand behind a bar.

    >>> [_rounded(share) for share in (0, 0.004, 0.1234, 0.5, 1)]
    ['0%', '0.4%', '12.3%', '50%', '100%']
    """
    if 0 < share < 0.001:
        return "<0.1%"
    return percent(round(share, 3)) if share < 1 else "100%"
