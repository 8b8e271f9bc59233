"""Charts: what they draw of results, without a browser and without a network."""

import re

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from sqlanon.comparison.drawing import COLOURS, MARKS, ChartPanel, ChartPoint, svg
from sqlanon.methods.registry import METHODS

HOLLOW = r'<path [^>]*aria-roledescription="point"[^>]*fill="white"'


def drawn(*points, loss="lm"):
    looks = {"lines": [*METHODS], "across": "k", "legend": "method", "is_timed": True}
    bounds = dict.fromkeys({point.at for point in points}, 0.05)
    return svg([ChartPanel(loss, points, "what it shows", bounds=bounds, **looks)])


def every_method(*ks):
    return [
        ChartPoint(name, k, 0.1 * place + 0.01 * k, 0.01 * 3**place)
        for place, name in enumerate(METHODS, start=1)
        for k in ks
    ]


def texts(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)


@pytest.mark.slow
def test_every_method_is_in_the_legend_and_every_k_on_the_axis():
    shown = set(texts(drawn(*every_method(2, 10, 50))))
    assert set(METHODS) | {"2", "10", "50"} <= shown
    assert {"lm (average per cell)", "seconds (logarithmic)"} <= shown


@pytest.mark.slow
def test_with_one_k_each_method_is_a_row_with_its_figure():
    shown = texts(drawn(*every_method(5)))
    # Those that lose least stand on top, in both charts.
    assert [text for text in shown if text in METHODS] == [*METHODS] * 2
    assert "0.15" in shown


@pytest.mark.slow
@pytest.mark.parametrize("ks", [(5,), (5, 20)])
def test_titles_of_both_charts_stand_at_one_height(ks):
    # Where the highest loss is the end of its axis, labels and marks reach above the chart.
    picture = drawn(*(ChartPoint("incognito", k, 0.5, 0.7) for k in ks))
    heights = re.findall(r'role-title"><g transform="translate\([^,]*,([^)]*)\)', picture)
    assert (len(heights), len(set(heights))) == (2, 1)


def test_no_two_methods_look_alike():
    looks = {(COLOURS[at % len(COLOURS)], MARKS[at % len(MARKS)]) for at in range(len(METHODS) + 1)}
    assert len(looks) == len(METHODS) + 1


@pytest.mark.slow
def test_losses_and_times_of_nothing_are_drawn():
    assert "incognito" in texts(drawn(ChartPoint("incognito", 2, 0.0, 0.0)))


@pytest.mark.slow
@pytest.mark.parametrize("ks", [(5,), (2, 10)])
def test_marks_of_rows_that_were_cut_short_are_hollow(ks):
    names = ("incognito", "forest")
    points = [ChartPoint(name, k, 0.2, 1.0, name == "forest") for name in names for k in ks]
    picture = drawn(*points)
    # One in each of both charts, for each k.
    assert len(re.findall(HOLLOW, picture)) == 2 * len(ks)
    assert picture.count("hollow: cut short by the time limit</tspan>") == 2
    whole = drawn(*every_method(*ks))
    assert not re.search(HOLLOW, whole)
    assert "hollow" not in whole
