"""Violations: every query, and what DuckDB answers."""

from snapshots import CODES, DETAILS, GONE, Snapshot
from sqlglot import exp

from sqlanon.query.classes import violations
from sqlanon.query.classes.violations import Figures
from sqlanon.query.syntax import column, table

KEYS = ["word_0", "word_1"]
SIZES = exp.select(column("word_0"), column("counted").as_("class_size", quoted=True)).from_(
    table("figures")
)

SNAPSHOTS = [
    Snapshot(
        "spread_rows of records",
        violations.attribute_rows(DETAILS, KEYS, attribute=0, persons=False),
        [(1, 0, 0, 1), (1, 0, 0, 2), (1, 0, 1, 1), (5, 1, 0, 3), (5, 1, None, 1), (5, 1, None, 1)],
    ),
    Snapshot(
        "spread_rows of no keys",
        violations.attribute_rows(DETAILS, (), attribute=1, persons=True),
        [(0, 1, "ann"), (1, 1, None), (1, 1, "cid"), (2, 1, None), (2, 1, "ann"), (2, 1, "bob")],
    ),
    Snapshot(
        "spread_rows of persons",
        violations.attribute_rows(DETAILS, KEYS, attribute=0, persons=True),
        [
            (1, 0, 0, 1, "ann"),
            (1, 0, 0, 1, "bob"),
            (1, 0, 1, 1, "ann"),
            (5, 1, 0, 1, "cid"),
            (5, 1, None, 1, None),
        ],
    ),
    Snapshot(
        "failing",
        violations.failing(
            exp.select("*").from_(table("figures")),
            ["word_0"],
            conditions=[column("distinct_values") < 2, column("largest") > 4],
        ),
        [(5, 0), (6, 0)],
    ),
    Snapshot(
        "rare",
        # By the first set 1 has three records, by the second (4, 1).
        violations.rare(CODES, [(3, 0), (4, 1)], k=4),
        [(0, 1, 0, 1, 0), (0, 5, 1, 2, 0), (0, 6, 1, 1, 0)],
    ),
    Snapshot(
        "rare_among",
        # Four records have the first value of either key, five the second.
        violations.rare_among(DETAILS, KEYS, subsets=1, k=5),
        [(1, 0, 0)],
    ),
    Snapshot(
        "merged",
        violations.merged(
            [exp.select("*").from_(table(name)) for name in ("gone", "also_gone")], KEYS
        ),
        [(1, 0, 0), (5, 1, 4)],
    ),
    Snapshot(
        "violating",
        violations.violating(
            [
                Figures(SIZES, [(column("class_size") < 5, column("class_size"))]),
                Figures(
                    exp.select("*").from_(table("figures")),
                    [(column("distinct_values") < 2, exp.Literal.number(9))],
                ),
            ],
            ["word_0"],
        ),
        [(1, 4, 4), (5, 4, 4)],
    ),
    Snapshot(
        "persons",
        violations.persons(
            exp.select(column("word_0"), column("entity")).distinct().from_(DETAILS.copy()),
            ["word_0"],
        ),
        [(1, 2), (5, 2)],
    ),
    Snapshot(
        "once_per_person",
        violations.once_per_person(
            exp.select(
                column("word_0"), column("value_0").as_("value", quoted=True), column("entity")
            )
            .distinct()
            .from_(DETAILS.copy()),
            ["word_0"],
        ),
        [
            (1, 0, 1, "ann"),
            (1, 0, 1, "bob"),
            (1, 1, 1, "ann"),
            (5, 0, 1, "cid"),
            (5, None, 1, None),
        ],
    ),
    Snapshot(
        "without",
        violations.without(DETAILS, GONE, keys=KEYS),
        [(1, 0, 0, 2, "ann", 1), (1, 0, 0, 2, "bob", 2), (1, 0, 1, 0, "ann", 1)],
    ),
    Snapshot(
        "without where keys may be NULL",
        violations.without(DETAILS, GONE, keys=KEYS, nullable=True),
        [(1, 0, 0, 2, "ann", 1), (1, 0, 0, 2, "bob", 2), (1, 0, 1, 0, "ann", 1)],
    ),
    Snapshot(
        "within",
        violations.within(DETAILS, GONE, keys=KEYS),
        [(5, 1, 0, 1, "cid", 3), (5, 1, None, 1, None, 1), (5, 1, None, 2, None, 1)],
    ),
]
