"""The commands check, plan, apply and anonymize, from the command line to the table."""

import json
import sys
from dataclasses import replace

import duckdb
import pytest
from cli_options import Terminal

ROLES = ["--qi", "age,sex", "--sensitive", "diagnosis", "--identifier", "name"]
AGE = ["--hierarchy", "age=intervals:5,10"]


def rows(path, query):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(query).fetchall()


def tables(path):
    return {name for (name,) in rows(path, "SELECT table_name FROM duckdb_tables()")}


@pytest.fixture
def policy(policy_file):
    return ["--policy", policy_file]


def test_check_tells_what_holds(run, database):
    outcome = run("check", database, "--qi", "sex", "--k", 5)
    assert (outcome.code, outcome.err) == (0, "")
    assert "k-anonymity 5 holds" in outcome.out
    outcome = run("check", database, "people", "--qi", "sex", "--k", 6)
    assert outcome.code == 1
    assert "does NOT hold" in outcome.out


def test_check_prints_one_document(run, database):
    outcome = run("check", database, "--qi", "age,sex", "--k", 2, "--json")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.document["schema_version"] == 1
    assert (outcome.document["k"], outcome.document["holds"]) == (1, False)


def test_check_is_silent_with_quiet(run, database):
    outcome = run("check", database, "--qi", "age", "--k", 2, "-q")
    assert (outcome.code, outcome.out, outcome.err) == (1, "", "")


def test_check_with_verbose_tells_the_time_on_standard_error(run, database):
    outcome = run("check", database, "--qi", "age", "--json", "-v")
    assert outcome.document["k"] == 1
    assert outcome.err.startswith("sqlanon: check ")
    assert "check took" in outcome.err


def test_resources_reach_the_database(run, refused, database, tmp_path):
    given = ["--threads", 1, "--memory-limit", "500MB", "--temp-directory", tmp_path]
    assert run("check", database, "--qi", "age", *given).code == 0
    assert "threads" in refused("check", database, "--qi", "age", "--threads", 0)
    assert "memory limit" in refused("check", database, "--qi", "age", "--memory-limit", "much")
    missing = tmp_path / "missing"
    assert "missing" in refused("check", database, "--qi", "age", "--temp-directory", missing)


def test_plan_shows_the_recoding_and_writes_nothing(run, database, policy):
    before = database.read_bytes()
    outcome = run("plan", database, *policy)
    assert (outcome.code, outcome.err) == (0, "")
    assert "levels" in outcome.out
    assert database.read_bytes() == before


@pytest.mark.slow
def test_plan_prints_sql_that_publishes(run, database, policy):
    outcome = run("plan", database, *policy, "--sql", "--into", 'a "b"', "--quiet")
    with duckdb.connect(str(database)) as connection:
        connection.execute(outcome.out)
        published = connection.execute('SELECT * FROM "a ""b"""').fetchall()
    assert 0 < len(published) <= 10


@pytest.mark.slow
def test_plan_prints_sql_of_another_dialect(run, database, policy):
    outcome = run("plan", database, *policy, "--sql", "--dialect", "spark")
    assert "\nCREATE TABLE `anonymized`" in outcome.out
    document = run("plan", database, *policy, "--sql", "--dialect", "spark", "--json").document
    assert document["sql"] + ";\n" == outcome.out
    assert document["levels"]


@pytest.mark.parametrize("words", [["--dialect", "spark"], ["--into", "x"]])
def test_plan_refuses_options_of_sql_without_it(refused, database, policy, words):
    assert "--sql" in refused("plan", database, *policy, *words)


@pytest.mark.slow
def test_a_saved_plan_is_applied(run, database, policy, tmp_path):
    saved = tmp_path / "plan.json"
    outcome = run("plan", database, *policy, "--save", saved, "--json")
    assert outcome.document["levels"]
    assert "plan saved" in outcome.err
    assert json.loads(saved.read_text())["kind"] == "sqlanon plan"
    outcome = run("apply", database, saved, "--into", "released", "--json")
    assert outcome.code == 0
    assert outcome.document["output"] == "released"
    assert run("check", database, "released", *policy).code == 0


