"""Local recoding: units, runs and the published rows, and what DuckDB answers."""

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
from sqlanon.query.publish import clusters
from sqlanon.recoding import Clusters, Run

SEX = Hierarchy.from_rows([("f", "known", "*"), ("m", "known", "*")])
HIERARCHIES = {"age": (Hierarchy.suppression(), INTEGER), "sex": (SEX, TEXT)}
# Units in the order of age and sex: (31, f) three times, (45, m), (45, NULL).
RUNS = (Run(0, 1, 0), Run(0, 2, 1), Run(1, 1, 1), Run(2, 1, 0))
RECODING = Clusters(((0, 2), (1, 0)), RUNS)


def published(recoding, suppressed=None):
    return clusters.published(
        PEOPLE,
        dict.fromkeys(["age", "sex", "zip"]),
        hierarchies=HIERARCHIES,
        recoding=recoding,
        suppressed=suppressed,
    )


SNAPSHOTS = [
    Snapshot(
        "units",
        clusters.units(PEOPLE, ["age", "sex"]),
        [(31, "f", 3, 0), (45, "m", 1, 1), (45, None, 1, 2)],
    ),
    Snapshot(
        "assigned",
        clusters.assigned(Clusters(((0, 1), (1, 0)), (Run(0, 1, 0), Run(0, 2, 1)))),
        [(0, 0, 0, 0), (0, 1, 2, 1)],
    ),
    Snapshot(
        "assigned, without records that are dropped",
        clusters.assigned(Clusters((None, (1, 0)), (Run(0, 1, 0), Run(0, 2, 1)))),
        [(0, 1, 2, 1)],
    ),
    Snapshot(
        "nodes",
        clusters.nodes(RECODING),
        [(0, 0, 2), (1, 1, 0)],
    ),
    Snapshot(
        "published",
        published(RECODING),
        [
            ("*", "f", "10117"),
            ("*", "f", "10117"),
            ("*", "m", "20095"),
            ("31", "*", "10115"),
            ("45", "*", "20095"),
        ],
    ),
    Snapshot(
        "published, with labels that differ from value to value",
        published(Clusters(((1, 0), (1, 1)), RUNS)),
        [
            ("*", "f", "10115"),
            ("*", "known", "10117"),
            ("*", "known", "10117"),
            ("*", "known", "20095"),
            ("*", None, "20095"),
        ],
    ),
    Snapshot(
        "published, with suppressed records dropped",
        published(Clusters((None, (1, 0)), RUNS)),
        [("*", "f", "10117"), ("*", "f", "10117"), ("*", "m", "20095")],
    ),
    Snapshot(
        "published, with suppressed records kept under their label",
        published(Clusters((None, (0, 0)), RUNS), "gone"),
        [
            ("31", "f", "10117"),
            ("31", "f", "10117"),
            ("45", "m", "20095"),
            ("gone", "gone", "10115"),
            ("gone", "gone", "20095"),
        ],
    ),
]
