"""Of a plan: whether a release was made by it, its method, and its statement without values.

A statement lists the leaves of the hierarchies, which are values of the table where nobody else
wrote them. What the release does not hold is left out of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from sqlanon.engine.base import Engine, render
from sqlanon.errors import EngineError, PolicyError
from sqlanon.hierarchy.number_ranges import TO
from sqlanon.hierarchy.rules import Expressions
from sqlanon.methods.registry import METHODS
from sqlanon.publishing.plan import Plan
from sqlanon.query.publish.recode import create_table
from sqlanon.query.syntax import table
from sqlanon.release_report.figures import MethodFacts
from sqlanon.release_report.gathering import Gathered
from sqlanon.reports.plan import Report
from sqlanon.sqltext import tree
from sqlanon.wording import counted, listed

LEFT_OUT = "…"
"""What stands for a text or a number that is not shown."""
LONGEST = 60_000
"""Longest statement that is shown [characters]."""
_SQL = "`sqlanon plan --sql` prints it for those who may see the table"


def refuse_other(engine: Engine, original: exp.Table, *, plan: Plan, facts: Gathered) -> None:
    """Refuses a plan that a release was not made by, as far as it promises what is seen there.

    Raises:
        PolicyError: It is of another table or policy, or promises other figures.
    """
    faults = [*_other_input(engine, original, plan=plan, facts=facts), *_broken(plan, facts)]
    if faults:
        raise PolicyError(
            f"the release was not made by this plan: {'; '.join(faults)}; name the plan that it "
            "was made by, or leave the plan out (--plan)"
        )


def _other_input(
    engine: Engine, original: exp.Table, *, plan: Plan, facts: Gathered
) -> Iterator[str]:
    """What of the original and of the policy is another one."""
    policy, asked = plan.policy, facts.policy
    if {*plan.columns} != {*engine.columns(original)}:
        yield "it is of a table with other columns than the original"
    if {*policy.attributes} != {*asked.attributes}:
        names = listed([repr(name) for name in policy.attributes])
        yield f"its quasi-identifiers are {names}, which are not those of the policy"
    if policy.k != asked.k:
        yield f"it asks for k = {policy.k}, the policy for k = {asked.k}"
    if plan.report.records != facts.records:
        yield f"it is of {plan.report.records:,} records, the original has {facts.records:,}"


def _broken(plan: Plan, facts: Gathered) -> Iterator[str]:
    """Figures of the release that are not those promised."""
    if plan.promised_records != facts.released:
        yield f"it publishes {plan.promised_records:,} records, the release has {facts.released:,}"
    # Persons are counted by the original alone; suppressed records that are kept make a class.
    if plan.policy.entity is not None or plan.policy.suppressed == "keep":
        return
    promised, released = plan.report.statistics, facts.after.statistics
    for what, number, there in (
        ("classes", promised.classes, released.classes),
        ("records in its smallest class", promised.smallest, released.smallest),
    ):
        if number != there:
            yield f"it promises {number:,} {what}, the release has {there:,}"


def method_facts(plan: Plan, released: Collection[str]) -> MethodFacts:
    """The method of a plan and its statements; `released` are the labels that the release holds."""
    known = METHODS.get(plan.report.method)
    statements, withheld = _statements(plan, released)
    return MethodFacts(
        name=plan.report.method,
        guarantee="" if known is None else known.guarantee,
        search=tuple(_search_facts(plan.report)),
        statements=statements,
        withheld=withheld,
        plan_sha256=plan.digest,
    )


def _search_facts(report: Report) -> Iterator[tuple[str, str]]:
    """What a reader can make something of."""
    counts = report.search.to_dict()
    named = {
        "candidates": "candidates allowed by the policy",
        "checked": "candidates checked",
        "clusters": "clusters of records",
        "blocks": "blocks that were worked on one by one",
        "combinations": "different combinations of quasi-identifiers",
    }
    for name, title in named.items():
        value = counts.get(name, 0)
        if value > (name == "blocks"):
            yield title, f"{value:,}"
    if report.search.proven is not None and not report.records_per_level:
        yield "proven best of its kind", "yes" if report.search.proven else "no"
    if report.is_cut:
        yield "cut short by a time limit", "yes"


def _statements(plan: Plan, released: Collection[str]) -> tuple[tuple[str, ...], str]:
    """The statements, or why none is shown."""
    if plan.recoding.records is not None:
        return (), f"The statement says how far each single record is generalized: {_SQL}."
    if any(
        isinstance(attribute.hierarchy.rule, Expressions)
        for attribute in plan.policy.attributes.values()
    ):
        return (), f"The policy has SQL of its own, which may name values: {_SQL}."
    query = _without_values(tree(plan.beside(None).rows()), frozenset(released))
    try:
        text = render(create_table(table("released"), query), plan.dialect, pretty=True)
    except EngineError:
        return (), f"The statement cannot be written down: {_SQL}."
    if len(text) > LONGEST:
        return (), f"The statement has {counted(len(text), 'character')}: {_SQL}."
    return (text,), ""


def _without_values(query: exp.Select, released: frozenset[str]) -> exp.Select:
    """A query without texts that are not released, and lists of values without repetitions."""
    result = query.copy()
    for literal in list(result.find_all(exp.Literal)):
        in_list = literal.find_ancestor(exp.Values) is not None
        may_tell = literal.is_string or in_list
        if may_tell and not _is_shown(literal.name, released, in_list=in_list):
            literal.replace(exp.Literal.string(LEFT_OUT))
    for values in list(result.find_all(exp.Values)):
        rows = {row.sql(): row for row in values.expressions}
        values.set("expressions", list(rows.values()))
    return result


def _is_shown(text: str, released: frozenset[str], *, in_list: bool) -> bool:
    """Whether a text is released, or one of those that labels are joined by."""
    joins = text == TO or not any(letter.isalnum() for letter in text)
    return text in released or (joins and not in_list)
