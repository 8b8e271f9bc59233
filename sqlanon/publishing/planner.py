"""Planning: from a table and a policy to a recoding, with nothing written but temporary tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlglot import exp

from sqlanon.assessment.persons import person_notes
from sqlanon.deadline import Deadline, phase
from sqlanon.engine.base import Engine, render
from sqlanon.errors import (
    HierarchyError,
    PolicyError,
    StalePlanError,
    TimeLimitError,
    UnsatisfiableError,
)
from sqlanon.loss.cells import CELL_LOSSES
from sqlanon.loss.measures import refuse_inapplicable
from sqlanon.methods.options import ClusterOptions, PartOptions
from sqlanon.methods.registry import (
    CHOICE,
    DEFAULT,
    FIRST,
    LAST,
    METHODS,
    NODES,
    Decided,
    Options,
    SharedWork,
    owners_of,
)
from sqlanon.microdata.binding import (
    Subject,
    bind,
    enumerated,
    refuse_nan,
    refuse_unread,
    refuse_unstored,
)
from sqlanon.microdata.tables import CHANGED, change_fault, is_reread
from sqlanon.policy.policy import Policy
from sqlanon.policy.schemes import ORDERED
from sqlanon.policy.warnings import role_notes
from sqlanon.progress import following, tell
from sqlanon.publishing.plan import Fingerprint, Plan, placed, planned_population
from sqlanon.query.encode import confused, fingerprint
from sqlanon.query.syntax import column, type_name
from sqlanon.recoding import Node, Recoding
from sqlanon.reports.check import model_results
from sqlanon.reports.document import Provenance
from sqlanon.reports.kept import NOT_COUNTED
from sqlanon.reports.plan import Report
from sqlanon.reports.search import LatticeSearch
from sqlanon.sqltext import DIALECT, Sql, expression, value
from sqlanon.wording import counted, is_about, key, listed, shell_word

NodeSearch = Callable[[Deadline], tuple[Node, float] | None]
"""Finds the best full-domain node that is found quickly and its loss, until a deadline."""
GRACE_SECONDS = 1.0
"""By how much a time limit may be passed until it is known what could be published [seconds]."""
QUICK_SHARE = 0.3
"""Share of the time for the full-domain recoding that is found before anything else, at most: of
what is left once the table is encoded for it."""
UNREPLACED_SHARE = 0.25
"""Share of the time for what stands first, where it does not replace what the method finds."""
COUNTS_PER_READING = 8.0
"""Times as long as the reading takes to count classes by sensitive values or persons."""
MIN_COMPARED_LOSS, MAX_CUT_SHARE = 0.2, 0.5
"""Loss of one level per column from which cuts are compared to it, and the share of it that they
lose at most where that is told."""
MIN_COMPARED_LOOKS, MAX_CUT_ROWS = 20_000_000, 200_000
"""Nodes checked times distinct combinations from which cuts take less than a quarter of the time of
the search, and combinations that they take a second or two for."""
STEERING_LOSS = "lm"
"""What steers a search in the place of one by a loss that cannot steer it."""
MAX_RESERVED_SHARE = 0.5
"""Share of the time for a search that is set apart for these figures at most."""
MIN_RECORDS_BY_PLACES = 100_000
"""Records from which places are looked for: fewer are sorted at once by their labels."""
MAX_KEY_BYTES = 32
"""Bytes of a sort key up to which DuckDB sorts numbers faster than text; beyond it, slower."""
_THREADS = expression("SELECT current_setting('threads')")
"""Threads of the database, whoever opened it: no search keeps more cores busy."""

_Type = exp.DataType.Type
_WIDTHS = {
    **dict.fromkeys((_Type.BOOLEAN, _Type.TINYINT, _Type.UTINYINT), 2),
    **dict.fromkeys((_Type.SMALLINT, _Type.USMALLINT), 3),
    **dict.fromkeys((_Type.INT, _Type.UINT, _Type.DATE, _Type.FLOAT), 5),
    **dict.fromkeys((_Type.BIGINT, _Type.UBIGINT, _Type.DOUBLE, _Type.TIMESTAMP), 9),
}
"""Bytes of a column in a sort key, one of which says whether it is NULL."""
_PLACE_WIDTH, _FLAG_WIDTH, _OTHER_WIDTH = 3, 5, MAX_KEY_BYTES + 1


def make_plan(
    engine: Engine,
    table: exp.Table,
    policy: Policy,
    options: Options[Any],
    *,
    fingerprinted: bool = True,
    finds_persons: bool = False,
) -> Plan:
    """Finds the recoding of least loss that satisfies a policy.

    With `fingerprinted`, the plan can tell later that the table has changed; with `finds_persons`,
    its report notes columns that may say whose record each is.

    Raises:
        PolicyError: The policy does not fit the table or has no model.
        HierarchyError: A hierarchy does not fit its column.
        StalePlanError: The table is a view that gives other rows each time.
        TimeLimitError: The time limit came before the table had been read.
        UnsatisfiableError: No node allowed satisfies the policy.
    """
    _refuse_without_search(policy, options)
    with following(options.progress):
        started = time.monotonic()
        tell("reading: the table")
        subject, policy, known = _read(engine, table, policy=policy, options=options)
        people = planned_population(engine, policy)
        _refuse_means(engine, subject, policy=policy)
        options.shared.read_from(known)
        if engine.dialect == DIALECT:
            options = replace(options, threads=int(engine.rows(_THREADS)[0][0]))
        options = replace(options, cluster=engine.can.workers)
        taken = time.monotonic() - started
        # To measure what is published takes about half as long as to read what it is made of.
        reserved = (taken / 2, MAX_RESERVED_SHARE / 2)
        if policy.beyond_sizes:
            reserved = (taken * COUNTS_PER_READING, MAX_RESERVED_SHARE)
        ended = options.deadline.reserving(*reserved)
        with _room(engine, options):
            asked = replace(options, deadline=ended)
            decided = _chosen(engine, subject, policy=policy, options=asked)
        engine.opened.refuse_changed()
        _refuse_unsteady(engine, subject, policy=policy, known=known)
        plan = Plan(
            policy=placed(policy, people).with_attributes(subject.attributes),
            table=render(engine.tables.portable(table), engine.dialect),
            columns=subject.columns,
            dialect=engine.dialect,
            enumerated=enumerated(engine, table),
            recoding=decided.recoding,
            rounds=decided.rounds,
            smallest=decided.smallest or policy.k,
            few=_few_labels(engine, subject, policy=policy, recoding=decided.recoding),
            report=decided.report,
            seed=options.seed,
            population=people,
        )
        # Where nobody looks at the plan, the published table is judged itself.
        looks = policy.entity or (fingerprinted and policy.beyond_sizes)
        if decided.tallied is not None or looks:
            from sqlanon.publishing.expected import expected_report  # k alone does not need it

            figures = expected_report(engine, plan, table=table, tallied=decided.tallied)
            plan = replace(plan, report=figures)
        report = _with_findings(
            engine,
            plan,
            table=table,
            deadline=options.deadline,
            kept=fingerprinted,
            finds_persons=finds_persons,
        )
        seconds = {
            "encode": decided.encoded_at - started,
            "search": decided.searched_at - decided.encoded_at,
            "total": time.monotonic() - started,
        }
        report = replace(
            report,
            seconds=seconds,
            provenance=Provenance(source_sha256=known[1]),
            notes=(
                *report.notes,
                *_local_notes(engine, subject, report=report, policy=policy, options=options),
                *role_notes(policy, list(plan.columns)),
            ),
        )
        # What is not read in one transaction must be the same from here to its publication.
        is_checked = fingerprinted or options.deadline.is_limited
        return replace(plan.beside(None), report=report, fingerprint=known if is_checked else None)


def _local_notes(
    engine: Engine, subject: Subject, *, report: Report, policy: Policy, options: Options[Any]
) -> Iterator[str]:
    """What a recoding record by record loses less, where one level for each column loses much.

    Cuts from the top tell by how much. They are made where the search took several times as long as
    they do, and by itself; elsewhere a figure would cost more than the plan.
    """
    if policy.of_labels:
        return  # only levels of whole columns satisfy these
    is_whole = options.loss in CELL_LOSSES and not report.is_cut and report.records >= 2 * policy.k
    loss, search = report.loss.get(key(options.loss), 0.0), report.search
    if options.method is not DEFAULT or not is_whole or not isinstance(search, LatticeSearch):
        return
    looks, is_alone = search.checked * search.combinations, options.shared.stored is None
    if (
        loss >= MIN_COMPARED_LOSS
        and looks >= MIN_COMPARED_LOOKS
        and search.combinations <= MAX_CUT_ROWS
        and is_alone
    ):
        by_class = policy.by_class
        for decided, _ in _by("mondrian", engine, subject, policy=by_class, options=options):
            local = decided.report.loss[key(options.loss)]
            if local <= MAX_CUT_SHARE * loss:
                yield (
                    f"one level per column loses {loss:.2g}; record by record {local:.2g} and less:"
                    " `--method auto`"
                )
    elif 2 * report.suppressed_cells >= len(report.levels) * report.records:
        yield (
            f"one level per column loses {loss:.2g}, since most cells are suppressed; record by "
            "record most tables lose far less: `--method auto`"
        )


def _room(engine: Engine, options: Options[Any]) -> AbstractContextManager[None]:
    """A workspace of a search, unless its tables are kept for the next one by who has his own."""
    return engine.workspace() if options.shared.stored is None else nullcontext()


def _refuse_means(engine: Engine, subject: Subject, *, policy: Policy) -> None:
    """Refuses class means that cannot be published, by a `PolicyError`, all at once."""
    faults = []
    for name, mean in policy.class_means.items():
        kind = subject.columns[name]
        if not kind.is_type(*exp.DataType.NUMERIC_TYPES):
            faults.append(f"{name!r} is {type_name(kind)}, which has no mean")
        elif mean.step is None and not kind.is_type(*exp.DataType.INTEGER_TYPES):
            faults.append(
                f"{name!r} is {type_name(kind)}: say what its means are rounded to, such as "
                f"--class-mean {shell_word(name)}={mean.figure}:0.1"
            )
        elif engine.dialect != DIALECT:
            faults.append(
                f"{name!r} is a table's of {engine.dialect}, and no test has compared means there"
            )
        elif large := engine.rows(_too_large(subject.table, name, most=mean.most))[0][0]:
            faults.append(
                f"{name!r} has {counted(large, 'value')}, infinite ones included, whose size is "
                f"{mean.most:,.0f} or more, for which no {mean.figure} rounded to "
                f"{mean.rounded_to:f} is exact; round to a larger step, or leave class_mean out"
            )
    if faults:
        raise PolicyError(f"class_mean (--class-mean): {'; '.join(faults)}")


def _too_large(table: exp.Table, attribute: str, *, most: Decimal) -> Sql:
    """How many values of a column, or their negatives, are so large; NULL and NaN are not."""
    return expression(
        "SELECT COUNT(*) FROM {{ table }} AS record WHERE NOT ISNAN({{ number }}) "
        "AND ABS({{ number }}) >= {{ most }}",
        table=table,
        number=expression("CAST({{ value }} AS DOUBLE)", value=column(attribute, "record")),
        most=value(float(most)),
    )


def _refuse_without_search(policy: Policy, options: Options[Any]) -> None:
    """Refuses a policy that no table can be searched for, by a `PolicyError`."""
    if not (policy.models or policy.demands):
        raise PolicyError(
            "no privacy model is given; ask for one with models=[KAnonymity(5)] (--k NUMBER)"
        )
    policy.refuse_published_entity()
    policy.refuse_unused_label()
    is_open = options.method is CHOICE
    if not is_open:
        options.method.refuse_models(policy)
    settled = list(options.specific.candidates.values()) if is_open else [options.specific]
    refuse_idle_annealing(policy, *(getattr(candidate, "improve", None) for candidate in settled))
    refuse_without_solver(*(getattr(candidate, "improve", None) for candidate in settled))
    refuse_inapplicable(
        [options.loss],
        sensitive=bool(policy.sensitive_attributes),
        class_attribute=False,  # no loss that steers looks at one
    )


def refuse_idle_annealing(policy: Policy, *improve: str | None) -> None:
    """Refuses annealing, by a `PolicyError`, where there is no model to exchange records for."""
    if "anneal" in improve and not policy.demands:
        raise PolicyError(
            "improve (--improve anneal) exchanges records until the models of sensitive attributes "
            "hold, and the policy has none; leave it out, or ask for such a model, as with "
            "models=[KAnonymity(5), LDiversity(2)] (--l 2)"
        )


def refuse_without_solver(*improve: str | None) -> None:
    """Refuses large neighbourhood search, by a `PolicyError`, where its solver is missing."""
    if "lns" in improve and find_spec("highspy") is None:
        raise PolicyError(
            "improve lns (--improve lns) needs the solver HiGHS; install it with "
            "pip install 'sqlanon[exact]', or leave it out"
        )


def _read(
    engine: Engine, table: exp.Table, *, policy: Policy, options: Options[Any]
) -> tuple[Subject, Policy, Fingerprint]:
    """The table with its policy bound to it, the policy resolved, and the table's fingerprint."""
    columns = engine.columns(table)
    reading = options.deadline.earlier(-GRACE_SECONDS)
    with engine.limited(reading), phase("the reading of the table"):
        seen = {name: columns[name] for name in policy.seen(list(columns))}
        refuse_unstored(engine, seen)
        refuse_unread(engine, columns, policy=policy)  # before all is hashed
        refuse_nan(engine, table, seen)
        known = engine.rows(fingerprint(table, seen))[0]
        if policy.demands:
            from sqlanon.microdata.sensitive import resolved_sensitive  # k alone does not need it

            policy = replace(policy, sensitive=resolved_sensitive(engine, policy))
        return bind(engine, table, policy=policy), policy, known


