"""Bad input: one clear error with the column, the count and the way out, and nothing written."""

from dataclasses import replace

import pytest
from databases import empty_database

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier
from sqlanon.errors import (
    HierarchyError,
    PolicyError,
    SourceError,
    SqlanonError,
    UnsatisfiableError,
)

RECORDS = 30


@pytest.fixture
def connection(connection):
    """A table in which every text holds the word MARK, and every number 77."""
    connection.execute(f"""
        CREATE TABLE people AS
        SELECT 'MARK name ' || i AS name, 77000 + i AS age, 'MARK' || (i % 3) AS zip,
               'MARK ill ' || (i % 2) AS diagnosis, ['MARK'] AS list, {{'a': 'MARK'}} AS struct,
               MAP {{'MARK': 1}} AS map, (77.5 + i)::DOUBLE AS weight,
               ('MARK' || (i % 2))::ENUM ('MARK0', 'MARK1') AS kind
        FROM range({RECORDS}) r(i)
    """)
    return connection


def state(connection):
    return connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name IN (current_database(), 'temp')"
        " UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal "
        "AND database_name IN (current_database(), 'temp') ORDER BY ALL"
    ).fetchall()


def chain(error):
    """The texts of an error and of every other that its traceback would print or carry."""
    found = []
    while error is not None:
        found.append(str(error))
        error = error.__cause__ or error.__context__
    return found


def refused(connection, kind, policy, table="people", **options):
    """The message of the error, which every writing call and `plan` must agree on."""
    before = state(connection)
    options = {"into": "out", **options}
    with pytest.raises(kind) as caught:
        sqlanon.anonymize(connection, policy, table=table, **options)
    assert state(connection) == before
    message = str(caught.value)
    assert "\n" not in message
    assert not [one for one in chain(caught.value) if "MARK" in one or "77" in one]
    return message


def policy(column="zip", hierarchy=None, **options):
    options = {"others": "drop", "models": [KAnonymity(2)], **options}
    return Policy({column: hierarchy or Hierarchy.suppression()}, **options)


@pytest.mark.parametrize("role", ["sensitive", "keep", "drop", "identifiers"])
def test_columns_that_are_missing_are_one_error(connection, role):
    message = refused(connection, PolicyError, policy("zipp", **{role: ["naem"]}))
    assert "'zipp'; did you mean 'zip'" in message
    assert "'naem'; did you mean 'name'" in message


def test_columns_in_no_role_are_one_error_that_lists_them_and_the_options(connection):
    message = refused(
        connection, PolicyError, policy(others=None, identifiers=["name"], keep=["age"])
    )
    assert message.startswith("6 columns have no role: 'diagnosis', 'list', 'struct', 'map', ")
    assert all(option in message for option in ("--keep", "--drop", "--others keep|drop"))


def test_no_quasi_identifier_is_an_error(connection):
    nothing = Policy({}, others="drop", models=[KAnonymity(2)])
    assert "--qi" in refused(connection, PolicyError, nothing)


def test_no_model_is_an_error(connection):
    assert "--k" in refused(connection, PolicyError, policy(models=[]))


def test_values_outside_a_hierarchy_are_counted_never_shown(connection):
    hierarchy = Hierarchy.from_rows([("MARK0", "*"), ("elsewhere", "*")])
    message = refused(connection, HierarchyError, policy(hierarchy=hierarchy))
    assert message == (
        "hierarchy of column 'zip' misses 2 values that 20 records hold; add a row for each of "
        "them, or one of * for all others; list them with `sqlanon hierarchy check SOURCE TABLE "
        "--hierarchy zip=FILE --show-values`"
    )


def test_values_outside_two_hierarchies_are_one_error(connection):
    hierarchy = Hierarchy.from_rows([("elsewhere", "*")])
    two = Policy({"zip": hierarchy, "diagnosis": hierarchy}, others="drop", models=[KAnonymity(2)])
    message = refused(connection, HierarchyError, two)
    assert "'zip' misses 3" in message
    assert "'diagnosis' misses 2" in message


