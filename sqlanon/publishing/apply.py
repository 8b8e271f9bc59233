"""Publishing: carries a plan out in one transaction and proves it on the published table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from sqlglot import exp

from sqlanon.arguments import kind_of
from sqlanon.assessment.check import TableResults, demanded_results
from sqlanon.assessment.lint import lint_file, lint_table
from sqlanon.engine import files
from sqlanon.engine.base import Engine
from sqlanon.engine.open import FrameTable, brought, embedded, names_table
from sqlanon.errors import PolicyError, StalePlanError, VerificationError
from sqlanon.microdata.binding import column_types
from sqlanon.microdata.opening import is_data
from sqlanon.microdata.tables import change_fault, written_beside
from sqlanon.policy.policy import Policy
from sqlanon.progress import tell
from sqlanon.publishing import formats
from sqlanon.publishing.earlier import (
    judged_columns,
    judged_together,
    refuse_intersections,
)
from sqlanon.publishing.expected import expected_results, published_kept
from sqlanon.publishing.formats import Columns
from sqlanon.publishing.plan import Plan, planned_population
from sqlanon.publishing.promises import refuse_misfits
from sqlanon.publishing.target import (
    Target,
    lost_and_kept,
    refuse_broken_views,
    refuse_target,
)
from sqlanon.query.encode import fingerprint
from sqlanon.query.publish.formats import Written
from sqlanon.query.publish.suppression import all_labelled
from sqlanon.query.syntax import column, rows_of, type_name
from sqlanon.reports.check import ModelResult
from sqlanon.reports.document import Provenance
from sqlanon.reports.findings import by_severity
from sqlanon.reports.plan import Report
from sqlanon.sqltext import expression
from sqlanon.wording import counted

STILL_THERE = (
    "the database file and its log may still hold pages of the original: once no connection "
    "holds it, run `sqlanon rewrite DATABASE`, which is sqlanon.rewrite(path) in Python"
)


@dataclass(frozen=True, slots=True)
class _FileRows:
    """The rows of a file as a table of the embedded database, and how its columns are written."""

    table: exp.Table
    columns: Columns


@dataclass(frozen=True, slots=True)
class _Staged:
    """The published rows as a table to check, with notes, and for a file as they go there."""

    table: exp.Table
    notes: tuple[str, ...] = ()
    file: _FileRows | None = None


def publish(
    engine: Engine,
    plan: Plan,
    *,
    source: exp.Table,
    target: Target,
    file: Path | None = None,
    earlier: Mapping[str, exp.Table] = MappingProxyType({}),
    released: Sequence[exp.Table] = (),
) -> Report:
    """Writes the published table, checks it, and only then lets anybody see it.

    It is checked alone, or together with what was `released` before by the same plan, and beside
    `earlier` releases, by what they are called.

    An open transaction is joined. With `file`, that of the database with links resolved, the table
    is published in place in a fresh file that holds no byte of the original: it is written into a
    copy of everything else and checked there, and the copy takes the file's place in one step.
    Until then the file is as it was. The engine then holds the database alone, open for writing,
    outside a transaction.

    Raises:
        StalePlanError: The table has changed since the plan was made.
        SourceError: The target is in the way, another table refers to an original whose file is
            replaced, or that file has a second name.
        EngineError: The database cannot be copied.
        VerificationError: The published table is not what the plan promised; nothing is published.
    """
    started = time.monotonic()
    plan = plan.beside(engine.opened.population)
    with target.drawing(), engine.transaction() if file is None else nullcontext():
        refuse_target(engine, source, policy=plan.policy, target=target, file=file)
        formats.refuse_types(engine, source, policy=plan.policy, output=target.output)
        refuse_stale(engine, plan, source=source)
        refuse_misfits(engine, plan.policy, plan.recoding, source=source)
        engine.opened.refuse_changed()
        notes = tuple(lost_and_kept(engine, plan, table=source)) if target.in_place else ()
        if target.confirm is not None:
            shown = replace(plan.report, notes=(*plan.report.notes, *notes))
            target.confirm(replace(plan, report=shown))
        tell(f"writing: {counted(plan.report.records, 'record')}")
        models_must_hold = not released
        with _staged(
            engine, plan, source=source, target=target, file=file, models_must_hold=models_must_hold
        ) as staged:
            written, table = time.monotonic(), staged.table
            tell("checking: what was written")
            if target.in_place:
                refuse_broken_views(engine, source, columns=engine.columns(table))
            results = _verified(engine, plan, table=table, models_must_hold=models_must_hold)
            together = None
            if released:
                kinds = column_types(engine, table)
                if staged.file is not None:
                    written_as = staged.file.columns
                    kinds |= {name: form.kind for name, form in written_as.items()}
                together = judged_together(
                    engine,
                    table,
                    policy=plan.policy,
                    earlier=released,
                    types={name: kinds[name] for name in judged_columns(plan.policy)},
                )
                where = "the batch together with what was released before, which have"
                _refuse_failed(together.models, where=where)
                notes = (*notes, together.note)
            if target.output is not None and staged.file is not None:
                form = staged.file
                file_notes = formats.notes_of(
                    embedded(engine), form.table, output=target.output, written=form.columns
                )
                notes = (*notes, *file_notes)
            if plan.policy.entity is not None:
                # Whom records are of the original alone can tell.
                with engine.workspace():
                    results, rows = expected_results(engine, plan, table=source)
                    _refuse_others(engine, rows, table=table)
                _refuse_failed(results.models)
            against = refuse_intersections(engine, plan, source=source, earlier=earlier)
            kept = published_kept(engine, plan, source=source, table=table)
            looked = time.monotonic()
            seconds = {"check": looked - written}
            place = None if target.into is None else engine.tables.target(target.into, source)
            findings = lint_table(
                engine, table, policy=plan.policy, kept=kept, original=source, place=place
            )
            seconds["lint"] = time.monotonic() - looked
            sha256 = ""
            if target.output is None:
                _, sha256 = engine.rows(fingerprint(table, engine.columns(table)))[0]
            report = plan.report.keeping(kept)
            report = replace(
                report,
                statistics=results.statistics,
                models=together.models if together else results.models,
                against=against,
                together=together,
                output=_where(engine.tables.portable(source), target),
                notes=(*report.notes, *notes, *staged.notes),
                findings=findings,
                provenance=Provenance(
                    source_sha256=plan.report.provenance.source_sha256, output_sha256=sha256
                ),
            )
            if target.companions:
                looked = time.monotonic()
                for companion in target.companions:
                    companion(engine, plan, source, table)
                    companion.draw(_timed(report, seconds, started=looked))
                seconds["report"] = time.monotonic() - looked
            # All that is published has been read by now, between two looks at its source.
            refuse_stale(engine, plan, source=source)
            engine.opened.refuse_changed()
            tell("publishing: what was checked")
        if target.output is not None:
            made = replace(report.provenance, output_sha256=files.digest(target.output))
            findings = by_severity([*report.findings, *lint_file(target.output)])
            report = replace(report, provenance=made, findings=findings)
    return _timed(report, seconds, started=started)


def _timed(report: Report, seconds: Mapping[str, float], *, started: float) -> Report:
    """The report of a plan with how long its publication took besides [seconds]."""
    before, taken = report.seconds, time.monotonic() - started
    apply = taken - sum(seconds.values())
    total = before.get("total", 0.0) + taken
    return replace(report, seconds={**before, "apply": apply, **seconds, "total": total})


def policy_of(plan: Plan) -> Policy:
    """The policy of a plan.

    Raises:
        PolicyError: It is none.
    """
    if not isinstance(plan, Plan):
        raise PolicyError(
            f"plan must be a Plan, not {kind_of(plan)}; plan() and Plan.load make one"
        )
    return plan.policy


def table_named(connection: object, plan: Plan, *, engine: str | None = None) -> str | None:
    """Name of the plan's table in a source; None where the source is the one table.

    Args:
        connection: The source.
        plan: The plan.
        engine: The kind of database elsewhere, where the source is a name of its table.

    Raises:
        PolicyError: The plan is none, or was made of a frame and is for a connection.
    """
    policy_of(plan)
    if isinstance(connection, FrameTable) or names_table(connection, engine):
        return None
    if plan.of_frame:
        raise PolicyError("the plan was made of a frame, which has no name; pass it as table=")
    return None if is_data(connection) else plan.table


def refuse_stale(engine: Engine, plan: Plan, *, source: exp.Table) -> None:
    """Refuses a table that is not what it was when the plan was made, by a `StalePlanError`."""
    columns = column_types(engine, source)
    # Of a file what is dropped is not even loaded, so nothing is known of it but its name.
    seen = plan.policy.seen(list(plan.columns))
    changes = list(changed_columns(dict(plan.columns), columns, seen=seen))
    if changes:
        raise StalePlanError(
            f"the columns of the table are not those of the plan: {'; '.join(changes)}; "
            "make a new plan, or give a text file the --date-format and --nullstr of the old one"
        )
    now, before = engine.rows(rows_of(source))[0][0], plan.report.records
    if now != before:
        fault = (
            f"the table changed after the plan was made, of {counted(before, 'record')}: it has "
            f"{now:,} now; make a new plan"
        )
        raise StalePlanError(change_fault(engine, source, otherwise=fault))
    _refuse_other_population(engine, plan)
    if plan.fingerprint is None:
        return
    types = engine.columns(source)  # with their enumerations, as when the plan was made
    if (
        engine.rows(fingerprint(source, {name: types[name] for name in seen}))[0]
        != plan.fingerprint
    ):
        fault = (
            f"the table changed after the plan was made: it has {counted(now, 'record')} as then, "
            "but other values; make a new plan"
        )
        raise StalePlanError(change_fault(engine, source, otherwise=fault))


def _refuse_other_population(engine: Engine, plan: Plan) -> None:
    """Refuses a population that is not what it was when the plan was made."""
    before, now = plan.population, planned_population(engine, plan.policy)
    if before is None or now is None or now.digest == before.digest:
        return
    other = f"it has {now.records:,} now"
    if now.records == before.records:
        other = "it has as many now, with other values"
    raise StalePlanError(
        "the population changed after the plan was made, of "
        f"{counted(before.records, 'record')}: {other}; make a new plan"
    )


def changed_columns(
    before: Mapping[str, exp.DataType], now: Mapping[str, exp.DataType], *, seen: Sequence[str]
) -> Iterator[str]:
    """What became of the columns of a table, by the types of those that decide anything."""
    for what, names in (
        ("it has no more", [name for name in before if name not in now]),
        ("new", [name for name in now if name not in before]),
    ):
        if names:
            yield f"{what} {', '.join(map(repr, names))}"
    types = [name for name in seen if name in now and before[name] != now[name]]
    if types:
        # The labels of a nested enumeration are values.
        named = (
            f"{name!r} ({' now, '.join(type_name(schema[name]) for schema in (now, before))} then)"
            for name in types
        )
        yield f"other types: {', '.join(named)}"
    if not types and [*before] != [*now] and before.keys() == now.keys():
        yield "another order"


@contextmanager
def _staged(
    engine: Engine,
    plan: Plan,
    *,
    source: exp.Table,
    target: Target,
    file: Path | None,
    models_must_hold: bool,
) -> Iterator[_Staged]:
    """The published rows as a table to check; on leaving, it goes where it belongs."""
    if file is not None:
        with files.fresh_file(engine, file, table=source) as staged:
            engine.tables.write(staged, plan.rows(source))
            yield _Staged(staged)
        embedded(engine).opened.forget(file)
        return
    if engine.can.stages_beside and target.output is None:
        place = source if target.into is None else engine.tables.target(target.into, source)
        rows = plan.rows(source, ordered=False)
        with written_beside(engine, rows, place=place, overwrite=target.replaces) as staged:
            yield _Staged(staged)
        return
    with engine.workspace():
        staged = engine.materialize("published", plan.rows(source))
        if target.output is not None:
            table = brought(engine, staged)
            columns = formats.columns_written(embedded(engine), table, output=target.output)
            file_rows = _FileRows(table, columns)
            yield _Staged(staged, file=file_rows)
            _write(engine, plan, rows=file_rows, target=target, models_must_hold=models_must_hold)
            return
        pages_remain = target.in_place and files.file_of(engine, source) is not None
        yield _Staged(staged, (STILL_THERE,) if pages_remain else ())
        if target.likeness is not None:
            target.likeness.take(engine, staged, source=source, plan=plan)
            return
        place = source if target.into is None else engine.tables.target(target.into, source)
        gone = files.table_types(engine, source) if target.in_place else []
        _move(engine, staged, place=place, overwrite=target.replaces)
        for one in gone:
            engine.run(files.drop_type(source.catalog, one))


def _move(engine: Engine, staged: exp.Table, *, place: exp.Table, overwrite: bool) -> None:
    """Copies a checked table to its place; only now does the file of the database grow.

    It is written under a name of its own. After a failure it is dropped, since a transaction of
    the caller may be committed all the same.

    Raises:
        SourceError: Something stands there that may not be replaced.
        VerificationError: What arrives is something else.
    """
    rows = exp.select("*").from_(staged.copy())
    with written_beside(engine, rows, place=place, overwrite=overwrite) as written:
        columns = engine.columns(written)
        sent, arrived = (engine.rows(fingerprint(one, columns)) for one in (staged, written))
        if sent != arrived:
            raise VerificationError(
                "the table written is not the one checked; nothing is published"
            )


def _verified(
    engine: Engine, plan: Plan, *, table: exp.Table, models_must_hold: bool
) -> TableResults:
    """Classes and models of a published table, from that table alone.

    Args:
        engine: Where it is.
        plan: Its plan.
        table: The table.
        models_must_hold: Whether it must satisfy the models by itself.

    Raises:
        VerificationError: A model does not hold, a record is missing or twice, or a column is
            there that was not declared.
    """
    declared = plan.policy.published(list(plan.columns))
    if list(engine.columns(table)) != declared:
        raise VerificationError("the columns written are not those declared; nothing is published")
    records, expected = engine.rows(rows_of(table))[0][0], plan.promised_records
    if records != expected:
        raise VerificationError(
            f"{counted(records, 'record')} of the table would be left where the plan promises "
            f"{expected:,}, so its policy is not the one that it was made for; nothing is published"
        )
    _refuse_more_suppressed(engine, plan, table=table)
    results = demanded_results(engine, table, policy=plan.policy, columns=declared)
    if models_must_hold:
        _refuse_failed(results.models)
    return results


def _refuse_failed(
    models: Sequence[ModelResult], *, where: str = "the table written, which has"
) -> None:
    """Refuses what does not satisfy its policy, by what models say of it."""
    for result in models:
        if not result.holds:
            raise VerificationError(
                f"{result.verdict()} on {where} {result.figure_text()}; nothing is published"
            )


def _refuse_others(engine: Engine, rows: exp.Table, *, table: exp.Table) -> None:
    """Refuses a published table whose records are not those that were counted with persons."""
    written = engine.columns(table)
    shared = {name: written[name] for name in engine.columns(rows) if name in written}
    # In one query, since two engines have digests of their own.
    both = expression(
        "{{ rows }} UNION ALL {{ table }}",
        rows=fingerprint(rows, shared),
        table=fingerprint(table, shared),
    )
    counted_rows, written_rows = engine.rows(both)
    if counted_rows != written_rows:
        raise VerificationError(
            "the records whose persons were counted are not those written; nothing is published"
        )


def _refuse_more_suppressed(engine: Engine, plan: Plan, *, table: exp.Table) -> None:
    """Refuses a table of suppressed records that are kept, if they are not as many as promised."""
    policy, promised = plan.policy, plan.report.suppressed_records
    known = plan.recoding.published_records is not None
    if policy.suppressed == "drop" or not promised or known:
        return
    query = all_labelled(table, list(policy.attributes), label=policy.suppressed_label)
    count = engine.rows(query)[0][0]
    if count != promised:
        raise VerificationError(
            f"{counted(count, 'record')} would be published with every quasi-identifier "
            f"suppressed, where the plan promises {promised:,}; nothing is published"
        )


def _write(
    engine: Engine, plan: Plan, *, rows: _FileRows, target: Target, models_must_hold: bool
) -> None:
    """Writes a checked table to a file, reads it back, and gives it its name."""
    assert target.output is not None
    here, table, columns = embedded(engine), rows.table, rows.columns
    exported = files.export(
        here,
        table,
        path=target.output,
        overwrite=target.overwrite,
        columns={name: (form.value, form.kind) for name, form in columns.items()},
    )
    try:
        with exported.opened() as (reader, written):
            # The people are not where the file is read, and its rows are those that were checked.
            kept = [m for m in plan.policy.models if m not in plan.policy.population_models]
            labelled = replace(plan, policy=replace(plan.policy, models=kept), population=None)
            _verified(reader, labelled, table=written, models_must_hold=models_must_hold)
            kept_as = {name: Written(column(name), form.kind) for name, form in columns.items()}
            sent = formats.content(here, table, columns=columns)
            if sent != formats.content(reader, written, columns=kept_as):
                raise VerificationError(
                    "the file does not read back as the rows that were to be published; "
                    "nothing is published"
                )
        exported.publish()
    finally:
        exported.discard()


def _where(source: exp.Table, target: Target) -> str:
    if target.output is not None:
        return str(target.output)
    if target.likeness is not None:
        return target.likeness.frame.title
    return target.into if target.into is not None else source.name
