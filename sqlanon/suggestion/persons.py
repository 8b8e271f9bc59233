"""Persons: which column says whose record it is, where persons have several.

Models that count records protect nobody whose records fill a class alone. A column that names
persons and has clearly fewer values than records becomes the entity. Of several it is the one that
the others determine: where each case has one patient, k patients are k cases, too, but not the
other way round, so that a mistake costs values, never protection. What stays the same of a person
for life, as a date of birth, tells numbers of persons from those that persons share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.query.classes.column_sets import joined_records, set_counts
from sqlanon.query.syntax import rows_of
from sqlanon.suggestion.advice import Advice, Naming, Role
from sqlanon.suggestion.concepts import NAME
from sqlanon.suggestion.forms import Form
from sqlanon.suggestion.naming import FEW, REPEATED, TOLD, each_has, repeats
from sqlanon.suggestion.profile import BATCH, ColumnProfile, TableProfile
from sqlanon.suggestion.vocabulary import concept_of
from sqlanon.wording import listed

AGREEING = 0.9
"""Share of the records beyond the first of each value that agree, from which a column depends on
it: a few are mistyped."""
FILLED = 0.9
"""Share of the records with a value from which a column says whose they are."""
WHOLE = "models count persons (entity) instead of records"


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
        name: None if own is None else replace(own, naming=Naming.NOT)
        for name, own in advice.items()
    }
    repeated = [each for each in profile.columns if _is_of_several(each)]
    by_naming = {
        naming: [each for each in repeated if _naming(advice[each.name]) is naming]
        for naming in Naming
    }
    named = [*by_naming[Naming.NUMBERED], *by_naming[Naming.NAMED]]
    if any(_is_of_one(each, advice[each.name]) for each in profile.columns):
        named = by_naming[Naming.NUMBERED]
        if not named:
            return settled
    lasting = [each for each in profile.columns if _is_lasting(each) and each.distinct > 1]
    depending = _depending(engine, profile, named, on=[*lasting, *named])
    wanted = {each.name for each in lasting}
    numbered = {each.name for each in by_naming[Naming.NUMBERED]}
    fitting = [each for each in named if each.name in numbered or wanted <= depending[each.name]]
    if fitting:
        best = max(
            fitting,
            key=lambda one: (
                wanted <= depending[one.name],
                one.name in numbered,
                sum(one.name in depending[other.name] for other in fitting),
                -one.distinct,
            ),
        )
        return settled | _counting(best, fitting, depending, advice=settled)
    if any(each.distinct > FEW for each in lasting):
        unknown = [each for each in repeated if _is_unknown(each, advice[each.name])]
        depending = _depending(engine, profile, unknown, on=lasting)
        keys = [each for each in unknown if wanted <= depending[each.name]]
        if keys:
            best = min(keys, key=lambda one: one.distinct)
            return settled | {best.name: _key(best, sorted(wanted))}
    asked = [*named, *by_naming[Naming.ASKED]] or _parts_of_names(
        engine, [each for each in repeated if advice[each.name] is not None], lasting, table=table
    )
    return settled | {each.name: _asking(each, advice[each.name]) for each in asked}


def _naming(advice: Advice | None) -> Naming:
    return Naming.NOT if advice is None else advice.naming


def _is_of_several(profile: ColumnProfile) -> bool:
    """Whether values may stand for persons who have several records."""
    return repeats(profile) and profile.distinct > FEW and profile.filled >= FILLED


def _is_of_one(profile: ColumnProfile, advice: Advice | None) -> bool:
    """Whether it numbers persons, and nearly each has one record."""
    is_number = _naming(advice) is Naming.NUMBERED and profile.filled >= FILLED
    return is_number and not repeats(profile)


def _is_lasting(profile: ColumnProfile) -> bool:
    concept = concept_of(profile.name)
    return concept is not None and concept.lasting


def _is_unknown(profile: ColumnProfile, advice: Advice | None) -> bool:
    """Whether nothing but its values tells what it is, and they may be numbers or names."""
    is_open = concept_of(profile.name) is None and (advice is None or advice.role is Role.UNDECIDED)
    is_fit = profile.form is Form.TEXT or profile.is_whole
    return (is_open or _naming(advice) is Naming.ASKED) and is_fit and profile.uniqueness >= TOLD


def _depending(
    engine: Engine,
    profile: TableProfile,
    columns: Sequence[ColumnProfile],
    *,
    on: Sequence[ColumnProfile],
) -> dict[str, set[str]]:
    """Per column those of others of which each of its values has one, NULL and slips aside."""
    found: dict[str, set[str]] = {each.name: set() for each in columns}
    for other in on:
        asked = [each for each in columns if each is not other]
        for start in range(0, len(asked), BATCH):
            batch = asked[start : start + BATCH]
            names = [each.name for each in batch]
            query = joined_records(profile.table, names, entity=other.name)
            for each, (_, values, pairs, _) in zip(batch, sorted(engine.rows(query)), strict=True):
                most = (1 - AGREEING) * min(values, each.present - each.distinct)
                if values and (pairs or 0) - values <= most:
                    found[each.name].add(other.name)
    return found


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
    parts = [each for each in columns if concept_of(each.name) is NAME]
    if len(parts) < 2:
        return []
    query = set_counts(table, [[each.name for each in [*parts, *lasting]]])
    [(_, persons, _)] = engine.rows(query)
    return parts if persons <= REPEATED * engine.rows(rows_of(table))[0][0] else []


def _counting(
    best: ColumnProfile,
    fitting: Sequence[ColumnProfile],
    depending: Mapping[str, set[str]],
    *,
    advice: Mapping[str, Advice | None],
) -> dict[str, Advice | None]:
    """Advice for the entity and for those that it was chosen from."""
    others = [each.name for each in fitting if each is not best]
    finer = [repr(name) for name in others if best.name in depending[name]]
    apart = [repr(name) for name in others if best.name not in depending[name]]
    own = advice[best.name]
    assert own is not None
    reason = f"{own.reason}, and each has {each_has(best)}, so {WHOLE}"
    if finer:
        reason += f"; each value of {listed(finer)} has one of it, so k of it are k of those, too"
    if apart:
        reason += (
            f"; {listed(apart)} may stand for other persons: where those are to be protected, name "
            "one of them as entity instead"
        )
    found: dict[str, Advice | None] = {best.name: replace(own, reason=reason, is_entity=True)}
    for name in others:
        other = advice[name]
        assert other is not None
        found[name] = replace(other, reason=f"{other.reason}; persons are counted by {best.name!r}")
    return found


def _key(best: ColumnProfile, lasting: Sequence[str]) -> Advice:
    """Advice for a column whose values alone tell that it numbers persons."""
    same = listed([repr(name) for name in lasting])
    return Advice(
        Role.IDENTIFIER,
        f"each of its values has {each_has(best)}, all with the same {same}, as the number of a "
        f"person does, so {WHOLE}",
        is_entity=True,
    )


def _asking(profile: ColumnProfile, advice: Advice | None) -> Advice:
    """Advice for a column that may say whose record it is."""
    assert advice is not None
    if advice.role is Role.UNDECIDED:
        return advice
    return replace(
        advice,
        reason=f"{advice.reason}; each value has {each_has(profile)}. Does each stand for one "
        "person, by itself or beside other names? Then persons are to be counted (entity)",
        naming=Naming.ASKED,
    )
