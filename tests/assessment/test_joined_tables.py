"""Two published tables that are joined: classes and models of both together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import (
    AlphaAnonymity,
    AverageRisk,
    KAnonymity,
    LDiversity,
    Policy,
    SubsetAnonymity,
)
from sqlanon.errors import PolicyError, SourceError

pytestmark = pytest.mark.slow

ASKED = Policy(["age", "zip"], sensitive=["ill"], models=[KAnonymity(2), LDiversity(2)])
AGES = [
    ("p1", "20-40", "flu"),
    ("p2", "20-40", "cold"),
    ("p3", "40-60", "flu"),
    ("p4", "40-60", "gout"),
]
ZIPS = [("p1", "1011*"), ("p3", "1011*"), ("p2", "2000*"), ("p4", "2000*")]


def published(ages=AGES, zips=ZIPS):
    connection = empty_database()
    connection.execute("CREATE TABLE ages (id VARCHAR, age VARCHAR, ill VARCHAR)")
    connection.execute("CREATE TABLE zips (id VARCHAR, zip VARCHAR)")
    insert(connection, "ages", ages)
    insert(connection, "zips", zips)
    return connection


def joined(connection, *, table="ages", join="zips", on=("id",), policy=ASKED):
    return sqlanon.check(connection, policy, table=table, join=join, on=on)


def test_two_tables_of_classes_of_two_single_everybody_out_together():
    with published() as connection:
        alone = Policy(["age"], sensitive=["ill"], models=ASKED.models)
        assert sqlanon.check(connection, alone, table="ages").holds
        report = joined(connection)
    assert not report.holds
    assert (report.statistics.smallest, report.statistics.records) == (1, 4)


def test_a_join_by_what_tells_nobody_apart_leaves_what_there_was():
    ages = [("x", age, ill) for _, age, ill in AGES]
    with published(ages, [("x", "1011*"), ("x", "1011*")]) as connection:
        assert joined(connection).holds


def test_partners_do_not_count_as_records():
    """One record with six partners is one record."""
    with published([("x", "20-40", "flu")], [("x", "1011*")] * 6) as connection:
        values = [result.value for result in joined(connection).models]
    assert values == [1, 1, 6, 1]


def test_a_quasi_identifier_of_both_tables_is_known_of_both():
    """Releases of one table at other levels, whose records a kept number joins."""
    other = [("p1", "20-50", "flu"), ("p2", "50-60", "cold"), ("p3", "50-60", "flu")]
    with published() as connection:
        connection.execute("CREATE TABLE later AS FROM ages LIMIT 0")
        insert(connection, "later", [*other, ("p4", "20-50", "gout")])
        policy = Policy(["age"], models=[KAnonymity(2)])
        assert sqlanon.check(connection, policy, table="later").holds
        report = joined(connection, join="later", policy=policy)
    assert not report.holds
    assert report.quasi_identifiers == ("age", "age (joined)")


def test_null_joins_null_and_types_may_differ():
    with published([(None, "20-40", "flu")], []) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT NULL::INTEGER AS id, 'a' AS zip")
        assert joined(connection, join="numbers").statistics.records == 1


def test_tables_without_a_common_record_are_no_join():
    message = r"no record of either table has a partner .*'id'"
    with published(zips=[("p9", "1011*")]) as connection, pytest.raises(SourceError, match=message):
        joined(connection)


@pytest.mark.parametrize(
    ("on", "message"),
    [((), "name some with --on"), (["zip"], "the table has no column 'zip'")],
)
def test_columns_of_a_join_are_those_of_both_tables(on, message):
    with published() as connection, pytest.raises(PolicyError, match=message):
        joined(connection, on=on)


@pytest.mark.parametrize("model", [AverageRisk(0.5), SubsetAnonymity(1, 2)])
def test_models_of_all_classes_are_refused_of_a_join_with_the_reason(model):
    asked = replace(ASKED, models=[model])
    with published() as connection, pytest.raises(PolicyError, match="have several partners"):
        joined(connection, policy=asked)


def test_columns_need_a_table_to_join():
    with published() as connection, pytest.raises(PolicyError, match="--join"):
        joined(connection, join=None)


KEYS = st.sampled_from(["a", "b", None])


@given(
    st.lists(
        st.tuples(KEYS, st.sampled_from("xy"), st.sampled_from("fgh")), min_size=1, max_size=8
    ),
    st.lists(st.tuples(KEYS, st.sampled_from("uv")), min_size=1, max_size=6),
)
@settings(max_examples=25)
def test_models_of_a_join_are_those_of_plain_python(ages, zips):
    """Each record counts once in every class that it may be in, beside its possible values."""
    classes, others = defaultdict(set), defaultdict(set)
    for record, (key, age, ill) in enumerate(ages):
        for partner, (other, zip_) in enumerate(zips):
            if key == other:
                classes[age, zip_].add((record, ill))
                others[age, zip_].add((partner, ill))
    policy = Policy(["age", "zip"], sensitive=["ill"], models=[*ASKED.models, AlphaAnonymity(0.5)])
    with published(ages, zips) as connection:
        if not classes:
            with pytest.raises(SourceError):
                joined(connection, policy=policy)
            return
        found = [result.value for result in joined(connection, policy=policy).models]
    wanted = []
    for side in (classes, others):
        members = {label: len({record for record, _ in held}) for label, held in side.items()}
        counts = {
            label: [len({r for r, v in held if v == ill}) for ill in {ill for _, ill in held}]
            for label, held in side.items()
        }
        wanted += [
            min(members.values()),
            min(map(len, counts.values())),
            max(max(counts[label]) / members[label] for label in side),
        ]
    assert found == pytest.approx(wanted)
