"""The commands that plan and write: demo, plan, apply, anonymize, rewrite."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sqlanon.arguments import path_of
from sqlanon.errors import PolicyError, SourceError, SqlanonError
from sqlanon.wording import is_about

from . import output
from .comparing import SweepOptions, sweep
from .options import (
    OUTPUT,
    PREVIEW,
    SOURCE,
    TARGET,
    Input,
    PlanOutput,
    RunOptions,
    TargetOptions,
    TextFileOptions,
    argument,
    given,
    option,
    repeatable,
    switch,
)
from .progress import progress, reported
from .search_options import Wanted, search_and_policy

if TYPE_CHECKING:
    from sqlanon.publishing.plan import Plan
    from sqlanon.publishing.preview import PreviewedRecord
    from sqlanon.reports.plan import Report


@dataclass(frozen=True, slots=True)
class Trial:
    """What a publication shows besides, or in place of it."""

    panel: ClassVar[str] = TARGET
    dry_run: bool = switch("Show what would be published; write nothing.")
    preview: int | None = option("N", PREVIEW, panel=OUTPUT)


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A saved plan, and the table that it is about."""

    panel: ClassVar[str] = TARGET
    source: str = argument("SOURCE", SOURCE)
    plan: Path = argument("PLAN.json", "The plan that `sqlanon plan --save` wrote.")
    table: str | None = option(
        "TABLE", "The table, if its name in SOURCE differs from that in the plan."
    )
    text: TextFileOptions = field(default_factory=TextFileOptions)


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Other records than those of the plan."""

    panel: ClassVar[str] = TARGET
    to: str | None = option(
        "BATCH",
        "Publish these records in place of those of SOURCE, by the same recoding: a table of "
        "SOURCE, or another file. By default they must satisfy the models by themselves.",
    )
    released: list[str] = repeatable(
        "EARLIER",
        "With --to: a table or file that was released by the plan before. The models must hold "
        "for BATCH and all of these together.",
    )
    suppression_limit: float | None = option(
        "SHARE", "With --to: share of the records that may be suppressed, 0 to 1. Default: 0."
    )


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """A database."""

    database: Path = argument("DATABASE", "A DuckDB file.")


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Where the demo goes, and how large it is."""

    folder: Path = argument(
        "DIR", "A new or empty folder for the demo's files.", default=Path("sqlanon-demo")
    )
    records: int = option("N", "How many people to make up.", default=20_000)
    overwrite: bool = switch("Replace the demo's files if the folder exists already.")


class _DryRunError(SqlanonError):
    """Ends a dry run where anything would be written."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        super().__init__("dry run: nothing is written")


@dataclass(slots=True)
class _Shown:
    """What is shown before anything is written.

    Args:
        ask: The question to ask; None for no question.
        trial: What is wanted.
        records: The records before and after, once they are known.
    """

    ask: Callable[..., None] | None
    trial: Trial
    records: tuple[PreviewedRecord, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to show or to ask."""
        return self.ask is not None or self.trial.dry_run or self.trial.preview is not None

    def __call__(self, plan: Plan, records: tuple[PreviewedRecord, ...] = ()) -> None:
        self.records = records
        if self.trial.dry_run:
            raise _DryRunError(plan)
        if self.ask is not None:
            self.ask(plan, records)


def demo(*, wanted: DemoOptions, run: RunOptions) -> None:
    """Make up a census, anonymize it and show the result. Needs no data and under 10 seconds."""
    from sqlanon.demo.demo import Demo, run_demo

    made = Demo(wanted.folder, wanted.records, run.seed, wanted.overwrite)
    with progress(run) as tell:
        report = run_demo(made, tell, **run.resources)
    output.timings(run, report.published.seconds, search=report.published.search.to_dict())
    output.show(run, report.to_dict(), text=report.to_text)


