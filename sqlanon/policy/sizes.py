"""Models of the sizes of classes, of single ones and of all together, and how models are compared.

k-anonymity is asked of each class. The others say of all classes together how large they, or the
classes by some of the columns, must be: no class satisfies or violates them by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from sqlanon.arguments import is_number, is_whole, plain_numbers
from sqlanon.errors import PolicyError
from sqlanon.wording import short


class Comparable:
    """Of two models of a kind one may imply the other, as their figures tell."""

    __slots__ = ()
    greater_is_stricter: ClassVar[tuple[str, ...]] = ()
    """Fields of which a greater figure asks for more; of other figures a smaller one does.

    A field that is a text is the same in both.
    """

    def implies(self, other: object) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return type(other) is type(self) and all(
            self._asks_as_much(name, getattr(other, name)) for name in self._names()
        )

    def _names(self) -> list[str]:
        return [slot.name for slot in fields(self)]  # type: ignore[arg-type]  # all are dataclasses

    def _asks_as_much(self, name: str, other: Any) -> bool:
        figure = getattr(self, name)
        if isinstance(figure, str | None) or other is None:
            return bool(figure == other)
        return bool(figure >= other if name in self.greater_is_stricter else figure <= other)


@dataclass(frozen=True, slots=True)
class KAnonymity(Comparable):
    """Every record shares its quasi-identifier values with at least k - 1 others.

    Args:
        k: Smallest class size allowed [records], at least 1; 1 protects nobody.

    Raises:
        PolicyError: k is no whole number of at least 1.

    Source: Sweeney 2002, "k-anonymity: a model for protecting privacy".
    """

    family: ClassVar[str] = "k"
    greater_is_stricter: ClassVar[tuple[str, ...]] = ("k",)
    k: int

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not is_whole(self.k):
            raise PolicyError(f"k is {self.k!r}; it must be a whole number of at least 1")

    def describe(self) -> str:
        """The model as a report names it."""
        return "k-anonymity"

    @property
    def superset_monotone(self) -> bool:
        """Whether a class that satisfies it still does when any records are added: it only grows.

        Persons of an entity column are no fewer either.
        """
        return True

    @property
    def union_closed(self) -> bool:
        """Whether the union of satisfying classes satisfies it: it is no smaller than either."""
        return True


Histogram = Mapping[int, int]
"""`{class size: number of classes of that size}` [records, classes]."""


def records_of(sizes: Histogram) -> int:
    """The records in classes of these sizes."""
    return sum(size * classes for size, classes in sizes.items())


@dataclass(frozen=True, slots=True)
class AverageRisk(Comparable):
    """The mean prosecutor risk of the published records is small.

    A record of a class of n records is found with a probability of 1 / n, so the mean over all
    published records is classes over records.

    Monotone: where classes are joined the records stay and the classes become no more, so a table
    that satisfies it still does. What is suppressed matters: see `fewest_left_out`.

    Persons are refused. Let A and B hold the same ten persons and C another one: 3 classes of 21
    members; A and B as one class make it 2 of 11, which is more.

    Args:
        risk: Greatest mean risk allowed, between 0 and 1, by its decimals as they are written: 1/3
            is 0.3333333333333333, which classes of three exceed; 0.334 allows them.

    Raises:
        PolicyError: The risk is out of range.

    Source: Dankar and El Emam 2010, "A method for evaluating marketer re-identification risk".
    """

    family: ClassVar[str] = "average_risk"
    risk: float

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not (is_number(self.risk) and 0 < self.risk < 1):
            raise PolicyError(f"average_risk is {self.risk!r}; it must be between 0 and 1")

    @property
    def threshold(self) -> float:
        """The greatest mean risk allowed."""
        return self.risk

    @property
    def sufficient_k(self) -> int:
        """The class size by which it surely holds: a mean is at most the greatest risk, 1 / k."""
        return math.ceil(1 / Fraction(str(self.risk)))

    def describe(self) -> str:
        """The model as a report names it."""
        return "average risk"

    def figure(self, sizes: Histogram) -> float:
        """The mean risk of the records; 0 of none."""
        return sum(sizes.values()) / max(records_of(sizes), 1)

    def holds(self, sizes: Histogram) -> bool:
        """Whether classes of these sizes satisfy it, exactly by the number that was written."""
        return self._excess(sizes) <= 0

    def fewest_left_out(self, sizes: Histogram) -> int:
        """Fewest records that have to be left out of these classes, and of all that they unite.

        Let a node below publish classes R that satisfy it. The classes here that hold any of R are
        no more than R and hold all of its records, so they satisfy it, too, and leave out no more.
        So nobody below leaves out fewer records than the best choice of classes here does. A class
        of n records adds 1 - r n to what is too much, (1 - r n) / n = 1 / n - r for each record: it
        is best to leave out the smallest classes first, and a part of a class counts as a part.
        """
        risk, left_out, excess = Fraction(str(self.risk)), Fraction(0), self._excess(sizes)
        for size in sorted(sizes):
            if excess <= 0:
                break
            classes = min(Fraction(sizes[size]), excess / (1 - risk * size))
            left_out += classes * size
            excess -= classes * (1 - risk * size)
        return math.ceil(left_out)

    def _excess(self, sizes: Histogram) -> Fraction:
        """By how many classes there are too many for the records."""
        return sum(sizes.values()) - Fraction(str(self.risk)) * records_of(sizes)


@dataclass(frozen=True, slots=True)
class ShareAtRisk(Comparable):
    """Few of the published records are at a high risk.

    The records of classes of n records with 1 / n above the risk are at most a share of all.

    Monotone: where classes are joined no record comes into a smaller class, so no more are at risk
    of as many records. Persons are refused: of twenty who are each in two large classes and one who
    is alone, 1 of 41 members is at risk, and 1 of 21 where the two classes are joined.

    Args:
        risk: Risk above which a record counts, between 0 and 1.
        share: Greatest share of such records allowed, at least 0 and below 1.

    Raises:
        PolicyError: The risk or the share is out of range.

    Source: El Emam and Dankar 2008, "Protecting privacy using k-anonymity" (risk of a record);
        ARX calls the figure records at risk.
    """

    family: ClassVar[str] = "share_at_risk"
    risk: float
    share: float

    def __post_init__(self) -> None:
        plain_numbers(self)
        faults = []
        if not (is_number(self.risk) and 0 < self.risk < 1):
            faults.append(f"risk of share_at_risk is {self.risk!r}; it must be between 0 and 1")
        if not (is_number(self.share) and 0 <= self.share < 1):
            faults.append(
                f"share of share_at_risk is {self.share!r}; it must be at least 0 and below 1"
            )
        if faults:
            raise PolicyError("; ".join(faults))

    @property
    def threshold(self) -> float:
        """The greatest share allowed."""
        return self.share

    @property
    def sufficient_k(self) -> int:
        """The class size from which on no record is at risk."""
        return math.ceil(1 / Fraction(str(self.risk)))

    def describe(self) -> str:
        """The model as a report names it.

        >>> ShareAtRisk(0.2, 0.01).describe()
        'share at risk above 0.2'
        """
        return f"share at risk above {short(self.risk)}"

    def figure(self, sizes: Histogram) -> float:
        """The share of the records that are at risk; 0 of none."""
        return self._at_risk(sizes) / max(records_of(sizes), 1)

    def holds(self, sizes: Histogram) -> bool:
        """Whether classes of these sizes satisfy it, exactly by the numbers that were written."""
        return self._at_risk(sizes) <= Fraction(str(self.share)) * records_of(sizes)

    def fewest_left_out(self, sizes: Histogram) -> int:
        """Fewest records that have to be left out of these classes, and of all that they unite.

        Of N records A are at risk here, and no fewer at a node below. Who leaves out x of them
        leaves A - x at risk at least, which must be at most S (N - x): x >= (A - S N) / (1 - S).
        """
        share = Fraction(str(self.share))
        too_many = self._at_risk(sizes) - share * records_of(sizes)
        return max(math.ceil(too_many / (1 - share)), 0)

    def _at_risk(self, sizes: Histogram) -> int:
        return records_of({size: n for size, n in sizes.items() if size < self.sufficient_k})


@dataclass(frozen=True, slots=True)
class SubsetAnonymity(Comparable):
    """Every combination of values of any m quasi-identifiers is shared by k records.

    For wide tables, where k on all columns leaves nothing: it protects against whoever knows no
    more than m of them. Fewer columns follow, since a combination of fewer is a union of such.

    Monotone, also with suppression: let a node below publish classes R that satisfy it. A
    combination of a class here that holds any of R is that of a record of R; the k records of R
    that share that one's combination there share this one here. So these classes satisfy it, and
    they leave out no more records. For the same reason the union of two sets of classes that
    satisfy it does, so that there is a greatest one: what is left once classes with a rare
    combination are suppressed in turn until none has.

    Persons are refused: whose records are counted would be asked for each combination.

    Args:
        subsets: m, how many quasi-identifiers are combined; at least 1.
        k: Fewest records that share a combination [records], at least 1.

    Raises:
        PolicyError: A figure is no whole number of at least 1.

    Source: Terrovitis, Mamoulis and Kalnis 2008, "Privacy-preserving anonymization of set-valued
        data" (k^m-anonymity), here of the columns of a table.
    """

    family: ClassVar[str] = "k_subsets"
    greater_is_stricter: ClassVar[tuple[str, ...]] = ("subsets", "k")
    subsets: int
    k: int

    def __post_init__(self) -> None:
        plain_numbers(self)
        faults = [
            f"{what} of k_subsets is {given!r}; it must be a whole number of at least 1"
            for what, given in (("the number of columns", self.subsets), ("k", self.k))
            if not is_whole(given)
        ]
        if faults:
            raise PolicyError("; ".join(faults))

    @property
    def threshold(self) -> int:
        """The fewest records that share a combination."""
        return self.k

    def describe(self) -> str:
        """The model as a report names it.

        >>> SubsetAnonymity(2, 5).describe()
        'k-anonymity of every 2 quasi-identifiers'
        """
        every = "quasi-identifier" if self.subsets == 1 else f"{self.subsets} quasi-identifiers"
        return f"k-anonymity of every {every}"


SizeModel = AverageRisk | ShareAtRisk
ClassModel = SizeModel | SubsetAnonymity


@dataclass(frozen=True, slots=True)
class Figure:
    """What a report says of the figure that a table has of a model.

    Args:
        names: The names of such models in reports, `*` standing for any figures.
        meaning: What such a model asks of classes, in a few words.
        text: What is said of a finite one, which takes the place of `{}`.
        unbounded: What is said of an infinite one; empty where there is none.
        asked: What is said between the name of the model and its threshold.
    """

    names: str = "*"
    meaning: str = ""
    text: str = "{}"
    unbounded: str = ""
    asked: str = ""


@dataclass(frozen=True, slots=True)
class TableFamily:
    """Models of no sensitive values that one key of a policy file and one option name.

    Args:
        build: The class of its models; its fields are what is written, with colons between them.
        written: What the command line takes.
        help: What its option asks for.
        reported: What reports say of its figures.
    """

    build: type[Any]
    written: str
    help: str
    reported: tuple[Figure, ...]

    @property
    def keys(self) -> list[str]:
        """Names of the fields, as a policy file writes them."""
        return [field.name for field in fields(self.build)]


CLASS_FAMILIES: Mapping[str, TableFamily] = {
    "average_risk": TableFamily(
        AverageRisk,
        "0.05",
        "Average risk: what the mean of 1 / class size over the published records may be at most, "
        "such as 0.05.",
        (
            Figure(
                "average risk*",
                "the mean risk of the published records, which is classes over records",
                "a mean risk of {}",
                asked="of at most ",
            ),
        ),
    ),
    "share_at_risk": TableFamily(
        ShareAtRisk,
        "RISK:SHARE, such as 0.2:0.01",
        "Share at risk: which share of the published records may have a risk (1 / class size) "
        "above another figure, such as 0.2:0.01 for one in a hundred above 0.2.",
        (
            Figure(
                "share at risk above *",
                "how many of the published records may be in smaller classes",
                "a share of {}",
                asked="of at most ",
            ),
        ),
    ),
    "k_subsets": TableFamily(
        SubsetAnonymity,
        "2 or 2:5",
        "k-anonymity of every M quasi-identifiers in place of all: each combination of their "
        "values is shared by k records, those of --k, or M:K. For wide tables.",
        (
            Figure(
                "k-anonymity of every *",
                "every combination of values of so many columns is shared by at least k records",
                asked="with k = ",
            ),
        ),
    ),
}
"""Models of all classes together by the key of a policy file."""


def least_size(models: Iterable[SizeModel], sizes: Histogram, *, k: int) -> int:
    """The least class size m, at least k, such that the classes of m records and more satisfy all.

    It is no more than what any model says to be sufficient: leaving out classes of the smallest
    size lowers the mean risk and the share at risk, or neither was above the threshold.

    >>> least_size([AverageRisk(0.3)], {1: 4, 2: 1, 8: 2}, k=1)
    2
    """
    left = {size: classes for size, classes in sorted(sizes.items()) if size >= k}
    for size in list(left):
        if all(model.holds(left) for model in models):
            break
        del left[size]
        k = size + 1
    return k
