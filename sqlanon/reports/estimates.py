"""What a table's classes tell of a population of which only the size is known.

The table is taken for a simple random sample of n of the population's N people, pi = n / N of them.
It has u classes, f_i of them of i records. How many people are alone with their combination in the
population is estimated, and how large the population's classes are at least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlanon.wording import percent

SIGNIFICANCE = 0.05
"""Probability with which a class of the population may be smaller than what is told of it."""
SMALL_SAMPLE = 0.1
"""Sampling fraction up to which Dankar's rule takes Pitman's model."""
SECTIONS = 80
"""Halvings, or golden sections, of an interval: beyond them doubles differ no more."""
GRID_PLACES = 400
"""Places in (0, 1) that are tried for a root of the slide negative binomial model."""
MAX_THETA = 1e6
"""Records of the table to one theta of Pitman's model: beyond, all people would be unique."""
MIN_STIRLING = 1e6
"""From where on Stirling's formula is as exact as doubles are."""


@dataclass(frozen=True)
class PopulationEstimate:
    """Estimates for a population of N people.

    Args:
        histogram: `{class size: classes of that size}` of the table, f [records, classes]; persons
            in place of records where the table has an entity.
        size: N, at least the table's records [people].
    """

    histogram: Mapping[int, int]
    size: int

    @property
    def sample(self) -> int:
        """n, records or persons of the table."""
        return sum(size * classes for size, classes in self.histogram.items())

    @property
    def sampling_fraction(self) -> float:
        """Sampling fraction pi = n / N, in (0, 1]."""
        return self.sample / self.size

    @cached_property
    def k_map(self) -> int:
        """The k such that every class has at least k people in the population, at 95 %.

        The largest K for which a class of the population with K people would show at least as many
        records as the table's smallest class with a probability of at most 5 %, where the number
        of its records is Poisson with mean pi K and not zero; at least the smallest class itself.

        Source: El Emam and Dankar 2008, "Protecting privacy using k-anonymity" (the hypothesis
        test with a zero-truncated Poisson distribution).
        """
        smallest, fraction = min(self.histogram), self.sampling_fraction
        low, high = smallest, self.size
        if _tail(fraction * low, smallest) > SIGNIFICANCE:
            return smallest
        while low < high:
            middle = (low + high + 1) // 2
            if _tail(fraction * middle, smallest) <= SIGNIFICANCE:
                low = middle
            else:
                high = middle - 1
        return low

    @cached_property
    def zayatz(self) -> float:
        """People who are unique in the population, by Zayatz.

        (f_1 / pi) P(1) / sum_i (f_i / f_1) P(i), where P(i) is the probability that a class of i
        people of the population shows one record: the classes of the population are taken for as
        large as the table's, which makes the estimate high for small fractions.

        Source: Zayatz 1991, "Estimation of the percent of unique population elements on a microdata
        file using the sample".
        """
        uniques = self.histogram.get(1, 0)
        if not uniques:
            return 0.0
        one = [(classes, self._shows_one(size)) for size, classes in self.histogram.items()]
        alone = uniques * self._shows_one(1)
        return uniques / self.sampling_fraction * alone / math.fsum(n * p for n, p in one)

    def _shows_one(self, size: int) -> float:
        """The probability that one of so many people of the population is in the table."""
        n, rest = self.sample, self.size - size
        if n - 1 > rest:
            return 0.0
        return math.exp(math.log(size) + _log_choose(rest, n - 1) - _log_choose(self.size, n))

    @cached_property
    def pitman(self) -> float | None:
        """People who are unique in the population, by Pitman's model; None where it fits nothing.

        N (theta + alpha)_{N-1} / (theta + 1)_{N-1} with rising factorials, which for large N is
        Gamma(theta + 1) / Gamma(theta + alpha) N^alpha, for the theta and alpha in (0, 1) by which
        the table is most likely.

        Source: Hoshino 2001, "Applying Pitman's sampling formula to microdata disclosure risk
        assessment", whose limit for large N the expectation here has.
        """
        if len(self.histogram) < 2 or self.size == self.sample:
            return None
        alpha = _highest(lambda alpha: self._likelihood(alpha, self._theta(alpha)), 1e-6, 1 - 1e-6)
        theta = self._theta(alpha)
        if theta > MAX_THETA * self.sample / 2:
            return None
        rest = self.size - 1
        return self.size * math.exp(_log_rising(theta + alpha, rest) - _log_rising(theta + 1, rest))

    def _theta(self, alpha: float) -> float:
        """The theta above -alpha by which the table is most likely, for an alpha."""

        def likelihood(log: float) -> float:
            return self._likelihood(alpha, math.exp(log) - alpha)

        return math.exp(_highest(likelihood, -30, math.log(MAX_THETA * self.sample))) - alpha

    def _likelihood(self, alpha: float, theta: float) -> float:
        """The logarithm of Pitman's sampling formula, but for what no parameter changes."""
        later = sum(self.histogram.values()) - 1
        classes = later * math.log(alpha) + _log_rising(theta / alpha + 1, later)
        members = math.fsum(
            count * _log_rising(1 - alpha, size - 1) for size, count in self.histogram.items()
        )
        return classes + members - _log_rising(theta + 1, self.sample - 1)

    @property
    def snb(self) -> float | None:
        """People who are unique in the population, by the slide negative binomial model.

        K beta^alpha of `slide`; None where that is.
        """
        if self.slide is None:
            return None
        classes, alpha, beta = self.slide
        return min(classes * math.pow(beta, alpha), self.size)

    @cached_property
    def slide(self) -> tuple[float, float, float] | None:
        """K, alpha and beta of the slide negative binomial model; None where nothing fits.

        Each of the K classes of the population has one person and a number of others that is
        negative binomial with alpha and beta: those by which f_1 and f_2 are as expected. K is the
        third estimate of Haas and Stokes after Shlosser.

        Source: Chen and Keller-McNulty 1998, "Estimation of identification disclosure risk in
        microdata"; Haas and Stokes 1998, "Estimating the number of classes in a finite population".
        """
        uniques, pairs = self.histogram.get(1, 0), self.histogram.get(2, 0)
        if not (uniques and pairs) or self.size == self.sample:
            return None
        classes = self._shlosser()

        def excess(beta: float) -> float:
            shown = shows_one(self._alpha(beta), beta, fraction=self.sampling_fraction)
            return classes * shown - uniques

        places = [(place + 0.5) / GRID_PLACES for place in range(GRID_PLACES)]
        signs = [excess(place) > 0 for place in places]
        for low, high, first, second in zip(places, places[1:], signs, signs[1:], strict=False):
            if first != second:
                beta = _root(excess, low, high)
                return classes, self._alpha(beta), beta
        return None

    def _alpha(self, beta: float) -> float:
        """The alpha by which f_2 / f_1 is as expected, for a beta.

        With d = (1 - pi) (1 - beta) and D = 1 - d the ratio of both expectations is
        alpha pi (1 - beta) (2 - (1 - alpha) d) / (2 D (D + alpha d)), which grows with alpha.
        """
        fraction = self.sampling_fraction
        ratio = self.histogram[2] / self.histogram[1]
        shown, missed = fraction * (1 - beta), (1 - fraction) * (1 - beta)
        rest = 1 - missed
        a, b, c = (
            shown * missed,
            shown * (2 - missed) - 2 * ratio * rest * missed,
            -2 * ratio * rest**2,
        )
        # The root above 0, by the form that does not cancel.
        root = math.sqrt(b * b - 4 * a * c)
        return -2 * c / (b + root) if b > 0 else (root - b) / (2 * a)

    def _shlosser(self) -> float:
        """K, the classes of the population.

        u + f_1 (sum i pi^2 (1 - pi^2)^(i-1) f_i / sum (1 - pi)^i ((1 + pi)^i - 1) f_i)
        (sum (1 - pi)^i f_i / sum i pi (1 - pi)^(i-1) f_i)^2.
        """
        pi, f = self.sampling_fraction, self.histogram.items()
        squares = math.fsum(i * pi**2 * (1 - pi**2) ** (i - 1) * n for i, n in f)
        grown = math.fsum(((1 - pi**2) ** i - (1 - pi) ** i) * n for i, n in f)
        missed = math.fsum((1 - pi) ** i * n for i, n in f)
        ones = math.fsum(i * pi * (1 - pi) ** (i - 1) * n for i, n in f)
        unseen = self.histogram[1] * squares / grown * (missed / ones) ** 2
        return sum(self.histogram.values()) + unseen

    @property
    def chosen(self) -> tuple[str, float]:
        """The estimate to go by, and whose it is.

        Pitman's for samples of at most a tenth of the population, else the smaller one of Zayatz
        and slide negative binomial; Zayatz' where that fails. Nobody is unique in the population
        and in the table where nobody is unique in the table.

        Source: Dankar, El Emam, Neisa and Roffey 2012, "Estimating the re-identification risk of
        clinical data sets".
        """
        if not self.histogram.get(1, 0):
            return "zayatz", 0.0
        if self.sampling_fraction <= SMALL_SAMPLE:
            return ("zayatz", self.zayatz) if self.pitman is None else ("pitman", self.pitman)
        if self.snb is None or self.zayatz < self.snb:
            return "zayatz", self.zayatz
        return "snb", self.snb

    @property
    def true_uniques(self) -> float:
        """Records that are unique in both: pi of the population's uniques, at most f_1.

        A random sample holds each of these people with the probability pi.
        """
        return min(self.chosen[1] * self.sampling_fraction, self.histogram.get(1, 0))

    def to_dict(self) -> dict[str, Any]:
        """The key `population_estimate` of the JSON document."""
        model, uniques = self.chosen
        return {
            "size": self.size,
            "sampling_fraction": self.sampling_fraction,
            "k_map": self.k_map,
            "k_map_confidence": 1 - SIGNIFICANCE,
            "population_uniques": uniques,
            "share_of_population": uniques / self.size,
            "sample_uniques_unique_in_population": self.true_uniques,
            "model": model,
            "zayatz": self.zayatz,
            "pitman": self.pitman,
            "snb": self.snb,
        }

    def to_lines(self, unit: str) -> list[str]:
        """Lines for a reader."""
        model, uniques = self.chosen
        failed = [NAMES[name] for name in ("pitman", "snb") if getattr(self, name) is None]
        fails = f"; {' and '.join(failed)}: no estimate" if failed and uniques else ""
        return [
            f"  journalist      at most 1 in {self.k_map:,} at "
            f"{percent(1 - SIGNIFICANCE)} confidence: every class has an estimated {self.k_map:,} "
            f"of {self.size:,} people or more",
            f"  true uniques    about {self.true_uniques:,.0f} {unit} are unique among "
            f"{self.size:,} people, too ({NAMES[model]}{fails})",
        ]


