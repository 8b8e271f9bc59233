"""Every type of DuckDB's, in every role, by every method, to every output: read by another reader.

What comes back is what was published, be it as text; and a label holds the value that it is of.
"""

from functools import cache

import duckdb
import pytest
from databases import empty_database
from oracles.cells import (
    DAYS,
    EXACT,
    FLOATS,
    INSTANTS,
    KEPT,
    OTHERS,
    SCALARS,
    TEXTS,
    TIMES,
    WHOLE,
    ZONED,
    literal,
    meaning,
    type_of,
)
from oracles.releases import held, holds, plain, published

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier
from sqlanon.methods.fulldomain import method as fulldomain
from sqlanon.methods.registry import CHOICE
from sqlanon.methods.registry import METHODS as REGISTRY

OUTPUTS = ("csv", "csv.gz", "parquet", "arrow", "duckdb", "into", "file", "in_place")
METHODS = ("incognito", "set-cover", "direct-cover", "pattern-greedy", "pattern-exact")
EVERY = (*REGISTRY, "auto")
ROLES = ("kept", "ill", "key", "label")
FAMILIES = {
    "days": DAYS,
    "whole": WHOLE,
    "exact": EXACT,
    "floats": FLOATS,
    "instants": INSTANTS,
    "zoned": ZONED,
    "times": TIMES,
    "texts": TEXTS | OTHERS,
}
MONTHS = "strftime(value AT TIME ZONE 'UTC', '%Y-%m')"
RULES = {
    **dict.fromkeys([*WHOLE, *EXACT, *FLOATS], Hierarchy.intervals("0.5", 10)),
    "BIGNUM": Hierarchy.prefix(2, 1),
    "DECIMAL(38,38)": Hierarchy.prefix(3, 2),
    **dict.fromkeys([*DAYS, *INSTANTS], Hierarchy.dates("month", "year")),
    **dict.fromkeys(ZONED, Hierarchy.expressions(MONTHS)),
    **dict.fromkeys([*TIMES, *TEXTS, *OTHERS], Hierarchy.prefix(2, 1)),
}
MOST_ABREAST = 3


@pytest.fixture(autouse=True)
def brief_searches(monkeypatch):
    """Types are those of whatever is found: what is lent to other methods is the first node."""
    monkeypatch.setattr(fulldomain, "MAX_QUICK_LOOKS", 0)
    monkeypatch.setattr(fulldomain, "MIN_NODES", 1)


def table_of(names, rows, *, copies=1):
    """A database in Tokyo with a column of each type, values in turn, NULLs, and the row's id.

    Every row is there a number of times.
    """
    made = made_once(tuple((name, tuple(KEPT[name])) for name in names), rows, copies)
    [(database,)] = made.execute("SELECT current_database()").fetchall()
    connection = empty_database()
    connection.execute("SET TimeZone = 'Asia/Tokyo'")
    connection.execute(f"CREATE TABLE people AS FROM {database}.people")
    return connection


@cache
def made_once(values, rows, copies):
    """The table of types with their values, from the texts of all cells, to be copied."""
    names, lines = [name for name, _ in values], []
    for row in range(rows):
        cells = [literal(name, text_at(name, row)) if text_at(name, row) is not None
                 else f"NULL::{type_of(name)}" for name in names]  # fmt: skip
        lines += [f"({', '.join([str(row), *cells])})"] * copies
    # Texts with an offset mean the same in any zone.
    titles = ", ".join('"' + name.replace('"', '""') + '"' for name in ["id", *names])
    connection = empty_database()
    connection.execute("SET TimeZone = 'Asia/Tokyo'")
    connection.execute(
        f"CREATE TABLE people AS SELECT *, 1 AS q FROM (VALUES {', '.join(lines)}) AS t({titles})"
    )
    return connection


def text_at(name, row):
    """The value of a type in a row, as text; the first rows have each once, then there is NULL."""
    values = [*KEPT[name], None]
    return values[row % len(values)]


def original(name, row, *, is_key):
    """What a record's own value means; as quasi-identifier, minus zero is zero."""
    text = text_at(name, row)
    return meaning(name, "0.0" if is_key and text == "-0.0" else text)


