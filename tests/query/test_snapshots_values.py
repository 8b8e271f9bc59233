"""The order of sensitive values: every query, and what DuckDB answers."""

from snapshots import INTEGER, PEOPLE, Snapshot
from sqlglot import exp

from sqlanon.query.privacy import figures
from sqlanon.query.syntax import column, table

LISTED = figures.listed_order(
    [("31", 0, 7), ("45", 1, 8), ("old", 2, 8), (None, 3, 9)], INTEGER, levels=[1]
)
RULED = figures.ruled(PEOPLE, "age", labels=[column("value") % 10, exp.Literal.string("*")])
RANKS = figures.listed_order([("45", 0), ("31", 1)], INTEGER, levels=[])
REFERENCE = table("reference")

SNAPSHOTS = [
    Snapshot("listed", LISTED, [(31, 0, 7), (45, 1, 8), (None, 3, 9)]),
    Snapshot("ruled", RULED, [(31, 1, 1), (45, 2, 5)]),
    Snapshot("reordered", figures.reordered(RANKS, LISTED, levels=[1]), [(31, 1, 7), (45, 0, 8)]),
    Snapshot(
        "held by records",
        figures.column_rows(PEOPLE, "job", entity=None),
        [("boss", 1), ("clerk", 1), *[("nurse", 1)] * 3],
    ),
    Snapshot(
        "held by persons",
        figures.column_rows(PEOPLE, "job", entity="age"),
        [("boss", 1, 45), ("clerk", 1, 31), ("nurse", 1, 31), ("nurse", 1, 45)],
    ),
    Snapshot(
        "persons_with_values",
        figures.persons_with_values(figures.column_rows(PEOPLE, "sex", entity="job"), nulls=False),
        [(2,)],
    ),
    Snapshot(
        "persons_with_values where NULL is one",
        figures.persons_with_values(figures.column_rows(PEOPLE, "sex", entity="job"), nulls=True),
        [(3,)],
    ),
    Snapshot(
        "by_rank",
        figures.by_rank(REFERENCE, 2),
        [(0, 0, 4, 4, 0, "x", 6), (1, 1, 2, 6, 4, "x", 6)],
    ),
    Snapshot("rank_counts", figures.rank_counts(REFERENCE, 2), [(0, 4, "x"), (1, 2, "x")]),
]
