"""Risk by subset of columns against brute force over all subsets, rolled up and straight."""

import itertools
import random
from collections import defaultdict
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from unittest.mock import patch

import duckdb
import pyarrow
import pytest
from databases import empty_database
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Policy
from sqlanon.assessment import subsets
from sqlanon.errors import PolicyError
from sqlanon.hierarchy import layout

pytestmark = pytest.mark.slow

DATABASE = empty_database()
NAMES = ("a", "b", "c", "d")


def fill(rows, connection=DATABASE):
    """A table of persons and text columns, and the columns' names."""
    width = len(rows[0][1])
    names = NAMES[:width] if width <= len(NAMES) else tuple(f"c{n}" for n in range(width))
    cells = zip(*(key for _, key in rows), strict=True)
    columns = {"who": pyarrow.array([who for who, _ in rows], pyarrow.int64())}
    columns |= {n: pyarrow.array(c, pyarrow.string()) for n, c in zip(names, cells, strict=True)}
    frame = pyarrow.table(columns)
    connection.execute("CREATE OR REPLACE TABLE t AS FROM frame")
    assert frame.num_rows == len(rows)
    return names


def brute(rows, names, by_person):
    """Per subset of the columns: classes, uniques, pairs of records that share a class."""
    found = {}
    for size in range(len(names) + 1):
        for chosen in itertools.combinations(range(len(names)), size):
            members = defaultdict(list)
            for who, key in rows:
                members[tuple(key[column] for column in chosen)].append(who)
            if by_person:
                classes = [set(who) for who in members.values()]
                unique = len({min(who, key=str) for who in classes if len(who) == 1})
            else:
                classes = list(members.values())
                unique = sum(len(who) == 1 for who in classes)
            pairs = sum(len(who) * (len(who) - 1) // 2 for who in classes)
            found[tuple(names[column] for column in chosen)] = (len(classes), unique, pairs)
    return found


@contextmanager
def ways(joint, rolled):
    """Many sets by one query or one by one; rolls up always, whatever it costs."""
    always = {"STATEMENTS": -1, "WRITING": 0, "SHRUNK": 1} if rolled else {}
    rows, groups = (10**9, 60) if joint else (-1, 0)
    limits = {"SMALL_SOURCE_ROWS": rows, "MAX_GROUPS": groups}
    with patch.multiple(subsets, **always, **limits):
        yield


values = st.sampled_from(["x", "y", "z", None])
persons = st.sampled_from([1, 2, 3, 4, 5, 6, None])
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(persons, st.tuples(*[values] * width)), min_size=1, max_size=14
    )
)
anyhow = st.tuples(st.booleans(), st.booleans())
shares = st.sampled_from([0.01, 0.05, 0.2, 0.3, 0.5, 1.0, 1])


@settings(max_examples=25)
@given(tables, st.booleans(), anyhow, st.sampled_from([62, 4, 2]))
def test_every_subset_agrees_with_brute_force(rows, by_person, how, bits):
    names = fill(rows)
    policy = Policy(names, entity="who" if by_person else None)
    with ways(*how), patch.object(layout, "WORD_BITS", bits):
        report = sqlanon.risk(DATABASE, policy, table="t", every_subset=True)
    wanted = brute(rows, names, by_person)
    total = len({who for who, _ in rows}) if by_person else len(rows)
    found = {one.columns: one for one in report.subsets.every}
    assert found.keys() == wanted.keys() - {()}
    for columns, (classes, unique, pairs) in wanted.items():
        if columns:
            one = found[columns]
            assert (one.classes, one.unique, one.total) == (classes, unique, total), columns
            assert one.pairs in (pairs, None if by_person else pairs)
    for column in report.subsets.columns:
        rest = tuple(name for name in names if name != column.name)
        assert column.unique == wanted[column.name,][1]
        assert column.lost == wanted[names][1] - wanted[rest][1]
        place = names.index(column.name)
        assert column.values == len({key[place] for _, key in rows})


