"""Tables on Spark (Sail) and PostgreSQL, from the command line to the release: as in DuckDB."""

import duckdb
import pytest
from servers import postgres_folder

pytestmark = pytest.mark.slow
VARYING = {"created", "seconds", "hashes", "source", "table", "versions", "notes", "output"}
POLICY = """
    k = 3
    suppression_limit = 0.1
    identifiers = ["name"]
    [quasi_identifiers]
    age = "intervals:10"
    zip = "prefix:2"
    [sensitive]
    ill = { l = 2 }
"""
SAIL = ("--engine", "spark", "--remote", "sail")


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return "--policy", path


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A database of 400 people, in a folder that the program runs in."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("near.duckdb") as connection:
        connection.execute("""
            CREATE TABLE people AS
            SELECT
                'MARK ' || i AS name,
                i * 7 % 90 AS age,
                lpad((i * 77 % 9999)::VARCHAR, 4, '0') AS zip,
                if(i % 50 = 0, NULL, 'ill ' || i % 7) AS ill
            FROM range(400) AS numbers (i)
        """)
    return tmp_path / "near.duckdb"


@pytest.fixture
def folder(people, tmp_path):
    """The same people as a folder of two Parquet files."""
    pytest.importorskip("pysail", reason="pysail is not installed")
    pytest.importorskip("pyspark.sql.connect.session", reason="pyspark[connect] is not installed")
    (tmp_path / "people").mkdir()
    with duckdb.connect(str(people), read_only=True) as connection:
        for part in range(2):
            half = f"SELECT * FROM people WHERE age % 2 = {part}"
            connection.execute(f"COPY ({half}) TO 'people/{part}.parquet'")
    return "./people"


@pytest.fixture
def server(people):
    """The URL of a server that has the same people, and a connection to it."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with postgres_folder() as (place, _):
        url = f"postgresql:///postgres?host={place}&user=postgres"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE people (name text, age bigint, zip text, ill text)")
            with duckdb.connect(str(people), read_only=True) as near:
                rows = near.execute("FROM people").fetchall()
            connection.cursor().executemany("INSERT INTO people VALUES (%s, %s, %s, %s)", rows)
            yield url, connection


@pytest.fixture
def told(run):
    """What a command that succeeds tells as JSON, but for what differs by place and time."""

    def call(*words, code=0):
        outcome = run(*words, "--json")
        assert (outcome.code, "MARK" in outcome.out + outcome.err) == (code, False), outcome
        return {key: value for key, value in outcome.document.items() if key not in VARYING}

    return call


@pytest.fixture
def released(told, people, policy):
    """What DuckDB tells of a release through the same program, and the rows released."""
    document = told("anonymize", people, "people", *policy, "--output", "near.parquet")
    return document, texts(duckdb.read_parquet("near.parquet").fetchall())


def texts(rows):
    return sorted(tuple(map(str, row)) for row in rows)


def files_in(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


def test_sail_tells_of_a_folder_what_duckdb_tells(told, people, folder, policy):
    for command, given, code in (("plan", policy, 0), ("check", policy, 1)):
        far = told(command, folder, *SAIL, *given, code=code)
        assert far == told(command, people, "people", *given, code=code)


@pytest.mark.parametrize(
    "words",
    [
        [
            *("--into", "./out", "--local-rows", 0),
            *("--spark-config", "spark.sql.session.timeZone=Asia/Tokyo"),
        ],
        ["--output", "out.parquet", "--local-rows", 0, "--materialize", "table"],
    ],
)
def test_sail_releases_a_folder_as_duckdb(told, released, tmp_path, folder, policy, words):
    before = files_in(tmp_path)
    document = told("anonymize", folder, *SAIL, *policy, *words)
    place = tmp_path / words[1]
    written = files_in(tmp_path) - before
    assert {path.relative_to(tmp_path).parts[0] for path in written} == {place.name}
    rows = duckdb.read_parquet([str(path) for path in written]).fetchall()
    assert (document, texts(rows)) == released


def test_settings_of_spark_reach_its_session(refused, folder):
    words = ("check", folder, *SAIL, "--qi", "age", "--spark-config")
    assert "KEY=VALUE" in refused(*words, "spark.sql.session.timeZone")
    assert "'nowhere'" in refused(*words, "spark.sql.session.timeZone=nowhere")


def test_a_url_of_postgresql_is_read_and_released_as_in_duckdb(
    told, released, people, server, policy
):
    url, connection = server
    for command, given, code in (("check", policy, 1), ("risk", ("--qi", "age,zip"), 0)):
        far, near = (told(command, one, "people", *given, code=code) for one in (url, people))
        assert far == near
    document = told("anonymize", url, "people", *policy, "--into", "out")
    rows = connection.execute("SELECT * FROM out").fetchall()
    assert (document, texts(rows)) == released
    assert told("check", url, "out", "--released", *policy)["holds"]
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    assert connection.execute(tables).fetchall() == [("out",), ("people",)]