def plan(
    *, given: Input, wanted: Wanted, written: PlanOutput, swept: SweepOptions, run: RunOptions
) -> None:
    """Find the recoding that loses least and show what it costs. Writes nothing to the source.

    A recoding says what every value is published as; its loss is the information that it takes
    away. With --sweep, shows the loss for several values of k, of limits and of other models.
    """
    if swept.sweep or swept.chart or swept.overwrite:
        sweep(given, wanted, written, swept=swept, run=run)
        return
    for name, value in (("--dialect", written.dialect), ("--into", written.into)):
        if value is not None and not written.sql:
            raise PolicyError(f"{name} belongs to --sql; add --sql or leave it out")
    if written.preview is not None and written.sql and not run.as_json:
        raise PolicyError("--sql prints the statement alone; leave --preview out, or add --json")
    if written.dialect is not None:
        from sqlanon.publishing.plan import refuse_dialect  # no other plan needs it so early

        refuse_dialect(written.dialect)
    if written.save is not None:
        _refuse_foreign(written.save)
    complete = written.save is not None or written.sql
    plan = _planned(given, wanted, run=run, complete=complete)
    if written.save is not None:
        output.notes(plan.save(written.save))
        output.say(run, f"plan saved as {written.save}")
    records = _previewed(given, plan, rows=written.preview, run=run)
    if not written.sql:
        _show(plan, records, run=run)
    else:
        statement = plan.sql(written.dialect, written.into or "anonymized")
        if run.as_json:
            output.show(run, {**_document(plan, records), "sql": statement}, text=str)
        else:
            output.write(f"{statement};")
    output.leave_unless(plan.report.holds)


def apply(
    *, planned: SavedPlan, batch: BatchOptions, target: TargetOptions, run: RunOptions
) -> None:
    """Carry out a saved plan and verify the published table. It is one transaction."""
    import sqlanon

    confirm = _confirmation(planned.source, target, run=run)
    report = reported(
        sqlanon.apply,
        planned,
        sqlanon.Plan.load(planned.plan),
        run=run,
        confirm=confirm,
        **given(batch),
        **target.beside,
        **target.place,
    )
    _publish(report, run, page=target.report)


def anonymize(
    *, given: Input, wanted: Wanted, target: TargetOptions, trial: Trial, run: RunOptions
) -> None:
    """Plan and apply in one: publish a table anonymized and verified."""
    import sqlanon

    if trial.dry_run and target.beside:
        named = ", ".join(f"--{name}" for name in target.beside)
        raise PolicyError(f"--dry-run writes nothing; leave {named} out, or publish")
    if trial.dry_run and not target.is_given:
        plan = _planned(given, wanted, run=run, complete=True)
        _tell_dry(plan, _previewed(given, plan, rows=trial.preview, run=run), run=run)
        return
    if trial.dry_run:
        _check_target(given.source, target)
    shown = _Shown(None if trial.dry_run else _confirmation(given.source, target, run=run), trial)
    how, maker = search_and_policy(wanted, run)
    try:
        report = reported(
            sqlanon.anonymize,
            given,
            maker,
            run=run,
            **target.place,
            **how,
            confirm=shown if shown.is_needed else None,
            preview=trial.preview,
            **target.beside,
        )
    except _DryRunError as ended:
        output.timings(run, ended.plan.report.seconds, search=ended.plan.report.search.to_dict())
        _tell_dry(ended.plan, shown.records, run=run)
        return
    _publish(report, run, records=shown.records, page=target.report)


def rewrite(*, rewritten: DatabaseFile, run: RunOptions) -> None:
    """Copy a database into a fresh file, without its deleted data.

    A DuckDB file still contains data of tables that were replaced, changed or dropped, which
    anybody who has the file can read. The fresh file takes the place of the old one in a single
    step, once it is complete. Publishing with --in-place does this by itself.
    """
    import sqlanon

    with progress(run, "copying: the database"):
        report = sqlanon.rewrite(rewritten.database, **run.resources)
    output.show(run, report.to_dict(), text=report.to_text)


