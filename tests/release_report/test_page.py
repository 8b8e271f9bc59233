"""The page: what every reader can use, whatever the values are."""

import errno
import json
import os
import re
import sys
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import duckdb
import pytest
from databases import empty_database, insert

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.cli.main import status
from sqlanon.engine.files import DraftFile
from sqlanon.errors import PolicyError, SourceError
from sqlanon.release_report.page import BarTable
from sqlanon.reports.document import ShownTable
from sqlanon.wording import drawable

VOID = {"meta", "link", "br", "img", "input", "hr"}
UNSEEN = [*"\x00\x01\x0b\x1b\x1f\x7f\x9f\ufffe\uffff\ud800\udfff"]
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</title></style></svg>",
    "שלום עולם",
    "x" * 5000,
    "",
    "{{ 7 * 7 }}",
    "\x1b[31mred\x00",
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


@pytest.fixture(scope="module")
def page():
    """A page of hostile values."""
    rows = [(value, value, value) for value in HOSTILE for _ in range(6)]
    rows += [("rare", "rare", "rare")]
    connection = people(rows, '"a<b>" TEXT, "c&""d" TEXT, ill TEXT')
    policy = Policy(
        {"a<b>": Hierarchy.suppression(), 'c&"d': Hierarchy.suppression()},
        sensitive=["ill"],
        models=[KAnonymity(5)],
        suppression_limit=0.1,
    )
    sqlanon.anonymize(connection, policy, table="people", into="released")
    return sqlanon.report(connection, "released", policy, table="people", effort="none").html


@pytest.mark.slow
def test_a_page_needs_nothing_else_and_runs_nothing(page):
    read = Page(page)
    assert not read.of("script", "link", "iframe", "img", "object", "embed")
    links = [each["href"] for each in read.of("a")]
    assert links
    assert all(link.startswith("#") for link in links)
    assert not [name for _, own in read.elements for name in own if name.startswith("on")]
    assert "url(" not in page
    assert "@import" not in page


@pytest.mark.slow
def test_hostile_values_are_text(page):
    read = Page(page)
    assert not read.open
    assert any("<script>alert(1)</script>" in text for text in read.texts)
    assert any(r"\x1b[31mred\x00" in text for text in read.texts)
    assert any("NULL (no value)" in text for text in read.texts)
    assert any("(empty text)" in text for text in read.texts)
    assert "x" * 200 not in page
    assert "rare" not in page


@pytest.mark.slow
def test_errors_of_use_are_told_in_whole_percent(page):
    table = page.partition("<caption>Errors of tables")[2].partition("</table>")[0]
    rows = [Page(row).texts for row in re.findall("<tr>.*</tr>", table)[1:]]
    assert [row[0] for row in rows[:3]] == ["a<b>", 'c&"d', "ill"]
    assert all(share.removesuffix("%").isdecimal() for _, *shares in rows for share in shares)


@pytest.mark.slow
def test_a_page_can_be_read_without_seeing_it(page):
    read = Page(page)
    assert read.of("html") == [{"lang": "en"}]
    assert len(read.of("main")) == len(read.of("h1")) == len(read.of("title")) == 1
    levels = [int(tag[1]) for tag, _ in read.elements if tag in ("h1", "h2", "h3", "h4")]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert len(read.of("figure")) == len(read.of("figcaption")) > 4
    assert all(own.get("scope") in ("col", "row") for own in read.of("th"))
    assert len(read.of("caption")) == len(read.of("table")) > len(read.of("figure"))
    drawn = [own for _, own in read.elements if own.get("class") in ("bars", "key first")]
    assert drawn
    assert all(own["aria-hidden"] == "true" for own in drawn)


@pytest.mark.slow
def test_every_row_of_bars_has_its_figures_as_texts(page):
    rows = [row for row in page.split("<tr>")[1:] if 'class="bars"' in row]
    drawn = [Page(row.split("</tr>")[0]) for row in rows]
    assert {len(row.of("i")) for row in drawn} == {1, 2}
    assert all(len(row.of("td")) >= len(row.of("i")) for row in drawn)
    [half] = {row for row in rows if "1 (unique)" in row}
    assert '<i style="width:1.8%"></i><i></i>' in half  # 1 of 55, none of 54
    assert "<bdi>1 (1.82%)</bdi>" in half


def test_bars_are_as_long_as_their_shares():
    table = ShownTable([["a", "1"], ["b", "2"]])
    assert BarTable(table, "", [(0.25, 0.5), (0.0, 0.125)]).bars == [[50, 100], [0, 25]]
    assert BarTable(table, "", [(0.25,), (0.5,)], whole=1.0).bars == [[25], [50]]
    assert BarTable(table, "", [(0.0,), (0.0,)]).bars == [[0], [0]]
    assert BarTable(table).bars == []


@pytest.mark.parametrize("letter", UNSEEN)
def test_what_no_page_may_hold_is_escaped(letter):
    assert drawable(f"a{letter}b") == f"a{ascii(letter)[1:-1]}b"


def test_what_a_page_may_hold_stays():
    kept = "\t\n\r <é>\ud7ff\ue000\ufffd🦆"
    assert drawable(kept) == kept


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["FALSE", "TRUE"])
def test_nothing_released_and_everything_suppressed_make_a_page(kept, monkeypatch):
    monkeypatch.setattr("sqlanon.release_report.page.UNFOLDED_COLUMNS", 1)
    connection = people([("a", 1), ("b", 2)], "town TEXT, age INT")
    connection.execute(f"CREATE TABLE released AS SELECT '*' AS town, '*' AS age WHERE {kept}")
    own = Policy(["town", "age"], models=[KAnonymity(1)])
    report = sqlanon.report(connection, "released", own, table="people", effort="none")
    html = report.html
    assert report.cautions
    without = Policy(["town", "age"])
    assert sqlanon.report(connection, "released", without, table="people", effort="none").cautions
    assert ("The released table is empty" in html) == (kept == "FALSE")
    assert ("1 more column</summary>" in html) == (kept == "TRUE")
    assert not Page(html).open


