"""Lint: each planted fault is found by its rule, and a release without it has no finding."""

import json

import duckdb
import pyarrow
import pytest
from databases import empty_database
from pyarrow import ipc, parquet

import sqlanon
from sqlanon import KAnonymity, Policy
from sqlanon.reports.findings import RULES

pytestmark = pytest.mark.slow

POLICY = Policy(
    ["age", "sex"],
    sensitive=["ill"],
    identifiers=["name"],
    keep=["note"],
    models=[KAnonymity(2)],
)
CLEAN = {
    "age": "'20-39'",
    "sex": "CASE WHEN range % 2 = 0 THEN 'f' ELSE 'm' END",
    "ill": "'ill ' || range % 4",
    "note": "'note ' || range % 2",
}
PLANTED = [
    ("extra-columns", {"name": "'secret ' || range % 2"}),
    ("unassigned-columns", {"other": "'secret'"}),
    ("index-column", {"__index_level_0__": "1"}),
    ("index-column", {"note": "1000 - range"}),
    ("kept-identifies", {"note": "'secret ' || range * 7"}),
    ("kept-identifies", {"note": "CAST(range AS BIT)"}),
    ("kept-beside", {"note": "'secret ' || range // 2"}),
    ("sensitive-identifies", {"ill": "'secret ' || range"}),
    ("null-pattern", {"age": "IF(range < 4, NULL, '20-39')", "sex": "IF(range < 4, NULL, 'f')"}),
    ("spellings", {"ill": "IF(range < 8, 'Secret', 'secret')"}),
    ("spellings", {"sex": "IF(range < 8, 'secret', 'secret ')"}),
    ("spellings", {"note": "IF(range < 8, 'secr\u00e9t', 'secre\u0301t')"}),
    ("unused-labels", {"ill": "CAST('ill' AS ENUM('ill', 'secret'))"}),
]
# What comes with a fault: an index is no role, and a key identifies.
ALSO = {"index-column": {"unassigned-columns", "kept-identifies"}}


def selected(columns, rows="range(40)", order="ORDER BY ALL"):
    cells = ", ".join(f'{value} AS "{name}"' for name, value in columns.items())
    return f"SELECT {cells} FROM {rows} {order}"


def found(source, policy=POLICY, **how):
    return [each.id for each in sqlanon.lint(source, policy, **how).findings]


@pytest.mark.parametrize(("rule", "fault"), PLANTED)
def test_a_planted_fault_is_found_by_its_rule_and_no_value_is_told(rule, fault):
    connection = empty_database()
    connection.execute(f"CREATE TABLE planted AS {selected(CLEAN | fault)}")
    report = sqlanon.lint(connection, POLICY, table="planted")
    told = {each.id for each in report.findings}
    assert rule in told
    assert told <= {rule} | ALSO.get(rule, set())
    assert "secret" not in json.dumps(report.to_dict()).lower()
    assert all(each.severity == RULES[each.id].severity for each in report.findings)


def test_a_release_without_a_fault_has_no_finding_with_or_without_its_original():
    connection = empty_database()
    connection.execute(f"CREATE TABLE clean AS {selected(CLEAN)}")
    connection.execute(f"CREATE TABLE people AS {selected(CLEAN | {'age': '20 + range % 9'})}")
    assert found(connection, table="clean") == []
    assert found(connection, table="clean", against="people") == []
    assert found(connection, None, table="clean") == []


def test_a_kept_column_that_joins_the_records_of_a_person_is_found():
    connection = empty_database()
    rows = {"age": "'20-39'", "who": "range // 4", "card": "'c' || range // 4"}
    connection.execute(f"CREATE TABLE visits AS {selected(rows)}")
    policy = Policy(["age"], keep=["card"], entity="who", models=[KAnonymity(2)])
    assert found(connection, policy, table="visits") == ["extra-columns", "kept-joins"]
    other = Policy(["age"], keep=["card"], drop=["who"], models=[KAnonymity(2)])
    assert found(connection, other, table="visits") == ["extra-columns"]


ORIGINAL = selected(
    {
        "name": "'person ' || range",
        "age": "17 + range * 73 // 199",
        "sex": CLEAN["sex"],
        "ill": "'ill ' || HASH(range) % 60",
        "note": "'n' || range // 40",
    },
    rows="range(200)",
    order="ORDER BY range",
)
RELEASED = {"age": "'0-99'", "sex": "sex", "ill": "ill", "note": "note"}
ORDERS = [
    ("as it was", "", True),
    ("backwards", "ORDER BY rowid DESC", True),
    ("some rows left out", "WHERE rowid % 9 <> 0", True),
    ("by all columns", "ORDER BY ALL", False),
    ("by nothing", "ORDER BY HASH(name || 'x')", False),
    ("by what is published, which the original is sorted by", "ORDER BY note, HASH(name)", False),
    ("by a label, else as it was", "ORDER BY sex, rowid", True),
]


