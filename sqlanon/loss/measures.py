"""Measures: the information loss of a release, from counts of its cells, classes and values.

One formula in one place: a plan and `measure` count differently and hand the same figures over.
Measures that add up over cells weigh each column; the others do not. A *suppressed* record is one
of the original that is not in the release, or has no quasi-identifier left there; what it loses
stands with each measure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from sqlanon.errors import PolicyError
from sqlanon.hierarchy.tree import Place, node_counts
from sqlanon.loss.cells import (
    CELL_MEASURES,
    LEVEL_MEASURES,
    VALUE_MEASURES,
    GroupedCells,
    distinct,
    hdm_share,
    shares,
)
from sqlanon.loss.release import Column, Release
from sqlanon.wording import did_you_mean, key, listed


def cell_measure(name: str, release: Release, *, weights: Sequence[float]) -> Fraction:
    """A cell measure as the weighted average over all cells of the original.

    The formulas are those of `cells.CELL_MEASURES`.
    """
    measure, total = CELL_MEASURES[name], Fraction(0)
    for column, part in zip(release.columns, shares(weights), strict=True):
        cells = release.suppressed * measure.suppressed(column.tree, column.counts)
        costs = {level: measure.cost(column.tree, level, column.counts) for level in column.levels}
        counts: Counter[int] = Counter()
        for (level, node), records in column.records.items():
            counts[id(costs[level][node])] += records
        every = list(chain.from_iterable(costs.values()))
        cells += sum(cost * counts[i] for i, cost in distinct(every).items())
        total += part * cells
    return total / release.records


def hdm(release: Release) -> float:
    """Hierarchical discernibility, averaged over cells: (N_e - N_v) / (N - N_v).

    For a cell of value v, published as node e: N_v, N_e and N are the records of the original that
    hold v, hold a value of e, and all. 0 where all hold one value; 1 for a suppressed record. Where
    the release does not tell which values its cells had (nested nodes in one column), a cell of e
    counts with the mean over the original's records with a value of e.

    Source: Li and Li 2007, "Towards optimal k-anonymization", section 4.1.
    """
    terms = []
    for column, part in zip(release.columns, shares(release.weights), strict=True):
        under = {
            level: node_counts(column.tree, level, counts=column.counts) for level in column.levels
        }
        for leaf, (level, node), records in _origins(column, under):
            with_value, within = column.counts[leaf], under[level][node]
            lost, rest = hdm_share(GroupedCells(0, 0, with_value, within, release.records))
            terms.append(float(part) * records * lost / rest)
    return (math.fsum(terms) + release.suppressed) / release.records


def _origins(
    column: Column, under: Mapping[int, Sequence[int]]
) -> Iterable[tuple[int, Place, float]]:
    """Published records per leaf and node, spread as in the original where nothing tells."""
    if column.origins is not None:
        return column.origins
    return [
        (leaf, (level, node), column.records[level, node] * count / under[level][node])
        for level in sorted(under)
        for leaf, (node, count) in enumerate(
            zip(column.tree.nodes[level], column.counts, strict=True)
        )
        if count and (level, node) in column.records
    ]


def ambiguity(release: Release) -> float:
    """Ambiguity Metric: how many combinations of values a record stands for, averaged over records.

    The product of its nodes' leaves; of all domains' leaves for a suppressed record.

    Source: Nergiz and Clifton 2007, "Thoughts on k-anonymization"; Kenig 2009, section 3.1.
    """
    every = math.prod(float(column.domain) for column in release.columns)
    terms = [float(number) * records for number, records in release.ambiguities.items()]
    lost = release.suppressed * every if release.suppressed else 0.0
    return math.fsum([*terms, lost]) / release.records


def discernibility(release: Release) -> float:
    """Discernibility Metric: a record costs the size of its class, a suppressed one the table's.

    A total: sum of squared class sizes, plus suppressed records times all records.

    Source: Bayardo and Agrawal 2005, "Data privacy through optimal k-anonymization"; Li and Li
    2007, section 4.1.
    """
    sizes = release.statistics.histogram.items()
    squares = sum(size * size * number for size, number in sizes)
    return float(squares + release.suppressed * release.records)


def average_class_size(release: Release) -> float:
    """Average class size: records of the original per published class, over k.

    A suppressed record counts above and belongs to no class; infinite where nothing is published.

    Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", C_AVG.
    """
    classes = release.statistics.classes
    return release.records / (classes * release.k) if classes else math.inf


def row_types(release: Release) -> float:
    """Number of output row types: published classes, and all suppressed records as one more.

    Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity", section 3,
    #h. Its table 1 counts the records that its heuristic has no pattern for as a row type.
    """
    return float(release.statistics.classes + (release.suppressed > 0))


def average_row_type(release: Release) -> float:
    """Average size of the output row types [records].

    Source: as for `row_types`, h_avg.
    """
    return release.records / row_types(release)


def maximum_row_type(release: Release) -> float:
    """Size of the largest output row type [records].

    Source: as for `row_types`, h_max.
    """
    return float(max(release.suppressed, *release.statistics.histogram, 0))


def usefulness(release: Release) -> float:
    """Usefulness: tuple diversity averaged over output row types; the lower the better.

    The tuple diversity of a row type is the sum over its r cells of |B_j| / |A_j|, the leaves of
    the node over those of the domain; with weights, each part counts by its weight over their mean.
    All suppressed records together are one row type of diversity r. In (0, r].

    Source: Loukides and Shao 2007, "Capturing data usefulness and privacy protection in
    k-anonymisation", with a node's leaves as the group's values. Bredereck, Nichterlein and
    Niedermeier 2013 ("Pattern-guided k-anonymity", table 1) take the values that the records of a
    row type held before instead, so theirs is lower: see
    `methods/patterns/method.usefulness_of_values`.
    """
    number = len(release.columns)
    lost = 1 if release.suppressed else 0
    diversity = Fraction(lost)
    for column, part in zip(release.columns, shares(release.weights), strict=True):
        sizes = {level: column.tree.sizes(level) for level in column.levels}
        leaves = sum(sizes[level][node] * n for (level, node), n in column.classes.items())
        diversity += part * Fraction(leaves, column.domain)
    return float(number * diversity / (release.statistics.classes + lost))


def classification(release: Release) -> float | None:
    """Classification Metric: share of records outside the majority of their class, or suppressed.

    The majority is that of the class attribute's values, NULL being one.

    Source: Iyengar 2002, "Transforming data to satisfy privacy constraints"; Kenig 2009, section
    3.1.
    """
    if release.majority is None:
        return None
    return (release.records - release.majority) / release.records


def purity(release: Release) -> float | None:
    """Purity: sum over classes E of |E|/n times the sum over sensitive values s of p(E, s)^2.

    The source defines it for one class; classes count by their records. Nothing is known of a
    suppressed record but the table, whose purity it has. The mean over the sensitive attributes;
    NULL is a value unless the policy leaves it out.

    Source: Khaitan, Babu, Jena and Majhi, "Approximation algorithms for optimizing privacy and
    utility", section III.C.
    """
    return _mean(spread.purity for spread in release.sensitive)


def purity_gain(release: Release) -> float | None:
    """Purity gain: purity less that of the original as one class.

    The source does not say what is gained on; this is what knowing the class adds. At least 0
    without suppression. With it, what is published may be less pure than the table.

    Source: as for `purity`.
    """
    return _mean(spread.purity - spread.baseline for spread in release.sensitive)


def utility(release: Release) -> float | None:
    """Khaitan's E: anonymization cost over purity gain; the lower the better.

    The cost is the tree measure, see `cells.tree_cost`, as the average per cell. 0 where it is 0,
    infinite where something is lost and nothing gained.

    Source: as for `purity`; the cost after its section II.E.
    """
    if not release.sensitive:
        return None
    cost = cell_measure("tree", release, weights=release.weights)
    gains = [spread.purity - spread.baseline for spread in release.sensitive]
    gain = sum(gains, Fraction(0)) / len(gains)
    if not cost:
        return 0.0
    return float(cost / gain) if gain > 0 else math.inf


def _mean(figures: Iterable[Fraction]) -> float | None:
    listed = list(figures)
    return float(sum(listed, Fraction(0)) / len(listed)) if listed else None


def _of_cells(name: str) -> Callable[[Release], float]:
    """A cell measure of a release; of a total, a cell counts its weight over their mean."""

    def formula(release: Release) -> float:
        average = cell_measure(name, release, weights=release.weights)
        is_total = CELL_MEASURES[name].total
        return float(average * len(release.columns) * release.records if is_total else average)

    return formula


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a release.

    Args:
        formula: Its value; None where the release lacks what it needs.
        meaning: What it says, in a reader's words.
        is_share: Whether it is 0 where everything is kept and 1 where nothing is.
    """

    formula: Callable[[Release], float | None]
    meaning: str
    is_share: bool = False


