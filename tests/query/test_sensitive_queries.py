"""Queries about sensitive attributes, and what DuckDB answers."""

import math

import pytest
from snapshots import Snapshot
from sqlglot import exp, parse_one

from sqlanon import AlphaAnonymity, BetaLikeness, DeltaDisclosure
from sqlanon.policy.privacy import LDiversity, TCloseness
from sqlanon.query.classes import table_classes
from sqlanon.query.classes.frequency import histogram
from sqlanon.query.classes.table_classes import Coding
from sqlanon.query.classes.violations import spread_rows, value_of
from sqlanon.query.encode import LeafMap
from sqlanon.query.privacy import figures, models
from sqlanon.query.privacy.figures import Needed, Reference
from sqlanon.query.syntax import column, table
from sqlanon.sqltext import name

TABLES = """
CREATE TABLE people (town VARCHAR, age INTEGER, grade VARCHAR, pay INTEGER, person INTEGER);
INSERT INTO people VALUES
    ('Ulm', 30, 'low', 10, 1), ('Ulm', 30, 'mid', 20, 1), ('Ulm', 30, 'low', 20, 1),
    ('Bonn', 30, 'top', NULL, 2), ('Bonn', NULL, 'low', 10, NULL);

CREATE TABLE source (class VARCHAR, value VARCHAR, size BIGINT);
INSERT INTO source VALUES
    ('a', 'low', 2), ('a', 'mid', 1), ('b', 'top', 1), ('b', NULL, 1), (NULL, 'low', 1);

CREATE TABLE reference (value VARCHAR, rank BIGINT, records BIGINT, reached BIGINT, below BIGINT,
    node_1 INTEGER, node_1_records BIGINT);
INSERT INTO reference VALUES
    ('low', 0, 3, 3, 0, 0, 4), ('mid', 1, 1, 4, 3, 0, 4), ('top', 2, 1, 5, 7, 1, 1),
    (NULL, 3, 1, 6, 12, 2, 1);

CREATE TABLE towns (value VARCHAR, word_0 BIGINT);
INSERT INTO towns VALUES ('Ulm', 0), ('Bonn', 1);
CREATE TABLE ages (value INTEGER, word_0 BIGINT);
INSERT INTO ages VALUES (30, 0), (NULL, 2);
CREATE TABLE grades (value VARCHAR, rank BIGINT);
INSERT INTO grades VALUES ('low', 0), ('mid', 1), ('top', 2);
CREATE TABLE pays (value INTEGER, rank BIGINT);
INSERT INTO pays VALUES (10, 0), (20, 1);

CREATE TABLE codes (word_0 BIGINT, value_0 BIGINT, value_1 BIGINT, entity INTEGER,
    class_size BIGINT);
INSERT INTO codes VALUES
    (0, 0, 0, 1, 3), (0, 1, 1, 1, 3), (0, 0, 1, 1, 3), (1, 2, NULL, 2, 1), (3, 0, 0, NULL, 1);
CREATE TABLE larger (word_0 BIGINT, class_size BIGINT);
INSERT INTO larger VALUES (0, 3);
"""
SOURCE, CODES, PEOPLE = table("source"), table("codes"), table("people")
WHOLE = Reference(table("reference"), 6, 4, 2)
TEXT = exp.DataType.build("VARCHAR")
GRADES = [("low", 0, 0), ("mid", 1, 0), ("top", 2, 1), (None, 3, 2)]
CODING = Coding(
    {name: LeafMap(table(f"{name}s"), ["word_0"]) for name in ("town", "age")},
    frozenset({"age"}),
    1,
    {"grade": table("grades"), "pay": table("pays")},
    "person",
)
UNFIT = set()
VALUES_0 = column(value_of(0))
MODELS = [LDiversity(2), TCloseness(0.3)]


def of(needed, reference=WHOLE):
    return figures.class_figures(SOURCE, ["class"], needed=needed, reference=reference)


