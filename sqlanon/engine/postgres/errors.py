"""PostgreSQL's errors as sqlanon's: by their class alone, since their messages quote values."""

from __future__ import annotations

from sqlanon.errors import EngineError, SourceError, SqlanonError

# The first code of SQLSTATE that an error's begins with says what to raise. SourceError is about
# the user's tables.
_REASONS: tuple[tuple[str, type[SqlanonError], str], ...] = (
    ("42P01", SourceError, "there is no such table, or it is gone"),
    ("3F000", SourceError, "there is no such schema"),
    ("42703", SourceError, "there is no such column"),
    ("42501", SourceError, "the role of the connection lacks the right to do that; GRANT it"),
    ("42P07", SourceError, "a table of that name is there already"),
    ("2BP01", SourceError, "views or other objects depend on it"),
    ("42809", SourceError, "it is no table"),
    ("25006", SourceError, "the connection is read-only, and working tables are to be made"),
    ("25P02", EngineError, "the open transaction has failed already; roll it back first"),
    ("40", EngineError, "another transaction is in its way; try again"),
    ("53100", EngineError, "a disk of the server is full"),
    ("53200", EngineError, "the server has too little memory"),
    ("53300", EngineError, "the server has too many connections"),
    ("53400", EngineError, "a limit that is configured on the server was reached"),
    ("55P03", EngineError, "another transaction holds a lock; try again"),
    ("57014", EngineError, "the server, or somebody at it, cancelled the statement"),
    ("57P", EngineError, "the server is shutting down or starting"),
    ("08", EngineError, "the connection to the server was lost"),
    ("28", SourceError, "the server does not let that user in with that password"),
    ("3D000", SourceError, "there is no such database"),
    ("42P2", EngineError, "texts of different collations meet"),
    ("42P38", EngineError, "texts of different collations meet"),
    (
        "42883",
        EngineError,
        "values of a type such as json, xml or money cannot be compared; cast them to text in a "
        "view, or leave them out",
    ),
    ("22021", EngineError, "a text holds a character that the database cannot store"),
    ("22P05", EngineError, "a text holds a character that the database cannot store"),
    ("22", EngineError, "a value does not fit what is done with it"),
    ("0A000", EngineError, "PostgreSQL lacks a feature that it needs"),
    ("42601", EngineError, "the statement is not valid"),
)


def fault(error: Exception, action: str) -> SqlanonError:
    """The error to raise for one of PostgreSQL's.

    Args:
        error: What psycopg raised. Only its class and its SQLSTATE are looked at.
        action: What was tried, in our words, without a value of the table.
    """
    state: str | None = getattr(error, "sqlstate", None)
    shown = f"{type(error).__name__}, SQLSTATE {state}" if state else type(error).__name__
    for code, raised, reason in _REASONS:
        if state is not None and state.startswith(code):
            return raised(f"PostgreSQL could not {action}: {reason} ({shown})")
    return EngineError(f"PostgreSQL could not {action} ({shown})")
