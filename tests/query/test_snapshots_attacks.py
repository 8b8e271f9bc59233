"""Queries of attacks and of individual risk, and what DuckDB answers."""

from __future__ import annotations

import math

from snapshots import Snapshot
from sqlglot import exp

from sqlanon import sqltext
from sqlanon.query.assess import attacks, weights
from sqlanon.query.classes.table_classes import sized_classes
from sqlanon.query.syntax import table

UNFIT = {"DECIMAL", "HUGEINT"}
TABLES = """
CREATE TABLE classes (label_0 VARCHAR, label_1 VARCHAR, class_size BIGINT, small BOOLEAN);
INSERT INTO classes VALUES
    ('30-39', 'f', 2, FALSE), ('31', 'f', 1, FALSE), (NULL, 'm', 3, FALSE), ('*', '*', 9, TRUE);

CREATE TABLE read (attribute BIGINT, label VARCHAR, place BIGINT);
INSERT INTO read VALUES (0, '30-39', 0), (0, '31', 1), (0, NULL, 2), (1, 'f', 0), (1, 'm', 1);

CREATE TABLE placed (
    label_0 VARCHAR, place_0 BIGINT, label_1 VARCHAR, place_1 BIGINT, class_size BIGINT,
    node_0 BIGINT, node_1 BIGINT, node_2 BIGINT
);
INSERT INTO placed VALUES
    ('30-39', 0, 'f', 0, 2, 1, 1, 1), ('31', 1, 'f', 0, 1, 1, 2, 2), (NULL, 2, 'm', 1, 3, 1, 3, 3);

-- Values 31, 35 and NULL of two bits, and two of the bit above.
CREATE TABLE encoded (word_0 BIGINT, size BIGINT);
INSERT INTO encoded VALUES (0, 1), (1, 2), (2, 3), (4, 1);

CREATE TABLE covers (attribute BIGINT, word_0 BIGINT, place BIGINT);
INSERT INTO covers VALUES
    (0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 2, 2), (1, 0, 0), (1, 4, 1);

CREATE TABLE empty AS SELECT word_0, CAST(1 AS BIGINT) AS node FROM encoded;
CREATE TABLE begun (word_0 BIGINT, node BIGINT);
INSERT INTO begun VALUES (0, 1), (0, 2), (1, 1), (2, 3), (4, 1), (4, 2);
CREATE TABLE pairs (word_0 BIGINT, node BIGINT);
INSERT INTO pairs VALUES (0, 1), (0, 2), (1, 1);

CREATE TABLE targets (word_0 BIGINT, value VARCHAR, sqlanon_which INTEGER, size BIGINT);
INSERT INTO targets VALUES (0, 'flu', 0, 1), (1, 'flu', 0, 2), (2, NULL, 0, 3), (1, 'gout', 1, 4);

CREATE TABLE matching (word_0 BIGINT, records BIGINT, evidence BIGINT);
INSERT INTO matching VALUES (0, 1, -1), (1, 2, 1);
CREATE TABLE one (word_0 BIGINT, records BIGINT, evidence BIGINT);
INSERT INTO one VALUES (0, 2, 1), (1, 2, 1);
CREATE TABLE other (word_0 BIGINT, records BIGINT, evidence BIGINT);
INSERT INTO other VALUES (0, 3, 1);
CREATE TABLE nobody (word_0 BIGINT, records BIGINT, evidence BIGINT);

CREATE TABLE ills (label_0 VARCHAR, label_1 VARCHAR, value VARCHAR, size BIGINT);
INSERT INTO ills VALUES ('31', 'f', 'flu', 1), (NULL, 'm', NULL, 2), (NULL, 'm', NULL, 1);

CREATE TABLE counts (node BIGINT, value VARCHAR, records BIGINT);
INSERT INTO counts VALUES (1, 'flu', 1), (1, 'gout', 1), (2, 'gout', 1), (3, NULL, 2);
CREATE TABLE evidence (evidence BIGINT, node BIGINT);
INSERT INTO evidence VALUES (1, 1), (-1, 1), (-1, 2), (0, 1), (0, 2), (0, 3);
CREATE TABLE guesses (evidence BIGINT, value VARCHAR, guesses BIGINT);
INSERT INTO guesses VALUES
    (1, 'flu', 2), (1, 'gout', 2), (-1, 'gout', 1), (0, NULL, 2), (0, 'gout', 2);

CREATE TABLE sample (age INTEGER, sex VARCHAR, w VARCHAR, home VARCHAR);
INSERT INTO sample VALUES
    (31, 'f', '2.5', 'a'), (31, 'f', '1.5', 'b'), (NULL, 'm', '1', 'a'), (45, 'f', '4', 'b');

CREATE TABLE attacked (sex VARCHAR, age INTEGER, sqlanon_which INTEGER);
INSERT INTO attacked VALUES
    ('f', NULL, 0), ('f', NULL, 1), ('f', 1, 0), ('f', 1, 0), ('f', 1, 1), ('m', NULL, 1);

CREATE TABLE faulty (w VARCHAR, home VARCHAR);
INSERT INTO faulty VALUES (NULL, 'a'), ('0.5', NULL), ('many', 'a'), ('1', 'a'), ('200', NULL);

CREATE TABLE weighted (key_0 INTEGER, key_1 VARCHAR, class_size BIGINT, people DOUBLE);
INSERT INTO weighted VALUES (31, 'f', 2, 4), (NULL, 'm', 1, 1), (45, 'f', 1, 4);

CREATE TABLE risks AS
    SELECT key_0, key_1, class_size AS records,
        CASE class_size * people WHEN 8 THEN 0.25 WHEN 4 THEN 0.5 ELSE 1 END::DOUBLE AS risk
    FROM weighted;

CREATE TABLE likely AS
    SELECT DISTINCT sex AS key_0, 0.25::DOUBLE AS risk FROM sample;
"""
(
    CLASSES,
    READ,
    PLACED,
    ENCODED,
    COVERS,
    PAIRS,
    TARGETS,
    MATCHING,
    COUNTS,
    EVIDENCE,
    WEIGHTED,
    SAMPLE,
) = map(
    table,
    (
        *("classes", "read", "placed", "encoded", "covers", "pairs", "targets", "matching"),
        *("counts", "evidence", "weighted", "sample"),
    ),
)
TWO, FOUR = 1 - math.log(2), math.log(4) / 3
"""Individual risk of two records of four people, and of one of four."""

