"""Files: types that a format lacks, what is refused for them, and that a file is compared."""

from functools import cache

import pyarrow.parquet
import pytest
from databases import empty_database, need_types_of
from pyarrow import ipc
from sqlglot import parse_one

import sqlanon
from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy
from sqlanon.engine.duckdb import export
from sqlanon.engine.endings import WRITTEN
from sqlanon.errors import HierarchyError, SourceError, VerificationError
from sqlanon.microdata.inspect import make_hierarchy

pytestmark = pytest.mark.slow

KEPT = Policy({"q": Hierarchy.suppression()}, keep=["v"], models=[KAnonymity(2)])
ZONES = ("UTC", "Asia/Tokyo", "America/St_Johns", "Europe/Berlin", "Pacific/Apia")


def table_of(*values, zone="UTC"):
    """A table of values in SQL, each twice, beside a column of one value."""
    need_types_of(" ".join(values))
    connection = empty_database()
    connection.execute(f"SET TimeZone = '{zone}'")
    rows = " UNION ALL ".join(f"SELECT {value} AS v" for value in values)
    connection.execute(f"CREATE TABLE people AS SELECT 1 AS q, v FROM ({rows}), range(2)")
    return connection


def publish(connection, path, policy=KEPT):
    return sqlanon.anonymize(connection, policy, table="people", output=path)


