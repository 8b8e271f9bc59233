"""What a SQL expression of a hierarchy may be made of."""

import pytest
from databases import empty_database
from sqlglot import exp
from test_labels import fault

from sqlanon.engine.duckdb.syntax import type_of
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.hierarchy.value_labels import level_labels

CONNECTION = empty_database()
COLUMN = exp.column("age", quoted=True)


def test_expressions_know_the_column_by_another_name():
    (label, _) = level_labels(
        Hierarchy.expressions("upper(city)"),
        exp.column("value", quoted=True),
        column_type=type_of("VARCHAR"),
        name="city",
    )
    assert (
        label.sql()
        == 'CASE WHEN "value" IS NULL THEN NULL ELSE CAST(UPPER("value") AS VARCHAR) END'
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 +", "level 1 is no SQL expression"),
        ("'open", "no SQL expression"),
        ("value; DROP TABLE people", "no SQL expression"),
        ("DROP TABLE people", "no SQL expression"),
        ("SET threads = 1", "no SQL expression"),
        ("value AS other", "no SQL expression"),
        ("(SELECT max(age) FROM people)", "has a subquery"),
        ("SELECT 1", "has a subquery"),
        ("EXISTS (SELECT 1)", "has a subquery"),
        ("value IN (SELECT 1)", "has a subquery"),
        ("max(value)", "has an aggregate"),
        ("any_value(value)", "has an aggregate"),
        ("row_number() OVER ()", "has a window"),
        ("count(*)", "has a star"),
        ("*", "has a star"),
        ("COLUMNS('.*')", "has a star"),
        ("?", "has a parameter"),
        ("$1", "has a parameter"),
        ("unnest([1, 2])", "has a function that makes rows"),
        ("random()", "has a function whose result changes"),
        ("now()", "has a function whose result changes"),
        ("income + zip", "has 2 references to other columns (income, zip)"),
        ("people.value", "has 1 reference to other columns (people.value)"),
    ],
)
def test_expressions_over_more_than_the_value_are_refused(text, expected):
    assert expected in fault(Hierarchy.expressions(text), "INTEGER")


def functions_of_duckdb(condition):
    query = f"SELECT DISTINCT function_name FROM duckdb_functions() WHERE {condition}"
    return [name for (name,) in CONNECTION.execute(query).fetchall() if name.isidentifier()]


def test_every_aggregate_of_duckdb_is_refused():
    for name in functions_of_duckdb("function_type = 'aggregate'"):
        for values in ("value", "value, value", "value, value, 1"):
            text = fault(Hierarchy.expressions(f"{name}({values})"), "INTEGER")
            assert "has an aggregate" in text or "no SQL expression" in text


def test_every_scalar_of_duckdb_that_can_change_is_refused():
    """Those that can for instants alone change with the time zone, and are refused for that."""
    changing = "function_type = 'scalar' AND stability <> 'CONSISTENT'"
    constant = functions_of_duckdb("function_type = 'scalar' AND stability = 'CONSISTENT'")
    for name in sorted(set(functions_of_duckdb(changing)) - set(constant)):
        text = fault(Hierarchy.expressions(f"{name}()"), "INTEGER")
        refused = ("whose result changes", "no SQL expression", "session's time zone")
        assert any(words in text for words in refused), name


def test_every_macro_of_duckdb_that_calls_one_is_refused():
    changing = "function_type = 'macro' AND regexp_matches(macro_definition, 'current_|random')"
    for name in functions_of_duckdb(f"internal AND {changing}"):
        text = fault(Hierarchy.expressions(f"{name}(value)"), "INTEGER")
        assert "whose result changes" in text or "no SQL expression" in text


def test_faults_of_all_expressions_come_at_once():
    with pytest.raises(HierarchyError) as caught:
        level_labels(
            Hierarchy.expressions("1 +", "max(zip)"), COLUMN, column_type=type_of("INTEGER")
        )
    assert len(caught.value.faults) == 3