SNAPSHOTS = [
    Snapshot(
        "reference",
        figures.reference(SOURCE),
        [("low", 0, 3, 3, 0), ("mid", 1, 1, 4, 3), ("top", 2, 1, 5, 7), (None, 3, 1, 6, 12)],
    ),
    Snapshot(
        "reference_in_order",
        figures.reference(
            SOURCE,
            nulls=False,
            order=figures.listed_order(GRADES[::-1], TEXT, levels=[1]),
            height=2,
        ),
        [("low", 0, 3, 0, 3, 4, 0), ("mid", 1, 1, 0, 4, 4, 3), ("top", 2, 1, 1, 5, 1, 7)],
    ),
    Snapshot(
        "class_figures",
        of(Needed(), None),
        [("a", 3, 3, 2, 2), ("b", 2, 2, 2, 1), (None, 1, 1, 1, 1)],
    ),
    Snapshot(
        "class_figures_of_tails",
        of(Needed(tails=(1, 2, 3), nulls=False), None),
        [("a", 3, 3, 2, 2, 3, 1, 0), ("b", 2, 1, 1, 1, 1, 0, 0), (None, 1, 1, 1, 1, 1, 0, 0)],
    ),
    Snapshot(
        "class_figures_of_entropy",
        of(Needed(entropy=True), None),
        [
            ("a", 3, 3, 2, 2, 0.6365141682948128),
            ("b", 2, 2, 2, 1, 0.6931471805599453),
            (None, 1, 1, 1, 1, 0.0),
        ],
    ),
    Snapshot(
        "class_figures_of_equal_distance",
        of(Needed(distances=("equal",))),
        [("a", 3, 3, 2, 2, 6 / 18), ("b", 2, 2, 2, 1, 8 / 12), (None, 1, 1, 1, 1, 3 / 6)],
    ),
    Snapshot(
        "class_figures_of_ordered_distance",
        of(Needed(distances=("ordered",))),
        [
            ("a", 3, 3, 2, 2, (3 + 6 + 3) / 18 / 3),
            ("b", 2, 2, 2, 1, (6 + 8 + 4) / 12 / 3),
            (None, 1, 1, 1, 1, (3 + 2 + 1) / 6 / 3),
        ],
    ),
    Snapshot(
        "class_figures_of_hierarchical_distance",
        of(Needed(distances=("hierarchical",))),
        [
            ("a", 3, 3, 2, 2, (6 + 6) / 18 / 2),
            ("b", 2, 2, 2, 1, (8 + 8) / 12 / 2),
            (None, 1, 1, 1, 1, (3 + 2) / 6 / 2),
        ],
    ),
    Snapshot(
        "class_figures_of_kl",
        of(Needed(distances=("kl",))),
        [
            ("a", 3, 3, 2, 2, 2 / 3 * math.log(4 / 3) + math.log(2) / 3),
            ("b", 2, 2, 2, 1, 1.0986122886681096),
            (None, 1, 1, 1, 1, 0.6931471805599453),
        ],
    ),
    Snapshot(
        "class_figures_of_scaled_distances",
        of(Needed(distances=("scaled", "scaled-literal"))),
        [
            ("a", 3, 3, 2, 2, 0.17945388, 0.17945388),
            ("b", 2, 2, 2, 1, 0.36620410, 0.36620410),
            (None, 1, 1, 1, 1, 0.46209812, 0.46209812),
        ],
    ),
    Snapshot(
        "class_figures_of_ratios",
        of(Needed(tails=(1, 3), distances=("inverse-ratio", "ratio", "surplus"), left=4)),
        [
            ("a", 3, 3, 2, 2, 3, 0, 2.0, math.inf, 4 / 3 - math.log(2), 1, 1),
            ("b", 2, 2, 2, 1, 2, 0, 3.0, math.inf, 3 - math.log(6), 4, 2),
            (None, 1, 1, 1, 1, 1, 0, 2.0, math.inf, 2 - math.log(2), 1, 3),
        ],
    ),
    Snapshot(
        "coded_rows",
        table_classes.coded_rows(PEOPLE, CODING),
        [(0, 0, 0, 1), (0, 1, 1, 1), (0, 0, 1, 1), (1, 2, None, 2), (3, 0, 0, None)],
    ),
    Snapshot("larger_classes", table_classes.larger_classes(CODES, 1), [(0, 3)]),
    Snapshot("person_classes", table_classes.person_classes(CODES, 1), [(0, 1), (1, 1), (3, 1)]),
    Snapshot("histogram", histogram(table("larger")), [(3, 1)]),
    Snapshot(
        "sized_rows",
        table_classes.sized_rows(table("towns"), table("larger"), words=1),
        [("Ulm", 0, 3), ("Bonn", 1, 1)],
    ),
    Snapshot(
        "spread_rows of records",
        spread_rows(CODES, ["word_0"], attribute=VALUES_0, size=1),
        [(0, 0, 1), (0, 1, 1), (0, 0, 1), (1, 2, 1), (3, 0, 1)],
    ),
    Snapshot(
        "spread_rows of persons",
        spread_rows(CODES, ["word_0"], attribute=VALUES_0, entity=name("entity")),
        [(0, 0, 1, 1), (0, 1, 1, 1), (1, 2, 1, 2), (3, 0, 1, None)],
    ),
    Snapshot(
        "shared_rows",
        table_classes.shared_rows(CODES, 1, value=VALUES_0),
        [(0, 0, 1), (0, 1, 1), (0, 0, 1)],
    ),
    Snapshot(
        "single_rows",
        table_classes.single_rows(CODES, 2, value=table_classes.pair_value(0, 1, values=2)),
        [(None, 0, None, 1), (0, 0, 0, 1)],
    ),
    Snapshot(
        "worst",
        models.worst(
            of(Needed(True, (2,), ("equal",))), Needed(True, (2,), ("equal",)), models=MODELS
        ),
        [(1, 1, 1.0, 0.0, 2.0, 1, 8 / 12, 1, 3)],
    ),
    Snapshot("fewest", models.fewest(of(Needed(), None)), [(1,)]),
]


