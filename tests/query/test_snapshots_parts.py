"""Combinations cut into parts, purity, and how values are spread: every query, and its rows."""

from snapshots import LEAVES, PEOPLE, TABLES, TEXT, Snapshot

from sqlanon.query import encode
from sqlanon.query.assess import release, value_shares
from sqlanon.query.classes import gains, parts, table_classes
from sqlanon.query.encode import Carried
from sqlanon.query.privacy import figures
from sqlanon.query.privacy.figures import Reference
from sqlanon.query.syntax import rows_and_sum, rows_of, table
from sqlanon.sqltext import expression, name

TABLES = (
    TABLES
    + """
CREATE TABLE coded (word_0 BIGINT, word_1 BIGINT, place BIGINT, value_0 BIGINT, size BIGINT);
INSERT INTO coded VALUES
    (1, 0, 2, 0, 1), (1, 0, 2, 1, 2), (5, 1, 0, 1, 4), (6, 1, 1, NULL, 3), (6, 0, 3, 0, 1);

CREATE TABLE state
    (word_0 BIGINT, word_1 BIGINT, value_0 BIGINT, size BIGINT, unit BIGINT, part BIGINT);
INSERT INTO state VALUES
    (1, 0, 1, 2, 2, 0), (1, 0, 0, 1, 2, 0), (5, 1, 1, 4, 0, 1), (6, 1, NULL, 3, 1, 1),
    (6, 0, 0, 1, 3, 2);

CREATE TABLE marks (part BIGINT, mask_0 BIGINT, mask_1 BIGINT);
INSERT INTO marks VALUES (1, 3, 0);
CREATE TABLE cuts (part BIGINT, word_0 BIGINT, word_1 BIGINT, new_part BIGINT);
INSERT INTO cuts VALUES (1, 1, 0, 3), (1, 2, 0, 4);
CREATE TABLE gone_parts (part BIGINT);
INSERT INTO gone_parts VALUES (0), (2);

CREATE TABLE places (value VARCHAR, sqlanon_place BIGINT);
INSERT INTO places VALUES ('boss', 0), ('clerk', 1), ('nurse', 2);

CREATE TABLE begun (word_0 BIGINT, cell VARCHAR, zip VARCHAR);
INSERT INTO begun VALUES (1, 'f', '10115'), (1, 'f', '10115'), (2, NULL, '20095'), (1, 'm', NULL);

CREATE TABLE spread (label_0 VARCHAR, label_1 VARCHAR, value VARCHAR, size BIGINT);
INSERT INTO spread VALUES
    ('3x', 'f', 'flu', 3), ('3x', 'f', 'hiv', 1), ('4x', NULL, 'flu', 1), ('4x', NULL, NULL, 2),
    ('4x', 'm', 'cold', 3), ('4x', 'm', 'flu', 3);

CREATE TABLE ordered (value VARCHAR, rank BIGINT, records BIGINT, reached BIGINT, below BIGINT);
INSERT INTO ordered VALUES ('cold', 0, 3, 3, 0), ('flu', 1, 7, 10, 3), ('hiv', 2, 1, 11, 13);
CREATE TABLE overall AS
    SELECT value, records FROM ordered UNION ALL SELECT CAST(NULL AS VARCHAR), 2;

CREATE TABLE furthest (label_0 VARCHAR, label_1 VARCHAR, class_size BIGINT, distance DOUBLE);
INSERT INTO furthest VALUES ('4x', NULL, 3, 0.5);

CREATE TABLE held (value VARCHAR, records BIGINT, held BIGINT);
INSERT INTO held VALUES ('flu', 7, 1), (NULL, 2, 2), ('cold', 3, 0), ('hiv', 1, 0), ('ms', 1, 0);
"""
)
CODED, STATE, SPREAD, HELD = (table(own) for own in ("coded", "state", "spread", "held"))
VALUED = gains.Valued(0, records=8, squares=24, parts=2.0**40)
WIDE = gains.Valued(0, records=80_000, squares=24, parts=2.0**40)
JOBS, SEXES = (
    encode.leaf_map(LEAVES, number, column_type=TEXT, words=range(2)) for number in (0, 1)
)
NURSES = encode.leaf_map(LEAVES, 2, column_type=TEXT, words=range(1))
UNFIT = {"HUGEINT"}
ORDERED = Reference.of(table("ordered"))
SNAPSHOTS = [
    Snapshot(
        "placed_leaves",
        parts.placed_leaves(JOBS.rows, table("places"), words=["word_0"], key="key_0", factor=10),
        [("boss", 2, 0), ("clerk", 1, 10), ("nurse", 0, 20)],
    ),
    Snapshot(
        "parted whole",
        parts.parted(CODED, 2, keys=["place"], carried=["value_0"], bits=[0, 0]),
        [
            (1, 0, 0, 1, 2, 0),
            (1, 0, 1, 2, 2, 0),
            (5, 1, 1, 4, 0, 0),
            (6, 0, 0, 1, 3, 0),
            (6, 1, None, 3, 1, 0),
        ],
    ),
    Snapshot(
        "parted by bits",
        parts.parted(CODED, 2, keys=["place"], carried=["value_0"], bits=[3, 1]),
        [
            (1, 0, 0, 1, 2, 0),
            (1, 0, 1, 2, 2, 0),
            (5, 1, 1, 4, 0, 1),
            (6, 0, 0, 1, 3, 2),
            (6, 1, None, 3, 1, 3),
        ],
    ),
    Snapshot(
        "part_sizes", parts.part_sizes(STATE), [(0, 2, 3), (1, 2, 7), (2, 1, 1)], ordered=True
    ),
    Snapshot(
        "marginal of all",
        parts.marginal(STATE, [0, 0], carried=["value_0"]),
        [(0, 0, 1), (0, 1, 2), (1, 1, 4), (1, None, 3), (2, 0, 1)],
    ),
    Snapshot(
        "marginal of some parts",
        parts.marginal(STATE, [3, 0], carried=[], parts=[0, 1]),
        [(0, 1, 3), (1, 1, 4), (1, 2, 3)],
    ),
    Snapshot(
        "rows of parts",
        parts.rows_of(STATE, [0, 1], carried=["value_0"]),
        [(5, 1, 1, 4, 0, 1), (6, 1, None, 3, 1, 1), (1, 0, 0, 1, 2, 0), (1, 0, 1, 2, 2, 0)],
        ordered=True,
    ),
    Snapshot(
        "cut",
        parts.cut(STATE, table("marks"), table("cuts"), words=2, carried=["value_0"]),
        [
            (1, 0, 0, 1, 2, 0),
            (1, 0, 1, 2, 2, 0),
            (5, 1, 1, 4, 0, 3),
            (6, 0, 0, 1, 3, 2),
            (6, 1, None, 3, 1, 4),
        ],
    ),
    Snapshot(
        "without parts",
        parts.without(STATE, table("gone_parts")),
        [(5, 1, 1, 4, 0, 1), (6, 1, None, 3, 1, 1)],
    ),
    Snapshot("combinations", parts.combinations(CODED, ["place"]), [(4,)]),
    Snapshot(
        "gains of two nodes",
        gains.of_nodes(CODED, 2, attributes=[VALUED], k=3, masks=[(3, 1), (4, 0)]),
        [
            (0, 503942829397, 503942829401, 418043483477, 418043483480),
            (1, 284040503842, 284040503845, 284040503842, 284040503845),
        ],
    ),
    Snapshot(
        "gains of classes",
        gains.of_classes(CODED, 2, attribute=VALUED),
        [(503942829397, 503942829401, 503942829397, 503942829401)],
    ),
    Snapshot(
        "gains of many",
        gains.of_classes(CODED, 2, attribute=WIDE),
        [(91625968, 91625974, 91625968, 91625974)],
    ),
    Snapshot(
        "class_values",
        value_shares.class_values(PEOPLE, ["age", "zip"], attribute="sex", nulls=True),
        [
            (31, "10115", "f", 1),
            (31, "10117", "f", 2),
            (45, "20095", "m", 1),
            (45, "20095", None, 1),
        ],
    ),
    Snapshot(
        "class_values without NULL",
        value_shares.class_values(PEOPLE, ["age", "zip"], attribute="sex", nulls=False),
        [(31, "10115", "f", 1), (31, "10117", "f", 2), (45, "20095", "m", 1)],
    ),
    Snapshot("counted", value_shares.counted(SPREAD), [(13, 3)]),
    Snapshot(
        "value_records",
        value_shares.value_records(SPREAD),
        [("cold", 3), ("flu", 7), ("hiv", 1), (None, 2)],
    ),
    Snapshot(
        "furthest_class",
        value_shares.furthest_class(
            SPREAD, 2, reference=Reference.of(table("overall")), measure="equal"
        ),
        [("4x", None, 3, 0.5128205128205128)],
    ),
    Snapshot(
        "furthest_class in order",
        value_shares.furthest_class(SPREAD, 2, reference=ORDERED, measure="ordered"),
        [("4x", None, 3, 0.7575757575757576)],
    ),
    Snapshot(
        "furthest_values",
        value_shares.furthest_values(SPREAD, table("furthest"), columns=2),
        [("cold", 3, 0), ("flu", 7, 1), ("hiv", 1, 0), (None, 2, 2)],
    ),
    Snapshot("totals", value_shares.totals(HELD), [(5, 14, 3, 2)]),
    Snapshot(
        "frequent",
        value_shares.frequent(HELD, TEXT, most=3),
        [("flu", 7, 1), ("cold", 3, 0), (None, 2, 2)],
        ordered=True,
    ),
    Snapshot(
        "in_parts",
        value_shares.in_parts(HELD, TEXT, parts=2),
        [("cold", "flu", 10, 1), ("hiv", "ms", 2, 0), (None, None, 2, 2)],
        ordered=True,
    ),
    Snapshot(
        "coded_values",
        release.coded_values(CODED, "value_0"),
        [(0, 1), (0, 1), (1, 2), (1, 4), (None, 3)],
    ),
    Snapshot("without_code", table_classes.without_code(table("details"), 2), [(0,)]),
    Snapshot("most_records", table_classes.most_records(PEOPLE, "zip"), [(2,)]),
    Snapshot(
        "persons_given_away",
        table_classes.persons_given_away(table("details"), 2, value=name("value_0")),
        [(2,)],
    ),
    Snapshot(
        "joined",
        encode.joined(PEOPLE, {"job": JOBS}, nullable=[], source_words=[], kept={"cell": "sex"}),
        [(0, 0, "f"), (0, 0, "f"), (0, 0, "m"), (1, 0, "f"), (2, 0, None)],
    ),
    Snapshot(
        "joined, more of it",
        encode.joined(
            table("begun"),
            {"cell": SEXES},
            nullable=["cell"],
            source_words=["word_0"],
            kept={"zip": "zip"},
        ),
        [(1, 0, "10115"), (1, 0, "10115"), (10, 1, "20095"), (5, 0, None)],
    ),
    Snapshot(
        "grouped",
        encode.grouped(table("begun"), 1, carried={"entity": Carried("zip")}),
        [(1, "10115", 2), (1, None, 1), (2, "20095", 1)],
    ),
    Snapshot(
        "unlisted",
        encode.unlisted(PEOPLE, "job", leaves=NURSES.rows),
        [("boss",), ("clerk",)],
        ordered=True,
    ),
    Snapshot(
        "missed",
        encode.missed(PEOPLE, "job", leaves=NURSES.rows, most=1),
        [("boss", 1)],
        ordered=True,
    ),
    Snapshot(
        "as_one_class",
        figures.as_one_class(expression("SELECT value, size FROM spread")),
        [(0, "cold", 3), (0, "flu", 1), (0, "flu", 3), (0, "flu", 3), (0, "hiv", 1), (0, None, 2)],
    ),
    Snapshot("rows of a table", rows_of(PEOPLE), [(5,)]),
    Snapshot("rows and a sum", rows_and_sum(table("reference"), "records"), [(2, 6)]),
]
