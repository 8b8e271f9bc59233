"""Roles: a single quasi-identifier or sensitive column in a policy."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from sqlanon.arguments import is_number, plain_numbers
from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.policy.privacy import FAMILIES, ValueModel, strictest
from sqlanon.wording import counted, listed

_CLASS_MEAN = re.compile(r"(mean|median)(?::(\d{1,9}(?:\.\d{1,9})?))?")
Nulls = Literal["value", "none"]


@dataclass(frozen=True, slots=True)
class ClassMean:
    """What is published of a column of numbers in place of its label: a figure of each class.

    Args:
        figure: `mean`, or `median`.
        step: What figures are rounded to multiples of; None for 1, of whole numbers alone.
    """

    figure: str
    step: Decimal | None

    @classmethod
    def read(cls, text: object) -> ClassMean:
        """Reads `mean`, `median`, or one of these with a step, such as `mean:0.5`.

        Raises:
            PolicyError: The text is none of these.
        """
        match = _CLASS_MEAN.fullmatch(text) if isinstance(text, str) else None
        step = None if match is None or match[2] is None else Decimal(match[2])
        if match is None or step == 0:
            raise PolicyError(
                f"class_mean {text!r} must be mean or median, with a step above 0 of at most nine "
                "places where figures are rounded to one, such as mean:0.5"
            )
        return cls(match[1], step)

    @property
    def rounded_to(self) -> Decimal:
        """What figures are rounded to multiples of."""
        return Decimal(1) if self.step is None else self.step

    @property
    def places(self) -> int:
        """Decimal places of what is published."""
        exponent = self.rounded_to.as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 0

    @property
    def most(self) -> Decimal:
        """Numbers from here on have figures that are not exact, or fit no cell.

        A double holds 10^15 steps apart, and a cell is a decimal of 18 digits.
        """
        return min(10**15 * self.rounded_to, Decimal(10) ** (18 - self.places))


@dataclass(frozen=True, slots=True)
class QuasiIdentifier:
    """A column that others may know a person by, and how it may be generalized.

    Args:
        hierarchy: The tree over its values.
        weight: How much its cells count in losses that add up over cells; above 0.
        min_level: Lowest level that may be published; 0 is the original value.
        max_level: Highest level that may be published; None for the top.
        order: The values as texts, for schemes that merge neighbours; None stands for NULL, which
            comes last where it is not listed. Left out, numbers have their own order and the values
            of a file that of its rows.
        class_mean: `mean` or `median`, of a column of numbers: what is published of each class in
            place of the label, NULL of fewer than k numbers. It is rounded to a whole number, or to
            multiples of a step behind it (`mean:0.5`), which fractions need.

    Raises:
        PolicyError: A weight or a level out of range, or an order that names a value twice.
    """

    hierarchy: Hierarchy
    weight: float = 1.0
    min_level: int = 0
    max_level: int | None = None
    order: Sequence[str | None] | None = None
    class_mean: str | None = None

    def __post_init__(self) -> None:
        plain_numbers(self)
        if self.class_mean is not None:
            ClassMean.read(self.class_mean)
        if not isinstance(self.hierarchy, Hierarchy):
            raise PolicyError("hierarchy of a quasi-identifier must be a Hierarchy")
        if not (is_number(self.weight) and self.weight > 0):
            raise PolicyError(f"weight {self.weight!r} is not a number above 0")
        for bound in (self.min_level, 0 if self.max_level is None else self.max_level):
            if isinstance(bound, bool) or not isinstance(bound, int) or bound < 0:
                raise PolicyError(f"level {bound!r} is not a whole number of at least 0")
        if self.max_level is not None and self.max_level < self.min_level:
            raise PolicyError(f"min_level {self.min_level} is above max_level {self.max_level}")
        if faults := list(_order_faults(self.order)):
            raise PolicyError("; ".join(faults))
        object.__setattr__(self, "order", None if self.order is None else tuple(self.order))


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A column whose link to a person must stay unknown, and how its values are told apart.

    Args:
        models: Its own, k-anonymity aside; they replace the policy's of the same family.
        hierarchy: The tree over its values, for the hierarchical distance; the order of its
            leaves is that of the ordered one.
        order: The values as texts, lowest first, for the ordered distance; None stands for NULL,
            which comes last where it is not listed.
        nulls: `value` takes NULL for a value like any other; `none` leaves records with NULL out
            of the column's distribution, not out of the size of their class.

    Raises:
        PolicyError: An argument of another kind, or an order that names a value twice.
    """

    models: Sequence[ValueModel] = ()
    hierarchy: Hierarchy | None = None
    order: Sequence[str | None] | None = None
    nulls: Nulls = "value"

    def __post_init__(self) -> None:
        faults = self._faults()
        if faults:
            raise PolicyError("; ".join(faults))
        object.__setattr__(self, "models", strictest(self.models))
        object.__setattr__(self, "order", None if self.order is None else tuple(self.order))

    def _faults(self) -> list[str]:
        faults = []
        if not all_of(self.models, ValueModel):
            titles = listed([family.title for family in FAMILIES.values()])
            faults.append(
                f"models of a sensitive column must be a list of {titles}, such as [LDiversity(3)]"
            )
        if not isinstance(self.hierarchy, Hierarchy | None):
            faults.append("hierarchy of a sensitive column must be a Hierarchy")
        faults += _order_faults(self.order)
        if self.nulls not in ("value", "none"):
            faults.append(f"nulls is {self.nulls!r}; it must be 'value' or 'none'")
        return faults


def _order_faults(order: Sequence[str | None] | None) -> Iterator[str]:
    """Faults of an order of a column's values."""
    if order is None:
        return
    if not (isinstance(order, Sequence) and all_of(order, str | None) and order):
        yield "order must be a list of values as texts, lowest first"
    elif again := len(order) - len(set(order)):
        yield f"order repeats {counted(again, 'value', more='values')}; keep one each"


@dataclass(frozen=True, slots=True)
class Demand:
    """A privacy model of one sensitive column."""

    column: str
    model: ValueModel


def all_of(value: object, kinds: Any) -> bool:
    """Whether it is a collection, no text, of these kinds alone."""
    return (
        isinstance(value, Collection)
        and not isinstance(value, str | bytes)
        and all(isinstance(item, kinds) for item in value)
    )