@settings(max_examples=25)
@given(tables, st.booleans(), anyhow, shares, st.integers(1, 4))
def test_minimal_identifying_sets_agree_with_brute_force(rows, by_person, how, share, largest):
    names = fill(rows)
    policy = Policy(names, entity="who" if by_person else None)
    with ways(*how):
        found = sqlanon.risk(
            DATABASE, policy, table="t", identifying=share, max_columns=largest
        ).subsets
    total = len({who for who, _ in rows}) if by_person else len(rows)
    small = {c: f for c, f in brute(rows, names, by_person).items() if 0 < len(c) <= largest}
    identifying = [c for c, f in small.items() if f[1] and f[1] >= Fraction(str(share)) * total]
    minimal = [c for c in identifying if not any(set(d) < set(c) for d in identifying)]
    assert [one.columns for one in found.minimal] == minimal
    free = [c for c in small if not any(set(d) < set(c) for d in minimal)]
    assert (found.looked_at, found.implied) == (len(small), len(small) - len(free))
    for size in range(1, largest + 1):
        ranked = [c for c in free if len(c) == size and small[c][1]]
        ranked.sort(key=lambda c: (-small[c][1], -small[c][0], [names.index(n) for n in c]))
        shown = [one.columns for one in found.strongest if len(one.columns) == size]
        assert shown == ranked[:10]


def people(records, seed=3):
    """Records of seven columns of many and of few values, skewed and partly alike."""
    chance = random.Random(seed)
    rows = []
    for number in range(records):
        age, place = chance.randrange(70), chance.randrange(20)
        key = (age, chance.choice("fm"), place, place // 4, min(int(chance.expovariate(1)), 9),
               chance.randrange(5), number % 400)  # fmt: skip
        rows.append((number // 2, tuple(None if cell == 7 else str(cell) for cell in key)))
    return rows


def test_roll_ups_are_the_default_where_they_pay():
    names = fill(people(20_000, seed=5))
    found = sqlanon.risk(DATABASE, Policy(names), table="t", identifying=1).subsets
    assert found.search["rolled_up"] > 0
    chosen = [one for one in found.strongest if len(one.columns) == 3]
    for one in chosen:
        listed = ", ".join(one.columns)
        query = f"SELECT count(*), count(*) FILTER (n = 1), sum(n * (n - 1)) // 2 FROM " \
                f"(SELECT count(*) AS n FROM t GROUP BY {listed})"  # fmt: skip
        wanted = DATABASE.execute(query).fetchone()
        assert (one.classes, one.unique, one.pairs) == wanted


def test_identifying_sets_spare_those_that_hold_them():
    rows = [(n, (str(n), str(n % 2), str(n % 3), str(n % 5))) for n in range(30)]
    names = fill(rows)
    found = sqlanon.risk(DATABASE, Policy(names), table="t").subsets
    assert [one.columns for one in found.minimal] == [("a",), ("b", "c", "d")]
    assert found.minimal[0].is_key
    assert found.implied == 7
    # All with and without each column, single ones, and pairs of those that do not identify.
    assert found.search["counted"] == 1 + 4 + 4 + 3


# The example table of Motwani and Xu 2007: age, sex, state.
MOTWANI_XU = [
    (0, ("20", "F", "CA")), (1, ("30", "F", "CA")), (2, ("40", "F", "TX")),
    (3, ("20", "M", "NY")), (4, ("40", "M", "CA")),
]  # fmt: skip


def test_ratios_of_motwani_and_xu():
    names = fill(MOTWANI_XU)
    report = sqlanon.risk(DATABASE, Policy(names), table="t", every_subset=True)
    ratios = {one.columns: (one.distinction, one.separation) for one in report.subsets.every}
    assert ratios["a",] == (0.6, 0.8)
    assert ratios["b", "c"] == (0.8, 0.9)
    assert ratios["a", "b"] == (1.0, 1.0)
    assert [one.columns for one in report.subsets.every if one.is_key] == [
        ("a", "b"), ("a", "c"), ("a", "b", "c"),
    ]  # fmt: skip


def test_keys_are_what_makes_all_unique():
    names = fill(MOTWANI_XU)
    found = sqlanon.risk(DATABASE, Policy(names), table="t", identifying=1)
    assert [one.columns for one in found.subsets.minimal] == [("a", "b"), ("a", "c")]
    assert "a, b  (a key: all records)" in found.to_text()


def test_ratios_of_one_record_and_of_persons():
    report = sqlanon.risk(DATABASE, Policy(fill(MOTWANI_XU[:1])), table="t")
    assert (report.subsets.whole.distinction, report.subsets.whole.separation) == (1.0, None)
    names = fill([(1, ("x", "y")), (1, ("z", "y")), (2, ("x", "y"))])
    whole = sqlanon.risk(DATABASE, Policy(names, entity="who"), table="t").subsets.whole
    assert (whole.distinction, whole.separation) == (None, None)
    assert (whole.unique, whole.total) == (1, 2)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("DOUBLE", ["'nan'", "'nan'", "0.0", "-0.0", "'inf'", "NULL"]),
        ("TIMESTAMPTZ", ["'2020-01-01 00:00+00'", "'2020-01-01 01:00+01'", "NULL"]),
        ("UUID", ["uuid()", "uuid()"]),
        ("BLOB", ["'a'::BLOB", "'b'::BLOB", "'a'::BLOB"]),
        ("HUGEINT", ["170141183460469231731687303715884105727", "-1", "-1"]),
        ("BOOLEAN", ["true", "NULL", "true"]),
        ("ENUM ('b', 'a')", ["'a'", "'b'", "'a'", "NULL"]),
        ("TIME", ["'10:00'", "'10:00'"]),
    ],
)
def test_columns_of_any_plain_type_are_told_apart_as_group_by_does(kind, rows):
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE t (x {kind}, y INTEGER)")
        for row in rows:
            connection.execute(f"INSERT INTO t VALUES ({row}, 1)")
        report = sqlanon.risk(connection, Policy(["x", "y"]), table="t")
        sizes = "SELECT count(*) AS n FROM t GROUP BY x"
        wanted = connection.execute(
            f"SELECT count(*), count(*) FILTER (n = 1) FROM ({sizes})"
        ).fetchone()
    whole, (x, _) = report.subsets.whole, report.subsets.columns
    assert (whole.classes, whole.unique) == (x.values, x.unique) == wanted