NAMES = {"zayatz": "Zayatz", "pitman": "Pitman", "snb": "slide negative binomial"}
"""How the models are called on a page."""


def shows_one(alpha: float, beta: float, *, fraction: float) -> float:
    """The probability that the sample has one member of a slide negative binomial class.

    Either the first person is drawn and none of the others, or one of these and not the first.
    """
    missed = (1 - fraction) * (1 - beta)
    none = math.pow(beta / (1 - missed), alpha)
    return fraction * none * (1 + alpha * missed / (1 - missed))


def _tail(mean: float, least: int) -> float:
    """The probability that a Poisson number that is not zero is at least so large."""
    if least <= 1:
        return 1.0
    below = math.fsum(
        math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(1, least)
    )
    return 1 - below / -math.expm1(-mean)


def _log_choose(n: int, k: int) -> float:
    """The logarithm of a binomial coefficient."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _log_rising(x: float, m: int) -> float:
    """The logarithm of x (x + 1) ... (x + m - 1), for x above 0."""
    if x < MIN_STIRLING:
        return math.lgamma(x + m) - math.lgamma(x)
    # By Stirling's formula: the difference of two large logarithms would be noise.
    near = m * math.log(x) + (x + m - 0.5) * math.log1p(m / x) - m
    return near + (1 / (x + m) - 1 / x) / 12


def _highest(value: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one maximum is highest, by golden sections."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(SECTIONS):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = value(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = value(left)
    return (low + high) / 2


def _root(value: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign between two places."""
    is_positive = value(low) > 0
    for _ in range(SECTIONS):
        middle = (low + high) / 2
        if (value(middle) > 0) == is_positive:
            low = middle
        else:
            high = middle
    return (low + high) / 2
