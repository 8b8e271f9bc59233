"""The command init, from a table to a policy file, and on to what is published."""

import io
import shlex
import stat

import duckdb
import pytest
import typer
from cli_options import Terminal

from sqlanon import Policy
from sqlanon.cli import init as command

STAFF = """
COPY (
    SELECT
        7000 + range AS staff_id, 'N. Ame ' || range AS name, 'p' || range || '@example' AS mail,
        20 + range * 7 % 45 AS age, DATE '1960-01-01' + (range * 89 % 16000)::INTEGER AS born,
        printf('%05d', 10000 + range % 60 * 100) AS zip, range % 2 = 0 AS is_new,
        CASE range % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex, 'job ' || range % 12 AS job,
        CASE range % 3 WHEN 0 THEN 'single' ELSE 'married' END AS marital_status,
        DATE '2015-01-01' + (range % 2000)::INTEGER AS hired, 'remark ' || range AS remarks,
        30000 + range * 7919 % 5000 * 10 AS salary, range % 4 AS days_ill, 'x' AS version
    FROM range(600)
) TO '{path}'
"""


@pytest.fixture
def staff(tmp_path, monkeypatch):
    """A raw CSV file of fifteen columns, in the working directory."""
    monkeypatch.chdir(tmp_path)
    duckdb.execute(STAFF.format(path=tmp_path / "staff.csv"))
    return "staff.csv"


@pytest.fixture
def few(tmp_path, monkeypatch):
    """A CSV file of few columns, in the working directory."""
    monkeypatch.chdir(tmp_path)
    query = "SELECT 'N. ' || range AS name, 'job ' || range % 12 AS job, range % 50 AS age"
    duckdb.execute(f"COPY ({query} FROM range(900)) TO '{tmp_path / 'few.csv'}'")
    return "few.csv"


def test_three_commands_lead_from_a_raw_file_to_a_published_table(run, staff, tmp_path):
    outcome = run("init", staff, "--json")
    assert outcome.code == 0
    assert outcome.err == ""
    document = outcome.document
    assert document["output"] == "policy.toml"
    assert document["undecided"] == ["is_new", "days_ill", "version"]
    plan, publish = map(shlex.split, document["commands"])
    assert run(*plan[1:]).code == 0
    undecided = [word for word in publish[1:] if word not in ("--others", "drop")]
    assert "3 columns have no role" in run(*undecided).err
    assert run(*publish[1:]).code == 0
    released = duckdb.sql("FROM 'staff_anonymous.csv'")
    assert set(released.columns) == {
        *("age", "born", "zip", "sex", "job", "marital_status", "hired", "salary")
    }
    assert run("check", "staff_anonymous.csv", "--policy", "policy.toml").code == 0


