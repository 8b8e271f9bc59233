"""The statement that sorts by places: what DuckDB answers, and that it is what labels answer."""

from dataclasses import replace

import pytest
from databases import insert
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshots import (  # noqa: F401
    PEOPLE,
    TEXT,
    Snapshot,
    test_counts_arrive_as_integers_not_as_decimals,
    test_query_answers_the_rows_beside_it,
    text,
)

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.publish import recode
from sqlanon.query.publish.sort_keys import distinct_roughly, published_by_place
from sqlanon.query.publish.suppression import SuppressionQuery
from sqlanon.query.syntax import table

SEX = recode.recode(
    PEOPLE,
    "sex",
    hierarchy=Hierarchy.from_rows([("f", "any", "*"), ("m", "any", "*")]),
    level=1,
    column_type=TEXT,
)
TOP = recode.recode(PEOPLE, "zip", hierarchy=Hierarchy.suppression(), level=1, column_type=TEXT)
PAIRS = SuppressionQuery(2)

SNAPSHOTS = [
    Snapshot(
        "distinct values, roughly",
        distinct_roughly(PEOPLE, ["sex", "job"]),
        [(2, 3)],
    ),
    Snapshot(
        "published by place, suppressed records kept",
        published_by_place(
            {"sex"},
            PEOPLE,
            columns={"age": None, "sex": None, "zip": None},
            recodes={"sex": SEX, "zip": TOP},
            suppressed=replace(PAIRS, label="?"),
        ),
        [
            (31, "any", "*"),
            (31, "any", "*"),
            (31, "any", "*"),
            (45, "?", "?"),
            (45, "any", "*"),
        ],
        ordered=True,
    ),
]


def rows(connection, query):
    return connection.execute(text(query)).fetchall()


def as_set(found):
    return sorted(found, key=repr)


CELLS = st.sampled_from([None, "a1", "a2", "b1", "b2"])
RECORDS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from([None, "x", "y"])), max_size=12)
LEVELS = st.tuples(st.integers(0, 2), st.integers(0, 2))
HIERARCHIES = [
    Hierarchy.from_rows([(v, f"{v[0]}*", "*") for v in ("a1", "a2", "b1", "b2")]),
    Hierarchy.prefix(1),
]


def statements(levels, few, suppressed, kept_label):
    """The statement of labels and that of places."""
    source = table("held_rows")
    recodes = {
        name: recode.recode(source, name, hierarchy=hierarchy, level=level, column_type=TEXT)
        for name, hierarchy, level in zip("pq", HIERARCHIES, levels, strict=True)
    }
    columns = dict.fromkeys(["s", "q", "p"])
    given = {"suppressed": replace(PAIRS, label=kept_label) if suppressed else None}
    return (
        recode.published(source, columns, recodes=recodes, **given),
        published_by_place(few, source, columns=columns, recodes=recodes, **given),
    )


def fill(connection, records):
    connection.execute("CREATE OR REPLACE TEMP TABLE held_rows (p VARCHAR, q VARCHAR, s VARCHAR)")
    insert(connection, "held_rows", records)


@settings(max_examples=25, deadline=None)
@given(RECORDS, LEVELS, st.sets(st.sampled_from("pqs")), st.booleans())
def test_published_by_place_are_the_rows_of_labels_in_their_order(
    connection, records, levels, few, suppressed
):
    fill(connection, records)
    by_label, by_place = statements(levels, few, suppressed, None)
    assert rows(connection, by_place) == rows(connection, by_label)
    described = connection.execute(f"DESCRIBE {text(by_label)}").fetchall()
    assert connection.execute(f"DESCRIBE {text(by_place)}").fetchall() == described


@settings(max_examples=25, deadline=None)
@given(RECORDS, LEVELS, st.sets(st.sampled_from("pqs")), st.sampled_from(["?", "*"]))
def test_published_by_place_with_suppressed_records_kept_are_the_rows_of_labels(
    connection, records, levels, few, label
):
    fill(connection, records)
    by_label, by_place = statements(levels, few, True, label)
    assert as_set(rows(connection, by_place)) == as_set(rows(connection, by_label))


@settings(max_examples=25, deadline=None)
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
OTHERS = [("b2", "a2", "x"), ("b1", "b1", "y"), ("a1", "a2", "x")]
STAY = [("a1", "a1", "x"), ("a1", "a1", "y"), (None, "b2", "x"), (None, "b2", "x")]


@pytest.mark.parametrize("few", ["", "p", "q", "pqs"])
def test_order_of_rows_does_not_tell_the_lost_values_of_suppressed_records(connection, few):
    _, query = statements((0, 0), set(few), True, "?")
    fill(connection, LOST + STAY)
    found = rows(connection, query)
    assert [row[1:] for row in found].count(("?", "?")) == len(LOST)
    fill(connection, STAY + OTHERS)
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
