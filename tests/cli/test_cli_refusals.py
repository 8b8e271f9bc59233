"""What the command line refuses instead of ignoring it, and what no input makes a bug."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_the_package_runs_as_a_program():
    words = [sys.executable, "-m", "sqlanon", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sqlanon ")


@pytest.mark.parametrize(
    "option", [["--candidates", "closed"], ["--block-records", "250000"], ["--beta", "2"]]
)
def test_an_option_of_another_method_is_refused_at_its_default_too(option, refused, database):
    arguments = ["plan", database, "people", "--qi", "age", "--k", 2, "--method", "incognito"]
    line = refused(*arguments, *option)
    assert "to set-cover" in line
    assert "not to incognito" in line


def test_overwrite_without_a_table_to_replace_is_refused(refused, database):
    line = refused("mine", database, "people", "--qi", "age", "--k", 2, "--overwrite")
    assert "leave overwrite (--overwrite) out" in line


def test_every_set_of_no_columns_is_refused(refused, database):
    more = ["--qi", "age", "--max-columns", 0, "--every-subset"]
    assert "leave every_subset out" in refused("risk", database, "people", *more)


def test_overwrite_in_place_is_refused(refused, database):
    arguments = ["--qi", "age", "--k", 2, "--others", "keep", "--in-place", "--yes", "--overwrite"]
    assert "in place the original is replaced" in refused(
        "anonymize", database, "people", *arguments
    )


@pytest.mark.parametrize("source", ["", "missing.duckdb", "ü" * 300])
def test_a_source_that_is_none_is_no_bug(source, refused, tmp_path):
    made = tmp_path / "made.csv"
    made.write_text("")
    more = ["--column", "age", "--hierarchy", "suppress", "--output", made, "--overwrite"]
    refused("hierarchy", "make", source, *more)
    refused("check", source, "people", "--qi", "age")


@pytest.mark.slow
def test_a_check_without_k_does_not_speak_of_it(run, database):
    words = ["check", database, "people", "--qi", "sex", "--sensitive", "diagnosis", "--l", 2]
    assert not [note for note in run(*words, "--json").document["notes"] if "k = 1" in note]
    assert [n for n in run(*words, "--k", 1, "--json").document["notes"] if "k = 1" in n]


@pytest.mark.slow
def test_preview_shows_own_records_before_and_after(run, database, tmp_path):
    words = [database, "people", "--qi", "age", "--k", 2, "--others", "drop", "--preview", 1]
    assert "record 1" in run("plan", *words).out
    [record] = run("plan", *words, "--json").document["preview"]
    assert record == {
        "before": {"name": "person 0", "age": "30", "sex": "f", "diagnosis": "illness 0"},
        "after": {"age": "*"},
    }
    outcome = run("anonymize", *words, "--output", tmp_path / "made.csv", "--json")
    assert outcome.document["preview"] == [record]
    assert (tmp_path / "made.csv").exists()
    assert "preview" not in run("plan", *words[:-2], "--json").document


@pytest.mark.slow
def test_a_preview_beside_bare_sql_is_refused(refused, run, database):
    words = ["plan", database, "people", "--qi", "age", "--k", 2, "--others", "drop", "--sql"]
    assert "leave --preview out, or add --json" in refused(*words, "--preview", 1)
    assert {"preview", "sql"} <= run(*words, "--preview", 1, "--json").document.keys()


def test_a_name_too_long_for_a_file_is_no_bug(refused, database, tmp_path):
    long, given = tmp_path / ("x" * 300), [database, "people", "--qi", "age", "--k", 2]
    others = ["--others", "drop"]
    for words in (
        ["check", long],
        ["rewrite", long],
        ["demo", long],
        ["plan", *given, *others, "--save", long],
        ["apply", database, long, "--output", "a.csv"],
        ["anonymize", *given, *others, "--output", long / "a.csv"],
    ):
        assert "too long" in refused(*words)
    beside = tmp_path / ("x" * 246 + ".duckdb")
    assert "too long" in refused("anonymize", *given, *others, "--output", beside)
