"""Publishing: carries a plan out in one transaction and proves it on the published table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlglot import exp

from sqlanon.binding import column_types
from sqlanon.checking import class_statistics, model_results
from sqlanon.engine.base import Engine
from sqlanon.engine.export import export, open_exported
from sqlanon.engine.rewrite import leftovers
from sqlanon.engine.source import Limits
from sqlanon.errors import EngineError, PolicyError, SourceError, StalePlanError, VerificationError
from sqlanon.plans import Plan
from sqlanon.query.fingerprint import fingerprint
from sqlanon.query.names import drop_table
from sqlanon.query.parts import OWN_PARTS, own_parts
from sqlanon.query.recode import create_table, rename_table
from sqlanon.report import ClassStatistics, Report

STILL_THERE = (
    "the database file and its log may still hold pages of the original: once no connection "
    "holds it, run sqlanon.rewrite(path), or copy the database into a new file"
)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a table is published: exactly one place.

    Args:
        into: Name of a new table.
        in_place: Whether it takes the original's place.
        output: A file whose ending says its format.
        overwrite: Whether an existing table or file may be replaced.
        limits: Memory, threads and temporary folder for reading a written file back.

    Raises:
        PolicyError: No place, or more than one.
    """

    into: str | None = None
    in_place: bool = False
    output: Path | None = None
    overwrite: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.into == "":
            raise PolicyError("the name of the new table is empty")
        places = sum((self.into is not None, self.in_place, self.output is not None))
        if places != 1:
            raise PolicyError(
                f"{'say where to publish' if places == 0 else 'publish to one place alone'}: "
                "--into TABLE, --in-place or --output FILE"
            )


def publish(engine: Engine, plan: Plan, source: exp.Table, target: Target) -> Report:
    """Writes the published table, checks it, and only then lets anybody see it.

    Args:
        engine: Where the table lives; an open transaction is joined.
        plan: What to publish.
        source: The table.
        target: Where to publish it.

    Raises:
        StalePlanError: The table has changed since the plan was made.
        SourceError: The target is in the way.
        VerificationError: The published table is not what the plan promised; nothing is published.
    """
    started = time.monotonic()
    notes = plan.report.notes
    with engine.transaction():
        _refuse_stale(engine, plan, source)
        if target.in_place:
            notes += tuple(_lost(engine, source))
        with _staged(engine, plan, source, target) as staged:
            applied = time.monotonic()
            statistics = _verified(engine, plan, staged)
            checked = time.monotonic()
        if target.in_place:
            found = leftovers(engine, source)
            notes += tuple(f"kept as they are, and may quote values: {text}" for text in found)
    seconds = {
        **plan.report.seconds,
        "apply": applied - started,
        "check": checked - applied,
    }
    seconds["total"] = plan.report.seconds.get("total", 0.0) + time.monotonic() - started
    return replace(
        plan.report,
        loss={**plan.report.loss, **_class_losses(plan, statistics)},
        statistics=statistics,
        models=model_results(plan.policy, statistics),
        output=_where(source, target),
        notes=notes,
        seconds=seconds,
    )


def _refuse_stale(engine: Engine, plan: Plan, source: exp.Table) -> None:
    columns = {name: kind.sql("duckdb") for name, kind in column_types(engine, source).items()}
    if columns != dict(plan.columns):
        raise StalePlanError("the columns of the table are not those of the plan; make a new plan")
    if plan.fingerprint is not None:
        found = engine.rows(fingerprint(source, list(columns)))[0]
        if tuple(found) != plan.fingerprint:
            raise StalePlanError(
                f"the table changed after the plan was made: {plan.fingerprint[0]} records then, "
                f"{found[0]} now, or other values; make a new plan"
            )