def values_of(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.ParquetFile(path).read().column("v").to_pylist()
    with ipc.open_file(str(path)) as file:
        return file.read_all().column("v").to_pylist()


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_sums_of_integers_stay_apart_in_a_file(tmp_path, ending):
    connection = table_of("9007199254740992::HUGEINT", "9007199254740993::HUGEINT")
    report = publish(connection, tmp_path / f"out{ending}")
    assert sorted(set(values_of(tmp_path / f"out{ending}"))) == [
        9007199254740992,
        9007199254740993,
    ]
    assert f"written as exact decimals in the {ending} file: 'v' (HUGEINT)" in report.notes


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_type_that_a_format_lacks_is_noted_as_text(tmp_path, ending):
    report = publish(table_of("'101'::BIT", "'1'::BIT"), tmp_path / f"out{ending}")
    assert sorted(values_of(tmp_path / f"out{ending}")) == ["1", "1", "101", "101"]
    assert f"written as text in the {ending} file: 'v' (BIT)" in report.notes


@pytest.mark.parametrize("ending", WRITTEN)
def test_type_that_a_format_has_is_not_noted(tmp_path, ending):
    report = publish(table_of("DATE '2020-01-31'", "NULL"), tmp_path / f"out{ending}")
    assert not [note for note in report.notes if "written" in note]


def test_infinite_date_is_text_where_others_would_read_a_day(tmp_path):
    publish(table_of("DATE 'infinity'", "DATE '2020-01-31'"), tmp_path / "out.parquet")
    assert set(values_of(tmp_path / "out.parquet")) == {"infinity", "2020-01-31"}


def test_null_among_arrays_leaves_a_parquet_file_that_others_read(tmp_path):
    publish(table_of("[1, 2, 3]::INTEGER[3]", "NULL"), tmp_path / "out.parquet")
    found = values_of(tmp_path / "out.parquet")
    assert sorted(found, key=str) == [None, None, [1, 2, 3], [1, 2, 3]] or found.count(None) == 2


NESTED = {
    "HUGEINT[]": ("[1::HUGEINT, NULL]", [1, None]),
    "HUGEINT[] too wide": (f"[{10**38}::HUGEINT]", f"[{10**38}]"),
    "VARCHAR[]": ("['NULL', NULL, 'a, b']", ["NULL", None, "a, b"]),
    "STRUCT": ("{'a': 7::UHUGEINT, 'b': [TRUE]}", {"a": 7, "b": [True]}),
    "STRUCT with BIT": ("{'a': '101'::BIT}", "{'a': 101}"),
    "MAP": ("MAP {'k': 5::HUGEINT}", [("k", 5)]),
    "DATE[] without end": ("[DATE 'infinity']", "[infinity]"),
    "TIME[] to midnight": ("['24:00:00'::TIME]", "['24:00:00']"),
    "INTERVAL[]": ("[INTERVAL '30 days']", "[30 days]"),
    "VARIANT": ("{'a': 1}::VARIANT", '{"a":1}'),
    "GEOMETRY": ("'POINT (0.1 2)'::GEOMETRY", "POINT (0.1 2)"),
    "TUPLE": ("row(1, 'a')", "(1, a)"),
    "TUPLE with ENUM": ("row('x'::ENUM ('SECRET', 'x'))", "(x,)"),
}


@cache
def planned(name):
    """A table with values of a nested type and NULL, and its plan, made once for all targets."""
    connection = table_of(NESTED[name][0], "NULL")
    return connection, sqlanon.plan(connection, KEPT, table="people")


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("name", NESTED)
def test_nested_type_is_kept_or_text(tmp_path, name, ending):
    path = tmp_path / f"out{ending}"
    sqlanon.apply(*planned(name), output=path)
    assert [each for each in values_of(path) if each is not None] == [NESTED[name][1]] * 2
    assert b"SECRET" not in path.read_bytes()


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("target", [{"into": "out"}, {"output": "out.duckdb"}])
def test_nested_type_is_kept_in_a_database(tmp_path, monkeypatch, name, target):
    monkeypatch.chdir(tmp_path)
    connection, plan = planned(name)
    sqlanon.apply(connection, plan, **target, overwrite=True)
    if "output" in target:
        connection.execute("ATTACH 'out.duckdb' AS other")
        connection.execute("CREATE OR REPLACE TABLE out AS FROM other.out; DETACH other")
    query = "SELECT v::VARCHAR, typeof(v) FROM {} WHERE v IS NOT NULL LIMIT 1"
    [(text, kind)] = connection.execute(query.format("out")).fetchall()
    [(before, kind_before)] = connection.execute(query.format("people")).fetchall()
    assert text == before
    assert kind == ("VARCHAR" if "ENUM" in kind_before else kind_before)


MERGING = {
    "UNION": ("union_value(n := 1)::UNION(n INTEGER, s VARCHAR)",
              "union_value(s := '1')::UNION(n INTEGER, s VARCHAR)"),
    "VARIANT": ("DATE '2020-01-31'::VARIANT", "'2020-01-31'::VARIANT"),
}  # fmt: skip


@pytest.mark.parametrize("name", MERGING)
def test_values_that_would_be_one_text_are_refused_before_the_search(tmp_path, monkeypatch, name):
    connection = table_of(*MERGING[name])
    monkeypatch.setattr("sqlanon.publishing.planner.make_plan", None)
    with pytest.raises(SourceError, match=rf"'v' \({name}\).* 1 text would stand for values") as e:
        publish(connection, tmp_path / "out.csv")
    assert "2020" not in str(e.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["1::VARIANT", "[1]", "row(1, 'a')", "{'a': 1}"])
@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive"])
def test_values_of_several_parts_have_no_leaf_and_no_frequency(value, role):
    roles = {"quasi_identifiers": {"v": Hierarchy.suppression()}, "drop": ["q"]}
    if role == "sensitive":
        roles = {"quasi_identifiers": {"q": Hierarchy.suppression()}, "sensitive": ["v"]}
    kind = "VARIANT" if "VARIANT" in value else "nested type"
    with pytest.raises(SourceError, match=kind):
        sqlanon.plan(table_of(value), Policy(**roles, models=[KAnonymity(2), *(
            [LDiversity(2)] if role == "sensitive" else [])]), table="people")  # fmt: skip


def test_empty_text_in_a_csv_file_is_noted(tmp_path):
    report = publish(table_of("''", "NULL"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == 'q,v\n*,""\n*,""\n*,\n*,\n'.replace("*", "1")
    assert any('"" is an empty text' in note and note.endswith("'v'") for note in report.notes)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".arrow", ".duckdb"])
def test_file_with_another_value_is_not_published(tmp_path, monkeypatch, ending):
    connection = table_of("1", "2", "3")
    written = export.selected

    def spoilt(columns, rows):
        # As many rows, of which one has another value.
        return written(columns | {"v": parse_one("CASE v WHEN 2 THEN 3 ELSE v END")}, rows)

    monkeypatch.setattr(export, "selected", spoilt)
    with pytest.raises(VerificationError, match="does not read back as the rows"):
        publish(connection, tmp_path / f"out{ending}")
    assert not list(tmp_path.iterdir())


def rows_in(zone, policy, folder):
    """What is published of instants around a midnight, in a file and in a table."""
    instants = [f"'2020-01-31 {hour:02}:30:00+00'::TIMESTAMPTZ" for hour in range(0, 24, 3)]
    connection = table_of(*instants, "NULL", zone=zone)
    path = folder / f"{zone.replace('/', '_')}.csv"
    report = sqlanon.anonymize(connection, policy, table="people", output=path)
    return path.read_text(), report.statistics.classes


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.suppression(),
        Hierarchy.expressions("strftime(value AT TIME ZONE 'Asia/Kolkata', '%Y-%m-%d')"),
        Hierarchy.expressions("left((value AT TIME ZONE 'UTC')::VARCHAR, 12)"),
    ],
    ids=["suppression", "a zone that is named", "text in a zone that is named"],
)
def test_instants_are_published_alike_in_every_time_zone(tmp_path, hierarchy):
    policy = Policy({"v": hierarchy}, drop=["q"], models=[KAnonymity(4)], suppression_limit=1)
    first, *others = [rows_in(zone, policy, tmp_path) for zone in ZONES]
    assert others == [first] * len(others)


