"""Advice: the role that a column is to have, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """What becomes of a column."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    KEEP = "keep"
    DROP = "drop"
    UNDECIDED = "undecided"


class Naming(Enum):
    """How a column says whose record it is."""

    NOT = "not at all"
    ASKED = "perhaps"
    NAMED = "by what names a person, or by a number of a case or an account"
    NUMBERED = "by the number of a person"


@dataclass(frozen=True, slots=True)
class Advice:
    """A role and why.

    Args:
        role: The role.
        reason: A sentence without its full stop, which holds no value of the table.
        naming: How the column says whose record it is, whether or not persons have several.
        is_entity: Whether persons have several records, and are counted by it.
    """

    role: Role
    reason: str
    naming: Naming = Naming.NOT
    is_entity: bool = False
