"""Privacy models: what every equivalence class of a published table must satisfy.

A class has c_v records with value v of a sensitive attribute, n = sum c_v and p_v = c_v / n. The
reference of t-closeness is the distribution q_v over all records of the table that is looked at.
NULL is a value of its own unless the policy says otherwise. With an entity column a person counts
once for each value, so c_v is a number of persons. Shares of (alpha, k)-anonymity, beta-likeness
and delta-disclosure are of persons, too: n is then the number of those with any value, in q_v, too.
Entropy, recursive diversity and t-closeness look at distributions, which add up to one: for these n
stays the number of pairs of a person and a value.

A model of a sensitive attribute says of itself, with a proof or a counterexample:

- `form`: its family and kind, by which every layer that must tell models apart keeps one table
  (`ByForm`): `query.privacy.models`, `search.privacy`, `search.patterns` and
  `methods.fulldomain.model_checks`.
- `superset_monotone`, `union_closed`: what adding records and joining classes does to it.
- `relative`: whether it refers to the distribution of the table, which suppression changes.
- `needs`: an `order` or a `hierarchy` of the values, where it refers to one.
- `least_values`: how many values every class needs; no class has more than the table.
- `holds_without_values`: whether a class satisfies it that has no value which counts.

A model that bounds the ratios p_v / q_v says the least and the greatest one (`least_ratio`,
`most_ratio`), and whether that is `capped` at 1 - ln q_v; all searches follow from these
(`BY_RATIO`). The reference q is that of the published table, so that it can be checked alone; the
papers take the original.

`FAMILIES` says how models are written, asked for and reported; a size of classes, as k-anonymity,
is no model of values, and neither is a `PopulationModel`, which compares a class with the people of
the population whose quasi-identifiers are generalized to the same. Some models say of all classes
together how large they must be (`TABLE_FAMILIES`): no class satisfies or violates them by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar, get_args

from sqlanon.arguments import plain
from sqlanon.errors import PolicyError
from sqlanon.wording import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Form = tuple[str, ...]
"""A family and, where it has several, a kind."""
TOLERANCE = 1e-12
"""Rounding that comparisons of entropies and distances with a threshold allow."""
Kind = Literal["distinct", "entropy", "recursive"]
Likeness = Literal["basic", "enhanced"]
Distance = Literal["equal", "ordered", "hierarchical", "kl", "scaled", "scaled-literal"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LIKENESSES: tuple[Likeness, ...] = get_args(Likeness)
DISTANCES: tuple[Distance, ...] = get_args(Distance)
BOUNDED: tuple[Distance, ...] = ("equal", "ordered", "hierarchical")
"""Distances that are at most 1: Earth Mover's Distance, whatever its ground distance."""
BY_ORDER: tuple[Distance, ...] = ("ordered", "scaled", "scaled-literal")
"""Distances that need an order of the values."""
MOST_LOGARITHM = 700
"""Greatest delta [nats]: what a DOUBLE holds e to; no table has so many records."""


def choice_faults(what: str, value: object, *, choices: Sequence[str]) -> list[str]:
    """The fault of a value that must be one of several, if any."""
    if value in choices:
        return []
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    return [f"{what} is {value!r}; it must be one of {', '.join(choices)}{hint}"]


def plain_numbers(made: DataclassInstance) -> None:
    """Makes numbers of other libraries, such as numpy, Python's own in fields of a dataclass."""
    for each in fields(made):
        object.__setattr__(made, each.name, plain(getattr(made, each.name)))


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, float) and math.isfinite(value)