def test_instants_that_are_kept_are_written_in_utc(tmp_path):
    texts = {rows_in(zone, KEPT, tmp_path)[0] for zone in ZONES}
    assert len(texts) == 1
    assert "2020-01-31 21:30:00+00" in texts.pop()


@pytest.mark.parametrize("method", ["set-cover", "incognito"])
def test_instants_beside_suppressed_ones_are_written_in_utc(tmp_path, method):
    policy = Policy(
        {"v": Hierarchy.suppression()},
        keep=["i"],
        models=[KAnonymity(2)],
        suppression_limit=0.9,
        suppressed="keep",
    )
    texts = set()
    for zone in ZONES:
        connection = empty_database()
        connection.execute(f"SET TimeZone = '{zone}'")
        connection.execute(
            "CREATE TABLE people AS SELECT to_timestamp(least(i, 5) * 10000) AS v, i % 2 AS i "
            "FROM range(8) AS t(i)"
        )
        path = tmp_path / f"{zone.replace('/', '_')}.csv"
        kept = policy if method == "incognito" else Policy(
            {"v": Hierarchy.suppression()}, keep=["i"], models=[KAnonymity(2)]
        )  # fmt: skip
        sqlanon.anonymize(connection, kept, table="people", method=method, output=path)
        texts.add(path.read_text())
    assert len(texts) == 1
    assert "+00" in next(iter(texts))
    assert "*" in next(iter(texts))


def test_hierarchy_made_of_instants_is_the_same_in_every_time_zone():
    made = {
        make_hierarchy(
            table_of("'2020-01-31 00:30:00+00'::TIMESTAMPTZ", zone=zone),
            "people", column="v", hierarchy=Hierarchy.suppression(),
        )[0]
        for zone in ZONES
    }  # fmt: skip
    assert made == {(("2020-01-31 00:30:00+00", "*"),)}