@pytest.mark.parametrize(("how", "order", "tells"), ORDERS, ids=[how for how, *_ in ORDERS])
def test_rows_in_the_order_of_the_original_are_found_unless_a_column_tells_it(how, order, tells):
    connection = empty_database()
    connection.execute(f"CREATE TABLE people AS {ORIGINAL}")
    rows = selected(RELEASED, "people", order)
    connection.execute(f"CREATE TABLE released AS {rows}")
    told = "row-order" in found(connection, table="released", against="people")
    assert told == tells, how
    assert "row-order" not in found(connection, table="released")


@pytest.mark.parametrize(
    ("least", "split", "most", "shown"),
    [(17, 52, 90, True), (0, 49, 99, False), (17, 52, 91, False), (0, 44, 90, False)],
)
def test_ranges_between_the_extremes_of_the_original_are_found(least, split, most, shown):
    connection = empty_database()
    connection.execute(f"CREATE TABLE people AS {ORIGINAL}")
    label = f"IF(age <= {split}, '{least}-{split}', '{split + 1}-{most}')"
    rows = selected(RELEASED | {"age": label}, "people")
    connection.execute(f"CREATE TABLE released AS {rows}")
    assert ("data-extremes" in found(connection, table="released", against="people")) == shown


def frame():
    with empty_database() as connection:
        return connection.sql(selected(CLEAN)).to_arrow_table()


def coded(table, name):
    """The table with a column as a dictionary that has a value more."""
    values = table[name].combine_chunks().dictionary_encode()
    more = pyarrow.concat_arrays([values.dictionary, pyarrow.array(["secret"])])
    column = pyarrow.DictionaryArray.from_arrays(values.indices, more)
    return table.set_column(table.column_names.index(name), name, column)


def written(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path, compression="none", use_dictionary=["ill"])
    else:
        with ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=16)
    return path


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_metadata_and_unused_values_of_a_file_are_found(tmp_path, name):
    clean = frame()
    assert found(written(clean, tmp_path / name)) == []
    noted = clean.replace_schema_metadata({"pandas": "secret"})
    assert found(written(noted, tmp_path / name)) == ["file-metadata"]
    unused = sqlanon.lint(written(coded(clean, "ill"), tmp_path / name), POLICY).findings
    assert [(each.id, each.column) for each in unused] == [("unused-labels", "ill")]
    assert "has 1 value that no row has" in unused[0].message
    assert "secret" not in str(unused)


def test_statistics_beyond_the_rows_of_a_parquet_file_are_found(tmp_path):
    policy = Policy(["age"], keep=["pay"])
    rows = pyarrow.table({"age": ["0-9"] * 4, "pay": [1000, 1000, 987654321, 987654321]})
    path = tmp_path / "a.parquet"
    parquet.write_table(rows, path, compression="none", use_dictionary=False)
    assert "file-statistics" not in found(path, policy)
    # The rows of a person are overwritten, and nobody thinks of the footer.
    number, other = ((n).to_bytes(8, "little") * 2 for n in (987654321, 1000))
    path.write_bytes(path.read_bytes().replace(number, other))
    assert parquet.read_table(path)["pay"].to_pylist() == [1000] * 4
    [finding] = [each for each in sqlanon.lint(path, policy).findings if each.severity == "error"]
    assert (finding.id, finding.column) == ("file-statistics", "pay")
    assert "987654321" not in str(finding)


def database(path, *statements):
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE released AS {selected(CLEAN)}")
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE people AS SELECT 'secret' AS name",
        "CREATE VIEW v AS SELECT * FROM released WHERE note <> 'secret'",
        "CREATE MACRO m() AS 'secret'",
        "CREATE SEQUENCE s START 99",
        "CREATE TYPE kind AS ENUM ('secret')",
        "COMMENT ON COLUMN released.note IS 'secret'",
        "ALTER TABLE released ALTER note SET DEFAULT 'secret'",
    ],
)
def test_what_a_database_holds_besides_is_found(tmp_path, statement):
    path = database(tmp_path / "a.duckdb", statement)
    report = sqlanon.lint(path, POLICY, table="released")
    assert [each.id for each in report.findings] == ["catalogue"]
    assert "secret" not in str(report.to_dict())
    assert found(database(tmp_path / "b.duckdb")) == []


def test_free_blocks_and_the_values_that_they_hold_are_found_until_the_file_is_rewritten(tmp_path):
    people = tmp_path / "people.parquet"
    names = "SELECT 'secret person ' || HASH(range) AS name, range AS age FROM range(100000)"
    duckdb.execute(f"COPY ({names}) TO '{people}'")
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        # Compressed pages would hide the values from the scan, not from a reader.
        connection.execute("SET force_compression = 'uncompressed'")
        connection.execute(f"CREATE TABLE people AS FROM '{people}'")
        connection.execute("CHECKPOINT")
        connection.execute(f"CREATE TABLE released AS {selected(CLEAN)}")
        connection.execute("CHECKPOINT")
        connection.execute("DROP TABLE people")
    how = {"table": "released", "against": people}
    report = sqlanon.lint(path, POLICY, **how)
    assert [each.id for each in report.findings] == ["original-bytes", "free-blocks"]
    assert "secret" not in str(report.to_dict())
    assert not report.passes()
    sqlanon.rewrite(path)
    assert found(path, **how) == []


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "duckdb"])
def test_files_that_are_published_hold_nothing_of_the_original(tmp_path, ending):
    connection = empty_database()
    connection.execute(f"CREATE TABLE people AS {ORIGINAL}")
    people, path = tmp_path / "people.parquet", tmp_path / f"released.{ending}"
    connection.execute(f"COPY people TO '{people}'")
    report = sqlanon.anonymize(connection, RECODED, table="people", output=path)
    assert report.findings == ()
    assert found(path, RECODED, against=people) == []


