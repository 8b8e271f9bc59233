"""The command report: a release for a data protection officer, as a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import typer

from sqlanon.errors import PolicyError

from . import output
from .options import (
    OUTPUT,
    Input,
    Overwrite,
    PolicyOptions,
    PublishingOptions,
    RiskFigures,
    RunOptions,
    given,
    option,
)
from .policies import PolicyMaker, policy_document
from .progress import progress


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
        (
            "The measure of loss that comes first. Default: that of the plan or the policy file, "
            "or lm."
        ),
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
    output: Path | None = option(
        "FILE",
        "Write the report as one .html file that can be read offline. Default: print it as text.",
        names=("--output", "-o"),
        panel=OUTPUT,
    )
    overwrite: Overwrite = False

    @property
    def asked(self) -> dict[str, Any]:
        """The options that were given, as the library takes them."""
        return self.figures.asked | given(self, "released_table", "effort", "time_limit")


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
    document = policy_document(policy.policy)
    maker = PolicyMaker(document, policy, publishing)
    plan = None if asked.plan is None else sqlanon.Plan.load(asked.plan)
    loss = asked.loss or (document.get("loss", "") if plan is None else "")
    with progress(run) as tell:
        made = sqlanon.report(
            given.source,
            asked.released,
            maker,
            table=given.table,
            plan=plan,
            loss=loss,
            progress=tell,
            **asked.asked,
            **run.opening(given.text),
        )
        if asked.output is not None:
            made.write(asked.output, overwrite=asked.overwrite)
    output.timings(run, {"report": made.found.seconds}, search={})
    if asked.output is not None:
        output.say(run, f"report written to {asked.output}")
        if not made.holds:
            output.say(run, made.verdict)
    if asked.output is None or run.as_json:
        output.show(run, made.to_dict(), text=made.to_text)
    if not made.holds:
        raise typer.Exit(1)
