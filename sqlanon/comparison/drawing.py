"""Charts of a comparison: loss and seconds by method, as SVG or as a page that needs nothing else.

Altair and vl-convert are an extra; vl-convert holds all that draws, so no browser and no network is
asked for, and a page has pictures and tables, but no script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from sqlanon.engine.files import write_file
from sqlanon.errors import PolicyError
from sqlanon.loss.cells import CELL_MEASURES
from sqlanon.methods.registry import AUTO, METHODS
from sqlanon.pictures import COLOURS, FONT, apart, refuse_file, svg_of
from sqlanon.reports.shown import ShownTable
from sqlanon.resources import html_page

ENDINGS = (".svg", ".html")
# Seven colours and eight marks have no common divisor, so 56 methods would differ in one of them.
MARKS = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down"),
    *("triangle-left", "triangle-right"),
)
DASHES = ([1, 0], [6, 3])
WIDTH, HEIGHT, ROW = 380, 300, 26
"""Size of a chart, and of a method's row where there is one k [points]."""
SPACING = 28
"""Room between two charts in one picture [points]."""
ROOM = 1.25
"""Times the greatest loss that a chart has room for, so that figures stand beside marks."""
FASTEST = 0.001
"""Least time that a chart tells from none [seconds]."""
HEADROOM = 8
"""What labels and marks reach above a chart at most [points]."""
PADDING = {"left": 40, "right": 48, "top": 12, "bottom": 12}
"""Room around: texts are wider in a browser that has another font than what draws [points]."""


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A method's result at one k.

    Args:
        method: The method.
        k: Smallest class allowed.
        loss: What it lost.
        seconds: How long it took.
        is_cut: Whether a time limit ended it before its own end.
    """

    method: str
    k: int
    loss: float
    seconds: float
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class ChartPanel:
    """Results by one loss: a pair of charts.

    Args:
        loss: The loss.
        points: The results.
        bounds: What every recoding into nodes loses at least, by k, where that is known.
        ended_by: What cuts a search short.
    """

    loss: str
    points: tuple[ChartPoint, ...]
    bounds: Mapping[int, float]
    ended_by: str = "the time limit"

    @property
    def ks(self) -> list[int]:
        """The values of k that have a result."""
        return sorted({point.k for point in self.points})

    @property
    def description(self) -> str:
        """What the charts show, for who does not see them."""
        best = {k: min((p for p in self.points if p.k == k), key=_by_loss) for k in self.ks}
        least = "; ".join(
            f"at k = {k:,} {point.method} loses least, {point.loss:.6g}"
            for k, point in best.items()
        )
        cut = list(dict.fromkeys(point.method for point in self.points if point.is_cut))
        ended = f" Cut short by {self.ended_by}: {', '.join(cut)}." if cut else ""
        return f"{self.loss} and seconds of {len(set(_methods(self)))} methods: {least}.{ended}"


@dataclass(frozen=True, slots=True)
class PageSection:
    """The charts of a loss with their tables.

    Args:
        panel: The charts.
        tables: A table for each k.
        measures: The same results by every measure.
    """

    panel: ChartPanel
    tables: Sequence[ShownTable]
    measures: Sequence[ShownTable]


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that a page of a comparison shows.

    Args:
        title: What was compared.
        sections: By loss, those with a result.
        lines: What the marks in tables mean, and why methods have no result.
        notes: What a reader should know besides.
        created: When.
        command: What made it.
    """

    title: str
    sections: Sequence[PageSection]
    lines: Sequence[str]
    notes: Sequence[str]
    created: str
    command: str = "compare"


def refuse_chart(path: str | Path, *, overwrite: bool = False) -> Path:
    """Refuses a file that no chart can be written to.

    Raises:
        PolicyError: What draws is not installed.
        SourceError: The file has another ending, exists already or cannot be written.
    """
    return refuse_file(path, "chart", endings=ENDINGS, overwrite=overwrite)


def draw(drawing: Drawing, path: str | Path, *, overwrite: bool = False) -> None:
    """Writes a chart, or a page with charts and tables.

    Raises:
        PolicyError: What draws is not installed, or there is nothing to draw.
        SourceError: The file cannot be written.
    """
    file = refuse_chart(path, overwrite=overwrite)
    if not drawing.sections:
        raise PolicyError("no method has a result, so there is nothing to draw")
    panels = [section.panel for section in drawing.sections]
    if file.suffix.lower() == ".svg":
        write_file(file, svg(panels))
        return
    write_page(drawing, [_sides(panel) for panel in panels], file)


