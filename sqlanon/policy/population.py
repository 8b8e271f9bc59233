"""Models of a population: they compare classes with the people that the records were drawn from.

A class of the population is all of its people whose quasi-identifiers are generalized to the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlanon.arguments import is_number, is_whole, plain_numbers
from sqlanon.errors import PolicyError
from sqlanon.policy.sizes import Comparable, Figure, TableFamily
from sqlanon.wording import short


@dataclass(frozen=True, slots=True)
class KMap(Comparable):
    """Every class has k people or more in the population, generalized alike.

    A class of one record is fine where k people of the population have its generalized values: who
    looks for a person does not know who is in the table. People added to a class never break it,
    and a union of classes has the people of both.

    Args:
        k: Fewest people allowed, at least 1; 1 protects nobody.

    Raises:
        PolicyError: k is no whole number of at least 1.

    Source: Sweeney 2002, "Achieving k-anonymity privacy protection using generalization and
        suppression"; El Emam and Dankar 2008, "Protecting privacy using k-anonymity".
    """

    family: ClassVar[str] = "k_map"
    greater_is_stricter: ClassVar[tuple[str, ...]] = ("k",)
    superset_monotone: ClassVar[bool] = True
    forbids_suppression: ClassVar[bool] = False
    k: int

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not is_whole(self.k):
            raise PolicyError(f"k of k-map is {self.k!r}; it must be a whole number of at least 1")

    def describe(self) -> str:
        """The model as a message names it."""
        return f"{self.k}-map"

    def caution(self) -> str | None:
        """Says where every class of a part of the population satisfies it."""
        return None if self.k > 1 else "k-map of 1 protects nobody: everybody is in the population"


@dataclass(frozen=True, slots=True)
class DeltaPresence(Comparable):
    """Of every class of the population a share between two bounds is published.

    With n records published of the p people whose quasi-identifiers are generalized to the same,
    least <= n / p <= most, also where n is 0: who knows somebody's quasi-identifiers cannot tell
    with more certainty than that whether the person is in the table, or is not.

    The share of a union is a mean of those of its classes, weighted by their people, so it is
    between the bounds where all of these are. Records that are added can break it. A class that is
    suppressed leaves its people without any record: that satisfies every `most`, and breaks every
    `least` above 0. With such a one nothing may be suppressed, whatever the limit.

    Args:
        least: Least share of a class of the population that is published, in [0, 1].
        most: Greatest one, in (0, 1], not below it.

    Raises:
        PolicyError: The shares are out of range.

    Source: Nergiz, Atzori and Clifton 2007, "Hiding the presence of individuals from shared
        databases", definition 2 and theorem 1.
    """

    family: ClassVar[str] = "delta_presence"
    greater_is_stricter: ClassVar[tuple[str, ...]] = ("least",)
    superset_monotone: ClassVar[bool] = False
    least: float
    most: float

    def __post_init__(self) -> None:
        plain_numbers(self)
        known = is_number(self.least) and is_number(self.most)
        if not (known and 0 <= self.least <= self.most <= 1 and self.most):
            raise PolicyError(
                f"delta-presence is from {self.least!r} to {self.most!r}; these must be shares "
                "between 0 and 1, the second above 0 and not below the first, such as 0.1:0.5"
            )

    def describe(self) -> str:
        """The model as a message names it.

        >>> DeltaPresence(0.1, 0.5).describe()
        '(0.1, 0.5)-presence'
        """
        return f"({short(self.least)}, {short(self.most)})-presence"

    def caution(self) -> str | None:
        """Says where no share can be too great."""
        if self.most < 1:
            return None
        return (
            "delta-presence up to 1 does not hide who is in the table: all people of a class may be"
        )

    @property
    def forbids_suppression(self) -> bool:
        """Whether no class of records can be left out."""
        return self.least > 0


PopulationModel = KMap | DeltaPresence
AT_LEAST, AT_MOST = "delta-presence at least", "delta-presence at most"
"""The two results of delta-presence in reports."""
POPULATION_FAMILIES: Mapping[str, TableFamily] = {
    "k_map": TableFamily(
        KMap,
        "5",
        "k-map: how many people of the population have the labels of a class at least. A class may "
        "then have a single record.",
        (Figure("k-map*", "every class has at least k members in the population"),),
    ),
    "delta_presence": TableFamily(
        DeltaPresence,
        "LEAST:MOST, such as 0.1:0.5",
        "delta-presence: the least and the greatest share of every class of the population that is "
        "published, such as 0:0.5.",
        (
            Figure(f"{AT_LEAST}*", "least share of a class of the population that is in the table"),
            Figure(
                f"{AT_MOST}*", "greatest share of a class of the population that is in the table"
            ),
        ),
    ),
}
"""Models of a population by the key of a policy file."""