def _refuse_unsteady(
    engine: Engine, subject: Subject, *, policy: Policy, known: Fingerprint
) -> None:
    """Refuses a view that gives other rows each time: a plan is figures of one table.

    Raises:
        StalePlanError: Its rows are others than when they were read first.
    """
    table = subject.table
    if not is_reread(engine, table):
        return
    columns = engine.columns(table)
    seen = {name: columns[name] for name in policy.seen(list(columns))}
    if engine.rows(fingerprint(table, seen))[0] != known:
        raise StalePlanError(change_fault(engine, table, otherwise=CHANGED))


def _chosen(engine: Engine, subject: Subject, *, policy: Policy, options: Options[Any]) -> Decided:
    """What the method decides, or the one that is chosen where that is left open.

    The choice is told whatever becomes of the search.
    """
    if options.method is not CHOICE:
        return _of_classes(engine, subject, policy=policy, options=options)
    choice = import_module(CHOICE.home)  # most plans are by a method asked for by name
    local_rows = engine.can.local_rows
    settled, chosen = choice.settled(subject, policy, options, local_rows=local_rows)
    settled.method.refuse_models(policy)
    decided = _of_classes(engine, subject, policy=policy, options=settled)
    explained: Decided = choice.explained(decided, chosen)
    return explained


