"""The command risk: re-identification risk of a table, and the columns that identify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from . import output
from .options import Input, PolicyOptions, RunOptions, given, option, switch
from .policies import PolicyMaker, policy_document
from .progress import progress


@dataclass(frozen=True, slots=True)
class RiskCommandOptions:
    """Thresholds of risk, and the sets of columns that are looked at."""

    panel: ClassVar[str] = "Risk"
    population: str | None = option(
        "FILE|TABLE",
        "The whole population from which the records were drawn, generalized like them: a table "
        "of the source, or a CSV, CSV.gz, Parquet, JSON or Arrow IPC file.",
    )
    risk_threshold: float | None = option(
        "RISK", "Records with a higher risk count as at risk; above 0 and at most 1. Default: 0.2."
    )
    identifying: float | None = option(
        "SHARE",
        "Share of unique records from which on a set of columns counts as identifying; 1 finds "
        "keys. Default: 0.05.",
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
        threshold = {} if self.risk_threshold is None else {"threshold": self.risk_threshold}
        return threshold | given(
            self, "population", "identifying", "max_columns", "max_sets", "every_subset"
        )


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
            given.source, given.table, maker, **asked.asked, progress=tell, **opening
        )
    search = {} if report.subsets is None else report.subsets.search
    output.timings(run, {"risk": report.seconds}, search=search)
    output.show(run, report.to_dict(), text=report.to_text)
