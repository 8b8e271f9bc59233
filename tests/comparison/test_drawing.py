"""Charts: what they draw of results, without a browser and without a network."""

import re

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from sqlanon.comparison.drawing import COLOURS, MARKS, ChartPanel, ChartPoint, svg
from sqlanon.methods.registry import METHODS


def panel(*ks):
    points = [
        ChartPoint(name, k, 0.1 * place + 0.01 * k, 0.01 * 3**place)
        for place, name in enumerate(METHODS, start=1)
        for k in ks
    ]
    return ChartPanel("lm", tuple(points), dict.fromkeys(ks, 0.05))


def texts(drawn):
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn)


@pytest.mark.slow
def test_every_method_is_in_the_legend_and_every_k_on_the_axis():
    drawn = svg([panel(2, 10, 50)])
    assert set(METHODS) | {"2", "10", "50"} <= set(texts(drawn))
    assert {"lm (average per cell)", "seconds (logarithmic)"} <= set(texts(drawn))


@pytest.mark.slow
def test_with_one_k_each_method_is_a_row_with_its_figure():
    shown = texts(svg([panel(5)]))
    # Those that lose least stand on top, in both charts.
    rows = [text for text in shown if text in METHODS]
    assert rows == [*METHODS] * 2
    assert "0.15" in shown


@pytest.mark.slow
@pytest.mark.parametrize("ks", [(5,), (5, 20)])
def test_titles_of_both_charts_stand_at_one_height(ks):
    # Where the highest loss is the end of its axis, labels and marks reach above the chart.
    own = ChartPanel("lm", tuple(ChartPoint("incognito", k, 0.5, 0.7) for k in ks), {})
    drawn = svg([own])
    heights = re.findall(r'role-title"><g transform="translate\([^,]*,([^)]*)\)', drawn)
    assert len(heights) == 2
    assert len(set(heights)) == 1


@pytest.mark.slow
def test_a_picture_has_a_part_for_each_loss():
    titles = texts(svg([panel(2, 3), panel(2, 3)]))
    assert titles.count("Loss: lm") == 2


@pytest.mark.slow
def test_a_picture_is_the_same_each_time():
    assert svg([panel(2, 10)]) == svg([panel(2, 10)])


def test_no_two_methods_look_alike():
    looks = {(COLOURS[at % len(COLOURS)], MARKS[at % len(MARKS)]) for at in range(len(METHODS) + 1)}
    assert len(looks) == len(METHODS) + 1


@pytest.mark.slow
def test_losses_and_times_of_nothing_are_drawn():
    drawn = svg([ChartPanel("lm", (ChartPoint("incognito", 2, 0.0, 0.0),), {})])
    assert "incognito" in texts(drawn)


@pytest.mark.slow
@pytest.mark.parametrize("ks", [(5,), (2, 10)])
def test_marks_of_rows_that_were_cut_short_are_hollow(ks):
    points = [
        ChartPoint(name, k, 0.2, 1.0, name == "forest")
        for name in ("incognito", "forest")
        for k in ks
    ]
    own = ChartPanel("lm", tuple(points), {})
    drawn = svg([own])
    # One in each of both charts, for each k.
    assert len(re.findall(r'<path [^>]*aria-roledescription="point"[^>]*fill="white"', drawn)) == (
        2 * len(ks)
    )
    assert drawn.count("hollow: cut short by the time limit</tspan>") == 2
    assert own.description.endswith("Cut short by the time limit: forest.")
    whole = svg([panel(*ks)])
    assert not re.search(r'<path [^>]*aria-roledescription="point"[^>]*fill="white"', whole)
    assert "hollow" not in whole
