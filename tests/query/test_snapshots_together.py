"""Tables together, and shares of persons: every query, and what DuckDB answers."""

from snapshots import Snapshot
from sqlglot import exp

from sqlanon.query.assess import earlier, joined
from sqlanon.query.privacy import figures
from sqlanon.query.privacy.figures import Needed, Reference
from sqlanon.query.syntax import column, table

TABLES = """
CREATE TABLE ages (id INTEGER, age VARCHAR, person VARCHAR);
INSERT INTO ages VALUES
    (1, '20+', 'ann'), (2, '40+', 'ann'), (NULL, '40+', 'bob'), (7, '60+', 'cid');
CREATE TABLE zips (id VARCHAR, zip VARCHAR, age VARCHAR);
INSERT INTO zips VALUES ('1', '10*', '30+'), ('1', '10*', '30+'),
    ('2', '10*', '30+'), (NULL, '20*', NULL), ('9', '9*', 'x');

CREATE TABLE recoded (age VARCHAR, ill VARCHAR, original INTEGER, person VARCHAR);
INSERT INTO recoded VALUES
    ('0+', 'flu', 1, 'ann'), ('0+', 'cold', 1, 'bob'), ('0+', 'gout', 2, 'bob'),
    ('*', NULL, NULL, 'cid');

CREATE TABLE nodes (attribute BIGINT, leaf VARCHAR, label VARCHAR);
INSERT INTO nodes VALUES
    (0, '1', '0+'), (0, '1', '*'), (0, '2', '2+'), (0, NULL, '*'), (1, '1', 'x');

CREATE TABLE placed (class BIGINT, label_0 VARCHAR, combination BIGINT, original_0 INTEGER,
    link_0 VARCHAR, whose VARCHAR);
INSERT INTO placed VALUES (1, '0+', 1, 1, 'flu', 'ann'), (1, '0+', 1, 1, 'cold', 'bob'),
    (1, '0+', 2, 2, 'flu', 'dan'), (2, '*', 3, NULL, NULL, 'cid');
CREATE TABLE repeated AS SELECT * REPLACE ('ann' AS whose) FROM placed;
CREATE TABLE before (class BIGINT, label_0 VARCHAR, link_0 VARCHAR);
INSERT INTO before VALUES (5, '1', 'flu'), (6, '2+', 'cold'), (7, '*', NULL), (8, '9+', 'flu');
CREATE TABLE cover (value INTEGER, label VARCHAR);
INSERT INTO cover VALUES (1, '1'), (1, '*'), (2, '2+'), (NULL, '*');
CREATE TABLE covering (combination BIGINT, class BIGINT);
INSERT INTO covering VALUES (1, 5), (2, 6), (3, 7);

CREATE TABLE held (class VARCHAR, value BIGINT, size BIGINT, entity VARCHAR);
INSERT INTO held VALUES ('a', 0, 1, 'ann'), ('a', 1, 1, 'ann'), ('a', 0, 1, 'bob'),
    ('a', NULL, 1, 'cid'),
    ('b', 1, 1, NULL);
CREATE TABLE reference (value BIGINT, rank BIGINT, records BIGINT, reached BIGINT, below BIGINT);
INSERT INTO reference VALUES (0, 0, 2, 2, 0), (1, 1, 2, 4, 2);
"""
AGES, ZIPS, RECODED, PLACED = map(table, ("ages", "zips", "recoded", "placed"))
BEFORE, COVER = table("before"), table("cover")
NEEDED = Needed(distances=("ratio",), nulls=False)


def shares(needed):
    reference = Reference(table("reference"), 4, 2, persons=3)
    return figures.class_figures(
        table("held"), ["class"], needed=needed, reference=reference, persons=True
    )


UNFIT = {"DECIMAL", "HUGEINT"}
SNAPSHOTS = [
    Snapshot(
        "joined_rows of records",
        joined.joined_rows(
            AGES,
            ["age"],
            entity=None,
            other=ZIPS,
            added={"zip": "zip", "age": "age (joined)"},
            on={"id": False},
        ),
        [
            ("20+", "1", 1, "10*", "30+"),
            ("40+", "2", 2, "10*", "30+"),
            ("40+", None, 4, "20*", None),
        ],
    ),
    Snapshot(
        "joined_rows of persons",
        joined.joined_rows(AGES, ["age"], entity="person", other=AGES, added={}, on={"id": True}),
        [
            ("20+", 1, "ann"),
            ("40+", 2, "ann"),
            ("40+", None, "bob"),
            ("60+", 7, "cid"),
        ],
    ),
    Snapshot(
        "placed_rows of the new release",
        earlier.placed_rows(
            RECODED, ["age"], links=[column("ill")], originals=["original"], whose="person"
        ),
        [
            (1, "*", 3, None, None, "cid"),
            (2, "0+", 1, 1, "cold", "bob"),
            (2, "0+", 1, 1, "flu", "ann"),
            (2, "0+", 2, 2, "gout", "bob"),
        ],
    ),
    Snapshot(
        "placed_rows of an earlier one",
        earlier.placed_rows(ZIPS, ["zip"], links=[column("age")]),
        [
            (1, "10*", "30+", 1),
            (1, "10*", "30+", 2),
            (1, "10*", "30+", 3),
            (2, "20*", None, 4),
            (3, "9*", "x", 5),
        ],
    ),
    Snapshot(
        "covers",
        earlier.covers(
            PLACED,
            table("nodes"),
            earlier=BEFORE,
            number=0,
            kind=exp.DataType.build("INTEGER"),
        ),
        [(1, "1"), (1, "*"), (2, "2+"), (None, "*")],
    ),
    Snapshot("uncovered", earlier.uncovered(BEFORE, COVER, number=0), [(1, 1)]),
    Snapshot(
        "covering",
        earlier.covering(PLACED, BEFORE, covers=[COVER]),
        [(1, 5), (1, 7), (2, 6), (3, 7)],
    ),
    Snapshot(
        "intersected",
        earlier.intersected(
            PLACED, BEFORE, covering=table("covering"), k=2, least=[2], nulls=[False]
        ),
        [(1, 0, 2, 2, 2)],
    ),
    Snapshot(
        "intersected where NULL is a value",
        earlier.intersected(
            PLACED, BEFORE, covering=table("covering"), k=2, least=[1], nulls=[True]
        ),
        [(1, 1, 2, 1, 1)],
    ),
    Snapshot(
        "intersected where a person has several rows",
        earlier.intersected(
            table("repeated"), BEFORE, covering=table("covering"), k=2, least=[1], nulls=[True]
        ),
        [(1, 1, 2, 2, 2)],
    ),
    Snapshot(
        "class_figures of persons",
        shares(NEEDED),
        [("a", 4, 2, 2, 2, 1.5), ("b", 1, 1, 1, 1, 1.5)],
    ),
    Snapshot(
        "class_figures of persons where NULL is a value",
        shares(Needed()),
        [("a", 4, 3, 3, 2), ("b", 1, 1, 1, 1)],
    ),
]
