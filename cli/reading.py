"""The commands that only read: check, lint, risk, measure, mine, bound, verify, report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sqlanon.errors import PolicyError
from sqlanon.loss.cells import CELL_LOSSES, DEFAULT_LOSS
from sqlanon.wording import split_list

from . import output
from .options import (
    CONTROL,
    LONGEST,
    OUTPUT,
    OVERWRITE,
    SOURCE,
    TABLE,
    Input,
    PolicyOptions,
    PublishingOptions,
    RiskFigures,
    RunOptions,
    TextFileOptions,
    argument,
    given,
    option,
    repeatable,
    switch,
)
from .policies import PolicyMaker
from .progress import reported


@dataclass(frozen=True, slots=True)
class JudgedOptions:
    """What else is asked of a table that is checked."""

    panel: ClassVar[str] = "Check"
    released: bool = switch(
        "The table is to be published as it is: also exit with 1 if it has a column that the "
        "policy drops or gives no role."
    )
    join: str | None = option(
        "FILE|TABLE",
        "Another published table: ask the models of both together, as whoever has both can join "
        "them by --on. It may have some of the policy's columns.",
    )
    on: list[str] = repeatable("COLUMN,...", "Columns of both tables by which --join joins them.")

    def columns(self, columns: Sequence[str]) -> list[str]:
        """The columns of --on, of those of the table."""
        return [name for text in self.on for name in split_list(text, columns)]


def check(*, given: Input, judged: JudgedOptions, policy: PolicyOptions, run: RunOptions) -> None:
    """Report which privacy models a table satisfies as it stands. Writes nothing.

    Exits with 1 if a model that is asked for does not hold. Values count as they are in the table:
    options for generalization, and the suppression limit, are validated but change nothing.
    """
    import sqlanon

    maker = PolicyMaker(policy, reads_hierarchies=False)
    report = reported(
        sqlanon.check,
        given,
        maker,
        run=run,
        released=judged.released,
        join=judged.join,
        on=judged.columns if judged.on else (),
    )
    output.present(run, report, "check")
    output.infos(run, report.findings)
    output.leave_unless(report.holds)


@dataclass(frozen=True, slots=True)
class LintOptions:
    """The release, and what it is held against."""

    source: str = argument("RELEASED", SOURCE)
    table: str | None = argument("TABLE", TABLE, default=None)
    against: str | None = option(
        "ORIGINAL",
        "The original, a table of the database RELEASED or another file; shows whether the order "
        "of rows, labels or bytes of the file give it away.",
    )
    against_table: str | None = option(
        "TABLE", "The original's table; needed if ORIGINAL is a database with more than one."
    )
    profile: str | None = option(
        "hipaa-safe-harbor", "The rule whose identifiers are looked for, too."
    )
    fail_on: str = option(
        "error|warning|info",
        "Exit with 1 if there is a finding as grave as this, or graver.",
        default="error",
    )
    text: TextFileOptions = field(default_factory=TextFileOptions)


def lint(*, linted: LintOptions, policy: PolicyOptions, run: RunOptions) -> None:
    """Find what a release gives away besides: order, columns, file, database. Writes nothing.

    Any tool may have made the release. A file is read as a whole: metadata, statistics and
    dictionaries of Parquet and Arrow files, all objects and free blocks of a DuckDB file. Exits
    with 1 if there is a finding as grave as --fail-on says.
    """
    import sqlanon
    from sqlanon.reports.findings import SEVERITIES

    if linted.fail_on not in SEVERITIES:
        raise PolicyError(f"--fail-on is {', '.join([*SEVERITIES])}, not {linted.fail_on!r}")
    report = reported(
        sqlanon.lint,
        linted,
        PolicyMaker(policy, reads_hierarchies=False, judges=False),
        run=run,
        against=linted.against,
        against_table=linted.against_table,
        profile=linted.profile,
    )
    output.present(run, report, "lint")
    output.leave_unless(report.passes(linted.fail_on))


@dataclass(frozen=True, slots=True)
class RiskCommandOptions:
    """Figures of risk, and the sets of columns that are looked at."""

    panel: ClassVar[str] = "Risk"
    figures: RiskFigures = field(default_factory=RiskFigures)
    population_size: int | None = option(
        "N",
        "How many people the records were drawn from, where no --population is at hand: estimates "
        "its smallest class (k-map) and how many people are unique in it.",
    )
    sampling_fraction: float | None = option(
        "SHARE", "The share of these people that the table holds, in place of --population-size."
    )
    max_columns: int | None = option(
        "N",
        "Most columns in a set; 0 looks at no sets. Default: as many as --max-sets allows.",
    )
    max_sets: int | None = option(
        "N",
        "Most sets of columns to look at, up to 200,000; the largest are left out first. "
        "Default: 2,000, or all sets that --max-columns allows.",
    )
    every_subset: bool = switch(
        "Count every set, also those that contain a smaller identifying set; --json lists them all."
    )

    @property
    def asked(self) -> dict[str, Any]:
        """The options that were given, as the library takes them."""
        names = ("population_size", "sampling_fraction", "max_columns", "max_sets", "every_subset")
        return given(self.figures) | given(self, *names)


def risk(
    *, given: Input, asked: RiskCommandOptions, policy: PolicyOptions, run: RunOptions
) -> None:
    """Report how easily people can be recognized in a table. Writes nothing.

    Shows unique records, which sets of columns tell people apart, and the risk by attacker: a
    prosecutor looks for a person known to be in the table, a journalist does not know who is in it,
    a marketer wants to match as many records as possible. Options for models, generalization and
    suppression are validated but change nothing: risk follows from the values alone.
    """
    import sqlanon

    maker = PolicyMaker(policy, reads_hierarchies=False, compares=True, judges=False)
    report = reported(sqlanon.risk, given, maker, run=run, **asked.asked, **maker.compared)
    search = {} if report.subsets is None else report.subsets.search
    output.present(run, report, "risk", search=search)


@dataclass(frozen=True, slots=True)
class Compared:
    """The two tables that are compared."""

    panel: ClassVar[str] = "Tables"
    source: str = argument("ORIGINAL", SOURCE)
    released: str = argument(
        "RELEASED", "A table of the database ORIGINAL, or another file of any of these kinds."
    )
    table: str | None = option(
        "TABLE", "The original's table; needed if ORIGINAL holds more than one."
    )
    released_table: str | None = option(
        "TABLE", "The released table; needed if RELEASED is a database with more than one."
    )
    text: TextFileOptions = field(default_factory=TextFileOptions)


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """The measures wanted, and the columns and labels that they need."""

    panel: ClassVar[str] = "Measures"
    class_attribute: str | None = option(
        "COLUMN", "The column whose values the classification metric wants to be predictable."
    )
    loss: list[str] = repeatable("LOSS", "Only this measure, such as lm or utility. Default: all.")
    suppressed_label: str | None = option(
        "TEXT", "The text that stands for a suppressed value. Default: *"
    )
    control: str | None = option("FILE|TABLE", CONTROL)


def measure(
    *, compared: Compared, asked: MeasureOptions, policy: PolicyOptions, run: RunOptions
) -> None:
    """Measure what a release has lost against its original. Writes nothing.

    The release may come from any tool: only the two tables and the hierarchies matter. Levels,
    limits and models of the policy are ignored, except k. The options for text files apply to
    ORIGINAL; RELEASED is read in the form that sqlanon writes.
    """
    import sqlanon

    report = reported(
        sqlanon.measure,
        compared,
        compared.released,
        PolicyMaker(policy, PublishingOptions(suppressed_label=asked.suppressed_label)),
        run=run,
        released_table=compared.released_table,
        class_attribute=asked.class_attribute,
        losses=asked.loss,
        control=asked.control,
    )
    output.present(run, report, "measure")


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """Kind of the itemsets, and the table they are written to."""

    panel: ClassVar[str] = "Itemsets"
    kind: str = option(
        "closed|frequent",
        "closed: only itemsets without a more specific one that has the same records; frequent: "
        "all of them.",
        default="closed",
    )
    into: str | None = option(
        "TABLE",
        "Write the itemsets and their numbers of records (support) to a new table beside the "
        "original; it holds values of the table. Default: only count them.",
    )
    overwrite: bool = switch(OVERWRITE)
    time_limit: float | None = option("SECONDS", LONGEST)


def mine(*, given: Input, asked: MiningOptions, policy: PolicyOptions, run: RunOptions) -> None:
    """Count or list the generalized itemsets of k records or more.

    A generalized itemset is a combination of values, original or generalized, of some columns. Of
    the policy, only k and the quasi-identifiers with their hierarchies and levels are used.
    """
    import sqlanon

    report = reported(sqlanon.mine, given, PolicyMaker(policy), run=run, **asdict(asked))
    output.present(run, report, "mine")


@dataclass(frozen=True, slots=True)
class BoundOptions:
    """What is lost, and how hard to raise the bound."""

    panel: ClassVar[str] = "Bound"
    loss: str | None = option(
        "LOSS",
        f"The loss: {', '.join(CELL_LOSSES)}. Default: that of the policy, or {DEFAULT_LOSS}.",
    )
    effort: str | None = option(
        "quick|full",
        "How much work to put into the bound: ten seconds (quick) or a minute (full) for 30,000 "
        "records. Default: quick; with --time-limit, as long as the bound rises. Of 3 million "
        "itemsets or more only the cheapest are looked at.",
    )
    time_limit: float | None = option("SECONDS", LONGEST)


def bound(
    *,
    given: Input,
    asked: BoundOptions,
    policy: PolicyOptions,
    publishing: PublishingOptions,
    run: RunOptions,
) -> None:
    """Prove what any k-anonymization loses at least, by any method. Writes nothing.

    Of the policy it uses the quasi-identifiers with their hierarchies, weights and levels, k, the
    loss and the suppression limit; a suppressed record loses all its cells. The bound holds with
    further models, too, for these only raise the loss. Options for other columns are accepted, so
    that those of a plan can be used unchanged.
    """
    import sqlanon

    maker = PolicyMaker(policy, publishing)
    report = reported(sqlanon.bound, given, maker, run=run, **asdict(asked))
    output.present(run, report, "bound")


@dataclass(frozen=True, slots=True)
class VerifiedRelease:
    """A release, its manifest, and what the manifest has only digests of."""

    panel: ClassVar[str] = "Release"
    source: str = argument("RELEASED", SOURCE)
    manifest: Path = argument("MANIFEST", "The file that --manifest has written with it.")
    table: str | None = option("TABLE", "The table; needed if RELEASED holds more than one.")
    policy: Path | None = option(
        "FILE",
        "The policy.toml of the release; needed if a model refers to an order or a hierarchy of "
        "sensitive values, which the manifest does not contain.",
    )
    earlier: list[str] = repeatable(
        "EARLIER",
        "A table or file with which the release satisfies its models; needed for each --released "
        "of its publication.",
    )
    text: TextFileOptions = field(default_factory=TextFileOptions)


def verify(*, given: VerifiedRelease, run: RunOptions) -> None:
    """Check a release against the manifest that was written with it. Needs no original.

    Compares columns, types, number of records and content, and counts the models of its policy
    again; prints a line for each thing that differs, and exits with 1 if there is one.
    """
    import sqlanon

    how = {"policy": given.policy, "earlier": given.earlier}
    report = reported(sqlanon.verify, given, given.manifest, run=run, **how)
    output.present(run, report, "verify")
    output.leave_unless(report.holds)


@dataclass(frozen=True, slots=True)
class ReportCommandOptions:
    """The release that is reported, what is asked of it, and where the page goes."""

    panel: ClassVar[str] = "Report"
    released: str | None = option(
        "RELEASED", "The released table: a table of the database SOURCE, or another file."
    )
    released_table: str | None = option(
        "TABLE", "The released table; needed if RELEASED is a database with more than one."
    )
    plan: Path | None = option(
        "PLAN.json",
        "The saved plan by which the release was made; adds its method, bound and SQL to the "
        "report.",
    )
    loss: str | None = option(
        "LOSS",
        "The measure of loss that comes first. Default: that of the plan or the policy file, "
        f"or {DEFAULT_LOSS}.",
    )
    effort: str | None = option(
        "none|quick|full",
        "How much work to put into a lower bound on the loss. Default: ten seconds' work, for "
        "tables of up to 50,000 records.",
    )
    time_limit: float | None = option(
        "SECONDS",
        "Stop looking for columns that identify, and for a lower bound, this long after the start "
        "of the command; the verdict, risks and losses are always counted.",
    )
    figures: RiskFigures = field(default_factory=RiskFigures)
    control: str | None = option("FILE|TABLE", CONTROL, panel=RiskFigures.panel)
    output: Path | None = option(
        "FILE",
        "Write the report as one .html file that can be read offline. Default: print it as text.",
        names=("--output", "-o"),
        panel=OUTPUT,
    )
    overwrite: bool = switch(OVERWRITE)

    @property
    def asked(self) -> dict[str, Any]:
        """The options that were given, as the library takes them."""
        names = ("released_table", "loss", "effort", "time_limit", "control")
        return given(self.figures) | given(self, *names)


def report(
    *,
    given: Input,
    asked: ReportCommandOptions,
    policy: PolicyOptions,
    publishing: PublishingOptions,
    run: RunOptions,
) -> None:
    """Write a report on a release for a data protection officer. Any tool may have made it.

    SOURCE is the original, --released the release. The report gives a verdict; for each model, what
    it demands and what the release achieves; the risk and every column before and after; the
    columns that identify people; the information lost; sensitive columns; and what to do next. It
    shows no value that the release does not contain. Exits with 1 if the release violates its
    policy.
    """
    import sqlanon

    if asked.released is None:
        raise PolicyError("name the released table with --released TABLE or --released FILE")
    if asked.output is not None:
        from sqlanon.release_report.page import refuse_page  # text and JSON need no page

        refuse_page(asked.output, overwrite=asked.overwrite)
    maker = PolicyMaker(policy, publishing, compares=True)
    plan = None if asked.plan is None else sqlanon.Plan.load(asked.plan)
    made = reported(
        sqlanon.report,
        given,
        asked.released,
        maker,
        run=run,
        plan=plan,
        **asked.asked,
        **maker.compared,
    )
    if asked.output is not None:
        made.write(asked.output, overwrite=asked.overwrite)
    output.timings(run, {"report": made.facts.seconds}, search={})
    if asked.output is not None:
        output.say(run, f"report written to {asked.output}")
        if not made.holds:
            output.say(run, made.verdict)
    if asked.output is None or run.as_json:
        output.show(run, made.to_dict(), text=made.to_text)
    output.leave_unless(made.holds)
