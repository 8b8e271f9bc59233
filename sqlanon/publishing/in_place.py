"""Replacing a table in place: what needs it as it is, what is lost with it, and what stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from sqlanon.engine import files
from sqlanon.engine.base import Engine
from sqlanon.errors import SourceError
from sqlanon.policy.policy import Policy
from sqlanon.publishing.plan import Plan
from sqlanon.wording import counted, listed

STILL_THERE = (
    "the database file and its log may still hold pages of the original: once no connection "
    "holds it, run `sqlanon rewrite DATABASE`, which is sqlanon.rewrite(path) in Python"
)


IN_HISTORY = (
    "the table's history keeps the original, for all who may read it, until its old files are "
    "removed: by VACUUM in Delta, by expire_snapshots in Iceberg"
)


def refuse_broken(engine: Engine, table: exp.Table, *, policy: Policy) -> None:
    """Refuses to replace a table that other objects need as it is.

    Raises:
        SourceError: Another table refers to it, or an object uses a column that would be gone.
    """
    if engine.can.keeps_versions:
        return
    referring = files.referring(engine, table)
    if referring:
        verb = "refers" if len(referring) == 1 else "refer"
        raise SourceError(
            f"{counted(len(referring), 'other table')} {verb} to {table.name!r} by a foreign key: "
            f"{', '.join(map(repr, referring))}; write into another table, or drop the foreign key "
            "first"
        )
    types = engine.columns(table)
    columns = list(types)
    gone = [name for name in columns if name not in policy.published(columns)]
    broken = [
        f"{one} uses {', '.join(map(repr, one.used(gone)))}"
        for one in files.dependents(engine, table)
        if one.used(gone)
    ]
    if broken:
        raise SourceError(
            f"columns that are not published are used elsewhere: {'; '.join(broken)}; change or "
            "drop what uses them, or publish with --into TABLE"
        )
    left = {name: types[name] for name in policy.published(columns)}
    refuse_broken_views(engine, table, columns=left)


def refuse_broken_views(
    engine: Engine, table: exp.Table, *, columns: Mapping[str, exp.DataType]
) -> None:
    """Refuses to replace a table by one of other columns or types, with which views would fail.

    Raises:
        SourceError: A view that works would not any more, whether or not it names a column.
    """
    if engine.can.keeps_versions:
        return
    broken = files.broken_views(engine, table, columns=columns)
    if broken:
        raise SourceError(
            f"{counted(len(broken), 'view')} would fail with the columns that are published, or "
            f"with labels in them: {', '.join(map(repr, broken))}; change or drop what uses the "
            "others, or publish with --into TABLE"
        )


def _changed(engine: Engine, plan: Plan, *, table: exp.Table) -> Iterator[str]:
    """Objects that use columns which are published as labels, and may not work with them."""
    generalized = [
        name
        for name, level in zip(plan.policy.attributes, plan.recoding.levels, strict=True)
        if level[-1] > 0
    ]
    for one in files.dependents(engine, table):
        used = one.used(generalized)
        if used:
            verb = "holds" if len(used) == 1 else "hold"
            yield f"{one} uses {listed([repr(name) for name in used])}, which now {verb} labels"
    for one in files.picking(engine, table):
        yield f"{one} picks columns or tables by a text, and may use what is not published"
    if files.broken_views(engine, table, columns=engine.columns(table)) is None:
        yield (
            "whether views still work with the new columns could not be tried, since the open "
            "transaction, or another one, has made or changed the table or a view"
        )


def lost_and_kept(engine: Engine, plan: Plan, *, table: exp.Table) -> Iterator[str]:
    """Parts of the original that are not carried over, and parts that stay and quote its values."""
    if engine.can.keeps_versions:
        yield IN_HISTORY
        return
    yield from _changed(engine, plan, table=table)
    yield from files.own_parts(engine, table)
    for text in files.leftovers(engine, table.catalog, besides=table):
        yield f"kept as they are, and may quote values: {text}"
