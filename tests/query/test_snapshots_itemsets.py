"""Itemsets: every query as SQL, and what DuckDB answers."""

import duckdb
import pytest
from snapshots import (  # noqa: F401
    TABLES,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_plain_enough_for_spark,
    test_query_is_the_sql_beside_it,
)
from sqlglot import exp

from sqlanon.query import cheapest, extension, itemsets
from sqlanon.query.extension import Step
from sqlanon.query.names import table

# Two attributes: one of the values a and b below a top, one where a single value is frequent.
RELATIONS = """
CREATE TABLE item_values (
    attribute BIGINT, word_0 BIGINT, word_1 BIGINT, every_0 BIGINT, some_0 BIGINT
);
INSERT INTO item_values VALUES
    (0, 1, 0, 1, 1), (0, 2, 0, 2, 2), (1, 0, 0, 0, 4), (1, 4, 1, 4, 4);

CREATE TABLE nodes (
    attribute BIGINT, every_0 BIGINT, node BIGINT, split_0 BIGINT, is_top BOOLEAN, is_single BOOLEAN
);
INSERT INTO nodes VALUES
    (0, 1, 0, 0, FALSE, TRUE), (0, 1, 2, 3, TRUE, FALSE),
    (0, 2, 1, 0, FALSE, TRUE), (0, 2, 2, 3, TRUE, FALSE),
    (1, 4, 4, 0, FALSE, TRUE);

CREATE TABLE prefixes (
    itemset_0 BIGINT, split_0 BIGINT, every_0 BIGINT, some_0 BIGINT, support BIGINT
);
INSERT INTO prefixes VALUES (0, 0, 0, 7, 6);

CREATE TABLE members (itemset_0 BIGINT, every_0 BIGINT, some_0 BIGINT, size BIGINT);
INSERT INTO members VALUES (0, 5, 5, 2), (0, 1, 1, 1), (0, 6, 6, 3);

CREATE TABLE itemsets AS FROM prefixes LIMIT 0;
INSERT INTO itemsets VALUES (2, 3, 0, 7, 6), (0, 0, 1, 5, 3), (1, 0, 6, 6, 3);

CREATE TABLE extended_members AS FROM members LIMIT 0;
INSERT INTO extended_members VALUES
    (0, 5, 5, 2), (0, 1, 1, 1), (1, 6, 6, 3), (2, 4, 7, 5), (2, 1, 1, 1);

CREATE TABLE labels (attribute BIGINT, node BIGINT, label VARCHAR);
INSERT INTO labels VALUES (0, 0, 'a'), (0, 1, NULL), (0, 2, '*'), (1, 0, 'any');

CREATE TABLE wide (itemset_0 BIGINT, itemset_1 BIGINT, support BIGINT);
INSERT INTO wide VALUES (1, 2, 5), (2, 1, 7), (3, 1, 6);

CREATE TABLE prices_of_nodes (attribute BIGINT, node BIGINT, cost BIGINT);
INSERT INTO prices_of_nodes VALUES (0, 0, 0), (0, 1, 10), (0, 2, 100), (1, 4, 7);

CREATE TABLE following (itemset_0 BIGINT, every_0 BIGINT, cost BIGINT);
INSERT INTO following VALUES (0, 4, 9), (2, 4, 5), (2, 0, 6), (1, 4, 3);

CREATE TABLE priced_combinations (word_0 BIGINT, size BIGINT, cost BIGINT);
INSERT INTO priced_combinations VALUES (0, 2, 10), (1, 3, 1);

CREATE TABLE best (itemset_0 BIGINT, every_0 BIGINT, cost BIGINT);
INSERT INTO best VALUES (0, 1, 30), (0, 5, 20), (0, 6, 10);
"""
CODES, VALUES, NODES = table("codes"), table("item_values"), table("nodes")
PREFIXES, MEMBERS = table("prefixes"), table("members")
ITEMSETS, EXTENDED, WIDE = table("itemsets"), table("extended_members"), table("wide")
FIRST = Step(
    attribute=0,
    k=2,
    word=0,
    field=3,
    before=(0,),
    bits=(3,),
    rest=(4,),
    closed=((3,),),
    top=2,
    top_split=(3,),
)
LAST = Step(
    attribute=1,
    k=2,
    word=0,
    field=4,
    before=(3,),
    bits=(4,),
    rest=(0,),
    closed=((3,), (4,)),
    top=None,
    top_split=(),
)
FREQUENT = Step(
    attribute=0,
    k=4,
    word=0,
    field=3,
    before=(0,),
    bits=(3,),
    rest=(4,),
    closed=(),
    top=2,
    top_split=(0,),
)


