"""From records to codes: every query as SQL, and what DuckDB answers."""

import datetime

from snapshots import (  # noqa: F401
    CODES,
    DATE,
    INTEGER,
    LEAVES,
    PEOPLE,
    TEXT,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_plain_enough_for_spark,
    test_query_is_the_sql_beside_it,
    text,
)
from sqlglot import exp

from sqlanon.query import encode
from sqlanon.query.encode import Carried
from sqlanon.query.names import table

JOBS, SEXES, NURSES = (encode.leaf_map(LEAVES, number, TEXT, 2) for number in range(3))

SNAPSHOTS = [
    Snapshot(
        "presence",
        encode.presence(PEOPLE, ["age", "sex"]),
        """
        SELECT CAST(COUNT(*) AS BIGINT), CAST(COUNT("age") AS BIGINT), CAST(COUNT("sex") AS BIGINT)
        FROM "people"
        """,
        [(5, 5, 4)],
    ),
    Snapshot(
        "confused",
        encode.confused(PEOPLE, ["sex", "job"]),
        """
        SELECT
            "sex" = 'A' OR "sex" = 'á',
            "job" = 'A' OR "job" = 'á'
        FROM (
            SELECT
                "sex",
                "job"
            FROM "people"
            WHERE
                FALSE
            UNION ALL
            SELECT
                'a',
                'a'
        ) AS "probe"
        """,
        [(False, False)],
    ),
    Snapshot(
        "distinct_paths",
        encode.distinct_paths(PEOPLE, "age", [exp.Literal.string("*")]),
        """
        SELECT CAST("value" AS TEXT), '*'
        FROM (SELECT DISTINCT "age" AS "value" FROM "people") AS "v"
        ORDER BY "value"
        """,
        [("31", "*"), ("45", "*")],
        ordered=True,
    ),
    Snapshot(
        "leaf_map of text",
        SEXES,
        """
        SELECT "leaf" AS "value", "word_0", "word_1" FROM "leaves" WHERE "attribute" = 1
        """,
        [("f", 0, 0), ("m", 4, 0), (None, 8, 1)],
    ),
    Snapshot(
        "leaf_map of whole numbers",
        encode.leaf_map(table("spelled"), 0, INTEGER, 1),
        """
        SELECT TRY_CAST("leaf" AS INT) AS "value", "word_0"
        FROM "spelled"
        WHERE
            (
                "leaf" IS NULL
                OR (
                    TRY_CAST("leaf" AS DECIMAL(38, 10))
                    = TRY_CAST(TRY_CAST("leaf" AS INT) AS DECIMAL(38, 10))
                    OR CAST(TRY_CAST("leaf" AS INT) AS TEXT) = "leaf"
                )
            )
            AND "attribute" = 0
        """,
        [(31, 0), (31, 1), (None, 4)],
    ),
    Snapshot(
        "values_of",
        encode.values_of(table("days"), DATE, ["label"]),
        """
        SELECT TRY_CAST("leaf" AS DATE) AS "value", "label"
        FROM "days"
        WHERE
            "leaf" IS NULL
            OR (
                TRY_CAST("leaf" AS TIMESTAMP)
                = TRY_CAST(TRY_CAST("leaf" AS DATE) AS TIMESTAMP)
                OR CAST(TRY_CAST("leaf" AS DATE) AS TEXT) = "leaf"
            )
        """,
        [(datetime.date(2024, 2, 29), "leap"), (None, "unknown")],
    ),
    Snapshot(
        "repeated_values",
        encode.repeated_values(encode.leaf_map(table("spelled"), 0, TEXT, 1)),
        """
        SELECT CAST(COUNT(*) AS BIGINT)
        FROM (
            SELECT "value"
            FROM (
                SELECT "leaf" AS "value", "word_0" FROM "spelled" WHERE "attribute" = 0
            ) AS "leaves"
            GROUP BY "value"
            HAVING COUNT(*) > 1
        ) AS "repeated"
        """,
        [(0,)],
    ),
    Snapshot(
        "leaf_map_at a node that keeps the second bit",
        encode.leaf_map_at(JOBS, [2, 0]),
        """
        SELECT
            "value",
            "word_0" & 2 AS "word_0",
            "word_1" & 0 AS "word_1"
        FROM (
            SELECT "leaf" AS "value", "word_0", "word_1" FROM "leaves" WHERE "attribute" = 0
        ) AS "leaves"
        """,
        [("boss", 2, 0), ("clerk", 0, 0), ("nurse", 0, 0)],
    ),
    Snapshot(
        "encoded",
        encode.encoded(PEOPLE, {"job": JOBS, "sex": SEXES}, {"sex"}, 2),
        """
        SELECT
            "map_0"."word_0" + "map_1"."word_0" AS "word_0",
            "map_0"."word_1" + "map_1"."word_1" AS "word_1",
            CAST(COUNT(*) AS BIGINT) AS "size"
        FROM "people" AS "source"
        LEFT JOIN (
            SELECT "leaf" AS "value", "word_0", "word_1" FROM "leaves" WHERE "attribute" = 0
        ) AS "map_0" ON "source"."job" = "map_0"."value"
        LEFT JOIN (
            SELECT "leaf" AS "value", "word_0", "word_1" FROM "leaves" WHERE "attribute" = 1
        ) AS "map_1" ON "source"."sex" IS NOT DISTINCT FROM "map_1"."value"
        GROUP BY
            "map_0"."word_0" + "map_1"."word_0",
            "map_0"."word_1" + "map_1"."word_1"
        """,
        [(0, 0, 2), (1, 0, 1), (4, 0, 1), (10, 1, 1)],
    ),
    Snapshot(
        "encoded with a rank and a person",
        encode.encoded(
            PEOPLE,
            {"sex": SEXES},
            {"sex"},
            1,
            {"value_0": Carried("job", table("ranks"), nulls=False), "entity": Carried("zip")},
        ),
        """
        SELECT
            "map_0"."word_0" AS "word_0",
            "value_0"."rank" AS "value_0",
            "source"."zip" AS "entity",
            CAST(COUNT(*) AS BIGINT) AS "size"
        FROM "people" AS "source"
        LEFT JOIN (
            SELECT
                "leaf" AS "value",
                "word_0",
                "word_1"
            FROM "leaves"
            WHERE
                "attribute" = 1
        ) AS "map_0"
            ON "source"."sex" IS NOT DISTINCT FROM "map_0"."value"
        LEFT JOIN "ranks" AS "value_0"
            ON "source"."job" = "value_0"."value"
        GROUP BY
            "map_0"."word_0",
            "value_0"."rank",
            "source"."zip"
        """,
        [
            (0, 0, "10117", 1),
            (0, 1, "10115", 1),
            (0, 1, "10117", 1),
            (4, 1, "20095", 1),
            (8, None, "20095", 1),
        ],
    ),
    Snapshot(
        "encoded with a rank for NULL",
        encode.encoded(
            PEOPLE, {"sex": SEXES}, {"sex"}, 1, {"value_0": Carried("sex", table("ranks"))}
        ),
        """
        SELECT
            "map_0"."word_0" AS "word_0",
            "value_0"."rank" AS "value_0",
            CAST(COUNT(*) AS BIGINT) AS "size"
        FROM "people" AS "source"
        LEFT JOIN (
            SELECT
                "leaf" AS "value",
                "word_0",
                "word_1"
            FROM "leaves"
            WHERE
                "attribute" = 1
        ) AS "map_0"
            ON "source"."sex" IS NOT DISTINCT FROM "map_0"."value"
        LEFT JOIN "ranks" AS "value_0"
            ON "source"."sex" IS NOT DISTINCT FROM "value_0"."value"
        GROUP BY
            "map_0"."word_0",
            "value_0"."rank"
        """,
        [(0, None, 3), (4, None, 1), (8, None, 1)],
    ),
    Snapshot(
        "uncovered",
        encode.uncovered(PEOPLE, "job", NURSES),
        """
        SELECT CAST(COUNT(*) AS BIGINT), CAST(COALESCE(SUM("size"), 0) AS BIGINT)
        FROM (
            SELECT "job" AS "value", COUNT(*) AS "size" FROM "people" GROUP BY "job"
        ) AS "held"
        WHERE NOT EXISTS (
            SELECT 1
            FROM (
                SELECT "leaf" AS "value", "word_0", "word_1" FROM "leaves" WHERE "attribute" = 2
            ) AS "leaves"
            WHERE "held"."value" IS NOT DISTINCT FROM "leaves"."value"
        )
        """,
        [(2, 2)],
    ),
    Snapshot(
        "marginals",
        encode.marginals(CODES, [[3, 0], [4, 1]]),
        """
        SELECT 0, "word_0" & 3, "word_1" & 0, CAST(COALESCE(SUM("size"), 0) AS BIGINT)
        FROM "codes"
        GROUP BY "word_0" & 3, "word_1" & 0
        UNION ALL
        SELECT 1, "word_0" & 4, "word_1" & 1, CAST(COALESCE(SUM("size"), 0) AS BIGINT)
        FROM "codes"
        GROUP BY "word_0" & 4, "word_1" & 1
        """,
        [(0, 1, 0, 3), (0, 2, 0, 5), (1, 0, 0, 5), (1, 4, 1, 3)],
    ),
    Snapshot(
        "extent",
        encode.extent(CODES),
        """
        SELECT CAST(COUNT(*) AS BIGINT), CAST(COALESCE(SUM("size"), 0) AS BIGINT)
        FROM "codes"
        WHERE NOT "word_0" IS NULL
        """,
        [(4, 8)],
    ),
]


def test_repeated_values_counts_a_value_in_two_spellings(connection):
    query = encode.repeated_values(encode.leaf_map(table("spelled"), 0, INTEGER, 1))
    assert connection.execute(text(query)).fetchall() == [(1,)]


def test_builders_copy_the_tables_they_are_given():
    assert {node.parent for node in (PEOPLE, LEAVES, CODES)} == {None}
