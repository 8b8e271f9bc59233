"""Every query builder: its SQL, compared as a tree, and what DuckDB answers to it."""

import datetime
from dataclasses import dataclass

import duckdb
import pytest
from sqlglot import ErrorLevel, exp, parse_one

from sqlanon.hierarchy import Hierarchy
from sqlanon.query import classes, encode, frequency, recode
from sqlanon.query.fingerprint import fingerprint
from sqlanon.query.names import table

TABLES = """
CREATE TABLE people (age INTEGER, sex VARCHAR, zip VARCHAR, job VARCHAR);
INSERT INTO people VALUES
    (31, 'f', '10115', 'nurse'),
    (31, 'f', '10117', 'nurse'),
    (31, 'f', '10117', 'clerk'),
    (45, 'm', '20095', 'nurse'),
    (45, NULL, '20095', 'boss');

CREATE TABLE leaves (attribute BIGINT, leaf VARCHAR, word_0 BIGINT, word_1 BIGINT);
INSERT INTO leaves VALUES
    (0, 'nurse', 0, 0), (0, 'clerk', 1, 0), (0, 'boss', 2, 0),
    (1, 'f', 0, 0), (1, 'm', 4, 0), (1, NULL, 8, 1),
    (2, 'nurse', 0, 0);

CREATE TABLE spelled (attribute BIGINT, leaf VARCHAR, word_0 BIGINT);
INSERT INTO spelled VALUES (0, '31', 0), (0, '031', 1), (0, '45.2', 2), (0, 'old', 3), (0, NULL, 4);

CREATE TABLE days (leaf VARCHAR, label VARCHAR);
INSERT INTO days VALUES ('2024-02-29', 'leap'), ('2023-02-29', 'none'), (NULL, 'unknown');

CREATE TABLE codes (word_0 BIGINT, word_1 BIGINT, size BIGINT);
INSERT INTO codes VALUES (1, 0, 1), (5, 1, 2), (6, 1, 1), (2, 0, 4);

CREATE TABLE rolled (word_0 BIGINT, word_1 BIGINT, size BIGINT);
INSERT INTO rolled VALUES (0, 0, 5), (4, 1, 3);

CREATE TABLE prices (word_0 BIGINT, word_1 BIGINT, cost BIGINT);
INSERT INTO prices VALUES (1, 0, 10), (2, 0, 20);
"""
PEOPLE, LEAVES, CODES = table("people"), table("leaves"), table("codes")
TEXT, INTEGER, DATE = (exp.DataType.build(name) for name in ("VARCHAR", "INTEGER", "DATE"))
JOBS, SEXES, NURSES = (encode.leaf_map(LEAVES, number, TEXT, 2) for number in range(3))
PRICES = frequency.Price(table("prices"), (3, 0))

SEX_ROWS = Hierarchy.from_rows([("f", "any", "*"), ("m", "any", "*")])
SEX = recode.recode(PEOPLE, "sex", SEX_ROWS, 0, TEXT)
SEX_ANY = recode.recode(PEOPLE, "sex", SEX_ROWS, 1, TEXT)
SEX_TOP = recode.recode(PEOPLE, "sex", SEX_ROWS, 2, TEXT)
ZIP = recode.recode(PEOPLE, "zip", Hierarchy.prefix(2), 1, TEXT)
ZIP_TOP = recode.recode(PEOPLE, "zip", Hierarchy.suppression(), 1, TEXT)