@pytest.mark.slow
def test_the_page_says_whose_records_these_are_or_asks(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    query = "SELECT 'x' || range // 4 AS {}, range % 30 AS age FROM range(400)"
    duckdb.execute(f"COPY ({query.format('PatNr')}) TO 'persons.csv'")
    duckdb.execute(f"COPY ({query.format('store_nr')}) TO 'stores.csv'")
    page = " ".join(run("init", "persons.csv").out.split())
    assert "Persons are counted by PatNr (entity): its name suggests the number" in page
    page = " ".join(run("init", "stores.csv", "--overwrite").out.split())
    assert "WHOSE RECORDS ARE THESE? Values of 'store_nr' repeat, and may stand" in page
    document = run("init", "stores.csv", "--overwrite", "--json").document
    assert (document["entity"], document["asked"]) == (None, ["store_nr"])


@pytest.mark.slow
def test_a_table_without_quasi_identifiers_has_no_next_commands(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "na.csv").write_text("a,b\n" + "NA,?\n" * 6)
    outcome = run("init", "na.csv", "--json")
    assert outcome.document["commands"] == []
    [note] = outcome.document["notes"]
    assert note.startswith("columns 'a' and 'b' hold nothing but marks such as NA or ?")
    assert "--nullstr" in note
    page = " ".join(run("init", "na.csv", "--output", "other.toml").out.split())
    assert "sqlanon plan" not in page
    assert "Name those by which others may find" in page
    assert "[quasi_identifiers] of other.toml" in page


@pytest.mark.slow
def test_the_page_says_what_is_left_to_do_and_what_comes_next(run, staff):
    page = run("init", staff).out
    assert "600 records, 15 columns" in page
    assert "To decide, before anything is published (--others drop leaves them out):" in page
    assert "To confirm: is it right that these are sensitive? salary" in page
    assert "  hierarchy_job.csv: 12 values of job" in page
    assert "It is a draft" in page
    assert page.endswith(
        "  sqlanon plan staff.csv --policy policy.toml --others drop\n"
        "  sqlanon anonymize staff.csv --policy policy.toml --others drop --output "
        "staff_anonymous.csv\n"
    )
    assert "N. Ame" not in page
    assert max(map(len, page.splitlines())) < 110


@pytest.mark.slow
def test_files_are_for_their_owner_and_say_no_more_than_they_must(run, few, tmp_path):
    assert run("init", few, "--quiet").out == ""
    for name in ("policy.toml", "hierarchy_job.csv"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    text = (tmp_path / "policy.toml").read_text()
    assert "job 1" not in text
    assert "N. 1" not in text
    lines = (tmp_path / "hierarchy_job.csv").read_text().splitlines()
    assert lines[0] == "leaf;level1;level2"
    assert lines[1] == "job 0;job 0;*"


@pytest.mark.slow
def test_an_existing_policy_is_kept_unless_told_otherwise(run, refused, few, tmp_path):
    (tmp_path / "policy.toml").write_text("k = 7\n")
    assert "--overwrite" in refused("init", few)
    assert (tmp_path / "policy.toml").read_text() == "k = 7\n"
    assert run("init", few, "--overwrite", "--k", 9).code == 0
    assert Policy.from_toml(tmp_path / "policy.toml").k == 9
    assert run("init", few, "--output", "other.toml", "--suppression-limit", 0).code == 0
    assert Policy.from_toml(tmp_path / "other.toml").suppression_limit == 0


@pytest.mark.slow
def test_a_filled_hierarchy_file_serves_again_and_another_is_never_replaced(run, few, tmp_path):
    run("init", few, "-q")
    file = tmp_path / "hierarchy_job.csv"
    filled = file.read_text().replace(";job 1", ";office")
    file.write_text(filled)
    again = run("init", few, "--overwrite", "--json").document
    assert again["files"] == ["hierarchy_job.csv"]
    assert any("serves as it is" in note for note in again["notes"])
    file.write_text("leaf;level1\nelse;*\n")
    other = run("init", few, "--overwrite", "--json").document
    assert other["files"] == ["hierarchy_job_2.csv"]
    assert other["columns"]["job"]["hierarchy"] == {"file": "hierarchy_job_2.csv"}
    assert file.read_text() == "leaf;level1\nelse;*\n"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["missing.csv"], "missing.csv"),
        (["staff.csv", "--output", "staff.csv", "--overwrite"], "holds the original"),
        (["staff.csv", "--output", "."], "is a folder"),
        (["staff.csv", "--k", "0"], "k 0 is not a whole number"),
        (["staff.csv", "--suppression-limit", "2"], "not a share"),
        (["staff.csv", "--ask"], "standard input is none"),
    ],
)
def test_init_refuses_in_one_line_and_writes_nothing(
    refused, staff, tmp_path, monkeypatch, words, part
):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert part in refused("init", *words)
    assert [path.name for path in tmp_path.iterdir()] == ["staff.csv"]