def _of_classes(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[Any]
) -> Decided:
    """What the method decides by models that it knows, where some are of all classes together.

    But for the default, methods know single classes alone: they ask each for a size by which these
    models surely hold. What that loses at least, other recodings need not lose.
    """
    by_class = policy.by_class
    if options.method is DEFAULT or by_class == policy:
        return _decided(engine, subject, policy=policy, options=options)
    decided = _decided(engine, subject, policy=by_class, options=options)
    report = decided.report
    names = listed([model.describe() for model in policy.of_sizes])
    hold = "holds" if len(policy.of_sizes) == 1 else "hold"
    note = (
        f"{options.method.name} gives each class {by_class.k:,} records or more, by which {names} "
        f"surely {hold}; --method {DEFAULT.name} also publishes smaller classes where they do"
    )
    report = replace(
        report,
        lower_bound=None,
        models=model_results(policy, report.statistics),
        search=replace(report.search, proven=False),
        notes=(*(old_note for old_note in report.notes if not is_about(old_note, "bound")), note),
    )
    return replace(decided, report=report, smallest=decided.smallest or by_class.k)


def _decided(engine: Engine, subject: Subject, *, policy: Policy, options: Options[Any]) -> Decided:
    """What the method decides, or what loses less where the time limit ended its search.

    That is what stood first, what another method finds in the time that the method leaves, or a
    full-domain recoding: the best that is known, or the best there is still time to find.
    """
    home = import_module(options.method.home)  # no other method is loaded
    is_limited, fallback = options.deadline.is_limited, options.method.fallback
    kept = SharedWork(stored={} if is_limited else None)
    known: list[tuple[Node, float] | None] = []

    def quickly(deadline: Deadline) -> tuple[Node, float] | None:
        if not known:
            asked = replace(options, deadline=deadline)
            known.append(_quick_node(engine, subject, policy=policy, options=asked, kept=kept))
        return known[0]

    results = list[tuple[Decided, str]]()
    # Who does not want clusters refined wants those that the method finds.
    is_refined = getattr(options.specific, "refine", True)
    ended, is_always = "", is_limited and is_refined and fallback is not None and fallback.always
    if is_limited and options.method is not DEFAULT:
        share = 1.0 if fallback is None or fallback.replaces else UNREPLACED_SHARE
        first = replace(options, deadline=options.deadline.share(share))
        with suppress(TimeLimitError, PolicyError, HierarchyError, UnsatisfiableError):
            first.deadline.check()
            if options.loss in DEFAULT.losses:
                quickly(first.deadline)
        if fallback is not None and subject.records > fallback.cut_beyond:
            results += _by(FIRST, engine, subject, policy=policy, options=first)
    try:
        until = options.deadline if fallback is None else options.deadline.share(fallback.share)
        asked = replace(options, deadline=until)
        with _room(engine, options):
            decided: Decided = home.decide(engine, subject, policy=policy, options=asked)
            is_done = not decided.report.is_cut and (decided.report.search.proven or not is_always)
            if fallback is None or not fallback.replaces or is_done:
                node = _better_node(
                    decided, engine, subject, policy=policy, options=options, quickly=quickly
                )
                return node or decided
        results.append((decided, ""))
        if decided.report.is_cut:
            ended = f"the search of {options.method.name}"
    except TimeLimitError as error:
        ended = f"{error.phase or 'the search'} of {options.method.name}"
    except UnsatisfiableError:
        node = _better_node(None, engine, subject, policy=policy, options=options, quickly=quickly)
        if node is None:
            raise
        return node
    if fallback is not None and fallback.share < 1:
        results += _by(LAST, engine, subject, policy=policy, options=options)
    best = subject.high if not known or known[0] is None else known[0][0]
    # What has a result is compared to nodes that are not compared to it already.
    is_open = not options.deadline.expired or fallback == NODES
    if not results or (ended and best != subject.high and is_open):
        results.append(
            _instead(engine, subject, policy=policy, options=options, kept=kept, known=best)
        )
    name = key(options.loss)
    least, origin = min(results, key=lambda result: result[0].report.loss[name])
    if not origin:
        return least
    note = f"{origin}, which loses less than {options.method.name} does in its share of the time"
    search = least.report.search
    if ended:
        tell(f"the time limit ended {ended}")
        note = f"the time limit ended {ended}: {origin}, and a better recoding may exist"
        search = replace(search, proven=False, given_up=ended)
    return replace(
        least, report=replace(least.report, search=search, notes=(*least.report.notes, note))
    )


