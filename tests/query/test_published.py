"""The statement that publishes, of each kind of recoding, and what DuckDB answers."""

from array import array

import pytest
from databases import insert
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshots import INTEGER, PEOPLE, TEXT, Snapshot, text

from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.publishing.plan import READERS
from sqlanon.query.assess.profile import estimated_values
from sqlanon.query.publish import runs
from sqlanon.query.publish.recode import Publication, create_table
from sqlanon.query.publish.statement import STATEMENTS, published_rows
from sqlanon.query.publish.suppression import SuppressionQuery
from sqlanon.query.syntax import rows_of, table
from sqlanon.recoding import Clusters, ColumnMap, FullDomain, Group, Run, ValueMap
from sqlanon.regions import Regions

SUPPRESSION = Hierarchy.suppression()
SEX = Hierarchy.from_rows([("f", "any", "*"), ("m", "any", "*")])
OTHERS = Hierarchy.from_rows([("f", "woman", "*")], others=("else", "*"))
PAIRS, KEPT = SuppressionQuery(2), SuppressionQuery(2, label="?")
LOCAL = {"age": (SUPPRESSION, INTEGER), "sex": (SEX, TEXT)}
LOCAL_COLUMNS = ["age", "sex", "zip"]
# Units in the order of age and sex: (31, f) three times, (45, m), (45, NULL).
RUNS = (Run(0, 1, 0), Run(0, 2, 1), Run(1, 1, 1), Run(2, 1, 0))
PLACES = ((3, 2), (2, 3), array("q", [1, 2]), array("q", [0, 1]))
MAP = {
    "age": ColumnMap((Group("31", ("31",)), Group("45-46", ("45", "46"))), (0, 1)),
    "sex": ColumnMap((Group("{f, NULL}", ("f", None)), Group("m", ("m",))), (0, 1)),
    "zip": ColumnMap((Group("*", ("10115", "10117", "20095")),), (1,)),
    "job": ColumnMap(tuple(Group(job, (job,)) for job in ("nurse", "clerk", "boss")), (0,)),
}


def of_node(columns, suppressed=None, few=(), **recoded):
    """The records with some columns, each (hierarchy, level, type), generalized."""
    hierarchies = {name: (hierarchy, kind) for name, (hierarchy, _, kind) in recoded.items()}
    node = tuple(level for _, level, _ in recoded.values())
    columns = columns if isinstance(columns, dict) else dict.fromkeys(columns)
    return published_rows(
        FullDomain(node), Publication(PEOPLE, columns, hierarchies, suppressed, few)
    )


def of_map(suppressed=None, ordered=True):
    kinds = {name: INTEGER if name == "age" else TEXT for name in MAP}
    hierarchies = {name: (SUPPRESSION, kind) for name, kind in kinds.items()}
    publication = Publication(PEOPLE, dict.fromkeys(MAP), hierarchies, suppressed, ordered=ordered)
    return published_rows(ValueMap(tuple(MAP.values())), publication)


def local(recoding, label=None, ordered=True):
    columns = dict.fromkeys(LOCAL_COLUMNS)
    return published_rows(
        recoding, Publication(PEOPLE, columns, LOCAL, label=label, ordered=ordered)
    )


