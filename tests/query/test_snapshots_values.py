"""The order of sensitive values: every query as SQL, and what DuckDB answers."""

from snapshots import (  # noqa: F401
    INTEGER,
    PEOPLE,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_plain_enough_for_spark,
    test_query_is_the_sql_beside_it,
)
from sqlglot import exp

from sqlanon.query import values
from sqlanon.query.names import column

LISTED = values.listed([("31", 0, 7), ("45", 1, 8), ("old", 2, 8), (None, 3, 9)], INTEGER, [1])
RULED = values.ruled(PEOPLE, "age", [column("value") % 10, exp.Literal.string("*")])
RANKS = values.listed([("45", 0), ("31", 1)], INTEGER, [])

# Whether a leaf spells a value of the column, or is NULL.
IS_VALUE = """
    "leaf" IS NULL
    OR (
        TRY_CAST("leaf" AS DECIMAL(38, 10)) = TRY_CAST(TRY_CAST("leaf" AS INT) AS DECIMAL(38, 10))
        OR CAST(TRY_CAST("leaf" AS INT) AS TEXT) = "leaf"
    )
"""

SNAPSHOTS = [
    Snapshot(
        "listed",
        exp.select("*").from_(LISTED),
        f"""
        SELECT
            *
        FROM (
            SELECT
                TRY_CAST("leaf" AS INT) AS "value",
                "rank",
                "node_1"
            FROM (VALUES
                ('31', 0, 7),
                ('45', 1, 8),
                ('old', 2, 8),
                (NULL, 3, 9)) AS "listed"("leaf", "rank", "node_1")
            WHERE
                {IS_VALUE}
        ) AS "ordered"
        """,
        [(31, 0, 7), (45, 1, 8), (None, 3, 9)],
    ),
    Snapshot(
        "ruled",
        exp.select("*").from_(RULED),
        """
        SELECT
            *
        FROM (
            SELECT
                "value",
                CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC) AS BIGINT) AS "rank",
                "value" % 10 AS "node_1"
            FROM (
                SELECT DISTINCT
                    "age" AS "value"
                FROM "people"
            ) AS "held"
        ) AS "ordered"
        """,
        [(31, 1, 1), (45, 2, 5)],
    ),
    Snapshot(
        "reordered",
        exp.select("*").from_(values.reordered(RANKS, LISTED, [1])),
        f"""
        SELECT
            *
        FROM (
            SELECT
                "ranked"."value",
                "ranked"."rank",
                "tree"."node_1"
            FROM (
                SELECT
                    TRY_CAST("leaf" AS INT) AS "value",
                    "rank"
                FROM (VALUES
                    ('45', 0),
                    ('31', 1)) AS "listed"("leaf", "rank")
                WHERE
                    {IS_VALUE}
            ) AS "ranked"
            JOIN (
                SELECT
                    TRY_CAST("leaf" AS INT) AS "value",
                    "rank",
                    "node_1"
                FROM (VALUES
                    ('31', 0, 7),
                    ('45', 1, 8),
                    ('old', 2, 8),
                    (NULL, 3, 9)) AS "listed"("leaf", "rank", "node_1")
                WHERE
                    {IS_VALUE}
            ) AS "tree"
                ON "ranked"."value" IS NOT DISTINCT FROM "tree"."value"
        ) AS "ordered"
        """,
        [(31, 1, 7), (45, 0, 8)],
    ),
]
