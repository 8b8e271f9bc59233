from __future__ import annotations

import csv
import tomllib

import duckdb
import pytest
from databases import empty_database
from sqlglot import exp

from sqlanon.demo import census
from sqlanon.errors import PolicyError

RECORDS = 100_000
COLUMNS = {
    "person_id": "BIGINT",
    "name": "VARCHAR",
    "birth_date": "DATE",
    "age": "INTEGER",
    "sex": "VARCHAR",
    "postcode": "VARCHAR",
    "region": "VARCHAR",
    "marital_status": "VARCHAR",
    "education": "VARCHAR",
    "occupation": "VARCHAR",
    "citizenship": "VARCHAR",
    "household_size": "INTEGER",
    "income": "INTEGER",
    "diagnosis": "VARCHAR",
    "registered": "DATE",
}


def connect(records: int, seed: int = 0, threads: int = 2) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": threads})
    for statement in census.statements(exp.table_("people", quoted=True), records, seed=seed):
        connection.execute(statement.text)
    return connection


def value(connection, expression: str):
    return connection.sql(f"SELECT {expression} FROM people").fetchall()[0][0]


@pytest.fixture(scope="module")
def people():
    return connect(RECORDS)


@pytest.mark.slow
def test_columns_are_the_documented_ones(people):
    described = people.sql("DESCRIBE people").fetchall()
    assert {row[0]: row[1] for row in described} == COLUMNS


@pytest.mark.slow
def test_statements_leave_only_the_table(people):
    assert people.sql("SELECT table_name FROM duckdb_tables()").fetchall() == [("people",)]


def test_statements_fill_a_table_of_a_hostile_name():
    connection = empty_database()
    connection.execute('CREATE SCHEMA "select"')
    table = exp.table_('x"; DROP TABLE t', db="select", quoted=True)
    for statement in census.statements(table, 3):
        connection.execute(statement.text)
    rows = connection.sql('SELECT * FROM "select"."x""; DROP TABLE t"').fetchall()
    assert len(rows) == 3


@pytest.mark.slow
@pytest.mark.parametrize("records", [0, 1, 2, 2049])
def test_a_census_has_as_many_records_as_asked(records):
    assert value(connect(records), "COUNT(*)") == records


@pytest.mark.parametrize("records", [-1, census.MOST_RECORDS + 1])
def test_a_size_out_of_range_is_refused(records):
    with pytest.raises(PolicyError, match="0 to"):
        census.statements(exp.table_("people"), records)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_seed_gives_the_same_rows_in_the_same_order_for_any_number_of_threads(people, threads):
    rows = "SELECT * FROM people"
    assert connect(RECORDS, threads=threads).sql(rows).fetchall() == people.sql(rows).fetchall()


@pytest.mark.slow
def test_a_larger_census_holds_the_people_of_a_smaller_one(people):
    first = people.sql("SELECT * FROM people LIMIT 100").fetchall()
    assert connect(100).sql("SELECT * FROM people").fetchall() == first


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, -1, 2**63])
def test_another_seed_gives_other_people(people, seed):
    other = connect(2_000, seed).sql("SELECT * EXCLUDE (person_id) FROM people").fetchall()
    first = people.sql("SELECT * EXCLUDE (person_id) FROM people LIMIT 2000").fetchall()
    assert not set(other) & set(first)


@pytest.mark.slow
def test_a_person_id_is_unique_and_has_eleven_digits(people):
    assert value(people, "COUNT(DISTINCT person_id)") == RECORDS
    assert value(people, "MIN(LENGTH(person_id::VARCHAR))") == 11
    assert value(people, "MAX(LENGTH(person_id::VARCHAR))") == 11


@pytest.mark.slow
@pytest.mark.parametrize("column", ["person_id", "birth_date", "postcode", "name", "registered"])
def test_the_row_order_tells_nothing_of_a_column(people, column):
    query = f"""SELECT CORR(position, place) FROM (
        SELECT position, RANK() OVER (ORDER BY {column}) AS place
        FROM (SELECT ROW_NUMBER() OVER () AS position, * FROM people))"""
    # three standard errors of a rank correlation of independent orders
    assert abs(people.sql(query).fetchall()[0][0]) < 3 / RECORDS**0.5


@pytest.mark.slow
def test_the_age_is_that_of_the_reference_date(people):
    fits = "BOOL_AND(age = DATE_SUB('year', birth_date, DATE '2024-12-31'))"
    assert value(people, fits)
    assert value(people, "MIN(age)") == 0
    assert 90 < value(people, "MAX(age)") < 105


def test_postcodes_have_five_digits_and_keep_leading_zeros(people):
    assert value(people, "BOOL_AND(REGEXP_FULL_MATCH(postcode, '[0-9]{5}'))")
    assert value(people, "AVG((postcode LIKE '0%')::INTEGER)") > 0.05


