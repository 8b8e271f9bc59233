"""Models of sensitive attributes: every figure of every class against brute force and papers."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.models import ALL, DATABASE, class_figures, figures_of, grouped, transport
from sqlglot import exp

from sqlanon.policy.privacy import LDiversity
from sqlanon.query.privacy.figures import Needed, listed_order
from sqlanon.query.privacy.models import violates
from sqlanon.sqltext import expression

classes = st.sampled_from(["a", "b", "c", None])
numbers = st.sampled_from([-7, 0, 3, 4, 50, None])
tables = st.lists(st.tuples(classes, numbers), min_size=1, max_size=30)
ORDER = [-7, 0, 3, 4, 50, None]
PATHS = {
    -7: ("low", "few", "*"),
    0: ("low", "few", "*"),
    3: ("high", "few", "*"),
    4: ("high", "few", "*"),
    50: ("more", "many", "*"),
    None: ("none", "many", "*"),
}
INTEGER = exp.DataType.build("INTEGER")
TREE = listed_order(
    [
        (None if value is None else str(value), rank, *PATHS[value][:2])
        for rank, value in enumerate(ORDER)
    ],
    INTEGER,
    levels=range(1, 3),
)


def same(found, wanted):
    derived = ("gain", "logarithm")  # what a check makes of all classes
    wanted = {name: figure for name, figure in wanted.items() if name not in derived}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-11)


@settings(max_examples=40)
@given(tables, st.sampled_from([None, TREE]))
def test_figures_agree_with_a_count_in_python(records, order):
    height = 0 if order is None else 3
    needed = ALL if order is None else replace(ALL, distances=(*ALL.distances, "hierarchical"))
    found = class_figures(records, needed=needed, order=order, height=height)
    values = [value for _, value in records]
    for key, held in grouped(records).items():
        paths = PATHS if height else None
        wanted = figures_of(held, values, order=ORDER, paths=paths, tails=(1, 2, 3))
        same(found[key], {"class_size": len(held), **wanted})
    assert len(found) == len(grouped(records))


@settings(max_examples=40)
@given(tables)
def test_figures_leave_null_out_where_it_is_no_value(records):
    needed = replace(ALL, nulls=False, distances=(*ALL.distances, "hierarchical"))
    found = class_figures(records, needed=needed, order=TREE, height=3)
    values = [value for _, value in records if value is not None]
    for key, held in grouped(records).items():
        known = [value for value in held if value is not None]
        wanted = figures_of(known, values, order=ORDER, paths=PATHS, tails=(1, 2, 3))
        same(found[key], {"class_size": len(held), **wanted})


def test_a_class_without_any_value_has_zeros_and_fails_every_l():
    found = class_figures([("a", None), ("a", None), ("b", 1)], needed=replace(ALL, nulls=False))[
        "a"
    ]
    assert found["class_size"] == 2
    assert {value for name, value in found.items() if name not in ("class", "class_size")} == {0}


spread = st.lists(st.integers(0, 4), min_size=5, max_size=5)
GROUND = {
    "equal": lambda a, b: Fraction(int(a != b)),
    "ordered": lambda a, b: Fraction(abs(ORDER.index(a) - ORDER.index(b)), 4),
    "hierarchical": lambda a, b: Fraction(
        next(level for level in range(4) if (a, *PATHS[a])[level] == (b, *PATHS[b])[level]),
        3,
    ),
}


@settings(max_examples=40)
@example([0, 1, 2, 3, 0], [1, 2, 3, 1, 1], "ordered")
@example([0, 0, 0, 0, 3], [1, 2, 3, 1, 1], "ordered")
@example([0, 0, 4, 1, 0], [1, 2, 3, 1, 1], "hierarchical")
@given(spread, st.lists(st.integers(1, 4), min_size=5, max_size=5), st.sampled_from(sorted(GROUND)))
def test_distances_are_the_least_work_of_any_flow(own, others, name):
    # The definition itself: not the formula that the statement and the other oracle share.
    if not any(own):
        own = [1, *own[1:]]
    values = ORDER[:5]
    whole = [c + other for c, other in zip(own, others, strict=True)]
    records = [("a", v) for v, c in zip(values, own, strict=True) for _ in range(c)]
    records += [("b", v) for v, c in zip(values, others, strict=True) for _ in range(c)]
    n, total = sum(own), sum(whole)
    p = {v: c * total for v, c in zip(values, own, strict=True)}
    q = {v: c * n for v, c in zip(values, whole, strict=True)}
    needed = Needed(distances=(name,))
    found = class_figures(records, needed=needed, order=TREE, height=3)["a"]
    assert found[f"distance_{name}"] == pytest.approx(float(transport(p, q, GROUND[name])))


def of_shares(share, whole, size):
    """Two classes over values 1, 2, …: one of the given shares in a table of the others."""
    own = [("a", v) for v, p in enumerate(share, 1) for _ in range(round(p * size))]
    held = [sum(v == value for _, v in own) for value in range(1, len(share) + 1)]
    rest = [
        ("b", v) for v, q in enumerate(whole, 1) for _ in range(round(q * size * 10) - held[v - 1])
    ]
    return own + rest


@pytest.mark.parametrize(
    ("share", "whole", "equal", "scaled"),
    [
        # Khaitan et al., section III.B prints 0.443 after writing 0.227 for 0.1 ln 11 = 0.2398.
        ((0.01, 0.99), (0.11, 0.89), 0.1, 0.469),
        # It prints 0.0263 for 0.02231 + 0.00408.
        ((0.4, 0.6), (0.5, 0.5), 0.1, 0.0264),
    ],
)
def test_scaled_distance_of_the_two_pairs_of_khaitan(share, whole, equal, scaled):
    found = class_figures(of_shares(share, whole, 100), needed=ALL)["a"]
    assert found["distance_equal"] == found["distance_ordered"] == pytest.approx(equal)
    assert found["distance_scaled"] == pytest.approx(scaled, abs=5e-4)


def test_low_grades_alone_leak_more_than_scattered_ones():
    # Khaitan et al., section III.B: Q = {A, B, C, D, P, F}, P1 = {A, B, C}, P2 = {B, D, F}.
    grades = {"p1": "ABC", "p2": "BDF", "rest": "ACDPPF"}
    records = [(key, "ABCDPF".index(grade)) for key, held in grades.items() for grade in held]
    found = class_figures(records, needed=ALL)
    first, second = found["p1"], found["p2"]
    assert first["distance_ordered"] > second["distance_ordered"]
    assert first["distance_scaled"] > second["distance_scaled"]
    assert first["distance_kl"] == pytest.approx(second["distance_kl"])
    assert first["distance_equal"] == second["distance_equal"]


def test_missing_a_value_wholly_can_look_closer_than_nearly_missing_it():
    # The scaled distance has no finite limit at p = 0, where its term counts as 0.
    whole = [("t", v) for v in (1, 2) for _ in range(1000)]
    without = class_figures([*whole, *[("a", 2)] * 100], needed=ALL)["a"]
    nearly = class_figures([*whole, ("a", 1), *[("a", 2)] * 99], needed=ALL)["a"]
    assert without["distance_scaled"] < nearly["distance_scaled"]
    assert without["distance_ordered"] > nearly["distance_ordered"]


def test_salary_example_of_li_2007():
    # Section 4: Q = {3k, ..., 11k}; P1 = {3k, 4k, 5k} is 0.375 away, P2 = {6k, 8k, 11k} 0.167.
    salaries = {"p1": (3, 4, 5), "p2": (6, 8, 11), "rest": (7, 9, 10)}
    records = [(key, salary) for key, held in salaries.items() for salary in held]
    found = class_figures(records, needed=ALL)
    assert found["p1"]["distance_ordered"] == 0.375
    assert found["p2"]["distance_ordered"] == pytest.approx(1 / 6)


def test_hierarchical_ground_distance_of_li_2007():
    # Figure 1: flu is 1/3 from bronchitis, 2/3 from pulmonary embolism, 1 from stomach cancer.
    paths = {
        "flu": ("respiratory infection", "respiratory", "*"),
        "bronchitis": ("respiratory infection", "respiratory", "*"),
        "pulmonary embolism": ("vascular lung disease", "respiratory", "*"),
        "stomach cancer": ("stomach disease", "digestive", "*"),
    }
    rows = [(name, rank, *path[:2]) for rank, (name, path) in enumerate(paths.items())]
    tree = listed_order(rows, exp.DataType.build("VARCHAR"), levels=range(1, 3))
    for other, apart in (("bronchitis", 1), ("pulmonary embolism", 2), ("stomach cancer", 3)):
        found = class_figures(
            [("a", "flu"), ("b", other)],
            kind="VARCHAR",
            needed=Needed(distances=("hierarchical",)),
            order=tree,
            height=3,
        )
        # Half of the class has to be moved.
        assert found["a"]["distance_hierarchical"] == pytest.approx(apart / 3 / 2)


@pytest.mark.slow
def test_figures_of_a_hundred_thousand_values_are_exact():
    values = range(100_000)
    found = class_figures(
        list(itertools.chain((("a", v) for v in values if v % 2), (("b", v) for v in values))),
        needed=Needed(True, (), ("equal", "ordered")),
    )
    # c_v is 1 for odd values and 0 for others, C_v is 2 or 1 of 150,000.
    whole = [Fraction(1 + v % 2, 150_000) for v in values]
    own = [Fraction(v % 2, 50_000) for v in values]
    differences = list(
        itertools.accumulate((p - q) * 150_000 for p, q in zip(own, whole, strict=True))
    )
    work = sum(map(abs, differences)) / 150_000 / 99_999
    assert found["a"]["distance_ordered"] == float(work)
    assert found["a"]["entropy"] == pytest.approx(math.log(50_000), abs=1e-12)


@pytest.mark.parametrize("times", [1, 3, 97])
def test_uniform_class_of_exactly_l_values_passes_entropy_l(times):
    sizes = range(2, 51)
    records = [(str(size), value) for size in sizes for value in range(size)] * times
    class_figures(records, needed=Needed(entropy=True), keep="figures")
    for size in sizes:
        for model in (LDiversity(size, "entropy"), LDiversity(size)):
            query = expression(
                "SELECT COUNT(*) FROM figures WHERE {{ fails }}", fails=violates(model)
            )
            # Only the classes of fewer values fail.
            assert DATABASE.execute(query.text).fetchone() == (size - 2,)
