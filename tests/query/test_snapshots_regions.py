"""Regions: what is published of the combinations of values, and what DuckDB answers."""

from array import array

import pytest
from snapshots import (  # noqa: F401
    INTEGER,
    PEOPLE,
    TEXT,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    test_query_is_plain_enough_for_spark,
)

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.publish import regions
from sqlanon.regions import Regions

SEX = Hierarchy.from_rows([("f", "known", "*"), ("m", "known", "*")])
HIERARCHIES = {"age": (Hierarchy.suppression(), INTEGER), "sex": (SEX, TEXT)}
# Combinations by the places of age, then sex: (31, f) three times, (45, m), (45, NULL).
RECODING = Regions(((0, 2), (1, 0)), (3, 2), (2, 3), array("q", [1, 2]), array("q", [0, 1]))
WITHOUT = Regions(((0, 1), None), (3, 2), (2, 3), array("q", [1, 2]), array("q", [0, 1]))


def published(recoding, suppressed=None):
    return regions.published(
        PEOPLE,
        dict.fromkeys(["age", "sex", "zip"]),
        hierarchies=HIERARCHIES,
        recoding=recoding,
        suppressed=suppressed,
    )


SNAPSHOTS = [
    Snapshot("places", regions.places(PEOPLE, "sex"), [("f", 0), ("m", 1), (None, 2)]),
    Snapshot(
        "published",
        published(RECODING),
        [
            ("*", "m", "20095"),
            ("*", None, "20095"),
            ("31", "*", "10115"),
            ("31", "*", "10117"),
            ("31", "*", "10117"),
        ],
    ),
    Snapshot(
        "published, without suppressed records",
        published(WITHOUT),
        [(31, "known", "10115"), (31, "known", "10117"), (31, "known", "10117")],
    ),
    Snapshot(
        "published, with suppressed records",
        published(WITHOUT, "gone"),
        [
            ("31", "known", "10115"),
            ("31", "known", "10117"),
            ("31", "known", "10117"),
            ("gone", "gone", "20095"),
            ("gone", "gone", "20095"),
        ],
    ),
]


@pytest.mark.parametrize(
    ("values", "expected"),
    [((2, 3), [(0, 3), (0, 1)]), ((5, 2), [(0, 1), (0, 5)]), ((2**40, 2**30), [(1, 1), (0, 1)])],
)
def test_columns_of_many_values_count_least(values, expected):
    assert regions.factors(values) == expected