def write_page(drawing: object, charts: Sequence[Sequence[Any]], file: Path) -> None:
    """Writes a page with a picture for each chart of each section, which stand as there is room."""
    numbers = count()
    drawn = [[apart(rendered(side), next(numbers)) for side in sides] for sides in charts]
    write_file(file, html_page("comparison", drawing=drawing, pictures=drawn))


def svg(panels: Sequence[ChartPanel]) -> str:
    """Charts as one picture, a row for each loss."""
    import altair

    rows = [altair.hconcat(*_sides(panel), spacing=SPACING) for panel in panels]
    told = " ".join(panel.description for panel in panels)
    return rendered(altair.vconcat(*rows, spacing=36, description=told))


def rendered(chart: Any) -> str:
    """A chart of Altair as SVG, in the fonts and colours of all charts."""
    return svg_of(
        chart.configure(font=FONT, background="white", padding=PADDING)
        .configure_axis(
            labelFontSize=12, titleFontSize=13, gridColor="#e4e4e4", titlePadding=8, labelLimit=0
        )
        .configure_title(fontSize=15, anchor="start", subtitleFontSize=12, subtitleColor="#444444")
        .configure_legend(
            labelFontSize=12,
            titleFontSize=12,
            symbolSize=110,
            symbolStrokeWidth=2,
            labelLimit=0,
            titleLimit=0,
        )
        .configure_view(stroke="#bbbbbb")
    )


def _sides(panel: ChartPanel) -> list[Any]:
    """Loss and seconds of one loss."""
    return _by_method(panel) if len(panel.ks) == 1 else _by_k(panel)


def _by_k(panel: ChartPanel) -> list[Any]:
    """Both against k, a line for each method."""
    import altair

    axis = altair.X(
        "k:Q",
        title="k (smallest class allowed)",
        scale=altair.Scale(type="log", nice=False, padding=14),
        axis=altair.Axis(values=panel.ks, format=",d", labelOverlap="greedy", grid=False),
    )
    base = altair.Chart(_table(panel)).encode(x=axis, **_looks(panel))
    bounds = altair.Chart(values_of([{"k": k, "loss": v} for k, v in panel.bounds.items()]))
    bound = bounds.mark_line(color="#777777", strokeDash=[2, 3]).encode(x=axis, y="loss:Q")
    marks = [("loss", _loss_axis(panel, "Y"), [bound]), ("seconds", _time_axis(panel, "Y"), [])]
    return [
        altair.layer(
            _headroom(),
            *under,
            base.mark_line(strokeWidth=2).encode(y=axis_of),
            *(mark.encode(y=axis_of) for mark in _marks(base, 75)),
        ).properties(width=WIDTH, height=HEIGHT, title=_title(panel, name))
        for name, axis_of, under in marks
    ]


def _by_method(panel: ChartPanel) -> list[Any]:
    """Both of one k, a row for each method, what loses least on top."""
    import altair

    order = [point.method for point in sorted(panel.points, key=_by_loss)]
    rows = altair.Y("method:N", sort=order, title=None, axis=altair.Axis(grid=True))
    base = altair.Chart(_table(panel)).encode(y=rows)
    looks = _looks(panel, legend=False)
    del looks["strokeDash"]  # there are no lines
    bounds = altair.Chart(values_of([{"loss": value} for value in panel.bounds.values()]))
    bound = bounds.mark_rule(color="#777777", strokeDash=[2, 3], strokeWidth=2).encode(x="loss:Q")
    marks = [("loss", _loss_axis(panel, "X"), [bound]), ("seconds", _time_axis(panel, "X"), [])]
    return [
        altair.layer(
            _headroom(),
            *under,
            *(mark.encode(x=axis_of, **looks) for mark in _marks(base, 110)),
            base.mark_text(align="left", dx=10, fontSize=12).encode(
                x=axis_of,
                text=altair.Text(f"{name}:Q", format=".3~g" if name == "seconds" else ".4~g"),
            ),
        ).properties(
            width=WIDTH,
            height=max(ROW * len(order), 3 * ROW),
            title=_title(panel, name),
        )
        for name, axis_of, under in marks
    ]


