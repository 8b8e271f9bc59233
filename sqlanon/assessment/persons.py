"""Persons: columns of which each value has several records, where models count records."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from sqlanon.assessment.check import with_quasi_identifiers
from sqlanon.engine.base import Engine
from sqlanon.microdata.binding import column_types, is_unsuited
from sqlanon.policy.policy import Policy
from sqlanon.query.assess.persons import (
    differing,
    one_of_each,
    placed,
    records_of_values,
    repeats,
)
from sqlanon.query.encoding.encode import VALUE
from sqlanon.sqlglot_version import type_id
from sqlanon.wording import figure, listed

REPEATED = 1.25
"""Mean records of a value from which values repeat [records]."""
LOOKED_AT = 1000
"""About how many values are looked at: all records of each, chosen by a hash."""
DIFFERING = 0.2
"""Share of the differences between values up to which those within values settle a column."""


def person_notes(engine: Engine, table: exp.Table, *, policy: Policy) -> list[str]:
    """Notes of columns that may say whose record each is, where a policy does not say so.

    Persons have several records then, and a class of k records may be one person. Looked at are all
    columns but sensitive ones, of a table that holds what the policy drops: a released one has
    labels in their place. Of each that has `REPEATED` records per value or more, a note is made

    - of an identifier with more values than records per value: it is neither a kind nor a place;
    - of an identifier, and of any column with so many values, that settles quasi-identifiers as a
      person does: at least half of the others, two of which do not settle each other. A person has
      one sex and one year of birth; a town has one state and one country, but its state settles its
      country, and a day or a department settles neither. Where such a column is found, those that
      it settles repeat because it does.

    A column settles another where its values have records that differ there at most a fifth as
    often (`DIFFERING`) as two values do: some persons move, and some records are wrong.
    """
    policy, _ = with_quasi_identifiers(engine, table, policy=policy)
    types = column_types(engine, table)
    dropped = {*policy.identifiers, *policy.drop}
    if policy.entity is not None or not dropped <= types.keys():
        return []
    names = [
        name
        for name, kind in types.items()
        if name not in policy.sensitive and type_id(kind) not in engine.UNSTORED
    ]
    names = [name for name in names if not is_unsuited(types[name])]
    notes, explained = list[str](), set[str]()
    for name, (records, values) in _repeated(engine, table, policy=policy, names=names):
        is_many, is_identifier = values * values > records, name in policy.identifiers
        if name in explained or not (is_many or is_identifier):
            continue
        others = [other for other in policy.attributes if other != name and other in names]
        settled = _settled(engine, table, name, values, others)
        if settled or (is_many and is_identifier):
            notes.append(_note(policy, name, mean=records / values, settled=settled))
            explained |= {*settled}
    return notes


def _repeated(
    engine: Engine, table: exp.Table, *, policy: Policy, names: Sequence[str]
) -> list[tuple[str, tuple[int, int]]]:
    """The columns whose values repeat, with their records and distinct values.

    Identifiers come first and quasi-identifiers last, each with those of most values first.
    """
    if not names:
        return []
    [counts] = engine.rows(repeats(table, names))
    every = zip(names, zip(counts[::2], counts[1::2], strict=True), strict=True)
    found = [
        (name, (records, values))
        for name, (records, values) in every
        if values > 1 and records >= REPEATED * values
    ]
    return sorted(
        found,
        key=lambda one: (one[0] not in policy.identifiers, one[0] in policy.attributes, -one[1][1]),
    )


def _settled(
    engine: Engine, table: exp.Table, name: str, values: int, others: Sequence[str]
) -> list[str]:
    """The quasi-identifiers that a column settles as a person does; none where it is no person."""
    if not others:
        return []
    with engine.workspace():
        parts = max(1, values // LOOKED_AT)
        query = records_of_values(table, name, beside=others, parts=parts)
        records = engine.materialize("repeated", query)
        every = list(map(placed, range(len(others))))
        varied, settled = _parted(engine, records, by=VALUE, of=every)
        if 2 * len(settled) < len(varied) or len(settled) < 2:
            return []
        each = engine.materialize("repeated", one_of_each(records, len(others)))
        follows = {
            (one, other)
            for one in settled
            for other in _parted(engine, each, by=one, of=[n for n in settled if n != one])[1]
        }
    if all(follows & {(a, b), (b, a)} for a, b in combinations(settled, 2)):
        return []
    return [other for other, place in zip(others, every, strict=True) if place in settled]


def _parted(
    engine: Engine, records: exp.Table, *, by: str, of: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns in which records differ, and those of them that another column settles."""
    [shares] = engine.rows(differing(records, by=by, of=of))
    every = [one for one in zip(of, shares[::2], shares[1::2], strict=True) if one[2]]
    # Where each value of the other column has one record, nothing is more telling.
    settled = [
        name for name, within, apart in every if within is None or within <= DIFFERING * apart
    ]
    return [name for name, *_ in every], settled


def _note(policy: Policy, name: str, *, mean: float, settled: Sequence[str]) -> str:
    role, instead = "dropped column" if name in policy.drop else "column", ""
    if name in policy.identifiers:
        role = "identifier"
    elif name in policy.attributes:
        role, instead = "quasi-identifier", " instead of quasi-identifier"
    elif name in policy.keep:
        role, instead = "kept column", " instead of keeping it"
    agreeing = f", which agree in {listed([repr(each) for each in settled])}" if settled else ""
    return (
        f"{role} {name!r} has {figure(round(mean, 1))} records per value{agreeing}: k counts "
        "records, so a class may be one person; if it says whose record each is, name it as entity "
        f"(--entity {name}){instead}"
    )
