"""What PostgreSQL holds comes to DuckDB and goes back as it is, or is refused by name."""

import datetime

import duckdb
import pyarrow as pa
import pytest
from conftest import REMOTE, store
from sqlglot import exp

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.engine.duckdb.catalog import qualified
from sqlanon.errors import EngineError, SourceError

pytestmark = pytest.mark.slow

TEXTS = ["", " ", "a", "A", "NULL", "\\N", "\\.", "a\n\\.\nb", "a\\nb", 'q"u\'o', "a,b;c\td",
         "\r\n", "ä🤦🏼\u200d", "{x}", "${x}", "%s", None]  # fmt: skip
# Type of PostgreSQL, that of DuckDB, values as both write them, those of DuckDB where they differ.
BC = {"0044-03-15 BC": "0044-03-15 (BC)"}
VALUES = [
    ("int2", "SMALLINT", ["-32768", "32767"], {}),
    ("int4", "INTEGER", ["-2147483648", "2147483647"], {}),
    ("int8", "BIGINT", ["-9223372036854775808", "9223372036854775807"], {}),
    ("numeric(5,2)", "DECIMAL(5,2)", ["-999.99", "0.50", "1.00"], {}),
    ("numeric(38,10)", "DECIMAL(38,10)", ["9999999999999999999999999999.0123456789"], {}),
    ("float4", "FLOAT", ["0.1", "1.17549435e-38", "inf", "-inf", "nan"], {}),
    ("float8", "DOUBLE", ["0.30000000000000004", "5e-324", "-0.0", "inf", "nan"], {}),
    ("bool", "BOOLEAN", ["true", "false"], {}),
    ("date", "DATE", ["2024-02-29", "10000-01-01", "infinity", "-infinity", *BC], BC),
    ("timestamp", "TIMESTAMP",
     ["2024-02-29 23:59:59.999999", "infinity", "-infinity", "0044-03-15 01:02:03 BC"],
     {"0044-03-15 01:02:03 BC": "0044-03-15 (BC) 01:02:03"}),
    ("timestamptz", "TIMESTAMP WITH TIME ZONE", ["2024-07-01 12:00:00+02", "infinity"], {}),
    ("time", "TIME", ["00:00:00", "23:59:59.999999", "24:00:00"], {}),
    ("uuid", "UUID", ["00112233-4455-6677-8899-aabbccddeeff"], {}),
    ("bytea", "BLOB", ["\\x00ff5c0a"], {"\\x00ff5c0a": "\\x00\\xff\\x5c\\x0a"}),
    ("jsonb", "JSON", ['{"a": [1, null]}'], {}),
    ("mood", "VARCHAR", ["glad"], {}),
    ("grade", "SMALLINT", ["3"], {}),
    ("varchar(9)", "VARCHAR", ["a", "a "], {}),
    ("char(3)", "VARCHAR", ["a"], {}),
    ("name", "VARCHAR", ["a"], {}),
    ("int4[]", "INTEGER[]", ["{1,NULL,3}", "{}"], {"{1,NULL,3}": "[1, NULL, 3]", "{}": "[]"}),
    ("float8[]", "DOUBLE[]", ["{0.1,NaN}"], {"{0.1,NaN}": "[0.1, nan]"}),
    ("bool[]", "BOOLEAN[]", ["{t,f}"], {"{t,f}": "[true, false]"}),
    ("numeric(4,1)[]", "DECIMAL(4,1)[]", ["{1.5}"], {"{1.5}": "[1.5]"}),
]  # fmt: skip


@pytest.fixture
def typed(connection):
    connection.execute("DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'glad')")
    connection.execute("CREATE DOMAIN grade AS int2 CHECK (value > 0)")
    return connection


