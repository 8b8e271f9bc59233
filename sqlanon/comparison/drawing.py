"""Charts: loss and a second figure of results, by method or against a figure of the policy.

Altair and vl-convert are an extra; vl-convert holds all that draws, so no browser and no network is
asked for. A page has tables with bars or a picture, but no script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlanon.engine.files import write_file
from sqlanon.errors import PolicyError
from sqlanon.loss.cells import CELL_MEASURES
from sqlanon.publishing.target import writable_file
from sqlanon.resources import html_page
from sqlanon.wording import drawable

# Okabe and Ito 2008, without the yellow that no white page shows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FONT = "Helvetica, Arial, sans-serif"
# Seven colours and eight marks have no common divisor, so 56 lines would differ in one of them.
MARKS = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down"),
    *("triangle-left", "triangle-right"),
)
DASHES = ([1, 0], [6, 3])
WIDTH, HEIGHT, ROW = 380, 300, 26
"""Size of a chart, and of a method's row where there is one k [points]."""
SPACING = 28
"""Room between two charts in one picture [points]."""
CHART_ROOM = 1.25
"""Times the greatest loss that a chart has room for, so that figures stand beside marks."""
FASTEST = 0.001
"""Least time that a chart tells from none [seconds]."""
HEADROOM = 8
"""What labels and marks reach above a chart at most [points]."""
PADDING = {"left": 40, "right": 48, "top": 12, "bottom": 12}
"""Room around: texts are wider in a browser that has another font than what draws [points]."""