FORMULAS: Mapping[str, Measure] = {
    **{
        name: Measure(_of_cells(name), loss.meaning, is_share=loss.is_share)
        for name, loss in CELL_MEASURES.items()
    },
    "hdm": Measure(
        hdm,
        "share of the records that a cell can be mistaken for, averaged over cells",
        is_share=True,
    ),
    "ambiguity": Measure(
        ambiguity, "combinations of values that a record may stand for, on average"
    ),
    "discernibility": Measure(
        discernibility, "sum of the squared class sizes; each record left out adds the table's size"
    ),
    "average-class-size": Measure(average_class_size, "records per class, divided by k"),
    "row-types": Measure(row_types, "distinct rows of quasi-identifiers"),
    "average-row-type": Measure(average_row_type, "records per distinct row"),
    "maximum-row-type": Measure(maximum_row_type, "records with the most frequent row"),
    "usefulness": Measure(
        usefulness, "share of the values that the cells of a row may stand for; lower is better"
    ),
    "classification": Measure(
        classification, "records whose class attribute is not that of the majority in their class"
    ),
    "purity": Measure(
        purity, "how far the sensitive values of a class agree; higher gives more away"
    ),
    "purity-gain": Measure(purity_gain, "purity minus that of the whole table"),
    "utility": Measure(utility, "Khaitan's E: loss in relation to the purity gained"),
}
MEASURES = tuple(FORMULAS)
"""The names of all measures."""


