"""Placing: which columns of a large table are published by the places of their labels."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.binding import Subject
from sqlanon.engine.base import Engine
from sqlanon.policy import Policy
from sqlanon.query.encode import confused
from sqlanon.query.places import MOST_PLACES, distinct_roughly
from sqlanon.recoding import Clusters, Recoding

MANY_RECORDS = 100_000
"""Fewer are sorted in no time, and their statement had better be short."""


def few_labels(
    engine: Engine, subject: Subject, policy: Policy, recoding: Recoding
) -> tuple[str, ...]:
    """Columns of few labels whose labels are longer than their places.

    These are the quasi-identifiers that are generalized or are text, and all other published text
    without a collation, which may take one spelling for another.

    Args:
        engine: Where the table lives.
        subject: The table.
        policy: Which columns are published.
        recoding: How they are published.
    """
    if isinstance(recoding, Clusters) or subject.records < MANY_RECORDS:
        return ()
    generalized = [
        name
        for name, tree, level in zip(subject.names, subject.trees, recoding, strict=True)
        if 0 < level < tree.height and tree.nodes[level][-1] < MOST_PLACES
    ]
    original = {n for n, level in zip(subject.names, recoding, strict=True) if level == 0}
    published = policy.published(list(subject.columns))
    texts = [n for n in published if n not in subject.attributes or n in original]
    return (*generalized, *_few_texts(engine, subject, texts))


def _few_texts(engine: Engine, subject: Subject, names: list[str]) -> Iterator[str]:
    texts = [n for n in names if subject.columns[n].this in exp.DataType.TEXT_TYPES]
    if not texts:
        return
    counts = engine.rows(distinct_roughly(subject.table, texts))[0]
    collated = engine.rows(confused(subject.table, texts))[0]
    for name, count, is_one in zip(texts, counts, collated, strict=True):
        if count <= MOST_PLACES and not is_one:
            yield name
