"""Options of a population: for models with its values, for risk as the release has them."""

import pytest

pytestmark = pytest.mark.slow


def test_a_population_is_for_models_where_these_are_asked_for(run, tmp_path):
    register, table = tmp_path / "register.csv", tmp_path / "table.csv"
    register.write_text("age\n21\n22\n31\n32\n58\n")
    table.write_text("age,ill\n21,flu\n31,flu\n58,cold\n")
    words = (table, "--qi", "age", "--hierarchy", "age=intervals:10", "--others", "keep")
    words = (*words, "--population", register, "--suppression-limit", 0.4)
    planned = run("plan", *words, "--k-map", 2, "--delta-presence", "0:0.5", "--json").document
    assert planned["suppressed_records"] == 1
    assert [each["value"] for each in planned["models"]] == [2, 0, 0.5]
    refused = run("plan", *words)
    assert refused.code == 2
    assert "--population is for --k-map and --delta-presence" in refused.err
    risk = run("risk", table, "--qi", "age", "--population", register, "--k-map", 2, "--json")
    assert risk.document["population"]["sampling_fraction"] == 0.6
    assert "(--k-map, --delta-presence) change nothing here" in risk.err
    judged = run("check", table, *words[1:5], "--k-map", 2, "--population", register)
    assert (judged.code, "k-map 2 does NOT hold: the table has 1" in judged.out) == (1, True)


def test_a_population_that_cannot_be_read_is_told_as_any_other_file(run, tmp_path):
    table, register = tmp_path / "table.csv", tmp_path / "register.csv"
    table.write_text("age\n21\n21\n")
    for content, fault in ((b"", "is empty"), (b"age,age\n1,2\n", "several columns called 'age'")):
        register.write_bytes(content)
        told = run("check", table, "--qi", "age", "--k-map", 2, "--population", register)
        assert told.code == 2
        assert "the population: " in told.err
        assert fault in told.err


def test_a_population_or_control_of_a_header_alone_has_no_records(refused, tmp_path):
    table, register = tmp_path / "table.csv", tmp_path / "register.csv"
    table.write_text("age\n21\n21\n")
    register.write_text("age\n")
    for words in (
        ("check", table, "--k-map", 2, "--population", register),
        ("plan", table, "--k-map", 2, "--population", register),
        ("risk", table, "--population", register),
        ("measure", table, table, "--control", register),
    ):
        what = str(words[-2]).removeprefix("--")
        assert f"error: the {what} has no records" in refused(*words, "--qi", "age")


def test_a_population_that_no_model_asks_for_is_not_opened(run, tmp_path):
    table, policy = tmp_path / "table.csv", tmp_path / "policy.toml"
    table.write_text("age\n21\n21\n")
    policy.write_text('k = 2\npopulation = "missing.csv"\n[quasi_identifiers]\nage = {}\n')
    assert run("check", table, "--policy", policy).code == 0


def test_lint_tells_that_it_asks_no_models_of_a_population(run, refused, tmp_path):
    table, policy = tmp_path / "table.csv", tmp_path / "policy.toml"
    table.write_text("age\n21\n21\n")
    policy.write_text('k_map = 2\npopulation = "missing.csv"\n[quasi_identifiers]\nage = {}\n')
    for words in (["--policy", policy], ["--qi", "age", "--k-map", 2, "--population", "x.csv"]):
        linted = run("lint", table, *words, "--fail-on", "error")
        assert (linted.code, "change nothing here" in linted.err) == (0, True)
    assert "neither is asked for" in refused("lint", table, "--qi", "age", "--population", "x.csv")


def test_models_of_a_population_are_swept(run, tmp_path):
    register, table = tmp_path / "register.csv", tmp_path / "table.csv"
    register.write_text("age\n21\n22\n31\n32\n")
    table.write_text("age\n21\n31\n")
    words = (table, "--qi", "age", "--hierarchy", "age=intervals:10", "--population", register)
    for over, losses in (("k-map=1,2,3", 3), ("delta-presence=0:1,0.5:0.5", 2)):
        swept = run("plan", *words, "--sweep", over, "--json").document
        levels = [point["levels"]["age"] for point in swept["points"]]
        assert levels == [*range(losses)]


def test_a_saved_plan_finds_the_file_of_its_population_from_any_folder(
    run, refused, tmp_path, monkeypatch
):
    (tmp_path / "register.csv").write_text("age\n21\n22\n31\n32\n")
    (tmp_path / "table.csv").write_text("age\n21\n31\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    words = ("--qi", "age", "--hierarchy", "age=intervals:10", "--k-map", 2)
    words = (*words, "--population", "register.csv", "--save", "plan.json")
    assert run("plan", "table.csv", *words).code == 0
    monkeypatch.chdir(tmp_path / "elsewhere")
    apply = ("apply", tmp_path / "table.csv", tmp_path / "plan.json", "--output", "out.csv")
    assert run(*apply).code == 0
    (tmp_path / "register.csv").unlink()
    line = refused(*apply, "--overwrite")
    assert "the population: there is no table" in line
    assert "--table" not in line
