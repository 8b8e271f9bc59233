"""That columns have DuckDB's types, and that values arrive as they were, both ways."""

import datetime as dt
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from spark_kind import IS_SAIL
from sqlglot import exp, parse_one

from sqlanon.dialects import translated
from sqlanon.engine.spark.remote import SparkRemote
from sqlanon.errors import SourceError

pytestmark = pytest.mark.slow
UTC = dt.UTC
OLD = dt.datetime(1500, 1, 1, 10, 0, 0, 1)
TYPES = {
    "CAST(1 AS TINYINT)": "TINYINT",
    "CAST(1 AS SMALLINT)": "SMALLINT",
    "1": "INT",
    "CAST(1 AS BIGINT)": "BIGINT",
    "CAST(1 AS FLOAT)": "REAL",
    "CAST(1 AS DOUBLE)": "DOUBLE",
    "CAST(1 AS DECIMAL(38, 10))": "DECIMAL(38, 10)",
    "'a'": "TEXT",
    "true": "BOOLEAN",
    "DATE'2020-01-01'": "DATE",
    "TIMESTAMP'2020-01-01 10:00:00'": "TIMESTAMPTZ",
    "TIMESTAMP_NTZ'2020-01-01 10:00:00'": "TIMESTAMP",
    "X'00FF'": "BLOB",
    "array(1)": "INT[]",
    "map('a', 1)": "MAP(TEXT, INT)",
    """named_struct('a "b', array(1))""": 'STRUCT("a ""b" INT[])',
    "INTERVAL '1 2:03:04' DAY TO SECOND": "INTERVAL",
}
VALUES = {
    "n": (pa.int64(), 2**63 - 1),
    "wide": (pa.decimal128(38, 0), Decimal(10**38 - 1)),
    "scaled": (pa.decimal128(38, 10), Decimal("1.0000000001")),
    "instant": (pa.timestamp("us", "UTC"), OLD.replace(tzinfo=UTC)),
    "local": (pa.timestamp("us"), OLD),
    "day": (pa.date32(), dt.date(1, 1, 1)),
    "words": (pa.string(), "${x} ' \\ \n\" ä"),
    "bytes": (pa.binary(), b"\x00\xff"),
    "long": (pa.duration("us"), dt.timedelta(days=1, microseconds=1)),
    "nested": (pa.list_(pa.struct([("at", pa.timestamp("us"))])), [{"at": OLD}]),
}


def viewed(session, text):
    session.sql(text).createOrReplaceTempView("given")
    return exp.table_("given")


def shipped(remote):
    """A view of all values, and what it holds."""
    schema = pa.schema([(name, kind) for name, (kind, _) in VALUES.items()])
    rows = pa.Table.from_pylist(
        [{name: value for name, (_, value) in VALUES.items()}, dict.fromkeys(VALUES)], schema
    )
    remote.ship("shipped", rows)
    return rows


@pytest.mark.parametrize("text", TYPES)
def test_columns_have_the_types_of_duckdb(session, remote, text):
    columns = remote.columns(viewed(session, f"SELECT {text} AS `x`"))
    assert {name: kind.sql("duckdb") for name, kind in columns.items()} == {"x": TYPES[text]}


def test_columns_types_are_those_that_duckdb_reads_from_answers(session, remote):
    query = f"SELECT {', '.join(f'{text} AS c{n}' for n, text in enumerate(TYPES))}"
    columns = remote.columns(viewed(session, query))
    rows = remote.answer(query)
    read = duckdb.from_arrow(rows).types
    asked = [
        duckdb.sql(f"SELECT NULL::{kind.sql('duckdb')} AS x").types[0] for kind in columns.values()
    ]
    assert list(map(str, read)) == list(map(str, asked))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("parse_json('1')", "variant"),
        ("array(INTERVAL '1' YEAR)", "interval year"),
        ("NULL", "void"),
    ],
)
def test_columns_of_a_type_that_duckdb_lacks_are_refused_by_name(session, remote, text, written):
    with pytest.raises(SourceError, match=f"'x y' has the type .*{written}"):
        remote.columns(viewed(session, f"SELECT {text} AS `x y`"))


