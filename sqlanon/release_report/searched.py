"""Searched: the figures of a release report with what takes a search, and has a time limit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.deadline import Deadline
from sqlanon.engine.base import Engine, searching
from sqlanon.errors import PolicyError, TimeLimitError, UnsatisfiableError
from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.policy.privacy import KAnonymity
from sqlanon.publishing.plan import Plan
from sqlanon.release_report.gathering import Gathered, with_identifying
from sqlanon.release_report.of_plan import with_bound

EFFORTS = ("none", "quick", "full")
"""How hard a bound is looked for."""
BOUNDED, BOUND_SECONDS = 50_000, 10.0
"""Most records of which a bound is looked for where nothing is said, and for how long [seconds]."""

_CUT = "the lower bound is what there was time to prove; {} may prove a higher one"


@dataclass(frozen=True, slots=True)
class BoundSearch:
    """How hard a bound is looked for, and until when.

    Args:
        effort: `none`, `quick` or `full`; None for what is quick enough for any report.
        deadline: When all that a verdict does without ends.

    Raises:
        PolicyError: The effort is not known.
    """

    effort: str | None
    deadline: Deadline

    def __post_init__(self) -> None:
        if self.effort not in (None, *EFFORTS):
            raise PolicyError(f"effort {self.effort!r} is not known; choose none, quick or full")

    @property
    def until(self) -> Deadline:
        """When the search for a bound ends."""
        own = Deadline.after(BOUND_SECONDS if self.effort is None else None)
        return min(own, self.deadline, key=lambda each: each.end)

    def way_out(self, until: Deadline) -> str:
        """How a higher bound is proved than one of a search that ended then.

        Args:
            until: What `until` was.
        """
        if until.is_limited and until.end == self.deadline.end:
            return "a longer time limit (--time-limit)"
        return "effort quick or full (--effort)"


def searched(
    engine: Engine, original: exp.Table, *, found: Gathered, asked: BoundSearch, plan: Plan | None
) -> Gathered:
    """The figures with what takes a search: the columns that identify, and a bound on the loss."""
    reason = "" if asked.effort == "none" else _unbounded(found, asked.effort)
    is_bounded = asked.effort != "none" and not reason
    half = asked.deadline.share(0.5) if is_bounded else asked.deadline
    told = with_identifying(engine, original, found=found, deadline=half)
    if reason:
        told = _noted(told, f"no lower bound on the loss was looked for: {reason}")
    until, proved = asked.until, told
    if is_bounded:
        proved = _bounded(engine, original, found=told, asked=asked, until=until)
    bounded = proved if plan is None else with_bound(proved, plan.report)
    if bounded is proved and proved.loss.is_cut:
        bounded = _noted(proved, _CUT.format(asked.way_out(until)))
    return bounded


def _bounded(
    engine: Engine, original: exp.Table, *, found: Gathered, asked: BoundSearch, until: Deadline
) -> Gathered:
    """The figures with what any recoding loses at least, where that can be proved in time."""
    from sqlanon.methods.clustering.bound import BoundRequest, bound_table  # few reports need it

    wanted = BoundRequest(found.loss.name, asked.effort or "quick")
    try:
        with searching(engine, until), engine.limited(until):
            bound = bound_table(engine, original, policy=found.policy, wanted=wanted)
    except TimeLimitError:
        late = replace(found, is_late=True)
        allow = asked.way_out(until)
        return _noted(late, f"no lower bound on the loss was found in time; allow {allow}")
    except UnsatisfiableError as error:
        return _noted(found, f"no lower bound on the loss was found: {error}")
    k = found.policy.k
    loss = replace(
        found.loss,
        lower_bound=bound.lower_bound,
        bound_of=f"no {k}-anonymous recoding into nodes of the hierarchies within the limit",
        is_cut=bound.is_cut,
    )
    return replace(found, loss=loss)


def _noted(found: Gathered, note: str) -> Gathered:
    return replace(found, notes=(*found.notes, note))


def _unbounded(found: Gathered, effort: str | None) -> str:
    """Why no bound of recodings into nodes is one of this release; empty where one is."""
    policy, name = found.policy, found.loss.name
    known = ", ".join(CELL_LOSSES)
    reasons = {
        f"none is known for loss {name!r}; choose one of {known} (--loss)": name not in CELL_LOSSES,
        "the policy asks for no k (--k)": not any(
            isinstance(model, KAnonymity) for model in policy.models
        ),
        "the labels of the release could not be read": not found.columns,
        "a column is released in groups of values that no hierarchy has": found.is_grouped,
        "more records are left out than the policy's limit (--suppression-limit) allows": (
            found.suppressed or 0
        )
        > policy.allowance(found.records),
        "whose records are whose cannot be told of the release": found.uncounted is not None,
        f"the release has classes below k = {policy.k}": (
            found.after.statistics.smallest < policy.k
        ),
        f"the table has more than {BOUNDED:,} records; ask for one with --effort quick": (
            effort is None and found.records > BOUNDED
        ),
    }
    return next((reason for reason, applies in reasons.items() if applies), "")