# Tolerances are above five standard errors at 100,000 records.
@pytest.mark.parametrize(
    ("condition", "share", "tolerance"),
    [
        ("sex = 'female'", 0.506, 0.008),
        ("sex = 'other'", 0.003, 0.001),
        ("age < 18", 0.172, 0.008),
        ("age >= 65", 0.208, 0.008),
        ("marital_status = 'married'", 0.424, 0.008),
        ("education = 'vocational'", 0.342, 0.008),
        ("education = 'doctorate'", 0.009, 0.002),
        ("occupation = 'retired'", 0.191, 0.008),
        ("citizenship = 'Germany'", 0.88, 0.02),
        ("household_size = 1", 0.214, 0.008),
        ("diagnosis = 'HIV infection'", 0.0006, 0.0004),
        ("postcode IS NULL", 0.010, 0.002),
        ("occupation IS NULL", 0.020, 0.003),
        ("income IS NULL", 0.025, 0.003),
    ],
)
def test_shares_are_near_the_documented_ones(people, condition, share, tolerance):
    found = value(people, f"AVG(COALESCE({condition}, FALSE)::INTEGER)")
    assert found == pytest.approx(share, abs=tolerance)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("sex = 'female'", "diagnosis = 'back pain'"),
        ("postcode LIKE '0%'", "education = 'vocational'"),
        ("DAYOFYEAR(birth_date) < 180", "marital_status = 'married'"),
        ("person_id % 2 = 0", "sex = 'female'"),
        ("name LIKE '%bach'", "education = 'vocational'"),
        ("DAY(registered) < 15", "diagnosis = 'back pain'"),
    ],
)
def test_attributes_drawn_apart_are_independent(people, first, second):
    correlation = f"CORR(({first})::INTEGER, ({second})::INTEGER) FILTER (age BETWEEN 45 AND 64)"
    # five standard errors at 29,000 records
    assert abs(value(people, correlation)) < 0.03


def test_attributes_depend_on_age(people):
    assert value(people, "COUNT(*) FILTER (age < 16 AND marital_status <> 'single')") == 0
    assert value(people, "COUNT(*) FILTER (age < 16 AND income > 0)") == 0
    assert value(people, "COUNT(*) FILTER (age < 20 AND education IN ('master', 'doctorate'))") == 0
    widowed = "AVG((marital_status = 'widowed')::INTEGER) FILTER (age {})"
    assert value(people, widowed.format(">= 80")) > 20 * value(people, widowed.format("< 45"))


@pytest.mark.parametrize("column", census.HIERARCHIES)
def test_a_hierarchy_covers_exactly_the_values_of_its_column(people, column):
    rows = people.sql(f"SELECT DISTINCT {column} FROM people").fetchall()
    leaves = [row[0] for row in census.HIERARCHIES[column]]
    assert len(leaves) == len(set(leaves))
    assert {found for (found,) in rows} == set(leaves)


@pytest.mark.parametrize("column", census.HIERARCHIES)
def test_a_hierarchy_is_a_tree(column):
    rows = census.HIERARCHIES[column]
    assert len({len(row) for row in rows}) == 1
    assert {row[-1] for row in rows} == {"*"}
    for level in range(1, len(rows[0]) - 1):
        assert len({row[level : level + 2] for row in rows}) == len({row[level] for row in rows})
    labels = {(level, label) for row in rows for level, label in enumerate(row)}
    assert len(labels) == len({label for _, label in labels})


def test_write_gives_a_policy_and_the_files_it_names(tmp_path):
    folder = tmp_path / "new" / "census"
    paths = census.write(folder)
    policy = tomllib.loads((folder / "policy.toml").read_text(encoding="utf-8"))
    named = [entry["file"] for entry in policy["quasi_identifiers"].values() if "file" in entry]
    assert sorted(paths) == sorted(folder / name for name in ["policy.toml", *named])
    assert tuple(sorted(policy["quasi_identifiers"])) == tuple(sorted(census.QUASI_IDENTIFIERS))
    assert (policy["k"], policy["suppression_limit"], policy["loss"]) == (5, 0.02, "lm")


def test_write_gives_hierarchy_files_that_read_back(tmp_path):
    census.write(tmp_path)
    for column, rows in census.HIERARCHIES.items():
        with (tmp_path / f"{column}.csv").open(encoding="utf-8", newline="") as file:
            read = [tuple(row) for row in csv.reader(file, delimiter=";")]
        assert read == [tuple(label or "" for label in row) for row in rows]


def test_the_policy_names_columns_of_the_table():
    policy = tomllib.loads(census.POLICY)
    named = {*policy["identifiers"], *policy["quasi_identifiers"], *policy["sensitive"]}
    assert named <= set(COLUMNS)