def _headroom() -> Any:
    """What holds titles at one height: they stand above the highest label or mark of a chart."""
    import altair

    line = altair.Chart(values_of([{}])).mark_rule(opacity=0)
    return line.encode(x=altair.value(0), y=altair.value(-HEADROOM), y2=altair.value(0))


def _title(panel: ChartPanel, name: str) -> Any:
    import altair

    at = f", k = {panel.ks[0]:,}" if len(panel.ks) == 1 else ""
    ended = any(point.is_cut for point in panel.points)
    cut = [f"hollow: cut short by {panel.ended_by}"] * ended
    if name == "seconds":
        told = altair.Title(f"Time to minimize {panel.loss}{at}")
        told.subtitle = ["less is better", *cut]
        return told
    known = "; dotted: no recoding into nodes loses less" if panel.bounds else ""
    told = altair.Title(f"Loss: {panel.loss}{at}")
    told.subtitle = [f"less is better{known}", *cut]
    return told


def _loss_axis(panel: ChartPanel, channel: str) -> Any:
    import altair

    per_cell = panel.loss in CELL_MEASURES and panel.loss != "suppressed-cells"
    title = f"{panel.loss} (average per cell)" if per_cell else panel.loss
    most = max(point.loss for point in panel.points)
    scale = altair.Scale(
        domain=[0, most * (ROOM if channel == "X" else 1) or 1], nice=channel == "Y"
    )
    axis = altair.Axis(labelOverlap="greedy", labelSeparation=6)
    return getattr(altair, channel)("loss:Q", title=title, scale=scale, axis=axis)


def _time_axis(panel: ChartPanel, channel: str) -> Any:
    """Seconds, which span from hundredths to minutes, so by powers of ten."""
    import altair

    seconds = [max(point.seconds, FASTEST) for point in panel.points]
    least, most = min(seconds), max(seconds)
    return getattr(altair, channel)(
        "seconds:Q",
        title="seconds (logarithmic)",
        scale=altair.Scale(type="log", domain=[least / 1.5, most * 2], nice=False),
        axis=altair.Axis(format="~g", tickCount=5),
    )


def _looks(panel: ChartPanel, *, legend: bool = True) -> dict[str, Any]:
    """A colour, a mark and a dash for each method, the same in every chart."""
    import altair

    every = [AUTO, *METHODS]
    names = sorted(set(_methods(panel)), key=every.index)
    places = [every.index(name) for name in names]
    shown = altair.Legend(title="method", orient="right") if legend else None

    def scale(values: Sequence[Any]) -> Any:
        return altair.Scale(domain=names, range=list(values))

    return {
        "color": altair.Color(
            "method:N", legend=shown, scale=scale([COLOURS[at % len(COLOURS)] for at in places])
        ),
        "shape": altair.Shape(
            "method:N", legend=shown, scale=scale([MARKS[at % len(MARKS)] for at in places])
        ),
        "strokeDash": altair.StrokeDash(
            "method:N",
            legend=shown,
            scale=scale([DASHES[at // len(COLOURS) % len(DASHES)] for at in places]),
        ),
    }


def _marks(base: Any, size: int) -> list[Any]:
    """Marks of results, hollow where a time limit cut them short, whose lines are not dashed."""
    import altair

    whole = base.transform_filter("!datum.cut").mark_point(filled=True, size=size, opacity=1)
    cut = base.transform_filter("datum.cut").mark_point(
        fill="white", size=size, opacity=1, strokeWidth=2
    )
    return [whole, cut.encode(strokeDash=altair.value([1, 0]))]


def _table(panel: ChartPanel) -> Any:
    return values_of(
        [
            {
                "method": p.method,
                "k": p.k,
                "loss": p.loss,
                "seconds": max(p.seconds, FASTEST),
                "cut": p.is_cut,
            }
            for p in panel.points
        ]
    )


def values_of(rows: list[dict[str, Any]]) -> Any:
    """Rows as the data of a chart."""
    import altair

    made: Any = altair.Data  # which says nothing of its types
    return made(values=rows)


def _by_loss(point: ChartPoint) -> float:
    return point.loss


def _methods(panel: ChartPanel) -> list[str]:
    return [point.method for point in panel.points]