def test_what_is_published_judged_and_reported_has_the_same_findings():
    connection = empty_database()
    connection.execute(f"CREATE TABLE people AS {ORIGINAL}")
    policy = Policy(
        {"age": sqlanon.Hierarchy.intervals(10, 100), "sex": sqlanon.Hierarchy.suppression()},
        sensitive=["ill"],
        keep=["name"],
        drop=["note"],
        models=[KAnonymity(5)],
    )
    published = sqlanon.anonymize(connection, policy, table="people", into="released").findings
    assert [each.id for each in published] == ["kept-identifies"]
    assert sqlanon.lint(connection, policy, table="released").findings == published
    judged = sqlanon.check(connection, policy, table="released", released=True)
    assert judged.findings == published
    assert sqlanon.check(connection, policy, table="released").findings == ()
    reported = sqlanon.report(connection, "released", policy, table="people", effort="none")
    assert {*published} <= {*reported.cautions}
    assert judged.notes.count(published[0].note) == 1
    assert judged.to_text().count(published[0].note) == 1
    assert f"warning: {published[0].note}" in judged.to_text()


def test_a_column_that_the_release_must_have_is_asked_for():
    connection = empty_database()
    connection.execute("CREATE TABLE t AS SELECT 1 AS age")
    with pytest.raises(sqlanon.SqlanonError, match="no column 'sex'"):
        sqlanon.lint(connection, POLICY, table="t")


def test_an_original_beside_its_release_is_told_once_and_what_else_is_there_as_ever(tmp_path):
    path = database(tmp_path / "a.duckdb", f"CREATE TABLE people AS {ORIGINAL}")
    assert found(path, table="released") == ["catalogue"]
    assert found(path, table="released", against="people") == ["original-beside"]
    assert found(path, table="released", against=path, against_table="people") == [
        "original-beside"
    ]
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW v AS SELECT * FROM people WHERE note <> 'secret'")
    assert found(path, table="released", against="people") == ["catalogue", "original-beside"]


BESIDE = [
    "CREATE TABLE more AS SELECT 1",
    "CREATE VIEW v AS SELECT * FROM people WHERE name <> 'secret'",
    "CREATE MACRO m() AS 'secret'",
    "CREATE SEQUENCE s START 99",
    "CREATE TYPE kind AS ENUM ('secret')",
    "COMMENT ON COLUMN people.note IS 'secret'",
    "ALTER TABLE people ALTER note SET DEFAULT 'secret'",
]
RECODED = {"k": 5, "quasi_identifiers": {"age": {"intervals": [10, 100]}, "sex": {}}}
RECODED |= {"sensitive": {"ill": {}}, "identifiers": ["name"], "drop": ["note"]}


def test_a_table_that_is_published_beside_its_original_has_one_info_for_all_of_the_database(
    tmp_path,
):
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE people AS {ORIGINAL}")
        for statement in BESIDE:
            connection.execute(statement)
        connection.execute("CREATE TABLE gone AS SELECT 'secret ' || HASH(range) FROM range(90000)")
        connection.execute("CHECKPOINT")
        connection.execute("DROP TABLE gone")
    report = sqlanon.anonymize(path, RECODED, table="people", into="out")
    [only] = report.findings
    assert (only.id, only.severity) == ("original-beside", "info")
    assert "secret" not in str(report.to_dict())
    told = ("'people'", "1 other table: 'more'", "1 sequence: 's'", "1 view", "1 macro", "1 ENUM",
            "defaults", "comments", " free block")  # fmt: skip
    assert [each for each in told if each not in only.message] == []


@pytest.mark.parametrize(
    ("statement", "told"), [("CREATE VIEW v AS SELECT 'secret'", ["catalogue"]), ("", [])]
)
def test_what_another_database_holds_is_told_of_a_table_that_is_published_there(
    tmp_path, statement, told
):
    with duckdb.connect(str(tmp_path / "b.duckdb")) as connection:
        connection.execute(statement)
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS {ORIGINAL}")
        connection.execute(f"ATTACH '{tmp_path / 'b.duckdb'}' AS other")
        report = sqlanon.anonymize(connection, RECODED, table="people", into="other.main.out")
    assert [each.id for each in report.findings] == told