@pytest.mark.skipif(IS_SAIL, reason="Sail does not pad, nor read collations")
def test_columns_of_a_fixed_width_are_noted_and_collations_refused(session, remote):
    remote.run("CREATE TABLE padded (a CHAR(5), b VARCHAR(5)) USING parquet")
    try:
        remote.columns(exp.table_("padded"))
    finally:
        remote.run("DROP TABLE padded")
    assert [note for note in remote.notes if "CHAR" in note and "of a have" in note]
    with pytest.raises(SourceError, match="collate"):
        remote.columns(viewed(session, "SELECT 'a' COLLATE UTF8_LCASE AS x"))


def test_shipped_values_arrive_unchanged(remote):
    given = shipped(remote)
    assert remote.answer("SELECT * FROM shipped").to_pylist() == given.to_pylist()


def test_shipped_types_are_kept_without_rows_too(remote):
    remote.ship("shipped", shipped(remote).slice(0, 0))
    kinds = [kind.sql("duckdb") for kind in remote.columns(exp.table_("shipped")).values()]
    assert kinds[3:5] == ["TIMESTAMPTZ", "TIMESTAMP"]
    assert kinds[1] == "DECIMAL(38, 0)"


def test_shipped_unsigned_numbers_are_widened(remote):
    kinds = {"a": pa.uint8(), "b": pa.uint16(), "c": pa.uint32(), "d": pa.uint64()}
    row = {"a": 2**8 - 1, "b": 2**16 - 1, "c": 2**32 - 1, "d": 2**64 - 1}
    remote.ship("shipped", pa.Table.from_pylist([row], pa.schema(list(kinds.items()))))
    assert remote.answer("SELECT * FROM shipped").to_pylist() == [row]


@pytest.mark.parametrize("most", [0, 10])
def test_brought_values_are_those_that_were_stored(remote, most):
    given = shipped(remote)
    assert remote.store("stored", "SELECT * FROM shipped", most=most) == 2
    brought = remote.brought("stored").read_all()
    assert sorted(map(str, brought.to_pylist())) == sorted(map(str, given.to_pylist()))
    assert brought.schema.types == remote.answer("SELECT * FROM shipped").schema.types


def test_brought_values_of_old_days_are_read_by_spark(session):
    name = "spark.sql.parquet.datetimeRebaseModeInWrite"
    try:
        session.conf.set(name, "LEGACY")
        with_old = SparkRemote(session)
        assert with_old.store("stored", "SELECT DATE'0001-01-01' AS x", most=1) == 1
        assert with_old.brought("stored").read_all().to_pylist() == [{"x": dt.date(1, 1, 1)}]
        with_old.close()
    finally:
        session.conf.unset(name)


def test_brought_columns_are_there_without_rows(remote):
    assert remote.store("stored", "SELECT id FROM range(3) WHERE id > 5", most=1) == 0
    rows = remote.brought("stored").read_all()
    assert (rows.column_names, rows.num_rows) == (["id"], 0)


def test_zone_is_the_sessions(remote):
    assert remote.zone == "Europe/Berlin"


@pytest.mark.parametrize("held", ["'a'", "CAST(NULL AS STRING)", "IF(id % 2 = 0, 'a', NULL)"])
def test_values_and_null_of_files_are_joined(remote, held):
    """Statistics of a file tell where it has one value alone."""
    remote.store("held", f"SELECT {held} AS x FROM range(4)", most=0)
    remote.ship("labels", pa.table({"x": ["a", None]}))
    joined = "SELECT count(*) FROM held JOIN labels ON held.x IS NOT DISTINCT FROM labels.x"
    answer = remote.answer(translated(parse_one(joined, read="duckdb"), remote.phrasing))
    remote.drop("labels")
    assert answer.to_pydict().popitem()[1] == [4]
