"""Comparison and sweep: what methods, or one at each point of a grid, make of one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.methods.options import EFFORTS
from sqlanon.methods.registry import AUTO, METHODS
from sqlanon.policy.varied import Variation
from sqlanon.reports.bound import BoundReport, ended_notes
from sqlanon.reports.document import Provenance, SelfShown, ShownTable, finite, page
from sqlanon.reports.plan import Report
from sqlanon.reports.search import ClusterSearch
from sqlanon.search.clustering.effort import PASSES
from sqlanon.wording import at_least, counted, figure, in_columns, key, part_of

if TYPE_CHECKING:
    from sqlanon.comparison.drawing import ChartPanel

TO_NODES = ("full-domain", "local")
"""Recodings into nodes of the hierarchies, for which a bound of all of these holds."""
MEGABYTE = 1_000_000
NOTHING = "–"
LEAST_SAVED = 0.1
"""What rows must have in common for a line that says so [seconds]."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a row of a comparison asks for.

    Args:
        method: The method.
        loss: The loss that it minimizes.
        k: Smallest class allowed [records].
    """

    method: str
    loss: str
    k: int

    def to_dict(self) -> dict[str, Any]:
        """The entry of a row's document."""
        return {"method": self.method, "loss": self.loss, "k": self.k}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a method has no result.

    Args:
        kind: Name of the error.
        message: The reason.
        exit_code: What a command of this method alone would exit with.
    """

    kind: str
    message: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class PageSection:
    """What a page shows of a loss.

    Args:
        loss: The loss.
        description: What its charts show.
        tables: Its tables, each with the lengths of a bar for each row [%], or without any.
        measures: The same results by every measure.
    """

    loss: str
    description: str
    tables: Sequence[tuple[ShownTable, Sequence[Sequence[float]]]]
    measures: Sequence[ShownTable] = ()


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A method's result, or why there is none.

    Args:
        asked: What was asked for.
        recoding: `full-domain`, `global` or `local`.
        report: What a plan would report; None where there is none.
        failure: Why there is none.
        seconds: How long it took.
        shared_seconds: How much longer it takes without what rows before it had found already.
        peak_memory: Most memory that the process held meanwhile, the table in it [bytes]; None
            where the system does not tell.
        memory_before: What it held when the method began [bytes].
        reason: Why `auto` chooses this method for this policy and loss; None where it does not.
    """

    asked: Asked
    recoding: str
    report: Report | None = None
    failure: Failure | None = None
    seconds: float = field(default=0.0, compare=False)
    shared_seconds: float = field(default=0.0, compare=False)
    peak_memory: int | None = field(default=None, compare=False)
    memory_before: int | None = field(default=None, compare=False)
    reason: str | None = None

    @property
    def value(self) -> float:
        """The loss that was minimized; infinite where there is no result."""
        return float("inf") if self.report is None else self.report.loss[key(self.asked.loss)]

    @property
    def seconds_alone(self) -> float:
        """How long it takes by itself [seconds]."""
        return self.seconds + self.shared_seconds

    @property
    def bounds_by_itemsets(self) -> bool:
        """Whether prices of records say what every recoding into nodes loses at least."""
        if self.report is None or self.is_cut or not self.report.bounds_every_recoding:
            return False
        search = self.report.search
        return isinstance(search, ClusterSearch) and search.bound in EFFORTS

    @property
    def is_cut(self) -> bool:
        """Whether a time limit ended the search before its own end."""
        return self.report is not None and self.report.is_cut


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(SelfShown):
    """Methods side by side on one table.

    Args:
        table: The table's name; None where it has none.
        rows: The results, by loss, k and what is lost.
        losses: The losses that were minimized.
        ks: The values of k.
        time_limit: Seconds that each method had; None for no limit.
        notes: What a reader should know besides.
        seconds: How long all of it took.
        bounds: What every recoding into nodes loses at least, by loss and k, where no row tells.
        passes: Passes of refinements, where these were few for a first look.
        provenance: What it was made of and when.
    """

    table: str | None
    rows: tuple[ComparedRow, ...]
    losses: tuple[str, ...]
    ks: tuple[int, ...]
    time_limit: float | None = None
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    bounds: tuple[BoundReport, ...] = ()
    passes: int | None = None
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    @property
    def done(self) -> tuple[ComparedRow, ...]:
        """The rows that have a result."""
        return tuple(row for row in self.rows if row.report is not None)

    @property
    def failed(self) -> tuple[ComparedRow, ...]:
        """The rows that have none."""
        return tuple(row for row in self.rows if row.report is None)

    def section(self, loss: str, k: int) -> list[ComparedRow]:
        """The rows of one loss and k, what loses least first, failures last."""
        rows = [row for row in self.rows if (row.asked.loss, row.asked.k) == (loss, k)]
        return sorted(rows, key=lambda row: row.value)

    def bound(self, loss: str, k: int) -> float | None:
        """The highest bound known of all recodings into nodes of the hierarchies; None for none.

        What satisfies a k satisfies every smaller one, so bounds of smaller ones hold, too.
        """
        known = [
            report.lower_bound for report in self.bounds if report.loss == loss and report.k <= k
        ]
        known += [
            row.report.lower_bound
            for row in self.rows
            if row.asked.loss == loss and row.asked.k <= k
            if row.report is not None and row.report.bounds_every_recoding
            if row.report.lower_bound is not None
        ]
        return max(known, default=None)

    def ratio(self, row: ComparedRow) -> float | None:
        """How many times the bound a row loses; None where no bound holds for its recoding.

        Schemes merge values that no node stands for, and may lose less than any recoding by nodes.
        """
        bound = self.bound(row.asked.loss, row.asked.k)
        if not bound or row.report is None or row.recoding not in TO_NODES:
            return None
        return row.value / bound

    def to_dict(self) -> dict[str, Any]:
        """The document of `compare --json`."""
        return {
            **self.provenance.head(),
            "table": self.table,
            "losses": list(self.losses),
            "ks": list(self.ks),
            "time_limit": self.time_limit,
            "passes": self.passes,
            "bounds": [_bound_entry(report) for report in self.bounds],
            "methods": [self._entry(row) for row in self.rows],
            "notes": list(self.notes),
            "seconds": {"total": self.seconds},
        }

    def _entry(self, row: ComparedRow) -> dict[str, Any]:
        """A row's document: that of its plan, or its reason, and what is known of the row."""
        ratio, bound = self.ratio(row), self.bound(row.asked.loss, row.asked.k)
        known = {
            "asked": row.asked.to_dict(),
            "recoding": row.recoding,
            "chosen_by_auto": row.reason is not None,
            "reason": row.reason,
            "bound": bound if row.recoding in TO_NODES else None,
            "ratio": None if ratio is None else finite(ratio),
            "cut_short": row.is_cut,
            "shared_seconds": row.shared_seconds,
            "peak_memory": row.peak_memory,
            "memory_before": row.memory_before,
        }
        if row.report is not None:
            return {**row.report.to_dict(), **known, "error": None}
        assert row.failure is not None
        return {
            "method": row.asked.method,
            "loss": {"name": row.asked.loss, "value": None},
            "lower_bound": None,
            "holds": False,
            "seconds": {"total": row.seconds},
            **known,
            "error": {"kind": row.failure.kind, "message": row.failure.message},
        }

    def headline(self) -> str:
        """What was compared, in a line."""
        done = f"{len(self.done)} of {counted(len(self.rows), 'search', more='searches')} done"
        return f"{_source(self.table, self.done)}: {done} in {self.seconds:.1f} s"

    def shown_tables(self) -> list[ShownTable]:
        """The results, loss by loss and k by k."""
        return [self.section_table(loss, k) for loss, k in self.sections]

    def to_text(self) -> str:
        """A page for a reader."""
        lines = [self.headline()]
        for table in self.shown_tables():
            lines += ["", table.caption]
            if table.rows:
                aligned = "<" + ">" * (len(table.heads) - 1)
                lines += in_columns([table.heads, *table.rows], aligned)
        ends = self.lines()
        return page([*lines, *([""] if ends else []), *ends], self.notes)

    @property
    def sections(self) -> list[tuple[str, int]]:
        """Each loss with each k."""
        return [(loss, k) for loss in self.losses for k in self.ks]

    def lines(self) -> list[str]:
        """What the marks beside methods mean, and why others have no result."""
        chosen = [f"* auto chooses {r.asked.method}: {r.reason}" for r in self.rows if r.reason]
        lines = list(dict.fromkeys(chosen))
        if any(row.is_cut for row in self.rows):
            lines.append(f"> cut short by {self.ended_by}: with more time it may lose less")
        if self.passes is not None:
            lines.append(
                f"clusters were refined in {self.passes} passes for a first look, where a plan has "
                f"{PASSES}: with --passes {PASSES} they lose less"
            )
        saved = sum(row.shared_seconds for row in self.done)
        if saved >= LEAST_SAVED:
            lines.append(
                "seconds are those of each method by itself; what several share was done once, "
                f"which saved {saved:.1f} s"
            )
        where: dict[tuple[str, str], list[str]] = {}
        for row in self.failed:
            assert row.failure is not None
            asked = row.asked
            reason = row.failure.message.removeprefix(f"{asked.method} ")
            where.setdefault((asked.method, reason), []).append(f"{asked.loss} k = {asked.k:,}")
        for (method, reason), sections in where.items():
            at = "" if len(sections) == len(self.sections) else f" ({', '.join(sections)})"
            lines.append(f"– {method}{at}: {reason}")
        return lines

    @property
    def ended_by(self) -> str:
        """What cuts a search short."""
        return "its share of the time" if self.time_limit is None else "the time limit"

    def caption(self, loss: str, k: int) -> str:
        """What a section is of, and what is known of every recoding, with how long that took."""
        bound = self.bound(loss, k)
        known = "no lower bound above 0 of all recodings is known"
        if bound:
            known = f"no recoding into nodes of the hierarchies loses less than {at_least(bound)}"
        sought = [report for report in self.bounds if (report.loss, report.k) == (loss, k)]
        details = [
            "; ".join(
                [f"sought in {report.seconds:.1f} s", *ended_notes(report.ended, self.ended_by)]
            )
            for report in sought
        ]
        return f"{loss}, k = {k:,}: {known}{''.join(f' ({text})' for text in details)}"

    def section_table(self, loss: str, k: int) -> ShownTable:
        """The results of a section, what loses least first."""
        rows = [self.cells(row, row.report) for row in self.section(loss, k) if row.report]
        return ShownTable(rows, self.heads(loss), self.caption(loss, k))

    def heads(self, loss: str) -> list[str]:
        """The names of a section's columns."""
        others = [other for other in self.losses if other != loss]
        return ["method", loss, "times bound", *others, *_FIGURES]

    def cells(self, row: ComparedRow, report: Report) -> list[str]:
        """The cells of a row that has a result."""
        ratio = self.ratio(row)
        others = [other for other in self.losses if other != row.asked.loss]
        marks = f"{'*' if row.reason else ' '}{'>' if row.is_cut else ' '}"
        return [
            f"{marks} {row.asked.method}",
            _measure(report, row.asked.loss),
            "–" if ratio is None else f"{ratio:,.3g}" if ratio < 100 else f"{ratio:,.0f}",
            *(_measure(report, other) for other in others),
            *(text(row, report) for text in _FIGURES.values()),
        ]

    def chart(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Draws loss and seconds by method, against k where there are several.

        Args:
            path: A file: .svg, or .html with bars beside the tables.
            overwrite: Whether it may be there already.

        Raises:
            PolicyError: What draws a picture is not installed, or no method has a result.
            SourceError: The file has another ending or cannot be written.
        """
        from sqlanon.comparison.drawing import draw  # most comparisons draw none

        panels = [self.panel(loss) for loss in self.losses if self._finite(loss)]
        draw(
            path,
            panels,
            what="method",
            overwrite=overwrite,
            bars=True,
            title=self.headline(),
            sections=[self._section(panel) for panel in panels],
            lines=self.lines(),
            notes=self.notes,
            created=self.provenance.created,
            command="compare",
        )

    def _finite(self, loss: str) -> list[ComparedRow]:
        """The rows of a loss that a chart can show."""
        return [row for row in self.done if row.asked.loss == loss and math.isfinite(row.value)]

    def panel(self, loss: str) -> ChartPanel:
        """The charts of one loss."""
        from sqlanon.comparison.drawing import ChartPanel, ChartPoint

        rows = self._finite(loss)
        least = [
            min((row for row in rows if row.asked.k == k), key=lambda row: row.value)
            for k in sorted({row.asked.k for row in rows})
        ]
        best = "; ".join(
            f"at k = {row.asked.k:,} {row.asked.method} loses least, {row.value:.6g}"
            for row in least
        )
        cut = list(dict.fromkeys(row.asked.method for row in rows if row.is_cut))
        ended = f" Cut short by {self.ended_by}: {', '.join(cut)}." if cut else ""
        methods = len({row.asked.method for row in rows})
        return ChartPanel(
            loss,
            [
                ChartPoint(row.asked.method, row.asked.k, row.value, row.seconds_alone, row.is_cut)
                for row in rows
            ],
            description=f"{loss} and seconds of {methods} methods: {best}.{ended}",
            lines=[AUTO, *METHODS],
            across="k (smallest class allowed)",
            legend="method",
            is_timed=True,
            bounds={k: bound for k in self.ks if (bound := self.bound(loss, k))},
            ended_by=self.ended_by,
        )

    def _section(self, panel: ChartPanel) -> PageSection:
        """The tables of one loss, with a bar for what each method loses."""
        loss, most = panel.loss, max(point.loss for point in panel.points)
        tables, measures = [], []
        for k in self.ks:
            done = [(row, row.report) for row in self.section(loss, k) if row.report]
            bars = [[100 * row.value / most if 0 < row.value <= most else 0] for row, _ in done]
            tables.append((self.section_table(loss, k), bars))
            known = dict.fromkeys(name for _, report in done for name in report.loss)
            shown = [
                [row.asked.method, *(_measure(report, name) for name in known)]
                for row, report in done
            ]
            measures.append(ShownTable(shown, ["method", *known], f"{loss}, k = {k:,}"))
        return PageSection(loss, panel.description, tables, measures)


def _bound_entry(bound: BoundReport) -> dict[str, Any]:
    names = ("loss", "k", "lower_bound", "seconds", "cut_short", "notes")
    return {name: value for name, value in bound.to_dict().items() if name in names}


def _peak(row: ComparedRow) -> str:
    return "–" if row.peak_memory is None else f"{row.peak_memory / MEGABYTE:,.0f}"


_FIGURES: Mapping[str, Callable[[ComparedRow, Report], str]] = {
    "classes": lambda _, report: f"{report.statistics.classes:,}",
    "smallest": lambda _, report: f"{report.statistics.smallest:,}",
    "largest": lambda _, report: f"{report.statistics.largest:,}",
    "suppressed": lambda _, report: part_of(report.suppressed_records, report.records),
    "seconds": lambda row, _: f"{row.seconds_alone:.2f}",
    "peak [MB]": lambda row, _: _peak(row),
}
"""The last columns of a section: their heads and cells."""


def _measure(report: Report, name: str) -> str:
    """A measure of a result; a dash where it does not apply."""
    value = report.loss.get(key(name))
    return "–" if value is None else figure(value)


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
        return tuple(value.label for value in self.values.values())

    def to_dict(self) -> dict[str, Any]:
        """The document of its plan, or the reason, with what was asked for as `asked`."""
        asked = {"asked": {name: _written(value) for name, value in self.values.items()}}
        if self.report is not None:
            document = {**self.report.to_dict(), "seconds": {"total": self.seconds}}
            return {**asked, **document, "error": None}
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
            "sweep": {
                name: [_written(value) for value in axis] for name, axis in self.axes.items()
            },
            "points": [point.to_dict() for point in self.points],
            "notes": list(self.notes),
            "seconds": {"total": self.seconds},
        }

    def headline(self) -> str:
        """What was swept, in a line."""
        done = f"{len(self.done)} of {counted(len(self.points), 'point')} done"
        return f"{_source(self.table, self.done)}: {self.method}, {done} in {self.seconds:.1f} s"

    def shown_tables(self) -> list[ShownTable]:
        """A row for each point."""
        return [self._listing("")]

    def to_text(self) -> str:
        """A page for a reader: the loss by the last two figures, then every point."""
        lines = [self.headline()]
        for table in self._grids():
            aligned = ">" * len(table.heads)
            lines += ["", table.caption, *in_columns([table.heads, *table.rows], aligned)]
        table = self._listing("each point")
        aligned = ">" * (len(table.heads) - 1) + "<"
        lines += ["", table.caption, *in_columns([table.heads, *table.rows], aligned)]
        ends = list(self.lines())
        return page([*lines, *([""] if ends else []), *ends], self.notes)

    def _grids(self) -> Iterator[ShownTable]:
        """The loss against the last figure and the one before, for each value of all others."""
        if len(self.axes) < 2:
            return
        *others, down, across = self.axes
        points = {point.labels: point for point in self.points}
        for fixed in product(*(self.axes[name] for name in others)):
            at = "".join(f", {value.key} {value.label}" for value in fixed)
            labels = tuple(value.label for value in fixed)
            heads = [value.label for value in self.axes[across]]
            rows = [
                [value.label, *(_loss(points[*labels, value.label, head]) for head in heads)]
                for value in self.axes[down]
            ]
            caption = f"{self.loss_name} by {down} (down) and {across} (across){at}"
            yield ShownTable(rows, [f"{down} \\ {across}", *heads], caption)

    def _listing(self, caption: str) -> ShownTable:
        """A table with a row for each point."""
        heads = [
            *(*self.axes, self.loss_name, "suppressed", "classes", "smallest", "seconds"),
            "levels, or what the recoding is",
        ]
        return ShownTable([self._row(point) for point in self.points], heads, caption)

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
                named = (f"{name} {value.label}" for name, value in point.values.items())
                where.setdefault(point.failure.message, []).append(", ".join(named))
        yield from (f"{NOTHING} {'; '.join(at)}: {reason}" for reason, at in where.items())

    def chart(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Draws the loss and the records that are suppressed against the figures.

        Args:
            path: A file: .svg, or .html with the tables beside the charts.
            overwrite: Whether it may be there already.

        Raises:
            PolicyError: What draws is not installed, or no point has a result.
            SourceError: The file has another ending or cannot be written.
        """
        from sqlanon.comparison.drawing import draw  # most sweeps draw none

        panels = [self.panel()] if self._finite() else []
        tables = [(table, ()) for table in (*self._grids(), self._listing("Each point"))]
        draw(
            path,
            panels,
            what="point of the sweep",
            overwrite=overwrite,
            title=self.headline(),
            sections=[PageSection(panel.loss, panel.description, tables) for panel in panels],
            lines=list(self.lines()),
            notes=self.notes,
            created=self.provenance.created,
            command="plan --sweep",
        )

    def _finite(self) -> list[tuple[SweptPoint, Report]]:
        """The points that a chart can show."""
        return [
            (point, point.report)
            for point in self.points
            if point.report is not None and math.isfinite(point.loss)
        ]

    def panel(self) -> ChartPanel:
        """The charts: against the figure of most values, the first of several."""
        from sqlanon.comparison.drawing import ChartPanel, ChartPoint

        across = max(self.axes, key=lambda name: len(self.axes[name]))
        others = [name for name in self.axes if name != across]
        is_numeric = not any(value.has_kind for value in self.axes[across])
        points = []
        for point, report in self._finite():
            value = point.values[across]
            # Of a single other figure the legend says which it is.
            names = [f"{n} " * (len(others) > 1) + point.values[n].label for n in others]
            share = report.suppressed_records / report.records
            at = value.figure if is_numeric else value.label
            points.append(ChartPoint(", ".join(names), at, point.loss, share))
        ordered = sorted((point for point, _ in self._finite()), key=lambda point: point.loss)
        ends = (
            f"{point.loss:.6g} at "
            + ", ".join(f"{name} {value.label}" for name, value in point.values.items())
            for point in (ordered[0], ordered[-1])
        )
        return ChartPanel(
            self.loss_name,
            points,
            description=f"{self.loss_name} and suppressed records of {self.method} against "
            f"{across}: the loss goes from {' to '.join(ends)}.",
            lines=list(dict.fromkeys(point.line for point in points)),
            across=across,
            legend=", ".join(others),
            is_timed=False,
            is_log=across == "k",
            order=() if is_numeric else [value.label for value in self.axes[across]],
        )


def _written(value: Variation) -> float | str:
    """A value for a document: a number, unless it has a kind besides."""
    return value.label if value.has_kind else value.figure


def _loss(point: SweptPoint) -> str:
    """The loss of a point for a reader, marked where more time may lower it."""
    if point.report is None:
        return NOTHING
    return f"{'>' if point.report.is_cut else ''}{figure(point.loss)}"


def _source(table: str | None, done: Sequence[ComparedRow | SweptPoint]) -> str:
    """What was searched, with its number of records where any search tells it."""
    records = {result.report.records for result in done if result.report is not None}
    return "".join([table or "table", *(f", {counted(number, 'record')}" for number in records)])
