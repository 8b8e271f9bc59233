"""Release report: a release for a data protection officer, as a page, as text and as JSON."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlanon.release_report.cautions import cautions
from sqlanon.release_report.figures import MethodFacts, plain
from sqlanon.release_report.gathering import Gathered
from sqlanon.reports.check import ModelResult, model_table, verdicts
from sqlanon.reports.document import Provenance, SelfShown, ShownTable, page
from sqlanon.reports.findings import Finding
from sqlanon.reports.kept import NOT_COUNTED
from sqlanon.reports.plan import Report
from sqlanon.wording import (
    FAILS_MARK,
    HOLDS_MARK,
    OPEN_MARK,
    NoteCode,
    counted,
    in_columns,
    is_about,
    part_of,
)

LIBRARIES = ("duckdb", "sqlglot", "pyarrow", "numpy")
"""What figures are worked out by, whose versions a report names."""


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseReport(SelfShown):
    """All that a report of a release shows.

    Args:
        facts: What both tables tell.
        method: How the release was made; None where no plan tells.
        release: Name of the release.
        notes: What a reader should know besides.
        provenance: What it was made of and when.
    """

    facts: Gathered
    method: MethodFacts | None = None
    release: str = ""
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    @property
    def holds(self) -> bool:
        """Whether the release satisfies every model of the policy, and no other column is in it.

        False, too, where that cannot be told: the policy counts persons and the release does not
        say whose records it holds.
        """
        asked = bool(self.models) or not self.facts.released
        holds = asked and all(result.holds for result in self.models)
        return holds and not self.facts.unexpected and self.facts.uncounted is None

    @property
    def models(self) -> tuple[ModelResult, ...]:
        """The policy's models and whether they hold in the release."""
        return self.facts.models

    @property
    def cautions(self) -> tuple[Finding, ...]:
        """What endangers people or the use of the release, the gravest first."""
        return cautions(self.facts, holds=self.holds)

    @property
    def other_notes(self) -> tuple[str, ...]:
        """The notes of which no caution speaks."""
        known = {NOT_COUNTED, *(finding.note for finding in self.facts.findings)}
        others = [note for note in self.notes if note not in known]
        return tuple(note for note in others if not is_about(note, *CAUTIONED))

    @property
    def is_cut(self) -> bool:
        """Whether the look at columns that identify, or that for a bound, ran out of time."""
        return self.facts.is_cut or self.facts.is_late or self.facts.loss.is_cut

    @property
    def left_out(self) -> int:
        """Records that the release does not hold, or holds without any quasi-identifier."""
        return self.facts.left_out

    def published(self, report: Report) -> ReleaseReport:
        """The report of a release that has just been published, with what its plan knows.

        Args:
            report: What the publication told, which may count persons.
        """
        gathered = self.facts
        after = replace(gathered.after, statistics=report.statistics, models=report.models)
        loss = replace(gathered.loss, name=report.loss_name).with_bound_of(report)
        return replace(
            self,
            facts=replace(
                gathered,
                after=after,
                loss=loss,
                kept=report.kept_columns or gathered.kept,
                findings=report.findings,
            ),
            release=_without_folder(report.output or self.release),
            notes=report.notes,
            provenance=report.provenance,
        )

    def versions(self) -> dict[str, str]:
        """Versions of what the figures were worked out by."""
        from importlib.metadata import version  # slow to import, and only documents need it

        names = {name: version(name) for name in ("sqlanon", *LIBRARIES)}
        return {**names, "python": platform.python_version()}

    def hashes(self) -> dict[str, str | None]:
        """SHA-256 of the released table, the policy and the plan.

        None is of the original: whoever knows nearly all of it could try out the rest.
        """
        return {
            "released": self.provenance.output_sha256 or self.facts.sha256,
            "policy": self.provenance.head()["hashes"]["policy"],
            "plan": None if self.method is None else self.method.plan_sha256,
        }

    def to_dict(self) -> dict[str, Any]:
        """The document of `report --json`."""
        gathered, threshold = self.facts, self.facts.options.threshold
        head = self.provenance.head()
        return {
            **head,
            "hashes": self.hashes(),
            "released": self.release,
            "holds": self.holds,
            "models": [result.to_dict() for result in self.models],
            "models_of_original": [result.to_dict() for result in gathered.before.models],
            "records": gathered.records,
            "released_records": gathered.released,
            "left_out": self.left_out,
            "original": gathered.before.to_dict(threshold),
            "release": gathered.after.to_dict(threshold),
            "population": None if gathered.population is None else gathered.population.to_dict(),
            "identifying": {} if gathered.identifying is None else gathered.identifying.to_dict(),
            "columns": {column.name: column.to_dict() for column in gathered.columns},
            "sensitive": {shares.name: shares.to_dict() for shares in gathered.sensitive},
            "kept_columns": None if gathered.kept is None else gathered.kept.to_dict(),
            "loss": gathered.loss.to_dict(),
            "attacks": None if gathered.attacks is None else gathered.attacks.to_dict(),
            "cut_short": self.is_cut,
            "method": None if self.method is None else self.method.to_dict(),
            "findings": [caution.to_dict() for caution in self.cautions],
            "versions": self.versions(),
            "notes": list(self.notes),
            "seconds": gathered.seconds,
        }

    def headline(self) -> str:
        """Records, classes, and whether the release satisfies its policy."""
        verdict = verdicts(self.models)
        if self.is_open:
            verdict = "persons cannot be counted"
        return f"{self.facts.after.statistics.headline()}; {verdict}"

    def shown_tables(self) -> list[ShownTable]:
        """The models, and the findings by what they endanger."""
        rows = [[caution.severity, caution.title] for caution in self.cautions]
        return [*model_table(self.models), *([ShownTable(rows)] if rows else [])]

    def to_text(self) -> str:
        """A page for a reader."""
        lines = [self.verdict, *self._model_lines(), "", *self._risk_lines(), ""]
        lines += [*self._loss_lines(), *self._sensitive_lines()]
        if self.facts.attacks is not None:
            lines += ["", *self.facts.attacks.to_lines()]
        for caution in self.cautions:
            lines += ["", f"{caution.severity}: {caution.title}", f"  {caution.message}"]
            if caution.remedy:
                lines.append(f"  What to do: {caution.remedy}")
        return page(lines, self.other_notes)

    @property
    def verdict(self) -> str:
        """One sentence: whether the release satisfies its policy."""
        if not self.facts.released:
            return "The released table is empty."
        if self.holds:
            return "The released table satisfies its policy."
        if not self.models and not self.facts.unexpected:
            return "The policy asks for nothing, so nothing can be said of the released table."
        if self.is_open:
            return (
                "It cannot be told whether the released table satisfies its policy: that counts "
                f"persons, and the table has no column {self.facts.uncounted!r}."
            )
        return "The released table does NOT satisfy its policy."

    @property
    def mark(self) -> str:
        """The sign before the verdict."""
        if self.holds and self.facts.released:
            return HOLDS_MARK
        return OPEN_MARK if self.is_open else FAILS_MARK

    @property
    def is_open(self) -> bool:
        """Whether nothing is broken, and nothing proven since persons cannot be counted."""
        broken = self.facts.unexpected or not all(result.holds for result in self.models)
        return self.facts.uncounted is not None and bool(self.models) and not broken

    @property
    def html(self) -> str:
        """The page, complete in itself."""
        from sqlanon.release_report.page import UNFOLDED_COLUMNS, PageViews  # text needs none
        from sqlanon.resources import html_page

        views, unfolded = PageViews(self.facts, self.method), UNFOLDED_COLUMNS
        return html_page("release", report=self, views=views, unfolded=unfolded, count=counted)

    @property
    def source(self) -> str:
        """The file of the original, without its folder; empty where there is none."""
        return _without_folder(self.provenance.source or "")

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Writes the page.

        Args:
            path: A file .html.
            overwrite: Whether it may be there already.

        Raises:
            SourceError: The file has another ending or cannot be written.
        """
        from sqlanon.engine.files import write_file
        from sqlanon.publishing.target import on_disk
        from sqlanon.release_report.page import refuse_page

        file, text = refuse_page(path, overwrite=overwrite), self.html
        with on_disk("report", file):
            write_file(file, text)

    def _model_lines(self) -> Iterator[str]:
        for result in self.models:
            yield f"  {result.verdict()}: the released table has {result.figure_text()}"

    def _risk_lines(self) -> list[str]:
        risks, records = self.facts.risks, self.facts.records
        left = f"  left out: {part_of(self.left_out, records)} of {counted(records, 'record')}"
        return [*in_columns([risks.heads, *risks.rows], "<>>"), left]

    def _loss_lines(self) -> Iterator[str]:
        loss = self.facts.loss
        if loss.value is None:
            yield f"loss: not measured ({loss.missing})"
            return
        yield f"loss: {loss.name} {plain(loss.value)}"
        if known := loss.least_text():
            yield f"  {known}"
        for column in self.facts.columns:
            share = column.loss.get("lm")
            levels = ", ".join(f"{use.name}: {use.records:,}" for use in column.levels)
            yield f"  {column.name}: lm {plain(share or 0.0)}{f' ({levels})' if levels else ''}"

    def _sensitive_lines(self) -> Iterator[str]:
        for shares in self.facts.sensitive:
            yield (
                f"sensitive {shares.name!r}: the class furthest from the table has "
                f"{counted(shares.class_size, 'record')}; to match it, {shares.apart_text()}"
            )


CAUTIONED: tuple[NoteCode, ...] = ("undemanded", "disclosed")
"""Notes that a caution tells in other words."""


def _without_folder(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