def assert_original(cells, names, *, is_key=False):
    ids = [int(plain(cell)) for cell in cells["id"]]
    for name in names:
        found = [held(name, cell) for cell in cells[name]]
        assert found == [original(name, row, is_key=is_key) for row in ids], name


def planned(connection, policy, method):
    """A plan of a method; one by patterns keeps all or nothing, at the lowest levels allowed."""
    options = {"passes": 1} if REGISTRY.get(method, CHOICE).takes("passes") else {}
    if method.startswith("pattern"):
        lowest = [f"{name}@{own.min_level}" for name, own in policy.attributes.items()]
        options = {"patterns": [lowest, ["none"]]}
    return sqlanon.plan(connection, policy, table="people", method=method, **options)


def output_of(family, method):
    """The output of a row of the matrix: nodes meet each of them, and each family two.

    That suffices: what goes to an output is a table of typed columns, whatever made it, and every
    type goes to every output as a kept column, by both shapes of a recoding.
    """
    place = [*FAMILIES].index(family) + METHODS.index(method)
    return OUTPUTS[place % len(OUTPUTS)]


# Every family meets both shapes of a recoding: nodes, and in turn the methods that decide levels
# for each record. All read the same codes of values, and these make the same statements.
ROWS = [
    (family, method)
    for place, family in enumerate(FAMILIES)
    for method in (METHODS[0], METHODS[1 + place % 4])
]
every_row_of_the_matrix = pytest.mark.parametrize(
    ("family", "method"), ROWS, ids=map("-".join, ROWS)
)


@pytest.mark.slow
# Both shapes of a recoding; the other methods make the statements of the second.
@pytest.mark.parametrize("method", METHODS[:2])
@pytest.mark.parametrize("output", OUTPUTS)
def test_type_that_is_kept_comes_back(output, method, tmp_path):
    policy = Policy({"q": Hierarchy.suppression()}, keep=["id", *KEPT], models=[KAnonymity(2)])
    connection = table_of(KEPT, 20, copies=2)
    plan = planned(connection, policy, method)
    assert_original(published(connection, plan, output, tmp_path), KEPT)


def dealt(at):
    """Types in four roles, for the method of a number: in each role every type meets a method."""
    names, apart = list(SCALARS), len(EVERY)
    return {role: names[(at + 3 * place) % apart :: apart] for place, role in enumerate(ROLES)}


def in_roles(types):
    """A table with a column of each type in its roles, and its policy; every row is there twice."""
    connection = table_of(KEPT, 20, copies=2)
    columns = [(name, role) for role, names in types.items() for name in names]
    quoted = [(name.replace('"', '""'), role) for name, role in columns]
    more = ", ".join(f'"{name}" AS "{name} {role}"' for name, role in quoted)
    connection.execute(f"CREATE OR REPLACE TABLE people AS SELECT id, {more} FROM people")
    kept, ill, keys, labels = ([f"{name} {role}" for name in types[role]] for role in ROLES)
    rules = [QuasiIdentifier(RULES[name], min_level=1) for name in types["label"]]
    quasi = dict.fromkeys(keys, Hierarchy.suppression()) | dict(zip(labels, rules, strict=True))
    return connection, Policy(quasi, sensitive=ill, keep=["id", *kept], models=[KAnonymity(2)])


def assert_roles(method, types, output, folder):
    """What a method publishes of types in their roles means what they do."""
    connection, policy = in_roles(types)
    cells = published(connection, planned(connection, policy, method), output, folder)
    ids = [int(plain(cell)) for cell in cells["id"]]
    assert sorted(ids) == sorted([*range(20)] * 2)
    for role in ROLES[:3]:
        own = {name: cells[f"{name} {role}"] for name in types[role]}
        assert_original({"id": cells["id"], **own}, own, is_key=role == "key")
    for name in types["label"]:
        labels = [plain(cell) for cell in cells[f"{name} label"]]
        assert set(labels) != {"*"}
        pairs = zip(labels, ids, strict=True)
        assert all(holds(RULES[name].kind, label, text_at(name, row)) for label, row in pairs), name