def tree(sql):
    return parse_one(sql, dialect="duckdb")


@pytest.mark.parametrize(
    ("model", "sql"),
    [
        (LDiversity(3), '"distinct_values" < 3'),
        (LDiversity(1, "entropy"), '"entropy" < CAST(-1e-12 AS DOUBLE) OR "counted" = 0'),
        (
            LDiversity(3, "recursive", c=1.5),
            'CAST("largest" AS DECIMAL(38, 0)) * 2 >= CAST("tail_3" AS DECIMAL(38, 0)) * 3',
        ),
        (
            AlphaAnonymity(0.3),
            'CAST("largest" AS DECIMAL(38, 0)) * 10 > CAST("counted" AS DECIMAL(38, 0)) * 3',
        ),
        (BetaLikeness(2), '"distance_ratio" > CAST(3.000000000001 AS DOUBLE)'),
        (
            BetaLikeness(2, "enhanced"),
            '"distance_ratio" > CAST(3.000000000001 AS DOUBLE) '
            'OR "distance_surplus" > CAST(1.000000000001 AS DOUBLE)',
        ),
        (
            DeltaDisclosure(math.log(2)),
            '"distance_ratio" > CAST(1.999999999998 AS DOUBLE) '
            'OR "distance_inverse_ratio" > CAST(1.999999999998 AS DOUBLE)',
        ),
        (TCloseness(0.5, "kl"), '"distance_kl" > CAST(0.500000000001 AS DOUBLE)'),
    ],
)
def test_violation_is_the_condition_beside_it(model, sql):
    found, wanted = (text.replace('"', "") for text in (models.violates(model).text, sql))
    assert tree(found) == tree(wanted)
