"""Values that are one for people and several for a database get a note that names the column."""

import itertools
from unittest.mock import patch

import pytest
from databases import empty_database, insert
from sqlglot import exp

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.deadline import Deadline
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.errors import TimeLimitError
from sqlanon.microdata import spellings

pytestmark = pytest.mark.slow


def notes_of(values, kind="TEXT", method="incognito", **settings):
    """What a plan says of the spellings of a column's values."""
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE people (city {kind}, sex TEXT)")
        insert(connection, "people", [(v, "f") for v in values])
        hierarchy = Hierarchy.suppression()
        policy = Policy({"city": hierarchy, "sex": hierarchy}, models=[KAnonymity(1)])
        plan = sqlanon.plan(connection, policy, table="people", method=method, **settings)
    return [note for note in plan.report.notes if "spellings" in note]


@pytest.mark.parametrize(
    "spellings",
    [
        ("Oslo", "oslo"),
        ("Oslo", "Oslo "),
        ("New York", "New  York"),
        ("\u00c5lesund", "A\u030alesund"),
        ("Stra\u00dfe", "STRASSE"),
    ],
)
def test_spellings_of_one_text_are_told(spellings):
    [note] = notes_of([*spellings, "Rome"])
    assert "'city' has 1 value in several spellings" in note
    assert not any(value in note for value in (*spellings, "Rome"))


def test_numbers_that_differ_in_the_last_digits_are_told():
    [note] = notes_of([0.1 + 0.2, 0.3, 1e300 * 10, float("nan"), 7.0], "DOUBLE")
    assert "1 value" in note


def test_values_that_differ_for_people_get_no_note():
    assert notes_of(["Oslo", "Rome", None, "1", "1.0", "10"]) == []
    assert notes_of([1.0, 1.000001, None], "DOUBLE") == []


def test_methods_that_recode_record_by_record_tell_them_too():
    assert len(notes_of(["Oslo", "oslo"], method="pattern-greedy", patterns="all")) == 1


FLU = [("x", "flu"), ("x", "Flu "), ("y", "flu"), ("y", "cold")]


def judged(rows, roles, kind="TEXT"):
    """What plan, anonymize and check say of the spellings of a table of two columns."""
    with empty_database() as connection:
        connection.execute(f"CREATE TABLE t (place TEXT, ill {kind})")
        insert(connection, "t", rows)
        policy = Policy(["place"], models=[KAnonymity(1)], **roles)
        documents = {
            "plan": sqlanon.plan(connection, policy, table="t").to_dict(),
            "anonymize": sqlanon.anonymize(connection, policy, table="t", into="o").to_dict(),
            "check": sqlanon.check(connection, policy, table="t").to_dict(),
        }
    return {
        name: [note for note in document["notes"] if "spellings (" in note]
        for name, document in documents.items()
    }


@pytest.mark.parametrize(
    "spellings",
    [("flu", "Flu "), ("caf\u00e9", "Cafe\u0301"), ("type 1", "type \uff11"), ("\u0663", "3")],
)
def test_spellings_of_sensitive_values_are_told(spellings):
    """By spellings alone a class of one illness has two."""
    rows = [("x", spellings[0]), ("x", spellings[1]), ("y", "a"), ("y", "b")]
    for name, notes in judged(rows, {"sensitive": ["ill"]}).items():
        [note] = notes
        assert note.startswith("sensitive column 'ill' has 1 value in several spellings"), name
        assert "counts as diverse" in note
        assert spellings[1] not in note


def test_spellings_of_sensitive_numbers_are_told():
    rows = [("x", 0.1 + 0.2), ("x", 0.3), ("y", float("nan")), ("y", None)]
    for notes in judged(rows, {"sensitive": ["ill"]}, "DOUBLE").values():
        assert [note.split(" has ")[0] for note in notes] == ["sensitive column 'ill'"]


def test_spellings_of_persons_are_told():
    for notes in judged(FLU, {"entity": "ill", "drop": ["ill"]}).values():
        [note] = notes
        assert note.startswith("entity column 'ill' has 1 value in several spellings")
        assert "counts as several" in note


def test_check_tells_spellings_of_quasi_identifiers():
    with empty_database() as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(['flu', 'FLU', 'f l']) AS ill, 1 AS n")
        notes = sqlanon.check(connection, Policy(["ill", "n"]), table="t").notes
    [note] = [note for note in notes if "spellings (" in note]
    assert note.startswith("column 'ill' has 1 value in several spellings")


def test_sensitive_values_that_differ_for_people_get_no_note():
    rows = [("x", "flu"), ("x", "flu a"), ("y", "\u00e9"), ("y", None)]
    assert not any(judged(rows, {"sensitive": ["ill"]}).values())


@pytest.mark.parametrize("ascii_only", [True, False])
def test_many_columns_are_looked_at_alike(ascii_only):
    """Twenty columns in several queries, each with its own number of spellings."""
    with empty_database() as connection:
        cells = ", ".join(
            f"CASE WHEN i < {n} THEN upper('v' || i // 2) ELSE 'v' || i // 2 END"
            f"{'' if ascii_only else ' || chr(233)'} AS c{n}"
            for n in range(20)
        )
        connection.execute(f"CREATE TABLE t AS SELECT {cells} FROM range(40) r(i)")
        notes = sqlanon.check(connection, Policy([f"c{n}" for n in range(20)]), table="t").notes
    found = {note.split("'")[1] for note in notes if "spellings (" in note}
    # Of two records alike, one is written in capitals where the number is odd.
    assert found == {f"c{n}" for n in range(1, 20, 2)}


def test_a_leaf_that_is_no_number_is_no_fault_of_a_column_of_numbers():
    connection = empty_database()
    connection.execute("CREATE TABLE people AS SELECT unnest([0.5, 0.5])::DOUBLE AS share")
    listed = Hierarchy.from_rows([("0.5", "half", "*"), ("?", "unknown", "*")])
    policy = Policy({"share": listed}, models=[KAnonymity(2)])
    assert sqlanon.plan(connection, policy, table="people").report.levels == {"share": 0}


def test_spellings_that_only_python_knows_end_at_the_time_limit():
    with empty_database() as connection, patch.object(spellings, "VALUES_PER_LOOK", 1):
        connection.execute("CREATE TABLE t AS SELECT chr(200 + i::INT) AS ill FROM range(50) r(i)")
        engine, table = DuckDB(connection), exp.to_table("t")
        ticks = itertools.count()
        with engine.limited(Deadline(30, ticks.__next__)), pytest.raises(TimeLimitError):
            spellings.spelling_findings(
                engine,
                table,
                columns={"ill": exp.DataType.build("TEXT")},
                roles={"entity": ["ill"]},
            )
