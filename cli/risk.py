"""The command risk: how easily people of a table are found again, and by which columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import typer

from . import output
from .options import Input, PolicyOptions, RunOptions
from .policies import PolicyMaker, policy_document


@dataclass(frozen=True, slots=True)
class RiskOptions:
    """What is asked of a table's risk."""

    panel: ClassVar[str] = "Risk"

    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            metavar="FILE|TABLE",
            help="Everybody that the records were drawn from, generalized alike: a table of the "
            "source, or a CSV, CSV.gz, Parquet, JSON or Arrow IPC file.",
        ),
    ] = None
    risk_threshold: Annotated[
        float | None,
        typer.Option(
            "--risk-threshold",
            metavar="RISK",
            help="Records above it are at risk, above 0 and at most 1; 0.2 where not given.",
        ),
    ] = None
    identifying: Annotated[
        float | None,
        typer.Option(
            "--identifying",
            metavar="SHARE",
            help="Share of unique records that makes a set of columns identifying; 0.05 where not "
            "given, 1 for keys.",
        ),
    ] = None
    max_columns: Annotated[
        int | None,
        typer.Option(
            "--max-columns",
            metavar="N",
            help="Most columns of a set; 0 for no sets; as many as make at most 2,000 sets where "
            "not given.",
        ),
    ] = None
    every_subset: Annotated[
        bool,
        typer.Option(
            "--every-subset",
            help="Count every set, also one that holds a smaller identifying set; --json lists "
            "them all.",
        ),
    ] = False

    @property
    def asked(self) -> dict[str, Any]:
        """What is asked, as the library takes it: only what was given."""
        given = {
            "population": self.population,
            "threshold": self.risk_threshold,
            "identifying": self.identifying,
            "max_columns": self.max_columns,
            "every_subset": self.every_subset,
        }
        return {name: value for name, value in given.items() if value is not None}


def risk(*, given: Input, asked: RiskOptions, policy: PolicyOptions, run: RunOptions) -> None:
    """Tell how easily people are found in a table as it stands; writes nothing.

    Prosecutor, journalist and marketer risk, uniques, and which sets of columns tell people apart.
    """
    import sqlanon

    maker = PolicyMaker.for_check(policy_document(policy.policy), policy)
    with output.progress(run) as progress:
        report = sqlanon.risk(
            given.source, given.table, maker, **asked.asked, progress=progress, **run.resources
        )
    search = {} if report.subsets is None else report.subsets.search
    output.timings(run, {"risk": report.seconds}, search)
    output.show(run, report.to_dict(), report.to_text)
