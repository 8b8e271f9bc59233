"""Row types of patterns by the figures of their source, from the values that records held."""

from __future__ import annotations

import numpy as np
from sqlglot import exp

from sqlanon.methods.local.input import EncodedRecords
from sqlanon.methods.patterns.problem import Parts
from sqlanon.search.arrays import Numbers
from sqlanon.search.patterns.greedy import LEFT


def usefulness_of_values(read: EncodedRecords, parts: Parts) -> float:
    """Usefulness of the values that the records of a row type held before; the lower the better.

    The tuple diversity of a row type is a sum over columns: of numbers the greatest less the least
    over that difference in the table, of all else the distinct values over those in the table.
    NULL is a value, but no number. Records that no pattern has a place for are a row type.

    Source: Bredereck, Nichterlein and Niedermeier 2013, "Pattern-guided k-anonymity", table 1, u,
    which this reproduces; the text has no formula. After Loukides and Shao 2007.
    """
    left = parts.pattern == LEFT
    _, group = np.unique(np.where(left, -1, parts.group), return_inverse=True)
    diversity = np.zeros(group.max() + 1)
    leaves, subject = read.combinations.leaves[parts.row], read.subject
    for number, (name, tree) in enumerate(zip(subject.names, subject.trees, strict=True)):
        own = leaves[:, number]
        ruled = subject.attributes[name].hierarchy.rows is None
        if ruled and subject.columns[name].this in exp.DataType.NUMERIC_TYPES:
            values = np.array([np.nan if each is None else float(each) for each in tree.leaves])
            diversity += _ranges(values[own], group)
        else:
            held = np.unique(np.stack([group, own]), axis=1)
            diversity += np.bincount(held[0]) / len(np.unique(own))
    return float(diversity.mean())


def _ranges(values: np.ndarray, group: Numbers) -> np.ndarray:
    """Per group the difference of its greatest and least number, over that of all numbers."""
    known = np.isfinite(values)
    values, own = values[known], group[known]
    least, most = (np.full(group.max() + 1, end) for end in (np.inf, -np.inf))
    np.minimum.at(least, own, values)
    np.maximum.at(most, own, values)
    whole = np.ptp(values) if len(values) else 0.0
    return np.where(most > least, most - least, 0.0) / (whole or 1.0)
