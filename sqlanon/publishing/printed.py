"""Printed plans: the statements that publish, for the engine of the plan and for others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Protocol

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Written

from sqlanon.engine.base import render
from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import Expressions, Intervals, Prefix
from sqlanon.policy.policy import Policy
from sqlanon.query.publish import dialects
from sqlanon.query.publish.recode import create_table
from sqlanon.query.syntax import table
from sqlanon.query.text import type_name
from sqlanon.recoding import Recoding
from sqlanon.reports.plan import Report
from sqlanon.sqlglot_version import drop
from sqlanon.sqltext import Statement, tree
from sqlanon.wording import did_you_mean, listed

_ORDINARY_DAY = re.compile(r"\d{4}-")
_DAYS = {
    getattr(exp.DataType.Type, name)
    for name in ("DATE", "TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMP_S", "TIMESTAMP_MS")
}


class Planned(Protocol):
    """What is printed of a plan."""

    @property
    def policy(self) -> Policy:
        """What the published table must satisfy."""

    @property
    def columns(self) -> Mapping[str, exp.DataType]:
        """The columns of the table and their types."""

    @property
    def recoding(self) -> Recoding:
        """What becomes of the quasi-identifiers."""

    @property
    def report(self) -> Report:
        """What is expected."""

    @property
    def dialect(self) -> str:
        """What the engine that the plan was made in reads."""

    @property
    def source(self) -> exp.Table:
        """The table."""

    def rows(self, source: exp.Table | None = None, dialect: str | None = None) -> Statement:
        """The query whose rows are published."""
        ...


def refuse_dialect(name: object) -> None:
    """Raises a `PolicyError` for a dialect that is not known, or that nothing is written for."""
    dialect = name.lower() if isinstance(name, str) else ""
    if not dialect or Written.get(dialect) is None:
        known = sorted(filter(None, Written.classes))
        meant = did_you_mean(name, known) if isinstance(name, str) else ""
        raise PolicyError(f"dialect {name!r} is not known to the SQL writer{meant}")
    if dialect in dialects.REFUSED:
        raise PolicyError(
            f"no statement is written for {dialect}: {dialects.REFUSED[dialect]}; "
            f"those for {listed(sorted(dialects.EXECUTED))} are tested there"
        )


def statements(plan: Planned, dialect: str, *, into: str) -> list[str]:
    """The statements that publish a plan's table, to be carried out one after the other.

    Raises:
        PolicyError: Columns without a role, a dialect that is not known, or one in which the
            statement is known to give other rows.
        EngineError: The dialect cannot express a part of the statement.
    """
    refuse_dialect(dialect)
    dialect = dialect.lower()
    target = exp.Table(this=exp.to_identifier(into, quoted=True))
    if dialect == plan.dialect:
        return [render(create_table(target, tree(plan.rows())), dialect, pretty=True)]
    own = dialects.EXECUTED.get(dialect) or dialects.FOLLOWERS.get(dialect)
    steps = _plain(plan, dialect) if own is None else _adapted(plan, own, into=into)
    texts = []
    for name, rows in steps:
        create = create_table(table(name) if name else target, rows)
        texts.append(render(create, dialect, pretty=True))
    temporary = [name for name, _ in steps if name]
    texts += [render(drop(table(name)), dialect) for name in reversed(temporary)]
    texts[0] = "\n".join([*_heading(plan, dialect, temporary=temporary), texts[0]])
    return texts


def _heading(plan: Planned, dialect: str, *, temporary: list[str]) -> Iterator[str]:
    """Comments on what the statements rely on."""
    own = dialects.EXECUTED.get(dialect)
    if own is None:
        yield f"-- Warning: no test executes statements for {dialect}."
        yield "-- Compare the rows with those that sqlanon publishes before you rely on them."
    else:
        yield f"-- Needs: {', '.join(own.needs)}."
    foreign = [
        name
        for name, each in plan.policy.attributes.items()
        if isinstance(each.hierarchy.rule, Expressions) and not plan.recoding.is_listed
    ]
    if foreign:
        names = ", ".join(map(ascii, foreign))
        yield f"-- Warning: your own SQL expressions are translated, but not tested: {names}."
    if temporary:
        yield f"-- Holds values of the table until the end, also if it fails: {temporary[0]}"
        yield from (f"--   {name}" for name in temporary[1:])


def _plain(plan: Planned, dialect: str) -> list[tuple[str, exp.Select]]:
    """The statement by the rules of the SQL writer alone."""
    rows = tree(plan.rows(_portable(plan.source), dialect=dialect))
    return [("", _with_listed_values(rows, dialect))]


def _adapted(plan: Planned, own: dialects.Dialect, *, into: str) -> list[tuple[str, exp.Select]]:
    """The statements that give the same rows by the rules of another engine."""
    rows = tree(plan.rows(table(dialects.SOURCE), dialect=own.like))
    named = {each.name for each in rows.find_all(exp.Column)}
    needed = {name: kind for name, kind in plan.columns.items() if name in named}
    _refuse_differences(plan, own, needed=needed)
    rows = _with_listed_values(rows, own.like)
    source = dialects.typed_source(_portable(plan.source), needed, dialect=own)
    rows = dialects.with_source(rows, source)
    if own.collation is not None:
        published = plan.policy.published(list(plan.columns))
        texts = [name for name in published if _is_text(plan, name)]
        rows = dialects.sorted_by_bytes(rows, texts, dialect=own)
    changed = dialects.rewritten(rows, own)
    assert isinstance(changed, exp.Select)
    if not own.inlines:
        return [("", changed)]
    return dialects.staged(changed, lambda name: f"{into}_{name}")


def _portable(source: exp.Table) -> exp.Table:
    """The table without the name of the schema that only an embedded database has."""
    result = source.copy()
    result.set("catalog", None)
    if result.db == "main":
        result.set("db", None)
    return result


def _with_listed_values(rows: exp.Select, dialect: str) -> exp.Select:
    """A statement whose listed texts are cast by no other engine than the one that planned with it.

    Engines differ in what they take for a value of a type, and some cannot try.
    """
    queries = list(dialects.constants(rows))
    if not queries:
        return rows
    from sqlanon.engine.open import Resources  # few statements need it

    result = rows.copy()
    with Resources().connect() as engine:
        for query in list(dialects.constants(result)):
            found = engine.rows(dialects.as_text(query))
            kind = query.expressions[0].this.args["to"]
            if kind.this in _DAYS:
                _refuse_far_days([row[0] for row in found], dialect)
            query.replace(dialects.folded(query, found))
    return result


def _refuse_far_days(texts: list[str | None], dialect: str) -> None:
    if not all(text is None or (_ORDINARY_DAY.match(text) and "BC" not in text) for text in texts):
        raise PolicyError(
            f"a hierarchy lists dates before the year 1 or after 9999, which {dialect} does not "
            "read alike; use the rule 'dates' in its place"
        )


def _is_text(plan: Planned, name: str) -> bool:
    """Whether a published column is text."""
    if plan.columns[name].this in exp.DataType.TEXT_TYPES:
        return True
    is_known = name in plan.policy.attributes
    return is_known and (_levels(plan)[name] != (0,) or _keeps_suppressed(plan))


def _levels(plan: Planned) -> dict[str, tuple[int, ...]]:
    return dict(zip(plan.policy.attributes, plan.recoding.levels, strict=True))


def _keeps_suppressed(plan: Planned) -> bool:
    """Whether suppressed records stay, under a label of text."""
    return plan.policy.suppressed == "keep" and plan.report.suppressed_records > 0


def _refuse_differences(
    plan: Planned, own: dialects.Dialect, *, needed: dict[str, exp.DataType]
) -> None:
    """Refuses columns that another engine names, compares, counts or writes otherwise.

    Raises:
        PolicyError: All of them at once, each with the reason.
    """
    faults = [f"column {name!r} {why}" for name in needed if (why := own.refused_name(name))]
    for name, kind in needed.items():
        if kind.this not in own.comparable:
            faults.append(
                f"column {name!r} is {type_name(kind)}, which is not known to be compared alike"
            )
    faults += [
        f"column {name!r} is {type_name(needed[name])}, which is not written alike as text"
        for name in sorted(_written(plan) & needed.keys())
        if needed[name].this in own.comparable - own.written
    ]
    faults += [
        f"column {name!r} is {needed[name].sql()}, of which intervals are not counted exactly"
        for name in _ruled(plan, Intervals)
        if own.digits is not None and _has_too_many_digits(plan, name, digits=own.digits)
    ]
    if faults:
        raise PolicyError(
            f"the statement would not give the same rows in {own.like}: {'; '.join(faults)}; "
            "publish from the database that the plan was made in, or leave these out or cast them"
        )


def _written(plan: Planned) -> set[str]:
    """The columns whose values are written as text on their way; not those that are listed."""
    mixed = {
        name
        for name, levels in _levels(plan).items()
        if (levels == (0,) and _keeps_suppressed(plan))
        or (0 in levels and len(levels) > 1 and not plan.recoding.is_listed)
    }
    return mixed | set(_ruled(plan, Prefix))


def _ruled(plan: Planned, rule: type[object]) -> Iterator[str]:
    """The columns that the statement generalizes by a rule of a kind."""
    policy, levels = plan.policy, _levels(plan)
    for name, each in policy.attributes.items():
        hierarchy: Hierarchy = each.hierarchy
        ruled = set() if plan.recoding.is_listed else set(levels[name]) - {0, hierarchy.height}
        if isinstance(hierarchy.rule, rule) and ruled:
            yield name
    for name, sensitive in policy.sensitive_attributes.items():
        if sensitive.hierarchy is not None and isinstance(sensitive.hierarchy.rule, rule):
            yield name


def _has_too_many_digits(plan: Planned, name: str, *, digits: int) -> bool:
    """Whether units of a decimal number are a product wider than the engine has digits for."""
    kind = plan.columns[name]
    if kind.this is not exp.DataType.Type.DECIMAL:
        return False
    policy = plan.policy
    each = policy.attributes.get(name) or policy.sensitive_attributes[name]
    rule = each.hierarchy.rule if each.hierarchy is not None else None
    given = [int(parameter.name) for parameter in kind.expressions] or [18]
    return isinstance(rule, Intervals) and given[0] + rule.scale + 2 > digits
