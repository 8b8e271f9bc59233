"""Every query of a snapshot on other engines: the rows that DuckDB answers."""

from decimal import Decimal
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest
import snapshots
from databases import empty_database
from sqlglot import exp
from test_snapshots import MODULES

from sqlanon.dialects import PHRASINGS, kinds, translated
from sqlanon.errors import EngineError
from sqlanon.query.encode import fingerprint
from sqlanon.query.publish.recode import create_table
from sqlanon.query.syntax import table, text_of
from sqlanon.sqlglot_version import drop
from sqlanon.sqltext import Sql, value

pytestmark = pytest.mark.slow

RELEASED = {
    *("a node", "a node without small classes", "a node with suppressed records kept"),
    *("clusters", "regions with suppressed records kept"),
}
"""Published rows that `publishing/test_dialects.py` asks every engine for, of richer tables.

In which order they come the others of their kind say.
"""
PORTABLE = {
    f"{module.__name__}: {snapshot}": (module, snapshot)
    for module in MODULES
    if not hasattr(module, "NEAR")
    for snapshot in module.SNAPSHOTS
    if snapshot.near is None
    if not (module.__name__ == "test_published" and f"{snapshot}" in RELEASED)
}


@pytest.fixture(scope="module")
def engine_of(engine):
    """An engine with the tables of a module, which are taken once for its neighbours."""
    held = []

    def taken(module):
        if held != [module]:
            connection = empty_database()
            connection.execute(getattr(module, "TABLES", snapshots.TABLES))
            engine.take(connection)
            held[:] = [module]
        return engine

    return taken


def filled(snapshot):
    """The query of a snapshot with literals in place of its parameters."""
    if not snapshot.parameters:
        return snapshot.query
    assert isinstance(snapshot.query, Sql)
    text = snapshot.query.text
    for parameter in snapshot.parameters:
        literal = repr(parameter) if isinstance(parameter, list) else value(parameter).text
        text = text.replace("?", literal, 1)
    return Sql(text)


def plain(cell):
    """A value in the one type that all engines' answers have."""
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    return cell


def rounded(row):
    """What rows are sorted by: real numbers may differ in their last digits."""
    return repr([round(cell, 6) if isinstance(cell, float) else cell for cell in row])


@pytest.mark.parametrize("name", PORTABLE)
def test_query_is_answered_alike_elsewhere(name, engine_of):
    module, snapshot = PORTABLE[name]
    engine = engine_of(module)
    rows = engine.answer(translated(filled(snapshot), engine.name))
    found = [tuple(map(plain, row)) for row in rows]
    wanted = [tuple(map(plain, row)) for row in snapshot.rows]
    # A published text's collation is the database's, so its order is no promise.
    if not snapshot.ordered or (engine.name == "postgres" and "published" in module.__name__):
        found, wanted = sorted(found, key=rounded), sorted(wanted, key=rounded)
    for row, expected in zip(found, wanted, strict=True):
        assert row == expected or row == pytest.approx(expected, abs=1e-8)


COLUMNS = {
    "text": "VARCHAR",
    "other": "VARCHAR",
    "real": "DOUBLE",
    "single": "FLOAT",
    "number": "BIGINT",
    "price": "DECIMAL(10, 2)",
    "day": "DATE",
    "moment": "TIMESTAMP",
    "ok": "BOOLEAN",
}
ONE = ["'a'", "NULL", "0.0", "1.5", "7", "1.50", "'2024-02-29'", "'2024-02-29 12:00:00.5'", "true"]
OTHERS = {
    "another text": ["'b'", *ONE[1:]],
    "a text elsewhere": ["NULL", "'a'", *ONE[2:]],
    "an empty text": ["'a'", "''", *ONE[2:]],
    "another zero": [*ONE[:2], "'-0.0'", *ONE[3:]],
    "no number": [*ONE[:4], "NULL", *ONE[5:]],
    "another instant": [*ONE[:7], "'2024-02-29 12:00:00'", "true"],
}
"""A record, and some that differ from it in one thing."""
TABLES_OF = {
    "as it is": [ONE, *OTHERS.values()],
    "reordered": [*OTHERS.values(), ONE],
    "with one of them twice": [ONE, ONE, *OTHERS.values()],
    "with one of them thrice": [ONE, ONE, ONE, *OTHERS.values()],
    "with two of them twice": [ONE, ONE, *OTHERS.values(), OTHERS["no number"]],
    "of no record": [],
    **{f"of {what}": [row] for what, row in {"the first": ONE, **OTHERS}.items()},
}
NAMES = {what: f"held_{number}" for number, what in enumerate(TABLES_OF)}


KINDS = {name: exp.DataType.build(kind, dialect="duckdb") for name, kind in COLUMNS.items()}
FINGERPRINTS = {what: fingerprint(table(name), KINDS) for what, name in NAMES.items()}


