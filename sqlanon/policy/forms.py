"""Forms: what tells privacy models of sensitive values apart, and a layer's table of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Form = tuple[str, ...]
"""A family and, where it has several, a kind."""
Row = TypeVar("Row")


class Formed(Protocol):
    """A privacy model."""

    @property
    def form(self) -> Form:
        """Family and kind."""

    def describe(self) -> str:
        """The model as a report names it."""


@dataclass(frozen=True, slots=True)
class ByForm(Generic[Row]):
    """A layer's one table of privacy models of sensitive values.

    Args:
        layer: What it says of them.
        rows: A row per form; no form stands for another.
    """

    layer: str
    rows: Mapping[Form, Row]

    def of(self, model: Formed) -> Row:
        """The row of a model.

        Raises:
            LookupError: The table has none.
        """
        if model.form not in self.rows:
            raise LookupError(f"{self.layer}: nothing is said of {model.describe()}")
        return self.rows[model.form]
