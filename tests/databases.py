"""Databases in memory, and rows into them: many tests make one for every example."""

import itertools
import weakref
from functools import cache

import duckdb
import pytest

_numbers = itertools.count(1)


@cache
def _instance(threads):
    """An instance, and the names of databases whose connections are gone.

    To start one takes 13 ms, a database more in it less than one.
    """
    return duckdb.connect(config={} if threads is None else {"threads": threads}), []


def empty_database(threads=1):
    """A connection to a database of its own, empty, which goes some time after the connection.

    Temporary tables, transactions and settings of the session are those of the connection alone.
    Settings of the instance, as that of its threads, are not, nor are databases that a test
    attaches. Tests that need such connect by themselves; those that look for what is left behind
    ask `tables_of`, since the catalog lists the tables of every database of an instance. It works
    with one thread unless a test asks for more: on some records others only wait for each other.
    """
    (instance, gone), name = _instance(threads), f"empty_{next(_numbers)}"
    while gone:
        instance.execute(f"DETACH {gone.pop()}")
    instance.execute(f"ATTACH ':memory:' AS {name}")
    connection = instance.cursor()
    connection.execute(f"USE {name}")
    # Whoever collects garbage may be in the middle of a statement, or in another thread.
    weakref.finalize(connection, gone.append, name).atexit = False
    return connection


def sixty_people():
    """A connection to 60 records of two quasi-identifiers, a and b, and a sensitive column, c."""
    connection = empty_database()
    connection.execute(
        "CREATE TABLE people AS SELECT range * 7919 % 23 AS a, range * 104729 % 5 AS b, "
        "range * 31 % 3 AS c FROM range(60)"
    )
    return connection


@cache
def has_type(kind):
    """Whether tables of the DuckDB that is installed can have columns of a type."""
    with duckdb.connect() as connection:
        try:
            connection.execute(f"CREATE TEMPORARY TABLE t (x {kind})")
        except (duckdb.CatalogException, duckdb.NotImplementedException):
            return False
    return True


def reads_longest_intervals():
    """Whether the text of an INTERVAL of a billion hours or more is read as one."""
    with duckdb.connect() as connection:
        return connection.execute(
            "SELECT TRY_CAST('1000000000:00' AS INTERVAL) IS NOT NULL"
        ).fetchone()[0]


def sorts_signed_zeros():
    """Whether ORDER BY leaves the sign of -0.0, which versions before 2.0 lose."""
    query = "SELECT signbit(x) FROM (SELECT '-0.0'::DOUBLE AS x FROM range(2) ORDER BY x)"
    with duckdb.connect() as connection:
        return connection.execute(query).fetchall() == [(True,), (True,)]


def need_types_of(text):
    """Skips a test whose SQL has a type that tables of older versions cannot hold."""
    for kind in ("VARIANT", "GEOMETRY", "TIMESTAMPTZ_NS"):
        if kind in text and not has_type(kind):
            pytest.skip(f"no table of DuckDB {duckdb.__version__} holds a {kind}")


@cache
def has_triggers():
    """Whether the DuckDB that is installed knows triggers."""
    functions = "SELECT 1 FROM duckdb_functions() WHERE function_name = 'duckdb_triggers'"
    with duckdb.connect() as connection:
        return bool(connection.execute(functions).fetchall())


def quoted(name):
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def rows(connection, table="out"):
    """What a table holds."""
    return connection.execute(f"SELECT * FROM {table}").fetchall()


def tables_of(connection):
    """The names of the tables that a connection has, temporary ones among them."""
    found = connection.execute(
        "SELECT table_name FROM duckdb_tables() "
        "WHERE database_name IN (current_database(), 'temp') ORDER BY ALL"
    )
    return [name for (name,) in found.fetchall()]


def insert(connection, table, rows):
    """Inserts rows by one statement, in a fifth of the time that `executemany` takes."""
    rows = list(rows)
    if rows:
        marks = f"({', '.join('?' * len(rows[0]))})"
        cells = [cell for row in rows for cell in row]
        connection.execute(f"INSERT INTO {table} VALUES {', '.join([marks] * len(rows))}", cells)