def test_more_than_ten_columns_and_more_than_one_word():
    rows = [(n, tuple(str((n * step) % 61) for step in range(1, 15))) for n in range(300)]
    names = fill(rows)
    report = sqlanon.risk(DATABASE, Policy(names), table="t").subsets
    assert (report.largest, report.looked_at, report.possible) == (4, 1470, 2**14 - 1)
    assert (report.whole.classes, report.whole.unique) == (61, 0)


def test_default_keeps_the_sets_within_its_limit():
    for columns in range(1, 70):
        largest = subsets.largest_within(columns)
        sets = subsets.number_of_subsets(columns, largest)
        assert sets <= subsets.DEFAULT_SETS
        more = subsets.number_of_subsets(columns, min(largest + 1, columns))
        assert largest == columns or more > subsets.DEFAULT_SETS
        assert sets == len(list(subsets.subsets_up_to(columns, largest)))


def test_what_was_left_out_is_said():
    names = fill([(n, tuple(f"{n}{c}" for c in "abcde")) for n in range(3)])
    report = sqlanon.risk(DATABASE, Policy(names), table="t", max_columns=2)
    assert (report.subsets.looked_at, report.subsets.left_out) == (15, 16)
    assert any(
        "sets of more than 2 columns were not looked at (16)" in note for note in report.notes
    )
    assert "(of up to 2 columns; 15 of 31 sets looked at)" in report.to_text()


def test_no_sets_where_none_are_asked_for():
    report = sqlanon.risk(DATABASE, Policy(fill(MOTWANI_XU)), table="t", max_columns=0)
    assert report.subsets is None
    assert "subsets" not in report.to_dict()
    assert report.statistics.classes == 5