def _better_node(
    decided: Decided | None,
    engine: Engine,
    subject: Subject,
    *,
    policy: Policy,
    options: Options[Any],
    quickly: NodeSearch,
) -> Decided | None:
    """The best full-domain recoding where cuts or refined clusters lose more, or are none."""
    method_options, name = options.specific, key(options.loss)
    is_compared = isinstance(method_options, PartOptions) or (
        isinstance(method_options, ClusterOptions) and method_options.refine
    )
    full_domain = import_module(DEFAULT.home)
    try:
        best = quickly(options.deadline) if is_compared else None
        if best is None or (decided is not None and decided.report.loss[name] <= best[1]):
            return None
        other: Decided = full_domain.decide_at(
            engine, subject, policy=policy, options=options, node=best[0]
        )
    except (HierarchyError, PolicyError):
        return None  # what it refuses, recodings of single records may publish
    report = other.report
    note = f"this is the best full-domain recoding: {options.method.name} itself found none better"
    if decided is None:
        return replace(other, report=replace(report, notes=(*report.notes, note)))
    if decided.report.is_cut:
        note += f"; the time limit ended the search of {options.method.name}, so a better may exist"
    search = replace(report.search, proven=False, cut_short=decided.report.is_cut)
    report = replace(report, search=search, notes=(*report.notes, note))
    return replace(other, report=replace(report, lower_bound=decided.report.lower_bound))


