"""The command mine: the frequent generalized itemsets of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from . import output
from .options import (
    Input,
    Overwrite,
    PolicyOptions,
    PublishingOptions,
    RunOptions,
    TimeLimit,
    option,
)
from .policies import PolicyMaker, policy_document
from .progress import progress


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """Kind of the itemsets, and the table they are written to."""

    panel: ClassVar[str] = "Itemsets"
    kind: str = option(
        "closed|frequent",
        "closed: only itemsets without a more specific one that has the same records; frequent: "
        "all of them.",
        default="closed",
    )
    into: str | None = option(
        "TABLE",
        "Write the itemsets and their numbers of records (support) to a new table beside the "
        "original; it holds values of the table. Default: only count them.",
    )
    overwrite: Overwrite = False
    time_limit: TimeLimit = None


def mine(*, given: Input, asked: MiningOptions, policy: PolicyOptions, run: RunOptions) -> None:
    """Count or list the generalized itemsets of k records or more.

    A generalized itemset is a combination of values, original or generalized, of some columns. Of
    the policy, only k and the quasi-identifiers with their hierarchies and levels are used.
    """
    import sqlanon

    maker = PolicyMaker(policy_document(policy.policy), policy, PublishingOptions())
    opening = run.opening(given.text)
    with progress(run) as tell:
        report = sqlanon.mine(
            given.source, maker, table=given.table, **asdict(asked), progress=tell, **opening
        )
    output.timings(run, {"mine": report.seconds}, search={})
    output.show(run, report.to_dict(), text=report.to_text)
