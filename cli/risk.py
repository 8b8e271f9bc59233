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
        "Everybody that the records were drawn from, generalized alike: a table of the source, or "
        "a CSV, CSV.gz, Parquet, JSON or Arrow IPC file.",
    )
    risk_threshold: float | None = option(
        "RISK", "Records above it are at risk, above 0 and at most 1; 0.2 where not given."
    )
    identifying: float | None = option(
        "SHARE",
        "Share of unique records that makes a set of columns identifying; 0.05 where not given, 1 "
        "for keys.",
    )
    max_columns: int | None = option(
        "N",
        "Most columns of a set; 0 for no sets; as many as --max-sets allows where not given.",
    )
    max_sets: int | None = option(
        "N",
        "Most sets of columns, up to 200,000; the largest are left out first. 2,000 where not "
        "given, or all of --max-columns.",
    )
    every_subset: bool = switch(
        "Count every set, also one that holds a smaller identifying set; --json lists them all."
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
    """Tell how easily people are found in a table as it stands; writes nothing.

    Prosecutor, journalist and marketer risk, uniques, and which sets of columns tell people apart.
    Options of models, generalization and suppression are checked, but make no difference here: risk
    follows from the values alone.
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
