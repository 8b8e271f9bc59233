"""Profiles, a column per sensitive value: every query as SQL, and what DuckDB answers."""

from dataclasses import replace

from snapshots import (  # noqa: F401
    DETAILS,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_plain_enough_for_spark,
    test_query_is_the_sql_beside_it,
)
from sqlglot import exp

from sqlanon.privacy import LDiversity, TCloseness
from sqlanon.query import frequency, profiles, sensitive
from sqlanon.query.names import column, table
from sqlanon.query.profiles import Condition, Distribution

HELD = ["held_0_0", "held_0_1"]
ALL = exp.select("*").from_(table("held"))
JUDGED = exp.select("*").from_(table("judged"))
EVEN = Distribution(0, (5, 5))
WHOLE = replace(EVEN, whole=True)
TWO_VALUES = Condition(EVEN, sensitive.violates(LDiversity(2)), column("counted") - 1)
CLOSE = Condition(EVEN, sensitive.violates(TCloseness(0.25)), exp.Literal.number(0))

SNAPSHOTS = [
    Snapshot(
        "profiled",
        profiles.profiled(DETAILS, 2, {"held_0_0": (0, 0), "held_0_1": (0, 1), "held_1_2": (1, 2)}),
        """
        SELECT
            "word_0",
            "word_1",
            CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "size",
            CAST(COALESCE(SUM(CASE WHEN "value_0" = 0 THEN "size" END), 0) AS BIGINT) AS "held_0_0",
            CAST(COALESCE(SUM(CASE WHEN "value_0" = 1 THEN "size" END), 0) AS BIGINT) AS "held_0_1",
            CAST(COALESCE(SUM(CASE WHEN "value_1" = 2 THEN "size" END), 0) AS BIGINT) AS "held_1_2"
        FROM "details"
        GROUP BY
            "word_0",
            "word_1"
        """,
        [(1, 0, 4, 3, 1, 3), (5, 1, 5, 3, 0, 1)],
    ),
    Snapshot(
        "classes",
        frequency.with_nodes(profiles.classes(table("priced"), 1, ["cost_0_1"], ["word_0"]), 1),
        """
        WITH "nodes" AS (
            SELECT
                UNNEST(CAST(? AS BIGINT[])) AS "number",
                UNNEST(CAST(? AS BIGINT[])) AS "mask_0"
        )
        SELECT
            "nodes"."number",
            "source"."word_0" & "nodes"."mask_0" AS "word_0",
            CAST(SUM("source"."size") AS BIGINT) AS "class_size",
            CAST(SUM("source"."cost_0_1") AS BIGINT) AS "cost_0_1"
        FROM "priced" AS "source"
        CROSS JOIN "nodes"
        GROUP BY
            "nodes"."number",
            "source"."word_0" & "nodes"."mask_0"
        """,
        [(0, 1, 3, 20), (0, 2, 4, 20), (1, 0, 5, 30), (1, 4, 2, 10)],
        parameters=([0, 1], [3, 4]),
    ),
    Snapshot(
        "judged by k alone",
        profiles.judged(ALL, 5, [], ["number", "class_size"]),
        """
        SELECT
            "number",
            "class_size",
            LEAST(CASE WHEN "class_size" < 5 THEN "class_size" ELSE -1 END, "class_size")
                AS "required"
        FROM (
            SELECT
                "class_size",
                "number"
            FROM (
                SELECT
                    *
                FROM "held"
            ) AS "classes"
        ) AS "figures"
        """,
        [(0, 1, 1), (0, 4, 4), (0, 5, -1)],
    ),
    Snapshot(
        "judged where every record holds a value that counts",
        profiles.judged(ALL, 2, [replace(TWO_VALUES, distribution=WHOLE)], ["number"]),
        """
        SELECT
            "number",
            LEAST(
                GREATEST(
                    CASE WHEN "class_size" < 2 THEN "class_size" ELSE -1 END,
                    CASE WHEN "distinct_values_0" < 2 THEN "counted_0" - 1 ELSE -1 END
                ),
                "class_size"
            ) AS "required"
        FROM (
            SELECT
                "class_size",
                "number",
                "class_size" AS "counted_0",
                CASE WHEN "held_0_0" > 0 THEN 1 ELSE 0 END
                    + CASE WHEN "held_0_1" > 0 THEN 1 ELSE 0 END AS "distinct_values_0"
            FROM (
                SELECT
                    *
                FROM "held"
            ) AS "classes"
        ) AS "figures"
        """,
        [(0, 1), (0, -1), (0, 4)],
    ),
    Snapshot(
        "judged by two models",
        profiles.judged(ALL, 2, [TWO_VALUES, CLOSE], ["number", "class_size"]),
        """
        SELECT
            "number",
            "class_size",
            LEAST(
                GREATEST(
                    CASE WHEN "class_size" < 2 THEN "class_size" ELSE -1 END,
                    CASE WHEN "distinct_values_0" < 2 THEN "counted_0" - 1 ELSE -1 END,
                    CASE WHEN "distance_equal_1" > CAST(0.250000000001 AS DOUBLE) THEN 0 ELSE -1 END
                ),
                "class_size"
            ) AS "required"
        FROM (
            SELECT
                "class_size",
                "number",
                "n_0" AS "counted_0",
                CASE WHEN "held_0_0" > 0 THEN 1 ELSE 0 END
                    + CASE WHEN "held_0_1" > 0 THEN 1 ELSE 0 END AS "distinct_values_0",
                CAST(
                    GREATEST(("held_0_0" * 10) - ("n_0" * 5), 0)
                    + GREATEST(("held_0_1" * 10) - ("n_0" * 5), 0) AS DOUBLE
                ) / NULLIF(CAST("n_0" AS DOUBLE) * 10, 0) AS "distance_equal_1"
            FROM (
                SELECT
                    *,
                    "held_0_0" + "held_0_1" AS "n_0"
                FROM (
                    SELECT
                        *
                    FROM "held"
                ) AS "classes"
            ) AS "counted"
        ) AS "figures"
        """,
        [(0, 1, 1), (0, 4, -1), (0, 5, 4)],
    ),
    Snapshot(
        "violating",
        profiles.violating(JUDGED),
        """
        SELECT
            *
        FROM (
            SELECT
                *
            FROM "judged"
        ) AS "judged"
        WHERE
            "required" >= 0
        """,
        [(0, 2, 1, 0), (0, 3, 2, 3)],
    ),
    Snapshot(
        "held_sums of what goes",
        profiles.held_sums(JUDGED, ["held_0_0"], gone=True),
        """
        SELECT
            0 AS "number",
            CAST(COALESCE(SUM("class_size"), 0) AS BIGINT) AS "class_size",
            CAST(COALESCE(SUM("held_0_0"), 0) AS BIGINT) AS "held_0_0"
        FROM (
            SELECT
                *
            FROM "judged"
        ) AS "judged"
        WHERE
            "required" >= 0
        """,
        [(0, 5, 3)],
    ),
    Snapshot(
        "held_sums of what stays",
        profiles.held_sums(JUDGED, ["held_0_0"], gone=False),
        """
        SELECT
            0 AS "number",
            CAST(COALESCE(SUM("class_size"), 0) AS BIGINT) AS "class_size",
            CAST(COALESCE(SUM("held_0_0"), 0) AS BIGINT) AS "held_0_0"
        FROM (
            SELECT
                *
            FROM "judged"
        ) AS "judged"
        WHERE
            NOT (
                "required" >= 0
            )
        """,
        [(0, 4, 3)],
    ),
]
