"""The command risk, from the command line to the report."""

import json

import duckdb
import pytest

pytestmark = pytest.mark.slow

QI = ["--qi", "age,sex"]


@pytest.fixture
def people(tmp_path):
    """Twelve visits of six persons, and everybody they were drawn from."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            CREATE TABLE visits AS
            SELECT
                'MARK ' || range // 2 AS person,
                CAST(30 + range // 4 AS INTEGER) AS age,
                CASE WHEN range < 6 THEN 'f' ELSE 'm' END AS sex,
                'zip ' || range % 3 AS zip
            FROM range(12)
        """)
        connection.execute("""
            CREATE TABLE everybody AS
            SELECT * FROM visits UNION ALL SELECT 'MARK other', age, sex, zip FROM visits
        """)
        connection.execute(f"COPY everybody TO '{tmp_path / 'everybody.csv'}' (HEADER)")
    return path


def test_risk_tells_how_easily_people_are_found(run, people):
    outcome = run("risk", people, "visits", *QI)
    assert (outcome.code, outcome.err) == (0, "")
    assert "12 records in 4 classes by age, sex" in outcome.out
    assert "prosecutor      highest 50%, mean 33.33%; records above 20%: 12 (100%)" in outcome.out
    assert "unique records by column" in outcome.out
    assert "MARK" not in outcome.out


def test_risk_prints_one_document(run, people):
    document = run("risk", people, "visits", *QI, "--json").document
    assert document["schema_version"] == 1
    assert document["risk"]["prosecutor_max"] == 0.5
    assert document["quasi_identifiers"] == ["age", "sex"]
    assert document["columns"]["age"]["values"] == 3
    assert document["subsets"]["looked_at"] == 3


def test_risk_threshold_is_an_option(run, people):
    def at_risk(*words):
        return run("risk", people, "visits", *QI, *words, "--json").document["risk"]

    assert at_risk()["threshold"] == 0.2
    found = at_risk("--risk-threshold", 0.4)
    assert (found["threshold"], found["records_at_risk"]) == (0.4, 4)


def test_policy_file_names_the_columns(run, people, tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text(
        'k = 2\nentity = "person"\n[quasi_identifiers]\nage = { file = "missing.csv" }\n'
    )
    document = run("risk", people, "visits", "--policy", file, "--json").document
    assert document["quasi_identifiers"] == ["age"]
    assert document["persons"]["entity"] == "person"


def test_risk_writes_nothing(run, people):
    before = people.read_bytes()
    assert run("risk", people, "visits", *QI, "--population", "everybody", "-q").out == ""
    assert people.read_bytes() == before
    assert {one.name for one in people.parent.iterdir()} == {"people.duckdb", "everybody.csv"}


def test_verbose_tells_time_and_counts_on_standard_error(run, people):
    outcome = run("risk", people, "visits", *QI, "--json", "-v")
    assert json.loads(outcome.out)
    assert outcome.err.startswith("sqlanon: risk ")
    assert "counted 1" in outcome.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--qi", "agee"], "did you mean 'age'"),
        ([*QI, "--risk-threshold", 0], "risk threshold 0.0 is not a share"),
        ([*QI, "--identifying", 2], "identifying share 2.0 is not a share"),
        ([*QI, "--population", "nothing"], "no table 'nothing' among"),
    ],
)
def test_bad_input_is_one_clear_line(refused, people, words, told):
    message = refused("risk", people, "visits", *words)
    assert told in message
    assert "MARK" not in message


def test_max_sets_limits_the_sets(run, people):
    words = ["--qi", "age,sex,zip", "--json", "--max-sets"]
    found = [run("risk", people, "visits", *words, most).document["subsets"] for most in (6, 5)]
    assert [each["max_columns"] for each in found] == [2, 1]
    assert [each["max_sets"] for each in found] == [6, 5]
