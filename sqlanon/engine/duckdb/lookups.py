"""What has been looked up in a transaction of our own, in which nobody else changes it.

What tables there are and what columns they have is asked a dozen times a plan, and what a plan asks
of a small table is nearly all planning: statements count, not rows. Nobody changes the answers but
a function of the caller, so what must tell a change has the engine forget them first
(`Engine.forget`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.engine.duckdb.catalog import Catalog
from sqlanon.sqltext import Statement

Types = dict[str, exp.DataType]


@dataclass(slots=True)
class Lookups:
    """The tables of a connection and their columns, as long as they are known to stay.

    Args:
        are_kept: Whether anything is kept; else all is looked up anew.
    """

    are_kept: bool = False
    _catalog: Catalog | None = None
    _columns: dict[tuple[str, ...], Types] = field(default_factory=dict)

    def catalog(self, look_up: Callable[[], Catalog]) -> Catalog:
        """Every table and view, looked up by the function where that is not known."""
        found = look_up() if self._catalog is None else self._catalog
        self._catalog = found if self.are_kept else None
        return found

    def columns(self, table: exp.Table, look_up: Callable[[], Types]) -> Types:
        """The columns of a table, looked up by the function where they are not known."""
        name = tuple(part.name for part in table.parts)
        found = self._columns[name] if name in self._columns else look_up()
        if self.are_kept:
            self._columns[name] = found
        return dict(found)

    def forget(self) -> None:
        """Whatever is asked next is looked up anew."""
        self._catalog = None
        self._columns.clear()

    def keep(self, are_kept: bool) -> None:
        """From here on, what is looked up is kept, or nothing is."""
        self.forget()
        self.are_kept = are_kept

    def after(self, statement: Statement) -> None:
        """Forgets what a statement may have changed: our temporary tables have names of their own.

        What is made under such a name is never looked for in the catalog.
        """
        if not (isinstance(statement, exp.Insert) or _is_temporary(statement)):
            self.forget()


def _is_temporary(statement: Statement) -> bool:
    """Whether a statement makes a temporary table, or a view."""
    properties = statement.args.get("properties") if isinstance(statement, exp.Create) else None
    return properties is not None and any(
        isinstance(each, exp.TemporaryProperty) for each in properties.expressions
    )
