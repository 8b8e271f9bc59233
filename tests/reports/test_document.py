"""Reports show themselves: a line as text, a small escaped table in a notebook."""

import xml.etree.ElementTree as ElementTree
from functools import cache

import pyarrow
import pytest

import sqlanon

pytestmark = pytest.mark.slow

MARKER = "value-of-nobody-else"
HOSTILE = "<b>ag&e</b>"
TABLE = pyarrow.table(
    {HOSTILE: [1, 2, 3, 4] * 3, "ill": [MARKER, "b", "c"] * 4, "name": [MARKER] * 12}
)
POLICY = {
    "k": 3,
    "l": 2,
    "quasi_identifiers": {HOSTILE: {}},
    "sensitive": ["ill"],
    "identifiers": ["name"],
}
KINDS = [
    "check",
    "risk",
    "measure",
    "mine",
    "bound",
    "plan",
    "anonymize",
    "compare",
    "sweep",
    "report",
]


@cache
def report(kind):
    if kind == "anonymize":
        return sqlanon.anonymize(TABLE, POLICY, with_report=True).report
    if kind in ("measure", "report"):
        return getattr(sqlanon, kind)(TABLE, TABLE, POLICY)
    given = {"compare": {"methods": ["incognito"]}, "sweep": {"over": {"k": [2, 3]}}}
    return getattr(sqlanon, kind)(TABLE, POLICY, **given.get(kind, {}))


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_a_line_and_a_small_table(kind):
    found = report(kind)
    assert repr(found) == f"<{type(found).__name__}: {found.headline()}>"
    assert "\n" not in repr(found)
    assert len(repr(found)) < 160
    page = found._repr_html_()
    # Whatever a column is called, it is a text of the page, which is well-formed.
    texts = "".join(ElementTree.fromstring(page).itertext())
    assert found.headline() in texts
    assert found.to_text() in texts
    assert len(page) < 12_000
    assert MARKER not in repr(found) + page


def test_models_are_told_with_what_was_asked_for_and_found():
    texts = list(ElementTree.fromstring(report("check")._repr_html_()).itertext())
    place = texts.index("k-anonymity")
    assert texts[place : place + 4] == ["k-anonymity", "3", "3", "✓ holds"]
    failed = sqlanon.check(TABLE, {**POLICY, "k": 4})
    assert repr(failed).endswith("smallest 3; does NOT hold: k-anonymity>")
    assert "✗ does NOT hold" in failed._repr_html_()


def test_a_column_of_a_hostile_name_is_escaped():
    page = report("plan")._repr_html_()
    assert "&lt;b&gt;ag&amp;e&lt;/b&gt;" in page
    assert HOSTILE not in page
