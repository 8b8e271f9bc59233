"""Hostile names and values: whatever a column is called or holds, the same rows come out."""

import math
from collections import Counter
from functools import cache

import pytest
from databases import empty_database, quoted, rows

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier
from sqlanon.errors import SourceError

pytestmark = pytest.mark.slow

NAMES = [
    "select", 'a"b', "x; DROP TABLE t", "n", "count", "size", "value", "leaf", "word_0",
    "class_size", "label", "record", "small", "source", "map_0", "rowid", "*", "Ünï çode",
    "a b", " a ", "line\nbreak", "a.b", "it's", "other labels",
]  # fmt: skip
GROUPS = Hierarchy.from_rows([("a", "low", "*"), ("b", "low", "*"), ("c", "high", "*")])


def make(connection, table, columns):
    """A table of columns given as lists of SQL literals."""
    listed = ", ".join(f"({', '.join(row)})" for row in zip(*columns.values(), strict=True))
    connection.execute(
        f"CREATE TABLE {table} AS SELECT * FROM (VALUES {listed}) v"
        f"({', '.join(map(quoted, columns))})"
    )


def column_type(connection, table, column="x"):
    described = connection.execute(f"DESCRIBE {table}").fetchall()
    return next(kind for name, kind, *_ in described if name == column)


def literals(*values):
    return [f"'{value}'" for value in values]


# 'c' stands alone, so that a class is suppressed and every part of the statement is at work.
LETTERS = literals(*"aaaaabbbbbbc")
OTHERS = literals(*"xyxyxyxyxyxy")


def published(connection, table, column, hierarchy, other="other"):
    """Rows, suppressed records and check of a table of that column and another one."""
    make(connection, table, {column: LETTERS, other: OTHERS})
    policy = Policy(
        {
            column: QuasiIdentifier(hierarchy, min_level=1),
            other: QuasiIdentifier(Hierarchy.suppression(), min_level=1),
        },
        models=[KAnonymity(3)],
        suppression_limit=0.1,
    )
    report = sqlanon.anonymize(connection, policy, table=table, into=f"{table}_out")
    checked = sqlanon.check(connection, policy, table=f"{table}_out")
    return rows(connection, f"{table}_out"), report.suppressed_records, checked.statistics


RULES = (Hierarchy.prefix(1), Hierarchy.expressions("upper(value)"))


@cache
def harmless(hierarchy):
    """What a column of a name that means nothing gives."""
    with empty_database() as opened:
        return published(opened, "u", "harmless", hierarchy)


@pytest.mark.parametrize(("name", "other"), [*zip(NAMES[::2], NAMES[1::2], strict=True)])
def test_quasi_identifiers_of_any_names_give_the_rows_of_harmless_ones(connection, name, other):
    found = published(connection, "t", name, GROUPS, other)
    assert found == harmless(GROUPS)
    assert found[0] == [("low", "*")] * 11


@pytest.mark.parametrize("name", ["value", "select", 'a"b', "x; DROP TABLE t", "line\nbreak"])
def test_rule_over_a_column_of_any_name_gives_the_rows_of_a_harmless_one(connection, name):
    for number, hierarchy in enumerate(RULES):
        assert published(connection, f"t{number}", name, hierarchy) == harmless(hierarchy)


@pytest.mark.parametrize("role", ["sensitive", "keep", "drop", "identifiers"])
def test_columns_of_any_name_in_any_other_role(connection, role):
    make(connection, "t", {"letter": LETTERS, **dict.fromkeys(NAMES, OTHERS)})
    policy = Policy(
        {"letter": QuasiIdentifier(GROUPS, min_level=1)},
        models=[KAnonymity(3)],
        suppression_limit=0.1,
        **{role: NAMES},
    )
    sqlanon.apply(connection, sqlanon.plan(connection, policy, table="t"), into="out")
    shown = NAMES if role in ("sensitive", "keep") else []
    found = connection.execute("SELECT * FROM out")
    assert [column for column, *_ in found.description] == ["letter", *shown]
    assert len(found.fetchall()) == 11


def test_forty_quasi_identifiers_are_not_too_many(connection):
    names = [f"x{number}" for number in range(40)]
    make(connection, "t", dict.fromkeys(names, LETTERS))
    policy = Policy(
        {name: QuasiIdentifier(GROUPS, min_level=1, max_level=1) for name in names},
        models=[KAnonymity(3)],
        suppression_limit=0.1,
    )
    sqlanon.anonymize(connection, policy, table="t", into="out")
    assert rows(connection, "out") == [("low",) * 40] * 11


