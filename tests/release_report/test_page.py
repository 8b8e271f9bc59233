"""The page: what every reader can use, whatever the values are."""

import json
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from databases import empty_database, insert

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.cli.main import status
from sqlanon.errors import PolicyError, SourceError
from sqlanon.release_report import charts

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
VOID = {"meta", "link", "br", "img", "input", "hr", "path", "rect", "line", "circle"}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</title></style></svg>",
    "שלום עולם",
    "x" * 5000,
    "",
    "{{ 7 * 7 }}",
    None,
]


class Page(HTMLParser):
    """The elements of a page, and whether each is closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def of(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]


def people(rows, columns):
    connection = empty_database()
    connection.execute(f"CREATE TABLE people ({columns})")
    insert(connection, "people", rows)
    return connection


@pytest.fixture
def undrawn(monkeypatch):
    """Pages without charts, which take most of the time."""
    monkeypatch.setattr(charts.Pictures, "bars", lambda self, rows, **_: "<svg></svg>")


@pytest.fixture(scope="module")
def page():
    """A page with its charts, of hostile values."""
    rows = [(value, value, value) for value in HOSTILE for _ in range(6)]
    rows += [("rare", "rare", "rare")]
    connection = people(rows, '"a<b>" TEXT, "c&""d" TEXT, ill TEXT')
    policy = Policy(
        {"a<b>": Hierarchy.suppression(), 'c&"d': Hierarchy.suppression()},
        sensitive=["ill"],
        models=[KAnonymity(5)],
        suppression_limit=0.1,
    )
    sqlanon.anonymize(connection, "people", policy, into="released")
    return sqlanon.report(connection, "people", "released", policy, effort="none").html


def test_a_page_needs_nothing_else_and_runs_nothing(page):
    read = Page(page)
    assert not read.of("script", "link", "iframe", "img", "object", "embed")
    links = [each["href"] for each in read.of("a")]
    assert links
    assert all(link.startswith("#") for link in links)
    assert not [name for _, own in read.elements for name in own if name.startswith("on")]
    assert "url(" not in page
    assert "@import" not in page


def test_hostile_values_are_text(page):
    read = Page(page)
    assert not read.open
    assert any("<script>alert(1)</script>" in text for text in read.texts)
    assert any("NULL (no value)" in text for text in read.texts)
    assert any("(empty text)" in text for text in read.texts)
    assert "x" * 200 not in page
    assert "rare" not in page


def test_a_page_can_be_read_without_seeing_it(page):
    read = Page(page)
    assert read.of("html") == [{"lang": "en"}]
    assert len(read.of("main")) == len(read.of("h1")) == len(read.of("title")) == 1
    levels = [int(tag[1]) for tag, _ in read.elements if tag in ("h1", "h2", "h3", "h4")]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    pictures = [own for own in read.of("div") if own.get("role") == "img"]
    assert len(pictures) == len(read.of("svg")) == len(read.of("figure")) > 4
    assert all(len(own["aria-label"]) > 20 for own in pictures)
    assert "graphics-" not in page
    assert all(own.get("scope") in ("col", "row") for own in read.of("th"))
    assert len(read.of("caption")) == len(read.of("table")) >= len(pictures)


def test_charts_hold_what_their_tables_hold(page):
    inside = page[page.index('aria-labelledby="columns"') :]
    assert "שלום עולם" in inside[inside.index("<svg") : inside.index("</svg>")]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("kept", ["FALSE", "TRUE"])
def test_nothing_released_and_everything_suppressed_make_a_page(kept, monkeypatch):
    monkeypatch.setattr("sqlanon.release_report.views.UNFOLDED", 1)
    connection = people([("a", 1), ("b", 2)], "town TEXT, age INT")
    connection.execute(f"CREATE TABLE released AS SELECT '*' AS town, '*' AS age WHERE {kept}")
    own = Policy(["town", "age"], models=[KAnonymity(1)])
    html = sqlanon.report(connection, "people", "released", own, effort="none").html
    assert ("The released table is empty" in html) == (kept == "FALSE")
    assert ("1 more column</summary>" in html) == (kept == "TRUE")
    assert not Page(html).open


@pytest.fixture
def files(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n" + "1,f\n2,f\n11,m\n12,m\n" * 2)
    return tmp_path


def arguments(files):
    return [str(files / "people.csv"), "--qi", "age,sex", "--hierarchy", "age=intervals:10"]


@pytest.mark.usefixtures("undrawn")
def test_the_commands_write_a_page(files, capsys):
    page, output, again = files / "r.html", files / "out.csv", files / "again.html"
    asked = [*arguments(files), "--k", "2"]
    assert status(["anonymize", *asked, "--output", str(output), "--report", str(page)]) == 0
    assert "report written to" in capsys.readouterr().err
    assert "satisfies its policy" in page.read_text()
    assert "CREATE TABLE" in page.read_text()
    assert str(files) not in page.read_text()
    asked += ["--released", str(output), "--effort", "none"]
    assert status(["report", *asked, "-o", str(again)]) == 0
    assert not capsys.readouterr().out
    assert "out.csv" in again.read_text()
    assert status(["report", *asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["holds"]
    assert document["schema_version"] == 1
    assert document["hashes"]["released"]
    assert status(["report", *asked, "-o", str(again)]) == 2
    assert "--overwrite" in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn")
def test_a_release_that_fails_exits_with_1(files, capsys):
    asked = [*arguments(files), "--k", "3", "--effort", "none"]
    asked += ["--released", str(files / "people.csv")]
    assert status(["report", *asked]) == 1
    assert "NOT satisfy" in capsys.readouterr().out


@pytest.mark.usefixtures("undrawn")
def test_in_place_the_original_is_looked_at_before_it_is_gone(files):
    import duckdb

    database, page = files / "people.duckdb", files / "r.html"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{files / 'people.csv'}'")
    policy = Policy({"age": Hierarchy.intervals(10)}, drop=["sex"], models=[KAnonymity(4)])
    plan = sqlanon.plan(database, "people", policy)
    report = sqlanon.apply(database, plan, in_place=True, report=page)
    assert report.seconds["report"] > 0
    assert "Classes and risk before and after" in page.read_text()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--report", "r.txt"], "the ending .html"),
        (["--report", "no/such/r.html"], "there is no folder"),
        (["--report", "r.html", "--dry-run"], "writes nothing"),
    ],
)
def test_a_page_that_cannot_be_is_refused_before_any_work(files, capsys, words, fault):
    output = str(files / "out.csv")
    assert status(["anonymize", *arguments(files), "--k", "2", "--output", output, *words]) == 2
    assert fault in capsys.readouterr().err
    assert not (files / "out.csv").exists()


def test_without_the_extra_text_and_json_remain(files, capsys, monkeypatch):
    monkeypatch.setattr("sqlanon.pictures.can_draw", lambda: False)
    asked = ["report", *arguments(files), "--k", "2", "--effort", "none"]
    asked += ["--released", str(files / "people.csv")]
    assert status([*asked, "-o", str(files / "r.html")]) == 2
    assert "pip install 'sqlanon[report]'" in capsys.readouterr().err
    assert status(asked) == 0
    assert "satisfies" in capsys.readouterr().out


def test_write_refuses_other_endings_and_files_that_are_there(tmp_path):
    connection = people([("a",), ("a",)], "town TEXT")
    own = Policy(["town"], models=[KAnonymity(2)])
    report = sqlanon.report(connection, "people", "people", own, effort="none")
    (tmp_path / "there.html").write_text("")
    for name, fault in (("r.pdf", "ending .html"), ("there.html", "exists already")):
        with pytest.raises(SourceError, match=fault):
            report.write(tmp_path / name)


def test_a_page_is_refused_by_its_kind():
    connection = people([("a",), ("a",)], "town TEXT")
    own = Policy(["town"], models=[KAnonymity(2)])
    with pytest.raises(PolicyError, match="report must be a path"):
        sqlanon.anonymize(connection, "people", own, into="out", report=3)