@pytest.mark.parametrize("hierarchy", [
    Hierarchy.intervals(5), Hierarchy.dates("month"), Hierarchy.expressions("value::INTEGER"),
    Hierarchy.expressions("error(value)"), Hierarchy.expressions("no_such_function(value)"),
    Hierarchy.expressions("other_column"), Hierarchy.expressions("max(value)"),
    Hierarchy.expressions("(SELECT max(zip) FROM people)"), Hierarchy.expressions("1 +"),
    Hierarchy.expressions("value); DROP TABLE people; --"),
    Hierarchy.expressions("left(value, 4)", "right(value, 1)"), Hierarchy.table("no such table"),
    Hierarchy.table("people"),
])  # fmt: skip
@pytest.mark.parametrize("column", ["zip", "kind"])
def test_hierarchy_that_does_not_fit_its_column_is_an_error(connection, column, hierarchy):
    if column == "kind":
        hierarchy = hierarchy.from_dict(hierarchy.to_dict())
    assert refused(connection, SqlanonError, policy(column, hierarchy))


@pytest.mark.slow
def test_k_of_1_publishes_with_a_note(connection):
    report = sqlanon.anonymize(
        connection, policy(models=[KAnonymity(1)]), table="people", into="out"
    )
    assert any("k = 1 protects nobody" in note for note in report.notes)


def test_k_above_the_number_of_records_is_an_error(connection):
    message = refused(connection, PolicyError, policy(models=[KAnonymity(RECORDS + 1)]))
    assert message == f"k is {RECORDS + 1} but the table has only {RECORDS} records"


@pytest.mark.parametrize("bounds", [{"min_level": 4}, {"max_level": 4}])
def test_level_above_the_height_is_an_error_that_names_the_column(connection, bounds):
    attribute = QuasiIdentifier(Hierarchy.intervals(5, 10), **bounds)
    assert "column 'age': level 4 is above the 3 levels" in refused(
        connection, PolicyError, policy("age", attribute)
    )


def test_empty_table_is_an_error(connection):
    connection.execute("CREATE TABLE nobody AS SELECT * FROM people LIMIT 0")
    message = refused(connection, SourceError, policy(), table="nobody")
    assert message == "the table is empty; there is nothing to anonymize"
    with pytest.raises(SourceError, match="empty"):
        sqlanon.check(connection, policy(), table="nobody")


def test_quasi_identifiers_of_nested_types_are_one_error(connection):
    nested = Policy(["list", "zip", "struct", "map"], others="drop", models=[KAnonymity(2)])
    message = refused(connection, SourceError, nested)
    assert "'list', 'struct', 'map'" in message
    assert "unnest" in message


def test_unsatisfiable_policy_names_counts_and_ends_with_1(connection):
    attribute = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
    message = refused(
        connection, UnsatisfiableError, policy("age", attribute, suppression_limit=0.1)
    )
    assert "k = 2" in message
    assert "30 of 30 records" in message
    assert "3 may be suppressed" in message
    assert UnsatisfiableError.exit_code == 1


def test_record_that_cannot_be_converted_is_not_quoted(connection):
    message = refused(
        connection, SqlanonError, policy(hierarchy=Hierarchy.expressions("value::DATE"))
    )
    assert "does not fit the type" in message


def make(connection, values):
    connection.execute(f"CREATE TABLE t AS SELECT unnest([{', '.join(values)}]) AS x")


@pytest.mark.slow
@pytest.mark.parametrize("texts", [("1", "2"), ("1.0", "2.0"), ("01", "2"), (" 1", "2e0")])
@pytest.mark.parametrize("kind", ["INTEGER", "HUGEINT", "DOUBLE", "DECIMAL(4,1)"])
def test_number_matches_any_spelling_of_its_leaf(connection, kind, texts):
    make(connection, [f"CAST({value} AS {kind})" for value in "112"])
    hierarchy = Hierarchy.from_rows([(text, "*") for text in texts])
    sqlanon.anonymize(
        connection, Policy({"x": hierarchy}, models=[KAnonymity(3)]), table="t", into="o"
    )
    assert connection.execute("FROM o").fetchall() == [("*",)] * 3


