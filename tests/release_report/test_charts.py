"""Charts: whatever a label holds, a picture comes of it that XML can read."""

import xml.etree.ElementTree as Xml

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from sqlanon.pictures import apart
from sqlanon.release_report.charts import BarRow, Pictures
from sqlanon.wording import drawable

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
