"""Every example runs as shown, in whichever environment has what it needs.

Where this one has not, `SQLANON_EXAMPLES` may name a folder of environments called `dbt`, `sqlmesh`
and `dagster`, which `.ci/run` makes: these pin what others do not take, and are no dependencies.
"""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest

import sqlanon

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
QUIET = {"DO_NOT_TRACK": "1", "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "1", "NO_COLOR": "1"}


@cache
def python_with(module, environment):
    """A Python that can import a module; the test is skipped where there is none."""
    if find_spec(module.partition(".")[0]) is not None:
        return sys.executable
    python = Path(os.environ.get("SQLANON_EXAMPLES", "")) / environment / "bin" / "python"
    if "SQLANON_EXAMPLES" in os.environ and python.exists():
        found = subprocess.run([python, "-c", f"import {module}, sqlanon"], check=False)
        if found.returncode == 0:
            return str(python)
    return pytest.skip(f"{module} is not installed")


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Copies an example into an empty folder and goes there."""

    def copy(name):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        return tmp_path / name

    return copy


def start(python, *words):
    """Starts a program of the environment of a Python; its output, should it be wrong."""
    command = [Path(python).parent / words[0], *words[1:]]
    outcome = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **QUIET}
    )
    return outcome.returncode, outcome.stdout + outcome.stderr


def tables(path):
    """The published table of a database holds, by name, with its columns."""
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(
            "SELECT DISTINCT table_name FROM duckdb_tables() WHERE NOT internal"
        ).fetchall()


def add_a_column(path):
    """Lets the original of a model have one more column, which no policy knows."""
    text = path.read_text()
    assert "\nFROM " in text
    path.write_text(text.replace("\nFROM ", ",\n  1 AS city\nFROM ", 1))


def test_examples_have_one_policy():
    assert len({path.read_text() for path in EXAMPLES.rglob("policy.toml")}) == 1
    assert {path.parent.name for path in EXAMPLES.rglob("policy.toml")} == {
        path.name for path in EXAMPLES.iterdir() if path.is_dir()
    }


@pytest.mark.slow
def test_a_script_publishes_a_parquet_file(copied, capsys):
    folder = copied("parquet")
    runpy.run_path("make_people.py", run_name="__main__")
    runpy.run_path("anonymize.py", run_name="__main__")
    assert "every model holds" in capsys.readouterr().out
    assert sqlanon.check(folder / "people_anonymous.parquet", "policy.toml", released=True).holds


@pytest.mark.slow
def test_dbt_builds_the_published_model_and_tests_it(copied):
    python = python_with("dbt.adapters.duckdb", "dbt")
    folder = copied("dbt")
    code, told = start(python, "dbt", "build", "--profiles-dir", ".")
    assert code == 0, told
    assert re.search(r"PASS=4 .*ERROR=0", told), told
    assert tables(folder / "people.duckdb") == [("people_anonymous",)]
    report = sqlanon.check(
        folder / "people.duckdb", folder / "policy.toml", table="people_anonymous"
    )
    assert report.holds
    add_a_column(folder / "models" / "people.sql")
    (folder / "people.duckdb").unlink()
    code, told = start(python, "dbt", "build", "--profiles-dir", ".")
    assert code == 1
    assert "1 column has no role: 'city'" in told
    assert tables(folder / "people.duckdb") == []


@pytest.mark.slow
def test_sqlmesh_plans_the_published_model_and_audits_it(copied):
    python = python_with("sqlmesh", "sqlmesh")
    folder = copied("sqlmesh")
    code, told = start(python, "sqlmesh", "plan", "--auto-apply", "--no-prompts")
    assert code == 0, told
    with duckdb.connect(folder / "people.duckdb", read_only=True) as connection:
        published = connection.sql("FROM demo.people_anonymous").to_arrow_table()
    assert sqlanon.check(published, folder / "policy.toml", released=True).holds
    add_a_column(folder / "models" / "people.sql")
    (folder / "people.duckdb").unlink()
    code, told = start(python, "sqlmesh", "plan", "--auto-apply", "--no-prompts")
    assert code != 0
    assert "1 column has no role: 'city'" in " ".join(told.split())


MATERIALIZE = """
import dagster, assets
found = dagster.materialize([assets.people, assets.people_anonymous, assets.satisfies_its_policy])
[judged] = found.get_asset_check_evaluations()
print(judged.passed, found.output_for_node("people_anonymous").num_rows)
"""


@pytest.mark.slow
def test_dagster_materializes_the_published_asset_and_checks_it(copied):
    python = python_with("dagster", "dagster")
    copied("dagster")
    code, told = start(python, Path(python).name, "-c", MATERIALIZE)
    assert code == 0, told
    assert re.search(r"^True 19\d\d$", told, re.MULTILINE), told


def repository(folder):
    """A data repository with a table that may be published, and one that may not."""
    people = runpy.run_path(str(EXAMPLES / "parquet" / "make_people.py"))["PEOPLE"]
    (folder / "published").mkdir()
    with duckdb.connect() as connection:
        original = connection.sql(people).to_arrow_table()
    sqlanon.anonymize(original, "policy.toml", output="published/people.csv")
    with duckdb.connect() as connection:
        connection.register("original", original)
        connection.sql("FROM original").write_csv(str(folder / "people.csv"))


@pytest.mark.slow
def test_the_ci_job_lets_only_tables_out_that_satisfy_their_policy(copied):
    folder = copied("data_repository")
    repository(folder)
    workflow = (folder / ".github" / "workflows" / "published-tables.yml").read_text()
    *_, command = re.findall(r"run: (sqlanon-gate .*)$", workflow, re.MULTILINE)
    words = shlex.split(command)
    assert words.pop() == "published/*"
    for expected in (0, 1):
        files = sorted(map(str, Path("published").iterdir()))
        code, told = start(sys.executable, *words, *files)
        assert code == expected, told
        shutil.copy("people.csv", "published/original.csv")
    assert "2 columns that the policy drops: 'person_id', 'name'" in told


def git(*words):
    """Starts git as somebody; what it prints."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", *who, *words], check=True, capture_output=True, text=True).stdout


