"""The command risk: re-identification risk of a table, and the columns that identify."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from . import output
from .options import Input, PolicyOptions, RiskFigures, RunOptions, given, option, switch
from .policies import PolicyMaker, policy_document
from .progress import progress


@dataclass(frozen=True, slots=True)
class RiskCommandOptions:
    """Figures of risk, and the sets of columns that are looked at."""

    panel: ClassVar[str] = "Risk"
    figures: RiskFigures = field(default_factory=RiskFigures)
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
        return self.figures.asked | given(self, "max_columns", "max_sets", "every_subset")


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

    maker = PolicyMaker.for_check(policy_document(policy.policy), policy)
    opening = run.opening(given.text)
    with progress(run) as tell:
        report = sqlanon.risk(
            given.source, maker, table=given.table, **asked.asked, progress=tell, **opening
        )
    search = {} if report.subsets is None else report.subsets.search
    output.timings(run, {"risk": report.seconds}, search=search)
    output.show(run, report.to_dict(), text=report.to_text)
