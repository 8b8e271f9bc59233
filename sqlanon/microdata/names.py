"""Names of a source: its tables and columns, as far as they are told without reading records."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.errors import SqlanonError
from sqlanon.microdata.opening import opened_for
from sqlanon.microdata.stored_hierarchies import open_database
from sqlanon.policy.policy import Policy

OWN = "_sqlanon_"
"""What tables begin with that are sqlanon's own."""


class _KnownError(SqlanonError):
    """Ends the opening of a source, whose columns are known before it is loaded."""


def column_names(source: str, table: str | None) -> list[str]:
    """The columns of a table.

    Args:
        source: A path to a database or to a file of data.
        table: The table; None where the source holds only one.

    Raises:
        SqlanonError: The source cannot be opened, or there is no such table.
    """
    seen: list[str] = []

    def policy(columns: Sequence[str]) -> Policy:
        seen.extend(columns)
        raise _KnownError

    try:
        with opened_for(source, table, policy, read_only=True):
            pass
    except _KnownError:
        pass
    return seen


def table_names(source: str) -> list[str]:
    """The tables and views of a database, in the order of their names.

    Raises:
        SqlanonError: The source is no database, or cannot be opened.
    """
    name = exp.column("table_name")
    query = exp.select(name).from_(exp.table_("tables", db="information_schema")).order_by(name)
    with open_database(source, read_only=True) as engine:
        names = [str(found) for (found,) in engine.rows(query)]
    return [found for found in dict.fromkeys(names) if not found.startswith(OWN)]