@dataclass(frozen=True)
class Snapshot:
    """A query as built, its SQL, and its rows where their order matters or as a set."""

    name: str
    query: exp.Expr
    sql: str
    rows: list[tuple[object, ...]]
    parameters: tuple[int, ...] = ()
    ordered: bool = False

    def __repr__(self):
        return self.name


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
        "encoded",
        encode.encoded(PEOPLE, {"job": JOBS, "sex": SEXES}, {"sex"}, 2),
        """
        SELECT
            "map_0"."word_0" + "map_1"."word_0" AS "word_0",
            "map_0"."word_1" + "map_1"."word_1" AS "word_1",
            CAST(COUNT(*) AS BIGINT) AS "size"
        FROM "people" AS "source"
        JOIN (
            SELECT "leaf" AS "value", "word_0", "word_1" FROM "leaves" WHERE "attribute" = 0
        ) AS "map_0" ON "source"."job" = "map_0"."value"
        JOIN (
            SELECT "leaf" AS "value", "word_0", "word_1" FROM "leaves" WHERE "attribute" = 1
        ) AS "map_1" ON "source"."sex" IS NOT DISTINCT FROM "map_1"."value"
        GROUP BY
            "map_0"."word_0" + "map_1"."word_0",
            "map_0"."word_1" + "map_1"."word_1"
        """,
        [(0, 0, 2), (1, 0, 1), (4, 0, 1), (10, 1, 1)],
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
        SELECT CAST(COUNT(*) AS BIGINT), CAST(COALESCE(SUM("size"), 0) AS BIGINT) FROM "codes"
        """,
        [(4, 8)],
    ),
    Snapshot(
        "roll_up",
        frequency.roll_up(CODES, [4, 1]),
        """
        SELECT
            "word_0" & 4 AS "word_0",
            "word_1" & 1 AS "word_1",
            CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "size"
        FROM "codes"
        GROUP BY "word_0" & 4, "word_1" & 1
        """,
        [(0, 0, 5), (4, 1, 3)],
    ),
    Snapshot(
        "class_counts",
        frequency.class_counts([CODES, table("rolled")], 2, 2),
        """
        SELECT
            0,
            CAST(COUNT(*) AS BIGINT),
            CAST(COUNT(CASE WHEN "class_size" < 2 THEN 1 END) AS BIGINT),
            CAST(COALESCE(SUM(CASE WHEN "class_size" < 2 THEN "class_size" END), 0) AS BIGINT)
        FROM (
            SELECT SUM("size") AS "class_size" FROM "codes" GROUP BY "word_0" & ?, "word_1" & ?
        ) AS "classes"
        UNION ALL
        SELECT
            1,
            CAST(COUNT(*) AS BIGINT),
            CAST(COUNT(CASE WHEN "class_size" < 2 THEN 1 END) AS BIGINT),
            CAST(COALESCE(SUM(CASE WHEN "class_size" < 2 THEN "class_size" END), 0) AS BIGINT)
        FROM (
            SELECT SUM("size") AS "class_size" FROM "rolled" GROUP BY "word_0" & ?, "word_1" & ?
        ) AS "classes"
        """,
        [(0, 4, 2, 2), (1, 2, 0, 0)],
        parameters=(3, 1, 4, 1),
    ),
    Snapshot(
        "class_counts with squares",
        frequency.class_counts([CODES], 1, 4, squares=True),
        """
        SELECT
            0,
            CAST(COUNT(*) AS BIGINT),
            CAST(COUNT(CASE WHEN "class_size" < 4 THEN 1 END) AS BIGINT),
            CAST(COALESCE(SUM(CASE WHEN "class_size" < 4 THEN "class_size" END), 0) AS BIGINT),
            CAST(COALESCE(SUM("class_size" * "class_size"), 0) AS BIGINT),
            CAST(
                COALESCE(SUM(CASE WHEN "class_size" < 4 THEN "class_size" * "class_size" END), 0)
                AS BIGINT
            )
        FROM (SELECT SUM("size") AS "class_size" FROM "codes" GROUP BY "word_0" & ?) AS "classes"
        """,
        [(0, 2, 1, 3, 3 * 3 + 5 * 5, 3 * 3)],
        parameters=(3,),
    ),
    Snapshot(
        "small_costs",
        frequency.small_costs([CODES, CODES], [[3, 1], [0, 1]], 4, [[PRICES], []]),
        """
        SELECT
            0,
            CAST(COUNT(*) AS BIGINT),
            CAST(COALESCE(SUM("small"."class_size"), 0) AS BIGINT),
            CAST(COALESCE(SUM("small"."class_size" * ("price_0"."cost")), 0) AS BIGINT)
        FROM (
            SELECT "word_0" & 3 AS "word_0", "word_1" & 1 AS "word_1", SUM("size") AS "class_size"
            FROM "codes"
            GROUP BY "word_0" & 3, "word_1" & 1
            HAVING SUM("size") < 4
        ) AS "small"
        JOIN "prices" AS "price_0"
            ON ("small"."word_0" & 3) = "price_0"."word_0"
            AND ("small"."word_1" & 0) = "price_0"."word_1"
        UNION ALL
        SELECT
            1,
            CAST(COUNT(*) AS BIGINT),
            CAST(COALESCE(SUM("small"."class_size"), 0) AS BIGINT),
            CAST(COALESCE(SUM("small"."class_size" * (0)), 0) AS BIGINT)
        FROM (
            SELECT "word_0" & 0 AS "word_0", "word_1" & 1 AS "word_1", SUM("size") AS "class_size"
            FROM "codes"
            GROUP BY "word_0" & 0, "word_1" & 1
            HAVING SUM("size") < 4
        ) AS "small"
        """,
        [(0, 3, 4, 1 * 10 + 2 * 10 + 1 * 20), (1, 1, 3, 0)],
    ),
    Snapshot(
        "class_sizes",
        frequency.class_sizes(CODES, [3, 1]),
        """
        SELECT CAST("class_size" AS BIGINT), CAST(COUNT(*) AS BIGINT)
        FROM (
            SELECT SUM("size") AS "class_size" FROM "codes" GROUP BY "word_0" & 3, "word_1" & 1
        ) AS "classes"
        GROUP BY "class_size"
        """,
        [(1, 2), (2, 1), (4, 1)],
    ),
    Snapshot(
        "small_marginals",
        frequency.small_marginals(CODES, [3, 1], 2, [[1, 0], [0, 1]]),
        """
        SELECT 0, "word_0" & 1, "word_1" & 0, CAST(COALESCE(SUM("class_size"), 0) AS BIGINT)
        FROM (
            SELECT "word_0" & 3 AS "word_0", "word_1" & 1 AS "word_1", SUM("size") AS "class_size"
            FROM "codes"
            GROUP BY "word_0" & 3, "word_1" & 1
            HAVING SUM("size") < 2
        ) AS "small"
        GROUP BY "word_0" & 1, "word_1" & 0
        UNION ALL
        SELECT 1, "word_0" & 0, "word_1" & 1, CAST(COALESCE(SUM("class_size"), 0) AS BIGINT)
        FROM (
            SELECT "word_0" & 3 AS "word_0", "word_1" & 1 AS "word_1", SUM("size") AS "class_size"
            FROM "codes"
            GROUP BY "word_0" & 3, "word_1" & 1
            HAVING SUM("size") < 2
        ) AS "small"
        GROUP BY "word_0" & 0, "word_1" & 1
        """,
        [(0, 0, 0, 1), (0, 1, 0, 1), (1, 0, 0, 1), (1, 0, 1, 1)],
    ),
    Snapshot(
        "size_histogram",
        classes.size_histogram(PEOPLE, ["sex", "age"]),
        """
        SELECT CAST("class_size" AS BIGINT), CAST(COUNT(*) AS BIGINT)
        FROM (
            SELECT CAST(COUNT(*) AS BIGINT) AS "class_size" FROM "people" GROUP BY "sex", "age"
        ) AS "classes"
        GROUP BY "class_size"
        """,
        [(1, 2), (3, 1)],
    ),
    Snapshot(
        "records",
        classes.records(PEOPLE),
        'SELECT CAST(COUNT(*) AS BIGINT) FROM "people"',
        [(5,)],
    ),
    Snapshot(
        "recode of a rule",
        ZIP.labels,
        """
        SELECT
            "value",
            CASE
                WHEN "value" IS NULL THEN NULL
                ELSE LEFT(CAST("value" AS TEXT), 2)
                    || REPEAT('*', GREATEST(LENGTH(CAST("value" AS TEXT)) - 2, 0))
            END AS "label"
        FROM (SELECT DISTINCT "zip" AS "value" FROM "people") AS "held"
        """,
        [("10115", "10***"), ("10117", "10***"), ("20095", "20***")],
    ),
    Snapshot(
        "recode of rows",
        SEX_ANY.labels,
        """
        SELECT "leaf" AS "value", "label"
        FROM (VALUES ('f', 'any'), ('m', 'any'), (NULL, NULL)) AS "listed"("leaf", "label")
        """,
        [("f", "any"), ("m", "any"), (None, None)],
    ),
    Snapshot(
        "published without suppression",
        recode.published(
            PEOPLE,
            {"sex": None, "age": TEXT, "zip": None, "job": None},
            {"sex": SEX_ANY, "zip": ZIP_TOP},
            k=None,
        ),
        """
        SELECT
            "sex labels"."label" AS "sex",
            CAST("record"."age" AS TEXT) AS "age",
            CAST('*' AS TEXT) AS "zip",
            "record"."job" AS "job"
        FROM "people" AS "record"
        JOIN (
            SELECT "leaf" AS "value", "label"
            FROM (VALUES ('f', 'any'), ('m', 'any'), (NULL, NULL)) AS "listed"("leaf", "label")
        ) AS "sex labels" ON "record"."sex" IS NOT DISTINCT FROM "sex labels"."value"
        ORDER BY "sex", "age", "zip", "job"
        """,
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
            PEOPLE, {"sex": None, "zip": None, "job": None}, {"sex": SEX, "zip": ZIP_TOP}, k=2
        ),
        """
        SELECT "record"."sex" AS "sex", CAST('*' AS TEXT) AS "zip", "record"."job" AS "job"
        FROM "people" AS "record"
        LEFT JOIN (
            SELECT "record"."sex" AS "sex", CAST('*' AS TEXT) AS "zip", COUNT(*) AS "class_size"
            FROM "people" AS "record"
            GROUP BY "record"."sex"
            HAVING COUNT(*) < 2
        ) AS "small"
            ON "small"."sex" IS NOT DISTINCT FROM "record"."sex"
            AND "small"."zip" IS NOT DISTINCT FROM CAST('*' AS TEXT)
        WHERE "small"."class_size" IS NULL
        ORDER BY "sex", "zip", "job"
        """,
        [("f", "*", "clerk"), ("f", "*", "nurse"), ("f", "*", "nurse")],
        ordered=True,
    ),
    Snapshot(
        "published with suppressed records kept",
        recode.published(PEOPLE, {"sex": None, "job": None}, {"sex": SEX}, k=2, kept_label="?"),
        """
        SELECT
            CASE WHEN "small"."class_size" IS NULL THEN CAST("record"."sex" AS TEXT) ELSE '?' END
                AS "sex",
            "record"."job" AS "job"
        FROM "people" AS "record"
        LEFT JOIN (
            SELECT "record"."sex" AS "sex", COUNT(*) AS "class_size"
            FROM "people" AS "record"
            GROUP BY "record"."sex"
            HAVING COUNT(*) < 2
        ) AS "small" ON "small"."sex" IS NOT DISTINCT FROM "record"."sex"
        ORDER BY "sex", "job"
        """,
        [("?", "boss"), ("?", "nurse"), ("f", "clerk"), ("f", "nurse"), ("f", "nurse")],
        ordered=True,
    ),
]


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        opened.execute(TABLES)
        yield opened


def text(query, dialect="duckdb"):
    """The text of a tree as an engine gets it; what the dialect lacks is an error."""
    return query.sql(dialect, identify=True, unsupported_level=ErrorLevel.RAISE)


def tree(sql):
    return parse_one(sql, dialect="duckdb")


def listed(rows):
    return sorted(rows, key=repr)


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=repr)
def test_query_is_the_sql_beside_it(snapshot):
    assert tree(text(snapshot.query)) == tree(snapshot.sql)


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=repr)
def test_query_answers_the_rows_beside_it(snapshot, connection):
    rows = connection.execute(text(snapshot.query), list(snapshot.parameters)).fetchall()
    if snapshot.ordered:
        assert rows == snapshot.rows
    else:
        assert listed(rows) == listed(snapshot.rows)


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=repr)
def test_query_is_plain_enough_for_spark(snapshot):
    parse_one(text(snapshot.query, "spark"), dialect="spark")


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=repr)
def test_counts_arrive_as_integers_not_as_decimals(snapshot, connection):
    types = connection.execute(text(snapshot.query), list(snapshot.parameters)).description
    assert not {str(column[1]) for column in types} & {"HUGEINT", "DECIMAL", "DOUBLE"}


def test_repeated_values_counts_a_value_in_two_spellings(connection):
    query = encode.repeated_values(encode.leaf_map(table("spelled"), 0, INTEGER, 1))
    assert connection.execute(text(query)).fetchall() == [(1,)]


def test_recode_at_the_top_is_a_constant():
    assert (SEX_TOP.constant, SEX_TOP.labels, ZIP_TOP.constant) == ("*", None, "*")


def test_recode_at_level_0_keeps_the_values():
    assert SEX.is_original


def test_recode_of_a_rule_holds_no_value_of_the_table():
    assert not {"10115", "20095"} & {literal.this for literal in ZIP.labels.find_all(exp.Literal)}


@pytest.mark.parametrize(("temporary", "kind"), [(False, ""), (True, "TEMPORARY")])
def test_create_table_is_the_sql_beside_it(temporary, kind):
    built = recode.create_table(table("out"), classes.records(PEOPLE), temporary=temporary)
    expected = f'CREATE {kind} TABLE "out" AS SELECT CAST(COUNT(*) AS BIGINT) FROM "people"'
    assert tree(text(built)) == tree(expected)
    text(built, "spark")


def test_rename_table_is_the_sql_beside_it():
    built = recode.rename_table(table("out"), 'new "one"')
    assert tree(text(built)) == tree('ALTER TABLE "out" RENAME TO "new ""one"""')
    text(built, "spark")


