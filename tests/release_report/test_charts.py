"""Charts: whatever a label holds, a picture comes of it that XML can read."""

import doctest
import xml.etree.ElementTree as Xml

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from sqlanon import pictures
from sqlanon.pictures import apart, lines_of
from sqlanon.release_report import distributions, wordings
from sqlanon.release_report.charts import BarRow, Pictures
from sqlanon.reports import loss_bound
from sqlanon.wording import drawable, width_of

UNSEEN = [
    "\x00",
    "\x01",
    "\x0b",
    "\x1b",
    "\x1f",
    "\x7f",
    "\x9f",
    "\ufffe",
    "\uffff",
    "\ud800",
    "\udfff",
]


def texts(drawn):
    return [each.text for each in Xml.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("letter", UNSEEN)
def test_what_no_page_may_hold_is_escaped(letter):
    assert drawable(f"a{letter}b") == f"a{ascii(letter)[1:-1]}b"


def test_what_a_page_may_hold_stays():
    kept = "\t\n\r <é>\ud7ff\ue000\ufffd🦆"
    assert drawable(kept) == kept


@pytest.mark.slow
def test_labels_escape_what_they_may_not_hold():
    drawn = Pictures().bars([BarRow(f"{letter}{n}", (0.5,)) for n, letter in enumerate(UNSEEN)])
    assert [drawable(f"{letter}{n}") for n, letter in enumerate(UNSEEN)] == texts(drawn)[
        -len(UNSEEN) :
    ]


def test_pictures_are_told_apart_by_names_not_by_texts():
    picture = '<clipPath id="clip0"/><g clip-path="url(#clip0)"/><text>paperclip</text>'
    assert apart(picture, 3) == picture.replace('"clip0', '"picture3clip0').replace(
        "#clip0", "#picture3clip0"
    )


@pytest.mark.slow
@pytest.mark.parametrize("label", ["a" * 20 + "🦆" * 20, "🦆" * 40, "👩🏽‍🚀" * 30, "e\u0301" * 60])
def test_long_labels_are_cut_between_letters(label):
    [line] = lines_of(label, 114, size=12)
    assert label.startswith(line[:-1])
    assert len(line) > 6
    assert width_of(label[len(line) - 1]) != 0
    assert line[-2] != "\u200d"
    assert label[len(line) - 1] != "🏽"
    assert line in texts(Pictures().bars([BarRow(label, (0.5,))]))


@pytest.mark.slow
def test_labels_that_are_cut_alike_are_told_apart():
    rows = [BarRow(" + ".join(["education", "occupation", "x" * 99, end]), (0.5,)) for end in "ab"]
    shown = texts(Pictures().bars(rows, labels=186, lines=2))
    assert [text[:2] for text in shown if "education" in text] == ["1.", "2."]


@pytest.mark.parametrize("module", [pictures, loss_bound, wordings, distributions])
def test_examples_in_docstrings_are_true(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
