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
from sqlanon.query.local import LocalRecode
from sqlanon.query.names import column
from sqlanon.recoding import Run

SEXES = local.local_labels(PEOPLE, "sex", Hierarchy.from_rows([("f", "*"), ("m", "*")]), TEXT)
AGES = local.local_labels(PEOPLE, "age", Hierarchy.suppression(), INTEGER)
# Units in the order of age and sex: (31, f) three times, (45, m), (45, NULL).
RUNS = [
    Run(0, 0, 0, (0, 1)),
    Run(0, 1, 2, (1, 0)),
    Run(1, 0, 0, (1, 0)),
    Run(2, 0, 0, (0, 1)),
]

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
        local.assigned([Run(0, 0, 0, (0, 1)), Run(0, 1, 2, (1, 0))]),
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
        local.assigned([Run(0, 0, 0, None), Run(0, 1, 2, (1, 0))]),
        """
        SELECT
            CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "sqlanon_unit",
            CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "first",
            CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "last",
            CAST(SPLIT_PART("run", ':', 4) AS BIGINT) AS "node"
        FROM (SELECT UNNEST(STR_SPLIT('0:1:2:0', ' ')) AS "run") AS "runs"
        """,
        [(0, 1, 2, 0)],
    ),
    Snapshot(
        "nodes",
        local.nodes(RUNS),
        """
        SELECT
            CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "node",
            CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "level_0",
            CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "level_1"
        FROM (SELECT UNNEST(STR_SPLIT('0:0:1 1:1:0', ' ')) AS "run") AS "runs"
        """,
        [(0, 0, 1), (1, 1, 0)],
    ),
    Snapshot(
        "published",
        local.published(
            PEOPLE,
            {name: column(name, local.RECORD) for name in ("age", "sex", "zip")},
            {
                "age": LocalRecode("age", 0, 1, AGES, 0),
                "sex": LocalRecode("sex", 0, 1, SEXES, 1),
            },
            ["age", "sex"],
            RUNS,
        ),
        """
        WITH "sqlanon_records" AS (
            SELECT "age", "sex", "zip",
                CAST(DENSE_RANK() OVER (ORDER BY "age", "sex") - 1 AS BIGINT) AS "sqlanon_unit",
                CAST(
                    ROW_NUMBER() OVER (PARTITION BY "age", "sex" ORDER BY "zip") - 1 AS BIGINT
                ) AS "sqlanon_position"
            FROM "people"
        ), "sqlanon_assigned" AS (
            SELECT
                CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "sqlanon_unit",
                CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "first",
                CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "last",
                CAST(SPLIT_PART("run", ':', 4) AS BIGINT) AS "node"
            FROM (
                SELECT UNNEST(STR_SPLIT('0:0:0:0 0:1:2:1 1:0:0:1 2:0:0:0', ' ')) AS "run"
            ) AS "runs"
        ), "sqlanon_nodes" AS (
            SELECT
                CAST(SPLIT_PART("run", ':', 1) AS BIGINT) AS "node",
                CAST(SPLIT_PART("run", ':', 2) AS BIGINT) AS "level_0",
                CAST(SPLIT_PART("run", ':', 3) AS BIGINT) AS "level_1"
            FROM (SELECT UNNEST(STR_SPLIT('0:0:1 1:1:0', ' ')) AS "run") AS "runs"
        )
        SELECT
            CASE "sqlanon_nodes"."level_0"
                WHEN 0 THEN CAST("record"."age" AS TEXT)
                WHEN 1 THEN "age labels"."label_1"
            END AS "age",
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
            SELECT "value", '*' AS "label_1"
            FROM (SELECT DISTINCT "age" AS "value" FROM "people") AS "held"
        ) AS "age labels" ON "record"."age" IS NOT DISTINCT FROM "age labels"."value"
        JOIN (
            SELECT "leaf" AS "value", "label_1"
            FROM (VALUES ('f', '*'), ('m', '*'), (NULL, '*')) AS "listed"("leaf", "label_1")
        ) AS "sex labels" ON "record"."sex" IS NOT DISTINCT FROM "sex labels"."value"
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
]
