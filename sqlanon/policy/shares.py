"""Shares: models that bound the share of every sensitive value in a class.

As in `privacy`, a class has c_v records with value v, n = sum c_v, p_v = c_v / n, and q_v is the
share of v in the table that is looked at.

A model that bounds the ratios p_v / q_v says the least and the greatest one, and whether that is
capped at 1 - ln q_v; all searches follow from these (`privacy.BY_RATIO`). The reference q is that
of the published table, so that it can be checked alone; the papers take the original.

With an entity column a person counts once for each value, so c_v and n are numbers of pairs of a
person and a value: whoever has several values counts for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from sqlanon.errors import PolicyError
from sqlanon.policy.forms import TOLERANCE, Form, choice_faults, is_number, plain_numbers, short

Likeness = Literal["basic", "enhanced"]
LIKENESSES: tuple[Likeness, ...] = get_args(Likeness)
_MOST_LOGARITHM = 700  # of what a DOUBLE holds; no table has so many records


@dataclass(frozen=True, slots=True)
class AlphaAnonymity:
    """No sensitive value has more than a share alpha of a class: max_v p_v <= alpha.

    Together with k-anonymity this is (alpha, k)-anonymity. Its source asks it of the values that
    are called sensitive; here every value of the column is one. A class without any value that
    counts satisfies it. With an entity column the shares are of pairs of a person and a value, so
    a person with several values counts for each, and two thirds of the persons may share a value
    that has half of the pairs.

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
        plain_numbers(self)
        if not (is_number(self.alpha) and 0 < self.alpha <= 1):
            raise PolicyError(f"alpha is {self.alpha!r}; it must be a number above 0 and at most 1")

    def describe(self) -> str:
        """The model as a report names it.

        >>> AlphaAnonymity(0.5).describe()
        '(0.5, k)-anonymity'
        """
        return f"({short(self.alpha)}, k)-anonymity"

    @property
    def threshold(self) -> float:
        """The bound of the greatest share."""
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


