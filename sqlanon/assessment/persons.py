"""Persons: columns of which each value has several records, where models count records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from sqlanon.assessment.check import with_quasi_identifiers
from sqlanon.engine.base import Engine
from sqlanon.errors import EngineError
from sqlanon.microdata.binding import column_types, is_unsuited
from sqlanon.policy.policy import Policy
from sqlanon.query.assess.profile import (
    differing,
    distinct_values,
    estimated_values,
    one_per_value,
    placed,
    records_of_values,
)
from sqlanon.query.encode import VALUE
from sqlanon.query.syntax import rows_of
from sqlanon.sqlglot_version import type_id
from sqlanon.wording import figure, listed, shell_word

REPEATED = 1.25
"""Mean records of a value from which values repeat [records]."""
NEARLY_KEY = 10
"""Mean records of a quasi-identifier's value up to which it is nearly a key [records]."""
MAX_KINDS = 20
"""Values up to which a column rather names kinds than persons."""
ESTIMATE_MARGIN = 1.15
"""How far an estimate of distinct values may be off, as a factor."""
SAMPLED_VALUES = 1000
"""About how many values are looked at: all records of each, chosen by a hash."""
DIFFERING = 0.2
"""Share of the differences between values up to which those within values settle a column."""


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A column whose values repeat, with its records and distinct values."""

    name: str
    records: int
    values: int

    @property
    def mean(self) -> float:
        """Records per value."""
        return self.records / self.values

    @property
    def is_many(self) -> bool:
        """Whether there are more values than records per value: no kinds, and rarely places."""
        return self.values**2 > self.records

    @property
    def is_clear(self) -> bool:
        """Whether a value has several records in the mean."""
        return self.values > 1 and self.mean >= REPEATED


def person_notes(engine: Engine, table: exp.Table, *, policy: Policy) -> list[str]:
    """A note of the columns that may say whose record each is, where a policy does not say so.

    Persons have several records then, and a class of k records may be one person. Looked at are
    identifiers, columns that are dropped by name, and quasi-identifiers. Dates and fractions say
    nobody's name, and what an engine fails to count is not looked at. The criterion:

    - Where an identifier has less than `REPEATED` records per value, and a value in nearly every
      record, records are persons: nothing is noted.
    - Identifiers are noted that have `REPEATED` records per value or more, and more than
      `MAX_KINDS` values or more than records per value; where there is none, columns that are
      dropped by name and have more values than records per value.
    - Where there is none, quasi-identifiers are noted that have more than `MAX_KINDS` values, more
      values than records per value, and nearly are keys of persons: at least half of the other
      quasi-identifiers are settled by each, either a single one, and a value has at most
      `NEARLY_KEY` records, or two of which neither settles the other. A person has one sex and one
      year of birth; a town has one state and one country, but its state settles its country.

    A column settles another where its values have records that differ there at most a fifth as
    often (`DIFFERING`) as two values do: some persons move, and some records are wrong.
    """
    try:
        return _notes(engine, table, policy=policy)
    except EngineError:
        return []


def _notes(engine: Engine, table: exp.Table, *, policy: Policy) -> list[str]:
    policy, _ = with_quasi_identifiers(engine, table, policy=policy)
    types = column_types(engine, table)
    dropped = dict.fromkeys([*policy.identifiers, *policy.drop])
    # A released table has labels in the place of what is dropped.
    if policy.entity is not None or not dropped.keys() <= types.keys():
        return []
    suited = [
        name
        for name in [*dropped, *policy.attributes]
        if type_id(types[name]) not in engine.can.unstored and not is_unsuited(types[name])
    ]
    named = [n for n in dropped if n in suited and not types[n].is_type(*_NAMELESS)]
    [(total,)] = engine.rows(rows_of(table))
    estimates = _estimated(engine, table, names=named)
    if any(
        estimates[name].values * REPEATED > total * ESTIMATE_MARGIN
        for name in policy.identifiers
        if name in estimates
    ):
        return []
    counts = _counted(engine, table, policy=policy, estimates=estimates)
    if any(counts[name].values * REPEATED > total for name in policy.identifiers if name in counts):
        return []
    persons = [
        counted
        for counted in counts.values()
        if counted.is_clear
        and (counted.is_many or (counted.name in policy.identifiers and counted.values > MAX_KINDS))
    ]
    identifiers = [one for one in persons if one.name in policy.identifiers]
    if persons:
        return [_note(policy, identifiers or persons)]
    return list(_keys(engine, table, policy=policy, suited=suited))


def _keys(
    engine: Engine, table: exp.Table, *, policy: Policy, suited: Sequence[str]
) -> Iterator[str]:
    """Notes of quasi-identifiers that are nearly keys of persons."""
    names = [name for name in policy.attributes if name in suited]
    estimates = _estimated(engine, table, names=names)
    counts = _counted(engine, table, policy=policy, estimates=estimates).values()
    # Few values settle another column by chance.
    keys = [c for c in counts if c.is_clear and c.is_many and c.values > MAX_KINDS]
    explained = set[str]()
    for key in sorted(keys, key=lambda one: -one.values):
        if key.name in explained:
            continue
        others = [other for other in names if other != key.name]
        settled = _settled(engine, table, key, others)
        if settled:
            yield _note(policy, [key], settled=settled)
            explained |= {*settled}


def _estimated(engine: Engine, table: exp.Table, *, names: Sequence[str]) -> dict[str, _Repeated]:
    """About how often values of columns repeat."""
    if not names:
        return {}
    [row] = engine.rows(estimated_values(table, names))
    figures = zip(names, row[::2], row[1::2], strict=True)
    return {name: _Repeated(name, records, values) for name, records, values in figures}


def _counted(
    engine: Engine, table: exp.Table, *, policy: Policy, estimates: Mapping[str, _Repeated]
) -> dict[str, _Repeated]:
    """How often values of columns repeat: estimated, and counted where that may decide."""
    counts = dict(estimates)
    for name, about in estimates.items():
        is_identifier, most = name in policy.identifiers, about.values * ESTIMATE_MARGIN
        may_repeat = is_identifier or about.values * REPEATED <= about.records * ESTIMATE_MARGIN
        if may_repeat and (most**2 > about.records or (is_identifier and most > MAX_KINDS)):
            [(values,)] = engine.rows(distinct_values(table, name))
            counts[name] = _Repeated(name, about.records, values)
    return counts


def _settled(engine: Engine, table: exp.Table, key: _Repeated, others: Sequence[str]) -> list[str]:
    """The quasi-identifiers that a column settles as a person does; none where it is no person."""
    if not others:
        return []
    with engine.workspace():
        parts = max(1, key.values // SAMPLED_VALUES)
        query = records_of_values(table, key.name, beside=others, parts=parts)
        records = engine.materialize("repeated", query)
        places = list(map(placed, range(len(others))))
        varied, settled = _parted(engine, records, by=VALUE, of=places)
        if not settled or 2 * len(settled) < len(varied):
            return []
        if len(settled) == 1 and key.mean > NEARLY_KEY:
            return []
        single = engine.materialize("repeated", one_per_value(records, len(others)))
        follows = {
            (one, other)
            for one in settled
            for other in _parted(engine, single, by=one, of=[n for n in settled if n != one])[1]
        }
    pairs = list(combinations(settled, 2))
    if pairs and all(follows & {(a, b), (b, a)} for a, b in pairs):
        return []
    return [other for other, place in zip(others, places, strict=True) if place in settled]


def _parted(
    engine: Engine, records: exp.Table, *, by: str, of: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns in which records differ, and those of them that another column settles."""
    if not of:
        return [], []
    [shares] = engine.rows(differing(records, by=by, of=of))
    varied = [one for one in zip(of, shares[::2], shares[1::2], strict=True) if one[2]]
    # Where each value of the other column has one record, nothing is more telling.
    settled = [
        name for name, within, apart in varied if within is None or within <= DIFFERING * apart
    ]
    return [name for name, *_ in varied], settled


def _note(policy: Policy, persons: Sequence[_Repeated], *, settled: Sequence[str] = ()) -> str:
    first, *others = persons
    has = [f"{_role(policy, first.name)} has {figure(round(first.mean, 1))} records per value"]
    has += [f"{_role(policy, one.name)} {figure(round(one.mean, 1))}" for one in others]
    agreeing = f", which agree in {listed([repr(name) for name in settled])}" if settled else ""
    which, entity = ("one of them", "COLUMN") if others else ("it", first.name)
    instead = " instead of quasi-identifier" if first.name in policy.attributes else ""
    return (
        f"{listed(has)}{agreeing}: k counts records, so a class may be one person; if {which} says "
        f"whose record each is, name it as entity (--entity {shell_word(entity)}){instead}"
    )


def _role(policy: Policy, name: str) -> str:
    if name in policy.identifiers:
        return f"identifier {name!r}"
    return f"{'quasi-identifier' if name in policy.attributes else 'dropped column'} {name!r}"


_NAMELESS = (
    *exp.DataType.TEMPORAL_TYPES,
    *exp.DataType.FLOAT_TYPES,
    exp.DataType.Type.DECIMAL,
    exp.DataType.Type.TIME,
)