def hooks_of(home):
    """A repository with the hook of sqlanon that starts what is installed here; its commit."""
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text()
    gate = Path(sys.executable).parent / "sqlanon-gate"
    for old, new in (("language: python", "language: system"), ("sqlanon-gate", str(gate))):
        assert hook.count(old) == 1
        hook = hook.replace(old, new)
    home.mkdir()
    (home / ".pre-commit-hooks.yaml").write_text(hook)
    git("init", "-q", str(home))
    git("-C", str(home), "add", "-A")
    git("-C", str(home), "commit", "-q", "-m", "Add the hook")
    return git("-C", str(home), "rev-parse", "HEAD").strip()


@pytest.mark.slow
def test_the_hook_stops_a_commit_with_an_original(copied, tmp_path, monkeypatch):
    python = python_with("pre_commit", "dagster")
    folder = copied("data_repository")
    repository(folder)
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    # The example's own settings, but for where sqlanon comes from.
    settings = Path(".pre-commit-config.yaml")
    text = settings.read_text()
    for key, value in (("repo", tmp_path / "hooks"), ("rev", hooks_of(tmp_path / "hooks"))):
        text, count = re.subn(rf"(?m)(\b{key}:) \S+", rf"\1 {value}", text)
        assert count == 1
    settings.write_text(text)
    git("init", "-q")
    git("add", "-A", "published", "policy.toml")
    code, told = start(python, "pre-commit", "run", "--all-files")
    assert code == 0, told
    for name in ("original.csv", "package.CSV"):
        shutil.copy("people.csv", f"published/{name}")
        git("add", "published")
        code, told = start(python, "pre-commit", "run", "--all-files")
        assert code == 1
        assert f"published/{name}" in told
        assert "that the policy drops: 'person_id', 'name'" in told
        assert "person 17" not in told
        git("rm", "-q", "-f", f"published/{name}")
