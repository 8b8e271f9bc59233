"""Ranks of sensitive values: every query, and what DuckDB answers."""

from snapshots import PEOPLE, Snapshot

from sqlanon.query.privacy import figures
from sqlanon.query.syntax import table

REFERENCE = table("reference")

SNAPSHOTS = [
    Snapshot(
        "held by records",
        figures.held(PEOPLE, "job", entity=None),
        [("boss", 1), ("clerk", 1), *[("nurse", 1)] * 3],
    ),
    Snapshot(
        "held by persons",
        figures.held(PEOPLE, "job", entity="age"),
        [("boss", 1), ("clerk", 1), ("nurse", 1), ("nurse", 1)],
    ),
    Snapshot(
        "by_rank",
        figures.by_rank(REFERENCE, 2),
        [(0, 0, 4, 4, 0, "x", 6), (1, 1, 2, 6, 4, "x", 6)],
    ),
    Snapshot("rank_counts", figures.rank_counts(REFERENCE, 2), [(0, 4, "x"), (1, 2, "x")]),
]
