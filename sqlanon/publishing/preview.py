"""Preview: a few records of a table as they are and as a plan publishes them, for their owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from sqlanon.arguments import checked, is_whole_number
from sqlanon.engine.base import Opening
from sqlanon.engine.open import OpenedSource
from sqlanon.errors import PolicyError
from sqlanon.microdata.calls import asked
from sqlanon.microdata.opening import opened_for, with_provenance
from sqlanon.publishing.apply import policy_of, refuse_stale, table_named
from sqlanon.publishing.plan import Plan
from sqlanon.query.publish.runs import free
from sqlanon.sqltext import expression, name, names
from sqlanon.wording import in_columns, shown

NOT_PUBLISHED = "–"
Values = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class PreviewedRecord:
    """A record before and after; `after` is None where it is left out."""

    before: Values
    after: Values | None

    def to_dict(self) -> dict[str, Any]:
        """The record in the documents of `plan --preview` and `anonymize --preview`."""
        return {
            "before": dict(self.before),
            "after": None if self.after is None else dict(self.after),
        }


def preview_text(records: tuple[PreviewedRecord, ...]) -> str:
    """Records for a reader: a line for the original, one for what becomes of it."""
    lines: list[str] = []
    for number, record in enumerate(records, start=1):
        after = record.after or {}
        rows = [("", *record.before)]
        rows.append(("before", *map(shown, record.before.values())))
        published = (shown(after[n]) if n in after else NOT_PUBLISHED for n in record.before)
        rows.append(("after", *published))
        lines += [f"record {number}", *in_columns(rows, "<" * len(rows[0]))]
    return "\n".join([*lines, f"({NOT_PUBLISHED} is not published)"])


@checked
def preview(
    source: Any,
    plan: Plan,
    *,
    table: Any = None,
    rows: int = 5,
    **opening: Unpack[Opening],
) -> tuple[PreviewedRecord, ...]:
    """The first records of a table before and after a plan, as texts; writes nothing.

    They are values of the table: what it returns is for whoever may see the original. Of a
    file of data, columns that the plan drops are not read, so they are not shown.

    Args:
        source: As for `sqlanon.check`.
        plan: The plan.
        table: The table, where it is not called what the plan calls it.
        rows: How many records, at least 1.
        opening: As for `sqlanon.check`; a text file is read as it was for the plan.

    Raises:
        StalePlanError: The table has changed since the plan was made.
        SqlanonError: The source is at fault, or there are no rows to show.
    """
    refuse_rows(rows)
    call = asked(source, policy_of(plan), table=table)
    named = call.table
    if named is None:
        named = table_named(call.source, plan, engine=opening.get("engine"))
    reading = opened_for(call.source, named, plan.policy, read_only=True, complete=None, **opening)
    with (
        reading as (opened, _),
        opened.engine.transaction(),
        opened.engine.workspace(),
    ):
        refuse_stale(opened.engine, plan, source=opened.table)
        return _previewed(opened, plan, rows=rows)


def asking(
    confirm: Callable[..., object], source: OpenedSource, *, rows: int | None
) -> Callable[[Plan], object]:
    """What asks a caller to confirm a plan of an open source.

    Args:
        confirm: Called with the plan, whose report says what it was made of, and with records.
        source: What is published.
        rows: How many records; None for the plan alone.
    """

    def ask(plan: Plan) -> object:
        shown = replace(plan, report=with_provenance(source, plan.report, plan.policy))
        if rows is None:
            return confirm(shown)
        with source.engine.workspace():
            records = _previewed(source, plan, rows=rows)
        return confirm(shown, records)

    return ask


def refuse_rows(rows: object) -> None:
    """Refuses a number of records that a preview cannot show.

    Raises:
        PolicyError: It is no whole number, or there would be nothing to show.
    """
    if not (is_whole_number(rows) and rows >= 1):  # type: ignore[operator]
        raise PolicyError("a preview shows a whole number of records, at least 1")


def _previewed(source: OpenedSource, plan: Plan, *, rows: int) -> tuple[PreviewedRecord, ...]:
    """The records, each with a copy of its quasi-identifiers, which the plan leaves as they are."""
    engine, columns = source.engine, list(plan.columns)
    published = plan.policy.published(columns)
    # What a file's plan drops has not been read: it would be shown as missing.
    is_read = {*published, plan.policy.entity} if source.kind == "file" else {*columns}
    before_names = [name for name in columns if name in is_read]
    number = free("sqlanon_number", columns)
    numbering = expression(
        "SELECT {{ listed(columns) }}, ROW_NUMBER() OVER () AS {{ number }} FROM {{ source }}",
        columns=names(columns),
        number=name(number),
        source=source.table,
    )
    numbered = engine.materialize("previewed", numbering)
    first = expression(
        "SELECT {% for column in columns %}CAST({{ column }} AS VARCHAR), {% endfor %}{{ number }}"
        " FROM {{ numbered }} WHERE {{ number }} <= {{ rows }} ORDER BY {{ number }}",
        columns=names(before_names),
        number=name(number),
        numbered=numbered,
        rows=rows,
    )
    before = engine.rows(first)
    # Last, so that it decides nothing that the published columns do not.
    plan = plan.beside(engine.opened.population)
    recoded = plan.recoded([*published, number], numbered, ordered=False)
    query = expression(
        "SELECT {{ number }}{% for column in columns %}, CAST({{ column }} AS VARCHAR)"
        "{% endfor %} FROM {{ recoded }} AS recoded WHERE {{ number }} <= {{ rows }}",
        number=name(number),
        columns=names(published),
        recoded=recoded,
        rows=rows,
    )
    after = {row[0]: row[1:] for row in engine.rows(query)}
    return tuple(
        PreviewedRecord(
            dict(zip(before_names, values, strict=True)),
            dict(zip(published, after[at], strict=True)) if at in after else None,
        )
        for *values, at in before
    )
