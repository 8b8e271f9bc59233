"""Estimates for a population of known size: each against its definition."""

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import product

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon.errors import PolicyError
from sqlanon.reports.estimates import PopulationEstimate

pytestmark = pytest.mark.slow

HISTOGRAMS = st.dictionaries(st.integers(1, 6), st.integers(1, 5), min_size=1).map(
    lambda sizes: {**sizes, 1: sizes.get(1, 1)}
)


@settings(max_examples=60)
@given(HISTOGRAMS, st.integers(0, 60))
def test_zayatz_is_bayes_rule_over_class_sizes_drawn_without_replacement(histogram, more):
    n = sum(size * count for size, count in histogram.items())
    size = n + more

    def shows_one(members):
        drawn = math.comb(size - members, n - 1) if n - 1 <= size - members else 0
        return Fraction(members * drawn, math.comb(size, n))

    classes = sum(histogram.values())
    every = sum(Fraction(count, classes) * shows_one(one) for one, count in histogram.items())
    alone = Fraction(histogram[1], classes) * shows_one(1) / every
    expected = histogram[1] * alone * Fraction(size, n)
    assert PopulationEstimate(histogram, size).zayatz == pytest.approx(float(expected))


def partitions(total, largest=None):
    if not total:
        yield Counter()
    for part in range(min(total, largest or total), 0, -1):
        for rest in partitions(total - part, part):
            yield rest + Counter({part: 1})


def pitman_probability(parts, alpha, theta):
    """Pitman's sampling formula, for a partition {size: parts of that size}."""
    n, u = sum(i * s for i, s in parts.items()), sum(parts.values())
    result = math.factorial(n)
    for j in range(1, u):
        result *= theta + j * alpha
    for j in range(1, n):
        result /= theta + j
    for i, s in parts.items():
        rising = math.prod(j - alpha for j in range(1, i))
        result *= (rising / math.factorial(i)) ** s / math.factorial(s)
    return result


@pytest.mark.parametrize("histogram", [{1: 4, 2: 2, 3: 1}, {1: 5, 2: 1, 4: 1}, {1: 2, 2: 2, 6: 1}])
def test_pitman_is_the_expected_number_of_uniques_where_the_table_is_most_likely(histogram):
    size = 15
    # Where the table is most likely, by ever finer grids.
    best, step = (0.5, 0.0), 0.5
    for _ in range(60):
        near = [
            (best[0] + step * a / 2, best[1] + 8 * step * b)
            for a, b in product(range(-2, 3), repeat=2)
        ]
        near = [(a, t) for a, t in near if 1e-6 <= a < 1 and t > -a]
        best = max(near, key=lambda one: pitman_probability(histogram, *one))
        step *= 0.75
    total = expected = 0.0
    for parts in partitions(size):
        likely = pitman_probability(parts, *best)
        total, expected = total + likely, expected + likely * parts[1]
    assert total == pytest.approx(1)
    assert PopulationEstimate(histogram, size).pitman == pytest.approx(expected, rel=1e-3)


def drawn_from_class(members, alpha, beta, fraction):
    """The probability that so many of a slide negative binomial class are drawn."""
    result, shifted = 0.0, 1.0  # of no others: beta^alpha, in units of itself
    for others in range(4000):
        people = others + 1
        if members <= people:
            drawn = math.comb(people, members) * fraction**members
            result += shifted * drawn * (1 - fraction) ** (people - members)
        shifted *= (alpha + others) / (others + 1) * (1 - beta)
    return result * beta**alpha


@pytest.mark.parametrize(
    ("histogram", "size"), [({1: 60, 2: 20, 3: 8, 5: 2}, 500), ({1: 300, 2: 90, 4: 30, 9: 5}, 2000)]
)
def test_slide_negative_binomial_expects_the_singles_and_pairs_of_the_table(histogram, size):
    estimate = PopulationEstimate(histogram, size)
    classes, alpha, beta = estimate.slide
    fraction = Fraction(estimate.sample, size)
    squares = sum(i * fraction**2 * (1 - fraction**2) ** (i - 1) * f for i, f in histogram.items())
    grown = sum((1 - fraction) ** i * ((1 + fraction) ** i - 1) * f for i, f in histogram.items())
    missed = sum((1 - fraction) ** i * f for i, f in histogram.items())
    ones = sum(i * fraction * (1 - fraction) ** (i - 1) * f for i, f in histogram.items())
    shlosser = sum(histogram.values()) + histogram[1] * squares / grown * (missed / ones) ** 2
    assert classes == pytest.approx(float(shlosser))
    for members in (1, 2):
        shown = classes * drawn_from_class(members, alpha, beta, float(fraction))
        assert shown == pytest.approx(histogram[members], rel=1e-6)
    assert estimate.snb == pytest.approx(classes * beta**alpha)