def _by(
    name: str, engine: Engine, subject: Subject, *, policy: Policy, options: Options[Any]
) -> Iterator[tuple[Decided, str]]:
    """What another method finds in time, told as the result of the method asked for; or nothing.

    What it refuses may be what that method can do.
    """
    method = METHODS[name]
    if options.loss not in method.losses or options.deadline.expired:
        return
    home, asked = import_module(method.home), replace(options, specific=method.options())
    with suppress(TimeLimitError, PolicyError, HierarchyError, UnsatisfiableError):
        with engine.workspace():
            decided: Decided = home.decide(engine, subject, policy=policy, options=asked)
        yield decided, f"the plan is that of {name}"


def _quick_node(
    engine: Engine, subject: Subject, *, policy: Policy, options: Options[Any], kept: SharedWork
) -> tuple[Node, float] | None:
    """The best full-domain node that is found quickly, and its loss."""
    full_domain = import_module(DEFAULT.home)
    asked = replace(options, method=DEFAULT, specific=DEFAULT.options(), shared=kept)

    def search() -> tuple[tuple[Node, float] | None, bool]:
        tell(f"{DEFAULT.name}: a recoding to compare")
        with _room(engine, asked):
            result: tuple[tuple[Node, float] | None, bool] = full_domain.quick_node(
                engine, subject, policy=policy, options=asked, share=QUICK_SHARE
            )
        return result

    with suppress(TimeLimitError):
        node, _ = options.shared.once(
            ("full-domain node", policy.suppression_limit),
            search,
            records=subject.records,
            is_whole=lambda result: result[1],
        )
        return node
    return None


