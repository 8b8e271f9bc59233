"""Queries that judge a table as it stands: what DuckDB answers."""

from snapshots import Snapshot

from sqlanon.query import lint
from sqlanon.query.assess import risk
from sqlanon.query.classes import table_classes
from sqlanon.query.encode import spelling_counts
from sqlanon.query.publish.suppression import all_labelled
from sqlanon.query.syntax import table
from sqlanon.sqltext import expression

TABLES = """
CREATE TABLE visits (who VARCHAR, place VARCHAR, card VARCHAR, cost DOUBLE);
INSERT INTO visits VALUES
    ('ann', 'x', 'c1', 0.3), ('ann', 'y', 'c1', 0.1::DOUBLE + 0.2::DOUBLE),
    ('bob', 'X ', 'c2', 1), ('cid', NULL, 'c2', 2), (NULL, '\u00e9', NULL, NULL);

-- Ann and cid have each class once, bob one of them twice, nobody's another.
CREATE TABLE coded (word_0 BIGINT, word_1 BIGINT, entity VARCHAR, size BIGINT);
INSERT INTO coded VALUES
    (1, 1, 'ann', 1), (11, 0, 'ann', 1), (1, 1, 'bob', 2), (11, 0, 'cid', 1), (1, 1, 'cid', 1),
    (1, 1, NULL, 1);

CREATE TABLE persons (person VARCHAR, trajectory BIGINT);
INSERT INTO persons VALUES ('ann', 3), ('bob', 2), ('cid', 3), (NULL, 1);

CREATE TABLE numbered (record BIGINT, cell_0 VARCHAR, cell_1 INTEGER, cell_2 VARCHAR);
INSERT INTO numbered VALUES (1, 'b', 7, 'p'), (2, NULL, 7, 'q'), (3, 'b', 9, NULL);

CREATE TABLE ranks (entity BIGINT, cell_0 BIGINT, cell_1 BIGINT);
INSERT INTO ranks VALUES (1, 2, 1), (2, 1, 1), (3, 2, 2);

CREATE TABLE part (entity BIGINT, word_0 BIGINT, word_1 BIGINT);
INSERT INTO part VALUES (1, 1, 0), (2, 0, 0), (3, 1, 0);

CREATE TABLE other (entity BIGINT, word_0 BIGINT);
INSERT INTO other VALUES (1, 5), (2, 6), (3, 5);

CREATE TABLE towns (place VARCHAR, town VARCHAR);
INSERT INTO towns VALUES ('z', 'Bonn'), ('X ', 'Bonn'), ('y', 'Ulm'), ('x', 'Erfurt');

CREATE TABLE sought (text VARCHAR);
INSERT INTO sought VALUES ('onn'), ('Paris');

CREATE TABLE held (value VARCHAR, rank BIGINT);
INSERT INTO held VALUES ('p', 0), (NULL, 1);
"""
VISITS, CODED, PERSONS, NUMBERED = map(table, ("visits", "coded", "persons", "numbered"))
RANKS, HELD = table("ranks"), table("held")
TOWNS = table("towns")
UNFIT = {"DECIMAL", "HUGEINT"}
IN_ORDER = "rows have an order there, and files bytes"
PARTS = [(table("part"), 2), (table("other"), 1)]


SNAPSHOTS = [
    Snapshot(
        "set_counts",
        table_classes.set_counts(VISITS, [["who"], ["card"], ["who", "card"]]),
        [(0, 4, 3), (1, 3, 1), (2, 4, 3)],
    ),
    Snapshot(
        "joined_records",
        # Ann alone has c1, and has it twice; each place is of one record. Nobody has none.
        table_classes.joined_records(VISITS, ["card", "place"], entity="who"),
        [(0, 2, 3, 2), (1, 3, 3, 0)],
    ),
    Snapshot("records_of_several", table_classes.records_of_several(VISITS, "who"), [(3, 2)]),
    Snapshot(
        "trajectories by rows",
        table_classes.trajectories(CODED, 2, person="entity"),
        # Told by text: "1.1.1" of nobody's and bob's rows, then both of the others.
        [(None, 1), ("bob", 1), ("ann", 2), ("cid", 2)],
    ),
    Snapshot(
        "trajectories by sizes",
        table_classes.trajectories(CODED, 2, person="entity", records=expression("SUM(size)")),
        [(None, 1), ("ann", 2), ("cid", 2), ("bob", 3)],
    ),
    Snapshot("trajectory_histogram", table_classes.trajectory_histogram(PERSONS), [(1, 2), (2, 1)]),
    Snapshot(
        "with_trajectories",
        table_classes.with_trajectories(CODED, PERSONS, words=2, person="entity"),
        [
            (1, 1, "ann", 1, 3), (11, 0, "ann", 1, 3), (1, 1, "bob", 2, 2), (11, 0, "cid", 1, 3),
            (1, 1, "cid", 1, 3), (1, 1, None, 1, 1),
        ],
    ),
    Snapshot(
        "numbered_records",
        risk.numbered_records(VISITS, ["who", "card"]),
        [(1, "ann", "c1"), (2, "ann", "c1"), (3, "bob", "c2"), (4, "cid", "c2"), (5, None, None)],
    ),
    Snapshot(
        "wide_rows of sizes",
        risk.wide_rows(NUMBERED, PARTS),
        [(1, 0, 5, 2), (0, 0, 6, 1)],
    ),
    Snapshot(
        "wide_rows that carry",
        risk.wide_rows(NUMBERED, PARTS, ranks={2: HELD}, entity=1),
        [(1, 0, 5, 0, 7), (0, 0, 6, None, 7), (1, 0, 5, 1, 9)],
    ),
    Snapshot(
        "spelling_counts",
        spelling_counts(VISITS, ["place", "who"], reals=["cost"], digits=12),
        [(0, 1, 1), (1, 0, 0), (2, 1, 0)],
    ),
    Snapshot("null_records", lint.null_records(VISITS, ["who", "card"]), [(1,)]),
    Snapshot("extremes", lint.extremes(VISITS, "card"), [("c1", "c2")]),
    Snapshot(
        "foreign_values",
        lint.foreign_values(VISITS, TOWNS, "place"),
        [(2,)],
        near=IN_ORDER,
    ),
    Snapshot(
        "row_steps",
        # By who nothing descends, and NULL comes last; by cost the last row goes up to NULL, too.
        lint.row_steps(VISITS, [["who"], ["place", "who"], ["cost"]]),
        [(0, 3, 2, 4, 0, 4)],
        near=IN_ORDER,
    ),
    Snapshot(
        "row_places",
        lint.row_places(VISITS, TOWNS, columns=["place"], blocks=[]),
        [(3, -1.0)],
        near=IN_ORDER,
    ),
    Snapshot(
        "row_places within blocks",
        # Of the place of a block that has no other nothing can be told.
        lint.row_places(VISITS, TOWNS, columns=["place"], blocks=["who"]),
        [(2, -1.0)],
        near=IN_ORDER,
    ),
    Snapshot(
        "texts",
        lint.texts(
            TOWNS,
            ["place", "town"],
            released=VISITS,
            published=["place", "who"],
            lengths=(2, 4),
            most=9,
        ),
        [("Bonn",), ("Ulm",)],
        near=IN_ORDER,
    ),
    Snapshot(
        "unpublished",
        lint.unpublished(table("sought"), TOWNS, ["place", "town"]),
        [(1,)],
        near=IN_ORDER,
    ),
    Snapshot("all_labelled", all_labelled(VISITS, ["place", "who"], label="x"), [(0,)]),
]  # fmt: skip
