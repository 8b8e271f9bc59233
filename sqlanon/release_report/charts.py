"""Charts of a release report: bars beside each other, narrow enough for a telephone.

Each is a picture in SVG that needs nothing else, and stands beside a table of the same figures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.pictures import COLOURS, FONT, apart, lines_of, svg_of
from sqlanon.wording import percent

WIDTH, LABELS, FIGURES = 340, 122, 54
"""Width of a chart, of its labels and of the figures behind the longest bar [points]."""
ROW, BAR, GAP, LINE = 27, 10, 1, 12
"""Height of a row, of a bar in it, of what is between two bars, and of a line [points]."""
MARGIN = 8
"""What a label leaves free of its width [points]."""
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
        texts: What stands behind each bar; its share in per cent where empty or left out.
    """

    label: str
    shares: tuple[float, ...]
    texts: tuple[str, ...] = ()

    @property
    def figures(self) -> tuple[str, ...]:
        """What stands behind each bar."""
        texts = self.texts or ("",) * len(self.shares)
        return tuple(t or _rounded(s) for t, s in zip(texts, self.shares, strict=True))


class Pictures:
    """Draws charts, each with names inside that are its own."""

    def __init__(self) -> None:
        self._drawn = 0

    def bars(
        self,
        rows: Sequence[BarRow],
        *,
        whole: float | None = None,
        labels: int = LABELS,
        lines: int = 1,
    ) -> str:
        """A chart of rows of bars.

        Args:
            rows: The rows, all of one number of bars.
            whole: The share that the longest bar stands for; the greatest one where left out.
            labels: Width of the labels [points].
            lines: Most lines of a label.
        """
        self._drawn += 1
        most = whole or max((share for row in rows for share in row.shares), default=0) or 1.0
        picture = _ROLES.sub("", svg_of(_chart(rows, most, labels=labels, lines=lines)))
        return apart(picture, self._drawn)


def _chart(rows: Sequence[BarRow], most: float, *, labels: int, lines: int) -> Any:
    import altair

    longest = WIDTH - FIGURES - labels
    named = _labels(rows, labels - MARGIN, lines=lines)
    tall = max([ROW, *(len(each) * LINE + 6 for each in named)])
    bars = [
        {
            "first": len(row.shares) > 1 and number == 0,
            "top": place * tall + _start(row, tall) + number * (BAR + GAP),
            "end": place * tall + _start(row, tall) + number * (BAR + GAP) + BAR,
            "middle": place * tall + _start(row, tall) + number * (BAR + GAP) + BAR / 2,
            "long": share / most * longest,
            "text": text,
        }
        for place, row in enumerate(rows)
        for number, (share, text) in enumerate(zip(row.shares, row.figures, strict=True))
    ]
    written = [
        {"label": line, "top": (place + 0.5) * tall + (number - (len(each) - 1) / 2) * LINE}
        for place, each in enumerate(named)
        for number, line in enumerate(each)
    ]
    drawn = altair.Chart(_values(bars)).encode(y=_at("top"), y2="end", x=_at("long"))
    height = max(len(rows), 1) * tall
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
            altair.Chart(_values(written))
            .mark_text(align="right", baseline="middle", fontSize=_size(lines), color=_TEXT)
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


def _labels(rows: Sequence[BarRow], width: float, *, lines: int) -> list[list[str]]:
    """The lines of each label, with the number of the row before those that are cut alike."""
    made = [lines_of(row.label, width, size=_size(lines), most=lines) for row in rows]
    alike = Counter(map(tuple, made))
    return [
        lines_of(f"{number}. {row.label}", width, size=_size(lines), most=lines)
        if alike[tuple(each)] > 1 and each[-1].endswith("…")
        else each
        for number, (row, each) in enumerate(zip(rows, made, strict=True), start=1)
    ]


def _size(lines: int) -> int:
    """Size of the labels' letters [points]."""
    return 12 if lines == 1 else 11


def _start(row: BarRow, tall: float) -> float:
    """Where the bars of a row begin, so that they stand in its middle."""
    bars = len(row.shares)
    return (tall - bars * BAR - (bars - 1) * GAP) / 2


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