def refuse_undrawn() -> None:
    """Refuses to draw, by a `PolicyError`, where what draws is not installed."""
    if any(find_spec(name) is None for name in ("altair", "vl_convert")):
        raise PolicyError(
            "charts are drawn by altair and vl-convert, which are not installed: "
            "pip install 'sqlanon[report]'"
        )


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A result.

    Args:
        line: The line that it is on: its method, or the values of other figures.
        at: Where it is along the charts.
        loss: What is lost.
        second: The figure of the second chart: seconds, or the share of records suppressed.
        is_cut: Whether a time limit ended its search before its own end.
    """

    line: str
    at: float | str
    loss: float
    second: float
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class ChartPanel:
    """Results by one loss: a pair of charts.

    Args:
        loss: The loss.
        points: The results.
        description: What the charts show, for who does not see them.
        lines: Every line that may be there, in the order of their looks.
        across: The figure along the charts, as the axis calls it.
        legend: What lines are called; empty for no legend.
        is_timed: Whether the second chart has seconds, not the share of records suppressed.
        is_log: Whether the figure along the charts is seen by its powers.
        order: Values along the charts that are no numbers, in their order.
        bounds: What every recoding into nodes loses at least, by k, where that is known.
        ended_by: What cuts a search short.
    """

    loss: str
    points: Sequence[ChartPoint]
    description: str
    lines: Sequence[str]
    across: str
    legend: str
    is_timed: bool
    is_log: bool = True
    order: Sequence[str] = ()
    bounds: Mapping[int, float] = field(default_factory=dict)
    ended_by: str = "the time limit"


def refuse_chart(path: str | Path, *, overwrite: bool = False, bars: bool = False) -> Path:
    """Refuses a file that no chart can be written to.

    Args:
        path: The file.
        overwrite: Whether it may be there already.
        bars: Whether a page has bars, which need nothing that draws.

    Raises:
        PolicyError: What draws is not installed.
        SourceError: The file has another ending, exists already or cannot be written.
    """
    file = writable_file(path, "chart", endings=(".svg", ".html"), overwrite=overwrite)
    if not bars or file.suffix.lower() == ".svg":
        refuse_undrawn()
    return file


def draw(
    path: str | Path,
    panels: Sequence[ChartPanel],
    *,
    what: str,
    overwrite: bool = False,
    bars: bool = False,
    **page: object,
) -> None:
    """Writes a picture, or a page that has it or bars beside tables.

    Args:
        path: As for `refuse_chart`.
        panels: The charts.
        what: What would have a result, such as `method`.
        overwrite: As for `refuse_chart`.
        bars: As for `refuse_chart`.
        page: What the page shows besides, by the names of its template.

    Raises:
        PolicyError: What draws is not installed, or there is nothing to draw.
        SourceError: The file cannot be written.
    """
    file = refuse_chart(path, overwrite=overwrite, bars=bars)
    if not panels:
        raise PolicyError(f"no {what} has a result, so there is nothing to draw")
    if file.suffix.lower() == ".svg":
        write_file(file, svg(panels))
    else:
        picture = "" if bars else svg(panels)
        write_file(file, html_page("comparison", picture=picture, **page))


def svg(panels: Sequence[ChartPanel]) -> str:
    """Charts as one picture, a row for each loss."""
    import altair

    rows = [altair.hconcat(*_sides(panel), spacing=SPACING) for panel in panels]
    described = " ".join(panel.description for panel in panels)
    return svg_of(
        altair.vconcat(*rows, spacing=36, description=described)
        .configure(font=FONT, background="white", padding=PADDING)
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


def svg_of(chart: Any) -> str:
    """A chart of altair as SVG, drawn without a browser or a network.

    What draws ends the process at characters that no XML may hold, so they are escaped here. No
    chart asks it to cut labels (a `limit`), as it would cut them within a character.
    """
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(_escaped(chart.to_dict()))
    return drawn


def _escaped(part: Any) -> Any:
    """A part of a chart's specification, its texts drawable."""
    if isinstance(part, str):
        return drawable(part)
    if isinstance(part, Mapping):
        return {_escaped(name): _escaped(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_escaped(value) for value in part]
    return part


def _sides(panel: ChartPanel) -> list[Any]:
    """Loss and the second figure; by method where there is one k."""
    is_one = panel.is_timed and len({point.at for point in panel.points}) == 1
    return _by_method(panel) if is_one else _against(panel)


def _against(panel: ChartPanel) -> list[Any]:
    """Both against the figure along the charts, a line for each method or other value."""
    import altair

    across = _across(panel)
    base = altair.Chart(_values(_rows(panel))).encode(x=across, **_looks(panel))
    bounds = altair.Chart(_values([{"at": k, "loss": v} for k, v in panel.bounds.items()]))
    bound = bounds.mark_line(color="#777777", strokeDash=[2, 3]).encode(x=across, y="loss:Q")
    marks = [(_loss_axis(panel, "Y"), [bound] if panel.bounds else []), (_second_axis(panel), [])]
    return [
        altair.layer(
            _headroom(),
            *under,
            base.mark_line(strokeWidth=2).encode(y=axis),
            *(mark.encode(y=axis) for mark in _marks(base, 75)),
        ).properties(width=WIDTH, height=HEIGHT, title=title)
        for (axis, under), title in zip(marks, _titles(panel), strict=True)
    ]


def _by_method(panel: ChartPanel) -> list[Any]:
    """Both of one k, a row for each method, what loses least on top."""
    import altair

    order = [point.line for point in sorted(panel.points, key=lambda point: point.loss)]
    rows = altair.Y("line:N", sort=order, title=None, axis=altair.Axis(grid=True))
    base = altair.Chart(_values(_rows(panel))).encode(y=rows)
    looks = _looks(panel, legend=False)
    del looks["strokeDash"]  # there are no lines
    bounds = altair.Chart(_values([{"loss": value} for value in panel.bounds.values()]))
    bound = bounds.mark_rule(color="#777777", strokeDash=[2, 3], strokeWidth=2).encode(x="loss:Q")
    marks = [
        ("loss", ".4~g", _loss_axis(panel, "X"), [bound]),
        ("second", ".3~g", _second_axis(panel, "X"), []),
    ]
    return [
        altair.layer(
            _headroom(),
            *under,
            *(mark.encode(x=axis, **looks) for mark in _marks(base, 110)),
            base.mark_text(align="left", dx=10, fontSize=12).encode(
                x=axis, text=altair.Text(f"{name}:Q", format=form)
            ),
        ).properties(width=WIDTH, height=max(ROW * len(order), 3 * ROW), title=title)
        for (name, form, axis, under), title in zip(marks, _titles(panel), strict=True)
    ]


def _headroom() -> Any:
    """What holds titles at one height: they stand above the highest label or mark of a chart."""
    import altair

    line = altair.Chart(_values([{}])).mark_rule(opacity=0)
    return line.encode(x=altair.value(0), y=altair.value(-HEADROOM), y2=altair.value(0))


def _titles(panel: ChartPanel) -> tuple[Any, Any]:
    """The titles of both charts, with what a reader must know of their marks below."""
    import altair

    places = {point.at for point in panel.points}
    at = f", k = {places.pop():,}" if panel.is_timed and len(places) == 1 else ""
    known = "; dotted: no recoding into nodes loses less" if panel.bounds else ""
    is_cut = any(point.is_cut for point in panel.points)
    cut = [f"hollow: cut short by {panel.ended_by}"] * is_cut
    second, less = "Suppressed records", "what the limit was used for"
    if panel.is_timed:
        second, less = f"Time to minimize {panel.loss}{at}", "less is better"
    return (
        altair.Title(f"Loss: {panel.loss}{at}", subtitle=[f"less is better{known}", *cut]),
        altair.Title(second, subtitle=[less, *cut]),
    )


def _across(panel: ChartPanel) -> Any:
    """The axis along the charts: places in order for values that are no numbers."""
    import altair

    if panel.order:
        return altair.X("at:O", title=panel.across, sort=list(panel.order))
    scale = altair.Scale(type="log" if panel.is_log else "linear", nice=False, padding=14)
    places: Any = sorted({point.at for point in panel.points})
    axis = altair.Axis(values=places, format=",~g", labelOverlap="greedy", grid=False)
    return altair.X("at:Q", title=panel.across, scale=scale, axis=axis)


def _loss_axis(panel: ChartPanel, channel: str) -> Any:
    import altair

    per_cell = panel.loss in CELL_MEASURES and not CELL_MEASURES[panel.loss].total
    title = f"{panel.loss} (average per cell)" if per_cell else panel.loss
    most = max(point.loss for point in panel.points)
    scale = altair.Scale(
        domain=[0, most * (CHART_ROOM if channel == "X" else 1) or 1], nice=channel == "Y"
    )
    axis = altair.Axis(labelOverlap="greedy", labelSeparation=6)
    return getattr(altair, channel)("loss:Q", title=title, scale=scale, axis=axis)


def _second_axis(panel: ChartPanel, channel: str = "Y") -> Any:
    """Seconds, which span from hundredths to minutes, by powers of ten; else shares."""
    import altair

    if not panel.is_timed:
        axis = altair.Axis(format=".2~%")
        return altair.Y("second:Q", title="suppressed records", axis=axis)
    seconds = [max(point.second, FASTEST) for point in panel.points]
    return getattr(altair, channel)(
        "second:Q",
        title="seconds (logarithmic)",
        scale=altair.Scale(type="log", domain=[min(seconds) / 1.5, max(seconds) * 2], nice=False),
        axis=altair.Axis(format="~g", tickCount=5),
    )


def _looks(panel: ChartPanel, *, legend: bool = True) -> dict[str, Any]:
    """A colour, a mark and a dash for each line, the same in every chart."""
    import altair

    used = {point.line for point in panel.points}
    names = {name: at for at, name in enumerate(panel.lines) if name in used}
    shown = altair.Legend(title=panel.legend, orient="right") if legend and panel.legend else None

    def scale(looks: Sequence[Any], *, repeats: int = 1) -> Any:
        values = [looks[at // repeats % len(looks)] for at in names.values()]
        return altair.Scale(domain=list(names), range=values)

    return {
        "color": altair.Color("line:N", legend=shown, scale=scale(COLOURS)),
        "shape": altair.Shape("line:N", legend=shown, scale=scale(MARKS)),
        "strokeDash": altair.StrokeDash(
            "line:N", legend=shown, scale=scale(DASHES, repeats=len(COLOURS))
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


def _rows(panel: ChartPanel) -> list[dict[str, Any]]:
    least = FASTEST if panel.is_timed else 0.0
    return [
        {
            "line": point.line,
            "at": point.at,
            "loss": point.loss,
            "second": max(point.second, least),
            "cut": point.is_cut,
        }
        for point in panel.points
    ]


def _values(rows: list[dict[str, Any]]) -> Any:
    """Rows as the data of a chart."""
    import altair

    made: Any = altair.Data  # which says nothing of its types
    return made(values=rows)