SNAPSHOTS = [
    Snapshot(
        "a node",
        of_node({"sex": None, "age": TEXT, "zip": None}, sex=(SEX, 1, TEXT), zip=(SEX, 2, TEXT)),
        [("any", "31", "*")] * 3 + [("any", "45", "*"), (None, "45", "*")],
        ordered=True,
    ),
    Snapshot(
        "a node of a rule, without values of the table",
        of_node(["zip"], zip=(Hierarchy.prefix(2), 1, TEXT)),
        [("10***",)] * 3 + [("20***",)] * 2,
        ordered=True,
        sql="""
        SELECT "zip labels"."label_1" AS "zip"
        FROM "people" AS "record"
        LEFT JOIN (
            SELECT
                "value",
                CASE
                    WHEN "value" IS NULL THEN NULL
                    ELSE LEFT(CAST("value" AS TEXT), 2)
                        || REPEAT('*', GREATEST(LENGTH(CAST("value" AS TEXT)) - 2, 0))
                END AS "label_1"
            FROM (SELECT DISTINCT "zip" AS "value" FROM "people") AS "held"
        ) AS "zip labels" ON "record"."zip" IS NOT DISTINCT FROM "zip labels"."value"
        ORDER BY "zip"
        """,
    ),
    Snapshot(
        "a node whose hierarchy has a label for all others",
        of_node(["sex", "age"], sex=(OTHERS, 1, TEXT)),
        [("else", 45), ("woman", 31), ("woman", 31), ("woman", 31), (None, 45)],
        ordered=True,
    ),
    Snapshot(
        "a node without small classes",
        of_node(["sex", "zip", "job"], PAIRS, sex=(SEX, 0, TEXT), zip=(SUPPRESSION, 1, TEXT)),
        [("f", "*", "clerk"), ("f", "*", "nurse"), ("f", "*", "nurse")],
        ordered=True,
    ),
    Snapshot(
        "a node with suppressed records kept",
        of_node(["sex", "job"], KEPT, sex=(SEX, 0, TEXT)),
        [("?", "boss"), ("?", "nurse"), ("f", "clerk"), ("f", "nurse"), ("f", "nurse")],
        ordered=True,
        sql="""
        WITH "sqlanon_details" AS (
            SELECT "record"."sex" AS "key_0", CAST(COUNT(*) AS BIGINT) AS "size"
            FROM "people" AS "record"
            GROUP BY "record"."sex"
        ), "sqlanon_suppressed_1" AS (
            SELECT "key_0", MAX("required") AS "required"
            FROM ((
                SELECT "key_0", CAST(0 AS BIGINT) AS "required"
                FROM "sqlanon_details"
                GROUP BY "key_0"
                HAVING SUM("size") < 2
            )) AS "parts"
            GROUP BY "key_0"
        )
        SELECT
            CASE WHEN ("small"."required" IS NOT NULL) THEN '?'
                ELSE CAST("record"."sex" AS TEXT) END AS "sex",
            "record"."job" AS "job"
        FROM "people" AS "record"
        LEFT JOIN "sqlanon_suppressed_1" AS "small"
            ON "small"."key_0" IS NOT DISTINCT FROM "record"."sex"
        ORDER BY "sex", "job"
        """,
    ),
    Snapshot(
        "a node with one label for everything",
        of_node(["zip"], SuppressionQuery(9), zip=(SUPPRESSION, 1, TEXT)),
        [],
    ),
    Snapshot(
        "a node by the places of its labels",
        of_node(["age", "sex", "job"], KEPT, ["sex", "job"], sex=(SEX, 1, TEXT)),
        [
            (45, "?", "boss"),
            (31, "any", "clerk"),
            (31, "any", "nurse"),
            (31, "any", "nurse"),
            (45, "any", "nurse"),
        ],
        near="places are for the sake of DuckDB's sort, which they make quicker",
    ),
    Snapshot("values, roughly", estimated_values(PEOPLE, ["sex", "job"]), [(4, 2, 5, 3)]),
    Snapshot(
        "a map",
        of_map(),
        [
            ("31", "{f, NULL}", "*", "clerk"),
            ("31", "{f, NULL}", "*", "nurse"),
            ("31", "{f, NULL}", "*", "nurse"),
            ("45-46", "m", "*", "nurse"),
            ("45-46", "{f, NULL}", "*", "boss"),
        ],
        ordered=True,
    ),
    Snapshot(
        "a map without small classes",
        of_map(PAIRS, ordered=False),
        [("31", "{f, NULL}", "*", "nurse")] * 2,
    ),
    Snapshot(
        "units",
        runs.units(PEOPLE, ["age", "sex"]),
        [(31, "f", 3, 0), (45, "m", 1, 1), (45, None, 1, 2)],
    ),
    Snapshot("places", runs.places(PEOPLE, "sex"), [("f", 0), ("m", 1), (None, 2)]),
    Snapshot(
        "clusters",
        local(Clusters(((0, 2), (1, 0)), RUNS)),
        [
            ("*", "f", "10117"),
            ("*", "f", "10117"),
            ("*", "m", "20095"),
            ("31", "*", "10115"),
            ("45", "*", "20095"),
        ],
        ordered=True,
    ),
    Snapshot(
        "clusters with labels that differ from value to value",
        local(Clusters(((1, 0), (1, 1)), RUNS), ordered=False),
        [
            ("*", "f", "10115"),
            ("*", "any", "10117"),
            ("*", "any", "10117"),
            ("*", "any", "20095"),
            ("*", None, "20095"),
        ],
    ),
    Snapshot(
        "clusters with suppressed records dropped",
        local(Clusters((None, (1, 0)), RUNS)),
        [("*", "f", "10117"), ("*", "f", "10117"), ("*", "m", "20095")],
    ),
    Snapshot(
        "clusters with suppressed records kept",
        local(Clusters((None, (0, 0)), RUNS), "gone"),
        [
            ("31", "f", "10117"),
            ("31", "f", "10117"),
            ("45", "m", "20095"),
            ("gone", "gone", "10115"),
            ("gone", "gone", "20095"),
        ],
    ),
    Snapshot(
        "regions",
        # Combinations by the places of age, then sex: (31, f) three times, (45, m), (45, NULL).
        local(Regions(((0, 2), (1, 0)), *PLACES)),
        [
            ("*", "m", "20095"),
            ("*", None, "20095"),
            ("31", "*", "10115"),
            ("31", "*", "10117"),
            ("31", "*", "10117"),
        ],
        ordered=True,
    ),
    Snapshot(
        "regions with suppressed records dropped",
        local(Regions(((0, 1), None), *PLACES), ordered=False),
        [(31, "any", "10115"), (31, "any", "10117"), (31, "any", "10117")],
    ),
    Snapshot(
        "regions with suppressed records kept",
        local(Regions(((0, 1), None), *PLACES), "gone"),
        [
            ("31", "any", "10115"),
            ("31", "any", "10117"),
            ("31", "any", "10117"),
            ("gone", "gone", "20095"),
            ("gone", "gone", "20095"),
        ],
    ),
]


