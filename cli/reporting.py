"""The command report: a release for a data protection officer, as a page."""

from __future__ import annotations

from dataclasses import dataclass
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
        "TABLE", "The released table; needed where RELEASED is a database that holds more than one."
    )
    plan: Path | None = option(
        "PLAN.json",
        "The saved plan that the release was made by, for its method, bound and statements.",
    )
    population: str | None = option(
        "FILE|TABLE",
        "Everybody that the records were drawn from, generalized as the release is, for journalist "
        "risk.",
    )
    loss: str | None = option(
        "LOSS", "The measure that comes first; that of the plan or the policy file, or lm."
    )
    effort: str | None = option(
        "none|quick|full",
        "How hard to look for a lower bound on the loss; what ten seconds prove of up to 50,000 "
        "records where not given.",
    )
    risk_threshold: float | None = option(
        "RISK", "Records above it are at risk, above 0 and at most 1; 0.2 where not given."
    )
    identifying: float | None = option(
        "SHARE",
        "Share of unique records that makes a set of columns identifying; 0.05 where not given.",
    )
    output: Path | None = option(
        "FILE",
        "The page: a file .html that needs nothing else (pip install 'sqlanon[report]'). Where not "
        "given, the report is printed as text.",
        names=("--output", "-o"),
        panel=OUTPUT,
    )
    overwrite: Overwrite = False

    @property
    def asked(self) -> dict[str, Any]:
        """The options that were given, as the library takes them."""
        threshold = {} if self.risk_threshold is None else {"threshold": self.risk_threshold}
        names = ("released_table", "population", "effort", "identifying")
        return threshold | given(self, *names)


def report(
    *,
    given: Input,
    asked: ReportCommandOptions,
    policy: PolicyOptions,
    publishing: PublishingOptions,
    run: RunOptions,
) -> None:
    """Report a release for a data protection officer, whoever anonymized it.

    SOURCE is the original, --released the release. The page has the verdict, models with what they
    ask for and what the release has, risk before and after, the columns that identify, each column
    before and after, what is lost, sensitive columns, and what to do. No value is in it that the
    release does not hold. Exits with 1 where the release does not satisfy its policy.
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
            given.table,
            asked.released,
            maker,
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
    if asked.output is None or run.as_json:
        output.show(run, made.to_dict(), text=made.to_text)
    if not made.holds:
        raise typer.Exit(1)
