"""What a release is together with earlier ones: the candidates left, and the models of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlanon.reports.check import ModelResult
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True)
class Intersection:
    """A new release beside an earlier one.

    Args:
        earlier: What the earlier one is called.
        by: The quasi-identifiers that both have.
        links: The other columns that both have, by which records are told apart.
        records: Records that may be in both, by their links.
        k: The fewest candidates that a record must have [records, or persons].
        candidates: The fewest that one has; None where none may be in both.
        values: Per sensitive column among the links the fewest values that are needed among the
            candidates, and that there are.
        failing: Records that have too few of either.
        classes: Classes of the new release that these are in.
    """

    earlier: str
    by: tuple[str, ...]
    links: tuple[str, ...]
    records: int
    k: int
    candidates: int | None
    values: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    failing: int = 0
    classes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """An entry of `against` in the document of a release."""
        return {
            "earlier": self.earlier,
            "quasi_identifiers": list(self.by),
            "links": list(self.links),
            "records": self.records,
            "candidates": self.candidates,
            "values": {name: count for name, (_, count) in self.values.items()},
        }

    def text(self) -> str:
        """What there is and what is asked, for a reader."""
        parts = [f"{self.candidates} where k is {self.k}"]
        parts += [
            f"{count} values of {name!r} where {least} are needed"
            for name, (least, count) in self.values.items()
            if least and count is not None
        ]
        return f"at least {', '.join(parts)}"

    def to_line(self) -> str:
        """A line of a page."""
        text = self.text() if self.records else "no record may be in both"
        return f"beside {self.earlier!r} each record has candidates left: {text}"


@dataclass(frozen=True, slots=True)
class Together:
    """A release and what was released before by the same plan, judged as one table.

    Args:
        records: Records that were released before.
        releases: A digest of each earlier release, of the columns that are judged, sorted.
        models: The policy's models on all of it.
    """

    records: int
    releases: tuple[str, ...]
    models: tuple[ModelResult, ...]

    @property
    def note(self) -> str:
        """What a reader of the models must know."""
        before = counted(self.records, "record")
        return f"the models hold together with {before} released before, not by themselves"

    def to_dict(self) -> dict[str, Any]:
        """`together` of a manifest."""
        return {
            "records": self.records,
            "releases": list(self.releases),
            "models": [result.to_dict() for result in self.models],
        }
