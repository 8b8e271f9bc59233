"""Frequency sets: every query, and what DuckDB answers."""

from snapshots import CODES, PEOPLE, Snapshot
from sqlglot import exp

from sqlanon.query.assess import risk
from sqlanon.query.classes import frequency, table_classes
from sqlanon.query.classes.frequency import Prices, Selected
from sqlanon.query.syntax import table
from sqlanon.sqltext import expression

PRICES = Prices({(0, 0): 0, (0, 1): 1}, table("prices"))


SNAPSHOTS = [
    Snapshot("roll_up", frequency.roll_up(CODES, [4, 1]), [(0, 0, 5), (4, 1, 3)]),
    Snapshot(
        "roll_up of details",
        frequency.roll_up(table("valued"), [3], carried=["value_0"]),
        [(1, 0, 4), (1, 1, 1), (2, 0, 4)],
    ),
    Snapshot(
        "class_counts of two nodes by their masks",
        frequency.class_counts(CODES, 2, k=2, masks=[[3, 1], [4, 0]]),
        [(0, 4, 2, 2), (1, 2, 0, 0)],
    ),
    Snapshot(
        "class_sizes side by side",
        frequency.class_sizes(CODES, 2, masks=[[3, 1], [4, 0]]),
        [(0, 1, 2), (0, 2, 1), (0, 4, 1), (1, 3, 1), (1, 5, 1)],
    ),
    Snapshot(
        "class_sizes",
        frequency.class_sizes(CODES, 2),
        [(0, 1, 2), (0, 2, 1), (0, 4, 1), (1, 3, 1), (1, 5, 1)],
        parameters=([0, 1], [3, 4], [1, 0]),
    ),
    Snapshot(
        "sized_classes",
        table_classes.sized_classes(PEOPLE, ["sex", "zip"]),
        [("f", "10115", 1), ("f", "10117", 2), ("m", "20095", 1), (None, "20095", 1)],
    ),
    Snapshot(
        "fewest_sharing",
        table_classes.fewest_sharing(table("combined"), [[0], [0, 1]]),
        [(1,)],
    ),
    Snapshot(
        "fewest_sharing by one column",
        table_classes.fewest_sharing(table("combined"), [[0]]),
        [(2,)],
    ),
    Snapshot(
        "minimal_uniques",
        # The second record is unique by a part of the first set already.
        risk.minimal_uniques(CODES, [(3, 2, 7, 0), (2, 1, 7, 0)], known=table("minimal")),
        [(3, 2, 1, 0), (2, 1, 1, 0), (2, 1, 6, 1)],
    ),
    Snapshot("no_uniques", risk.no_uniques(2), []),
    Snapshot(
        "joined",
        risk.joined(table("minimal"), expression("SELECT 2, 1, 6, 1")),
        [(1, 1, 6, 1), (2, 1, 6, 1)],
    ),
    Snapshot("sizes_of_sets", risk.sizes_of_sets(table("minimal")), [(1, 1)]),
    Snapshot(
        "sets_of_records",
        risk.sets_of_records(table("minimal"), 2, largest=2),
        [(1, 0, 1)],
    ),
    Snapshot(
        "class_counts with squares",
        frequency.class_counts(CODES, 2, k=4, squares=True),
        [(0, 4, 3, 4, 22, 6), (1, 2, 1, 3, 34, 9)],
        parameters=([0, 1], [3, 4], [1, 1]),
    ),
    Snapshot(
        "class_rows by value",
        frequency.with_nodes(
            frequency.class_rows(
                table("valued"),
                1,
                selected=Selected({"size": "size"}, carried=True, by={"value": "value_0"}),
            ),
            1,
        ),
        [(0, 0, 0, 8), (0, 0, 1, 1), (1, 1, 0, 4), (1, 1, 1, 1), (1, 2, 0, 4)],
        parameters=([0, 1], [0, 3]),
        inner=True,
    ),
    Snapshot(
        "class_rows by value side by side",
        frequency.class_rows(
            table("valued"),
            1,
            masks=[[0], [3]],
            selected=Selected({"size": "size"}, carried=True, by={"value": "value_0"}),
        ),
        [(0, 0, 0, 8), (0, 0, 1, 1), (1, 1, 0, 4), (1, 1, 1, 1), (1, 2, 0, 4)],
        inner=True,
    ),
    Snapshot(
        "class_rows of a word without bits side by side",
        frequency.class_rows(
            CODES, 2, masks=[[3, 0]], selected=Selected({"size": "size"}, carried=True)
        ),
        [(0, 1, 0, 3), (0, 2, 0, 5)],
        inner=True,
    ),
    Snapshot(
        "small_costs without differing costs",
        frequency.small_costs(CODES, 2, k=4, prices=Prices({}, None)),
        [(0, 3, 4, 0, 0), (1, 1, 3, 0, 0)],
        parameters=([0, 1], [3, 4], [1, 1]),
    ),
    Snapshot(
        "small_costs from a table of costs",
        frequency.small_costs(CODES, 2, k=4, prices=PRICES),
        [(0, 3, 4, 0, 50), (1, 1, 3, 0, 90)],
        parameters=([0, 1], [3, 0], [1, 1], [0, 1], [1, 1], [0, 1], [3, 3], [0, 0]),
    ),
    Snapshot(
        "added_up with squares",
        frequency.added_up(
            exp.select("*").from_(
                "(VALUES (0, 2, 1), (0, 3, 3), (1, 1, 0)) AS v(number, class_size, required)"
            ),
            2,
            prices=None,
            counts=["class_size", "required"],
            squares=True,
        ),
        [(0, 2, 5, 13, 0, 4, 11, 0), (1, 1, 1, 1, 0, 0, 0, 0)],
    ),
    Snapshot(
        "histogram",
        frequency.histogram(
            exp.select(exp.column("size", quoted=True).as_("class_size", quoted=True)).from_(
                CODES.copy()
            )
        ),
        [(1, 2), (2, 1), (4, 1)],
    ),
]
