"""What is suggested for one column of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.hierarchy.value_labels import level_labels
from sqlanon.query.syntax import column
from sqlanon.suggestion.advice import Role


@dataclass(frozen=True, slots=True)
class ColumnSuggestion:
    """What is suggested for one column.

    Args:
        name: The column.
        type: The name of its type.
        role: Its role.
        reason: Why, without a value of the table.
        hierarchy: How it may be generalized, where it is a quasi-identifier.
        remark: What is to be said of the hierarchy.
        file: The hierarchy file that is to be filled in, beside the policy; None for none.
        figures: `values`, `uniqueness` and `nulls`, the latter two as shares.
        is_entity: Whether it says whose record it is.
        is_asked: Whether it may do so, which only the user can tell.
        l: How many different values each class is to hold at least, of a sensitive column; None
            where that is not suggested.
        kind: Its type; None where it is not known.
    """

    name: str
    type: str
    role: Role
    reason: str
    hierarchy: Hierarchy | None = None
    remark: str = ""
    file: str | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    is_entity: bool = False
    is_asked: bool = False
    l: int | None = None  # noqa: E741  the model's own name
    kind: exp.DataType | None = field(default=None, compare=False, repr=False)

    @property
    def form(self) -> dict[str, object]:
        """The hierarchy as the policy file names it."""
        if self.file is not None:
            return {"file": self.file}
        if self.hierarchy is None or self.hierarchy.kind == "suppression":
            return {}
        return self.hierarchy.to_dict()

    @property
    def spec(self) -> str:
        """The hierarchy as the command line names it; empty for no quasi-identifier."""
        if self.hierarchy is None:
            return ""
        (kind, value), *options = [*self.form.items()] or [("suppress", True)]
        parts = [] if value is True else value if isinstance(value, list) else [value]
        separator = ";" if kind in ("sql", "expressions") else ","
        named = "".join(f";{key}={option}" for key, option in options)
        kind = "sql" if kind == "expressions" else kind
        return f"{kind}{':' if parts else ''}{separator.join(map(str, parts))}{named}"

    def refuse_unfit(self, hierarchy: Hierarchy) -> None:
        """Refuses a hierarchy that the type of the column does not take.

        Raises:
            HierarchyError: As the rule says.
        """
        if self.kind is not None and hierarchy.rows is None and hierarchy.kind != "table":
            level_labels(hierarchy, column(self.name), column_type=self.kind)

    def described(self) -> str:
        """The hierarchy in a few words; empty for no quasi-identifier."""
        if self.hierarchy is None:
            return ""
        if self.file is not None:
            return f"{self.file}, to be filled in"
        return self.hierarchy.describe()

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `columns` in the JSON document."""
        held: dict[str, Any] = {"role": self.role.value, "reason": self.reason, "type": self.type}
        if self.is_entity:
            held["entity"] = True
        if self.l is not None:
            held["l"] = self.l
        if self.hierarchy is not None:
            held["hierarchy"] = self.form if self.form else {"suppress": True}
            held["remark"] = self.remark
        return held | {"figures": dict(self.figures)}