def is_whole(value: object) -> bool:
    """Whether it is a whole number of at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def short(number: float) -> str:
    """A number for people: no more digits than were meant."""
    return str(number) if isinstance(number, int) else f"{number:.12g}"


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """Every record shares its quasi-identifier values with at least k - 1 others.

    Args:
        k: Smallest class size allowed [records], at least 1; 1 protects nobody.

    Raises:
        PolicyError: k is no whole number of at least 1.

    Source: Sweeney 2002, "k-anonymity: a model for protecting privacy".
    """

    family: ClassVar[str] = "k"
    k: int

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not is_whole(self.k):
            raise PolicyError(f"k is {self.k!r}; it must be a whole number of at least 1")

    def describe(self) -> str:
        """The model as a report names it."""
        return "k-anonymity"

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return isinstance(other, KAnonymity) and self.k >= other.k

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


@dataclass(frozen=True, slots=True)
class AverageRisk:
    """The mean prosecutor risk of the published records is small.

    A record of a class of n records is found with a probability of 1 / n, so the mean over all
    published records is classes over records.

    Monotone: where classes are joined the records stay and the classes become no more, so a table
    that satisfies it still does. What is suppressed matters: see `fewest_left_out`.

    Persons are refused. Let A and B hold the same ten persons and C another one: 3 classes of 21
    members; A and B as one class make it 2 of 11, which is more.

    Args:
        risk: Greatest mean risk allowed, between 0 and 1.

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

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return isinstance(other, AverageRisk) and self.risk <= other.risk

    def figure(self, sizes: Histogram) -> float:
        """The mean risk of the records; 0 of none."""
        records = sum(size * classes for size, classes in sizes.items())
        return sum(sizes.values()) / records if records else 0.0

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
        records = sum(size * classes for size, classes in sizes.items())
        return sum(sizes.values()) - Fraction(str(self.risk)) * records


@dataclass(frozen=True, slots=True)
class ShareAtRisk:
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

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return (
            isinstance(other, ShareAtRisk) and self.risk <= other.risk and self.share <= other.share
        )

    def figure(self, sizes: Histogram) -> float:
        """The share of the records that are at risk; 0 of none."""
        at_risk, records = self._counts(sizes)
        return at_risk / records if records else 0.0

    def holds(self, sizes: Histogram) -> bool:
        """Whether classes of these sizes satisfy it, exactly by the numbers that were written."""
        at_risk, records = self._counts(sizes)
        return at_risk <= Fraction(str(self.share)) * records

    def fewest_left_out(self, sizes: Histogram) -> int:
        """Fewest records that have to be left out of these classes, and of all that they unite.

        Of N records A are at risk here, and no fewer at a node below. Who leaves out x of them
        leaves A - x at risk at least, which must be at most S (N - x): x >= (A - S N) / (1 - S).
        """
        at_risk, records = self._counts(sizes)
        share = Fraction(str(self.share))
        return max(math.ceil((at_risk - share * records) / (1 - share)), 0)

    def _counts(self, sizes: Histogram) -> tuple[int, int]:
        """Records at risk, and all."""
        pairs = [(size, size * classes) for size, classes in sizes.items()]
        at_risk = sum(records for size, records in pairs if size < self.sufficient_k)
        return at_risk, sum(records for _, records in pairs)


@dataclass(frozen=True, slots=True)
class SubsetAnonymity:
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

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return (
            isinstance(other, SubsetAnonymity)
            and self.subsets >= other.subsets
            and self.k >= other.k
        )


class _OfValues:
    """What models of a sensitive attribute say of themselves, unless they say otherwise.

    Their first field is the threshold, the second the kind.
    """

    __slots__ = ()
    family: ClassVar[str]
    relative: ClassVar[bool] = True
    holds_without_values: ClassVar[bool] = True

    @property
    def form(self) -> Form:
        """Family and kind."""
        return self.family, *(getattr(self, name) for name in self._names()[1:2])

    @property
    def threshold(self) -> float:
        """The bound of a figure of the classes."""
        bound: float = getattr(self, self._names()[0])
        return bound

    @property
    def needs(self) -> str | None:
        """`order` or `hierarchy` of the values, where it refers to one."""
        return None

    @property
    def least_values(self) -> float:
        """How many values every class needs."""
        return 0

    @property
    def superset_monotone(self) -> bool:
        """Whether a class that satisfies it still does when any records are added."""
        return False

    @property
    def union_closed(self) -> bool:
        """Whether the union of satisfying classes satisfies it, the reference held fixed.

        As far as they share no record: with an entity column one person may be in several classes,
        which breaks all but distinct l-diversity. A model that says so needs a proof.
        """
        return False

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return (
            isinstance(other, _OfValues)
            and self.form == other.form
            and self.threshold <= other.threshold
        )

    def caution(self, column: str) -> str | None:
        """Says where every class satisfies it; None where no threshold is void for every table."""
        return None

    def _names(self) -> list[str]:
        return [each.name for each in fields(self)]  # type: ignore[arg-type]  # all are dataclasses


