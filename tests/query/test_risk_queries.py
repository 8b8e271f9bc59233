"""Every query builder of risk, and what DuckDB answers to it."""

from snapshots import Snapshot

from sqlanon.hierarchy.layout import Field
from sqlanon.query.assess import risk
from sqlanon.query.syntax import table

TABLES = """
CREATE TABLE people (who VARCHAR, age INTEGER, sex VARCHAR);
INSERT INTO people VALUES
    ('ann', 31, 'f'), ('ann', 31, 'f'), ('bob', 31, 'f'), ('cid', NULL, 'm'), (NULL, 45, NULL);

CREATE TABLE everybody AS
    FROM people UNION ALL VALUES ('dan', 31, 'f'), ('eve', NULL, 'm'), ('fay', 70, 'f');

CREATE TABLE numbered (value VARCHAR, code BIGINT);
INSERT INTO numbered VALUES (NULL, 0), ('f', 1), ('m', 2);

-- Sizes of records: two columns of two bits each, in one word each.
CREATE TABLE records (word_0 BIGINT, word_1 BIGINT, size BIGINT);
INSERT INTO records VALUES (0, 0, 1), (0, 1, 2), (1, 1, 1), (2, 1, 1), (2, 2, 4);

-- One row per class and person; person 8 is in three classes.
CREATE TABLE persons (word_0 BIGINT, word_1 BIGINT, word_2 BIGINT, size BIGINT);
INSERT INTO persons VALUES
    (0, 0, 8, 5), (0, 1, 8, 1), (1, 1, 8, 1), (1, 1, 9, 2), (2, 0, 7, 1);
"""
PEOPLE, EVERYBODY, RECORDS, PERSONS = map(table, ("people", "everybody", "records", "persons"))


SNAPSHOTS = [
    Snapshot(
        "numbered_values", risk.numbered_values(PEOPLE, "sex"), [(None, 0), ("f", 1), ("m", 2)]
    ),
    Snapshot(
        "code_map",
        risk.code_map(table("numbered"), Field(1, 3, 2)).rows,
        [(None, 0), ("f", 8), ("m", 16)],
    ),
    Snapshot(
        "single_class_persons",
        risk.single_class_persons(PERSONS, 2),
        [(0, 0, 1), (0, 1, 1), (1, 1, 2), (2, 0, 1)],
    ),
    Snapshot(
        "class_histogram of records", risk.class_histogram(RECORDS, 2), [(1, 3), (2, 1), (4, 1)]
    ),
    Snapshot(
        "class_histogram of persons",
        risk.class_histogram(PERSONS, 2, person="word_2"),
        [(1, 3), (2, 1)],
    ),
    Snapshot(
        "person_histogram", risk.person_histogram(PERSONS, 1, person="word_2"), [(1, 1), (2, 2)]
    ),
    Snapshot(
        "subset_counts of records",
        risk.subset_counts(RECORDS, [(3, 0), (0, 3)], person=None),
        [(0, 3, 1, 9 + 1 + 25), (1, 3, 1, 1 + 16 + 16)],
    ),
    Snapshot(
        "subset_counts of persons",
        risk.subset_counts(PERSONS, [(3, 3), (3, 0)], person="word_2"),
        [(0, 4, 2, 7), (1, 3, 2, 1 + 4 + 1)],
    ),
    Snapshot(
        "matches of records",
        risk.matches(PEOPLE, EVERYBODY, quasi_identifiers=["age", "sex"]),
        # 31-f is 3 of 4, NULL-m 1 of 2, 45-NULL 1 of 1, and 70-f is of nobody here.
        [(1, 2, 1, 1, 1, 0, 0), (2, 1, 1, 1, 1, 0, 0), (4, 1, 1, 3, 0, 0, 0)],
    ),
    Snapshot(
        "matches of persons",
        risk.matches(
            EVERYBODY, PEOPLE, quasi_identifiers=["sex"], entity="who", population_entity="who"
        ),
        # f: ann, bob, dan, fay of two; m: cid, eve of one; NULL: nobody's records of the same.
        [(1, 2, 2, 3, 1, 1, 2), (2, 1, 1, 4, 0, 1, 4)],
    ),
]
