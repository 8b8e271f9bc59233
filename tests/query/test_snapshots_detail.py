"""Ranks of sensitive values: every query, and what DuckDB answers."""

from snapshots import PEOPLE, Snapshot

from sqlanon.query.privacy import value_ranks
from sqlanon.query.syntax import table

REFERENCE = table("reference")

SNAPSHOTS = [
    Snapshot(
        "held by records",
        value_ranks.held(PEOPLE, "job", entity=None),
        [("boss", 1), ("clerk", 1), *[("nurse", 1)] * 3],
    ),
    Snapshot(
        "held by persons",
        value_ranks.held(PEOPLE, "job", entity="age"),
        [("boss", 1), ("clerk", 1), ("nurse", 1), ("nurse", 1)],
    ),
    Snapshot(
        "by_rank",
        value_ranks.by_rank(REFERENCE, 2),
        [(0, 0, 4, 4, 0, "x", 6), (1, 1, 2, 6, 4, "x", 6)],
    ),
    Snapshot("rank_counts", value_ranks.rank_counts(REFERENCE, 2), [(0, 4, "x"), (1, 2, "x")]),
]