def measured(release: Release) -> dict[str, float]:
    """Every measure that applies to a release, by its JSON name."""
    is_grouped = any(column.is_grouped for column in release.columns)
    left_out = LEVEL_MEASURES if is_grouped else ()
    values = {
        key(name): measure.formula(release)
        for name, measure in FORMULAS.items()
        if name not in left_out
    }
    return {name: value for name, value in values.items() if value is not None}


def left_out_note(names: Sequence[str], columns: Sequence[str]) -> str:
    """A note on measures that go by levels, where some columns have groups that are of none."""
    return f"{listed(names)} are left out, since {grouped_text(columns)}"


def grouped_text(columns: Sequence[str]) -> str:
    """What columns are published in, for a message."""
    return (
        f"{listed([repr(name) for name in columns])} "
        f"{'is' if len(columns) == 1 else 'are'} published in groups of values that are no nodes "
        "of a hierarchy"
    )


def refuse_inapplicable(names: Iterable[str], *, sensitive: bool, class_attribute: bool) -> None:
    """Refuses measures that are not known, or whose sensitive or class attribute is missing.

    Raises:
        PolicyError: Says what is missing and how it is named.
    """
    for name in names:
        if name not in MEASURES:
            meant = did_you_mean(name, MEASURES) if isinstance(name, str) else ""
            known = f"choose from {', '.join(MEASURES)}{meant}"
            raise PolicyError(f"loss {name!r} is not known; {known}")
        if name in VALUE_MEASURES and not sensitive:
            raise PolicyError(
                f"loss {name!r} needs a sensitive attribute; name one with --sensitive COLUMN"
            )
        if name == "classification" and not class_attribute:
            raise PolicyError(
                "loss 'classification' needs a class attribute; name it with "
                "--class-attribute COLUMN"
            )