def near(rows, text="SELECT * FROM rows"):
    """What DuckDB makes of an Arrow table."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("rows", rows)
    return connection.execute(text).fetchall()


@pytest.mark.every_row
@pytest.mark.parametrize(("kind", "wanted", "values", "written"), VALUES, ids=lambda x: str(x)[:9])
def test_values_come_and_go_as_they_are(typed, remote, kind, wanted, values, written):
    typed.execute(f"CREATE TABLE people (place int, x {kind})")
    for place, value in enumerate([*values, None]):
        typed.execute("INSERT INTO people VALUES (%s, %s::text::" + kind + ")", (place, value))
    table = remote.tables.resolve("people")
    assert remote.columns(table)["x"] == exp.DataType.build(wanted, dialect="duckdb")
    rows = remote.answer("SELECT x FROM people ORDER BY place")
    expected = [written.get(value, value) for value in values]
    made = near(rows, f"SELECT x = '{expected[0]}'::{wanted} FROM rows LIMIT 1")
    assert made == [(True,)]
    shown = f"SELECT coalesce(list(x::VARCHAR) = list(s::{wanted}::VARCHAR), false) FROM "
    ordered = ", ".join("(" + repr(each).replace("\\\\", "\\") + ")" for each in expected)
    (same,) = near(
        rows.slice(0, len(values)), f"{shown} rows POSITIONAL JOIN (VALUES {ordered}) v(s)"
    )
    assert same == (True,)
    assert rows.column("x").null_count == 1
    # There and back again.
    assert store(remote, "kept", "SELECT * FROM people") == len(values) + 1
    brought = remote.brought("kept").read_all()
    assert brought.schema.field("x").type == rows.schema.field("x").type
    remote.ship("sent", brought)
    unequal = "sent.x IS DISTINCT FROM kept.x"
    if wanted == "JSON":  # a text for Arrow
        unequal = "sent.x IS DISTINCT FROM kept.x::text"
    assert remote.rows(f"SELECT count(*) FROM kept JOIN sent USING (place) WHERE {unequal}") == [
        ("0",)
    ]
    assert remote.rows("SELECT count(*), count(x) FROM sent") == [
        (str(len(values) + 1), str(len(values)))
    ]


def test_texts_come_and_go_as_they_are(connection, remote):
    remote.ship("sent", pa.table({"place": range(len(TEXTS)), "x": TEXTS}))
    found = connection.execute("SELECT x FROM sent ORDER BY place").fetchall()
    assert [text for (text,) in found] == TEXTS
    query = "SELECT x FROM sent ORDER BY place"
    assert remote.answer(query).column("x").to_pylist() == TEXTS
    assert store(remote, "kept", query) == len(TEXTS)
    assert remote.brought("kept").read_all().column("x").to_pylist() == TEXTS


def test_lists_of_texts_come_and_go_as_they_are(connection, remote):
    lists = [TEXTS, [], None, [None], ["{}", '"', "\\\\"]]
    rows = pa.table({"place": range(5), "x": pa.array(lists, pa.list_(pa.string()))})
    remote.ship("sent", rows)
    found = connection.execute("SELECT x FROM sent ORDER BY place").fetchall()
    assert [each for (each,) in found] == lists
    assert remote.answer("SELECT x FROM sent ORDER BY place").column("x").to_pylist() == lists


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns"])
def test_instants_are_the_same_in_every_zone(connection, remote, zone):
    connection.execute(f"SET TimeZone = '{zone}'")
    assert remote.zone == zone
    rows = remote.answer("SELECT timestamptz '2024-07-01 12:00:00+02' AS x")
    assert near(rows, "SELECT x = '2024-07-01 10:00:00+00' FROM rows") == [(True,)]
    remote.ship("sent", rows)
    same = "SELECT count(*) FROM sent WHERE x = '2024-07-01 10:00:00+00'"
    assert remote.rows(same) == [("1",)]


def test_values_do_not_depend_on_the_session(connect):
    connection = connect(autocommit=True)
    before = {"DateStyle": "SQL, DMY", "extra_float_digits": "-15", "bytea_output": "escape"}
    before["enable_nestloop"] = "on"
    for name, value in before.items():
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    remote = REMOTE(connection)
    query = """
        SELECT date '2024-02-01' AS day, date '2024-02-01'::text AS written,
            '\\x00'::bytea::text AS raw,
            '01/02/2024'::date AS read, 0.1::float8 + 0.2 AS sum
    """
    (row,) = remote.answer(query).to_pylist()
    day = datetime.date(2024, 2, 1)
    assert [*row.values()] == [day, "2024-02-01", "\\x00", day, 0.1 + 0.2]
    remote.close()
    for name, value in before.items():
        assert connection.execute(f"SHOW {name}").fetchone() == (value,)


def test_a_number_without_width_has_the_one_that_its_values_need(connection, remote):
    connection.execute("""
        CREATE TABLE people (a numeric, b numeric, c numeric, d numeric, e numeric);
        INSERT INTO people
        VALUES (1.500, 1e37, 'NaN', 'infinity', 1e-39), (20, 1, 1, 1, 1)
    """)
    kinds = remote.columns(remote.tables.resolve("people"))
    assert [kind.sql("duckdb") for kind in kinds.values()] == [
        "DECIMAL(38, 1)", "DECIMAL(38, 0)", "NUMERIC", "NUMERIC", "NUMERIC",
    ]  # fmt: skip
    assert remote.answer("SELECT a FROM people").schema.field("a").type == pa.decimal128(38, 1)
    store(remote, "kept", "SELECT * FROM people")
    for name in "cde":
        store(remote, f"kept_{name}", f"SELECT {name} FROM people")
        for ask in (
            lambda name=name: remote.answer(f"SELECT {name} FROM people"),
            lambda name=name: remote.brought(f"kept_{name}"),
        ):
            with pytest.raises(SourceError, match=f"column '{name}' is numeric without a width"):
                ask()


def test_sums_beyond_the_widest_whole_number_come_exactly(remote):
    query = "SELECT sum(x) AS total FROM (VALUES (9223372036854775807), (9223372036854775807)) v(x)"
    assert remote.answer(query).to_pylist() == [{"total": 18446744073709551614}]
    wide = remote.answer("SELECT 5::numeric(39, 0) AS x")
    assert wide.schema.field("x").type == pa.decimal128(38, 0)


def test_a_declared_number_that_is_not_finite_is_refused_without_its_row(remote):
    with pytest.raises(EngineError, match="not finite") as caught:
        remote.answer("SELECT x::numeric(5, 2) FROM (VALUES ('NaN'), ('12.34')) v(x)")
    assert "12.34" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("kind", "value"),
    [("inet", "10.0.0.1"), ("int4range", "[1,2)"), ("interval", "1 day"), ("date[]", "{}"),
     ("timetz", "01:02+00"), ("pair", "(1,2)"), ("int4", None)],
)  # fmt: skip
def test_a_type_that_is_not_read_is_refused_when_it_is_used(connection, remote, kind, value):
    connection.execute("DROP TYPE IF EXISTS pair; CREATE TYPE pair AS (a int, b int)")
    connection.execute(f"CREATE TABLE people (age int, odd {kind})")
    connection.execute("INSERT INTO people VALUES (30, %s::text::" + kind + ")", (value,))
    assert list(remote.columns(remote.tables.resolve("people"))) == ["age", "odd"]
    assert remote.answer("SELECT age FROM people").to_pylist() == [{"age": 30}]
    if value is None:
        assert remote.answer("SELECT odd FROM people").num_rows == 1
        return
    with pytest.raises(SourceError, match=r"column 'odd' .* leave it out"):
        remote.answer("SELECT odd FROM people")
    store(remote, "stored", "SELECT odd FROM people")
    with pytest.raises(SourceError, match=r"column 'odd' .* leave it out"):
        remote.brought("stored")


def test_a_uuid_is_generalized(connection):
    connection.execute("""
        CREATE TABLE people AS SELECT id::uuid FROM (
            VALUES ('00112233-4455-6677-8899-aabbccddeeff'), (NULL), (NULL)) AS v(id)
    """)
    policy = Policy(
        quasi_identifiers={"id": Hierarchy.suppression()},
        models=[KAnonymity(2)],
        suppression_limit=0.5,
    )
    report = sqlanon.anonymize(connection, policy, table="people", into="public_people")
    assert (report.holds, report.suppressed_records) == (True, 1)


def test_arrays_of_several_dimensions_are_refused(remote):
    with pytest.raises(SourceError, match=r"column 'x' holds arrays of several dimensions"):
        remote.answer("SELECT '{{1,2},{3,4}}'::int[] AS x")


def test_types_of_duckdb_are_shipped(remote):
    rows = duckdb.sql("""
        SELECT 1::UTINYINT AS a, 65535::USMALLINT AS b, 4294967295::UINTEGER AS c,
            18446744073709551615::UBIGINT AS d, 7::HUGEINT AS e, 'x'::ENUM('x') AS f, NULL AS g,
            TIMESTAMP_NS '2001-01-01 00:00:00.000001' AS h, TIMESTAMP_S '2001-01-01' AS i,
            0.000000000000000001::DECIMAL(38, 18) AS j, 1::TINYINT AS k
    """).to_arrow_table()
    remote.ship("sent", rows)
    (row,) = remote.rows("SELECT * FROM sent")
    assert row == (
        "1", "65535", "4294967295", "18446744073709551615", "7", "x", None,
        "2001-01-01 00:00:00.000001", "2001-01-01 00:00:00", "0.000000000000000001", "1",
    )  # fmt: skip
    kinds = remote.columns(exp.Table(this=exp.to_identifier("sent")))
    assert kinds["c"].sql("duckdb") == "BIGINT"
    assert kinds["d"].sql("duckdb") == "DECIMAL(20, 0)"


@pytest.mark.every_row
@pytest.mark.parametrize(
    "value", ["TIMESTAMP_NS '2001-01-01 00:00:00.000000001'", "{'a': 77}", "'a' || chr(0) || '77'"]
)
def test_what_postgres_does_not_hold_is_refused(remote, value):
    rows = duckdb.sql(f"SELECT {value} AS x").to_arrow_table()
    with pytest.raises(EngineError) as caught:
        remote.ship("sent", rows)
    assert "77" not in str(caught.value)
    assert "001" not in str(caught.value)
    assert caught.value.__context__ is None
    assert remote.rows("SELECT 1") == [("1",)]


def test_no_row_and_no_value_come_with_their_types(remote):
    rows = remote.answer("SELECT 1 AS a, 'x'::text AS b, sum(1.5) AS c WHERE false GROUP BY 1")
    assert (rows.num_rows, rows.column_names) == (0, ["a", "b", "c"])
    store(remote, "empty", "SELECT 1 AS a, ''::text AS b WHERE false")
    assert remote.brought("empty").read_all().num_rows == 0
    remote.ship("sent", rows)
    assert remote.rows("SELECT * FROM sent") == []
    one = remote.answer("SELECT x FROM (VALUES (NULL::int), (1), (NULL)) v(x)")
    assert one.column("x").to_pylist() == [None, 1, None]


def test_hostile_and_equal_names_come_as_they_are(remote):
    rows = remote.answer('SELECT 1 AS "a""b", 2 AS "a\\b", 3 AS same, 4 AS same, 5 AS "r"')
    assert rows.column_names == ['a"b', "a\\b", "same", "same", "r"]
    assert [column[0].as_py() for column in rows.columns] == [1, 2, 3, 4, 5]
    sent = pa.table({'a"b %s': ["x"], "${x}": [1], "E": [True]})
    remote.ship('_sqlanon_"x', sent)
    assert remote.brought('_sqlanon_"x').read_all() == sent


def test_the_order_of_a_query_is_kept(remote):
    query = "SELECT x FROM generate_series(1, 100000) AS v(x) ORDER BY md5(x::text)"
    asked = remote.answer(query).column("x").to_pylist()
    assert [int(x) for (x,) in remote.rows(query)] == asked


def test_rows_come_in_batches(remote, monkeypatch):
    monkeypatch.setattr("sqlanon.engine.postgres.connection.BYTES_AT_ONCE", 1000)
    store(remote, "kept", "SELECT x, 'line\n' || x AS y FROM generate_series(1, 5000) AS v(x)")
    batches = list(remote.brought("kept"))
    assert len(batches) > 10
    assert [x for batch in batches for x in batch.column("x").to_pylist()] == [*range(1, 5001)]
    assert remote.answer("SELECT sum(x) AS x FROM kept").to_pylist() == [{"x": 12502500}]


def test_texts_of_temporaries_are_compared_byte_by_byte(connection, remote):
    connection.execute("CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', "
                       "deterministic = false)")  # fmt: skip
    connection.execute("CREATE TABLE people (x text COLLATE nocase)")
    connection.execute("INSERT INTO people VALUES ('a'), ('A'), ('B'), ('b')")
    store(remote, "kept", "SELECT x FROM people")
    remote.ship("sent", pa.table({"x": ["a", "A", "B", "b"]}))
    for name in ("kept", "sent"):
        assert remote.rows(f"SELECT x FROM {name} GROUP BY x ORDER BY x") == [
            ("A",), ("B",), ("a",), ("b",)
        ]  # fmt: skip
    plain = qualified("", "", "kept")
    assert remote.columns(plain)["x"].is_type("text")


@pytest.mark.parametrize("kind", ["inet", "money", "bit(3)", "xml", "numeric"])
@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "entity"])
def test_a_column_whose_values_are_not_read_is_named(connection, kind, role):
    values = {"inet": "10.0.0.1", "money": "3", "bit(3)": "101", "xml": "<a/>", "numeric": "NaN"}
    connection.execute(f"CREATE TABLE people (age int, hidden {kind})")
    connection.execute(f"INSERT INTO people SELECT 1, '{values[kind]}' FROM generate_series(1, 9)")
    policy = {"k": 3, "others": "drop", "quasi_identifiers": ["age"]}
    policy |= {"sensitive": {"hidden": {}}, "l": 1} if role == "sensitive" else {}
    policy |= {"entity": "hidden"} if role == "entity" else {}
    policy |= {role: ["age", "hidden"]} if role == "quasi_identifiers" else {}
    for asked in (sqlanon.plan, sqlanon.check, sqlanon.risk):
        with pytest.raises(SourceError, match=r"column 'hidden' is of type .* cast it in a view"):
            asked(connection, policy, table="people")
