"""README and the pages of `docs/`: what they show works, and the reference has everything."""

from __future__ import annotations

import doctest
import importlib
import io
import json
import re
import shlex
import shutil
import sys
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import duckdb
import pytest
import typer
from shown import SHOWN_ONLY, Reader, blocks_of

import sqlanon
from sqlanon.cli.main import program, status
from sqlanon.methods.registry import METHODS
from sqlanon.publishing.settings import Settings
from sqlanon.reports.findings import RULES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SHOWING = [
    page
    for page in PAGES
    if any(block.language not in SHOWN_ONLY for block in blocks_of(page.read_text("utf-8")))
]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The folder that `sqlanon demo` leaves, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "sqlanon-demo"
    with redirect_stdout(io.StringIO()) as printed:
        assert status(["demo", str(folder), "--json"]) == 0
    (folder / "demo.json").write_text(printed.getvalue())
    return folder


@pytest.fixture
def folder(demo, tmp_path, monkeypatch):
    """A working directory with the demo's folder in it, as a reader has it."""
    shutil.copytree(demo, tmp_path / "sqlanon-demo")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def hooks():
    """The modules that make the reference, by name; none of them needs mkdocs."""
    sys.path.insert(0, str(DOCS / "hooks"))
    names = ("commands", "documents", "findings", "glossary", "papers", "python_names")
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(DOCS / "hooks"))


