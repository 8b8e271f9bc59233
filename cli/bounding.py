"""The command bound: a lower bound on the loss of any k-anonymization of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from sqlanon.loss.cells import CELL_LOSSES

from . import output
from .options import Input, PolicyOptions, PublishingOptions, RunOptions, TimeLimit, option
from .policies import PolicyMaker, policy_document
from .progress import progress


@dataclass(frozen=True, slots=True)
class BoundOptions:
    """What is lost, and how hard to raise the bound."""

    panel: ClassVar[str] = "Bound"
    loss: str | None = option(
        "LOSS", f"What is lost: {', '.join(CELL_LOSSES)}; lm where the policy says nothing."
    )
    effort: str | None = option(
        "quick|full",
        "How hard to raise the bound: in seconds, or in a minute for 30,000 records; quick where "
        "not given, with --time-limit for as long as it rises.",
    )
    time_limit: TimeLimit = None


def bound(
    *,
    given: Input,
    asked: BoundOptions,
    policy: PolicyOptions,
    publishing: PublishingOptions,
    run: RunOptions,
) -> None:
    """Tell what any k-anonymization loses at least, whatever the method; writes nothing.

    Of the policy, quasi-identifiers with hierarchies, weights and levels count, k, the loss and the
    suppression limit: a suppressed record loses all its cells. Other models only raise the loss.
    No column needs a role; those of a plan are taken, so that its options fit.
    """
    import sqlanon

    document = policy_document(policy.policy)
    loss = document.get("loss", "lm") if asked.loss is None else asked.loss
    maker = PolicyMaker(document, policy, publishing)
    opening = run.opening(given.text)
    with progress(run) as tell:
        report = sqlanon.bound(
            given.source,
            given.table,
            maker,
            **{**asdict(asked), "loss": loss},
            progress=tell,
            **opening,
        )
    output.timings(run, {"bound": report.seconds}, search={})
    output.show(run, report.to_dict(), text=report.to_text)
