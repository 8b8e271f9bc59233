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
        "LOSS", f"The loss: {', '.join(CELL_LOSSES)}. Default: that of the policy, or lm."
    )
    effort: str | None = option(
        "quick|full",
        "How much work to put into the bound: ten seconds (quick) or a minute (full) for 30,000 "
        "records. Default: quick; with --time-limit, as long as the bound rises.",
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
    """Prove what any k-anonymization loses at least, by any method. Writes nothing.

    Of the policy it uses the quasi-identifiers with their hierarchies, weights and levels, k, the
    loss and the suppression limit; a suppressed record loses all its cells. The bound holds with
    further models, too, for these only raise the loss. Options for other columns are accepted, so
    that those of a plan can be used unchanged.
    """
    import sqlanon

    document = policy_document(policy.policy)
    loss = document.get("loss", "lm") if asked.loss is None else asked.loss
    maker = PolicyMaker(document, policy, publishing)
    opening = run.opening(given.text)
    with progress(run) as tell:
        report = sqlanon.bound(
            given.source,
            maker,
            table=given.table,
            **{**asdict(asked), "loss": loss},
            progress=tell,
            **opening,
        )
    output.timings(run, {"bound": report.seconds}, search={})
    output.show(run, report.to_dict(), text=report.to_text)
