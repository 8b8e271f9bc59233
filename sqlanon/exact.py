"""Exact: the best assignment of patterns to records, by integer programming.

The program is that of the source, over distinct rows. Per row and instance of a pattern, x counts
the records of the row that are published by it; per instance, y says whether it is used. Every
record is placed, and an instance that is used has k records. It is tightened: instances that
cannot have k records are left out, x is at most y times the records of its row, a pattern that
another one replaces at no cost is left out, and rows that share no instance are solved apart. The
greedy assignment is the first solution. Models of sensitive columns are met as `program` says; rows
that differ in a sensitive value are rows apart.

The fixed-parameter algorithm of the source (Theorem 2) takes 2^(rows x patterns) steps before any
polynomial; the program has as many variables as that exponent, and its bounds cut off nearly all of
the choices that the algorithm would try. So it stands in for it, as it did in the source's own
experiments.

Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity", section 2.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from sqlanon.errors import PolicyError
from sqlanon.patterned import Parts, Patterned
from sqlanon.program import Component, Places
from sqlanon.search.cuts import inseparable
from sqlanon.search.demands import Demands
from sqlanon.search.patterns import LEFT, Placed, instance_keys
from sqlanon.wording import counted

Numbers = NDArray[np.int64]
MOST_PLACES = 5_000_000
"""Rows times patterns beyond which neither the memory nor the time of a program is in reach."""


def optimal(table: Patterned, first: Placed, seconds: float | None) -> Parts:
    """The assignment that leaves as few records over as possible, and then loses least.

    Args:
        table: The table and its patterns.
        first: An assignment to start from.
        seconds: After which the best so far is returned; None for no limit.

    Raises:
        PolicyError: There is no solver, the program would be too large, or it cannot say a model.
    """
    refuse_without_solver()
    refuse_inseparable(table.rows.demands)
    rows, patterns = len(table.rows.sizes), len(table.nodes)
    if rows * patterns > MOST_PLACES:
        raise PolicyError(
            f"{counted(rows, 'distinct row')} by {counted(patterns, 'pattern')} are too many for "
            "pattern-exact; give fewer patterns, or use pattern-greedy"
        )
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    places = places_of(table)
    parts = components(places, len(table.rows.sizes))
    counts = np.zeros(len(places.row), np.int64)
    bound, proven, number = 0, True, 0
    for own in parts:
        solved = Component(table, places.of(own), first).solve(deadline)
        counts[own] = solved.counts
        bound += solved.bound
        proven &= solved.proven
        number += 1
    return _parts(table, places, counts, _Proof(bound, proven, number))


def refuse_without_solver() -> None:
    """Says how to install the solver where it is missing.

    Raises:
        PolicyError: It is.
    """
    if find_spec("highspy") is None:
        raise PolicyError(
            "pattern-exact needs the solver HiGHS; install it with "
            "pip install 'sqlanon[exact]', or use pattern-greedy"
        )


def refuse_inseparable(demands: Demands | None) -> None:
    """Refuses models that no inequalities are known for.

    Raises:
        PolicyError: There are some.
    """
    unknown = [] if demands is None else inseparable(demands)
    if unknown:
        raise PolicyError(
            f"pattern-exact cannot prove the optimum under {', '.join(unknown)}, which is not "
            "convex; use pattern-greedy, or another distance"
        )


def places_of(table: Patterned) -> Places:
    """All places where rows may go, cheapest pattern first."""
    rows = np.arange(len(table.rows.sizes))
    found, instances = [], 0
    costs = [table.cost(rows, node) for node in table.nodes]
    for pattern in undominated(table, costs):
        _, group = np.unique(
            instance_keys(table.rows.codes.T, table.masks[pattern]), return_inverse=True
        )
        sizes = np.bincount(group, weights=table.rows.sizes)
        own = np.flatnonzero(sizes[group] >= table.k)
        found.append((own, np.full(len(own), pattern), instances + group[own], costs[pattern][own]))
        instances += len(sizes)
    row, pattern_of, instance, cost = map(np.concatenate, zip(*found, strict=True))
    return Places(row, pattern_of, instance, cost)


def undominated(table: Patterned, costs: list[Numbers]) -> list[int]:
    """The patterns without those that a coarser one replaces without losing more.

    The records of an instance all share one instance of the coarser pattern, so they can move
    there together: the models that are not refused hold for the union of classes that satisfy them.
    """
    totals = np.array([cost @ table.rows.sizes for cost in costs])
    kept = []
    for number, mask in enumerate(table.masks):
        coarser = ((table.masks & mask) == table.masks).all(axis=1) & (totals <= totals[number])
        coarser[number] = False
        replaced = any(
            (costs[other] <= costs[number]).all()
            and (other < number or (table.masks[other] != mask).any())
            for other in np.flatnonzero(coarser)
        )
        if not replaced:
            kept.append(number)
    return kept


def components(places: Places, rows: int) -> list[Numbers]:
    """The places in groups, so that rows and instances of two groups have nothing in common."""
    label = np.arange(rows)
    if not len(places.row):
        return []
    lowest = np.full(int(places.instance.max()) + 1, rows)
    while True:
        np.minimum.at(lowest, places.instance, label[places.row])
        before = label.copy()
        np.minimum.at(label, places.row, lowest[places.instance])
        if (label == before).all():
            break
    order = np.argsort(label[places.row], kind="stable")
    borders = np.flatnonzero(np.diff(label[places.row[order]])) + 1
    return np.split(order, borders)


@dataclass(frozen=True, slots=True)
class _Proof:
    bound: int
    proven: bool
    components: int


def _parts(table: Patterned, places: Places, counts: Numbers, proof: _Proof) -> Parts:
    """The records that go to the same place, and those that go nowhere, by row."""
    sizes = table.rows.sizes
    used = counts > 0
    placed = np.bincount(places.row, weights=counts, minlength=len(sizes)).astype(np.int64)
    over = np.flatnonzero(placed < sizes)
    _, group = np.unique(places.instance[used], return_inverse=True)
    nowhere = np.full(len(over), LEFT)
    row = np.concatenate([places.row[used], over])
    count = np.concatenate([counts[used], (sizes - placed)[over]])
    pattern = np.concatenate([places.pattern[used], nowhere])
    classes = np.concatenate([group, nowhere])
    order = np.lexsort((pattern, row))
    cost = int(counts @ places.cost)
    gap = None if len(over) else (cost - proof.bound) / cost if cost else 0.0
    return Parts(
        row[order],
        count[order],
        pattern[order],
        classes[order],
        None if len(over) else proof.bound,
        (("proven", proof.proven), ("gap", gap), ("components", proof.components)),
    )
