"""Opening a table for a policy: what the policy drops is not loaded from a file of data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from sqlglot import exp

from sqlanon.arguments import kind_of, path_of
from sqlanon.engine.base import Opening, Use
from sqlanon.engine.open import FrameTable, OpenedSource, TextReading, is_database, open_source
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.microdata.binding import column_types
from sqlanon.microdata.population import with_population
from sqlanon.microdata.tables import unchanged
from sqlanon.policy.policy import Policy
from sqlanon.query.syntax import type_name
from sqlanon.reports.document import R

Policies = Policy | Callable[[Sequence[str]], Policy]


@contextmanager
def opened_for(
    connection: object,
    table: object,
    policy: Policies,
    *,
    read_only: bool,
    complete: bool | None = False,
    finds_persons: bool = False,
    opens_population: bool = False,
    **opening: Unpack[Opening],
) -> Iterator[tuple[OpenedSource, Policy]]:
    """A source to publish, and the policy for it, which is known before a file is loaded.

    Columns that the policy drops are not loaded.

    Args:
        connection: As for `sqlanon.check`.
        table: As for `sqlanon.check`.
        policy: As for `sqlanon.check`.
        read_only: Whether a database file is opened for reading only.
        complete: Whether every column needs a role; None where a plan tells what has changed.
        finds_persons: Whether columns that may say whose record each is are looked for, also among
            those that the policy drops by name.
        opens_population: Whether the policy's population is opened for models that it gets later.
        opening: As for `sqlanon.check`.

    Raises:
        PolicyError: The policy does not fit the columns.
        SourceError: The source cannot be opened, or has changed before it failed otherwise.
    """
    made: list[Policy] = []

    def use(columns: Sequence[str]) -> Use:
        made.append(_resolved(columns, policy))
        if complete is not None:
            made[0].check_columns(columns, publish=complete)
        published = made[0].published(columns)
        left_out = frozenset(columns) - {*published, *made[0].counting_columns}
        by_value, as_is = made[0].by_value(), frozenset(published) - {*made[0].attributes}
        attributes = made[0].attributes
        counted = _counted(made[0]) & left_out if finds_persons else frozenset[str]()
        dated = frozenset(
            n for n, attribute in attributes.items() if attribute.hierarchy.kind == "dates"
        )
        return Use(left_out, by_value, as_is - by_value, as_is, counted, dated)

    opened = open_source(connection, table, read_only=read_only, use=use, **opening)
    with (
        opened as source,
        _blamed(source),
        _beside_population(source, made[0], is_needed=opens_population),
    ):
        yield source, made[0]


@contextmanager
def reading(
    connection: object,
    table: object,
    policy: Policies,
    *,
    read_only: bool = True,
    finds_persons: bool = False,
    looks_again: bool = True,
    **opening: Unpack[Opening],
) -> Iterator[tuple[OpenedSource, Policy]]:
    """A source to read as it stands, and the policy; on leaving it is still what it was.

    Columns that the policy names as dropped are not loaded; `finds_persons` is that of
    `opened_for`, and `looks_again` says whether a table elsewhere is looked at again on leaving.

    Raises:
        PolicyError: It does not fit the columns.
        SourceError: The source cannot be opened, or has changed while it was read.
    """
    made: list[Policy] = []

    def use(columns: Sequence[str]) -> Use:
        made.append(_resolved(columns, policy))
        dropped = {*made[0].identifiers, *made[0].drop} - {*made[0].counting_columns}
        of_values = {*made[0].attributes, *made[0].sensitive, made[0].weight}
        alone = {*columns} - {*of_values, *dropped}
        left_out, by_value = frozenset(dropped), made[0].by_value()
        counted = _counted(made[0]) & {*columns} if finds_persons else frozenset[str]()
        return Use(left_out, by_value, frozenset(alone), counted=counted)

    with (
        open_source(connection, table, read_only=read_only, use=use, **opening) as source,
        source.engine.transaction() if source.kind == "remote" else nullcontext(),
        _blamed(source),
        _beside_population(source, made[0], has_labels=True),
    ):
        with unchanged_for(source, made[0]) if looks_again else nullcontext():
            yield source, made[0]
        source.engine.opened.refuse_changed()


def unchanged_for(source: OpenedSource, policy: Policy) -> AbstractContextManager[None]:
    """`unchanged` by the columns that a policy counts by."""
    names = {*policy.attributes, *policy.sensitive, *policy.counting_columns}
    weight = () if policy.weight is None else (policy.weight,)
    return unchanged(source.engine, source.table, {*names, *weight})


def _beside_population(
    source: OpenedSource, policy: Policy, *, is_needed: bool = False, has_labels: bool = False
) -> AbstractContextManager[None]:
    """The population that a policy names, where its models or the caller need it, while open."""
    if policy.population is None or not (is_needed or policy.population_models):
        return nullcontext()
    how = beside(source, policy, is_alike=True, has_labels=has_labels)
    return with_population(source.engine, policy, how=how)


def with_provenance(source: OpenedSource, report: R, policy: Policy | None = None) -> R:
    """A report of a source that says what it was made of, and what was found there.

    Args:
        source: Where the figures are from.
        report: The figures.
        policy: What they were asked with; None where there is none.
    """
    provenance = replace(report.provenance, source=source.name, policy=policy)
    # A plan that is carried out has the notes of the source that it was made from.
    source_notes = tuple(source.engine.opened.notes)
    notes = (*source_notes, *(note for note in report.notes if note not in source_notes))
    changes = {"provenance": provenance, "notes": notes}
    return replace(report, **changes)  # type: ignore[type-var]


def _counted(policy: Policy) -> frozenset[str]:
    """The columns dropped by name, which may tell persons apart where no other one is said to."""
    return frozenset({*policy.identifiers, *policy.drop} if policy.entity is None else ())


@contextmanager
def _blamed(source: OpenedSource) -> Iterator[None]:
    """Errors of a source that has changed meanwhile, told as that: they may be of two tables."""
    try:
        yield
    except SqlanonError:
        source.engine.opened.refuse_changed()
        raise


def beside(
    source: OpenedSource, policy: Policy, *, is_alike: bool = False, has_labels: bool = False
) -> TextReading:
    """How a file of data is read that is compared with a source, so that equal values stay equal.

    Args:
        source: What it is compared with.
        policy: What the source was opened for.
        is_alike: Whether a text file is written as the source is; a release need not be.
        has_labels: Whether the source may have labels in place of such values.
    """
    types = column_types(source.engine, source.table)
    # How a DOUBLE was written is known no more, so 1.5 and 1.50 must be one value there.
    numbers = {name for name, kind in types.items() if kind.is_type(*exp.DataType.FLOAT_TYPES)}
    use = Use(by_value=policy.by_value() | numbers)
    if not is_alike:
        return TextReading(use=lambda _: use)
    # A label is text, whatever its column was before.
    alike = [name for name in types if not (has_labels and name in policy.by_value())]
    use = replace(use, types={name: type_name(types[name]) for name in alike})
    return TextReading(source.form, lambda _: use, is_shared=True)


def is_data(connection: object) -> bool:
    """Whether a source is a file of data, or a frame, and so one table that is in no database."""
    if isinstance(connection, FrameTable):
        return True
    if not isinstance(connection, str | Path):
        return False
    path = path_of(connection, "the source")
    return path.is_file() and not is_database(path)


def holding(policy: Policies, *, refuse: Callable[[Policy, Sequence[str]], Policy]) -> Policies:
    """A policy that is first held against the columns of its table."""
    return lambda columns: refuse(_resolved(columns, policy), columns)


def _resolved(columns: Sequence[str], policy: Policies) -> Policy:
    """The policy, or what a function makes it of the columns of the table."""
    made = policy(list(columns)) if callable(policy) else policy
    if not isinstance(made, Policy):
        raise PolicyError(
            f"policy must be a Policy, not {kind_of(made)}; Policy.from_dict and Policy.from_toml "
            "make one"
        )
    return made


class _KnownError(SqlanonError):
    """Ends the opening of a source, whose columns are known before it is loaded."""


def column_names(source: str, table: str | None) -> list[str]:
    """The columns of a table.

    Args:
        source: A path to a database or to a file of data.
        table: The table; None where the source holds only one.

    Raises:
        SqlanonError: The source cannot be opened, or there is no such table.
    """
    seen: list[str] = []

    def policy(columns: Sequence[str]) -> Policy:
        seen.extend(columns)
        raise _KnownError

    try:
        with opened_for(source, table, policy, read_only=True):
            pass
    except _KnownError:
        pass
    return seen