@dataclass(frozen=True, slots=True)
class LDiversity(_OfValues):
    """The values of a sensitive attribute are well represented in every class.

    With counts c_v of the class's values, r_1 >= r_2 >= ... >= r_m the same in descending order:

    - `distinct`: at least l values have c_v > 0.
    - `entropy`: H = -sum p_v ln p_v >= ln l.
    - `recursive`: r_1 < c (r_l + r_(l+1) + ... + r_m).

    A class without any value that counts has none of them, for any l.

    Args:
        l: How diverse; a whole number of at least 1, for entropy any number of at least 1. With
            1, distinct and entropy protect nobody.
        kind: `distinct`, `entropy` or `recursive`.
        c: Factor of recursive diversity, above 0; belongs to it alone.

    Raises:
        PolicyError: An unknown kind, or a figure out of range.

    Source: Machanavajjhala et al. 2007, "l-diversity: privacy beyond k-anonymity", definitions
        4.1 (entropy) and 4.2 (recursive).
    """

    family: ClassVar[str] = "l"
    relative: ClassVar[bool] = False
    holds_without_values: ClassVar[bool] = False
    l: int | float  # noqa: E741
    kind: Kind = "distinct"
    c: float | None = None

    def __post_init__(self) -> None:
        plain_numbers(self)
        kind_faults = choice_faults("kind of l-diversity", self.kind, choices=KINDS)
        if faults := kind_faults or self._figure_faults():
            raise PolicyError("; ".join(faults))

    def _figure_faults(self) -> list[str]:
        faults = []
        is_real = self.kind == "entropy" and is_number(self.l) and self.l >= 1
        if not (is_real or is_whole(self.l)):
            kind = "number" if self.kind == "entropy" else "whole number"
            faults.append(
                f"l of {self.kind} l-diversity is {self.l!r}; it must be a {kind} of at least 1"
            )
        if self.kind != "recursive" and self.c is not None:
            faults.append(f"c belongs to recursive l-diversity; leave it out of {self.kind}")
        elif self.kind == "recursive" and self.c is None:
            faults.append(
                "recursive l-diversity needs c, such as c = 2 (on the command line recursive:c:l)"
            )
        elif self.c is not None and not (is_number(self.c) and self.c > 0):
            faults.append(f"c of recursive l-diversity is {self.c!r}; it must be a number above 0")
        return faults

    def describe(self) -> str:
        """The model as a report names it.

        >>> LDiversity(3, "recursive", c=2.0).describe()
        'recursive (2, 3)-diversity'
        """
        if self.c is not None:
            return f"recursive ({short(self.c)}, {short(self.l)})-diversity"
        return f"{self.kind} {short(self.l)}-diversity"

    @property
    def threshold(self) -> float:
        """The bound of a figure of the classes: l, or c of recursive diversity."""
        return self.l if self.c is None else self.c

    @property
    def least_values(self) -> float:
        """Every kind asks for l values: m values have entropy ln m at most, r_l has to be there."""
        return self.l

    def caution(self, column: str) -> str | None:
        """Says where every class with a value satisfies it."""
        if self.l > 1 or (self.c is not None and self.c <= 1):
            return None
        return f"{self.describe()} does not protect {column!r}: a class may hold a single value"

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind.

        A greater l leaves a shorter tail r_l + ... + r_m, and a smaller c less of it.
        """
        return (
            isinstance(other, LDiversity)
            and self.kind == other.kind
            and self.l >= other.l
            and (self.c or 0) <= (other.c or 0)
        )

    @property
    def superset_monotone(self) -> bool:
        """Whether a class that satisfies it still does when any records are added.

        Distinct: no value goes away. Not the others: {a, b} has entropy ln 2, and with 98 more
        records of value a only 0.056; r_1 = 1 < 2 r_2 = 2, but then 99 > 2.
        """
        return self.kind == "distinct"

    @property
    def union_closed(self) -> bool:
        """Whether the union of satisfying classes satisfies it, as far as they share no record.

        Distinct: the union has the values of both. Entropy: its distribution is a mixture of
        theirs, and H is concave. Recursive: r_1 of the union is at most the sum of theirs, and
        its tail, the least number of records outside any l - 1 values, is at least the sum of
        their tails. With an entity column one person may be in several classes, which breaks the
        last two.
        """
        return True


@dataclass(frozen=True, slots=True)
class TCloseness(_OfValues):
    """The distribution P of a sensitive attribute in every class is within t of the table's, Q.

    With m values present in the table:

    - `equal`: Earth Mover's Distance (EMD) where all values are 1 apart, 1/2 sum |p_v - q_v|.
    - `ordered`: EMD where values i, j of their order are |i - j| / (m - 1) apart,
      1/(m-1) sum_(i<m) |sum_(j<=i) (p_j - q_j)|; 0 where m = 1.
    - `hierarchical`: EMD where values are apart by the level of their lowest common node over the
      hierarchy's height H, 1/(2H) sum over nodes below the top of |P(node) - Q(node)|: the ground
      distance is that of a tree whose edges are 1/(2H) long.
    - `kl`: Kullback-Leibler divergence, sum p_v ln(p_v / q_v) [nats].
    - `scaled`: r_i = (p_i - q_i) |ln(p_i / q_i)|, then 1/(m-1) sum_(i<=m) |sum_(j<=i) r_j| in the
      values' order, m terms and natural logarithms as in its source's worked example.
    - `scaled-literal`: the same with r_i = (p_i - q_i) ln(p_i / q_i), as its source's formula is
      written; no r_i is negative, so that nothing cancels in the sums.

    In the scaled ones a value that is not in the class has r_i = 0, since they have no finite
    limit there: a class can look closer by missing a value than by nearly missing it.

    Records that are added can break it: {a, b} in a table of as many a as b is at distance 0, and
    with 98 more records of value a at 0.49 (equal).

    Args:
        t: Greatest distance allowed; at least 0, and at most 1 where the distance is.
        distance: One of the names above.

    Raises:
        PolicyError: An unknown distance, or t out of range.

    Source: Li, Li and Venkatasubramanian 2007, "t-closeness: privacy beyond k-anonymity and
        l-diversity" (the first three); Khaitan, Babu, Jena and Majhi, section III.B (the
        scaled ones).
    """

    family: ClassVar[str] = "t"
    t: float
    distance: Distance = "equal"

    def __post_init__(self) -> None:
        plain_numbers(self)
        if faults := choice_faults("distance of t-closeness", self.distance, choices=DISTANCES):
            raise PolicyError("; ".join(faults))
        top = 1 if self.distance in BOUNDED else math.inf
        if not (is_number(self.t) and 0 <= self.t <= top):
            allowed = "a number between 0 and 1" if top == 1 else "a number of at least 0"
            raise PolicyError(
                f"t of {self.distance} t-closeness is {self.t!r}; it must be {allowed}"
            )

    def describe(self) -> str:
        """The model as a report names it.

        >>> TCloseness(0.2, "ordered").describe()
        '0.2-closeness (ordered)'
        """
        return f"{short(self.t)}-closeness ({self.distance})"

    @property
    def needs(self) -> str | None:
        """`order` or `hierarchy` of the values, which the distance refers to."""
        if self.distance in BY_ORDER:
            return "order"
        return "hierarchy" if self.distance == "hierarchical" else None

    def caution(self, column: str) -> str | None:
        """Says where every class satisfies it."""
        if self.distance not in BOUNDED or self.t < 1:
            return None
        return f"t = 1 does not protect {column!r}: no {self.distance} distance is above 1"

    @property
    def union_closed(self) -> bool:
        """Whether the union of satisfying classes satisfies it, the reference held fixed.

        The union's distribution is a mixture of theirs, and the first three (norms of P - Q) and
        `kl` are convex in P. The scaled ones are not: with Q uniform over a and b, nine records of
        a are at 0.693 and {a, b} at 0, but their union at 0.697 (scaled-literal: 1.187).
        With an entity column one person may be in several classes, which breaks it for all.
        """
        return self.distance not in ("scaled", "scaled-literal")


@dataclass(frozen=True, slots=True)
class AlphaAnonymity(_OfValues):
    """No sensitive value has more than a share alpha of a class: max_v p_v <= alpha.

    Together with k-anonymity this is (alpha, k)-anonymity. Its source asks it of the values that
    are called sensitive; here every value of the column is one. A class without any value that
    counts satisfies it. With an entity column p_v is the share of the persons with any value that
    counts who have v, so the shares of a class may add up to more than 1.

    Records that are added can break it: of {a, b} each value has a half, and with 98 more records
    of a that has 0.99. The shares of a union are means of those of its classes, weighted by their
    sizes, so none is above the greatest. With an entity column, {1: a, 2: b} and {3: a, 2: b} have
    halves, but their union has two persons with a and one with b.

    Args:
        alpha: Greatest share allowed, above 0; 1 protects nobody.

    Raises:
        PolicyError: alpha is out of range.

    Source: Wong, Li, Fu and Wang 2006, "(alpha, k)-anonymity: an enhanced k-anonymity model for
        privacy-preserving data publishing", definitions 2 and 3.
    """

    family: ClassVar[str] = "alpha"
    union_closed: ClassVar[bool] = True
    relative: ClassVar[bool] = False
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

    def caution(self, column: str) -> str | None:
        """Says where every class satisfies it."""
        if self.alpha < 1:
            return None
        return f"alpha = 1 does not protect {column!r}: a class may hold a single value"


@dataclass(frozen=True, slots=True)
class BetaLikeness(_OfValues):
    """No value is much more frequent in a class than in the table.

    Of every value v with p_v > q_v, the gain (p_v - q_v) / q_v is

    - `basic`: at most beta.
    - `enhanced`: at most min(beta, -ln q_v), so that frequent values may gain less.

    What becomes less frequent tells nothing that is feared, so it is not bounded. The `enhanced`
    figure of pycanon is the greatest gain, capped at the greatest -ln q_v of all values, which
    does not tell whether each gain is within its own cap.

    Records that are added can break it: in a table of as many a as b nothing gains in {a, b}, and
    with 98 more records of a that has 0.99 and gains 0.98. Each p_v has an upper bound that depends
    on q_v alone, and a union's is a mean of those of its classes. No beta is void for every table:
    a value that is rare enough gains more.

    Args:
        beta: Greatest gain allowed, above 0.
        kind: `basic` or `enhanced`.

    Raises:
        PolicyError: An unknown kind, or beta out of range.

    Source: Cao and Karras 2012, "Publishing microdata with a robust privacy guarantee",
        definitions 2 (basic) and 3 (enhanced).
    """

    family: ClassVar[str] = "beta_likeness"
    union_closed: ClassVar[bool] = True
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
    def most_ratio(self) -> float:
        """The greatest p_v / q_v of any value."""
        return 1 + self.beta + TOLERANCE

    @property
    def capped(self) -> bool:
        """Whether p_v / q_v is at most 1 - ln q_v, too."""
        return self.kind == "enhanced"

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind.

        What is enhanced is basic, too.
        """
        return (
            isinstance(other, BetaLikeness)
            and self.kind in ("enhanced", other.kind)
            and self.beta <= other.beta
        )


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(_OfValues):
    """All values are about as frequent in every class as in the table: |ln(p_v / q_v)| < delta.

    It is asked of every value of the table, so a class must have a record of each: where one is
    missing, p_v = 0 and no delta is enough. pycanon and ARX leave such values out, so their figures
    are finite where this one is not. The logarithm is natural, as pycanon's; that of ARX is to base
    2, so that its delta is ours over ln 2.

    The inequality is strict. No quotient of whole numbers is a power of e that it could equal;
    delta as a logarithm that was rounded is held to be met exactly within `TOLERANCE`.

    Records that are added can break it: in a table of as many a as b both logarithms of {a, b} are
    0, and with 98 more records of a that of b is -ln 50. Each p_v lies between bounds that depend
    on q_v alone, and a union's is a mean of those of its classes. No delta is void: a class that
    lacks a value never satisfies it.

    Args:
        delta: What logarithms of ratios stay below [nats], above 0.

    Raises:
        PolicyError: delta is out of range.

    Source: Brickell and Shmatikov 2008, "The cost of privacy: destruction of data-mining utility in
        anonymized data publishing", definition 4.
    """

    family: ClassVar[str] = "delta_disclosure"
    union_closed: ClassVar[bool] = True
    holds_without_values: ClassVar[bool] = False
    capped: ClassVar[bool] = False
    delta: float

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not (is_number(self.delta) and 0 < self.delta <= MOST_LOGARITHM):
            raise PolicyError(
                f"delta of delta-disclosure is {self.delta!r}; it must be a number above 0 and at "
                f"most {MOST_LOGARITHM}"
            )

    def describe(self) -> str:
        """The model as a report names it.

        >>> DeltaDisclosure(1.5).describe()
        '1.5-disclosure privacy'
        """
        return f"{short(self.delta)}-disclosure privacy"

    @property
    def least_ratio(self) -> float:
        """The least p_v / q_v of any value."""
        return 1 / self.most_ratio

    @property
    def most_ratio(self) -> float:
        """The greatest p_v / q_v of any value."""
        return math.exp(self.delta - TOLERANCE)