@pytest.mark.slow
def test_a_plan_that_could_not_be_applied_is_not_saved(run, refused, database, tmp_path):
    saved = tmp_path / "plan.json"
    words = ["plan", database, "--qi", "age", *AGE, "--k", 2, "--save", saved]
    line = refused(*words)
    for part in ("'name'", "'sex'", "'diagnosis'", "--keep", "--drop", "--others"):
        assert part in line
    assert not saved.exists()
    assert run(*words, "--others", "drop").code == 0
    assert run("apply", database, saved, "--into", "released").code == 0


@pytest.mark.slow
def test_a_plan_is_applied_to_a_table_of_another_name(run, refused, database, policy, tmp_path):
    saved = tmp_path / "plan.json"
    assert run("plan", database, *policy, "--save", saved, "--quiet").code == 0
    with duckdb.connect(str(database)) as connection:
        connection.execute("ALTER TABLE people RENAME TO persons")
    assert "--table" in refused("apply", database, saved, "--into", "released")
    outcome = run("apply", database, saved, "--table", "persons", "--into", "released")
    assert outcome.code == 0
    assert tables(database) == {"persons", "released"}


@pytest.mark.slow
def test_a_plan_may_replace_a_plan_and_nothing_else(run, refused, database, policy, tmp_path):
    saved = tmp_path / "plan.json"
    assert run("plan", database, *policy, "--save", saved).code == 0
    assert run("plan", database, *policy, "--save", saved).code == 0
    saved.write_text("precious")
    assert "not a plan" in refused("plan", database, *policy, "--save", saved)
    assert saved.read_text() == "precious"


@pytest.mark.slow
def test_a_plan_of_another_state_of_the_table_is_refused(run, refused, database, policy, tmp_path):
    saved = tmp_path / "plan.json"
    assert run("plan", database, *policy, "--save", saved, "--quiet").code == 0
    with duckdb.connect(str(database)) as connection:
        connection.execute("DELETE FROM people WHERE age = 30")
    assert "changed" in refused("apply", database, saved, "--into", "released")
    assert tables(database) == {"people"}


def test_apply_needs_a_plan(refused, database, tmp_path):
    missing = tmp_path / "plan.json"
    assert "plan.json" in refused("apply", database, missing, "--into", "released")
    missing.write_text("{}")
    assert "not a plan" in refused("apply", database, missing, "--into", "released")


@pytest.mark.slow
def test_anonymize_writes_a_table_beside(run, database, policy):
    outcome = run("anonymize", database, *policy, "--into", "released")
    assert (outcome.code, outcome.err) == (0, "")
    assert "output: released" in outcome.out
    assert tables(database) == {"people", "released"}
    assert run("check", database, "released", *policy).code == 0


@pytest.mark.slow
def test_anonymize_replaces_in_place_once_confirmed(run, refused, database, policy):
    assert "--yes" in refused("anonymize", database, *policy, "--in-place")
    assert run("check", database, *policy).code == 1
    assert run("anonymize", database, *policy, "--in-place", "--yes").code == 0
    assert run("check", database, *policy).code == 0
    assert b"person 3" not in database.read_bytes()


@pytest.fixture
def at_terminal(run, monkeypatch):
    """Runs the program with an answer typed at a terminal; gives the exit code and what it said."""

    def call(answer, *words):
        said = Terminal()
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        monkeypatch.setattr(sys, "stderr", said)
        return run(*words).code, said.getvalue()

    return call


@pytest.mark.slow
@pytest.mark.parametrize("planned", [True, False])
def test_in_place_shows_the_plan_then_asks_then_applies_it(
    run, at_terminal, database, policy, tmp_path, planned
):
    words = ["anonymize", database, *policy]
    if planned:
        words = ["apply", database, tmp_path / "plan.json"]
        assert run("plan", database, *policy, "--save", words[-1], "--quiet").code == 0
    before = database.read_bytes()
    code, said = at_terminal("n\n", *words, "--in-place")
    assert code == 2
    assert said.index("incognito: proven best") < said.index("[y/N]") < said.index("not confirmed")
    assert database.read_bytes() == before
    code, said = at_terminal("y\n", *words, "--in-place", "--quiet")
    assert code == 0
    assert "incognito" not in said
    assert "[y/N]" in said
    assert run("check", database, *policy).code == 0


