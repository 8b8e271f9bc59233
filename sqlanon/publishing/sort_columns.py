"""Sort keys: which columns of a large table are sorted by the places of their labels."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.microdata.binding import Subject
from sqlanon.policy.policy import Policy
from sqlanon.query.encoding.encode import confused
from sqlanon.query.publish.statement import MOST_PLACES, distinct_roughly
from sqlanon.recoding import Levels

WIDEST_KEY = 32
"""Bytes of a sort key up to which DuckDB sorts numbers faster than text; beyond it, slower."""

_Type = exp.DataType.Type
_WIDTHS = {
    **dict.fromkeys((_Type.BOOLEAN, _Type.TINYINT, _Type.UTINYINT), 2),
    **dict.fromkeys((_Type.SMALLINT, _Type.USMALLINT), 3),
    **dict.fromkeys((_Type.INT, _Type.UINT, _Type.DATE, _Type.FLOAT), 5),
    **dict.fromkeys((_Type.BIGINT, _Type.UBIGINT, _Type.DOUBLE, _Type.TIMESTAMP), 9),
}
"""Bytes of a column in a sort key, one of which says whether it is NULL."""
_PLACE_WIDTH, _FLAG_WIDTH, _OTHER_WIDTH = 3, 5, WIDEST_KEY + 1


def few_labels(
    engine: Engine, subject: Subject, *, policy: Policy, levels: Levels
) -> tuple[str, ...]:
    """Columns that records had better be sorted by the places of: none, or all that are long.

    These are the quasi-identifiers that are generalized or are text, and all other published text
    without a collation, which may take one spelling for another. One long column that is left
    spoils the gain.
    """
    parts = list(zip(subject.trees, levels, strict=True))
    constant = {tree.column for tree, own in parts if own == (tree.height,)}
    varying = [(tree, own) for tree, own in parts if own[-1] and tree.column not in constant]
    generalized = [tree.column for tree, own in varying if tree.nodes[own[0]][-1] < MOST_PLACES]
    changed = constant | {tree.column for tree, _ in varying}
    published = policy.published(list(subject.columns))
    original = [name for name in published if name not in changed]
    few = (*generalized, *_few_texts(engine, subject, names=original))
    keeping = policy.suppressed == "keep"
    widths = dict.fromkeys(subject.names, _OTHER_WIDTH) if keeping else {}  # the label kept is text
    widths = {n: _WIDTHS.get(subject.columns[n].this, _OTHER_WIDTH) for n in original} | widths
    widths |= dict.fromkeys(constant, _FLAG_WIDTH if keeping else 0)
    widths |= dict.fromkeys(few, _PLACE_WIDTH)
    return few if sum(widths.get(n, _OTHER_WIDTH) for n in published) <= WIDEST_KEY else ()


def _few_texts(engine: Engine, subject: Subject, *, names: list[str]) -> Iterator[str]:
    texts = [n for n in names if subject.columns[n].this in exp.DataType.TEXT_TYPES]
    if not texts:
        return
    counts = engine.rows(distinct_roughly(subject.table, texts))[0]
    collated = engine.rows(confused(subject.table, texts))[0]
    for name, count, is_one in zip(texts, counts, collated, strict=True):
        if count <= MOST_PLACES and not is_one:
            yield name
