"""Violations: every query as SQL, and what DuckDB answers."""

from snapshots import (  # noqa: F401
    CODES,
    DETAILS,
    GONE,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_plain_enough_for_spark,
    test_query_is_the_sql_beside_it,
)
from sqlglot import exp

from sqlanon.query import violations
from sqlanon.query.names import column, table

KEYS = ["word_0", "word_1"]
LARGEST, COUNTED = column("largest"), column("counted")

SNAPSHOTS = [
    Snapshot(
        "class_rows",
        violations.class_rows(DETAILS, [4, 1], ["value_0"]),
        """
        SELECT
            "word_0" & 4 AS "word_0",
            "word_1" & 1 AS "word_1",
            "value_0",
            CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "size"
        FROM "details"
        GROUP BY
            "word_0" & 4,
            "word_1" & 1,
            "value_0"
        """,
        [(0, 0, 0, 3), (0, 0, 1, 1), (4, 1, 0, 3), (4, 1, None, 2)],
    ),
    Snapshot(
        "spread_rows of records",
        violations.spread_rows(DETAILS, KEYS, 0, entity=False),
        """
        SELECT
            "word_0",
            "word_1",
            "value_0" AS "value",
            "size"
        FROM "details"
        """,
        [(1, 0, 0, 1), (1, 0, 0, 2), (1, 0, 1, 1), (5, 1, 0, 3), (5, 1, None, 1), (5, 1, None, 1)],
    ),
    Snapshot(
        "spread_rows of persons",
        violations.spread_rows(DETAILS, KEYS, 0, entity=True),
        """
        SELECT
            "word_0",
            "word_1",
            "value",
            CAST(1 AS BIGINT) AS "size"
        FROM (
            SELECT DISTINCT
                "word_0",
                "word_1",
                "value_0" AS "value",
                "entity"
            FROM "details"
        ) AS "persons"
        """,
        [(1, 0, 0, 1), (1, 0, 0, 1), (1, 0, 1, 1), (5, 1, 0, 1), (5, 1, None, 1)],
    ),
    Snapshot(
        "small",
        violations.small(DETAILS, KEYS, 5, 9),
        """
        SELECT
            "word_0",
            "word_1",
            CAST(9 AS BIGINT) AS "required"
        FROM "details"
        GROUP BY
            "word_0",
            "word_1"
        HAVING
            SUM("size") < 5
        """,
        [(1, 0, 9)],
    ),
    Snapshot(
        "few_persons",
        violations.few_persons(DETAILS, KEYS, 3, 9),
        """
        SELECT
            "word_0",
            "word_1",
            CAST(9 AS BIGINT) AS "required"
        FROM (
            SELECT DISTINCT
                "word_0",
                "word_1",
                "entity"
            FROM "details"
        ) AS "persons"
        GROUP BY
            "word_0",
            "word_1"
        HAVING
            COUNT(*) < 3
        """,
        [(1, 0, 9), (5, 1, 9)],
    ),
    Snapshot(
        "failing",
        violations.failing(
            exp.select("*").from_(table("figures")),
            ["word_0"],
            [
                (column("distinct_values") < 2, exp.Literal.number(9)),
                (LARGEST > 3, COUNTED - LARGEST),
            ],
        ),
        """
        SELECT
            "word_0",
            CAST(GREATEST(
                CASE WHEN "distinct_values" < 2 THEN 9 ELSE 0 END,
                CASE WHEN "largest" > 3 THEN "counted" - "largest" ELSE 0 END
            ) AS BIGINT) AS "required"
        FROM (
            SELECT
                *
            FROM "figures"
        ) AS "figures"
        WHERE
            "distinct_values" < 2 OR "largest" > 3
        """,
        [(5, 9), (6, 2)],
    ),
    Snapshot(
        "merged",
        violations.merged(
            [exp.select("*").from_(table(name)) for name in ("gone", "also_gone")], KEYS
        ),
        """
        SELECT
            "word_0",
            "word_1",
            MAX("required") AS "required"
        FROM (
            SELECT
                *
            FROM "gone"
            UNION ALL
            SELECT
                *
            FROM "also_gone"
        ) AS "parts"
        GROUP BY
            "word_0",
            "word_1"
        """,
        [(1, 0, 0), (5, 1, 4)],
    ),
    Snapshot(
        "sized",
        violations.sized(CODES, [7, 1], GONE, 3, row=False),
        """
        SELECT
            3 AS "number",
            "sizes"."word_0",
            "sizes"."word_1",
            "sizes"."class_size",
            LEAST("violations"."required", "sizes"."class_size") AS "required"
        FROM (
            SELECT
                "word_0" & 7 AS "word_0",
                "word_1" & 1 AS "word_1",
                SUM("size") AS "class_size"
            FROM "codes"
            GROUP BY
                "word_0" & 7,
                "word_1" & 1
        ) AS "sizes"
        JOIN "gone" AS "violations"
            ON "sizes"."word_0" = "violations"."word_0" AND "sizes"."word_1" = "violations"."word_1"
        """,
        [(3, 5, 1, 2, 2)],
        inner=True,
    ),
    Snapshot(
        "sized with a row",
        violations.sized(
            table("priced"),
            [1],
            exp.select(
                exp.Literal.number(1).as_("word_0", quoted=True),
                exp.Literal.number(9).as_("required", quoted=True),
            ),
            0,
            row=True,
        ),
        """
        SELECT
            0 AS "number",
            "sizes"."word_0",
            "sizes"."row",
            "sizes"."class_size",
            LEAST("violations"."required", "sizes"."class_size") AS "required"
        FROM (
            SELECT
                "word_0" & 1 AS "word_0",
                MIN("row") AS "row",
                SUM("size") AS "class_size"
            FROM "priced"
            GROUP BY
                "word_0" & 1
        ) AS "sizes"
        JOIN (
            SELECT
                1 AS "word_0",
                9 AS "required"
        ) AS "violations"
            ON "sizes"."word_0" = "violations"."word_0"
        """,
        [(0, 1, 1, 3, 3)],
        inner=True,
    ),
    Snapshot(
        "without",
        violations.without(DETAILS, GONE, KEYS),
        """
        SELECT
            *
        FROM "details" AS "details"
        WHERE
            NOT EXISTS(
                SELECT
                    1
                FROM "gone" AS "gone"
                WHERE
                    "gone"."word_0" = "details"."word_0" AND "gone"."word_1" = "details"."word_1"
            )
        """,
        [(1, 0, 0, 2, "ann", 1), (1, 0, 0, 2, "bob", 2), (1, 0, 1, 0, "ann", 1)],
    ),
    Snapshot(
        "without where keys may be NULL",
        violations.without(DETAILS, GONE, KEYS, nullable=True),
        """
        SELECT
            *
        FROM "details" AS "details"
        WHERE
            NOT EXISTS(
                SELECT
                    1
                FROM "gone" AS "gone"
                WHERE
                    "gone"."word_0" IS NOT DISTINCT FROM "details"."word_0"
                    AND "gone"."word_1" IS NOT DISTINCT FROM "details"."word_1"
            )
        """,
        [(1, 0, 0, 2, "ann", 1), (1, 0, 0, 2, "bob", 2), (1, 0, 1, 0, "ann", 1)],
    ),
    Snapshot(
        "within",
        violations.within(DETAILS, GONE, KEYS),
        """
        SELECT
            "details".*
        FROM "details" AS "details"
        JOIN "gone" AS "gone"
            ON "gone"."word_0" = "details"."word_0" AND "gone"."word_1" = "details"."word_1"
        """,
        [(5, 1, 0, 1, "cid", 3), (5, 1, None, 1, None, 1), (5, 1, None, 2, None, 1)],
    ),
]