def _instead(
    engine: Engine,
    subject: Subject,
    *,
    policy: Policy,
    options: Options[Any],
    kept: SharedWork,
    known: Node,
) -> tuple[Decided, str]:
    """A full-domain recoding, and which one.

    That is the best there is time to find, further than what is known of others already; else the
    one that is known, at worst the highest.
    """
    full_domain, asked = import_module(DEFAULT.home), options.loss
    options = options if asked in DEFAULT.losses else replace(options, loss=STEERING_LOSS)
    # Checks by k alone are kept from one search to the next: others begin anew.
    is_further = known == subject.high or not policy.beyond_k
    if options.method is not DEFAULT and is_further:
        further = replace(options, shared=kept)
        with suppress(TimeLimitError), _room(engine, further):
            options.deadline.check()
            decided = full_domain.decide(engine, subject, policy=policy, options=further)
            origin = f"the plan is the best of {DEFAULT.name} in the time that was left"
            return _measured_by(decided, asked), origin
    decided = full_domain.decide_at(engine, subject, policy=policy, options=options, node=known)
    if known != subject.high:
        return decided, f"the plan is the best of {DEFAULT.name} in a share of the time"
    return _measured_by(decided, asked), "every column is at its highest level"


def _measured_by(decided: Decided, loss: str) -> Decided:
    """What was decided, told by another loss than the one that steered, which proves nothing."""
    report = decided.report
    if report.loss_name == loss:
        return decided
    measured = replace(report, loss_name=loss, lower_bound=None)
    return replace(decided, report=replace(measured, search=replace(report.search, proven=False)))


