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

`FAMILIES` says how models are written, asked for and reported, `TABLE_FAMILIES` says it of those
that look at no values: at sizes of classes (`policy.sizes`), or a population (`policy.population`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import ClassVar, Generic, Literal, TypeVar, get_args

from sqlanon.arguments import is_number, is_whole, plain_numbers
from sqlanon.errors import PolicyError
from sqlanon.policy.population import POPULATION_FAMILIES, PopulationModel
from sqlanon.policy.sizes import (
    CLASS_FAMILIES,
    ClassModel,
    Comparable,
    Figure,
    KAnonymity,
    TableFamily,
)
from sqlanon.wording import did_you_mean, short

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


class _OfValues(Comparable):
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

    def caution(self, column: str) -> str | None:
        """Says where every class satisfies it; None where no threshold is void for every table."""
        return None


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
    # A greater l leaves a shorter tail r_l + ... + r_m, and a smaller c less of it.
    greater_is_stricter: ClassVar[tuple[str, ...]] = ("l",)
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

    def implies(self, other: object) -> bool:
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


ValueModel = LDiversity | TCloseness | AlphaAnonymity | BetaLikeness | DeltaDisclosure
TableModel = PopulationModel | ClassModel
Model = KAnonymity | TableModel | ValueModel
AnyModel = TypeVar("AnyModel", bound=Model)
Row = TypeVar("Row")


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
        return [entry.name for entry in fields(self.build)[1:]]


_OF_K = Figure("k-anonymity*", "every class has at least k members")
_MORE_FREQUENT = "how much more frequent a value may be in a class"
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


TABLE_FAMILIES: Mapping[str, TableFamily] = {**POPULATION_FAMILIES, **CLASS_FAMILIES}
"""Models of no sensitive values by the key of a policy file."""
FORMS: tuple[Form, ...] = tuple(
    (key, kind) if kind else (key,)
    for key, family in FAMILIES.items()
    for kind in family.kinds or ("",)
)
BY_RATIO = tuple(form for form in FORMS if hasattr(FAMILIES[form[0]].build, "most_ratio"))
"""Models that bound what the share of a value in a class may be of its share in the table."""


def figure_of(model: str) -> Figure:
    """What a report says of the figure of a model, by the name that it has in reports."""
    families: list[TableFamily | Family] = [*TABLE_FAMILIES.values(), *FAMILIES.values()]
    every = [*(figure for family in families for figure in family.reported), _OF_K]
    return next((figure for figure in every if fnmatchcase(model, figure.names)), Figure())


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


_ORDER = (KAnonymity.family, *TABLE_FAMILIES, *FAMILIES)


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
