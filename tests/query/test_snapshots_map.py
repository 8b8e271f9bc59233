"""A map of values as a statement, and what DuckDB answers."""

from snapshots import (  # noqa: F401
    INTEGER,
    PEOPLE,
    TEXT,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_plain_enough_for_spark,
    test_query_is_the_sql_beside_it,
)

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.publish.statement import Publication, published_rows
from sqlanon.query.publish.suppression import SuppressionQuery
from sqlanon.query.publish.value_map import recode_by_map
from sqlanon.recoding import ColumnMap, Group, ValueMap

AGES = ColumnMap((Group("31", ("31",)), Group("45-46", ("45", "46"))), (0, 1))
SEXES = ColumnMap((Group("{f, NULL}", ("f", None)), Group("m", ("m",))), (0, 1))
ZIPS = ColumnMap((Group("*", ("10115", "10117", "20095")),), (1,))
JOBS = ColumnMap(tuple(Group(job, (job,)) for job in ("nurse", "clerk", "boss")), (0,))
SUPPRESSION = Hierarchy.suppression()


def published(suppressed=None):
    kinds = {"age": INTEGER, "sex": TEXT, "zip": TEXT, "job": TEXT}
    hierarchies = {name: (SUPPRESSION, kind) for name, kind in kinds.items()}
    publication = Publication(PEOPLE, dict.fromkeys(kinds), hierarchies, suppressed)
    return published_rows(ValueMap((AGES, SEXES, ZIPS, JOBS)), publication)


def recoded(name, groups, kind=TEXT):
    return recode_by_map(name, groups, column_type=kind)


def test_values_that_stay_as_they_are_need_no_list():
    found = recoded("job", JOBS)
    assert (found.labels, found.constant) == (None, None)


def test_one_group_of_all_values_is_a_constant():
    found = recoded("zip", ZIPS)
    assert (found.labels, found.constant) == (None, "*")


SNAPSHOTS = [
    Snapshot(
        "labels of numbers",
        recoded("age", AGES, INTEGER).labels,
        [(31, "31"), (45, "45-46"), (46, "45-46"), (None, None)],
    ),
    Snapshot(
        "labels with NULL",
        recoded("sex", SEXES).labels,
        [("f", "{f, NULL}"), (None, "{f, NULL}"), ("m", "m")],
        sql="""
        SELECT "leaf" AS "value", "label"
        FROM (VALUES ('f', '{f, NULL}'), (NULL, '{f, NULL}'), ('m', 'm'))
            AS "listed"("leaf", "label")
        """,
    ),
    Snapshot(
        "published",
        published(),
        [
            ("31", "{f, NULL}", "*", "clerk"),
            ("31", "{f, NULL}", "*", "nurse"),
            ("31", "{f, NULL}", "*", "nurse"),
            ("45-46", "m", "*", "nurse"),
            ("45-46", "{f, NULL}", "*", "boss"),
        ],
        ordered=True,
    ),
    Snapshot(
        "published without small classes",
        published(SuppressionQuery(2)),
        [("31", "{f, NULL}", "*", "nurse")] * 2,
    ),
]