@dataclass(frozen=True, slots=True)
class BetaLikeness:
    """No value is much more frequent in a class than in the table.

    Of every value v with p_v > q_v, the gain (p_v - q_v) / q_v is

    - `basic`: at most beta.
    - `enhanced`: at most min(beta, -ln q_v), so that frequent values may gain less.

    What becomes less frequent tells nothing that is feared, so it is not bounded. The `enhanced`
    figure of pycanon is the greatest gain, capped at the greatest -ln q_v of all values, which
    does not tell whether each gain is within its own cap.

    Args:
        beta: Greatest gain allowed, above 0.
        kind: `basic` or `enhanced`.

    Raises:
        PolicyError: An unknown kind, or beta out of range.

    Source: Cao and Karras 2012, "Publishing microdata with a robust privacy guarantee",
        definitions 2 (basic) and 3 (enhanced).
    """

    family: ClassVar[str] = "beta_likeness"
    relative: ClassVar[bool] = True
    needs: ClassVar[str | None] = None
    least_values: ClassVar[float] = 0
    holds_without_values: ClassVar[bool] = True
    least_ratio: ClassVar[float] = 0.0
    beta: float
    kind: Likeness = "basic"

    def __post_init__(self) -> None:
        plain_numbers(self)
        faults = choice_faults("kind of beta-likeness", self.kind, choices=LIKENESSES)
        if not (is_number(self.beta) and self.beta > 0):
            faults.append(f"beta of beta-likeness is {self.beta!r}; it must be a number above 0")
        if faults:
            raise PolicyError("; ".join(faults))

    def describe(self) -> str:
        """The model as a report names it.

        >>> BetaLikeness(2, "enhanced").describe()
        'enhanced 2-likeness'
        """
        return f"{self.kind} {short(self.beta)}-likeness"

    @property
    def form(self) -> Form:
        """Family and kind."""
        return self.family, self.kind

    @property
    def threshold(self) -> float:
        """The bound of the greatest gain."""
        return self.beta

    @property
    def most_ratio(self) -> float:
        """The greatest p_v / q_v of any value."""
        return 1 + self.beta + TOLERANCE

    @property
    def capped(self) -> bool:
        """Whether p_v / q_v is at most 1 - ln q_v, too."""
        return self.kind == "enhanced"

    def implies(self, other: Any) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind.

        What is enhanced is basic, too.
        """
        return (
            isinstance(other, BetaLikeness)
            and self.kind in ("enhanced", other.kind)
            and self.beta <= other.beta
        )

    @property
    def superset_monotone(self) -> bool:
        """Whether a class that satisfies it still does when any records are added.

        It does not: in a table of as many a as b nothing gains in {a, b}, and with 98 more records
        of a that has 0.99 and gains 0.98.
        """
        return False

    @property
    def union_closed(self) -> bool:
        """Whether the union of satisfying classes satisfies it, the reference held fixed.

        Each p_v has an upper bound that depends on q_v alone, and the union's is a mean of theirs.
        With an entity column one person may be in several classes, which breaks it, as it does
        that of alpha.
        """
        return True

    def caution(self, column: str) -> str | None:
        """No beta is void for every table: a value that is rare enough gains more."""
        return None


@dataclass(frozen=True, slots=True)
class DeltaDisclosure:
    """All values are about as frequent in every class as in the table: |ln(p_v / q_v)| < delta.

    It is asked of every value of the table, so a class must have a record of each: where one is
    missing, p_v = 0 and no delta is enough. pycanon and ARX leave such values out, so their figures
    are finite where this one is not. The logarithm is natural, as pycanon's; that of ARX is to base
    2, so that its delta is ours over ln 2.

    The inequality is strict. No quotient of whole numbers is a power of e that it could equal;
    delta as a logarithm that was rounded is held to be met exactly within `TOLERANCE`.

    Args:
        delta: What logarithms of ratios stay below [nats], above 0.

    Raises:
        PolicyError: delta is out of range.

    Source: Brickell and Shmatikov 2008, "The cost of privacy: destruction of data-mining utility in
        anonymized data publishing", definition 4.
    """

    family: ClassVar[str] = "delta_disclosure"
    form: ClassVar[Form] = ("delta_disclosure",)
    relative: ClassVar[bool] = True
    needs: ClassVar[str | None] = None
    least_values: ClassVar[float] = 0
    holds_without_values: ClassVar[bool] = False
    capped: ClassVar[bool] = False
    delta: float

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not (is_number(self.delta) and 0 < self.delta <= _MOST_LOGARITHM):
            raise PolicyError(
                f"delta of delta-disclosure is {self.delta!r}; it must be a number above 0 and at "
                f"most {_MOST_LOGARITHM}"
            )

    def describe(self) -> str:
        """The model as a report names it.

        >>> DeltaDisclosure(1.5).describe()
        '1.5-disclosure privacy'
        """
        return f"{short(self.delta)}-disclosure privacy"

    @property
    def threshold(self) -> float:
        """The bound of the greatest logarithm."""
        return self.delta

    @property
    def least_ratio(self) -> float:
        """The least p_v / q_v of any value."""
        return 1 / self.most_ratio

    @property
    def most_ratio(self) -> float:
        """The greatest p_v / q_v of any value."""
        return math.exp(self.delta - TOLERANCE)

    def implies(self, other: Any) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return isinstance(other, DeltaDisclosure) and self.delta <= other.delta

    @property
    def superset_monotone(self) -> bool:
        """Whether a class that satisfies it still does when any records are added.

        It does not: in a table of as many a as b both logarithms of {a, b} are 0, and with 98 more
        records of a that of b is -ln 50.
        """
        return False

    @property
    def union_closed(self) -> bool:
        """Whether the union of satisfying classes satisfies it, the reference held fixed.

        Each p_v lies between bounds that depend on q_v alone, and the union's is a mean of theirs.
        With an entity column one person may be in several classes, which breaks it.
        """
        return True

    def caution(self, column: str) -> str | None:
        """No delta is void: a class that lacks a value never satisfies it."""
        return None