@dataclass(frozen=True, slots=True)
class KMap:
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

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return isinstance(other, KMap) and self.k >= other.k

    def caution(self) -> str | None:
        """Says where every class of a part of the population satisfies it."""
        return None if self.k > 1 else "k-map of 1 protects nobody: everybody is in the population"

    @property
    def written(self) -> int:
        """As a policy file writes it."""
        return self.k


@dataclass(frozen=True, slots=True)
class DeltaPresence:
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

    def implies(self, other: Model) -> bool:
        """Whether every table that satisfies this model satisfies the other, of the same kind."""
        return (
            isinstance(other, DeltaPresence)
            and self.least >= other.least
            and self.most <= other.most
        )

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

    @property
    def written(self) -> dict[str, float]:
        """As a policy file writes it."""
        return {"least": self.least, "most": self.most}


ValueModel = LDiversity | TCloseness | AlphaAnonymity | BetaLikeness | DeltaDisclosure
PopulationModel = KMap | DeltaPresence
SizeModel = AverageRisk | ShareAtRisk
TableModel = SizeModel | SubsetAnonymity
Model = KAnonymity | PopulationModel | TableModel | ValueModel
AnyModel = TypeVar("AnyModel", bound=Model)
Row = TypeVar("Row")


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
class Family:
    """Models of sensitive values that one key of a policy file and one option of a command name.

    Args:
        title: What a reader calls it.
        build: The class of its models: its first field is the threshold, the second the kind.
        written: What the command line takes.
        help: What its option asks for.
        key: Type and meaning of its key among the figures of a sensitive column in JSON documents;
            empty where these have keys of their own.
        kinds: The kinds, the first one where none is said; none where there is only one.
        figures: By kind the fields that it takes besides; they stand before the threshold.
        reported: Figures that reports say more of than the number.
    """

    title: str
    build: type[ValueModel]
    written: str
    help: str
    key: str = ""
    kinds: tuple[str, ...] = ()
    figures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reported: tuple[Figure, ...] = ()

    @property
    def keys(self) -> list[str]:
        """Names of the fields beside the threshold, as a policy file writes them."""
        return [each.name for each in fields(self.build)[1:]]