def filling(what, rows):
    """The statements that make a table of rows."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    yield f"CREATE TABLE {NAMES[what]} ({columns});"
    for row in rows:
        yield f"INSERT INTO {NAMES[what]} VALUES ({', '.join(row)});"


PRINTED = SimpleNamespace(
    TABLES="".join(text for what, rows in TABLES_OF.items() for text in filling(what, rows))
)


def test_fingerprints_tell_tables_apart_elsewhere(engine_of):
    engine = engine_of(PRINTED)
    asked = {
        what: engine.answer(translated(query, engine.name)) for what, query in FINGERPRINTS.items()
    }
    assert {what: rows[0][0] for what, rows in asked.items()} == {
        what: len(rows) for what, rows in TABLES_OF.items()
    }
    again = asked.pop("reordered")
    assert again == asked["as it is"]
    assert len({rows[0][1] for rows in asked.values()}) == len(asked)


INSTANTS = SimpleNamespace(
    TABLES="CREATE TABLE moments AS SELECT CAST(UNNEST([NULL, '2001-10-28 00:30:00.12+00',"
    " '2001-10-28 01:30:00+00', '1899-12-31 23:59:59.999999+00']) AS TIMESTAMPTZ) AS at"
)
ZONED = exp.DataType.build("TIMESTAMPTZ", dialect="duckdb")
WRITTEN = exp.select(
    exp.alias_(text_of(exp.cast(exp.column("at", quoted=True), ZONED), ZONED), "text", quoted=True)
).from_(table("moments"))


def test_instants_are_written_in_utc_elsewhere(engine_of):
    engine = engine_of(INSTANTS)
    rows = engine.answer(translated(WRITTEN, engine.name))
    assert sorted(map(str, chain.from_iterable(rows))) == [
        "1899-12-31 23:59:59.999999+00",
        "2001-10-28 00:30:00.12+00",
        "2001-10-28 01:30:00+00",
        "None",
    ]


def test_a_time_of_another_zone_is_refused_by_spark():
    query = Sql("SELECT at AT TIME ZONE 'Europe/Berlin' AS local FROM moments")
    with pytest.raises(EngineError, match="another zone than 'UTC'"):
        translated(query, "spark")


RELEASE = table("release")
STATEMENTS = [
    create_table(RELEASE, exp.select(exp.column("age", quoted=True)).from_(snapshots.PEOPLE)),
    drop(RELEASE),
]


def test_statements_are_carried_out_elsewhere(engine_of):
    engine = engine_of(snapshots)
    made, *dropped = (translated(statement, engine.name) for statement in STATEMENTS)
    engine.answer(made)
    assert sorted(engine.answer(f"SELECT age FROM {RELEASE.name}")) == [(31,)] * 3 + [(45,)] * 2
    for text in dropped:
        engine.answer(text)


def parted():
    """Rows that are sorted within parts, which the rows alone tell apart."""
    query = exp.select("*").from_(snapshots.PEOPLE)
    keys = [exp.column(name, quoted=True) for name in ("age", "sex")]
    query.set("distribute", exp.Distribute(expressions=keys))
    ordered = [exp.Ordered(this=key.copy(), nulls_first=False) for key in keys]
    query.set("sort", exp.Sort(expressions=ordered))
    return query


def collated():
    """Texts that are compared byte by byte."""
    text = exp.cast(exp.column("job", quoted=True), "TEXT")
    by_bytes = exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))
    return exp.select(exp.alias_(by_bytes, "job", quoted=True)).from_(snapshots.PEOPLE)


def ceiled():
    """Real numbers, to the next whole ones."""
    age = exp.cast(exp.column("age", quoted=True), "DOUBLE")
    return exp.select(exp.cast(exp.Ceil(this=age), "BIGINT").as_("age")).from_(snapshots.PEOPLE)


OWN = {
    "postgres": [collated(), ceiled()],
    "spark": [parted(), ceiled()],
    "sail": [ceiled()],
}
"""What is said to one alone. Sail refuses to sort in parts, and is never asked to."""


def test_what_is_said_to_one_engine_alone_is_carried_out(engine_of):
    engine = engine_of(snapshots)
    for query in OWN.get(engine.name, []):
        rows = engine.answer(translated(query, engine.name))
        assert len(rows) == 5


@pytest.mark.parametrize("dialect", ["postgres", "spark", "sail"])
def test_every_kind_of_expression_that_is_allowed_is_executed(dialect, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "publishing")
    from test_dialects import executed_elsewhere

    queries = (filled(snapshot) for _, snapshot in PORTABLE.values())
    trees = (query.tree() if isinstance(query, Sql) else query for query in queries)
    prints = (query.tree() for query in FINGERPRINTS.values())
    executed = {
        kind
        for tree in chain(
            trees, STATEMENTS, executed_elsewhere(dialect), prints, OWN[dialect], [WRITTEN]
        )
        for kind in kinds(tree)
    }
    assert sorted(executed) == sorted(PHRASINGS[dialect].executed)