@pytest.mark.slow
@pytest.mark.parametrize("page", SHOWING, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_works_as_shown(page, folder):
    Reader().read(page.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ sqlanon check nothing.csv\n```",
        "```console\n$ cat a.txt\nother\n```",
        "```python\nprint(1)\n```\n```output\n2\n```",
        "```toml\nq = 5\n[quasi_identifiers]\nage = {}\n```",
        "```bash\nls\n```",
    ],
)
@pytest.mark.every_row
def test_a_page_that_is_wrong_is_found(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("some\n")
    with pytest.raises((Exception, AssertionError)) as caught:
        Reader().read(text)
    assert "in line" in caught.value.__notes__[-1]


def test_readme_is_short_and_its_set_up_is_two_commands_of_one_line():
    assert len(README.splitlines()) <= 120
    indented = [line.strip() for line in README.splitlines() if line.startswith("    python3")]
    assert len(indented) == 2
    assert indented[0].endswith("sqlanon demo")
    assert indented[1].endswith("-m pytest")


def test_readme_names_no_method_that_there_is_not():
    section = README[README.index("## Methods") : README.index("## What anonymization")]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall("`(.*?)`", row)} <= set(METHODS)


def test_links_of_readme_lead_somewhere():
    for path in re.findall(r"`((?:docs|benchmarks)/[^`]*|[A-Z]+\.md)`", README):
        assert (ROOT / path).exists(), path


@pytest.mark.slow
def test_every_command_and_option_is_in_the_reference(hooks):
    pages = hooks["commands"].pages()
    root = typer.main.get_command(program())
    found = dict(hooks["commands"].every(root, ()))
    assert {"check", "plan", "hierarchy make"} <= found.keys()
    for name, command in found.items():
        page = pages[name.replace(" ", "-")]
        assert f"`sqlanon {name}`" in pages["index"]
        for parameter in command.params:
            for option in parameter.opts:
                assert option == "--help" or f"`{option}`" in page or option == parameter.name


def test_every_public_name_and_keyword_is_in_the_reference(hooks):
    page = hooks["python_names"].page()
    for name in sqlanon.__all__:
        assert page.count(f"::: sqlanon.{name}\n") == 1
    for keyword in Settings.__annotations__:
        assert f"| `{keyword}` |" in page


@pytest.mark.slow
def test_every_paper_that_the_code_cites_is_listed_with_the_modules(hooks):
    page = hooks["papers"].page(DOCS / "papers.toml")
    listed = hooks["papers"].papers(DOCS / "papers.toml")
    assert page.count("In the code:") == len(listed)


def test_every_term_has_an_explanation(hooks):
    text = (DOCS / "glossary.md").read_text("utf-8")
    terms = hooks["glossary"].terms(text)
    assert len(terms) >= text.count("\n:   ")
    assert all(sentence.endswith(".") and len(sentence) > 20 for sentence in terms.values())


@pytest.mark.slow
def test_examples_in_docstrings_are_true():
    """Of every module that shows any."""
    shown = [path for home in ("sqlanon", "cli") for path in (ROOT / home).rglob("*.py")
             if ">>>" in path.read_text("utf-8")]  # fmt: skip
    for path in shown:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        module = importlib.import_module(name if name.startswith("sqlanon") else f"sqlanon.{name}")
        assert doctest.testmod(module).failed == 0, path


DOCUMENTS = {
    "check": [
        "check few.duckdb people --policy policy.toml --l 2",
        "check few.duckdb people --policy kept.toml",
    ],
    "risk": [
        "risk few.duckdb people --policy kept.toml",
        "risk few.duckdb people --qi age,sex --population people.parquet",
        "risk few.duckdb people --qi age,sex --every-subset --population-size 1000 "
        "--weight-column household_size --household person_id",
    ],
    "result": [
        "plan few.duckdb people --qi age,sex,postcode --hierarchy age=intervals:5,10 --k 9 "
        "--keep region --others drop --suppression-limit 0.1 --preview 1 "
        "--minimal-nodes --alternatives --save plan.json",
        "plan few.duckdb people --qi age,sex,citizenship --k 2 --sql --others drop",
        "plan few.duckdb people --qi age,sex --k 2 --method auto",
        "plan few.duckdb people --qi household_size,sex --k 5 --method scheme --scheme sps",
        "plan few.duckdb people --qi age,sex --k 5 --method mondrian --sensitive diagnosis "
        "--l 2 --improve anneal --iterations 50 --partitioning relaxed",
        "plan few.duckdb people --qi age,sex --k 9 --method forest --improve lns --pools 2",
        "plan few.duckdb people --qi age,sex --k 2 --method pattern-exact --patterns all",
        "apply few.duckdb plan.json --into out --manifest out.manifest.json",
        "anonymize few.duckdb people --qi age,sex --k 2 --sensitive diagnosis --others drop "
        "--into first",
        "anonymize few.duckdb people --qi age,sex --k 2 --sensitive diagnosis --others drop "
        "--into again --against first",
        "plan few.duckdb people --qi sex --k 2 --others drop --method incognito --save sex.json",
        "apply few.duckdb sex.json --into sexes",
        "apply few.duckdb sex.json --to people --released sexes --into more "
        "--manifest more.manifest.json",
    ],
    "lint": ["lint people.parquet --policy kept.toml --against few.duckdb --against-table people"],
    "sweep": [
        "plan few.duckdb people --qi age,sex --k 5 --others drop --sweep k=2,5 "
        "--sweep suppression_limit=0,0.1"
    ],
    "measure": [
        "measure few.duckdb out --table people --qi age,sex,postcode "
        "--hierarchy age=intervals:5,10 --k 9 --control people"
    ],
    "report": [
        "report few.duckdb people --released out --qi age,sex,postcode --hierarchy "
        "age=intervals:5,10 --k 9 --keep region --others drop --suppression-limit 0.1 "
        "--plan plan.json --effort none",
        "report few.duckdb people --released people --policy policy.toml --effort none",
    ],
    "verify": ["verify few.duckdb out.manifest.json --table out"],
    "mine": ["mine few.duckdb people --qi age,sex --k 50"],
    "bound": ["bound few.duckdb people --qi age,sex --k 20 --level sex=1"],
    "compare": [
        "compare few.duckdb people --qi age,sex --k 5 --methods incognito,mondrian,scheme "
        "--time-limit 9"
    ],
    "init": [
        "init few.duckdb people --output drafted.toml",
        "init few.duckdb people --output drafted.toml --overwrite",
        "init visits.csv --output visits.toml --profile hipaa-safe-harbor",
    ],
    "hierarchy_show": ["hierarchy show intervals:5,10 few.duckdb people --column age"],
    "hierarchy_check": ["hierarchy check few.duckdb people --hierarchy age=intervals:5,10"],
    "hierarchy_make": [
        "hierarchy make few.duckdb people --column sex --hierarchy suppress --output sex.csv"
    ],
    "hierarchy_load": ["hierarchy load few.duckdb sex sex.csv"],
    "hierarchy_list": ["hierarchy list few.duckdb"],
    "hierarchy_drop": ["hierarchy drop few.duckdb sex"],
    "rewrite": ["rewrite few.duckdb"],
    "error": ["check nothing.duckdb"],
}
KEPT = """
k = 2
quasi_identifiers = ["age", "sex"]
entity = "name"
keep = ["name", "region", "registered"]
"""
RARE = {
    *((shape, key) for shape in ("row", "point") for key in ("error.kind", "error.message")),
    *(("search", key) for key in ("block_bound", "cut_short", "given_up")),
}
"""Keys that only a failure, or a table of many blocks, brings about."""


@pytest.mark.slow
def test_every_key_of_a_document_is_in_the_reference_and_the_other_way_round(
    hooks, folder, monkeypatch, capsys
):
    monkeypatch.chdir("sqlanon-demo")
    Path("kept.toml").write_text(KEPT)
    with duckdb.connect("few.duckdb") as connection:
        connection.execute("ATTACH 'census.duckdb' AS census (READ_ONLY)")
        connection.execute("CREATE TABLE people AS FROM census.people LIMIT 200")
        connection.execute("COPY people TO 'people.parquet'")
    visits = [f"{number // 3},{number % 7}" for number in range(90)]
    Path("visits.csv").write_text("\n".join(["patient_id,age", *visits, ""]))
    known = hooks["documents"].shapes(DOCS / "reference" / "json_keys.toml")
    found = hooks["documents"].Comparison(known)
    found.look(json.loads(Path("demo.json").read_text()), "demo")
    for shape, line in ((shape, line) for shape, each in DOCUMENTS.items() for line in each):
        status([*shlex.split(line), "--json"])
        document = json.loads(capsys.readouterr().out)
        assert shape == "error" or "error" not in document, (line, document.get("error"))
        found.look(document, shape)
    for name in ("out", "more"):
        found.look(json.loads(Path(f"{name}.manifest.json").read_text("utf-8")), "manifest")
    assert found.faults == []
    bases = {base for shape in known.values() for base in shape.like}
    described = {(name, key) for name, shape in known.items() for key in shape.keys}
    seen = found.seen | {(base, key) for base in bases for _, key in found.seen}
    assert described - seen - RARE == set()


def test_every_rule_of_the_linter_is_in_the_reference(hooks):
    page = hooks["findings"].page()
    for rule in RULES.values():
        assert page.count(f"| `{rule.id}` | {rule.asked} | {rule.explanation} | ") == 1


def test_the_pages_are_all_in_the_navigation():
    config = (ROOT / "mkdocs.yml").read_text("utf-8")
    made = ("commands", "json.md", "findings.md", "python.md")
    for page in DOCS.rglob("*.md"):
        assert f"{page.relative_to(DOCS)}" in config, page
    assert all(f"reference/{name}" in config for name in made)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "docs" in extras["project"]["optional-dependencies"]


def test_the_tests_that_promises_name_are_there():
    page = (DOCS / "explanation" / "security.md").read_text("utf-8")
    named = re.findall(r"`((?:tests|benchmarks)/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 60
    for path, test in named:
        assert (ROOT / path).is_file(), path
        assert not test or f"def {test}(" in (ROOT / path).read_text("utf-8"), (path, test)
