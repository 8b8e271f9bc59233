"""The command compare, from the command line to rows, exit codes and charts."""

import re
import sys

import duckdb
import pytest

import sqlanon

QUASI = ["--qi", "age,sex", "--hierarchy", "age=intervals:5,10", "--k", 2]


@pytest.fixture
def compared(run, database):
    """Runs a comparison of quick methods, and returns the outcome."""

    def call(*words, methods="incognito,direct-cover"):
        return run("compare", database, "people", *QUASI, "--methods", methods, *words)

    return call


@pytest.mark.slow
def test_a_row_is_the_plan_of_its_method(compared, run, database):
    outcome = compared("--json", methods="incognito")
    assert (outcome.code, outcome.err) == (0, "")
    [row] = outcome.document["methods"]
    planned = run("plan", database, "people", *QUASI, "--method", "incognito", "--json").document
    for name in ("method", "loss", "lower_bound", "classes", "k", "levels", "holds"):
        assert row[name] == planned[name]
    assert row["asked"] == {"method": "incognito", "loss": "lm", "k": 2}
    assert row["error"] is None
    assert row["seconds"]["total"] > 0
    assert outcome.document["table"] == "people"
    assert outcome.document["schema_version"] == 1


@pytest.mark.slow
def test_every_loss_with_every_k(compared):
    given = compared("--ks", "2,5", "--losses", "lm,suppressed-cells", "--json").document
    asked = {(row["asked"]["loss"], row["asked"]["k"]) for row in given["methods"]}
    assert asked == {("lm", 2), ("lm", 5), ("suppressed-cells", 2), ("suppressed-cells", 5)}
    assert len(given["methods"]) == 8
    assert all(row["k"] >= row["asked"]["k"] for row in given["methods"])


@pytest.mark.slow
def test_a_method_that_is_refused_is_a_row_with_its_reason(compared):
    outcome = compared("--losses", "discernibility", "--json")
    assert outcome.code == 0
    done, refused = outcome.document["methods"]
    assert done["method"] == "incognito"
    assert refused["error"]["kind"] == "PolicyError"
    assert "cannot steer direct-cover" in refused["error"]["message"]
    assert refused["loss"] == {"name": "discernibility", "value": None}
    page = compared("--losses", "discernibility").out
    assert "\n– direct-cover: loss 'discernibility' is measured" in page


@pytest.mark.slow
def test_the_page_is_sorted_by_loss_and_aligned(compared):
    lines = compared().out.splitlines()
    assert lines[0].startswith("people, 10 records: 2 of 2 searches done")
    at = next(n for n, line in enumerate(lines) if line.startswith("lm, k = 2: no recoding"))
    head, first, second = lines[at + 1 : at + 4]
    assert head.split()[:4] == ["method", "lm", "times", "bound"]
    values = [float(line[: head.index("lm") + 2].split()[-1]) for line in (first, second)]
    assert values == sorted(values)
    assert len(first) == len(head) == len(second)
    assert any(line.startswith("* auto chooses direct-cover: ") for line in lines)


@pytest.mark.slow
def test_where_no_recoding_satisfies_the_policy_the_reasons_are_shown(run, database):
    words = ["--sensitive", "diagnosis", "--l", 4, "--methods", "incognito,direct-cover"]
    outcome = run("compare", database, "people", *QUASI, *words, "--json")
    assert outcome.code == 1
    kinds = {row["error"]["kind"] for row in outcome.document["methods"]}
    assert kinds == {"UnsatisfiableError"}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--methods", "incognitto"], "did you mean 'incognito'"),
        (["--methods", ""], "--methods is empty"),
        (["--ks", ","], "--ks is empty"),
        (["--losses", "lm,hdm", "--methods", "incognito"], "cannot steer incognito"),
        (["--ks", "2,x"], "--ks takes whole numbers"),
        (["--methods", "pattern-greedy"], "needs patterns"),
        (["--methods", "incognito", "--beta", 2], "none of the methods that are compared"),
        (["--chart", "x.png"], "give it the ending .svg or .html"),
        (["--chart", "missing/x.svg"], "no folder"),
    ],
)
def test_compare_refuses_in_one_line(refused, database, words, part):
    assert part in refused("compare", database, "people", *QUASI, *words)


def test_a_chart_is_tried_before_any_search(refused, database, tmp_path, monkeypatch):
    chart = tmp_path / "methods.svg"
    chart.write_text("mine")
    monkeypatch.setattr(sqlanon, "compare", lambda *_, **__: pytest.fail("the search has begun"))
    words = ["compare", database, "people", *QUASI, "--chart", chart]
    assert "--overwrite" in refused(*words)
    assert chart.read_text() == "mine"


def test_without_what_draws_the_extra_is_named(refused, database, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setattr("sqlanon.comparison.drawing.find_spec", lambda name: None)
    words = ["compare", database, "people", *QUASI, "--chart", tmp_path / "x.svg"]
    assert "pip install 'sqlanon[report]'" in refused(*words)


@pytest.mark.slow
def test_a_page_needs_nothing_that_draws(compared, tmp_path, monkeypatch):
    monkeypatch.setattr("sqlanon.comparison.drawing.find_spec", lambda name: None)
    assert compared("--chart", tmp_path / "x.html").code == 0


@pytest.mark.slow
def test_charts_are_written(compared, tmp_path):
    pytest.importorskip("altair")
    picture, web = tmp_path / "methods.svg", tmp_path / "methods.html"
    outcome = compared("--ks", "2,5", "--chart", picture, "--chart", web)
    assert outcome.code == 0
    assert "chart written to" in outcome.err
    assert picture.read_text().startswith("<svg")
    text = web.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert text.count('<i style="width:100.0%"></i>') == 2
    assert not re.findall(r"https?://|<script|<svg", text)


@pytest.mark.slow
def test_names_of_a_table_are_escaped(run, tmp_path):
    pytest.importorskip("altair")
    database, page = tmp_path / "x.duckdb", tmp_path / "x.html"
    with duckdb.connect(str(database)) as connection:
        connection.execute('CREATE TABLE "<b>&" AS SELECT range % 2 AS a FROM range(8)')
    words = ["--qi", "a", "--k", 2, "--methods", "incognito", "--chart", page]
    assert run("compare", database, "<b>&", *words).code == 0
    assert "&lt;b&gt;&amp;" in page.read_text()
    assert "<b>" not in page.read_text()


@pytest.mark.slow
def test_patterns_of_a_policy_file_are_for_the_methods_that_take_them(run, database, policy_file):
    policy_file.write_text('patterns = [["sex"], ["none"]]\n' + policy_file.read_text())
    words = ["compare", database, "people", "--policy", policy_file, "--json", "--losses", "lm"]
    alone = run(*words, "--methods", "incognito")
    assert [row["error"] for row in alone.document["methods"]] == [None]
    both = run(*words, "--methods", "incognito,pattern-greedy")
    assert [row["error"] for row in both.document["methods"]] == [None, None]


@pytest.mark.slow
def test_a_file_of_data_is_compared_by_its_name(run, patients):
    words = ["--qi", "age,sex", "--k", 2, "--methods", "incognito", "--json"]
    assert run("compare", patients, *words).document["table"] == "patients.csv"


@pytest.mark.slow
def test_a_quiet_comparison_says_nothing(compared):
    outcome = compared("--quiet", methods="incognito")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
