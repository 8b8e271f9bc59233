"""Charts of a sweep: loss and suppressed records against the figures of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.comparison.drawing import (
    HEIGHT,
    MARKS,
    SPACING,
    WIDTH,
    refuse_chart,
    rendered,
    values_of,
    write_page,
)
from sqlanon.engine.files import write_file
from sqlanon.errors import PolicyError
from sqlanon.pictures import COLOURS
from sqlanon.reports.shown import ShownTable


@dataclass(frozen=True, slots=True)
class SweepMark:
    """A point of the charts.

    Args:
        at: What was asked for there, by figure as a reader knows it.
        figure: The value along the charts as a number.
        loss: What was lost.
        suppressed: Share of the records that are suppressed.
    """

    at: Mapping[str, str]
    figure: float
    loss: float
    suppressed: float


@dataclass(frozen=True, slots=True)
class SweepPanel:
    """What the charts of a sweep show.

    Args:
        loss: The loss.
        method: The method.
        axes: The values of each figure as a reader knows them.
        marks: The points.
    """

    loss: str
    method: str
    axes: Mapping[str, Sequence[str]]
    marks: Sequence[SweepMark]

    @property
    def across(self) -> str:
        """The figure along the charts: the one of most values, the first of several."""
        return widest(self.axes)

    @property
    def description(self) -> str:
        """What the charts show, for who does not see them."""
        ends = (
            f"{each.loss:.6g} at " + ", ".join(f"{name} {at}" for name, at in each.at.items())
            for each in (end(self.marks, key=lambda mark: mark.loss) for end in (min, max))
        )
        return (
            f"{self.loss} and suppressed records of {self.method} against {self.across}: "
            f"the loss goes from {' to '.join(ends)}."
        )

    @property
    def is_numeric(self) -> bool:
        """Whether the values along the charts are numbers, and not of several kinds."""
        return all(":" not in label for label in self.axes[self.across])

    def series(self, mark: SweepMark) -> str:
        """What the line is called that a point is on."""
        others = {name: label for name, label in mark.at.items() if name != self.across}
        if len(others) == 1:  # the legend says which figure it is
            return next(iter(others.values()))
        return ", ".join(f"{name} {label}" for name, label in others.items())

    def rows(self) -> list[dict[str, Any]]:
        """The points as the data of the charts."""
        return [
            {
                "x": mark.figure if self.is_numeric else mark.at[self.across],
                "series": self.series(mark),
                "loss": mark.loss,
                "suppressed": mark.suppressed,
            }
            for mark in self.marks
        ]


def widest(axes: Mapping[str, Sequence[object]]) -> str:
    """The figure of most values, the first of several."""
    return max(axes, key=lambda name: len(axes[name]))


@dataclass(frozen=True, slots=True)
class SweepSection:
    """The charts of a sweep with their tables."""

    panel: SweepPanel
    tables: Sequence[ShownTable]
    measures: Sequence[ShownTable] = ()


@dataclass(frozen=True, slots=True)
class SweepDrawing:
    """All that a page of a sweep shows, by the names of `Drawing`."""

    title: str
    sections: Sequence[SweepSection]
    lines: Sequence[str]
    notes: Sequence[str]
    created: str
    command: str = "plan --sweep"


def draw_sweep(drawing: SweepDrawing, path: str | Path, *, overwrite: bool = False) -> None:
    """Writes the charts, or a page with charts and tables.

    Raises:
        PolicyError: What draws is not installed, or there is nothing to draw.
        SourceError: The file cannot be written.
    """
    file, [section] = refuse_chart(path, overwrite=overwrite), drawing.sections
    if not section.panel.marks:
        raise PolicyError("no point of the sweep has a result, so there is nothing to draw")
    sides = _sides(section.panel)
    if file.suffix.lower() == ".svg":
        write_file(file, _picture(sides, section.panel.description))
    else:
        write_page(drawing, [sides], file)


def _picture(sides: Sequence[Any], description: str) -> str:
    """Charts side by side."""
    import altair

    return rendered(altair.hconcat(*sides, spacing=SPACING, description=description))


def _sides(panel: SweepPanel) -> list[Any]:
    """Loss and suppressed records, a line for each value of the other figures."""
    import altair

    base = altair.Chart(values_of(panel.rows())).encode(x=_across(panel), **_looks(panel))
    loss = altair.Y("loss:Q", title=panel.loss)
    suppressed = altair.Y(
        "suppressed:Q", title="suppressed records", axis=altair.Axis(format=".2~%")
    )
    return [
        altair.layer(
            base.mark_line(strokeWidth=2).encode(y=axis),
            base.mark_point(filled=True, size=75, opacity=1).encode(y=axis),
        ).properties(width=WIDTH, height=HEIGHT, title=altair.Title(title, subtitle=told))
        for axis, title, told in (
            (loss, f"Loss: {panel.loss}", "less is better"),
            (suppressed, "Suppressed records", "what the limit was used for"),
        )
    ]


def _across(panel: SweepPanel) -> Any:
    """The axis along the charts: powers for k, places in order for values that are no numbers."""
    import altair

    if not panel.is_numeric:
        order = list(panel.axes[panel.across])
        return altair.X("x:O", title=panel.across, sort=order)
    scale = altair.Scale(type="log" if panel.across == "k" else "linear", nice=False, padding=14)
    figures = sorted({mark.figure for mark in panel.marks})
    axis = altair.Axis(values=figures, format="~g", labelOverlap="greedy", grid=False)
    return altair.X("x:Q", title=panel.across, scale=scale, axis=axis)


def _looks(panel: SweepPanel) -> dict[str, Any]:
    """A colour and a mark for each line."""
    import altair

    names = list(dict.fromkeys(map(panel.series, panel.marks)))
    others = [name for name in panel.axes if name != panel.across]
    legend = altair.Legend(title=", ".join(others), orient="right") if others else None

    def scale(values: Sequence[str]) -> Any:
        return altair.Scale(
            domain=names, range=[values[n % len(values)] for n in range(len(names))]
        )

    return {
        "color": altair.Color("series:N", legend=legend, scale=scale(COLOURS)),
        "shape": altair.Shape("series:N", legend=legend, scale=scale(MARKS)),
    }