@contextmanager
def _staged(engine: Engine, plan: Plan, source: exp.Table, target: Target) -> Iterator[exp.Table]:
    """The published rows as a table to check; on leaving, it goes where it belongs.

    Until then it has a name of its own. After a failure it is dropped, since a transaction of the
    caller may be committed all the same.
    """
    rows = plan.rows(source)
    if target.output is not None:
        with engine.workspace():
            staged = engine.temporary("published")
            engine.run(create_table(staged, rows, temporary=True))
            yield staged
            _write(engine, plan, staged, target)
        return
    place = source
    if target.into is None:
        _refuse_view(engine, source)
    else:
        place = engine.target(target.into, source)
        _refuse_taken(engine, place, source, target)
    staged = engine.beside(place)
    engine.run(create_table(staged, rows))
    try:
        yield staged
    except BaseException:
        # In a transaction that has failed already nothing can be dropped, nor need be.
        with suppress(EngineError):
            engine.run(drop_table(staged))
        raise
    if engine.exists(place):
        engine.run(drop_table(place))
    engine.run(rename_table(staged, place.name))


def _lost(engine: Engine, table: exp.Table) -> list[str]:
    """What the original has that the table in its place will not have."""
    return [
        f"{count} {kind} of the original are not carried over"
        for kind, count in zip(OWN_PARTS, engine.rows(own_parts(table))[0], strict=True)
        if count
    ]


def _refuse_view(engine: Engine, source: exp.Table) -> None:
    if not engine.is_base_table(source):
        raise SourceError(
            "the source is a view or a file, not a table that could be replaced; "
            "publish it with --into TABLE or --output FILE"
        )


def _refuse_taken(engine: Engine, table: exp.Table, source: exp.Table, target: Target) -> None:
    if not engine.exists(table):
        return
    if table.sql("duckdb").lower() == source.sql("duckdb").lower():
        raise SourceError("the new table is the original itself; replace it with --in-place")
    if not target.overwrite:
        raise SourceError(f"table {target.into!r} is there already; replace it with --overwrite")
    if not engine.is_base_table(table):
        raise SourceError(f"{target.into!r} is a view; drop it or choose another name")


def _verified(engine: Engine, plan: Plan, table: exp.Table) -> ClassStatistics:
    """The classes of a published table, from that table alone.

    Raises:
        VerificationError: A model does not hold, a record is missing or twice, or a column is
            there that was not declared.
    """
    declared = plan.policy.published(list(plan.columns))
    if list(engine.columns(table)) != declared:
        raise VerificationError("the columns written are not those declared; nothing is published")
    statistics = class_statistics(engine, table, list(plan.policy.attributes))
    report = plan.report
    kept = report.suppressed_records if plan.policy.suppressed == "keep" else 0
    expected = report.records - report.suppressed_records + kept
    if statistics.records != expected:
        raise VerificationError(
            f"{statistics.records} records were written where {expected} were expected; "
            "nothing is published"
        )
    for result in model_results(plan.policy, statistics):
        if not result.holds:
            raise VerificationError(
                f"{result.model} {result.threshold} does not hold on the table written, which "
                f"has {result.value}; nothing is published"
            )
    return statistics


def _write(engine: Engine, plan: Plan, table: exp.Table, target: Target) -> None:
    """Writes a checked table to a file, reads it back, and gives it its name."""
    assert target.output is not None
    exported = export(engine, table, target.output, overwrite=target.overwrite)
    try:
        with open_exported(exported, **target.limits) as (reader, written):
            _verified(reader, plan, written)
    except BaseException:
        exported.discard()
        raise
    exported.publish()


def _class_losses(plan: Plan, statistics: ClassStatistics) -> dict[str, float]:
    """The losses that class sizes alone make up, from the published table."""
    report, k = plan.report, plan.policy.k
    if plan.policy.suppressed == "keep" or not statistics.classes:
        return {}
    squares = sum(size * size * count for size, count in statistics.histogram.items())
    return {
        "discernibility": float(squares + report.suppressed_records * report.records),
        "average_class_size": report.records / (statistics.classes * k),
    }


def _where(source: exp.Table, target: Target) -> str:
    if target.output is not None:
        return str(target.output)
    return target.into if target.into is not None else source.name
