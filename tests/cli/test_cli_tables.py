"""The commands check, plan, apply and anonymize, from the command line to the table."""

import json
import sys
from dataclasses import replace

import duckdb
import pytest
from cli_options import Terminal
from databases import quoted

ROLES = ["--qi", "age,sex", "--sensitive", "diagnosis", "--identifier", "name"]


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


@pytest.mark.slow
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


@pytest.mark.slow
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
def test_plan_prints_sql_of_another_dialect(run, database, policy):
    words = ["plan", database, *policy, "--sql", "--dialect", "spark", "--into", 'a "b"']
    outcome = run(*words)
    assert '\nCREATE TABLE `a "b"`' in outcome.out
    document = run(*words, "--json").document
    assert document["sql"] + ";\n" == outcome.out
    assert document["levels"]


@pytest.mark.slow
def test_a_saved_plan_is_applied(run, database, policy, tmp_path):
    saved = tmp_path / "plan.json"
    assert run("plan", database, *policy, "--save", saved, "--quiet").code == 0
    outcome = run("plan", database, *policy, "--save", saved, "--json")  # in place of the first
    assert outcome.document["levels"]
    assert "plan saved" in outcome.err
    assert json.loads(saved.read_text())["kind"] == "sqlanon plan"
    outcome = run("apply", database, saved, "--into", "released", "--json")
    assert outcome.code == 0
    assert outcome.document["output"] == "released"
    assert run("check", database, "released", *policy).code == 0


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
    words, parts = ["anonymize", database, *policy, "--preview", 1], ["proven best", "record 1"]
    if planned:
        words, parts = ["apply", database, tmp_path / "plan.json"], ["proven best"]
        assert run("plan", database, *policy, "--save", words[-1], "--quiet").code == 0
    before = database.read_bytes()
    code, said = at_terminal("n\n", *words, "--in-place")
    assert code == 2
    places = [said.index(part) for part in (*parts, "[y/N]", "not confirmed")]
    assert places == sorted(places)
    assert database.read_bytes() == before
    code, said = at_terminal("y\n", *words, "--in-place", "--quiet")
    assert code == 0
    assert "incognito" not in said
    assert "[y/N]" in said
    assert run("check", database, *policy).code == 0


@pytest.mark.slow
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


@pytest.mark.slow
def test_rewrite_tells_sizes_and_what_is_kept(run, database, tmp_path):
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE MACRO older(age) AS age + 42")
    outcome = run("rewrite", database, "--threads", 1, "--temp-directory", tmp_path, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document["bytes_after"] == database.stat().st_size
    assert outcome.document["notes"] == ["1 macro with constants: 'older'"]
    assert rows(database, "SELECT count(*) FROM people") == [(10,)]
    assert f"{database} rewritten: " in run("rewrite", database).out
    assert run("rewrite", database, "--quiet").out == ""


@pytest.mark.slow
def test_a_dry_run_shows_and_writes_nothing(run, refused, database, policy):
    before = database.read_bytes()
    words, previews = ["anonymize", database, *policy, "--dry-run", "--preview", 1], []
    for target in ([], ["--into", "released"], ["--in-place"]):
        outcome = run(*words, *target, "--json")
        assert outcome.code == 0
        assert outcome.document["output"] is None
        assert "nothing is written" in outcome.err
        previews.append(outcome.document["preview"])
    assert previews == [previews[0]] * 3
    assert database.read_bytes() == before
    assert "no role" in refused("anonymize", database, "--qi", "age", "--k", 2, "--dry-run")
    targets = ["--into", "a", "--output", "b.csv"]
    assert "one place" in refused("anonymize", database, *policy, *targets, "--dry-run")


@pytest.mark.slow
def test_suppressed_records_are_kept_under_their_label(run, database):
    words = [*ROLES, "--level", "age=0", "--level", "sex=0", "--k", 2]
    words += ["--suppression-limit", 1, "--suppressed", "keep", "--suppressed-label", "gone"]
    assert run("anonymize", database, *words, "--into", "released").code == 0
    assert rows(database, "SELECT DISTINCT age, sex FROM released") == [("gone", "gone")]


@pytest.mark.slow
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
        (["--qi", "age", "--k", "2", "--others", "maybe"], "--others is given twice"),
        (["--qi", "age", "--k", "2", "--loss", "much"], "much"),
        (["--qi", "age", "--k", "2", "--time-limit", "0"], "time limit"),
        (["--qi", "age", "--k", "2", "--seed", "-1"], "seed -1 is not"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(refused, database, words, part):
    for command, *target in (["plan"], ["anonymize", "--into", "released"]):
        assert part in refused(command, database, "--others", "drop", *words, *target)
    assert tables(database) == {"people"}


def test_exactly_one_target_is_wanted(refused, database, policy):
    assert "--into" in refused("anonymize", database, *policy)
    assert "--into" in refused("anonymize", database, *policy, "--into", "a", "--in-place")
    assert "--yes" in refused("anonymize", database, *policy, "--into", "a", "--yes")


HOSTILE = ["select", 'a"b', "x; DROP TABLE t", "Ünï çode", "new\nline", "a, b", "a=b", "it's"]


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
    begun = "the search has begun"
    monkeypatch.setattr("sqlanon.publishing.planner.make_plan", lambda *_, **__: pytest.fail(begun))


@pytest.mark.slow
@pytest.mark.parametrize("asked", [["--dry-run"], ["--preview", 2], ["--dry-run", "--preview", 2]])
def test_what_is_in_the_way_is_told_before_the_search(
    refused, at_terminal, database, policy, unsearched, asked
):
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE there (x INTEGER)")
        connection.execute("CREATE VIEW named AS SELECT name FROM people")
        connection.execute("CREATE VIEW shown AS SELECT * FROM people")
    before = database.read_bytes()
    words = ["anonymize", database, "people", *policy, *asked]
    assert "--overwrite" in refused(*words, "--into", "there")
    for table, told in (("people", "view 'named' uses 'name'"), ("shown", "is a view")):
        words = ["anonymize", database, table, *policy, *asked, "--in-place"]
        code, said = at_terminal("y\n", *words)
        assert code == 2
        assert told in said
        assert "[y/N]" not in said
    assert database.read_bytes() == before