LETTER_POLICY = Policy(
    {"letter": QuasiIdentifier(GROUPS, min_level=1)}, models=[KAnonymity(3)], suppression_limit=0.1
)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "rowid"])
def test_table_of_any_name_is_read_and_written(connection, name):
    make(connection, quoted(name), {"letter": LETTERS})
    sqlanon.anonymize(connection, LETTER_POLICY, table=name, into=quoted(f"{name} anon"))
    assert rows(connection, quoted(f"{name} anon")) == [("low",)] * 11


@pytest.mark.parametrize("name", ["select", 'a"b', "x; DROP TABLE t", "a.b", "a\nb"])
def test_table_of_any_name_is_replaced_in_place(connection, name):
    make(connection, quoted(name), {"letter": LETTERS})
    sqlanon.anonymize(connection, LETTER_POLICY, table=name, in_place=True)
    assert connection.execute("SHOW TABLES").fetchall() == [(name,)]
    assert len(rows(connection, quoted(name))) == 11


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow", ".duckdb"])
def test_output_file_keeps_hostile_column_names(connection, tmp_path, ending):
    make(connection, "t", {"letter": LETTERS, **dict.fromkeys(NAMES, OTHERS)})
    policy = Policy({"letter": GROUPS}, keep=NAMES, models=[KAnonymity(1)])
    file = tmp_path / f"it's a \"hostile; name{ending}"
    sqlanon.anonymize(connection, policy, table="t", output=file)
    assert sqlanon.check(file, policy).statistics.records == 12


@pytest.mark.parametrize("name", ["other.people", '"other"."people"', "{}.other.people"])
def test_table_of_another_schema_is_published_beside_it(connection, name):
    connection.execute("CREATE SCHEMA other")
    make(connection, "other.people", {"letter": LETTERS})
    [(database,)] = connection.execute("SELECT current_database()").fetchall()
    sqlanon.anonymize(connection, LETTER_POLICY, table=name.format(database), into="anon")
    assert len(rows(connection, "other.anon")) == 11


def test_table_of_an_attached_database_is_published_beside_it(connection, tmp_path):
    connection.execute(f"ATTACH '{tmp_path / 'x.duckdb'}' AS \"far away\"")
    make(connection, '"far away".people', {"letter": LETTERS})
    sqlanon.anonymize(connection, LETTER_POLICY, table='"far away".main.people', into="anon")
    assert len(rows(connection, '"far away".anon')) == 11


def test_table_of_an_attached_database_is_replaced_in_place(connection, tmp_path):
    connection.execute(f"ATTACH '{tmp_path / 'x.duckdb'}' AS far")
    make(connection, "far.people", {"letter": LETTERS})
    report = sqlanon.anonymize(connection, LETTER_POLICY, table="far.people", in_place=True)
    assert len(rows(connection, "far.people")) == 11
    assert any("sqlanon.rewrite" in note for note in report.notes)


def test_view_and_temporary_table_are_published(connection):
    make(connection, "people", {"letter": LETTERS})
    connection.execute("CREATE VIEW shown AS SELECT * FROM people")
    connection.execute("CREATE TEMP TABLE passing AS SELECT * FROM people")
    [(database,)] = connection.execute("SELECT current_database()").fetchall()
    for name in ("shown", "passing"):
        sqlanon.anonymize(connection, LETTER_POLICY, table=name, into=f"{name}_anon")
        assert len(rows(connection, f"{database}.main.{name}_anon")) == 11


def test_double_holds_nan_infinity_and_negative_zero_without_losing_a_record(connection):
    values = ["'nan'", "'-nan'", "'inf'", "'-inf'", "'-0.0'", "'0.0'", "NULL", "1"]
    make(connection, "t", {"x": [f"CAST({value} AS DOUBLE)" for value in values * 3]})
    policy = Policy(["x"], models=[KAnonymity(3)], suppression_limit=0.5)
    sqlanon.anonymize(connection, policy, table="t", into="out")
    found = [value for (value,) in rows(connection, "out")]
    assert len(found) == 24
    assert sum(value is not None and math.isnan(value) for value in found) == 6
    assert sum(value == 0 for value in found) == 6