@pytest.mark.parametrize(
    "words", [["plan"], ["plan", "--json"], ["plan", "--sql"], ["anonymize", "--dry-run"]]
)
def test_plan_that_does_not_hold_is_shown_and_exits_with_1(
    run, database, policy, monkeypatch, words
):
    from sqlanon.publishing import planner

    make_plan = planner.make_plan

    def violated(*given, **how):
        found = make_plan(*given, **how)
        models = tuple(replace(result, holds=False) for result in found.report.models)
        return replace(found, report=replace(found.report, models=models))

    monkeypatch.setattr(planner, "make_plan", violated)
    outcome = run(words[0], database, *policy, *words[1:])
    assert outcome.code == 1
    assert outcome.out


@pytest.mark.slow
def test_in_place_searches_once(at_terminal, database, policy, monkeypatch):
    from sqlanon.publishing import planner

    make_plan, plans = planner.make_plan, []

    def counted(*given, **how):
        plans.append(make_plan(*given, **how))
        return plans[-1]

    monkeypatch.setattr(planner, "make_plan", counted)
    assert at_terminal("y\n", "anonymize", database, *policy, "--in-place")[0] == 0
    assert len(plans) == 1


def test_what_cannot_be_replaced_is_refused_before_the_question(at_terminal, database, policy):
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE VIEW shown AS SELECT * FROM people")
    code, said = at_terminal("y\n", "anonymize", database, "shown", *policy, "--in-place")
    assert code == 2
    assert "[y/N]" not in said


@pytest.mark.slow
def test_rewrite_removes_what_the_database_once_held(run, refused, database, tmp_path):
    with duckdb.connect(str(database)) as connection:
        connection.execute("SET force_compression = 'uncompressed'")
        connection.execute("CREATE TABLE past AS SELECT 'PAST' || range AS x FROM range(90_000)")
        connection.execute("CHECKPOINT")
        connection.execute("DROP TABLE past")
        connection.execute("CREATE MACRO older(age) AS age + 42")
    assert b"PAST" in database.read_bytes()
    outcome = run("rewrite", database, "--threads", 1, "--temp-directory", tmp_path, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document["bytes_after"] == database.stat().st_size
    assert outcome.document["notes"] == ["1 macro with constants: 'older'"]
    assert b"PAST" not in database.read_bytes()
    assert rows(database, "SELECT count(*) FROM people") == [(10,)]
    outcome = run("rewrite", database)
    assert f"{database} rewritten: " in outcome.out
    assert run("rewrite", database, "--quiet").out == ""


def test_rewrite_refuses_what_is_no_database(refused, patients, tmp_path):
    assert "is not a DuckDB database" in refused("rewrite", patients)
    assert "missing" in refused("rewrite", tmp_path / "missing.duckdb")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".arrow", ".duckdb"])
def test_anonymize_writes_a_file(run, database, policy, tmp_path, ending):
    file = tmp_path / f"released{ending}"
    outcome = run("anonymize", database, *policy, "--output", file, "--json")
    assert outcome.code == 0
    assert outcome.document["output"] == str(file)
    assert run("check", file, *policy).code == 0


@pytest.mark.slow
def test_nothing_that_is_there_is_replaced_unasked(run, refused, database, policy, tmp_path):
    file = tmp_path / "released.csv"
    file.write_text("precious")
    assert "--overwrite" in refused("anonymize", database, *policy, "--output", file)
    assert file.read_text() == "precious"
    assert run("anonymize", database, *policy, "--output", file, "--overwrite").code == 0
    beside = ["anonymize", database, "people", *policy, "--into", "released"]
    assert run(*beside).code == 0
    assert "--overwrite" in refused(*beside)
    assert run(*beside, "--overwrite").code == 0


@pytest.mark.slow
def test_a_dry_run_shows_and_writes_nothing(run, refused, database, policy):
    before = database.read_bytes()
    for target in ([], ["--into", "released"], ["--in-place"]):
        outcome = run("anonymize", database, *policy, *target, "--dry-run", "--json")
        assert outcome.code == 0
        assert outcome.document["output"] is None
        assert "nothing is written" in outcome.err
    assert database.read_bytes() == before
    assert "no role" in refused("anonymize", database, "--qi", "age", "--k", 2, "--dry-run")
    targets = ["--into", "a", "--output", "b.csv"]
    assert "one place" in refused("anonymize", database, *policy, *targets, "--dry-run")