@pytest.mark.slow
def test_a_page_explains_the_risk_of_households():
    connection = people([("a", 1), ("a", 2)], "town TEXT, home INT")
    own = Policy(["town"], household="home", keep=["home"])
    html = sqlanon.report(connection, "people", own, table="people", effort="none").html
    assert "<em>Household risk</em> is that of any member of a household being found." in html


@pytest.mark.slow
def test_a_page_says_which_part_the_time_limit_left_out(tmp_path):
    connection = people([("a", "x")] * 5, "a TEXT, ill TEXT")
    asked = Policy(["a"], sensitive=["ill"], models=[KAnonymity(5)])
    report = sqlanon.report(connection, "people", asked, table="people", time_limit=1e-9)
    report.write(tmp_path / "page.html")
    told = (tmp_path / "page.html").read_text("utf-8")
    identify = told.split('<h2 id="identify">')[1].split("</section>")[0]
    assert "There was no time to count this" in identify
    assert "no lower bound on the loss was found in time" in told


@pytest.fixture
def files(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n" + "1,f\n2,f\n11,m\n12,m\n" * 2)
    return tmp_path


def arguments(files):
    return [str(files / "people.csv"), "--qi", "age,sex", "--hierarchy", "age=intervals:10"]


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


@pytest.mark.slow
def test_in_place_the_original_is_looked_at_before_it_is_gone(files):
    database, page = database_of(files), files / "r.html"
    policy = Policy({"age": Hierarchy.intervals(10)}, drop=["sex"], models=[KAnonymity(4)])
    plan = sqlanon.plan(database, policy, table="people")
    report = sqlanon.apply(database, plan, in_place=True, report=page)
    assert report.seconds["report"] > 0
    assert "Classes and risk before and after" in page.read_text()


def database_of(files):
    with duckdb.connect(str(files / "people.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{files / 'people.csv'}'")
    return files / "people.duckdb"


def unlucky(how, monkeypatch, folder):
    """Makes a page fail before its release is there; what is called to confirm the release."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if how == "folder":
        return lambda *_: folder.rmdir()
    monkeypatch.setattr(DraftFile, "fill", full)
    return None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "fault"), [("folder", "cannot be written: No such file"), ("disk", "make room")]
)
@pytest.mark.parametrize("place", [{"in_place": True}, {"output": "out.csv"}, {"into": "out"}])
def test_without_its_page_nothing_is_published(files, monkeypatch, how, fault, place):
    database, pages = database_of(files), files / "pages"
    pages.mkdir()
    policy = Policy({"age": Hierarchy.intervals(10)}, drop=["sex"], models=[KAnonymity(4)])
    plan = sqlanon.plan(database, policy, table="people")
    before = database.read_bytes()
    confirm = unlucky(how, monkeypatch, pages)
    if "output" in place:
        place = {"output": files / "out.csv"}
    with pytest.raises(SourceError, match=fault):
        sqlanon.apply(database, plan, report=pages / "r.html", confirm=confirm, **place)
    left = {path.name for path in files.rglob("*")}
    assert left - {"pages"} == {"people.csv", "people.duckdb"}
    with duckdb.connect(str(database), read_only=True) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [("people",)]
        assert connection.execute("SELECT count(DISTINCT age) FROM people").fetchone() == (4,)
    assert "into" in place or database.read_bytes() == before


@pytest.mark.slow
def test_a_page_that_does_not_get_its_name_is_a_note(files, capsys, monkeypatch):
    def failing(self):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(DraftFile, "publish", failing)
    asked = [*arguments(files), "--k", "2", "--output", str(files / "out.csv")]
    assert status(["anonymize", *asked, "--report", str(files / "r.html")]) == 0
    told = capsys.readouterr()
    assert "the release is published, but not its report" in " ".join(told.out.split())
    assert "report written to" not in told.err
    assert {path.name for path in files.iterdir()} == {"people.csv", "out.csv"}


@pytest.mark.slow
def test_the_page_has_the_digest_of_the_file_that_is_written_after_it(files):
    policy = Policy({"age": Hierarchy.intervals(10)}, models=[KAnonymity(2)], others="keep")
    made = sqlanon.anonymize(
        files / "people.csv", policy, output=files / "out.csv", report=files / "r.html"
    )
    assert made.provenance.output_sha256 == sha256((files / "out.csv").read_bytes()).hexdigest()
    page = (files / "r.html").read_text()
    assert page.count(made.provenance.output_sha256) == 1
    assert "people.csv" in page
    released = sqlanon.report(
        files / "people.csv", files / "out.csv", policy, effort="none"
    ).hashes()
    assert released["released"] == made.provenance.output_sha256
    assert released["policy"] in page


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


@pytest.mark.slow
def test_a_page_needs_no_extra(files, monkeypatch):
    for name in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    asked = ["report", *arguments(files), "--k", "2", "--effort", "none"]
    asked += ["--released", str(files / "people.csv"), "-o", str(files / "r.html")]
    assert status(asked) == 0
    assert "satisfies its policy" in (files / "r.html").read_text()


def test_a_page_is_refused_by_its_kind():
    connection = people([("a",), ("a",)], "town TEXT")
    own = Policy(["town"], models=[KAnonymity(2)])
    with pytest.raises(PolicyError, match="report must be a path"):
        sqlanon.anonymize(connection, own, table="people", into="out", report=3)
