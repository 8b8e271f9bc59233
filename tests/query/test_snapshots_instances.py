"""Instances of patterns: every query, and what DuckDB answers."""

from snapshots import CODES, Snapshot

from sqlanon.query.classes import frequency
from sqlanon.query.syntax import table

SNAPSHOTS = [
    Snapshot(
        "among",
        frequency.among(table("rowed"), 1, unit="row", records="size", k=3),
        [(1, 1), (2, 3)],
        parameters=("0101",),
    ),
    Snapshot(
        "frequent",
        frequency.frequent(CODES, 2, k=5, parts=1),
        [(1,), (2,)],
        parameters=([0, 1, 2], [1, 4, 3], [1, 0, 0]),
    ),
    Snapshot(
        "persons among",
        frequency.persons_among(table("personal"), 1, unit="row"),
        [(1, 1), (5, 2), (2, 3)],
        parameters=("11011",),
    ),
    Snapshot(
        "frequent persons",
        frequency.frequent_persons(table("personal"), 1, k=2, parts=1),
        [(1,)],
        parameters=([0, 1], [7, 1]),
    ),
    Snapshot(
        "frequent in two groupings",
        frequency.frequent(CODES, 2, k=5, parts=2),
        [(1,), (2,)],
        parameters=([0, 1, 2], [1, 4, 3], [1, 0, 0]),
    ),
]