TEXT_WEIGHT = weights.number("w", exp.DataType.build("VARCHAR"))

SNAPSHOTS = [
    Snapshot(
        "placed_classes",
        attacks.placed_classes(CLASSES, READ, columns=[0, 1]),
        [
            ("30-39", 0, "f", 0, 2, 1, 1, 1),
            ("31", 1, "f", 0, 1, 1, 2, 2),
            (None, 2, "m", 1, 3, 1, 3, 3),
        ],
    ),
    Snapshot(
        "placed_classes of no column",
        attacks.placed_classes(CLASSES, READ, columns=[]),
        [(2, 1), (1, 1), (3, 1)],
    ),
    Snapshot("combinations", attacks.combinations(ENCODED, [3]), [(0, 1), (1, 1), (2, 1)]),
    Snapshot(
        "reached from the start",
        attacks.reached(table("empty"), COVERS, classes=PLACED, column=0, masks=[3], step=0),
        [(0, 1), (0, 2), (1, 1), (2, 3), (4, 1), (4, 2)],
    ),
    Snapshot(
        "reached by a column more, and one without bits",
        attacks.reached(table("begun"), COVERS, classes=PLACED, column=1, masks=[4], step=1),
        [(0, 1), (0, 2), (1, 1)],
    ),
    Snapshot(
        "matching",
        attacks.matching(PAIRS, PLACED, columns=2, words=1),
        [(0, 3, -1), (1, 2, 1)],
    ),
    Snapshot(
        "figures",
        attacks.figures(
            TARGETS, whole=MATCHING, halves=[(table("one"), [7]), (table("other"), [0])]
        ),
        [(0, 6, 1, 1 / 6 + 4 / 6), (1, 4, 0, 8 / 6)],
    ),
    Snapshot(
        "figures where nothing matches",
        attacks.figures(
            TARGETS, whole=table("nobody"), halves=[(table("one"), [7]), (table("other"), [0])]
        ),
        [(0, 6, 0, 0), (1, 4, 0, 0)],
    ),
    Snapshot("of_original", attacks.of_original(table("other")), [(0, 3, 1, 0)]),
    Snapshot(
        "class_values",
        attacks.class_values(table("ills"), PLACED, columns=2),
        [(2, "flu", 1), (3, None, 3)],
    ),
    Snapshot(
        "evidence",
        attacks.evidence(PAIRS, MATCHING, PLACED, columns=2, words=1),
        [(-1, 1), (-1, 2), (1, 1), (0, 1), (0, 2), (0, 3)],
    ),
    Snapshot("guessed_values", attacks.guessed_values(EVIDENCE, COUNTS), [(5,)]),
    Snapshot(
        "guesses",
        attacks.guesses(COUNTS, EVIDENCE),
        [(1, "flu", 2), (1, "gout", 2), (-1, "gout", 1), (0, None, 2), (0, "gout", 2)],
    ),
    Snapshot(
        "inferred",
        attacks.inferred(TARGETS, words=1, matching=MATCHING, guesses=table("guesses")),
        [(0, 6, 0 + 1.0 + 1.5, 1.5), (1, 4, 2.0, 2.0)],
    ),
    Snapshot(
        "both",
        attacks.both(SAMPLE, SAMPLE, columns=["sex"]),
        [(sex, which) for sex in "ffmf" for which in (0, 1)],
    ),
    Snapshot(
        "in_both",
        attacks.in_both(
            sqltext.expression("SELECT * FROM {{ it }} AS it", it=table("attacked")),
            columns=["sex", "age"],
        ),
        [(2, 3)],
    ),
    Snapshot(
        "weight_faults",
        weights.weight_faults(
            table("faulty"),
            weight="w",
            number=TEXT_WEIGHT,
            household=weights.present("home", exp.DataType.build("DOUBLE")),
            most=100.0,
        ),
        [(1, 3, 2)],
    ),
    Snapshot(
        "sized_classes with weights",
        sized_classes(SAMPLE, ["age", "sex"], size="class_size", weight=TEXT_WEIGHT),
        [(31, "f", 2, 4.0), (None, "m", 1, 1.0), (45, "f", 1, 4.0)],
    ),
    Snapshot(
        "sized_classes with weights of 1",
        sized_classes(SAMPLE, ["sex"], size="class_size", weight=sqltext.value(1.0)),
        [("f", 3, 3.0), ("m", 1, 1.0)],
    ),
    Snapshot(
        "individual_risk",
        weights.individual_risk(WEIGHTED, 2),
        [(31, "f", 2, TWO), (None, "m", 1, 1.0), (45, "f", 1, FOUR)],
    ),
    Snapshot(
        "record_risk",
        weights.record_risk(table("risks"), threshold=0.3),
        [(3, 4, 2.0, 1.0, 2)],
    ),
    Snapshot("people", weights.people(WEIGHTED), [(9.0,)]),
    Snapshot(
        "household_risk",
        weights.household_risk(SAMPLE, ["age", "sex"], household="home", risks=table("risks")),
        [(2, 1.0), (2, 1 - 0.75 * 0.5)],
    ),
    Snapshot(
        "household_risk without a certain risk",
        weights.household_risk(SAMPLE, ["sex"], household="sex", risks=table("likely")),
        [(3, 1 - 0.75**3), (1, 0.25)],
    ),
    Snapshot(
        "record_risk of households",
        weights.record_risk(
            weights.household_risk(SAMPLE, ["age", "sex"], household="home", risks=table("risks")),
            threshold=0.99,
        ),
        [(2, 4, 2 + 2 * (1 - 0.75 * 0.5), 1.0, 2)],
    ),
    Snapshot(
        "record_risk of households without a certain risk",
        weights.record_risk(
            weights.household_risk(SAMPLE, ["sex"], household="sex", risks=table("likely")),
            threshold=0.3,
        ),
        [(2, 4, 3 * (1 - 0.75**3) + 0.25, 1 - 0.75**3, 3)],
    ),
]