@pytest.fixture(scope="module")
def connection():
    """A connection with the tables of the snapshots, and these."""
    with duckdb.connect() as opened:
        opened.execute(TABLES + RELATIONS)
        yield opened


SNAPSHOTS = [
    Snapshot(
        "compacted",
        itemsets.compacted(CODES, VALUES, {0: (3, 0), 1: (4, 1)}, (1, 1)),
        """
        SELECT
          CAST(0 AS BIGINT) AS "itemset_0",
          CAST("value_0"."every_0" + "value_1"."every_0" AS BIGINT) AS "every_0",
          CAST("value_0"."some_0" + "value_1"."some_0" AS BIGINT) AS "some_0",
          CAST(COALESCE(SUM("source"."size"), 0) AS BIGINT) AS "size"
        FROM "codes" AS "source"
        JOIN "item_values" AS "value_0"
          ON "value_0"."attribute" = 0 AND (
            "source"."word_0" & 3
          ) = "value_0"."word_0"
        JOIN "item_values" AS "value_1"
          ON "value_1"."attribute" = 1
          AND (
            "source"."word_0" & 4
          ) = "value_1"."word_0"
          AND (
            "source"."word_1" & 1
          ) = "value_1"."word_1"
        GROUP BY
          CAST("value_0"."every_0" + "value_1"."every_0" AS BIGINT),
          CAST("value_0"."some_0" + "value_1"."some_0" AS BIGINT)
        """,
        [(0, 1, 5, 1), (0, 5, 5, 2), (0, 6, 6, 1), (0, 2, 6, 4)],
    ),
    Snapshot(
        "compacted where no attribute tells itemsets apart",
        itemsets.compacted(CODES, VALUES, {}, (1, 1)),
        """
        SELECT
          CAST(0 AS BIGINT) AS "itemset_0",
          CAST(0 AS BIGINT) AS "every_0",
          CAST(0 AS BIGINT) AS "some_0",
          CAST(COALESCE(SUM("source"."size"), 0) AS BIGINT) AS "size"
        FROM "codes" AS "source"
        """,
        [(0, 0, 0, 8)],
    ),
    Snapshot(
        "whole",
        itemsets.whole(MEMBERS, 5, (1, 1)),
        """
        SELECT
          CAST(0 AS BIGINT) AS "itemset_0",
          CAST(0 AS BIGINT) AS "split_0",
          BIT_AND("member"."every_0") AS "every_0",
          BIT_OR("member"."some_0") AS "some_0",
          CAST(COALESCE(SUM("member"."size"), 0) AS BIGINT) AS "support"
        FROM "members" AS "member"
        HAVING
          SUM("member"."size") >= 5
        """,
        [(0, 0, 0, 7, 6)],
    ),
    Snapshot(
        "whole table of less than k records",
        itemsets.whole(MEMBERS, 7, (1, 1)),
        """
        SELECT
          CAST(0 AS BIGINT) AS "itemset_0",
          CAST(0 AS BIGINT) AS "split_0",
          BIT_AND("member"."every_0") AS "every_0",
          BIT_OR("member"."some_0") AS "some_0",
          CAST(COALESCE(SUM("member"."size"), 0) AS BIGINT) AS "support"
        FROM "members" AS "member"
        HAVING
          SUM("member"."size") >= 7
        """,
        [],
    ),
    Snapshot(
        "extended",
        extension.extended(PREFIXES, MEMBERS, NODES, FIRST),
        """
        SELECT
          "prefix"."itemset_0" + 2 AS "itemset_0",
          "prefix"."split_0" | 3 AS "split_0",
          "prefix"."every_0",
          "prefix"."some_0",
          "prefix"."support"
        FROM "prefixes" AS "prefix"
        WHERE
          (
            (
              "prefix"."some_0" - "prefix"."every_0"
            ) & (
              3
            )
          ) <> 0
        UNION ALL
        SELECT
          *
        FROM (
          SELECT
            "found"."itemset_0",
            "prefix"."split_0" | "own"."split_0" AS "split_0",
            "found"."every_0",
            "found"."some_0",
            "found"."support"
          FROM (
            SELECT
              "member"."itemset_0" + "above"."node" AS "itemset_0",
              BIT_AND("member"."every_0") AS "every_0",
              BIT_OR("member"."some_0") AS "some_0",
              CAST(COALESCE(SUM("member"."size"), 0) AS BIGINT) AS "support"
            FROM "members" AS "member"
            JOIN "nodes" AS "above"
              ON "above"."attribute" = 0
              AND "above"."every_0" = (
                "member"."every_0" & 3
              )
              AND NOT "above"."is_top"
            GROUP BY
              "member"."itemset_0" + "above"."node"
            HAVING
              SUM("member"."size") >= 2
          ) AS "found"
          JOIN "prefixes" AS "prefix"
            ON "prefix"."itemset_0" = (
              "found"."itemset_0" & 0
            )
          JOIN (
            SELECT DISTINCT
              "node",
              "split_0"
            FROM "nodes" AS "above"
            WHERE
              "above"."attribute" = 0
          ) AS "own"
            ON "own"."node" = (
              "found"."itemset_0" & 3
            )
        ) AS "candidate"
        WHERE
          0 = (
            "split_0" & 3
          )
          OR (
            (
              "some_0" - "every_0"
            ) & (
              "split_0" & 3
            )
          ) <> 0
        """,
        [(2, 3, 0, 7, 6), (0, 0, 1, 5, 3), (1, 0, 6, 6, 3)],
    ),
    Snapshot(
        "extended by the last attribute, which has no top",
        extension.extended(ITEMSETS, EXTENDED, NODES, LAST),
        """
        SELECT
          *
        FROM (
          SELECT
            "found"."itemset_0",
            "prefix"."split_0" | "own"."split_0" AS "split_0",
            "found"."every_0",
            "found"."some_0",
            "found"."support"
          FROM (
            SELECT
              "member"."itemset_0" + "above"."node" AS "itemset_0",
              "member"."every_0",
              "member"."some_0",
              "member"."size" AS "support"
            FROM "extended_members" AS "member"
            JOIN "nodes" AS "above"
              ON "above"."attribute" = 1
              AND "above"."every_0" = (
                "member"."every_0" & 4
              )
              AND NOT "above"."is_top"
              AND "above"."is_single"
            WHERE
              "member"."size" >= 2
            UNION ALL
            SELECT
              "member"."itemset_0" + "above"."node" AS "itemset_0",
              BIT_AND("member"."every_0") AS "every_0",
              BIT_OR("member"."some_0") AS "some_0",
              CAST(COALESCE(SUM("member"."size"), 0) AS BIGINT) AS "support"
            FROM "extended_members" AS "member"
            JOIN "nodes" AS "above"
              ON "above"."attribute" = 1
              AND "above"."every_0" = (
                "member"."every_0" & 4
              )
              AND NOT "above"."is_top"
              AND NOT "above"."is_single"
            GROUP BY
              "member"."itemset_0" + "above"."node"
            HAVING
              SUM("member"."size") >= 2
          ) AS "found"
          JOIN "itemsets" AS "prefix"
            ON "prefix"."itemset_0" = (
              "found"."itemset_0" & 3
            )
          JOIN (
            SELECT DISTINCT
              "node",
              "split_0"
            FROM "nodes" AS "above"
            WHERE
              "above"."attribute" = 1
          ) AS "own"
            ON "own"."node" = (
              "found"."itemset_0" & 4
            )
        ) AS "candidate"
        WHERE
          (
            0 = (
              "split_0" & 3
            )
            OR (
              (
                "some_0" - "every_0"
              ) & (
                "split_0" & 3
              )
            ) <> 0
          )
          AND (
            0 = (
              "split_0" & 4
            )
            OR (
              (
                "some_0" - "every_0"
              ) & (
                "split_0" & 4
              )
            ) <> 0
          )
        """,
        [(4, 0, 5, 5, 2), (5, 0, 6, 6, 3), (6, 3, 4, 7, 5)],
    ),
    Snapshot(
        "extended whether closed or not",
        extension.extended(PREFIXES, MEMBERS, NODES, FREQUENT),
        """
        SELECT
          "prefix"."itemset_0" + 2 AS "itemset_0",
          "prefix"."split_0" | 0 AS "split_0",
          "prefix"."every_0",
          "prefix"."some_0",
          "prefix"."support"
        FROM "prefixes" AS "prefix"
        UNION ALL
        SELECT
          "found"."itemset_0",
          "prefix"."split_0" | "own"."split_0" AS "split_0",
          "found"."every_0",
          "found"."some_0",
          "found"."support"
        FROM (
          SELECT
            "member"."itemset_0" + "above"."node" AS "itemset_0",
            BIT_AND("member"."every_0") AS "every_0",
            BIT_OR("member"."some_0") AS "some_0",
            CAST(COALESCE(SUM("member"."size"), 0) AS BIGINT) AS "support"
          FROM "members" AS "member"
          JOIN "nodes" AS "above"
            ON "above"."attribute" = 0
            AND "above"."every_0" = (
              "member"."every_0" & 3
            )
            AND NOT "above"."is_top"
          GROUP BY
            "member"."itemset_0" + "above"."node"
          HAVING
            SUM("member"."size") >= 4
        ) AS "found"
        JOIN "prefixes" AS "prefix"
          ON "prefix"."itemset_0" = (
            "found"."itemset_0" & 0
          )
        JOIN (
          SELECT DISTINCT
            "node",
            "split_0"
          FROM "nodes" AS "above"
          WHERE
            "above"."attribute" = 0
        ) AS "own"
          ON "own"."node" = (
            "found"."itemset_0" & 3
          )
        """,
        [(2, 0, 0, 7, 6)],
    ),
    Snapshot(
        "extended_members",
        extension.extended_members(ITEMSETS, MEMBERS, NODES, FIRST),
        """
        SELECT
          "itemset"."itemset_0",
          "member"."every_0",
          "member"."some_0",
          "member"."size"
        FROM "members" AS "member"
        JOIN "nodes" AS "above"
          ON "above"."attribute" = 0
          AND "above"."every_0" = (
            "member"."every_0" & 3
          )
          AND "above"."is_single"
        JOIN "itemsets" AS "itemset"
          ON "itemset"."itemset_0" = (
            "member"."itemset_0" + "above"."node"
          )
        UNION ALL
        SELECT
          "itemset"."itemset_0",
          BIT_AND("member"."every_0") AS "every_0",
          BIT_OR("member"."some_0") AS "some_0",
          CAST(COALESCE(SUM("member"."size"), 0) AS BIGINT) AS "size"
        FROM "members" AS "member"
        JOIN "nodes" AS "above"
          ON "above"."attribute" = 0
          AND "above"."every_0" = (
            "member"."every_0" & 3
          )
          AND NOT "above"."is_single"
        JOIN "itemsets" AS "itemset"
          ON "itemset"."itemset_0" = (
            "member"."itemset_0" + "above"."node"
          )
        GROUP BY
          "itemset"."itemset_0",
          "member"."every_0" & 4
        """,
        [(0, 5, 5, 2), (0, 1, 1, 1), (1, 6, 6, 3), (2, 4, 7, 5), (2, 1, 1, 1)],
    ),
    Snapshot(
        "finished",
        itemsets.finished(exp.select("*").from_(ITEMSETS), 1),
        """
        SELECT
          "found"."itemset_0",
          "found"."support"
        FROM (
          SELECT
            *
          FROM "itemsets"
        ) AS "found"
        """,
        [(2, 6), (0, 3), (1, 3)],
    ),
    Snapshot(
        "ordered",
        itemsets.ordered(WIDE, 2),
        """
        SELECT
          "found"."itemset_0",
          "found"."itemset_1",
          "found"."support"
        FROM "wide" AS "found"
        ORDER BY
          "found"."itemset_1",
          "found"."itemset_0"
        """,
        [(2, 1, 7), (3, 1, 6), (1, 2, 5)],
        ordered=True,
    ),
    Snapshot(
        "totals",
        itemsets.totals(WIDE),
        """
        SELECT
          CAST(COUNT(*) AS BIGINT),
          CAST(COALESCE(SUM("support"), 0) AS BIGINT)
        FROM "wide"
        """,
        [(3, 18)],
    ),
    Snapshot(
        "labelled",
        itemsets.labelled(ITEMSETS, table("labels"), {"age": (0, 3), "sex": (0, 4)}, 1),
        """
        SELECT
          "label_0"."label" AS "age",
          "label_1"."label" AS "sex",
          "found"."support"
        FROM "itemsets" AS "found"
        JOIN "labels" AS "label_0"
          ON "label_0"."attribute" = 0 AND "label_0"."node" = (
            "found"."itemset_0" & 3
          )
        JOIN "labels" AS "label_1"
          ON "label_1"."attribute" = 1 AND "label_1"."node" = (
            "found"."itemset_0" & 4
          )
        ORDER BY
          "found"."itemset_0"
        """,
        [("a", "any", 3), (None, "any", 3), ("*", "any", 6)],
        ordered=True,
    ),
    Snapshot(
        "cheapest finished",
        cheapest.finished(table("itemsets"), (1, 1), 11),
        """
        SELECT
          "itemset_0",
          CAST(0 AS BIGINT) AS "every_0",
          CAST(11 AS BIGINT) AS "cost"
        FROM "itemsets"
        """,
        [(2, 0, 11), (0, 0, 11), (1, 0, 11)],
    ),
    Snapshot(
        "cheapest",
        cheapest.cheapest(MEMBERS, table("following"), NODES, table("prices_of_nodes"), FIRST),
        """
        SELECT
          "member"."itemset_0",
          "member"."every_0" & 7 AS "every_0",
          MIN("own"."cost" + "following"."cost") AS "cost"
        FROM "members" AS "member"
        JOIN "nodes" AS "above"
          ON "above"."attribute" = 0 AND "above"."every_0" = (
            "member"."every_0" & 3
          )
        JOIN "prices_of_nodes" AS "own"
          ON "own"."attribute" = "above"."attribute" AND "own"."node" = "above"."node"
        JOIN "following" AS "following"
          ON "following"."itemset_0" = (
            "member"."itemset_0" + "above"."node"
          )
          AND "following"."every_0" = (
            "member"."every_0" & 4
          )
        GROUP BY
          "member"."itemset_0",
          "member"."every_0" & 7
        """,
        [(0, 5, 9), (0, 1, 106), (0, 6, 13)],
    ),
    Snapshot(
        "cheapest by_combination",
        cheapest.by_combination(CODES, VALUES, table("best"), {0: (3, 0), 1: (4, 1)}, (2, 1)),
        """
        SELECT
          "source"."word_0",
          "source"."word_1",
          "source"."size",
          "best"."cost"
        FROM "codes" AS "source"
        JOIN "item_values" AS "value_0"
          ON "value_0"."attribute" = 0 AND (
            "source"."word_0" & 3
          ) = "value_0"."word_0"
        JOIN "item_values" AS "value_1"
          ON "value_1"."attribute" = 1
          AND (
            "source"."word_0" & 4
          ) = "value_1"."word_0"
          AND (
            "source"."word_1" & 1
          ) = "value_1"."word_1"
        JOIN "best" AS "best"
          ON "best"."every_0" = (
            CAST("value_0"."every_0" + "value_1"."every_0" AS BIGINT)
          )
        """,
        [(1, 0, 1, 30), (5, 1, 2, 20), (6, 1, 1, 10)],
    ),
    Snapshot(
        "cheapest lower_bound",
        cheapest.lower_bound(table("priced_combinations")),
        """
        SELECT
          CAST(COALESCE(SUM("size" * "cost"), 0) AS BIGINT)
        FROM "priced_combinations"
        """,
        [(23,)],
    ),
]
