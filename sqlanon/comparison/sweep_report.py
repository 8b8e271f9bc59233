"""Sweep: what a method makes of one table at each point of a grid, as a document and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from sqlanon.comparison.report import Failure
from sqlanon.policy.varied import Variation
from sqlanon.reports.document import Provenance, page
from sqlanon.reports.plan import Report
from sqlanon.reports.shown import SelfShown, ShownTable
from sqlanon.wording import counted, figure, in_columns, key, part_of

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class SweptPoint:
    """A point of a grid: its result, or why there is none.

    Args:
        values: The value of each figure that is swept.
        report: What a plan would report; None where there is none.
        failure: Why there is none.
        seconds: How long it took, with what earlier points left for it.
    """

    values: Mapping[str, Variation]
    report: Report | None = None
    failure: Failure | None = None
    seconds: float = field(default=0.0, compare=False)

    @property
    def loss(self) -> float:
        """The loss that was minimized; infinite where there is no result."""
        return math.inf if self.report is None else self.report.loss[key(self.report.loss_name)]

    @property
    def labels(self) -> tuple[str, ...]:
        """The values as a reader knows them."""
        return tuple(each.label for each in self.values.values())

    def to_dict(self) -> dict[str, Any]:
        """The document of its plan, or the reason, with what was asked for as `asked`."""
        asked = {"asked": {name: _written(each) for name, each in self.values.items()}}
        if self.report is not None:
            own = {**self.report.to_dict(), "seconds": {"total": self.seconds}}
            return {**asked, **own, "error": None}
        assert self.failure is not None
        error = {"kind": self.failure.kind, "message": self.failure.message}
        return {**asked, "holds": False, "seconds": {"total": self.seconds}, "error": error}


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(SelfShown):
    """A method on one table at each point of a grid.

    Args:
        table: The table's name; None where it has none.
        axes: The values of each figure that is swept.
        points: The results, the last figure varying fastest.
        method: The method, as it was asked for.
        loss_name: The loss that was minimized.
        notes: What a reader should know besides.
        seconds: How long all of it took.
        provenance: What it was made of and when; its policy is that of no single point.
    """

    table: str | None
    axes: Mapping[str, Sequence[Variation]]
    points: tuple[SweptPoint, ...]
    method: str
    loss_name: str
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    @property
    def done(self) -> tuple[SweptPoint, ...]:
        """The points that have a result."""
        return tuple(point for point in self.points if point.report is not None)

    def to_dict(self) -> dict[str, Any]:
        """The document of `plan --sweep --json`."""
        return {
            **self.provenance.head(),
            "table": self.table,
            "method": self.method,
            "loss": self.loss_name,
            "sweep": {name: [_written(each) for each in own] for name, own in self.axes.items()},
            "points": [point.to_dict() for point in self.points],
            "notes": list(self.notes),
            "seconds": {"total": self.seconds},
        }

    def headline(self) -> str:
        """What was swept."""
        return self.title

    def shown_tables(self) -> list[ShownTable]:
        """A row for each point."""
        heads, rows = self.listing()
        return [ShownTable(rows, heads)]

    def to_text(self) -> str:
        """A page for a reader: the loss by the last two figures, then every point."""
        lines = [self.title]
        for title, rows in self._grids():
            lines += ["", title, *in_columns(rows, ">" * len(rows[0]))]
        heads, rows = self.listing()
        aligned = ">" * len(self.axes) + ">" * (len(heads) - len(self.axes) - 1) + "<"
        lines += ["", "each point", *in_columns([heads, *rows], aligned)]
        ends = list(self.lines())
        return page([*lines, *([""] if ends else []), *ends], self.notes)

    @property
    def title(self) -> str:
        """What was swept, in a line."""
        records = {point.report.records for point in self.done if point.report is not None}
        of = "".join(f", {counted(each, 'record')}" for each in records)
        done = f"{len(self.done)} of {counted(len(self.points), 'point')} done"
        return f"{self.table or 'table'}{of}: {self.method}, {done} in {self.seconds:.1f} s"

    def _grids(self) -> Iterator[tuple[str, list[list[str]]]]:
        """The loss against the last figure and the one before, for each value of all others."""
        if len(self.axes) < 2:
            return
        *others, down, across = self.axes
        found = {point.labels: point for point in self.points}
        for fixed in product(*(self.axes[name] for name in others)):
            at = "".join(f", {each.key} {each.label}" for each in fixed)
            labels = tuple(each.label for each in fixed)
            rows = [[f"{down} \\ {across}", *(each.label for each in self.axes[across])]]
            for own in self.axes[down]:
                cells = [_loss(found[*labels, own.label, each.label]) for each in self.axes[across]]
                rows.append([own.label, *cells])
            yield f"{self.loss_name} by {down} (down) and {across} (across){at}", rows

    def listing(self) -> tuple[list[str], list[list[str]]]:
        """Heads and rows of a table with a row for each point."""
        heads = [
            *(*self.axes, self.loss_name, "suppressed", "classes", "smallest", "seconds"),
            "levels, or what the recoding is",
        ]
        return heads, [self._row(point) for point in self.points]

    def _row(self, point: SweptPoint) -> list[str]:
        report, seconds = point.report, f"{point.seconds:.2f}"
        if report is None:
            assert point.failure is not None
            return [*point.labels, *[NOTHING] * 4, seconds, "none, see below"]
        levels = ", ".join(f"{name} {at}" for name, at in report.levels.items())
        return [
            *point.labels,
            _loss(point),
            part_of(report.suppressed_records, report.records),
            f"{report.statistics.classes:,}",
            f"{report.statistics.smallest:,}",
            seconds,
            levels or report.method,
        ]

    def lines(self) -> Iterator[str]:
        """What the marks mean, and why points have no result."""
        if any(point.report is not None and point.report.is_cut for point in self.points):
            yield "> cut short by the time limit: with more time it may lose less"
        where: dict[str, list[str]] = {}
        for point in self.points:
            if point.failure is not None:
                named = (f"{name} {each.label}" for name, each in point.values.items())
                where.setdefault(point.failure.message, []).append(", ".join(named))
        for reason, found in where.items():
            yield f"{NOTHING} {'; '.join(found)}: {reason}"

    def chart(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Draws the loss and the records that are suppressed against the figures.

        Args:
            path: A file: .svg, or .html with the tables beside the charts.
            overwrite: Whether it may be there already.

        Raises:
            PolicyError: What draws is not installed, or no point has a result.
            SourceError: The file has another ending or cannot be written.
        """
        from sqlanon.comparison.sweep_drawing import (  # most sweeps draw none
            SweepDrawing,
            SweepMark,
            SweepPanel,
            SweepSection,
            draw_sweep,
            widest,
        )

        axes = {name: [each.label for each in own] for name, own in self.axes.items()}
        marks = [
            SweepMark(
                {name: each.label for name, each in point.values.items()},
                point.values[widest(axes)].figure,
                point.loss,
                point.report.suppressed_records / point.report.records,
            )
            for point in self.done
            if point.report is not None and math.isfinite(point.loss)
        ]
        section = SweepSection(SweepPanel(self.loss_name, self.method, axes, marks), self.tables())
        lines, created = list(self.lines()), self.provenance.created
        drawing = SweepDrawing(self.title, [section], lines, self.notes, created)
        draw_sweep(drawing, path, overwrite=overwrite)

    def tables(self) -> list[ShownTable]:
        """The tables of the page, for who does not see the charts."""
        made = [ShownTable(rows[1:], rows[0], title) for title, rows in self._grids()]
        heads, rows = self.listing()
        return [*made, ShownTable(rows, heads, "Each point")]


def _written(value: Variation) -> float | str:
    """A value for a document: a number, unless it has a kind besides."""
    return value.label if value.has_kind else value.figure


def _loss(point: SweptPoint) -> str:
    """The loss of a point for a reader, marked where more time may lower it."""
    if point.report is None:
        return NOTHING
    return f"{'>' if point.report.is_cut else ''}{figure(point.loss)}"