def test_created_and_renamed_table_holds_the_rows(connection):
    connection.execute(text(recode.create_table(table("out"), classes.records(PEOPLE))))
    connection.execute(text(recode.rename_table(table("out"), "renamed")))
    assert connection.execute("SELECT * FROM renamed").fetchall() == [(5,)]
    connection.execute("DROP TABLE renamed")


def test_fingerprint_is_the_sql_beside_it():
    expected = """
    SELECT
        CAST(COUNT(*) AS BIGINT),
        CAST(BIT_XOR(HASH(HASH("age", "sex"))) AS TEXT),
        CAST(SUM(CAST(HASH(HASH("age", "sex")) AS HUGEINT)) AS TEXT)
    FROM "people"
    """
    assert tree(text(fingerprint(PEOPLE, ["age", "sex"]))) == tree(expected)


def fingerprint_of(connection, rows):
    """The fingerprint of a table of two columns with those rows."""
    connection.execute("CREATE OR REPLACE TEMP TABLE printed (a INTEGER, b VARCHAR)")
    connection.executemany("INSERT INTO printed VALUES (?, ?)", rows)
    return connection.execute(text(fingerprint(table("printed"), ["a", "b"]))).fetchone()


PRINTED = [(1, "x"), (2, None), (3, "y")]