@pytest.mark.slow
def test_options_of_a_text_file_go_along_into_the_next_commands(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{number % 40};{number % 28 + 1:02}/02/1980;-" for number in range(200)]
    (tmp_path / "my people.csv").write_text("\n".join(["age;born;note", *rows, ""]))
    words = ["--delimiter", ";", "--date-format", "%d/%m/%Y", "--nullstr", "-"]
    document = run("init", "my people.csv", *words, "--json").document
    assert document["columns"]["born"]["hierarchy"] == {"dates": ["week"]}
    for line in document["commands"]:
        assert "'my people.csv'" in line
        assert set(words) <= set(shlex.split(line))
    assert run(*shlex.split(document["commands"][0])[1:]).code == 0


@pytest.mark.slow
def test_a_database_is_published_beside_the_original(run, database, tmp_path):
    document = run("init", database, "people", "--output", tmp_path / "p.toml", "--json").document
    assert document["commands"][1].endswith("--into people_anonymous")


@pytest.fixture
def answering(monkeypatch):
    """Answers questions; what is not answered takes what is suggested."""

    def answer(**answers):
        asked = []

        def prompt(text, default, err):
            assert err
            said = answers.get(f"{text.strip().split(' ')[0]}_{len(asked)}", default)
            asked.append((text.strip(), default))
            return said

        monkeypatch.setattr("sys.stdin", Terminal())
        monkeypatch.setattr(command.typer, "prompt", prompt)
        return asked

    return answer


@pytest.mark.slow
def test_enter_takes_all_that_is_suggested(run, few, answering, tmp_path):
    run("init", few, "-q", "--output", "plain.toml")
    asked = answering()
    outcome = run("init", few, "--ask")
    assert outcome.code == 0
    assert "1 of 3: name (TEXT, 900 values, 100% distinct)" in outcome.err
    assert ("hierarchy", "intervals:5,10,20;low=5;high=45") in asked
    assert Policy.from_toml(tmp_path / "policy.toml") == Policy.from_toml(tmp_path / "plain.toml")


def test_answers_change_roles_and_hierarchies(run, few, tmp_path, answering):
    # The second answer is no role, the sixth and seventh are no hierarchies of numbers.
    specs = {"hierarchy_5": "prefix:", "hierarchy_6": "dates:year", "hierarchy_7": "intervals:7"}
    answering(role_1="x", role_2="q", hierarchy_3="suppress", role_4="q", **specs)
    outcome = run("init", few, "--ask", "-q")
    assert outcome.code == 0
    assert "needs a DATE or TIMESTAMP" in outcome.err
    assert "there is no such role" in outcome.err
    policy = Policy.from_toml(tmp_path / "policy.toml")
    assert policy.attributes["age"].hierarchy.describe() == "intervals of 7"
    assert policy.attributes["job"].hierarchy.kind == "suppression"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.csv", "policy.toml"]


def test_who_leaves_the_questions_leaves_nothing_behind(run, few, monkeypatch, tmp_path):
    def leave(*_, **__):
        raise typer.Abort

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(command.typer, "prompt", leave)
    assert run("init", few, "--ask").code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["few.csv"]


@pytest.mark.slow
def test_a_table_smaller_than_k_has_no_next_commands(run, few, tmp_path):
    duckdb.execute("COPY (FROM 'few.csv' LIMIT 4) TO 'four.csv'")
    outcome = run("init", "four.csv")
    assert outcome.code == 0
    assert "4 records, fewer than k = 5: nothing of it" in " ".join(outcome.out.split())
    assert "Next" not in outcome.out
    assert "sqlanon plan" in run("init", "four.csv", "--k", "4", "--overwrite").out


@pytest.mark.slow
def test_what_is_left_open_is_said_beside_the_next_commands(run, few):
    assert "--others" not in run("init", few).out
    assert "can only be kept or suppressed" in run("init", few, "--overwrite").out


@pytest.mark.slow
def test_of_many_undecided_columns_the_page_explains_a_few(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ", ".join(f"NULL AS x{number}" for number in range(20))
    duckdb.execute(f"COPY (SELECT range % 9 AS age, {names} FROM range(50)) TO 'wide.csv'")
    page = run("init", "wide.csv").out
    assert page.count("no record has a value") == command.EXPLAINED
    assert "  and 8 more, with their reasons in policy.toml: x12, x13," in page
    assert "\n  age     quasi-identifier" in page


@pytest.mark.slow
def test_row_names_without_a_name_pass_through_every_command(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = (f'"{row}",{20 + row % 40},"{"mf"[row % 2]}"' for row in range(200))
    lines = ('"","age","sex"', *rows)
    (tmp_path / "r.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "released.csv").write_text(f"{lines[0]}\n" + '"1","*","*"\n' * 200)
    drafted = run("init", "r.csv", "--json").document
    assert drafted["columns"]["column0"]["role"] == "identifier"
    assert sum("no name for its first column" in note for note in drafted["notes"]) == 1
    policy = ("--policy", "policy.toml")
    keeping = ("--qi", "age,sex", "--keep", "column0", "--k", "3")
    for words in (
        ("check", "r.csv", *policy),
        ("plan", "r.csv", *policy, "--save", "plan.json"),
        ("apply", "r.csv", "plan.json", "--output", "out.csv"),
        ("anonymize", "r.csv", *keeping, "--output", "kept.csv"),
        ("check", "released.csv", "--qi", "age,sex", "--k", "3"),
        ("measure", "r.csv", "released.csv", *policy),
        ("report", "r.csv", "--released", "released.csv", *keeping),
    ):
        outcome = run(*words)
        told = outcome.out.count("has no name for its first column")
        assert outcome.code == 0, words
        assert told == sum(word in ("r.csv", "released.csv") for word in words), words
    assert (tmp_path / "kept.csv").read_text().startswith("column0,age,sex\n")
    taken = run("plan", "r.csv", "--qi", "age,sex", "--drop", "colum0")
    assert "column0" in taken.err