@pytest.mark.parametrize("kind", ["DOUBLE", "REAL"])
def test_spellings_that_the_database_takes_for_one_value_are_published_as_one(connection, kind):
    """Else the published table tells apart what the class was counted as."""
    connection.execute(f"CREATE TABLE t (x {kind})")
    connection.execute("INSERT INTO t VALUES ('-0.0'), ('0.0'), ('0.0'), ('0.0'), ('0.0')")
    policy = Policy(["x"], models=[KAnonymity(3)], suppression_limit=0.2)
    sqlanon.anonymize(connection, policy, table="t", into="out")
    shown = Counter(rows(connection, "(SELECT x::VARCHAR FROM out)"))
    assert min(shown.values()) >= 3


@pytest.mark.parametrize("kind", ["INTERVAL", "VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT"])
def test_types_that_take_different_spellings_for_one_value_are_refused(connection, kind):
    connection.execute(f"CREATE TABLE t (x {kind})")
    connection.execute("INSERT INTO t VALUES (NULL)")
    with pytest.raises(SourceError, match="'x'"):
        sqlanon.anonymize(connection, Policy(["x"], models=[KAnonymity(1)]), table="t", into="out")


@pytest.mark.parametrize("hierarchy", [Hierarchy.suppression(), GROUPS])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_null_is_a_value_of_its_own(connection, hierarchy, columns):
    letters = ["'a'"] * 4 + ["NULL"] * 3 + ["'b'"] * 4
    names = [f"x{number}" for number in range(3)]
    make(connection, "t", {
        name: letters if number < columns else ["'a'"] * 11 for number, name in enumerate(names)
    })  # fmt: skip
    policy = Policy({name: QuasiIdentifier(hierarchy, max_level=0) for name in names},
                    models=[KAnonymity(3)])  # fmt: skip
    report = sqlanon.anonymize(connection, policy, table="t", into="out")
    assert report.statistics.classes == 3
    assert Counter(rows(connection, "out")) == Counter(rows(connection, "t"))


@pytest.mark.parametrize("hierarchy", [Hierarchy.suppression(), GROUPS, Hierarchy.prefix(1)])
def test_null_that_stands_alone_is_suppressed_or_generalized(connection, hierarchy):
    make(connection, "t", {"x": ["'a'"] * 4 + ["NULL"], "y": ["NULL"] * 5})
    for limit, expected in ((0.2, [("a", None)] * 4), (0, [("*", None)] * 5)):
        policy = Policy({"x": hierarchy, "y": QuasiIdentifier(hierarchy, max_level=0)},
                        models=[KAnonymity(3)], suppression_limit=limit)  # fmt: skip
        sqlanon.anonymize(connection, policy, table="t", into="out", overwrite=True)
        assert rows(connection, "out") == expected


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".duckdb"])
def test_enum_label_of_a_suppressed_record_is_in_no_byte_of_the_output(
    connection, tmp_path, ending
):
    connection.execute("CREATE TYPE kind AS ENUM ('common', 'RAREMARKER')")
    connection.execute(
        "CREATE TABLE t AS SELECT (CASE WHEN i = 3 THEN 'RAREMARKER' ELSE 'common' END)::kind AS x,"
        " {'inner': [x]} AS nested FROM range(10) r(i)"
    )
    policy = Policy(["x"], keep=["nested"], models=[KAnonymity(3)], suppression_limit=0.1)
    sqlanon.anonymize(connection, policy, table="t", output=tmp_path / f"out{ending}")
    assert b"RAREMARKER" not in (tmp_path / f"out{ending}").read_bytes()
    sqlanon.anonymize(connection, policy, table="t", into="out")
    assert column_type(connection, "out") == "VARCHAR"
    assert column_type(connection, "out", "nested") == 'STRUCT("inner" VARCHAR[])'


def test_values_that_look_like_sql_come_through(connection):
    values = ["'; DROP TABLE t; --", '"', "$1", "?", "%s", "NULL", "*", "\\", "a\nb", "é́"]
    make(connection, "t", {"x": [f"'{v.replace(chr(39), chr(39) * 2)}'" for v in values * 3]})
    hierarchy = Hierarchy.from_rows([(value, value, "all") for value in values])
    policy = Policy({"x": QuasiIdentifier(hierarchy, 1, 1, 1)}, models=[KAnonymity(3)])
    sqlanon.anonymize(connection, policy, table="t", into="out")
    assert Counter(rows(connection, "out")) == Counter(rows(connection, "t"))