@settings(max_examples=60)
@given(st.integers(1, 30), st.integers(1, 20), st.integers(0, 5000))
def test_k_map_is_the_largest_class_that_would_seldom_show_so_many(smallest, classes, more):
    size = smallest * classes + more
    fraction = smallest * classes / size

    def shows_as_many(people):
        mean = people * fraction
        terms = [math.exp(-mean)]
        for i in range(1, smallest):
            terms.append(terms[-1] * mean / i)
        return 1 - sum(terms[1:]) / (1 - terms[0])

    seldom = [people for people in range(smallest, size + 1) if shows_as_many(people) <= 0.05]
    found = PopulationEstimate({smallest: classes}, size).k_map
    assert found == max(seldom, default=smallest)


def test_k_map_is_told_of_any_population():
    """Each share of people in the table is so small that any class may show as few records."""
    assert PopulationEstimate({2: 3}, 10**20).k_map > 10**17


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3, 0.6])
def test_rule_of_dankar_comes_near_the_uniques_of_a_population(fraction):
    rng = random.Random(4)
    people = [
        (int(rng.gauss(40, 15)), int(rng.paretovariate(1) * 10) % 500, rng.random() < 0.5)
        for _ in range(60_000)
    ]
    true = sum(count == 1 for count in Counter(people).values())
    sample = rng.sample(people, int(fraction * len(people)))
    estimate = PopulationEstimate(Counter(Counter(sample).values()), len(people))
    found = estimate.pitman if fraction <= 0.1 else min(estimate.zayatz, estimate.snb)
    assert estimate.chosen[1] == found == pytest.approx(true, rel=0.35)
    of_people, of_sample = Counter(people), Counter(sample)
    in_both = sum(of_people[one] == 1 for one, count in of_sample.items() if count == 1)
    assert estimate.true_uniques == pytest.approx(in_both, rel=0.35)


def test_zayatz_stands_in_where_no_model_fits():
    estimate = PopulationEstimate({1: 10}, 1000)
    assert estimate.pitman is None
    assert estimate.snb is None
    assert estimate.chosen == ("zayatz", estimate.zayatz)
    assert "Pitman and slide negative binomial: no estimate" in estimate.to_lines("records")[1]


def test_nobody_is_unique_in_the_population_where_nobody_is_in_the_table():
    assert PopulationEstimate({5: 10}, 1000).chosen == ("zayatz", 0)


def test_risk_names_the_size_of_the_population_or_the_share_of_it():
    people = duckdb.sql("SELECT i // 3 AS age FROM range(100) numbers(i)").to_arrow_table()
    found = sqlanon.risk(people, {"quasi_identifiers": {"age": {}}}, population_size=1000)
    share = sqlanon.risk(people, {"quasi_identifiers": {"age": {}}}, sampling_fraction=0.1)
    assert found.to_dict()["population_estimate"] == share.to_dict()["population_estimate"]
    assert found.estimate == PopulationEstimate({1: 1, 3: 33}, 1000)
    assert "Pitman" in found.to_text()
    assert not any("--population-size" in note for note in found.notes)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"population_size": 3}, "the population of 3 is smaller than the table's 4 records"),
        ({"sampling_fraction": 1.5}, "sampling fraction 1.5 is not a share"),
        ({"sampling_fraction": 0.5, "population_size": 9}, "give one"),
        ({"population": "FROM people", "population_size": 9}, "nothing of it is estimated"),
    ],
)
def test_sizes_that_contradict_are_refused(given, message):
    people = duckdb.sql("SELECT i AS age FROM range(4) numbers(i)").to_arrow_table()
    if "population" in given:
        given = {**given, "population": people}
    with pytest.raises(PolicyError, match=message):
        sqlanon.risk(people, {"quasi_identifiers": {"age": {}}}, **given)
