"""Which classes the published statement suppresses, and what DuckDB answers."""

import pytest
from databases import empty_database
from snapshots import Snapshot, text
from sqlglot import parse_one

from sqlanon.policy.privacy import LDiversity, TCloseness
from sqlanon.policy.sizes import SubsetAnonymity
from sqlanon.query.privacy.models import needed_by
from sqlanon.query.publish.suppression import Attribute, SuppressionQuery
from sqlanon.sqltext import expression, name


def statement(suppression, keys):
    """The suppressed classes of the details as one query."""
    steps = suppression.steps(keys)
    return expression(
        "WITH sqlanon_details AS (SELECT * FROM details){% for step, query in steps %},"
        " {{ step }} AS {{ query }}{% endfor %} SELECT * FROM {{ last }}",
        steps=[(name(step), query) for step, query in steps],
        last=name(steps[-1][0]),
    )


KEYS = ["word_0", "word_1"]


SNAPSHOTS = [
    Snapshot("small classes", statement(SuppressionQuery(5), KEYS), [(1, 0, 0)]),
    Snapshot(
        "few persons", statement(SuppressionQuery(3, entity="person"), KEYS), [(1, 0, 0), (5, 1, 0)]
    ),
]


def asked(*models, persons=False):
    """The first sensitive attribute of the details, with models."""
    return Attribute(models, needed_by(models), None, 0, persons=persons)


@pytest.mark.parametrize(
    ("models", "suppressed"),
    [
        ([LDiversity(1)], []),
        ([LDiversity(3)], [(1, 0), (5, 1)]),
        ([LDiversity(1.9, "entropy")], [(1, 0)]),
        ([LDiversity(2, "recursive", 2)], [(1, 0)]),
        ([TCloseness(0.3)], []),
        ([TCloseness(0.2)], [(1, 0)]),
        ([TCloseness(0.1)], [(1, 0), (5, 1)]),
        ([LDiversity(1.9, "entropy"), TCloseness(0.3)], [(1, 0)]),
    ],
    ids=repr,
)
def test_suppressed_are_the_classes_that_fail_a_model(connection, models, suppressed):
    """Of value 0, 1 and NULL class (1, 0) has 3, 1 and 0 records, and class (5, 1) 3, 0 and 2."""
    query = statement(SuppressionQuery(1, (asked(*models),)), KEYS)
    rows = connection.execute(text(query)).fetchall()
    assert sorted(row[:2] for row in rows) == suppressed


def test_persons_count_once_for_each_value(connection):
    """Ann and Bob hold value 0 in class (1, 0), and Ann value 1: 2 and 1."""
    attribute = asked(LDiversity(2, "recursive", 2.5), persons=True)
    query = statement(SuppressionQuery(1, (attribute,), entity="person"), KEYS)
    assert connection.execute(text(query)).fetchall() == []


def test_combinations_become_rare_by_what_is_left():
    """Of the second column 1 goes at once; then "a" has too few records left."""
    subsets = (SubsetAnonymity(1, 2),)
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE details AS FROM (VALUES ('a', 1, 1), ('a', 2, 1), ('b', 2, 2),"
            " (NULL, 2, 2)) AS v(key_0, key_1, size)"
        )
        for rounds, wanted in ((1, {1}), (2, {1, 2}), (3, {1, 2})):
            suppression = SuppressionQuery(1, rounds=rounds, subsets=subsets)
            query = text(statement(suppression, ["key_0", "key_1"]))
            rows = {row[:2] for row in connection.execute(query).fetchall()}
            assert rows == {("a", second) for second in wanted}


def test_each_round_refers_to_what_the_round_before_has_left():
    close = SuppressionQuery(2, (asked(TCloseness(0.3)),), rounds=3)
    steps = [name for name, _ in close.steps(KEYS)]
    assert steps == [
        "sqlanon_reference_0_1", "sqlanon_suppressed_1",
        "sqlanon_left_2", "sqlanon_reference_0_2", "sqlanon_suppressed_2",
        "sqlanon_left_3", "sqlanon_reference_0_3", "sqlanon_suppressed_3",
    ]  # fmt: skip


def test_later_rounds_ask_for_closeness_alone():
    diverse = SuppressionQuery(2, (asked(LDiversity(2)),), rounds=2)
    steps = [name for name, _ in diverse.steps(KEYS)]
    assert "sqlanon_reference_0_2" not in steps


@pytest.mark.slow
def test_models_are_plain_enough_for_spark():
    distances = ("equal", "ordered", "kl", "scaled", "scaled-literal")
    models = [LDiversity(2), LDiversity(2, "entropy"), LDiversity(2, "recursive", 2)]
    models += [TCloseness(0.3, distance) for distance in distances]
    query = statement(SuppressionQuery(2, (asked(*models),), rounds=2), KEYS)
    parse_one(text(query, "spark"), dialect="spark")