def _with_findings(
    engine: Engine,
    plan: Plan,
    *,
    table: exp.Table,
    deadline: Deadline,
    kept: bool,
    finds_persons: bool,
) -> Report:
    """The report with what a plan can do without: while there is time, notes and kept columns.

    Values in several spellings are those of sensitive columns and persons; those of
    quasi-identifiers come with the recoding.
    """
    report, policy = plan.report, plan.policy
    entity = [] if policy.entity is None else [policy.entity]
    roles = {"sensitive": list(policy.sensitive_attributes), "entity": entity}
    notes: list[str] = []
    if any(roles.values()):
        from sqlanon.microdata.spellings import spelling_findings  # k alone does not need it

        try:
            with engine.limited(deadline):
                findings = spelling_findings(engine, table, columns=plan.columns, roles=roles)
                notes = [finding.note for finding in findings]
        except TimeLimitError:
            where = listed([f"{role} column {n!r}" for role, names in roles.items() for n in names])
            notes = [f"no value in several spellings was looked for in {where} for lack of time"]
    if finds_persons:
        try:
            with engine.limited(deadline):
                notes += person_notes(engine, table, policy=policy)
        except TimeLimitError:
            notes.append(
                "no column that may tell whose records are whose was looked for for lack of time"
            )
    report = replace(report, notes=(*report.notes, *notes, *_unused_orders(policy, report)))
    if not kept or len(plan.columns) == len(policy.attributes):
        return report
    from sqlanon.publishing.expected import expected_kept  # most plans keep no columns

    try:
        with engine.limited(deadline):
            return report.keeping(expected_kept(engine, plan, source=table))
    except TimeLimitError:
        return replace(report, notes=(*report.notes, NOT_COUNTED))


def _unused_orders(policy: Policy, report: Report) -> list[str]:
    """Note of the orders of quasi-identifiers that nothing has looked at."""
    unused = [
        repr(name)
        for name, attribute in policy.attributes.items()
        if attribute.order is not None and report.schemes.get(name) not in ORDERED
    ]
    if not unused:
        return []
    columns = "column" if len(unused) == 1 else "columns"
    return [
        f"the order of {columns} {listed(unused)} was not looked at: the method "
        f"{listed(owners_of('scheme'))} alone does so, with ops or gops"
    ]


def _few_labels(
    engine: Engine, subject: Subject, *, policy: Policy, recoding: Recoding
) -> tuple[str, ...]:
    """Columns that records had better be sorted by the places of: none, or all that are long.

    These are the quasi-identifiers that are generalized or are text, and all other published text
    without a collation, which may take one spelling for another. One long column that is left
    spoils the gain.
    """
    if recoding.records is not None or subject.records < MIN_RECORDS_BY_PLACES:
        return ()
    from sqlanon.query.publish.statement import MOST_PLACES  # small tables need none

    parts = list(zip(subject.trees, recoding.levels, strict=True))
    constant = {tree.column for tree, levels in parts if levels == (tree.height,)}
    varying = [
        (tree, levels) for tree, levels in parts if levels[-1] and tree.column not in constant
    ]
    generalized = [
        tree.column for tree, levels in varying if tree.nodes[levels[0]][-1] < MOST_PLACES
    ]
    changed = constant | {tree.column for tree, _ in varying}
    published = policy.published(list(subject.columns))
    original = [name for name in published if name not in changed]
    few = (*generalized, *_few_texts(engine, subject, names=original))
    keeping = policy.suppressed == "keep"
    widths = dict.fromkeys(subject.names, _OTHER_WIDTH) if keeping else {}  # the label kept is text
    widths = {n: _WIDTHS.get(subject.columns[n].this, _OTHER_WIDTH) for n in original} | widths
    widths |= dict.fromkeys(constant, _FLAG_WIDTH if keeping else 0)
    widths |= dict.fromkeys(few, _PLACE_WIDTH)
    return few if sum(widths.get(n, _OTHER_WIDTH) for n in published) <= MAX_KEY_BYTES else ()


def _few_texts(engine: Engine, subject: Subject, *, names: list[str]) -> Iterator[str]:
    texts = [n for n in names if subject.columns[n].this in exp.DataType.TEXT_TYPES]
    if not texts:
        return
    from sqlanon.query.assess.profile import estimated_values
    from sqlanon.query.publish.statement import MOST_PLACES

    counts = engine.rows(estimated_values(subject.table, texts))[0][1::2]
    collated = engine.rows(confused(subject.table, texts))[0]
    for name, count, is_one in zip(texts, counts, collated, strict=True):
        if count <= MOST_PLACES and not is_one:
            yield name