def test_too_many_sets_are_an_error():
    names = [f"c{number}" for number in range(40)]
    columns = ", ".join(f"1 AS {name}" for name in names)
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {columns}")
        with pytest.raises(PolicyError, match=r"more than 200,000; lower max_columns"):
            sqlanon.risk(connection, Policy(names), table="t", max_columns=20)
        assert sqlanon.risk(connection, Policy(names), table="t").subsets.largest == 2


def test_none_that_identify_is_said():
    names = fill([(n, (str(n // 2), str(n // 4))) for n in range(8)])
    text = sqlanon.risk(DATABASE, Policy(names), table="t").to_text()
    assert "none, nor any larger one: all columns together make 0% of the records unique" in text


HOSTILE = [
    "select", 'a"b', "x; DROP TABLE t", "value", "code", "subset", "mask_0", "word_0", "person",
    "class_size", "size", "key_0", "source", "population_size", "released", "whole", "members",
    "line\nbreak", "a, b", "Ünï çode", "held", "classes",
]  # fmt: skip


@pytest.mark.parametrize(("name", "other"), list(zip(HOSTILE[::2], HOSTILE[1::2], strict=True)))
def test_columns_of_any_names_give_the_figures_of_harmless_ones(name, other):
    assert figures_of_two_columns(name, other) == figures_of_two_columns("harmless", "other")


@cache
def figures_of_two_columns(name, other):
    """Of a table with columns of these names, by records and by persons, counted either way."""
    found = []
    quoted = ", ".join('"' + each.replace('"', '""') + '"' for each in (name, other))
    with empty_database() as connection:
        for table, step in (("t", 2), ("p", 1)):
            connection.execute(
                f"CREATE TABLE {table} AS SELECT * FROM (SELECT i % 5, i % 3, i // 4 "
                f'FROM range(0, 24, {step}) r(i)) v({quoted}, "who other")'
            )
        # An entity or none meets both of either choice, and each choice meets the other.
        for joint, rolled in itertools.product((False, True), (False, True)):
            entity = "who other" if joint == rolled else None
            policy = Policy([name, other], entity=entity)
            with ways(joint, rolled):
                report = sqlanon.risk(connection, policy, table="t", population="p")
            document = report.to_dict()
            figures = document["risk"], document["persons"], document["population"]
            found.append((figures, list(document["columns"].values())))
            assert {name, other} <= document["columns"].keys()
    return found


def test_entity_of_a_hostile_name_is_counted():
    with empty_database() as connection:
        for name in HOSTILE:
            quoted = '"' + name.replace('"', '""') + '"'
            connection.execute(
                f"CREATE OR REPLACE TABLE t AS SELECT i % 4 AS a, i % 3 AS b, i // 2 AS {quoted} "
                "FROM range(12) r(i)"
            )
            report = sqlanon.risk(
                connection, Policy(["a", "b"], entity=name), table="t", population="t"
            )
            assert (report.persons.members, report.population.journalist_max) == (6, 1.0)


def test_report_does_not_depend_on_threads_or_the_order_of_records(tmp_path):
    documents = []
    rows = people(4000, seed=11)
    for threads in (1, 2, 8):
        random.Random(threads).shuffle(rows)
        path = tmp_path / f"{threads}.duckdb"
        with duckdb.connect(str(path)) as connection:
            names = fill(rows, connection)
            connection.execute("CREATE TABLE p AS SELECT * FROM t UNION ALL SELECT * FROM t")
        for entity in (None, "who"):
            report = sqlanon.risk(
                path, Policy(names, entity=entity), table="t", population="p", threads=threads
            )
            document = report.to_dict()
            for name in ("seconds", "created", "source"):
                document.pop(name)
            documents.append((entity, document, report.to_text()))
    assert documents[:2] == documents[2:4] == documents[4:]


def test_no_value_of_the_table_is_in_the_report():
    names = fill([(n, (f"MARK{n}", f"MARK{n % 3}", "MARK")) for n in range(20)])
    report = sqlanon.risk(DATABASE, Policy(names, entity="who"), table="t", every_subset=True)
    assert "MARK" not in report.to_text() + str(report.to_dict())
