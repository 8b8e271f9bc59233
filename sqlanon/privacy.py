"""Privacy models: what every equivalence class of a published table must satisfy."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.errors import PolicyError


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """Every record shares its quasi-identifier values with at least k - 1 others.

    Args:
        k: Smallest class size allowed [records], at least 1; 1 protects nobody.

    Raises:
        PolicyError: k is no whole number of at least 1.

    Source: Sweeney 2002, "k-anonymity: a model for protecting privacy".
    """

    k: int

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise PolicyError(f"k is {self.k!r}; it must be a whole number of at least 1")

    def describe(self) -> str:
        """The model as a report names it."""
        return "k-anonymity"