def test_fingerprint_does_not_depend_on_the_order_of_records(connection):
    assert fingerprint_of(connection, PRINTED) == fingerprint_of(connection, PRINTED[::-1])


@pytest.mark.parametrize(
    "changed",
    [
        PRINTED[:2],
        [*PRINTED, PRINTED[0]],
        [(1, "x"), (1, "x"), (3, "y")],
        [(1, "x"), (2, ""), (3, "y")],
        [(1, None), (2, "x"), (3, "y")],
        [(1, "y"), (2, None), (3, "x")],
    ],
)
def test_fingerprint_changes_with_the_content(connection, changed):
    assert fingerprint_of(connection, changed) != fingerprint_of(connection, PRINTED)


def test_fingerprint_tells_two_pairs_of_doubled_records_apart(connection):
    """The exclusive or of both is 0."""
    one, other = [(1, "x"), (1, "x")], [(2, "y"), (2, "y")]
    assert fingerprint_of(connection, one) != fingerprint_of(connection, other)


@pytest.mark.parametrize(
    "name", ["class_size", "small", "record", "label", "value", "size", "listed", "plain"]
)
def test_small_classes_are_left_out_whatever_a_column_is_called(connection, name):
    """A column may bear a name that the statement uses itself; one class is a lone NULL."""
    connection.execute(
        f'CREATE OR REPLACE TEMP TABLE named AS SELECT * FROM (VALUES (1), (1), (NULL)) v("{name}")'
    )
    source = table("named")
    kept = recode.recode(source, name, Hierarchy.suppression(), 0, INTEGER)
    query = recode.published(source, {name: None}, {name: kept}, k=2)
    assert connection.execute(text(query)).fetchall() == [(1,), (1,)]


@pytest.mark.parametrize("name", ["class_size", "classes", "plain"])
def test_classes_are_counted_whatever_a_column_is_called(connection, name):
    connection.execute(
        f'CREATE OR REPLACE TEMP TABLE named AS SELECT * FROM (VALUES (1), (1), (NULL)) v("{name}")'
    )
    query = classes.size_histogram(table("named"), [name])
    assert sorted(connection.execute(text(query)).fetchall()) == [(1, 1), (2, 1)]


def test_builders_copy_the_tables_they_are_given():
    assert {node.parent for node in (PEOPLE, LEAVES, CODES, PRICES.table)} == {None}