def test_every_kind_that_a_plan_can_hold_has_a_statement():
    assert STATEMENTS.keys() == READERS.keys()


def test_a_recoding_that_no_statement_carries_out_is_an_error():
    class Unknown(FullDomain):
        kind = "unheard of"

    with pytest.raises(PolicyError, match="unheard of"):
        published_rows(Unknown(()), Publication(PEOPLE, {}, {}))


@pytest.mark.parametrize(
    ("values", "expected"),
    [((2, 3), [(0, 3), (0, 1)]), ((5, 2), [(0, 1), (0, 5)]), ((2**40, 2**30), [(1, 1), (0, 1)])],
)
def test_columns_of_many_values_count_least(values, expected):
    assert runs.factors(values) == expected


def test_a_table_that_is_created_holds_the_rows(connection):
    connection.execute(text(create_table(table('new "one"'), rows_of(PEOPLE).tree())))
    assert connection.execute('SELECT * FROM "new ""one"""').fetchall() == [(5,)]
    connection.execute('DROP TABLE "new ""one"""')


@pytest.mark.parametrize(
    "name",
    [
        *("class_size", "small", "record", "label_1", "value", "size", "listed", "required"),
        *("key_0", "value_0", "gone", "parts", "sorted", "places", "labels"),
        *("sqlanon_details", "sqlanon_suppressed_1", "sqlanon_places_0"),
    ],
)
@pytest.mark.parametrize("few", [False, True])
def test_small_classes_are_left_out_whatever_a_column_is_called(connection, name, few):
    """A column may bear a name that the statement uses itself; one class is a lone NULL."""
    values = "SELECT * FROM (VALUES ('1'), ('1'), (NULL)) v"
    connection.execute(f'CREATE OR REPLACE TEMP TABLE named AS {values}("{name}")')
    publication = Publication(
        table("named"), {name: None}, {name: (SUPPRESSION, TEXT)}, PAIRS, [name] if few else ()
    )
    query = published_rows(FullDomain((0,)), publication)
    assert connection.execute(text(query)).fetchall() == [("1",), ("1",)]


def rows(connection, query):
    return connection.execute(text(query)).fetchall()


