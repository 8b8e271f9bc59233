"""Making: the report of a release that is there, and of one while it is published.

Of a plan it says whether the release was made by it, its method, and its statement without values:
a statement lists the leaves of the hierarchies, which are values of the table where nobody else
wrote them, so what the release does not hold is left out of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from sqlglot import exp

from sqlanon.arguments import checked, is_file, kind_of
from sqlanon.assessment.lint import lint_table
from sqlanon.classes import IDENTIFYING_SHARE, RISK_THRESHOLD
from sqlanon.deadline import Deadline
from sqlanon.engine.base import Engine, Opening, render
from sqlanon.engine.files import digest
from sqlanon.engine.open import is_database, second_table
from sqlanon.errors import EngineError, MissingTableError, PolicyError
from sqlanon.hierarchy.number_ranges import TO
from sqlanon.hierarchy.rules import Expressions
from sqlanon.loss.cells import DEFAULT_LOSS
from sqlanon.loss.measures import MEASURES
from sqlanon.methods.options import deadline_after
from sqlanon.methods.registry import METHODS
from sqlanon.microdata.calls import AnyPolicy, Frame, Source, asked
from sqlanon.microdata.opening import beside, reading, with_provenance
from sqlanon.microdata.population import opened_population
from sqlanon.progress import Progress, following
from sqlanon.publishing.plan import Plan
from sqlanon.publishing.target import Companion, Text
from sqlanon.query.publish.recode import create_table
from sqlanon.query.syntax import column, select, varchar
from sqlanon.query.syntax import table as table_named
from sqlanon.release_report.figures import MethodFacts
from sqlanon.release_report.gathering import (
    Gathered,
    ReportOptions,
    gather,
    searched,
    with_identifying,
    with_persons,
    with_weights,
)
from sqlanon.release_report.page import refuse_page
from sqlanon.release_report.report import ReleaseReport
from sqlanon.reports.document import Provenance
from sqlanon.reports.plan import Report
from sqlanon.sqltext import tree
from sqlanon.wording import counted, did_you_mean, listed

LOOK_SECONDS, LOOK_SHARE = 5.0, 0.5
"""What the look at sets of columns gets at least while a release is published: so long without a
time limit [seconds], and such a share of one."""


@checked
def report(
    source: Source | Frame,
    released: Any,
    policy: AnyPolicy,
    *,
    table: Any = None,
    released_table: str | None = None,
    plan: Plan | None = None,
    population: Any = None,
    control: Any = None,
    loss: str = "",
    effort: str | None = None,
    time_limit: float | None = None,
    threshold: float = RISK_THRESHOLD,
    identifying: float = IDENTIFYING_SHARE,
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> ReleaseReport:
    """A report of a release for a data protection officer, whoever anonymized it.

    Its `html` is a page that is complete in itself, and `write` writes that page; it also has
    `to_text` and `to_dict`. Nothing in it is a value that the release does not hold.

    Args:
        source: The original, or where it is, as for `sqlanon.measure`.
        released: The released table: one of the same connection, a frame, or a path to a database
            or to a file of data.
        policy: Roles, hierarchies and models that the release is held against.
        table: The original, where the source holds more than one table.
        released_table: The table of a released database that holds more than one.
        plan: The plan that the release was made by, for its method, bound and statements.
        population: Everybody that the records were drawn from, generalized as the release is: a
            table, a frame, or a path to a file of data.
        control: Records of the same population that were not released, as the original has them,
            for attacks: a table, a frame, or a path to a file of data.
        loss: The measure that comes first; that of the plan or the policy file, or `lm`.
        effort: How hard to look for a lower bound on the loss: `none`, `quick` or `full`; what ten
            seconds prove of up to 50,000 records where left out.
        time_limit: Seconds after which neither columns that identify nor a bound are looked for any
            more, and notes say so; the verdict, risks and losses are always counted.
        threshold: Risk above which a record counts as at risk, in (0, 1].
        identifying: Share of unique records that makes a set of columns identifying, in (0, 1].
        progress: Called with a line that says how far the report is.

    Raises:
        SqlanonError: A table, the policy or the population is at fault; the message says how.
    """
    call = asked(source, policy, table=table)
    measure = _loss_of(loss, plan, said=call.said)
    deadline = deadline_after(time_limit)
    wanted = ReportOptions(measure, threshold, identifying, effort=effort)
    with (
        following(progress),
        reading(*call.opened, finds_persons=True, **opening) as (opened, resolved),
        second_table(
            opened.engine, call.alike(released), table=released_table, how=beside(opened, resolved)
        ) as release,
        opened_population(
            opened.engine, call.alike(population), how=beside(opened, resolved, is_alike=True)
        ) as against,
        opened_population(
            opened.engine,
            call.alike(control),
            how=beside(opened, resolved, is_alike=True),
            what="control",
        ) as unreleased,
    ):
        engine = opened.engine
        options = replace(wanted, population=against, control=unreleased)
        with engine.transaction():
            facts = gather(engine, opened.table, released=release, policy=resolved, options=options)
            file = _data_file(engine, released)
            about = lint_table(
                engine,
                release,
                policy=resolved,
                kept=facts.kept,
                original=opened.table,
                path=file,
            )
            facts = replace(facts, findings=about)
        if plan is not None:
            refuse_other(engine, opened.table, plan=plan, facts=facts)
        facts = searched(engine, opened.table, facts=facts, deadline=deadline, plan=plan)
        method = None if plan is None else _facts(engine, release, plan=plan)
        name = released if isinstance(released, str) else "released frame"
        if file is not None:
            name = file.name
        made = with_provenance(opened, ReleaseReport(facts, method, name, facts.notes), resolved)
    if file is None or is_database(file):
        return made
    return replace(made, provenance=replace(made.provenance, output_sha256=digest(file)))


def _loss_of(loss: str, plan: Plan | None, *, said: Mapping[str, Any]) -> str:
    """The measure that comes first: the one asked for, else that of the plan or the policy file.

    Raises:
        PolicyError: The plan is none, or the measure is not known.
    """
    if plan is not None and not isinstance(plan, Plan):
        raise PolicyError(
            f"plan must be a Plan, not {kind_of(plan)}; plan() and Plan.load make one"
        )
    name = loss or (said.get("loss", DEFAULT_LOSS) if plan is None else plan.report.loss_name)
    if name not in MEASURES:
        known = ", ".join(MEASURES)
        meant = did_you_mean(name, MEASURES)
        raise PolicyError(f"loss {name!r} is not known; choose one of {known}{meant}")
    return name


def _facts(engine: Engine, table: exp.Table, *, plan: Plan) -> MethodFacts:
    """How the release was made, beside the labels that it holds."""
    return method_facts(plan, released_labels(engine, table, list(plan.policy.attributes)))


def released_labels(engine: Engine, table: exp.Table, names: Sequence[str]) -> frozenset[str]:
    """The texts of all labels of some columns of a release."""
    there = engine.columns(table)
    labels = set()
    for name in names:
        if name in there:
            query = select([varchar(column(name))], table).distinct()
            labels |= {text for (text,) in engine.rows(query) if text is not None}
    return frozenset(labels)


def _data_file(engine: Engine, released: object) -> Path | None:
    """The file of data that a release is; None for a table, whose name comes first."""
    if not isinstance(released, str | Path) or not is_file(released):
        return None
    with suppress(MissingTableError):
        if isinstance(released, str):
            engine.tables.resolve(released)
            return None
    return Path(released)


def page_of(path: Path, *, overwrite: bool, source: str | None, limit: Deadline) -> Companion:
    """The page of a release, written while that is published.

    Args:
        path: Where it goes.
        overwrite: Whether the file may be there already.
        source: The original as it was named; None for a connection.
        limit: When the search for a plan ends that begins now.

    Raises:
        SourceError: The file has another ending, exists already or cannot be written.
    """
    file, started = refuse_page(path, overwrite=overwrite), limit.clock()

    def look(engine: Engine, plan: Plan, original: exp.Table, table: exp.Table) -> Text:
        seen = report_of_release(
            engine, plan, original=original, table=table, limit=limit, started=started
        )

        def text(report: Report) -> str:
            sha256 = report.provenance.output_sha256
            provenance = Provenance(source, plan.policy, output_sha256=sha256)
            notes = (*seen.notes, *report.notes)
            return seen.published(replace(report, notes=notes, provenance=provenance)).html

        return text

    remedy = "; make it anew with `sqlanon report` where the original is still there"
    return Companion(file, "report", look, overwrite, remedy, "page unwritten")


def report_of_release(
    engine: Engine,
    plan: Plan,
    *,
    original: exp.Table,
    table: exp.Table,
    limit: Deadline,
    started: float,
) -> ReleaseReport:
    """The report of a release that is written, but not yet to be seen.

    Args:
        engine: Where both tables are.
        plan: The plan that it was made by.
        original: The original.
        table: The release.
        limit: When the search for the plan had to end.
        started: When it began [seconds of that clock].
    """
    published = limit.clock() - started
    options = ReportOptions(plan.report.loss_name)
    known = gather(engine, original, released=table, policy=plan.policy, options=options)
    until, ended = _until(limit, started=started, published=published)
    facts = with_identifying(engine, original, facts=known, deadline=until, ended=ended)
    cut = facts.notes[len(known.notes) :]  # all else is told by what is published
    if plan.policy.counting_columns and facts.released:
        names = [*plan.policy.attributes, *facts.after.sensitive, *plan.policy.counting_columns]
        with engine.workspace():
            query = plan.recoded(list(dict.fromkeys(names)), original)
            rows = engine.materialize("recoded", query)
            if plan.policy.entity is not None:
                facts = with_persons(engine, facts, rows)
            facts = with_weights(engine, facts, rows)
    method = _facts(engine, table, plan=plan)
    return ReleaseReport(facts, method, notes=(*engine.opened.notes, *cut))


def _until(limit: Deadline, *, started: float, published: float) -> tuple[Deadline, str]:
    """When the look at sets of columns ends, and what that is, as a note begins.

    Args:
        limit: As for `report_of_release`.
        started: Likewise.
        published: How long publishing took [seconds].
    """
    now = limit.clock()
    look = replace(limit, end=now + max(published, LOOK_SECONDS))
    least = now + LOOK_SHARE * (limit.end - started)
    if limit.is_limited and max(limit.end, least) < look.end:
        return replace(limit, end=max(limit.end, least)), "the time limit came"
    return look, "the time that publishing took had passed again"


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
        text = render(create_table(table_named("released"), query), plan.dialect, pretty=True)
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