@pytest.mark.parametrize(
    ("kind", "value", "leaf"),
    [
        ("INTEGER", "2", "1.5"),
        ("BIGINT", "9007199254740994", "9007199254740993.5"),
        ("DECIMAL(4,1)", "1.5", "1.46"),
        ("DATE", "2024-02-29", "2024-02-29 12:00:00"),
        ("BOOLEAN", "true", "2"),
    ],
)
def test_leaf_that_only_rounds_to_a_value_does_not_match_it(connection, kind, value, leaf):
    make(connection, [f"CAST('{value}' AS {kind})"] * 3)
    policy = Policy({"x": Hierarchy.from_rows([(leaf, "*")])}, models=[KAnonymity(3)])
    with pytest.raises(HierarchyError, match="'x' misses 1 value that 3 records hold"):
        sqlanon.anonymize(connection, policy, table="t", into="out")


@pytest.mark.parametrize("spellings", [("01", "1"), ("1", "1.0"), ("1", " 1")])
def test_leaves_that_are_one_value_are_an_error(connection, spellings):
    make(connection, ["1", "1", "2"])
    hierarchy = Hierarchy.from_rows([(text, "*") for text in (*spellings, "2")])
    with pytest.raises(HierarchyError, match=r"'x' lists 1 value .* more than once"):
        sqlanon.anonymize(
            connection, Policy({"x": hierarchy}, models=[KAnonymity(3)]), table="t", into="o"
        )


@pytest.fixture
def numbered():
    with empty_database() as opened:
        opened.execute("CREATE TABLE t AS SELECT range AS id, range % 3 AS a FROM range(9)")
        yield opened


@pytest.mark.parametrize("place", [{"into": "out"}, {"in_place": True}])
def test_a_table_with_nothing_left_is_not_published(numbered, place):
    original = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
    policy = Policy({"id": original}, models=[KAnonymity(2)], suppression_limit=1, others="drop")
    with pytest.raises(UnsatisfiableError, match="9 of 9 records"):
        sqlanon.anonymize(numbered, policy, table="t", **place)
    assert numbered.execute("SHOW TABLES").fetchall() == [("t",)]
    assert len(numbered.execute("SELECT * FROM t").fetchall()) == 9


def test_suppressed_records_are_not_labelled_like_a_published_value(numbered):
    numbered.execute("INSERT INTO t VALUES (9, 7), (10, 8)")
    attribute = QuasiIdentifier(Hierarchy.suppression(), max_level=0)
    policy = Policy(
        {"a": attribute},
        models=[KAnonymity(2)],
        suppression_limit=0.5,
        suppressed="keep",
        suppressed_label="1",
        others="drop",
    )
    with pytest.raises(PolicyError, match="column 'a'"):
        sqlanon.plan(numbered, policy, table="t")


def test_a_label_that_a_level_not_chosen_has_is_refused_before_the_search(numbered):
    rows = [("0", "low", "*"), ("1", "high", "*"), ("2", "high", "*")]
    policy = Policy(
        {"a": Hierarchy.from_rows(rows)},
        models=[KAnonymity(2)],
        suppression_limit=0.5,
        suppressed="keep",
        suppressed_label="low",
        others="drop",
    )
    with pytest.raises(PolicyError, match=r"column 'a' at level 1;.*--suppressed-label"):
        sqlanon.plan(numbered, policy, table="t")
    assert sqlanon.plan(
        numbered, replace(policy, suppression_limit=0), table="t"
    ).recoding.node == (0,)


def test_a_label_for_records_that_are_left_out_is_refused(numbered):
    words = "suppressed_label 'gone' stands for nothing.*--suppressed keep"
    policy = Policy(["a"], models=[KAnonymity(2)], others="drop", suppressed_label="gone")
    with pytest.raises(PolicyError, match=words):
        sqlanon.plan(numbered, policy, table="t")