_MORE_FREQUENT = "how much more frequent a value may be in a class"
_CLASS_SIZE = Figure("k-anonymity*", "every class has at least k members")
AT_LEAST, AT_MOST = "delta-presence at least", "delta-presence at most"
"""The two results of delta-presence in reports."""
_OF_POPULATION = (
    Figure("k-map*", "every class has at least k members in the population"),
    Figure(f"{AT_LEAST}*", "least share of a class of the population that is in the table"),
    Figure(f"{AT_MOST}*", "greatest share of a class of the population that is in the table"),
)
POPULATION_FAMILIES: Mapping[str, type[PopulationModel]] = {
    each.family: each for each in (KMap, DeltaPresence)
}
"""Models of a population by the key of a policy file."""
FAMILIES: Mapping[str, Family] = {
    "l": Family(
        "l-diversity",
        LDiversity,
        "3, entropy:3 or recursive:C:L",
        "l-diversity: how different the values within a class must be, for every sensitive "
        "column or the one named: 3 (distinct values), entropy:3 or recursive:C:L.",
        kinds=KINDS,
        figures={"recursive": ("c",)},
        reported=(
            Figure("distinct *-diversity*", "different sensitive values in a class"),
            Figure("entropy *-diversity*", "how evenly a class holds sensitive values"),
            Figure(
                "recursive (*)-diversity*",
                "how frequent a class's most frequent value may be",
                "a ratio r_1 / (r_l + ... + r_m) of up to {}, which c must exceed",
                "classes of fewer than l values, for which it fails for every c",
            ),
        ),
    ),
    "t": Family(
        "t-closeness",
        TCloseness,
        "0.2 or ordered:0.2",
        "t-closeness: how far the values of a class may deviate from those of the whole table, "
        "for every sensitive column or the one named: 0.2 (all values equally far apart), "
        "ordered:0.2, hierarchical:0.2, kl:0.2, scaled:0.2 or scaled-literal:0.2.",
        kinds=DISTANCES,
        reported=(
            Figure("*-closeness*", "how far the values of a class may be from those of the table"),
        ),
    ),
    "alpha": Family(
        "(alpha, k)-anonymity",
        AlphaAnonymity,
        "0.5",
        "(alpha, k)-anonymity: the greatest share of a class that one value may have, such as "
        "0.5, for every sensitive column or the one named.",
        "share greatest share of a value in a class",
        reported=(
            Figure("(*, k)-anonymity*", "greatest share of a class that one value may have"),
        ),
    ),
    "beta_likeness": Family(
        "beta-likeness",
        BetaLikeness,
        "2 or enhanced:2",
        "beta-likeness: how much more frequent a value may be in a class than in the table, 2 or "
        "enhanced:2, for every sensitive column or the one named.",
        "number? the β that holds; null where none does",
        LIKENESSES,
        reported=(
            Figure("basic *-likeness*", _MORE_FREQUENT),
            Figure(
                "enhanced *-likeness*",
                _MORE_FREQUENT,
                unbounded="a value that is more than 1 - ln q times as frequent in a class as in "
                "the table, where its share is q, so that it fails for every beta",
            ),
        ),
    ),
    "delta_disclosure": Family(
        "delta-disclosure privacy",
        DeltaDisclosure,
        "1.5",
        "delta-disclosure privacy: what |ln(p / q)| must stay below for every value, p being its "
        "share of a class and q of the table, such as 1.5; for every sensitive column or the one "
        "named.",
        "number? the δ that holds; null where none does",
        reported=(
            Figure(
                "*-disclosure privacy*",
                "how much more or less frequent a value may be in a class",
                unbounded="classes that lack some value of the table, so that it fails for every "
                "delta",
            ),
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class TableFamily:
    """Models of all classes together that one key of a policy file and one option name.

    Args:
        build: The class of its models; its fields are what is written, with colons between them.
        written: What the command line takes.
        help: What its option asks for.
        reported: What reports say of the figure.
    """

    build: type[AverageRisk] | type[ShareAtRisk] | type[SubsetAnonymity]
    written: str
    help: str
    reported: Figure

    @property
    def keys(self) -> list[str]:
        """Names of the fields, as a policy file writes them."""
        return [each.name for each in fields(self.build)]


TABLE_FAMILIES: Mapping[str, TableFamily] = {
    "average_risk": TableFamily(
        AverageRisk,
        "0.05",
        "Average risk: what the mean of 1 / class size over the published records may be at most, "
        "such as 0.05.",
        Figure(
            "average risk*",
            "the mean risk of the published records, which is classes over records",
            "a mean risk of {}",
            asked="of at most ",
        ),
    ),
    "share_at_risk": TableFamily(
        ShareAtRisk,
        "RISK:SHARE, such as 0.2:0.01",
        "Share at risk: which share of the published records may have a risk (1 / class size) "
        "above another figure, such as 0.2:0.01 for one in a hundred above 0.2.",
        Figure(
            "share at risk above *",
            "how many of the published records may be in smaller classes",
            "a share of {}",
            asked="of at most ",
        ),
    ),
    "k_subsets": TableFamily(
        SubsetAnonymity,
        "2 or 2:5",
        "k-anonymity of every M quasi-identifiers in place of all: each combination of their "
        "values is shared by k records, those of --k, or M:K. For wide tables.",
        Figure(
            "k-anonymity of every *",
            "every combination of values of so many columns is shared by at least k records",
        ),
    ),
}
FORMS: tuple[Form, ...] = tuple(
    (key, kind) if kind else (key,)
    for key, family in FAMILIES.items()
    for kind in family.kinds or ("",)
)
BY_RATIO = tuple(form for form in FORMS if hasattr(FAMILIES[form[0]].build, "most_ratio"))
"""Models that bound what the share of a value in a class may be of its share in the table."""


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


def figure_of(model: str) -> Figure:
    """What a report says of the figure of a model, by the name that it has in reports."""
    tables = [family.reported for family in TABLE_FAMILIES.values()]
    values = [each for family in FAMILIES.values() for each in family.reported]
    every = [*tables, _CLASS_SIZE, *_OF_POPULATION, *values]
    return next((each for each in every if fnmatchcase(model, each.names)), Figure())


@dataclass(frozen=True, slots=True)
class ByForm(Generic[Row]):
    """A layer's one table of privacy models of sensitive values.

    Args:
        layer: What it says of them.
        rows: A row per form; no form stands for another.
    """

    layer: str
    rows: Mapping[Form, Row]

    def of(self, model: ValueModel) -> Row:
        """The row of a model.

        Raises:
            LookupError: The table has none.
        """
        if model.form not in self.rows:
            raise LookupError(f"{self.layer}: nothing is said of {model.describe()}")
        return self.rows[model.form]


_ORDER = (KAnonymity.family, *POPULATION_FAMILIES, *TABLE_FAMILIES, *FAMILIES)


def strictest(models: Iterable[AnyModel]) -> tuple[AnyModel, ...]:
    """The models that no other one implies, k first, else in the order of families and their own.

    >>> strictest([LDiversity(2), KAnonymity(3), LDiversity(4)])
    (KAnonymity(k=3), LDiversity(l=4, kind='distinct', c=None))
    """
    kept: list[AnyModel] = []
    for model in models:
        if not any(other.implies(model) for other in kept):
            kept = [other for other in kept if not model.implies(other)] + [model]
    return tuple(sorted(kept, key=lambda model: _ORDER.index(model.family)))
