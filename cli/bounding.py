"""The command bound: a lower bound on the loss of any k-anonymization of a table."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlanon.loss.cells import CELL_LOSSES

from . import output
from .options import Input, PolicyOptions, PublishingOptions, RunOptions, TimeLimit
from .policies import PolicyMaker, policy_document


def bound(
    *,
    given: Input,
    policy: PolicyOptions,
    loss: Annotated[
        str, typer.Option(metavar="LOSS", help=f"What is lost: {', '.join(CELL_LOSSES)}.")
    ] = "lm",
    time_limit: TimeLimit = None,
    run: RunOptions,
) -> None:
    """Tell what any k-anonymization loses at least that suppresses no record; writes nothing.

    Of the policy, quasi-identifiers with hierarchies, weights and lowest levels count, and k.
    """
    import sqlanon

    maker = PolicyMaker(policy_document(policy.policy), policy, PublishingOptions())
    opening = given.text.asked | run.resources
    with output.progress(run) as progress:
        report = sqlanon.bound(
            given.source,
            given.table,
            maker,
            loss=loss,
            time_limit=time_limit,
            progress=progress,
            **opening,
        )
    output.timings(run, {"bound": report.seconds}, {})
    output.show(run, report.to_dict(), report.to_text)
