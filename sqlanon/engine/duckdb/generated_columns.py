"""Generated columns of tables, which hold no values of their own and cannot be written."""

from __future__ import annotations

from collections.abc import Iterator

import sqlglot
from sqlglot import TokenType, exp

from sqlanon.engine.base import Engine
from sqlanon.engine.duckdb.capabilities import TELLS_GENERATED
from sqlanon.engine.duckdb.catalog import entries

_GENERATED = ["GENERATED", "ALWAYS", "AS"]
_QUOTED = {TokenType.STRING, TokenType.IDENTIFIER}


def generated_columns(engine: Engine, database: str) -> set[tuple[str, str, str]]:
    """Schema, table and name of every generated column of a database."""
    place = "schema_name", "table_name"
    if TELLS_GENERATED:
        query = entries("duckdb_columns", (*place, "column_name"), database=database)
        return set(engine.rows(query.where(exp.column("is_generated"))))
    return {
        (schema, table, name)
        for schema, table, text in engine.rows(
            entries("duckdb_tables", (*place, "sql"), database=database)
        )
        for name in generated_in(text)
    }


def generated_in(definition: str) -> Iterator[str]:
    """The generated columns of a table by its CREATE TABLE, as DuckDB writes it.

    >>> list(generated_in('CREATE TABLE t(x INTEGER, "y z" INTEGER GENERATED ALWAYS AS((x + 1)));'))
    ['y z']
    """
    for name, *others in _parts(definition):
        words = [token.text.upper() for token in others if token.token_type not in _QUOTED]
        if any(words[at : at + 3] == _GENERATED for at in range(len(words))):
            yield name.text


def _parts(definition: str) -> list[list[sqlglot.Token]]:
    """The tokens of each column and constraint, without those in deeper parentheses.

    These are parts of a type, a default or an expression.
    """
    depth, parts = 0, list[list[sqlglot.Token]]([[]])
    for token in sqlglot.tokenize(definition, read="duckdb"):
        depth -= token.token_type == TokenType.R_PAREN
        if depth == 1 and token.token_type == TokenType.COMMA:
            parts.append([])
        elif depth == 1:
            parts[-1].append(token)
        depth += token.token_type == TokenType.L_PAREN
    return parts
