"""Comparison: what each method makes of one table, row by row, as a document and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.methods.options import EFFORTS
from sqlanon.reports.bound import BoundReport, ended_notes
from sqlanon.reports.document import Provenance, finite, page
from sqlanon.reports.plan import Report
from sqlanon.reports.search import ClusterSearch
from sqlanon.reports.shown import SelfShown, ShownTable
from sqlanon.search.clustering.effort import PASSES
from sqlanon.wording import at_least, counted, figure, in_columns, key, part_of

if TYPE_CHECKING:
    from sqlanon.comparison.drawing import PageSection

TO_NODES = ("full-domain", "local")
"""Recodings into nodes of the hierarchies, for which a bound of all of these holds."""
MEGABYTE = 1_000_000
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
        own = [row for row in self.rows if (row.asked.loss, row.asked.k) == (loss, k)]
        return sorted(own, key=lambda row: row.value)

    def bound(self, loss: str, k: int) -> float | None:
        """The highest bound known of all recodings into nodes of the hierarchies; None for none.

        What satisfies a k satisfies every smaller one, so bounds of smaller ones hold, too.
        """
        known = [each.lower_bound for each in self.bounds if each.loss == loss and each.k <= k]
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
            "bounds": [_bound_entry(each) for each in self.bounds],
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
        """What was compared."""
        return self.title

    def shown_tables(self) -> list[ShownTable]:
        """The results, loss by loss and k by k."""
        return [
            ShownTable(
                [self.cells(row) for row in self.section(loss, k) if row.report is not None],
                self.heads(loss),
                self.caption(loss, k),
            )
            for loss, k in self.sections
        ]

    def to_text(self) -> str:
        """A page for a reader."""
        lines = [self.title]
        for loss, k in self.sections:
            lines += ["", *self._section_lines(loss, k)]
        ends = self.lines()
        return page([*lines, *([""] if ends else []), *ends], self.notes)

    @property
    def sections(self) -> list[tuple[str, int]]:
        """Each loss with each k."""
        return [(loss, k) for loss in self.losses for k in self.ks]

    @property
    def title(self) -> str:
        """What was compared, in a line."""
        records = {row.report.records for row in self.done if row.report is not None}
        of = "".join(f", {counted(each, 'record')}" for each in records)
        done = f"{len(self.done)} of {counted(len(self.rows), 'search', more='searches')} done"
        return f"{self.table or 'table'}{of}: {done} in {self.seconds:.1f} s"

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
        for (method, reason), found in where.items():
            at = "" if len(found) == len(self.sections) else f" ({', '.join(found)})"
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
        sought = [each for each in self.bounds if (each.loss, each.k) == (loss, k)]
        details = [
            "; ".join([f"sought in {each.seconds:.1f} s", *ended_notes(each.ended, self.ended_by)])
            for each in sought
        ]
        return f"{loss}, k = {k:,}: {known}{''.join(f' ({text})' for text in details)}"

    def _section_lines(self, loss: str, k: int) -> Iterator[str]:
        section = self.section(loss, k)
        done = [row for row in section if row.report is not None]
        yield self.caption(loss, k)
        if done:
            rows = [self.heads(loss), *(self.cells(row) for row in done)]
            yield from in_columns(rows, "<" + ">" * (len(rows[0]) - 1))

    def heads(self, loss: str) -> list[str]:
        """The names of a section's columns."""
        others = [each for each in self.losses if each != loss]
        return ["method", loss, "times bound", *others, *_FIGURES]

    def cells(self, row: ComparedRow) -> list[str]:
        """The cells of a row that has a result."""
        assert row.report is not None
        report, ratio = row.report, self.ratio(row)
        others = [each for each in self.losses if each != row.asked.loss]
        marks = f"{'*' if row.reason else ' '}{'>' if row.is_cut else ' '}"
        peak = "–" if row.peak_memory is None else f"{row.peak_memory / MEGABYTE:,.0f}"
        return [
            f"{marks} {row.asked.method}",
            _measure(report, row.asked.loss),
            "–" if ratio is None else f"{ratio:,.3g}" if ratio < 100 else f"{ratio:,.0f}",
            *(_measure(report, each) for each in others),
            f"{report.statistics.classes:,}",
            f"{report.statistics.smallest:,}",
            f"{report.statistics.largest:,}",
            part_of(report.suppressed_records, report.records),
            f"{row.seconds_alone:.2f}",
            peak,
        ]

    def chart(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Draws loss and seconds by method, against k where there are several.

        Args:
            path: A file: .svg, or .html with the tables beside the charts.
            overwrite: Whether it may be there already.

        Raises:
            PolicyError: What draws is not installed, or no method has a result.
            SourceError: The file has another ending or cannot be written.
        """
        from sqlanon.comparison.drawing import Drawing, draw  # most comparisons need none

        sections = [section for loss in self.losses for section in self._drawn(loss)]
        drawing = Drawing(self.title, sections, self.lines(), self.notes, self.provenance.created)
        draw(drawing, path, overwrite=overwrite)

    def _drawn(self, loss: str) -> Iterator[PageSection]:
        """The charts and tables of one loss, where a method has a result."""
        from sqlanon.comparison.drawing import ChartPanel, ChartPoint, PageSection

        rows = [row for row in self.done if row.asked.loss == loss]
        points = [
            ChartPoint(row.asked.method, row.asked.k, row.value, row.seconds_alone, row.is_cut)
            for row in rows
            if math.isfinite(row.value)
        ]
        if not points:
            return
        bounds = {k: bound for k in self.ks if (bound := self.bound(loss, k))}
        tables, measures = [], []
        for k in self.ks:
            done = [row for row in self.section(loss, k) if row.report is not None]
            cells = [self.cells(row) for row in done]
            tables.append(ShownTable(cells, self.heads(loss), self.caption(loss, k)))
            known = dict.fromkeys(n for row in done if row.report for n in row.report.loss)
            shown = [
                [row.asked.method, *(_measure(row.report, name) for name in known)]
                for row in done
                if row.report
            ]
            measures.append(ShownTable(shown, ["method", *known], f"{loss}, k = {k:,}"))
        panel = ChartPanel(loss, tuple(points), bounds, self.ended_by)
        yield PageSection(panel, tables, measures)


def _bound_entry(bound: BoundReport) -> dict[str, Any]:
    names = ("loss", "k", "lower_bound", "seconds", "cut_short", "notes")
    return {name: value for name, value in bound.to_dict().items() if name in names}


_FIGURES = ("classes", "smallest", "largest", "suppressed", "seconds", "peak [MB]")


def _measure(report: Report, name: str) -> str:
    """A measure of a result; a dash where it does not apply."""
    value = report.loss.get(key(name))
    return "–" if value is None else figure(value)
