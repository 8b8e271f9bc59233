"""The statement that publishes, and what DuckDB answers."""

from dataclasses import replace

import pytest
from snapshots import (  # noqa: F401
    INTEGER,
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

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.publish import recode
from sqlanon.query.publish.suppression import SuppressionQuery
from sqlanon.query.syntax import rows_of, table

SEX_ROWS = Hierarchy.from_rows([("f", "any", "*"), ("m", "any", "*")])
SEX = recode.recode(PEOPLE, "sex", hierarchy=SEX_ROWS, level=0, column_type=TEXT)
SEX_ANY = recode.recode(PEOPLE, "sex", hierarchy=SEX_ROWS, level=1, column_type=TEXT)
SEX_TOP = recode.recode(PEOPLE, "sex", hierarchy=SEX_ROWS, level=2, column_type=TEXT)
ZIP = recode.recode(PEOPLE, "zip", hierarchy=Hierarchy.prefix(2), level=1, column_type=TEXT)
ZIP_TOP = recode.recode(PEOPLE, "zip", hierarchy=Hierarchy.suppression(), level=1, column_type=TEXT)
PAIRS = SuppressionQuery(2)

# The classes of fewer than two records by sex, before what is selected of the others.
SMALL_PAIRS = """
    WITH "sqlanon_details" AS (
        SELECT
            "record"."sex" AS "key_0",
            CAST(COUNT(*) AS BIGINT) AS "size"
        FROM "people" AS "record"
        GROUP BY
            "record"."sex"
    ), "sqlanon_suppressed_1" AS (
        SELECT
            "key_0",
            MAX("required") AS "required"
        FROM ((
            SELECT
                "key_0",
                CAST(0 AS BIGINT) AS "required"
            FROM "sqlanon_details"
            GROUP BY
                "key_0"
            HAVING
                SUM("size") < 2
        )) AS "parts"
        GROUP BY
            "key_0"
    )
"""

SNAPSHOTS = [
    Snapshot(
        "recode of a rule",
        ZIP.labels,
        [("10115", "10***"), ("10117", "10***"), ("20095", "20***")],
        sql="""
        SELECT
            "value",
            CASE
                WHEN "value" IS NULL THEN NULL
                ELSE LEFT(CAST("value" AS TEXT), 2)
                    || REPEAT('*', GREATEST(LENGTH(CAST("value" AS TEXT)) - 2, 0))
            END AS "label"
        FROM (SELECT DISTINCT "zip" AS "value" FROM "people") AS "held"
        """,
    ),
    Snapshot(
        "recode of rows",
        SEX_ANY.labels,
        [("f", "any"), ("m", "any"), (None, None)],
    ),
    Snapshot(
        "published without suppression",
        recode.published(
            PEOPLE,
            {"sex": None, "age": TEXT, "zip": None, "job": None},
            recodes={"sex": SEX_ANY, "zip": ZIP_TOP},
            suppressed=None,
        ),
        [
            ("any", "31", "*", "clerk"),
            ("any", "31", "*", "nurse"),
            ("any", "31", "*", "nurse"),
            ("any", "45", "*", "nurse"),
            (None, "45", "*", "boss"),
        ],
        ordered=True,
    ),
    Snapshot(
        "published without small classes",
        recode.published(
            PEOPLE,
            {"sex": None, "zip": None, "job": None},
            recodes={"sex": SEX, "zip": ZIP_TOP},
            suppressed=PAIRS,
        ),
        [("f", "*", "clerk"), ("f", "*", "nurse"), ("f", "*", "nurse")],
        ordered=True,
    ),
    Snapshot(
        "published with suppressed records kept",
        recode.published(
            PEOPLE,
            {"sex": None, "job": None},
            recodes={"sex": SEX},
            suppressed=replace(PAIRS, label="?"),
        ),
        [("?", "boss"), ("?", "nurse"), ("f", "clerk"), ("f", "nurse"), ("f", "nurse")],
        ordered=True,
        sql=SMALL_PAIRS
        + """
        SELECT
            CASE WHEN NOT "small"."required" IS NULL THEN '?' ELSE CAST("record"."sex" AS TEXT) END
                AS "sex",
            "record"."job" AS "job"
        FROM "people" AS "record"
        LEFT JOIN "sqlanon_suppressed_1" AS "small"
            ON "small"."key_0" IS NOT DISTINCT FROM "record"."sex"
        ORDER BY
            "sex",
            "job"
        """,
    ),
    Snapshot(
        "published where everything has one label",
        recode.published(
            PEOPLE, {"zip": None}, recodes={"zip": ZIP_TOP}, suppressed=SuppressionQuery(9)
        ),
        [],
    ),
]


def test_recode_at_the_top_is_a_constant():
    assert (SEX_TOP.constant, SEX_TOP.labels, ZIP_TOP.constant) == ("*", None, "*")


def test_recode_at_level_0_keeps_the_values():
    assert recode.Recode("sex") == SEX


def test_recode_of_a_rule_holds_no_value_of_the_table():
    assert not {"10115", "20095"} & {literal.this for literal in ZIP.labels.find_all(exp.Literal)}


@pytest.mark.parametrize("temporary", [False, True])
def test_created_and_renamed_table_holds_the_rows(connection, temporary):
    created = recode.create_table(table("out"), rows_of(PEOPLE), temporary=temporary)
    renamed = recode.rename_table(table("out"), 'new "one"')
    connection.execute(text(created))
    connection.execute(text(renamed))
    assert connection.execute('SELECT * FROM "new ""one"""').fetchall() == [(5,)]
    listed = "SELECT temporary FROM duckdb_tables() WHERE table_name = 'new \"one\"'"
    assert connection.execute(listed).fetchall() == [(temporary,)]
    connection.execute('DROP TABLE "new ""one"""')
    assert text(created, "spark")
    assert text(renamed, "spark")


@pytest.mark.parametrize(
    "name",
    [
        "class_size",
        "small",
        "record",
        "label",
        "value",
        "size",
        "listed",
        "plain",
        "required",
        "key_0",
        "value_0",
        "gone",
        "parts",
        "sqlanon_details",
        "sqlanon_suppressed_1",
    ],
)
def test_small_classes_are_left_out_whatever_a_column_is_called(connection, name):
    """A column may bear a name that the statement uses itself; one class is a lone NULL."""
    connection.execute(
        f'CREATE OR REPLACE TEMP TABLE named AS SELECT * FROM (VALUES (1), (1), (NULL)) v("{name}")'
    )
    source = table("named")
    kept = recode.recode(
        source, name, hierarchy=Hierarchy.suppression(), level=0, column_type=INTEGER
    )
    query = recode.published(source, {name: None}, recodes={name: kept}, suppressed=PAIRS)
    assert connection.execute(text(query)).fetchall() == [(1,), (1,)]
