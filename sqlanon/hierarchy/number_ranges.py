"""Ranges of numbers: what a label such as `20-34`, `[0.0, 2.5)`, `<=21` or `>=69` says.

The one grammar of such labels. Queries that write them for each value put the same marks between
numbers (`HALF_OPEN`, `HYPHEN`, `TO`), and name open ends by `NumberRange.label`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

ALL = "not NULL"
"""The label of all numbers, where NULL is not among them."""

HALF_OPEN = ("[", ", ", ")")
"""What stands before, between and after the ends of a range without its upper end."""
HYPHEN, TO = "-", " to "
"""What stands between the ends of a range that holds both; the word beside a minus or a point."""

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_ONE = re.compile(_NUMBER)
_WHOLE = re.compile(f"([0-9]+){re.escape(HYPHEN)}([0-9]+)")
_CLOSED = re.compile(f"({_NUMBER}){re.escape(TO)}({_NUMBER})")
_HALF_OPEN = re.compile(f"({_NUMBER})".join(map(re.escape, HALF_OPEN)))
_BELOW = re.compile(f"<(=?)({_NUMBER})")
_ABOVE = re.compile(f">(=?)({_NUMBER})")


def is_number(text: str) -> bool:
    """Whether a value is written as a finite number."""
    return _ONE.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The numbers from one to another, as texts.

    Args:
        low: The least number, itself in the range; None where it is open below.
        high: Its upper end; None where it is open above.
        has_high: Whether the upper end is in it.
        has_low: Whether the lower end is in it; where it is not, it is open above.
    """

    low: str | None
    high: str | None
    has_high: bool = True
    has_low: bool = True

    @classmethod
    def read(cls, label: str) -> NumberRange | None:
        """The range that a label says; None where it says none.

        >>> NumberRange.read("-5 to 3")
        NumberRange(low='-5', high='3', has_high=True, has_low=True)
        """
        if label == ALL:
            return cls(None, None)
        if match := _WHOLE.fullmatch(label) or _CLOSED.fullmatch(label):
            return cls(match[1], match[2])
        if match := _HALF_OPEN.fullmatch(label):
            return cls(match[1], match[2], has_high=False)
        if match := _BELOW.fullmatch(label):
            return cls(None, match[2], has_high=bool(match[1]))
        match = _ABOVE.fullmatch(label)
        return cls(match[2], None, has_low=bool(match[1])) if match else None

    @classmethod
    def of_interval(cls, label: str) -> NumberRange | None:
        """The range of an interval's label, which is the number itself where it holds but one."""
        return cls(label, label) if is_number(label) else cls.read(label)

    @property
    def label(self) -> str:
        """The label that says this range.

        >>> NumberRange("0.0", "2.5", has_high=False).label, NumberRange(None, "21").label
        ('[0.0, 2.5)', '<=21')
        """
        if self.low is None:
            return ALL if self.high is None else f"<{'=' * self.has_high}{self.high}"
        if self.high is None:
            return f">{'=' * self.has_low}{self.low}"
        if not self.has_high:
            before, between, after = HALF_OPEN
            return f"{before}{self.low}{between}{self.high}{after}"
        between = HYPHEN if self.low.isdecimal() and self.high.isdecimal() else TO
        return f"{self.low}{between}{self.high}"

    def up_to(self, last: NumberRange) -> NumberRange:
        """From the lower end of this range to the upper end of another."""
        return replace(self, high=last.high, has_high=last.has_high)

    def places(self, numbers: Sequence[Decimal]) -> slice:
        """Where its numbers stand among ascending ones."""
        start, end = 0, len(numbers)
        if self.low is not None:
            start = (bisect_left if self.has_low else bisect_right)(numbers, Decimal(self.low))
        if self.high is not None:
            end = (bisect_right if self.has_high else bisect_left)(numbers, Decimal(self.high))
        return slice(start, end)
