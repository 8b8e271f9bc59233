"""A population beside a table: every query, and what DuckDB answers."""

from snapshots import Snapshot

from sqlanon.policy.population import DeltaPresence, KMap
from sqlanon.query import encode
from sqlanon.query.assess import release
from sqlanon.query.classes import violations
from sqlanon.query.classes.frequency import roll_up
from sqlanon.query.privacy import population
from sqlanon.query.publish.suppression import SuppressionQuery
from sqlanon.query.syntax import table
from sqlanon.sqltext import expression, name

TABLES = """
CREATE TABLE coded (word_0 BIGINT, size BIGINT);
INSERT INTO coded VALUES (1, 2), (2, 1), (4, 3);
CREATE TABLE everybody (word_0 BIGINT, size BIGINT);
INSERT INTO everybody VALUES (1, 4), (2, 2), (3, 5), (4, 2);
CREATE TABLE presence (word_0 BIGINT, size BIGINT, people BIGINT);
INSERT INTO presence VALUES (1, 2, 4), (2, 1, 2), (3, 0, 5), (4, 3, 2);
CREATE TABLE classes (word_0 BIGINT, released BIGINT, people BIGINT);
INSERT INTO classes VALUES (1, 2, 4), (2, 1, 2), (3, 0, 5), (4, 3, 2);
CREATE TABLE covers (attribute BIGINT, word_0 BIGINT, place BIGINT);
INSERT INTO covers VALUES (0, 1, 0), (0, 2, 1), (0, 1, 1);
CREATE TABLE labelled (label_0 VARCHAR, class_size BIGINT, small BOOLEAN);
INSERT INTO labelled VALUES ('a', 2, FALSE), (NULL, 1, FALSE), ('far', 1, FALSE), ('*', 9, TRUE);
CREATE TABLE read (attribute BIGINT, label VARCHAR, place BIGINT);
INSERT INTO read VALUES (0, 'a', 0), (0, NULL, 1);
CREATE TABLE released (label_0 BIGINT, size BIGINT);
INSERT INTO released VALUES (0, 2), (1, 1), (NULL, 1);
CREATE TABLE held (label_0 BIGINT, people BIGINT);
INSERT INTO held VALUES (0, 4), (2, 3);
CREATE TABLE whole (people BIGINT);
INSERT INTO whole VALUES (3);
CREATE TABLE alone (people BIGINT);
INSERT INTO alone VALUES (1);
CREATE TABLE sqlanon_details (key_0 VARCHAR, size BIGINT);
INSERT INTO sqlanon_details VALUES ('a', 2), (NULL, 1), ('b', 1), ('a', 1);
CREATE TABLE sqlanon_population (key_0 VARCHAR, people BIGINT);
INSERT INTO sqlanon_population VALUES ('a', 6), (NULL, 1), ('c', 9);
"""
UNFIT = {"DECIMAL", "HUGEINT"}  # shares are real numbers
NEAR = "populations are counted in DuckDB alone"
CLASSES, COLUMN = table("classes"), {0: (3,)}


def failing(model):
    """The classes that fail a model, and the records of them that have to go."""
    return expression(
        "SELECT word_0, {{ required }} FROM classes WHERE {{ fails }}",
        required=population.required(model, every=99),
        fails=population.violates(model),
    )


def asked(name, query, rows):
    return Snapshot(name, query, rows, near=NEAR)


LAST, SUPPRESSED = SuppressionQuery(1, population=(KMap(2),)).steps(["key_0"])[-1]
SNAPSHOTS = [
    asked(
        "present",
        encode.present(table("coded"), table("everybody"), words=1),
        [(1, 2, 4), (2, 1, 2), (3, 0, 5), (4, 3, 2)],
    ),
    asked("crowded", encode.crowded(table("presence")), [(1, 3, 2)]),
    asked(
        "distinct_rows",
        encode.distinct_rows([table("coded"), table("everybody")], ["word_0"]),
        [(1,), (2,), (3,), (4,)],
    ),
    asked(
        "roll_up of both",
        roll_up(table("presence"), [2], sums=("size", "people")),
        [(0, 5, 6), (2, 1, 7)],
    ),
    asked(
        "compared",
        violations.compared(CLASSES, ["word_0"], counts_absent=False),
        [(1, 2, 4, 2), (2, 1, 2, 1), (4, 3, 2, 3)],
    ),
    asked(
        "compared with who has no record",
        violations.compared(CLASSES, ["word_0"], counts_absent=True),
        [(1, 2, 4, 2), (2, 1, 2, 1), (3, 0, 5, 5), (4, 3, 2, 3)],
    ),
    asked("too few people", failing(KMap(4)), [(2, 99), (4, 99)]),
    asked("too great a share", failing(DeltaPresence(0, 0.4)), [(1, 1), (2, 1), (4, 3)]),
    asked("too small a share", failing(DeltaPresence(0.1, 1)), [(3, 99), (4, 99)]),
    asked(
        "labelled_people",
        release.labelled_people(table("everybody"), table("covers"), columns=COLUMN),
        [(0, 4), (1, 6)],
    ),
    asked(
        "labelled_people of no column",
        release.labelled_people(table("everybody"), table("covers"), columns={}),
        [(13,)],
    ),
    asked(
        "released_labels",
        release.released_labels(table("labelled"), table("read"), columns=COLUMN),
        [(0, 2), (1, 1), (None, 1)],
    ),
    asked(
        "people_of_classes",
        release.people_of_classes(
            table("released"),
            table("held"),
            columns=[0],
            conditions=[population.above(0.4), population.below(0.5)],
        ),
        [(0, 0.5, 0.5, 4, 2, 2, 0, 3, 0)],
    ),
    asked(
        "people_of_classes of no column",
        release.people_of_classes(
            table("released"), table("whole"), columns=[], conditions=[population.above(0.5)]
        ),
        [(3, 4 / 3, 4 / 3, 3, 1, 4, 3, 1)],
    ),
    asked(
        "people_of_classes of one person",
        release.people_of_classes(table("released"), table("alone"), columns=[], conditions=[]),
        [(1, 4, 4, 1, 1, 4, 1)],
    ),
    asked(
        "suppressed beside a population",
        expression("SELECT * FROM {{ last }} AS {{ name }}", last=SUPPRESSED, name=name(LAST)),
        [(None, 0), ("b", 0)],
    ),
]
