"""Shares: models that bound the share of every sensitive value in a class.

As in `privacy`, a class has c_v records with value v, n = sum c_v, and p_v = c_v / n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sqlanon.errors import PolicyError
from sqlanon.policy.forms import Form
from sqlanon.policy.thresholds import is_number, short


@dataclass(frozen=True, slots=True)
class AlphaAnonymity:
    """No sensitive value has more than a share alpha of a class: max_v p_v <= alpha.

    Together with k-anonymity this is (alpha, k)-anonymity. Its source asks it of the values that
    are called sensitive; here every value of the column is one. A class without any value that
    counts satisfies it.

    Args:
        alpha: Greatest share allowed, above 0; 1 protects nobody.

    Raises:
        PolicyError: alpha is out of range.

    Source: Wong, Li, Fu and Wang 2006, "(alpha, k)-anonymity: an enhanced k-anonymity model for
        privacy-preserving data publishing", definitions 2 and 3.
    """

    family: ClassVar[str] = "alpha"
    form: ClassVar[Form] = ("alpha",)
    relative: ClassVar[bool] = False
    needs: ClassVar[str | None] = None
    least_values: ClassVar[float] = 0
    holds_without_values: ClassVar[bool] = True
    alpha: float

    def __post_init__(self) -> None:
        if not (is_number(self.alpha) and 0 < self.alpha <= 1):
            raise PolicyError(f"alpha is {self.alpha!r}; it must be above 0 and at most 1")

    def describe(self) -> str:
        """The model as a report names it.

        >>> AlphaAnonymity(0.5).describe()
        '(0.5, k)-anonymity'
        """
        return f"({short(self.alpha)}, k)-anonymity"

    @property
    def threshold(self) -> float:
        """What is compared with the greatest share."""
        return self.alpha

    def implies(self, other: Any) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return isinstance(other, AlphaAnonymity) and self.alpha <= other.alpha

    @property
    def superset_monotone(self) -> bool:
        """Whether a class that satisfies it still does when any records are added.

        It does not: of {a, b} each value has a half, and with 98 more records of a that has 0.99.
        """
        return False

    @property
    def union_closed(self) -> bool:
        """Whether the union of satisfying classes satisfies it, as far as they share no record.

        Its shares are means of theirs, weighted by their sizes, so none is above the greatest.
        With an entity column one person may be in several classes: {1: a, 2: b} and {3: a, 2: b}
        have halves, but their union has two persons with a and one with b.
        """
        return True

    def caution(self, column: str) -> str | None:
        """Says where every class satisfies it."""
        if self.alpha < 1:
            return None
        return f"alpha = 1 does not protect {column!r}: a class may hold a single value"
