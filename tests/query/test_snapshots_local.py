"""Local recoding: units, runs and the published rows as SQL, and what DuckDB answers."""

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

from sqlanon.hierarchy import Hierarchy
from sqlanon.query import local
from sqlanon.recoding import Clusters, Run

SEX = Hierarchy.from_rows([("f", "known", "*"), ("m", "known", "*")])
HIERARCHIES = {"age": (Hierarchy.suppression(), INTEGER), "sex": (SEX, TEXT)}
# Units in the order of age and sex: (31, f) three times, (45, m), (45, NULL).
RUNS = (Run(0, 1, 0), Run(0, 2, 1), Run(1, 1, 1), Run(2, 1, 0))
RECODING = Clusters(((0, 2), (1, 0)), RUNS)


def published(recoding):
    return local.published(PEOPLE, dict.fromkeys(["age", "sex", "zip"]), HIERARCHIES, recoding)


# Each record with its unit and position, and the nodes of runs of positions.
ASSIGNED = """
    WITH "sqlanon_records" AS (
        SELECT *,
            CAST(
                ROW_NUMBER() OVER (PARTITION BY "sqlanon_unit" ORDER BY "zip") - 1 AS BIGINT
            ) AS "sqlanon_position"
        FROM (
            SELECT "age", "sex", "zip",
                CAST(DENSE_RANK() OVER (ORDER BY "age", "sex") - 1 AS BIGINT) AS "sqlanon_unit"
            FROM "people"
        ) AS "numbered"
    ), "sqlanon_assigned" AS (
        SELECT
            CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "sqlanon_unit",
            CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "first",
            CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "last",
            CAST(SPLIT_PART("run", ':', 4) AS BIGINT) AS "node"
        FROM (
            SELECT UNNEST(STR_SPLIT('0:0:0:0 0:1:2:1 1:0:0:1 2:0:0:0', ' ')) AS "run"
        ) AS "runs"
    )
"""

SNAPSHOTS = [
    Snapshot(
        "units",
        local.units(PEOPLE, ["age", "sex"]),
        """
        SELECT *,
            CAST(ROW_NUMBER() OVER (ORDER BY "age", "sex") - 1 AS BIGINT) AS "sqlanon_unit"
        FROM (
            SELECT "age", "sex", CAST(COUNT(*) AS BIGINT) AS "size"
            FROM "people"
            GROUP BY "age", "sex"
        ) AS "grouped"
        """,
        [(31, "f", 3, 0), (45, "m", 1, 1), (45, None, 1, 2)],
    ),
    Snapshot(
        "assigned",
        local.assigned(Clusters(((0, 1), (1, 0)), (Run(0, 1, 0), Run(0, 2, 1)))),
        """
        SELECT
            CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "sqlanon_unit",
            CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "first",
            CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "last",
            CAST(SPLIT_PART("run", ':', 4) AS BIGINT) AS "node"
        FROM (SELECT UNNEST(STR_SPLIT('0:0:0:0 0:1:2:1', ' ')) AS "run") AS "runs"
        """,
        [(0, 0, 0, 0), (0, 1, 2, 1)],
    ),
    Snapshot(
        "assigned, without records that are dropped",
        local.assigned(Clusters((None, (1, 0)), (Run(0, 1, 0), Run(0, 2, 1)))),
        """
        SELECT
            CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "sqlanon_unit",
            CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "first",
            CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "last",
            CAST(SPLIT_PART("run", ':', 4) AS BIGINT) AS "node"
        FROM (SELECT UNNEST(STR_SPLIT('0:1:2:1', ' ')) AS "run") AS "runs"
        """,
        [(0, 1, 2, 1)],
    ),
    Snapshot(
        "nodes",
        local.nodes(RECODING),
        """
        SELECT
            CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "node",
            CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "level_0",
            CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "level_1"
        FROM (SELECT UNNEST(STR_SPLIT('0:0:2 1:1:0', ' ')) AS "run") AS "runs"
        """,
        [(0, 0, 2), (1, 1, 0)],
    ),
    Snapshot(
        "published",
        published(RECODING),
        f"""
        {ASSIGNED}, "sqlanon_nodes" AS (
            SELECT
                CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "node",
                CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "level_0",
                CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "level_1"
            FROM (SELECT UNNEST(STR_SPLIT('0:0:2 1:1:0', ' ')) AS "run") AS "runs"
        )
        SELECT
            CASE "sqlanon_nodes"."level_0"
                WHEN 0 THEN CAST("record"."age" AS TEXT)
                WHEN 1 THEN CAST('*' AS TEXT)
            END AS "age",
            CASE "sqlanon_nodes"."level_1"
                WHEN 0 THEN CAST("record"."sex" AS TEXT)
                WHEN 2 THEN CAST('*' AS TEXT)
            END AS "sex",
            "record"."zip" AS "zip"
        FROM "sqlanon_records" AS "record"
        JOIN "sqlanon_assigned"
            ON "record"."sqlanon_unit" = "sqlanon_assigned"."sqlanon_unit"
            AND "record"."sqlanon_position"
                BETWEEN "sqlanon_assigned"."first" AND "sqlanon_assigned"."last"
        JOIN "sqlanon_nodes" ON "sqlanon_assigned"."node" = "sqlanon_nodes"."node"
        ORDER BY "age", "sex", "zip"
        """,
        [
            ("*", "f", "10117"),
            ("*", "f", "10117"),
            ("*", "m", "20095"),
            ("31", "*", "10115"),
            ("45", "*", "20095"),
        ],
    ),
    Snapshot(
        "published, with labels that differ from value to value",
        published(Clusters(((1, 0), (1, 1)), RUNS)),
        f"""
        {ASSIGNED}, "sqlanon_nodes" AS (
            SELECT
                CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "node",
                CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "level_0",
                CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "level_1"
            FROM (SELECT UNNEST(STR_SPLIT('0:1:0 1:1:1', ' ')) AS "run") AS "runs"
        )
        SELECT
            CAST('*' AS TEXT) AS "age",
            CASE "sqlanon_nodes"."level_1"
                WHEN 0 THEN CAST("record"."sex" AS TEXT)
                WHEN 1 THEN "sex labels"."label_1"
            END AS "sex",
            "record"."zip" AS "zip"
        FROM "sqlanon_records" AS "record"
        JOIN "sqlanon_assigned"
            ON "record"."sqlanon_unit" = "sqlanon_assigned"."sqlanon_unit"
            AND "record"."sqlanon_position"
                BETWEEN "sqlanon_assigned"."first" AND "sqlanon_assigned"."last"
        JOIN "sqlanon_nodes" ON "sqlanon_assigned"."node" = "sqlanon_nodes"."node"
        JOIN (
            SELECT "leaf" AS "value", "label_1"
            FROM (VALUES ('f', 'known'), ('m', 'known'), (NULL, NULL))
                AS "listed"("leaf", "label_1")
        ) AS "sex labels" ON "record"."sex" IS NOT DISTINCT FROM "sex labels"."value"
        ORDER BY "age", "sex", "zip"
        """,
        [
            ("*", "f", "10115"),
            ("*", "known", "10117"),
            ("*", "known", "10117"),
            ("*", "known", "20095"),
            ("*", None, "20095"),
        ],
    ),
]
