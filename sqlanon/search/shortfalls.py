"""Shortfalls: by how much clusters fail a model of sensitive values, for searches that close in.

What a cluster lacks is signed and in the units of the model: below 0 there is room left. Entropy
lacks nats, distinct values lack values, recursive diversity and shares lack a share of the
cluster's records, a distance is too long by its own unit. The sums over values that models by ratio
lack have no room. Whether a model holds is told by `ValueDemand.holds` alone, which knows what is
strict and what rounding may do; so a shortfall is 0 where it holds, and above 0 elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sqlanon.policy.forms import TOLERANCE
from sqlanon.policy.privacy import BY_RATIO, ByForm
from sqlanon.search.arrays import Numbers, Reals
from sqlanon.search.privacy import CLOSENESS, Measure, ValueDemand, ratio_bounds

Lacks = Callable[[ValueDemand, Numbers], Reals]


@dataclass(frozen=True, slots=True)
class _Row:
    """What is said of a form of model.

    Args:
        lacks: What clusters lack.
        figure: The model's figure, from its threshold and what is lacking; None for what lacks.
    """

    lacks: Lacks
    figure: Callable[[float, Reals], Reals] | None = None


def shortfalls(demand: ValueDemand, counts: Numbers) -> Reals:
    """What clusters lack to satisfy a model; 0 exactly where they do.

    Args:
        demand: The model.
        counts: `counts[cluster, value]` [records], a column for every value of the table.
    """
    lacking = _ROWS.of(demand.model).lacks(demand, counts)
    found: Reals = np.where(demand.holds(counts), 0.0, np.maximum(lacking, TOLERANCE))
    return found


def figures(demand: ValueDemand, counts: Numbers) -> tuple[float, float, float]:
    """What the worst of some clusters lacks, its figure, and the mean of their figures.

    The figure is what the model bounds, as reports name it: the number of values for distinct
    diversity, e to the entropy for that of entropy, a distance, or the greatest share; for other
    models what a cluster lacks, 0 for nothing.

    Args:
        demand: The model.
        counts: As for `shortfalls`, of one cluster or more.
    """
    row = _ROWS.of(demand.model)
    lacking = row.lacks(demand, counts)
    threshold = float(demand.model.threshold)
    every = np.maximum(lacking, 0.0) if row.figure is None else row.figure(threshold, lacking)
    worst = int(lacking.argmax())
    return float(lacking[worst]), float(every[worst]), float(every.mean())


def worst_alone(demand: ValueDemand) -> float:
    """The greatest shortfall of a cluster with one value: a unit for shortfalls; 1 for none.

    Looked at are the rarest, the most frequent, the first and the last value, among which the worst
    one is for most models.
    """
    values = len(demand.table)
    chosen = [int(demand.table.argmin()), int(demand.table.argmax()), 0, values - 1]
    counts = np.zeros((len(chosen), values), np.int64)
    counts[np.arange(len(chosen)), chosen] = 1
    return float(shortfalls(demand, counts).max()) or 1.0


def _distinct(demand: ValueDemand, counts: Numbers) -> Reals:
    found: Reals = demand.model.threshold - (counts > 0).sum(axis=1)
    return found


def _entropy(demand: ValueDemand, counts: Numbers) -> Reals:
    size = np.maximum(counts.sum(axis=1), 1)
    terms = (counts * np.log(np.maximum(counts, 1))).sum(axis=1)
    found: Reals = math.log(demand.model.threshold) - (np.log(size) - terms / size)
    return found


def _recursive(demand: ValueDemand, counts: Numbers) -> Reals:
    """How far the largest count is above c times the tail, over all."""
    model: Any = demand.model
    largest_first = -np.sort(-counts, axis=1)
    tail = largest_first[:, int(model.l) - 1 :].sum(axis=1)
    found: Reals = (largest_first[:, 0] - model.c * tail) / np.maximum(counts.sum(axis=1), 1)
    return found


def _alpha(demand: ValueDemand, counts: Numbers) -> Reals:
    found: Reals = _shares(counts).max(axis=1, initial=0.0) - demand.model.threshold
    return found


def _by_ratio(demand: ValueDemand, counts: Numbers) -> Reals:
    """By how much shares are out of their bounds, over all values."""
    least, most = ratio_bounds(demand)
    shares = _shares(counts)
    found: Reals = (np.maximum(least - shares, 0.0) + np.maximum(shares - most, 0.0)).sum(axis=1)
    return found


def _beyond(measure: Measure) -> Lacks:
    """By how much a distance from the table's distribution is above the threshold."""

    def lacks(demand: ValueDemand, counts: Numbers) -> Reals:
        found = measure(demand, _shares(counts), demand.shares)
        return np.where(counts.any(axis=1), found, 0.0) - demand.model.threshold

    return lacks


def _shares(counts: Numbers) -> Reals:
    found: Reals = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return found


def _below(threshold: float, lacking: Reals) -> Reals:
    return threshold - lacking


def _above(threshold: float, lacking: Reals) -> Reals:
    return threshold + lacking


def _raised(threshold: float, lacking: Reals) -> Reals:
    found: Reals = np.exp(math.log(threshold) - lacking)
    return found


_ROWS: ByForm[_Row] = ByForm(
    "shortfalls of clusters",
    {
        ("l", "distinct"): _Row(_distinct, _below),
        ("l", "entropy"): _Row(_entropy, _raised),
        ("l", "recursive"): _Row(_recursive),
        ("alpha",): _Row(_alpha, _above),
        **dict.fromkeys(BY_RATIO, _Row(_by_ratio)),
        **{form: _Row(_beyond(measure), _above) for form, measure in CLOSENESS.items()},
    },
)