def _planned(given: Input, wanted: Wanted, *, run: RunOptions, complete: bool = False) -> Plan:
    import sqlanon

    how, maker = search_and_policy(wanted, run, complete=complete)
    plan: Plan = reported(sqlanon.plan, given, maker, run=run, **how)
    output.timings(run, plan.report.seconds, search=plan.report.search.to_dict())
    return plan


def _previewed(
    given: Input, plan: Plan, *, rows: int | None, run: RunOptions
) -> tuple[PreviewedRecord, ...]:
    """The records that --preview asks for."""
    import sqlanon

    if rows is None:
        return ()
    return sqlanon.preview(given.source, plan, rows=rows, **run.opening(given.text))


def _document(shown: Plan | Report, records: tuple[PreviewedRecord, ...]) -> dict[str, Any]:
    preview = {"preview": [record.to_dict() for record in records]} if records else {}
    return shown.to_dict() | preview


def _tell_dry(plan: Plan, records: tuple[PreviewedRecord, ...], *, run: RunOptions) -> None:
    output.say(run, "dry run: nothing is written")
    _show(plan, records, run=run)
    output.leave_unless(plan.report.holds)


def _page(shown: Plan | Report, records: tuple[PreviewedRecord, ...]) -> str:
    """A plan or what was published, with the records before and after."""
    if not records:
        return shown.to_text()
    from sqlanon.publishing.preview import preview_text

    return f"{shown.to_text()}\n\n{preview_text(records)}"


def _show(shown: Plan | Report, records: tuple[PreviewedRecord, ...], *, run: RunOptions) -> None:
    output.show(run, _document(shown, records), text=lambda: _page(shown, records))


def _publish(
    report: Report,
    run: RunOptions,
    *,
    records: tuple[PreviewedRecord, ...] = (),
    page: Path | None = None,
) -> None:
    output.timings(run, report.seconds, search=report.search.to_dict())
    _show(report, records, run=run)
    output.infos(run, report.findings)
    if page is not None and not any(is_about(note, "page unwritten") for note in report.notes):
        output.say(run, f"report written to {page}")
    output.leave_unless(report.holds)


def _check_target(source: str, target: TargetOptions) -> None:
    from sqlanon.publishing.target import Target, refuse_early

    refuse_early(source, Target(**target.place))
    if target.yes and not target.in_place:
        raise PolicyError("--yes answers what --in-place asks; leave it out")


def _confirmation(
    source: str, target: TargetOptions, *, run: RunOptions
) -> Callable[..., None] | None:
    """The question to ask before an original is replaced, once the target is checked.

    Raises:
        PolicyError: The target is no single place, or nobody is there to be asked.
    """
    _check_target(source, target)
    if not target.in_place or target.yes:
        return None
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise PolicyError("--in-place replaces the original for good; confirm it with --yes")

    def confirm(plan: Plan, records: tuple[PreviewedRecord, ...] = ()) -> None:
        page = ""
        if not run.quiet:
            page = output.page_on(sys.stderr, lambda: _page(plan, records)) + "\n"
        question = "Replace the original table for good? [y/N] "
        with output.aside():
            print(page + question, end="", file=sys.stderr, flush=True)
            answer = sys.stdin.readline().strip().lower()
        if answer not in ("y", "yes"):
            raise SqlanonError("not confirmed; nothing was changed")

    return confirm


def _refuse_foreign(path: Path) -> None:
    """A plan may replace a plan, and no other file."""
    import sqlanon
    from sqlanon.engine.files import refuse_folder

    path_of(path, "the plan file")
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder; name a file for the plan")
    if path.is_file() or not path.exists():
        refuse_folder(path.resolve())
    if not path.exists():
        return
    try:
        sqlanon.Plan.load(path)
    except SqlanonError:
        raise SourceError(
            f"{str(path)!r} exists already and is not a plan; choose another name"
        ) from None
