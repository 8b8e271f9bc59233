"""Persons: which column says whose record it is, where persons have several.

Models that count records protect nobody whose records fill a class alone. A column that names
persons and has clearly fewer values than records becomes the entity. Of several it is the one that
the others determine: where each case has one patient, k patients are k cases, too, but not the
other way round, so a mistake costs values, never protection. What stays the same of a person for
life, as a date of birth, tells numbers of persons from those that persons share, as a household.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.query.classes.table_classes import joined_records, set_counts
from sqlanon.query.syntax import rows_of
from sqlanon.suggestion.profile import ColumnProfile, Form, TableProfile, in_batches
from sqlanon.suggestion.roles import (
    MAX_KINDS,
    MAX_REPEATING,
    MAX_REPEATING_FIGURES,
    MIN_TELLING,
    Advice,
    Naming,
    Role,
    asked_about_key,
    may_be_key,
    records_per_value,
    repeats,
)
from sqlanon.suggestion.vocabulary import FILE, FULL_NAME, NAME, concept_of
from sqlanon.wording import listed

MIN_AGREEING = 0.9
"""Share of the records beyond the first of each value that agree, from which a column depends on
it: a few are mistyped."""
MIN_FILLED = 0.9
"""Share of the records with a value from which a column says whose they are."""
_COUNTING = "models count persons (entity) instead of records"


def with_entity(
    engine: Engine, profile: TableProfile, advice: Mapping[str, Advice | None], *, table: exp.Table
) -> dict[str, Advice | None]:
    """Advice with the entity, or with the columns that the user is asked about.

    Args:
        engine: Where the table lives.
        profile: The table.
        advice: That of each column by itself; None where it has none.
        table: The whole of it.
    """
    settled = {
        name: None if one is None else replace(one, naming=Naming.NOT)
        for name, one in advice.items()
    }
    repeated = [one for one in profile.columns if _is_of_several(one)]
    by_naming = {
        naming: [one for one in repeated if _naming(advice[one.name]) is naming]
        for naming in Naming
    }
    named = [*by_naming[Naming.NUMBERED], *by_naming[Naming.NAMED]]
    if any(_is_of_one(one, advice[one.name]) for one in profile.columns):
        named = by_naming[Naming.NUMBERED]
        if not named:
            return settled
    lasting = [one for one in profile.columns if _is_lasting(one) and one.distinct > 1]
    unclear = _keys(engine, profile, advice, lasting=lasting)
    settled |= {name: replace(one, naming=Naming.NOT) for name, one in unclear.items()}
    depending = _depending(engine, profile, named, on=[*lasting, *named])
    wanted = {one.name for one in lasting}
    numbered = {one.name for one in by_naming[Naming.NUMBERED]}
    fitting = [
        one
        for one in named
        if (one.filled >= MIN_FILLED and wanted <= depending[one.name])
        or (one.name in numbered and (not wanted or wanted & depending[one.name]))
    ]
    if fitting:
        best = max(
            fitting,
            key=lambda one: (
                wanted <= depending[one.name],
                one.filled >= MIN_FILLED,
                one.name in numbered,
                sum(one.name in depending[other.name] for other in fitting),
                -one.distinct,
            ),
        )
        return settled | _counting(best, fitting, depending, advice=settled)
    if any(one.distinct > MAX_KINDS for one in lasting):
        unknown = [one for one in repeated if _is_unknown(one, advice[one.name])]
        depending = _depending(engine, profile, unknown, on=lasting)
        keys = [one for one in unknown if wanted <= depending[one.name]]
        if keys:
            best = min(keys, key=lambda one: one.distinct)
            return settled | {best.name: _key(best, sorted(wanted))}
    asked = [*named, *by_naming[Naming.ASKED]]
    if not asked and not unclear:
        named_by = [one for one in repeated if advice[one.name] is not None]
        asked = _parts_of_names(engine, named_by, lasting, table=table)
    return settled | {one.name: _asking(one, advice[one.name]) for one in asked} | unclear


def _keys(
    engine: Engine,
    profile: TableProfile,
    advice: Mapping[str, Advice | None],
    *,
    lasting: Sequence[ColumnProfile],
) -> dict[str, Advice]:
    """Advice on columns of unknown meaning that are keys beside a date, a wave or the like.

    By chance figures are, too, so those that go with several birth years or sexes are left out.
    """
    unknown = [one for one in profile.columns if _may_be_key(one, advice[one.name])]
    depending = _depending(engine, profile, unknown, on=lasting)
    unknown = [one for one in unknown if len(depending[one.name]) == len(lasting)]
    pairs = [
        (one, other)
        for one in unknown
        for other in profile.columns
        if other not in unknown and other.distinct > 1 and repeats(other)
    ]
    keys: dict[str, Advice] = {}
    for batch in in_batches(pairs):
        sets = [[one.name, other.name] for one, other in batch]
        counts = sorted(engine.rows(set_counts(profile.table, sets)))
        for (one, other), (_, classes, _) in zip(batch, counts, strict=True):
            if classes >= MIN_AGREEING * profile.looked_at:
                keys.setdefault(one.name, asked_about_key(one, other.name))
    return keys


def _may_be_key(profile: ColumnProfile, advice: Advice | None) -> bool:
    if advice is None:
        return may_be_key(profile)
    is_open = advice.role is Role.UNDECIDED and advice.naming is Naming.NOT
    return is_open and may_be_key(profile) and profile.uniqueness <= MAX_REPEATING_FIGURES


def _naming(advice: Advice | None) -> Naming:
    return Naming.NOT if advice is None else advice.naming


def _is_of_several(profile: ColumnProfile) -> bool:
    """Whether values may stand for persons who have several records."""
    return repeats(profile) and profile.distinct > MAX_KINDS


def _is_of_one(profile: ColumnProfile, advice: Advice | None) -> bool:
    """Whether it numbers persons, and nearly each has one record."""
    is_number = _naming(advice) is Naming.NUMBERED and profile.filled >= MIN_FILLED
    return is_number and not repeats(profile)


def _is_lasting(profile: ColumnProfile) -> bool:
    concept = concept_of(profile.name)
    return concept is not None and concept.lasting


def _is_unknown(profile: ColumnProfile, advice: Advice | None) -> bool:
    """Whether nothing but its values tells what it is, and they may be numbers or names."""
    is_open = concept_of(profile.name) is None and (advice is None or advice.role is Role.UNDECIDED)
    is_fit = profile.form is Form.TEXT or profile.is_whole
    return (
        (is_open or _naming(advice) is Naming.ASKED)
        and is_fit
        and profile.filled >= MIN_FILLED
        and profile.uniqueness >= MIN_TELLING
    )


def _depending(
    engine: Engine,
    profile: TableProfile,
    columns: Sequence[ColumnProfile],
    *,
    on: Sequence[ColumnProfile],
) -> dict[str, set[str]]:
    """Per column those of others of which each of its values has one, NULL and slips aside."""
    depending: dict[str, set[str]] = {one.name: set() for one in columns}
    for other in on:
        asked = [one for one in columns if one is not other]
        for batch in in_batches(asked):
            names = [one.name for one in batch]
            query = joined_records(profile.table, names, entity=other.name)
            for one, (_, values, pairs, _) in zip(batch, sorted(engine.rows(query)), strict=True):
                most = (1 - MIN_AGREEING) * min(values, one.present - one.distinct)
                if values and (pairs or 0) - values <= most:
                    depending[one.name].add(other.name)
    return depending


def _parts_of_names(
    engine: Engine,
    columns: Sequence[ColumnProfile],
    lasting: Sequence[ColumnProfile],
    *,
    table: exp.Table,
) -> list[ColumnProfile]:
    """Columns that together name persons who have several records: first and last names.

    Namesakes were mostly born on other days.
    """
    parts = [one for one in columns if concept_of(one.name) in (FULL_NAME, NAME)]
    if len(parts) < 2:
        return []
    query = set_counts(table, [[one.name for one in [*parts, *lasting]]])
    [(_, persons, _)] = engine.rows(query)
    return parts if persons <= MAX_REPEATING * engine.rows(rows_of(table))[0][0] else []


def _counting(
    best: ColumnProfile,
    fitting: Sequence[ColumnProfile],
    depending: Mapping[str, set[str]],
    *,
    advice: Mapping[str, Advice | None],
) -> dict[str, Advice | None]:
    """Advice for the entity and for those that it was chosen from."""
    others = [one.name for one in fitting if one is not best]
    finer = [repr(name) for name in others if best.name in depending[name]]
    apart = [repr(name) for name in others if best.name not in depending[name]]
    chosen = advice[best.name]
    assert chosen is not None
    reason = f"{chosen.reason}, and each has {records_per_value(best)}, so {_COUNTING}"
    if finer:
        reason += f"; each value of {listed(finer)} has one of it, so k of it are k of those, too"
    if apart:
        reason += (
            f"; {listed(apart)} may stand for other persons: where those are to be protected, name "
            "one of them as entity instead"
        )
    if concept_of(best.name) is FILE:
        reason += (
            "; a person may have several of it, and fill a class alone: does each stand for one "
            "person? Where not, name what does as entity instead"
        )
    changed: dict[str, Advice | None] = {best.name: replace(chosen, reason=reason, is_entity=True)}
    for name in others:
        other = advice[name]
        assert other is not None
        changed[name] = replace(
            other, reason=f"{other.reason}; persons are counted by {best.name!r}"
        )
    return changed


def _key(best: ColumnProfile, lasting: Sequence[str]) -> Advice:
    """Advice for a column whose values alone tell that it numbers persons."""
    same = listed([repr(name) for name in lasting])
    return Advice(
        Role.IDENTIFIER,
        f"each of its values has {records_per_value(best)}, all with the same {same}, as the "
        f"number of a person does, so {_COUNTING}",
        is_entity=True,
    )


def _asking(profile: ColumnProfile, advice: Advice | None) -> Advice:
    """Advice for a column that may say whose record it is."""
    assert advice is not None
    if advice.role is Role.UNDECIDED:
        return advice
    return replace(
        advice,
        reason=f"{advice.reason}; each value has {records_per_value(profile)}. Does each stand for "
        "one person, by itself or beside other names? Then persons are to be counted (entity)",
        naming=Naming.ASKED,
    )
