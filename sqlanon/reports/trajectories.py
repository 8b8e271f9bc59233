"""Trajectories in figures: how many persons have the same records, all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlanon.classes import RISK_THRESHOLD, ClassStatistics
from sqlanon.wording import counted, part_of, percent

OF_TRAJECTORIES = " of trajectories"
"""What follows the name of a model that is asked of persons by all their records."""


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Persons of a table whose records can be joined, by how many have the same.

    A trajectory is the bag of combinations of quasi-identifiers that a person's records have.

    Args:
        entity: The column of the table that says whose record it is.
        sharing: Trajectories by the number of persons who share each.
    """

    entity: str
    sharing: ClassStatistics

    def to_dict(self, threshold: float = RISK_THRESHOLD) -> dict[str, Any]:
        """The key `trajectories` of the JSON documents."""
        return {
            "entity": self.entity,
            "persons": self.sharing.members,
            "trajectories": self.sharing.classes,
            "k": self.sharing.smallest,
            "unique_persons": self.sharing.unique,
            "risk_max": self.sharing.highest_risk,
            "risk_mean": self.sharing.mean_risk,
            "persons_at_risk": self.sharing.at_risk(threshold),
        }

    @property
    def unique_text(self) -> str:
        """For a reader: persons who are alone with their records."""
        alone = part_of(self.sharing.unique, self.sharing.members)
        return f"{alone} by all their records together"

    def to_lines(self, threshold: float) -> list[str]:
        """For a reader."""
        sharing = self.sharing
        return [
            f"  trajectories    {counted(sharing.classes, 'set')} of records of "
            f"{counted(sharing.members, 'person')}, since {self.entity!r} joins them: each "
            f"shared by at least {sharing.smallest:,}",
            f"                  risk highest {percent(sharing.highest_risk)}, mean "
            f"{percent(sharing.mean_risk)}; {counted(sharing.at_risk(threshold), 'person')} above "
            f"{percent(threshold)}",
        ]

    def notes(self) -> list[str]:
        """What a reader should know besides."""
        return [
            f"{self.entity!r} is in the table and joins the records of a person, so persons are "
            "counted by all their records together, too (trajectories); every other figure is "
            f"about single records, which is all that can be known once {self.entity!r} is dropped "
            f"(--drop {self.entity} when the table is published)"
        ]
