"""From records to codes: every query, and what DuckDB answers."""

import datetime
from decimal import Decimal

from snapshots import CODES, DATE, INTEGER, LEAVES, PEOPLE, TEXT, Snapshot
from sqlglot import exp

from sqlanon.engine.base import render
from sqlanon.query import encode
from sqlanon.query.encode import Carried
from sqlanon.query.hierarchy.store import table_paths
from sqlanon.query.syntax import table

JOBS, SEXES, NURSES = (
    encode.leaf_map(LEAVES, number, column_type=TEXT, words=range(2)) for number in range(3)
)

ALL = [7, -7, 100, 300, 70000, 3000000000]
REALS = [*map(float, ALL), 7.5, 1.25]
VALUES = {
    "TINYINT": [7, -7, 100],
    "UTINYINT": [7, 100],
    "SMALLINT": [7, -7, 100, 300],
    "USMALLINT": [7, 100, 300],
    "INTEGER": [7, -7, 100, 300, 70000],
    "UINTEGER": [7, 100, 300, 70000, 3000000000],
    "BIGINT": ALL,
    "UBIGINT": [number for number in ALL if number > 0],
    "HUGEINT": ALL,
    "DECIMAL(12, 1)": [*map(Decimal, ALL), Decimal("7.5")],
    "DOUBLE": REALS,
    "FLOAT": REALS,
    "BOOLEAN": [True, False],
    "DATE": [datetime.date(2024, 2, 29)],
    "TIMESTAMP": [datetime.datetime(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 0, 0, 500000)],
}
"""Which of the texts are values of a type, not rounded."""
UNFIT = set()
SNAPSHOTS = [
    *(
        Snapshot(
            f"values of {kind}",
            encode.values_of(
                table("typed"), exp.DataType.build(kind, dialect="duckdb"), carried=[]
            ),
            [(None,), *((each,) for each in values)],
        )
        for kind, values in VALUES.items()
    ),
    Snapshot(
        "values of HUGEINT beyond the type that tells what is rounded",
        encode.values_of(table("huge"), exp.DataType.build("INT128"), carried=[]),
        [(7 * 10**34,), (7,)],
    ),
    Snapshot(
        "table_paths in the order of labels from the top down",
        table_paths(table("paths"), ["label", "top"]),
        [("b", None), (None, "x"), ("a", "x")],
        ordered=True,
    ),
    Snapshot("presence", encode.presence(PEOPLE, ["age", "sex"]), [(5, 5, 4)]),
    Snapshot("confused", encode.confused(PEOPLE, ["sex", "job"]), [(False, False)]),
    Snapshot(
        "distinct_paths",
        encode.distinct_paths(PEOPLE, "age", labels=[exp.Literal.string("*")]),
        [("31", "*", 3), ("45", "*", 2)],
        ordered=True,
    ),
    Snapshot("leaf_map of text", SEXES.rows, [("f", 0, 0), ("m", 4, 0), (None, 8, 1)]),
    Snapshot(
        "leaf_map of whole numbers",
        encode.leaf_map(table("spelled"), 0, column_type=INTEGER, words=range(1)).rows,
        [(31, 0), (31, 1), (None, 4)],
    ),
    Snapshot(
        "values_of",
        encode.values_of(table("days"), DATE, carried=["label"]),
        [(datetime.date(2024, 2, 29), "leap"), (None, "unknown")],
    ),
    Snapshot(
        "repeated_values",
        encode.repeated_values(
            encode.leaf_map(table("spelled"), 0, column_type=TEXT, words=range(1)).rows
        ),
        [(0,)],
    ),
    Snapshot(
        "repeated_values in two spellings",
        encode.repeated_values(
            encode.leaf_map(table("spelled"), 0, column_type=INTEGER, words=range(1)).rows
        ),
        [(1,)],
    ),
    Snapshot(
        "leaf_map at a node that keeps the second bit",
        JOBS.at([2, 0]).rows,
        [("boss", 2, 0), ("clerk", 0, 0), ("nurse", 0, 0)],
    ),
    Snapshot(
        "encoded",
        encode.encoded(PEOPLE, {"job": JOBS, "sex": SEXES}, nullable={"sex"}, words=2),
        [(0, 0, 2), (1, 0, 1), (4, 0, 1), (10, 1, 1)],
    ),
    Snapshot(
        "encoded with a rank and a person",
        encode.encoded(
            PEOPLE,
            {"sex": SEXES},
            nullable={"sex"},
            words=1,
            carried={
                "value_0": Carried("job", table("ranks"), nulls=False),
                "entity": Carried("zip"),
            },
        ),
        [
            (0, 0, "10117", 1),
            (0, 1, "10115", 1),
            (0, 1, "10117", 1),
            (4, 1, "20095", 1),
            (8, None, "20095", 1),
        ],
    ),
    Snapshot(
        "encoded with a rank for NULL",
        encode.encoded(
            PEOPLE,
            {"sex": SEXES},
            nullable={"sex"},
            words=1,
            carried={"value_0": Carried("sex", table("ranks"))},
        ),
        [(0, None, 3), (4, None, 1), (8, None, 1)],
    ),
    Snapshot("uncovered", encode.uncovered(PEOPLE, "job", leaves=NURSES.rows), [(2, 2)]),
    Snapshot(
        "marginals",
        encode.marginals(CODES, {0: [3, 0], 1: [4, 1]}),
        [(0, 1, 0, 3), (0, 2, 0, 5), (1, 0, 0, 5), (1, 4, 1, 3)],
    ),
    Snapshot("extent", encode.extent(CODES), [(4, 8)]),
]


def test_what_is_rendered_is_not_changed():
    query = encode.distinct_values(PEOPLE, "job")
    before = query.copy()
    for dialect in ("duckdb", "spark"):
        render(query, dialect)
    assert query == before