@pytest.mark.slow
@pytest.mark.parametrize("method", EVERY)
def test_type_in_any_role_comes_back_by_every_method(method, tmp_path):
    at = EVERY.index(method)
    assert_roles(method, dealt(at), OUTPUTS[at % len(OUTPUTS)], tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
def test_values_of_a_type_match_leaves_of_their_own_texts(family):
    names, connection = list(FAMILIES[family]), table_of(FAMILIES[family], 20, copies=2)
    attributes = {}
    for name in names:
        quoted = name.replace('"', '""')
        texts = connection.execute(f'SELECT DISTINCT "{quoted}"::VARCHAR FROM people').fetchall()
        rows = [(text, "group", "*") for (text,) in texts]
        attributes[name] = QuasiIdentifier(Hierarchy.from_rows(rows), 1, 1, 1)
    policy = Policy(attributes, drop=["id", "q"], models=[KAnonymity(40)])
    sqlanon.anonymize(connection, policy, table="people", into="out")
    assert set(connection.execute("FROM out").fetchall()) == {("group",) * len(names)}


@pytest.mark.slow
@every_row_of_the_matrix
def test_type_beside_suppressed_cells_is_text_that_means_it(family, method, tmp_path):
    names = FAMILIES[family]
    policy = Policy(
        dict.fromkeys(names, Hierarchy.suppression()),
        keep=["id"], drop=["q"], models=[KAnonymity(2)], suppression_limit=0.9,
        suppressed="keep" if method == "incognito" else "drop",
    )  # fmt: skip
    connection = table_of(names, 20, copies=2)
    # All but the first records stand alone.
    connection.execute("DELETE FROM people WHERE id > 1 AND rowid % 2 = 1")
    plan = planned(connection, policy, method)
    cells = published(connection, plan, output_of(family, method), tmp_path)
    ids = [int(plain(cell)) for cell in cells["id"]]
    for name in names:
        for row, cell in zip(ids, cells[name], strict=True):
            label = plain(cell) if type_is_text(cell) else None
            if label != "*":
                assert held(name, cell) == original(name, row, is_key=True), name


def type_is_text(cell):
    return isinstance(cell, str) or (cell is not None and isinstance(cell.as_py(), str))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_values_of_a_type_are_found_again_in_their_groups(family, monkeypatch):
    """A map lists them as texts, and `measure` reads its labels."""
    # Six values at a time: eighteen have more sets than can be gone through in moments.
    parts = [(name, KEPT[name][at : at + 6]) for name in FAMILIES[family]
             for at in range(0, len(KEPT[name]), 6)]  # fmt: skip
    for some in abreast(parts):
        for name, values in some.items():
            monkeypatch.setitem(KEPT, name, values)
        connection = table_of(some, 20)
        policy = Policy(
            dict.fromkeys(some, Hierarchy.suppression()), drop=["id", "q"], models=[KAnonymity(7)]
        )
        plan = sqlanon.plan(connection, policy, table="people", method="scheme", scheme="sps")
        assert [len(column.groups) for column in plan.recoding.columns] == [2] * len(some), some
        assert sqlanon.apply(connection, plan, into="out").statistics.records == 20, some
        found = sqlanon.measure(connection, "out", policy, table="people")
        assert found.loss == pytest.approx(plan.report.loss), some


def abreast(parts):
    """Types with their values, by up to three of which the values, in turn, have one order.

    So the classes are those of each column alone, and each column has groups of its own.
    """
    tables = {}
    for name, values in parts:
        cells = ", ".join(f"({row}, {literal(name, text)})" for row, text in enumerate(values))
        order = duckdb.sql(f"SELECT list(row ORDER BY cell) FROM (VALUES {cells}) AS v(row, cell)")
        alike = tables.setdefault(str(order.fetchall()), [{}])
        if name in alike[-1] or len(alike[-1]) == MOST_ABREAST:
            alike.append({})
        alike[-1][name] = values
    return [some for alike in tables.values() for some in alike]
