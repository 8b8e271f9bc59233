"""Instances of patterns: every query as SQL, and what DuckDB answers."""

from snapshots import (  # noqa: F401
    CODES,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_the_sql_beside_it,
)

from sqlanon.query import instances
from sqlanon.query.names import table

NODES = """
    WITH "nodes" AS (
        SELECT
            UNNEST(CAST(? AS BIGINT[])) AS "number",
            UNNEST(CAST(? AS BIGINT[])) AS "mask_0",
            UNNEST(CAST(? AS BIGINT[])) AS "mask_1"
    )
    SELECT DISTINCT
        "number"
"""


def grouped(nodes):
    """The patterns of a relation that have an instance of five records."""
    return f"""
        SELECT
            "nodes"."number"
        FROM "codes" AS "source"
        CROSS JOIN {nodes}
        GROUP BY
            "nodes"."number",
            "source"."word_0" & "nodes"."mask_0",
            "source"."word_1" & "nodes"."mask_1"
        HAVING
            SUM("source"."size") >= 5
    """


def part(number):
    return f'(SELECT * FROM "nodes" WHERE "number" % 2 = {number}) AS "nodes"'


SNAPSHOTS = [
    Snapshot(
        "among",
        instances.among(table("priced"), 1, "row", "size", 3),
        """
        SELECT
            "word_0",
            LEAST("size", 3) AS "size"
        FROM "priced"
        WHERE
            GET_BIT(CAST(? AS BIT), CAST("row" AS INT)) = 1
        """,
        [(1, 1), (2, 3)],
        parameters=("0101",),
    ),
    Snapshot(
        "frequent",
        instances.frequent(CODES, 2, 5, 1),
        f"""{NODES} FROM ({grouped('"nodes"')}) AS "found" """,
        [(1,), (2,)],
        parameters=([0, 1, 2], [1, 4, 3], [1, 0, 0]),
    ),
    Snapshot(
        "frequent in two groupings",
        instances.frequent(CODES, 2, 5, 2),
        f"""{NODES} FROM ({grouped(part(0))} UNION ALL {grouped(part(1))}) AS "found" """,
        [(1,), (2,)],
        parameters=([0, 1, 2], [1, 4, 3], [1, 0, 0]),
    ),
]
