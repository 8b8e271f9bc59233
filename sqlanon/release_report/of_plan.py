"""Of a plan: whether a release was made by it, and the bound that it proved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.publishing.plan import Plan
from sqlanon.release_report.gathering import Gathered
from sqlanon.release_report.report import bound_text
from sqlanon.reports.plan import Report
from sqlanon.wording import listed


def refuse_other(engine: Engine, original: exp.Table, *, plan: Plan, found: Gathered) -> None:
    """Refuses a plan that a release was not made by, as far as it promises what is seen there.

    Raises:
        PolicyError: It is of another table or policy, or promises other figures.
    """
    faults = [*_other_input(engine, original, plan=plan, found=found), *_broken(plan, found)]
    if faults:
        raise PolicyError(
            f"the release was not made by this plan: {'; '.join(faults)}; name the plan that it "
            "was made by, or leave the plan out (--plan)"
        )


def _other_input(
    engine: Engine, original: exp.Table, *, plan: Plan, found: Gathered
) -> Iterator[str]:
    """What of the original and of the policy is another one."""
    own, asked = plan.policy, found.policy
    if {*plan.columns} != {*engine.columns(original)}:
        yield "it is of a table with other columns than the original"
    if {*own.attributes} != {*asked.attributes}:
        names = listed([repr(name) for name in own.attributes])
        yield f"its quasi-identifiers are {names}, which are not those of the policy"
    if own.k != asked.k:
        yield f"it asks for k = {own.k}, the policy for k = {asked.k}"
    if plan.report.records != found.records:
        yield f"it is of {plan.report.records:,} records, the original has {found.records:,}"


def _broken(plan: Plan, found: Gathered) -> Iterator[str]:
    """Figures of the release that are not those promised."""
    if plan.promised_records != found.released:
        yield f"it publishes {plan.promised_records:,} records, the release has {found.released:,}"
    # Persons are counted by the original alone; suppressed records that are kept make a class.
    if plan.policy.entity is not None or plan.policy.suppressed == "keep":
        return
    promised, there = plan.report.statistics, found.after.statistics
    for what, own, seen in (
        ("classes", promised.classes, there.classes),
        ("records in its smallest class", promised.smallest, there.smallest),
    ):
        if own != seen:
            yield f"it promises {own:,} {what}, the release has {seen:,}"


def with_bound(found: Gathered, report: Report) -> Gathered:
    """The figures with the bound of the plan, where no bound of every recoding says more."""
    loss, own = found.loss, report.lower_bound
    if own is None or loss.name != report.loss_name:
        return found
    if loss.lower_bound is not None and not (
        (loss.is_void or loss.is_useless) and own > loss.lower_bound
    ):
        return found
    bound = replace(loss, lower_bound=own, bound_of=bound_text(report), is_cut=report.is_cut)
    return replace(found, loss=bound)
