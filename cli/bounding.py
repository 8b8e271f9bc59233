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
        str | None,
        typer.Option(
            metavar="LOSS",
            help=f"What is lost: {', '.join(CELL_LOSSES)}; lm where the policy says nothing.",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    run: RunOptions,
) -> None:
    """Tell what any k-anonymization loses at least, whatever the method; writes nothing.

    Of the policy, quasi-identifiers with hierarchies, weights and levels count, k, the loss and the
    suppression limit: a suppressed record loses all its cells. Other models only raise the loss.
    """
    import sqlanon

    document = policy_document(policy.policy)
    wanted = document.get("loss", "lm") if loss is None else loss
    maker = PolicyMaker(document, policy, PublishingOptions())
    opening = run.opening(given.text)
    with output.progress(run) as progress:
        report = sqlanon.bound(
            given.source,
            given.table,
            maker,
            loss=wanted,
            time_limit=time_limit,
            progress=progress,
            **opening,
        )
    output.timings(run, {"bound": report.seconds}, search={})
    output.show(run, report.to_dict(), text=report.to_text)
