"""The order of sensitive values: every query, and what DuckDB answers."""

from snapshots import INTEGER, PEOPLE, Snapshot
from sqlglot import exp

from sqlanon.query.encoding import value_order
from sqlanon.query.syntax import column

LISTED = value_order.listed(
    [("31", 0, 7), ("45", 1, 8), ("old", 2, 8), (None, 3, 9)], INTEGER, levels=[1]
)
RULED = value_order.ruled(PEOPLE, "age", labels=[column("value") % 10, exp.Literal.string("*")])
RANKS = value_order.listed([("45", 0), ("31", 1)], INTEGER, levels=[])


SNAPSHOTS = [
    Snapshot("listed", LISTED, [(31, 0, 7), (45, 1, 8), (None, 3, 9)]),
    Snapshot("ruled", RULED, [(31, 1, 1), (45, 2, 5)]),
    Snapshot(
        "reordered", value_order.reordered(RANKS, LISTED, levels=[1]), [(31, 1, 7), (45, 0, 8)]
    ),
]
