"""Query builders of the measures, and what DuckDB answers."""

from __future__ import annotations

from dataclasses import replace

from snapshots import INTEGER, Snapshot

from sqlanon.query.assess import release, use
from sqlanon.query.syntax import table

TABLES = """
CREATE TABLE codes (word_0 BIGINT, word_1 BIGINT, value_0 VARCHAR, size BIGINT);
INSERT INTO codes VALUES (1, 0, 'flu', 2), (1, 1, NULL, 1), (2, 0, 'flu', 1), (6, 1, 'gout', 1);

CREATE TABLE node (word_0 BIGINT, word_1 BIGINT, class_size BIGINT, small BOOLEAN);
INSERT INTO node VALUES (1, 0, 3, FALSE), (2, 0, 2, TRUE);

CREATE TABLE gone (word_0 BIGINT, word_1 BIGINT);
INSERT INTO gone VALUES (2, 0);

CREATE TABLE sizes (attribute BIGINT, word_0 BIGINT, word_1 BIGINT, leaves BIGINT);
INSERT INTO sizes VALUES (0, 1, 0, 4), (0, 2, 0, 1), (1, 0, 0, 3);

CREATE TABLE people (age INTEGER, sex VARCHAR, label_0 VARCHAR, "value" VARCHAR);
INSERT INTO people VALUES
    (31, 'f', 'x', 'flu'), (31, 'f', 'x', NULL), (45, 'f', 'y', 'flu'), (NULL, '*', 'x', 'gout');

CREATE TABLE stars (age VARCHAR, sex VARCHAR, ill VARCHAR);
INSERT INTO stars VALUES ('31', '*', 'flu'), ('*', '*', 'flu'), (NULL, '*', NULL);

CREATE TABLE classes (label_0 VARCHAR, label_1 VARCHAR, class_size BIGINT, small BOOLEAN);
INSERT INTO classes VALUES
    ('30-39', 'f', 2, FALSE), ('45', 'f', 1, FALSE), (NULL, 'm', 1, FALSE), ('*', '*', 9, TRUE);

CREATE TABLE read (
    attribute BIGINT, label VARCHAR, leaves BIGINT, place_0 BIGINT, place_1 BIGINT
);
INSERT INTO read VALUES
    (0, '30-39', 5, 0, 0), (0, '45', 1, 1, 0), (0, NULL, 1, 2, 0), (1, 'f', 1, 0, 0),
    (1, 'm', 1, 0, 1);

CREATE TABLE held (leaf VARCHAR, records BIGINT, classes BIGINT);
INSERT INTO held VALUES ('30-39', 2, 1), ('045', 1, 1), (NULL, 1, 1), ('new', 4, 2);

CREATE TABLE nodes (attribute BIGINT, leaf VARCHAR, is_leaf BIGINT, place BIGINT);
INSERT INTO nodes VALUES
    (0, '31', 1, 0), (0, '45', 1, 1), (0, NULL, 1, 2), (0, '30-39', 0, 3), (0, NULL, 0, 4),
    (1, '30-39', 0, 0);

CREATE TABLE targets (
    attribute BIGINT, word_0 BIGINT, word_1 BIGINT, place_0 BIGINT, place_1 BIGINT
);
INSERT INTO targets VALUES (0, 1, 0, 1, 0), (0, 2, 0, 1, 0), (1, 0, 0, 0, 0);

CREATE TABLE mapped (
    word_0 BIGINT, word_1 BIGINT, place_0 BIGINT, place_1 BIGINT, size BIGINT
);
INSERT INTO mapped VALUES (1, 0, 1, 0, 3), (2, 0, 1, 0, 1), (3, 0, 3, 0, 2), (0, 1, NULL, 0, 1);

CREATE TABLE there (place_0 BIGINT, place_1 BIGINT, released BIGINT);
INSERT INTO there VALUES (1, 0, 2), (3, 0, 2);

CREATE TABLE original (place_0 BIGINT, place_1 BIGINT, held BIGINT);
INSERT INTO original VALUES (1, 0, 4), (3, 0, 2);

CREATE TABLE crowded (place_0 BIGINT, place_1 BIGINT, released BIGINT);
INSERT INTO crowded VALUES (1, 0, 5), (3, 0, 2), (3, 1, 1);

CREATE TABLE parts (word_0 BIGINT, word_1 BIGINT, whole BIGINT, part DOUBLE);
INSERT INTO parts VALUES (1, 0, 0, 1.5), (2, 0, 0, 0.5), (3, 0, 2, 0), (3, 1, 1, 0);

CREATE TABLE before (age INTEGER, ill VARCHAR, pay DOUBLE);
INSERT INTO before VALUES
    (31, 'flu', 1), (31, 'flu', 2), (31, NULL, 3), (35, 'flu', 'NaN'), (NULL, 'flu', 4);

CREATE TABLE after (age VARCHAR, ill VARCHAR, pay DOUBLE);
INSERT INTO after VALUES ('30-39', 'flu', 1), ('31', NULL, 3), ('*', 'flu', 100);

CREATE TABLE leaves (attribute BIGINT, leaf VARCHAR, cell BIGINT);
INSERT INTO leaves VALUES (1, '31', 0), (1, '35', 1), (1, NULL, 2), (0, '31', 7);

CREATE TABLE stands (attribute BIGINT, label VARCHAR, cell BIGINT, cells BIGINT);
INSERT INTO stands VALUES
    (1, '30-39', 0, 2), (1, '30-39', 1, 2), (1, '31', 0, 1), (1, '*', 0, 3), (0, '30-39', 7, 1);
"""
UNFIT = {"HUGEINT", "DECIMAL"}
CODES, NODE, CLASSES, MAPPED = table("codes"), table("node"), table("classes"), table("mapped")
BESIDE = use.ComparedTables(
    *(table("before"), 5, table("after"), 2, table("leaves"), table("stands"), "*", ["age"])
)
AGE = use.Counted("age", INTEGER, 1)