CELLS = st.sampled_from([None, "a1", "a2", "b1", "b2"])
RECORDS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from([None, "x", "y"])), max_size=12)
LEVELS = st.tuples(st.integers(0, 2), st.integers(0, 2))
HIERARCHIES = {
    "p": (Hierarchy.from_rows([(v, f"{v[0]}*", "*") for v in ("a1", "a2", "b1", "b2")]), TEXT),
    "q": (Hierarchy.prefix(1), TEXT),
}


def statements(levels, few, suppressed, kept_label):
    """The statement sorted by labels and that sorted by places."""
    query = SuppressionQuery(2, label=kept_label) if suppressed else None
    given = table("held_rows"), dict.fromkeys("sqp"), HIERARCHIES, query
    return [published_rows(FullDomain(levels), Publication(*given, own)) for own in ((), few)]


def fill(connection, records):
    connection.execute("CREATE OR REPLACE TEMP TABLE held_rows (p VARCHAR, q VARCHAR, s VARCHAR)")
    insert(connection, "held_rows", records)


@settings(max_examples=25)
@given(RECORDS, LEVELS, st.sets(st.sampled_from("pqs")), st.booleans())
def test_published_by_place_are_the_rows_of_labels_in_their_order(
    connection, records, levels, few, suppressed
):
    fill(connection, records)
    by_label, by_place = statements(levels, few, suppressed, None)
    assert rows(connection, by_place) == rows(connection, by_label)
    described = connection.execute(f"DESCRIBE {text(by_label)}").fetchall()
    assert connection.execute(f"DESCRIBE {text(by_place)}").fetchall() == described


@settings(max_examples=25)
@given(RECORDS, LEVELS, st.sets(st.sampled_from("pqs")), st.sampled_from(["?", "*"]))
def test_published_by_place_with_suppressed_records_kept_are_the_rows_of_labels(
    connection, records, levels, few, label
):
    fill(connection, records)
    by_label, by_place = (rows(connection, each) for each in statements(levels, few, True, label))
    assert sorted(by_place, key=repr) == sorted(by_label, key=repr)


@settings(max_examples=25)
@given(RECORDS, LEVELS, st.sets(st.sampled_from("pqs")), st.randoms(use_true_random=False))
def test_order_by_place_is_a_function_of_the_published_rows(
    connection, records, levels, few, random
):
    """Equal sets of published rows come in an equal order, however they came to be."""
    fill(connection, records)
    _, query = statements(levels, few, True, "?")
    found = rows(connection, query)
    random.shuffle(records)
    fill(connection, records)
    assert rows(connection, query) == found


LOST = [("a1", "b1", "x"), ("a2", "b2", "y"), ("b1", "a1", "x")]
CHANGED = [("b2", "a2", "x"), ("b1", "b1", "y"), ("a1", "a2", "x")]
STAY = [("a1", "a1", "x"), ("a1", "a1", "y"), (None, "b2", "x"), (None, "b2", "x")]


@pytest.mark.parametrize("few", ["", "p", "q", "pqs"])
def test_order_of_rows_does_not_tell_the_lost_values_of_suppressed_records(connection, few):
    _, query = statements((0, 0), set(few), True, "?")
    fill(connection, LOST + STAY)
    found = rows(connection, query)
    assert [row[1:] for row in found].count(("?", "?")) == len(LOST)
    fill(connection, STAY + CHANGED)
    assert rows(connection, query) == found


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("setting", ["true", "false"])
def test_many_records_stay_sorted_by_place_for_any_number_of_threads(connection, threads, setting):
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE held_rows AS
        SELECT 'a' || hash(i) % 4 AS p, 'b' || hash(i, 1) % 3 AS q,
               's' || hash(i, 2) % 5000 AS s FROM range(300000) AS r(i)"""
    )
    connection.execute(f"SET threads = {threads}")
    connection.execute(f"SET preserve_insertion_order = {setting}")
    try:
        _, query = statements((0, 0), {"p", "q"}, True, None)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE out AS {text(query)}")
        descents = connection.execute(
            """SELECT COUNT(*), COUNT(*) FILTER (WHERE descends) FROM (
                SELECT (s, q, p) < LAG((s, q, p)) OVER (ORDER BY rowid) AS descends FROM out
            )"""
        ).fetchall()
    finally:
        connection.execute("RESET threads; RESET preserve_insertion_order; DROP TABLE out")
    assert descents == [(300000, 0)]
