"""Random tables on other engines: hostile names and values, NULLs, and wide sums."""

from datetime import date, datetime

import pytest
from databases import empty_database, insert, quoted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp
from test_elsewhere import plain

from sqlanon.dialects import translated
from sqlanon.engine.base import render
from sqlanon.query import encode
from sqlanon.query.assess import value_shares
from sqlanon.query.classes.table_classes import set_counts
from sqlanon.query.syntax import column, table, varchar
from sqlanon.sqltext import expression

pytestmark = pytest.mark.slow

HOSTILE = [
    "", " ", "a", "a ", "A", "ä", "é", "z", "a'b", 'a"b', "a`b", "a\\b", "a\\nb", "a\nb", "\\",
    "%s", "${x}", "$${x}", "a${x}b${y}", "\\${x}", "{{x}}", "NULL", "--", ";", "1", "01", "1e2",
    "🤦", "\t",
]  # fmt: skip
NAMES = ["name", 'a"b', "a`b", "Ünï cödé", "a'b\\", "select", "a\nb", "$x", "value", "Size"]
CELLS = {
    "VARCHAR": st.sampled_from(HOSTILE) | st.text("ab'\\${}\n 1", max_size=4),
    "INTEGER": st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 2),
    "BIGINT": st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2),
    "DECIMAL(10, 2)": st.decimals(-99999, 99999, places=2, allow_nan=False),
    "DATE": st.dates(date(1, 1, 1), date(9999, 12, 31)),
    "TIMESTAMP": st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    "BOOLEAN": st.booleans(),
}


@st.composite
def tables(draw):
    """Columns of some types, by name, and rows with NULLs of which some come several times."""
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=3))
    names = draw(st.permutations(NAMES))[: len(kinds)]
    row = st.tuples(*(st.none() | CELLS[kind] for kind in kinds))
    rows = draw(st.lists(row, min_size=1, max_size=5))
    picked = draw(st.lists(st.sampled_from(rows), max_size=8))
    return dict(zip(names, kinds, strict=True)), rows + picked


def leaves(connection, name, kind, *, shift):
    """A leaf table of the values of a column, and its leaf map."""
    shown = f"leaves_{shift}"
    connection.execute(f"CREATE TABLE {shown} (attribute BIGINT, leaf VARCHAR, word_0 BIGINT)")
    connection.execute(
        f"INSERT INTO {shown} SELECT 0, CAST({quoted(name)} AS VARCHAR),"
        f" (row_number() OVER () - 1) << {shift} FROM (SELECT DISTINCT {quoted(name)} FROM people)"
    )
    return encode.leaf_map(table(shown), 0, column_type=kind, words=range(1))


def queries(connection, columns):
    """What is asked of every table, by what it is."""
    people, names = table("people"), list(columns)
    maps = {
        name: leaves(connection, name, kind, shift=8 * place)
        for place, (name, kind) in enumerate(columns.items())
    }
    yield encode.encoded(people, maps, nullable=set(names), words=1)
    yield encode.presence(people, names)
    yield set_counts(people, [names, *([name] for name in names)])
    yield value_shares.class_values(people, names, attribute=names[0], nulls=True)
    for name, kind in columns.items():
        yield encode.distinct_paths(people, name, labels=[], kind=kind)
        yield encode.uncovered(people, name, leaves=maps[name].rows)
        yield exp.select(varchar(column(name))).from_(people).distinct()


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_random_tables_are_read_alike_elsewhere(engine, drawn):
    kinds, rows = drawn
    connection = empty_database()
    definitions = ", ".join(f"{quoted(name)} {kind}" for name, kind in kinds.items())
    connection.execute(f"CREATE TABLE people ({definitions})")
    insert(connection, "people", rows)
    columns = {name: exp.DataType.build(kind, dialect="duckdb") for name, kind in kinds.items()}
    asked = list(queries(connection, columns))
    engine.take(connection)
    for query in asked:
        wanted = connection.execute(render(query, "duckdb")).fetchall()
        found = engine.answer(translated(query, engine.name))
        assert told(found) == told(wanted)
    digest = translated(encode.fingerprint(table("people"), columns), engine.name)
    assert engine.answer(digest) == engine.answer(digest)


def told(rows):
    """Rows in one spelling, in any order."""
    return sorted(repr([plain(cell) for cell in row]) for row in rows)


def test_sums_beyond_a_bigint_are_whole_elsewhere(engine):
    most = 2**63 - 1
    connection = empty_database()
    connection.execute("CREATE TABLE sizes (part BIGINT, size BIGINT)")
    insert(connection, "sizes", [(1, most), (1, most), (1, -most), (2, most), (2, most)])
    engine.take(connection)
    query = expression(
        "SELECT part, SUM(size) AS sums, SUM(size) // 2 AS halves,"
        " SUM(SUM(size)) OVER () AS every FROM sizes GROUP BY part"
    )
    found = engine.answer(translated(query, engine.name))
    assert told(found) == told([(1, most, most // 2, 3 * most), (2, 2 * most, most, 3 * most)])