@pytest.mark.slow
def test_columns_without_a_role_stop_a_publishing_command(run, refused, database):
    line = refused("anonymize", database, "--qi", "age", "--k", 2, "--into", "released")
    for part in ("'name'", "'sex'", "'diagnosis'", "--keep", "--drop", "--others"):
        assert part in line
    settled = ["--drop", "name", "--keep", "sex,diagnosis", "--into", "released"]
    assert run("anonymize", database, "--qi", "age", *AGE, "--k", 2, *settled).code == 0
    assert rows(database, "DESCRIBE released")[1][0] == "sex"


@pytest.mark.slow
def test_suppressed_records_are_kept_under_their_label(run, database):
    words = [*ROLES, "--level", "age=0", "--level", "sex=0", "--k", 2]
    words += ["--suppression-limit", 1, "--suppressed", "keep", "--suppressed-label", "gone"]
    assert run("anonymize", database, *words, "--into", "released").code == 0
    assert rows(database, "SELECT DISTINCT age, sex FROM released") == [("gone", "gone")]


def test_no_recoding_within_the_bounds_is_exit_code_1(run, database):
    words = [*ROLES, "--max-level", "age=0", "--k", 2, "--into", "released"]
    outcome = run("anonymize", database, *words)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("sqlanon: error: no recoding")
    assert outcome.err.count("\n") == 1
    assert tables(database) == {"people"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--k", "2"], "no quasi-identifier"),
        (["--qi", "age", "--k", "11"], "only 10 records"),
        (["--qi", "agee", "--k", "2"], "did you mean 'age'"),
        (["--qi", "age"], "no privacy model"),
        (["--qi", "age", "--k", "2", "--others", "maybe"], "--others is given twice"),
        (["--qi", "age", "--k", "2", "--max-level", "age=7"], "level 7"),
        (["--qi", "age", "--k", "2", "--method", "magic"], "magic"),
        (["--qi", "age", "--k", "2", "--loss", "much"], "much"),
        (["--qi", "age", "--k", "2", "--time-limit", "0"], "time limit"),
        (["--qi", "age", "--k", "2", "--seed", "-1"], "seed -1 is not"),
        (["--qi", "age", "--k", "2", "--policy", "missing.toml"], "missing.toml"),
        (["--qi", "age", "--k", "2", "--hierarchy", "age=missing.csv"], "missing.csv"),
        (["--qi", "age", "--k", "2", "--hierarchy", "age=table:missing"], "missing"),
        (["--qi", "diagnosis", "--k", "2", "--hierarchy", "diagnosis=intervals:5"], "diagnosis"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(refused, database, words, part):
    for command, *target in (["plan"], ["anonymize", "--into", "released"]):
        assert part in refused(command, database, "--others", "drop", *words, *target)
    assert tables(database) == {"people"}


@pytest.mark.parametrize("command", ["check", "plan", "anonymize"])
def test_a_source_that_is_not_there_is_one_line(refused, database, tmp_path, command):
    words = ["--qi", "age", "--k", 2, *(["--into", "x"] if command == "anonymize" else [])]
    assert "missing.csv" in refused(command, tmp_path / "missing.csv", *words)
    assert "missing" in refused(command, database, "missing", *words)


def test_exactly_one_target_is_wanted(refused, database, policy):
    assert "--into" in refused("anonymize", database, *policy)
    assert "--into" in refused("anonymize", database, *policy, "--into", "a", "--in-place")
    assert "--yes" in refused("anonymize", database, *policy, "--into", "a", "--yes")


def test_a_file_is_published_to_a_file(refused, patients):
    words = ["--qi", "age", "--others", "drop", "--k", 2]
    assert "--output" in refused("anonymize", patients, *words, "--into", "released")


HOSTILE = ["select", 'a"b', "x; DROP TABLE t", "Ünï çode", "new\nline", "a, b", "a=b", "it's"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture
def hostile(tmp_path):
    """A table, and its options, whose names would break careless SQL and careless splitting."""
    path = tmp_path / 'it\'s; a "file".duckdb'
    table = 'drop table; "x"'
    names = ", ".join(map(quoted, ["n", "count", *HOSTILE]))
    values = ", ".join(f"range % {2 + number % 3}" for number in range(len(HOSTILE)))
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"""
            CREATE TABLE {quoted(table)} AS
            SELECT * FROM (SELECT range, range % 2, {values} FROM range(24)) AS t({names})
        """)
    options = ["--k", 2, "--keep", "count", "--drop", "n"]
    for name in HOSTILE:
        options += ["--qi", name, "--weight", f"{name}=2", "--max-level", f"{name}=1"]
        options += ["--hierarchy", f"{name}=sql:'x=y' || (value > 0)"]
    return path, table, options


@pytest.mark.slow
def test_hostile_names_go_through_every_command(run, hostile, tmp_path):
    path, table, options = hostile
    saved, file = tmp_path / "plan.json", tmp_path / "released.csv"
    document = run("plan", path, table, *options, "--save", saved, "--json").document
    assert list(document["levels"]) == HOSTILE
    assert run("plan", path, table, *options).code == 0
    assert run("plan", path, table, *options, "--sql", "--dialect", "spark").code == 0
    assert run("apply", path, saved, "--into", 'y"; DROP TABLE x').code == 0
    assert run("check", path, 'y"; DROP TABLE x', *options[:2], *qi(options)).code == 0
    assert run("anonymize", path, table, *options, "--output", file).code == 0
    assert run("check", file, *options[:2], *qi(options)).code == 0
    assert run("anonymize", path, table, *options, "--in-place", "--yes").code == 0
    assert run("check", path, table, *options[:2], *qi(options)).code == 0


def qi(options):
    return [
        word
        for flag, value in zip(options[::2], options[1::2], strict=True)
        if flag == "--qi"
        for word in (flag, value)
    ]


@pytest.mark.slow
def test_hostile_names_in_errors_stay_on_one_line(refused, hostile):
    path, table, _ = hostile
    line = refused("anonymize", path, table, "--qi", "select", "--k", 2, "--into", "y")
    assert "'new\\nline'" in line
    assert "new" in refused("plan", path, table, "--qi", "new\nlin", "--k", 2)
    assert "\\x1b" in refused("check", path, "\x1b[31m", "--qi", "n")


@pytest.fixture
def unsearched(monkeypatch):
    """Fails where a search begins."""

    def search(*_, **__):
        raise AssertionError

    monkeypatch.setattr("sqlanon.publishing.planner.make_plan", search)


@pytest.mark.every_row
@pytest.mark.parametrize("asked", [["--dry-run"], ["--preview", 2], ["--dry-run", "--preview", 2]])
def test_a_target_in_the_way_is_told_before_the_search(
    refused, database, policy, unsearched, asked
):
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE there (x INTEGER)")
    words = ["anonymize", database, "people", *policy, *asked]
    assert "--overwrite" in refused(*words, "--into", "there")


@pytest.mark.every_row
@pytest.mark.parametrize("asked", [["--dry-run"], ["--yes", "--preview", 2]])
def test_a_view_in_the_way_is_told_before_the_search(refused, database, policy, unsearched, asked):
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE VIEW named AS SELECT name FROM people")
    before = database.read_bytes()
    assert "named" in refused("anonymize", database, "people", *policy, *asked, "--in-place")
    assert database.read_bytes() == before


@pytest.mark.slow
def test_in_place_shows_the_preview_before_it_asks(at_terminal, database, policy):
    words = ["anonymize", database, *policy, "--in-place", "--preview", 1]
    code, said = at_terminal("n\n", *words)
    assert code == 2
    assert said.index("record 1") < said.index("[y/N]") < said.index("not confirmed")


@pytest.mark.slow
def test_a_dry_run_with_a_target_shows_the_preview(run, database, policy):
    before = database.read_bytes()
    words = ["anonymize", database, *policy, "--dry-run", "--preview", 1]
    alone, *aimed = (
        run(*words, *target, "--json") for target in ([], ["--into", "new"], ["--in-place"])
    )
    assert [each.document["preview"] for each in aimed] == [alone.document["preview"]] * 2
    assert {each.document["output"] for each in (alone, *aimed)} == {None}
    assert database.read_bytes() == before
