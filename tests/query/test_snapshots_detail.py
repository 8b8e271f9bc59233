"""Ranks of sensitive values: every query as SQL, and what DuckDB answers."""

from snapshots import (  # noqa: F401
    DETAILS,
    PEOPLE,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_plain_enough_for_spark,
    test_query_is_the_sql_beside_it,
)

from sqlanon.query import detail
from sqlanon.query.names import table

REFERENCE = table("reference")

SNAPSHOTS = [
    Snapshot(
        "held by records",
        detail.held(PEOPLE, "job", None),
        """
        SELECT
            "job" AS "value",
            CAST(COUNT(*) AS BIGINT) AS "size"
        FROM "people"
        GROUP BY
            "job"
        """,
        [("boss", 1), ("clerk", 1), ("nurse", 3)],
    ),
    Snapshot(
        "held by persons",
        detail.held(PEOPLE, "job", "age"),
        """
        SELECT
            "value",
            CAST(1 AS BIGINT) AS "size"
        FROM (
            SELECT DISTINCT
                "job" AS "value",
                "age" AS "entity"
            FROM "people"
        ) AS "persons"
        """,
        [("boss", 1), ("clerk", 1), ("nurse", 1), ("nurse", 1)],
    ),
    Snapshot(
        "values of records",
        detail.values(DETAILS, 1, entity=False),
        """
        SELECT
            "value_1" AS "value",
            "size"
        FROM "details"
        """,
        [(0, 1), (1, 1), (1, 3), (2, 1), (2, 1), (2, 2)],
    ),
    Snapshot(
        "values of persons",
        detail.values(DETAILS, 1, entity=True),
        """
        SELECT
            "value",
            CAST(1 AS BIGINT) AS "size"
        FROM (
            SELECT DISTINCT
                "value_1" AS "value",
                "entity"
            FROM "details"
        ) AS "persons"
        """,
        [(0, 1), (1, 1), (1, 1), (2, 1), (2, 1), (2, 1)],
    ),
    Snapshot(
        "by_rank",
        detail.by_rank(REFERENCE, 2),
        """
        SELECT
            "rank" AS "value",
            "rank",
            "records",
            "reached",
            "below",
            "node_1",
            "node_1_records"
        FROM "reference"
        """,
        [(0, 0, 4, 4, 0, "x", 6), (1, 1, 2, 6, 4, "x", 6)],
    ),
    Snapshot(
        "rank_counts",
        detail.rank_counts(REFERENCE),
        """
        SELECT
            "rank",
            "records"
        FROM "reference"
        """,
        [(0, 4), (1, 2)],
    ),
    Snapshot(
        "rank_nodes",
        detail.rank_nodes(REFERENCE, 2),
        """
        SELECT
            "rank",
            "node_1"
        FROM "reference"
        """,
        [(0, "x"), (1, "x")],
    ),
]