INSTANT = "'2020-01-31 00:30:00+00'::TIMESTAMPTZ"
ZONED = {
    "left(value::VARCHAR, 10)": INSTANT,
    "date_trunc('day', value)": INSTANT,
    "extract(hour FROM value)": INSTANT,
    "epoch(value) // 3600": INSTANT,
    "timezone('UTC', value)": INSTANT,
    "value AT TIME ZONE upper('utc')": INSTANT,
    "value AT TIME ZONE 'UTC' AT TIME ZONE 'UTC'": INSTANT,
    "value AT TIME ZONE value::VARCHAR": INSTANT,
    "to_timestamp(value)": "0",
    "to_timestamp(value)::DATE": "0",
    "to_timestamp(value) AT TIME ZONE 'UTC'": "0",
    "value::TIMESTAMPTZ": "'2020-01-31 00:30:00'",
    "value AT TIME ZONE 'UTC'": "TIMESTAMP '2020-01-31 00:30:00'",
    "strptime(value, '%Y-%m-%d %z')": "'2020-01-31 +00'",
    "strptime(value, '%Y-%m-%d' || ' %z')": "'2020-01-31 +00'",
    "try_strptime(value, ['%Y-%m-%d %z'])": "'2020-01-31 +00'",
    "from_json(value, '\"TIMESTAMPTZ\"')": "'0'",
    "value::TIMETZ": "'12:00:00'",
    "value + DATE '2020-01-31'": "'12:00:00+00'::TIMETZ",
    "make_timestamptz(value)": "0::BIGINT",
    "CAST([value] AS TIMESTAMPTZ[])": "'2020-01-31'",
}


@pytest.mark.parametrize("expression", ZONED)
def test_expression_that_depends_on_the_time_zone_is_refused(expression):
    policy = Policy({"v": Hierarchy.expressions(expression)}, drop=["q"], models=[KAnonymity(2)])
    with pytest.raises(HierarchyError, match="time zone"):
        sqlanon.plan(table_of(ZONED[expression]), policy, table="people")


@pytest.mark.parametrize(
    "rule",
    [
        Hierarchy.prefix(10, 7),
        Hierarchy.dates("day"),
        Hierarchy.from_rows([["2020-01-31 00:30:00", "*"]]),
    ],
)
def test_rule_that_depends_on_the_time_zone_is_refused(rule):
    policy = Policy({"v": rule}, drop=["q"], models=[KAnonymity(2)])
    with pytest.raises(HierarchyError, match="time zone"):
        sqlanon.plan(table_of(INSTANT), policy, table="people")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("strftime(value AT TIME ZONE 'UTC', '%Y')", INSTANT),
        ("epoch(value AT TIME ZONE 'UTC')", INSTANT),
        ("left(value::VARCHAR, 2)", "'12:00:00+00'::TIMETZ"),
        ("strptime(value, '%Y-%m-%d')::DATE", "'2020-01-31'"),
        ("try_strptime(value, '%Y-%m-%d')::DATE", "'2020-01-31'"),
        ("strftime(epoch_ms(value), '%Y')", "0::BIGINT"),
    ],
)
def test_expression_that_names_its_time_zone_or_needs_none_is_taken(expression, value):
    policy = Policy({"v": Hierarchy.expressions(expression)}, drop=["q"], models=[KAnonymity(2)])
    assert sqlanon.plan(table_of(value), policy, table="people").report.models


def test_leaves_with_an_offset_are_the_same_values_in_every_time_zone():
    rows = [["2020-01-31 00:30:00+00", "*"], ["2020-01-31 12:00:00+09:00", "*"]]
    policy = Policy({"v": Hierarchy.from_rows(rows)}, drop=["q"], models=[KAnonymity(2)])
    for zone in ZONES:
        values = [f"'{row[0]}'::TIMESTAMPTZ" for row in rows]
        plan = sqlanon.plan(table_of(*values, zone=zone), policy, table="people")
        assert plan.report.statistics.classes == 2