SNAPSHOTS = [
    Snapshot(
        "node_classes",
        release.node_classes(CODES, (3, 0), k=2),
        [(1, 0, 3, False), (2, 0, 2, False)],
    ),
    Snapshot(
        "node_classes_without",
        release.node_classes(CODES, (3, 0), k=2, suppressed=table("gone")),
        [(1, 0, 3, False), (2, 0, 2, True)],
    ),
    Snapshot(
        "column_counts",
        release.column_counts(NODE, [(1, 0), (0, 0)]),
        [(0, 1, 0, 3, 1), (1, 0, 0, 3, 1)],
    ),
    Snapshot(
        "column_counts of suppressed classes",
        release.column_counts(CODES, [(7, 0)], masks=(3, 0), classes=NODE),
        [(0, 2, 0, 1, 1), (0, 6, 0, 1, 1)],
    ),
    Snapshot(
        "kept_values",
        release.kept_values(CODES, (3, 0), classes=NODE, column="value_0"),
        [("flu", 2, 1, 0), (None, 1, 1, 0)],
    ),
    Snapshot("class_histogram", release.class_histogram(NODE), [(3, False, 1), (2, True, 1)]),
    Snapshot(
        "products by words",
        release.products(NODE, table("sizes"), columns={0: (3, 0), 1: (0, 0)}),
        [(12.0, 3)],
    ),
    Snapshot(
        "products by labels",
        release.products(CLASSES, table("read"), columns={0: None}),
        [(5.0, 2), (1.0, 2)],
    ),
    Snapshot(
        "spread",
        release.spread(
            release.kept_values(CODES, (3, 0), classes=NODE, column="value_0"), ["word_0", "word_1"]
        ),
        [(3, 1, 5)],
    ),
    Snapshot(
        "majority",
        release.majority(
            release.class_values(table("people"), ["sex"], sensitive="value", suppressed=None),
            ["label_0"],
        ),
        [(3,)],
    ),
    Snapshot(
        "value_squares without NULL",
        release.value_squares(
            release.without_null(
                release.class_values(table("people"), [], sensitive="value", suppressed=None)
            )
        ),
        [(3, 5)],
    ),
    Snapshot(
        "table_classes",
        release.table_classes(table("stars"), ["age", "sex"], suppressed="*"),
        [("31", "*", 1, False), ("*", "*", 1, True), (None, "*", 1, False)],
    ),
    Snapshot(
        "table_classes of columns called like what the query makes",
        release.table_classes(table("people"), ["label_0", "value"], suppressed=None),
        [
            ("x", "flu", 1, False),
            ("x", None, 1, False),
            ("y", "flu", 1, False),
            ("x", "gout", 1, False),
        ],
    ),
    Snapshot(
        "class_values",
        release.class_values(table("stars"), ["age", "sex"], sensitive="ill", suppressed="*"),
        [("flu", 1, "31", "*"), (None, 1, None, "*")],
    ),
    Snapshot("published_labels", release.published_labels(CLASSES, 1), [("f", 3, 2), ("m", 1, 1)]),
    Snapshot(
        "readings",
        release.readings(table("held"), table("nodes"), number=0, kind=INTEGER),
        [("30-39", 3, 2, 1), (None, 4, 1, 1), ("045", 1, 1, 1), (None, 2, 1, 1)],
    ),
    Snapshot(
        "mapped",
        release.mapped(CODES, table("targets"), columns=[(3, 0), (0, 1)]),
        [(1, 0, 1, 0, 2), (1, 1, 1, None, 1), (2, 0, 1, 0, 1), (6, 1, 1, None, 1)],
    ),
    Snapshot(
        "place_sizes", release.place_sizes(MAPPED, words=2), [(1, 0, 4), (3, 0, 2), (None, 0, 1)]
    ),
    Snapshot(
        "released_places",
        release.released_places(CLASSES, table("read"), columns=[(3, 0), (0, 1)]),
        [(0, 0, 2), (1, 0, 1), (2, 1, 1)],
    ),
    Snapshot("surplus", release.surplus(table("there"), table("original"), words=2), [(0,)]),
    Snapshot(
        "surplus by one record, and where there is none",
        release.surplus(table("crowded"), table("original"), words=2),
        [(2,)],
    ),
    Snapshot(
        "published_parts",
        release.published_parts(MAPPED, table("there"), original=table("original"), words=2),
        [(1, 0, 0, 1.5), (2, 0, 0, 0.5), (3, 0, 2, 0.0)],
    ),
    Snapshot(
        "origins",
        release.origins(table("parts"), columns=[(3, 0), (0, 1)]),
        [(0, 0, 1.5, 1, 0), (0, 0, 0.5, 2, 0), (0, 3, 0, 3, 0), (1, 2, 2, 0, 0), (1, 1, 0, 0, 1)],
    ),
    # 3/5, 1/5 and 1/5 of the original are 3/4, 1/4 and 0 of what is not suppressed.
    Snapshot("table_error of labels", use.table_error(BESIDE, [AGE]), [(1.0, 0.4, 0.5)]),
    # 3/5, 1/5 and 1/5 of the original are 11/18, 1/6 and 0 of three records.
    Snapshot(
        "table_error of a release without suppressed records",
        use.table_error(replace(BESIDE, published=3, suppressed=None), [AGE]),
        [(7 / 9, 22 / 90, (1 / 54 + 1 / 6 + 1) / 3)],
    ),
    # 2/5, 1/5, 1/5 and 1/5 are 1/4, 1/2, 1/4 and 0.
    Snapshot(
        "table_error of labels and a column as it is",
        use.table_error(BESIDE, [AGE, use.Counted("ill")]),
        [(1.0, 0.7, 0.78125)],
    ),
    Snapshot(
        "number_figures",
        use.number_figures(table("before"), "pay", shares=[0.25, 0.5]),
        [(2.5, 1.0, 2.0)],
    ),
    Snapshot(
        "number_figures without suppressed records",
        use.number_figures(table("after"), "pay", shares=[0.5], suppressed="*", judged=["age"]),
        [(2.0, 1.0)],
    ),
]
