"""The command measure, from the command line to the document."""

import duckdb
import pytest

QUASI = ["--qi", "age,sex", "--hierarchy", "age=intervals:5,10"]


@pytest.fixture
def released(run, database, tmp_path):
    """The database with a released table in it, and the release as a file."""
    given = [*QUASI, "--k", 2, "--sensitive", "diagnosis", "--identifier", "name"]
    assert run("anonymize", database, "people", *given, "--into", "released").code == 0
    file = tmp_path / "released.csv"
    with duckdb.connect(str(database), read_only=True) as connection:
        connection.execute(f"COPY released TO '{file}'")
    return file


@pytest.mark.slow
def test_measure_tells_what_a_table_of_the_database_loses(run, database, released):
    outcome = run("measure", database, "released", "--table", "people", *QUASI)
    assert (outcome.code, outcome.err) == (0, "")
    assert "10 of 10 records published" in outcome.out
    assert "  lm " in outcome.out


@pytest.mark.slow
def test_measure_takes_files(run, database, released, tmp_path):
    original = tmp_path / "original.csv"
    with duckdb.connect(str(database), read_only=True) as connection:
        connection.execute(f"COPY people TO '{original}'")
    by_table = run("measure", database, "released", "--table", "people", *QUASI, "--json")
    for first, *rest in ((original,), (database, "--table", "people")):
        by_file = run("measure", first, released, *rest, *QUASI, "--json")
        assert _plain(by_file.document) == _plain(by_table.document)
    twice = ["--table", "people", "--released-table", "released"]
    assert _plain(run("measure", database, database, *twice, *QUASI, "--json").document) == _plain(
        by_table.document
    )


def _plain(document):
    said = {"seconds", "created", "source", "hashes"}
    return {key: value for key, value in document.items() if key not in said}


@pytest.mark.slow
def test_measure_prints_the_losses_asked_for(run, database, released):
    given = [*QUASI, "--loss", "lm", "--loss", "average-class-size", "--json"]
    document = run("measure", database, "released", "--table", "people", *given).document
    assert {"lm", "average_class_size"} < document.keys()
    assert "tree" not in document


@pytest.mark.slow
def test_measure_takes_the_policy_file_and_its_label(run, database, policy_file):
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT age::VARCHAR AS age, sex FROM people")
        connection.execute("UPDATE kept SET age = '?', sex = '?' WHERE age >= '35'")
    given = ["kept", "--table", "people", "--policy", policy_file, "--suppressed-label", "?"]
    outcome = run("measure", database, *given, "--json")
    assert outcome.document["suppressed_records"] == 5
    assert outcome.document["lm"] == 0.5


@pytest.mark.slow
def test_measure_leaves_the_database_as_it_is(run, database, released):
    before = database.read_bytes()
    assert run("measure", database, "released", "--table", "people", *QUASI).code == 0
    assert database.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["released"], "name one of"),
        (["released", "--table", "people", "--released-table", "x"], "holds no table 'x'"),
        (["released", "--table", "people", "--loss", "utility"], "--sensitive"),
        (["released", "--table", "people", "--class-attribute", "name"], "no column 'name'"),
        (["people", "--table", "released"], "needs a numeric column"),
    ],
)
def test_measure_refuses_in_one_line(refused, database, released, words, part):
    assert part in refused("measure", database, *words, *QUASI)


@pytest.mark.slow
def test_what_is_written_of_texts_like_numbers_is_measured(run, tmp_path):
    """1.0 and 2 are texts in the original, though each alone might be a number."""
    original, released = tmp_path / "original.csv", tmp_path / "released.csv"
    original.write_text("code,sex\n" + "1.0,f\n2,m\n" * 3)
    words = ["--qi", "code,sex", "--k", 3]
    assert run("anonymize", original, *words, "--output", released).code == 0
    outcome = run("measure", original, released, "--qi", "code,sex", "--json")
    assert outcome.document["lm"] == 0


@pytest.mark.slow
def test_a_release_of_a_database_may_write_its_numbers_otherwise(run, tmp_path):
    original, released = tmp_path / "original.duckdb", tmp_path / "released.csv"
    with duckdb.connect(str(original)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1.5::DOUBLE AS price FROM range(4)")
    released.write_text("price\n" + "1.50\n" * 4)
    outcome = run("measure", original, released, "--qi", "price", "--json")
    assert outcome.document["lm"] == 0
