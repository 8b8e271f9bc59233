"""Charts of a sweep: loss and suppressed records against the figures of the policy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.comparison.drawing import (
    COLOURS,
    HEIGHT,
    MARKS,
    WIDTH,
    PageTable,
    refuse_chart,
    rendered,
    values_of,
)
from sqlanon.engine.files import write_file
from sqlanon.errors import PolicyError
from sqlanon.resources import html_page

if TYPE_CHECKING:
    from sqlanon.comparison.sweep_report import Sweep, SweptPoint


@dataclass(frozen=True, slots=True)
class SweepPanel:
    """What the charts of a sweep show.

    Args:
        sweep: The sweep.
        across: The figure along the charts: the one of most values.
    """

    sweep: Sweep
    across: str

    @classmethod
    def of(cls, sweep: Sweep) -> SweepPanel:
        """The charts along the figure that has most values, the first of several."""
        return cls(sweep, max(sweep.axes, key=lambda name: len(sweep.axes[name])))

    @property
    def loss(self) -> str:
        """The loss that is drawn."""
        return self.sweep.loss_name

    @property
    def points(self) -> list[SweptPoint]:
        """The points that are drawn."""
        return [point for point in self.sweep.done if math.isfinite(point.loss)]

    @property
    def description(self) -> str:
        """What the charts show, for who does not see them."""
        least, most = (end(self.points, key=lambda each: each.loss) for end in (min, max))
        ends = (
            f"{each.loss:.6g} at "
            + ", ".join(f"{name} {value.label}" for name, value in each.values.items())
            for each in (least, most)
        )
        return (
            f"{self.loss} and suppressed records of {self.sweep.method} against {self.across}: "
            f"the loss goes from {' to '.join(ends)}."
        )

    @property
    def is_numeric(self) -> bool:
        """Whether the values along the charts are numbers, and not of several kinds."""
        return all(":" not in each.label for each in self.sweep.axes[self.across])

    def series(self, point: SweptPoint) -> str:
        """What the line is called that a point is on."""
        others = {n: each.label for n, each in point.values.items() if n != self.across}
        if len(others) == 1:  # the legend says which figure it is
            return next(iter(others.values()))
        return ", ".join(f"{name} {label}" for name, label in others.items())

    def rows(self) -> list[dict[str, Any]]:
        """The points as the data of the charts."""
        return [
            {
                "x": point.values[self.across].figure
                if self.is_numeric
                else point.values[self.across].label,
                "series": self.series(point),
                "loss": point.loss,
                "suppressed": point.report.suppressed_records / point.report.records,
            }
            for point in self.points
            if point.report is not None
        ]


@dataclass(frozen=True, slots=True)
class SweepSection:
    """The charts of a sweep with their tables."""

    panel: SweepPanel
    tables: Sequence[PageTable]
    measures: Sequence[PageTable] = ()


@dataclass(frozen=True, slots=True)
class SweepDrawing:
    """All that a page of a sweep shows, by the names of `Drawing`."""

    title: str
    sections: Sequence[SweepSection]
    lines: Sequence[str]
    notes: Sequence[str]
    created: str
    command: str = "plan --sweep"


def draw_sweep(sweep: Sweep, path: str | Path, *, overwrite: bool = False) -> None:
    """Writes the charts, or a page with charts and tables.

    Raises:
        PolicyError: What draws is not installed, or there is nothing to draw.
        SourceError: The file cannot be written.
    """
    file, panel = refuse_chart(path, overwrite=overwrite), SweepPanel.of(sweep)
    if not panel.points:
        raise PolicyError("no point of the sweep has a result, so there is nothing to draw")
    picture = _picture(panel)
    if file.suffix.lower() == ".svg":
        write_file(file, picture)
        return
    sections = [SweepSection(panel, sweep.tables())]
    created = sweep.provenance.created
    drawing = SweepDrawing(sweep.title, sections, list(sweep.lines()), sweep.notes, created)
    write_file(file, html_page("comparison", drawing=drawing, pictures=[picture]))


def _picture(panel: SweepPanel) -> str:
    """Loss and suppressed records side by side, a line for each value of the other figures."""
    import altair

    base = altair.Chart(values_of(panel.rows())).encode(x=_across(panel), **_looks(panel))
    loss = altair.Y("loss:Q", title=panel.loss)
    suppressed = altair.Y(
        "suppressed:Q", title="suppressed records", axis=altair.Axis(format=".2~%")
    )
    sides = [
        altair.layer(
            base.mark_line(strokeWidth=2).encode(y=axis),
            base.mark_point(filled=True, size=75, opacity=1).encode(y=axis),
        ).properties(width=WIDTH, height=HEIGHT, title=altair.Title(title, subtitle=told))
        for axis, title, told in (
            (loss, f"Loss: {panel.loss}", "less is better"),
            (suppressed, "Suppressed records", "what the limit was used for"),
        )
    ]
    return rendered(altair.hconcat(*sides, spacing=28, description=panel.description))


def _across(panel: SweepPanel) -> Any:
    """The axis along the charts: powers for k, places in order for values that are no numbers."""
    import altair

    figures = [each.figure for each in panel.sweep.axes[panel.across]]
    if not panel.is_numeric:
        order = [each.label for each in panel.sweep.axes[panel.across]]
        return altair.X("x:O", title=panel.across, sort=order)
    scale = altair.Scale(type="log" if panel.across == "k" else "linear", nice=False, padding=14)
    axis = altair.Axis(values=figures, format="~g", labelOverlap="greedy", grid=False)
    return altair.X("x:Q", title=panel.across, scale=scale, axis=axis)


def _looks(panel: SweepPanel) -> dict[str, Any]:
    """A colour and a mark for each line."""
    import altair

    names = list(dict.fromkeys(map(panel.series, panel.points)))
    others = [name for name in panel.sweep.axes if name != panel.across]
    legend = altair.Legend(title=", ".join(others), orient="right") if others else None

    def scale(values: Sequence[str]) -> Any:
        return altair.Scale(
            domain=names, range=[values[n % len(values)] for n in range(len(names))]
        )

    return {
        "color": altair.Color("series:N", legend=legend, scale=scale(COLOURS)),
        "shape": altair.Shape("series:N", legend=legend, scale=scale(MARKS)),
    }
