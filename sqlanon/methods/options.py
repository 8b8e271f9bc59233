"""Options of each method, described once for Python and for the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from sqlanon.deadline import Deadline
from sqlanon.errors import PolicyError
from sqlanon.search.clustering.effort import (
    COOLING,
    ITERATIONS_PER_RECORD,
    LOSS_WEIGHT,
    MAX_ITERATIONS,
    PASSES,
    REFINED_CLUSTERS,
    REFINED_RECORDS,
    TEMPERATURE,
)
from sqlanon.wording import listed

if TYPE_CHECKING:
    from sqlanon.policy.patterns import Masks, Patterns
    from sqlanon.policy.schemes import SchemeChoice, Schemes


DIRECTIONS = ("bottom-up", "top-down")
BLOCK_RECORDS = 250_000
"""Largest table that is clustered as a whole, unless another number is asked for [records]."""
RECORD_BYTES = 16_000
"""Memory of a cover per record, mostly for some 30 to 80 itemsets of 100 bytes, or more."""
CLUSTER_DISTANCES = ("growth", "closure", "closure-log")


def _is_real(number: object, least: float) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and number >= least


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a search.

    Args:
        default: Its value where it is not given.
        help: What it does.
        metavar: The placeholder of its value; None for a switch.
        reads: The type that the command line reads.
        is_valid: Tells valid values; None where all are.
        fault: The message about an invalid value.
    """

    default: Any
    help: str
    metavar: str | None = None
    reads: Any = str
    is_valid: Callable[[Any], bool] | None = None
    fault: str = ""

    def check(self, value: object) -> None:
        """Refuses an invalid value by a `PolicyError`."""
        if self.is_valid is not None and value is not self.default and not self.is_valid(value):
            raise PolicyError(self.fault.format(value))


def _option(*described: Any, **more: Any) -> Any:
    """A field of a dataclass of options, described by the arguments of `Option`."""
    option = Option(*described, **more)
    return field(default=option.default, metadata={"option": option})


def _whole(default: int | None, text: str, fault: str, *, least: int = 1) -> Any:
    """An option that is a whole number."""

    def is_valid(value: object) -> bool:
        return type(value) is int and value >= least

    return _option(default, text, "N", int, is_valid, fault)


def _one_of(default: str | None, text: str, known: tuple[str, ...], fault: str) -> Any:
    """An option that is one of some words."""
    return _option(default, text, "|".join(known), str, known.__contains__, fault)


def _time_limit() -> Any:
    return _option(
        None,
        "End the search this long after the start of the command, with the best plan found and a "
        "lower bound if one is known; publishing and verifying take extra time.",
        "SECONDS",
        float,
        lambda value: _is_real(value, 0) and value > 0,
        "time limit {!r} is not a number above 0 [seconds]",
    )


def deadline_after(seconds: float | None) -> Deadline:
    """A time limit from now on, for what is no method; a `PolicyError` where it is invalid."""
    limit: Option = _time_limit().metadata["option"]
    limit.check(seconds)
    return Deadline.after(seconds)


PATTERNS = Option(
    None,
    "Which columns may be suppressed in a record: all patterns, or only those that satisfy every "
    "rule, such as 'at most 3 suppressed' or 'zip never with birth date'. Repeatable.",
    "all|RULE",
    list[str],
    lambda value: masks_of(value) is not None,  # which refuses what cannot be
)


def masks_of(patterns: Patterns) -> Masks:
    """The patterns that are asked for.

    Raises:
        PolicyError: They cannot be read.
    """
    from sqlanon.policy.patterns import Masks  # the other methods do not need it

    return Masks.of(patterns)


SCHEME = Option(
    None,
    "Which values may be merged into a group: bhs (one level), ghs (nodes), gsps (siblings), "
    "gops (siblings next to each other in order), ops (neighbours in order) or sps (any), for "
    "all columns, or as age=ops for one. Repeatable. Default: gsps. Given for all columns, gsps "
    "and sps mean gops and ops for numbers and columns with an --order.",
    "SCHEME",
    list[str],
    lambda value: scheme_choice(value) is not None,  # which refuses what cannot be
)


def scheme_choice(schemes: Schemes | None) -> SchemeChoice:
    """The schemes that are asked for.

    Raises:
        PolicyError: They cannot be read.
    """
    from sqlanon.policy.schemes import SchemeChoice  # the other methods do not need it

    return SchemeChoice.of(schemes)


@cache
def described(options: type) -> Mapping[str, Option]:
    """The options that a dataclass holds, by name: its own, then those that it inherits."""
    ordered = sorted(fields(options), key=lambda entry: entry.name not in options.__annotations__)
    return {entry.name: entry.metadata["option"] for entry in ordered if "option" in entry.metadata}


@dataclass(frozen=True, slots=True)
class LatticeOptions:
    """Options of a search of the generalization lattice."""

    minimal_nodes: bool = _option(
        False,
        ("Also list every minimal node: levels that satisfy the policy while no lower ones do."),
    )
    alternatives: bool = _option(
        False,
        "Also list, for each generalized column, the best recodings that keep it at lower "
        "levels, and their loss.",
    )
    time_limit: float | None = _time_limit()


@dataclass(frozen=True, slots=True)
class AnnealingOptions:
    """Options of every method whose clusters can be annealed."""

    improve: str | None = _one_of(
        None,
        "anneal: cluster for k alone, too, exchange records between clusters until all models "
        "hold, and keep the result that loses less. lns: after refinement, repeatedly divide "
        "small sets of clusters anew by integer programs, for a lower loss in minutes "
        "(needs the extra 'exact').",
        ("anneal", "lns"),
        "improve {!r} is not known; choose anneal or lns",
    )
    iterations: int | None = _whole(
        None,
        "Most exchanges that --improve anneal tries in a block. Default: "
        f"{ITERATIONS_PER_RECORD} per record, at most {MAX_ITERATIONS}.",
        "iterations are {!r}; give a whole number of at least 0",
        least=0,
    )
    temperature: float | None = _option(
        None,
        "First temperature of --improve anneal; exchanging a record changes the energy by about "
        "1, and at temperature 0 no worse state is accepted. Default: "
        f"{TEMPERATURE}.",
        "NUMBER",
        float,
        lambda value: _is_real(value, 0) and isfinite(value),
        "temperature {!r} is not a number of at least 0",
    )
    cooling: float | None = _option(
        None,
        "Last temperature of --improve anneal as a fraction of the first; it falls by a constant "
        f"factor. Default: {COOLING}.",
        "NUMBER",
        float,
        lambda value: _is_real(value, 0) and 0 < value <= 1,
        "cooling {!r} is not a number above 0 and at most 1",
    )
    loss_weight: float | None = _option(
        None,
        "Weight of the loss when --improve anneal decides on an exchange, relative to what "
        "clusters lack to satisfy the models; 0 as in the original paper. Default: "
        f"{LOSS_WEIGHT:g}.",
        "NUMBER",
        float,
        lambda value: _is_real(value, 0) and isfinite(value),
        "loss_weight {!r} is not a number of at least 0",
    )

    def __post_init__(self) -> None:
        of_annealing = {
            "iterations": self.iterations,
            "temperature": self.temperature,
            "cooling": self.cooling,
            "loss_weight": self.loss_weight,
        }
        idle = [name for name, value in of_annealing.items() if value is not None]
        if idle and self.improve != "anneal":
            verb = "belongs" if len(idle) == 1 else "belong"
            raise PolicyError(f"{listed(idle)} {verb} to --improve anneal; ask for that, too")


EFFORTS = ("quick", "full")
BOUNDS = ("columns", *EFFORTS)


@dataclass(frozen=True, slots=True)
class ClusterOptions(AnnealingOptions):
    """Options of every method that refines clusters."""

    refine: bool = _option(True, "Do not refine clusters after they are found.")
    passes: int = _whole(
        PASSES,
        "About how often refinement looks at each record, with anytime between any two covers. "
        f"Default: {PASSES}.",
        "passes are {!r}; give a whole number of at least 1",
    )
    block_records: int = _whole(
        BLOCK_RECORDS,
        "Find the first clusters of a larger table in blocks of whole Mondrian parts; refinement "
        f"has blocks of {REFINED_RECORDS} records at most, with room for {REFINED_CLUSTERS} "
        "clusters, anytime these alone, unless a table elsewhere has too many for this process. "
        f"Default: {BLOCK_RECORDS}.",
        "block_records is {!r}; a block has 1 record or more",
    )
    pools: int | None = _whole(
        None,
        "How many sets of clusters --improve lns tries to divide anew. Default: no limit with "
        "--time-limit; else enough to try each record six times, up to 300000 records in all, "
        "but at least 50 sets.",
        "pools are {!r}; give a whole number of at least 1",
    )
    bound: str | None = _one_of(
        None,
        "How much work to put into a lower bound on the loss of every other recoding: columns "
        "(at once, from columns or single records), quick (seconds) or full (a minute), both "
        "from closed itemsets. Default: for covers, full if that takes no longer than refinement, "
        "else quick; for other methods, quick if the table is very small, else columns. A better "
        "bound also helps covers and refinement to lose less.",
        BOUNDS,
        "bound {!r} is not known; choose columns, quick or full",
    )
    time_limit: float | None = _time_limit()

    def __post_init__(self) -> None:
        AnnealingOptions.__post_init__(self)
        if not self.refine and self.passes != PASSES:
            raise PolicyError("passes are of the refinement that --no-refine leaves out")
        if not self.refine and self.improve == "lns":
            raise PolicyError("--improve lns begins with refined clusters; leave --no-refine out")
        if self.pools is not None and self.improve != "lns":
            raise PolicyError("pools belong to --improve lns; ask for that, too")


@dataclass(frozen=True, slots=True)
class CoverOptions(ClusterOptions):
    """Options of a cover by itemsets."""

    candidates: str = _one_of(
        "closed",
        "Itemsets to cover records by: closed, frequent, or all (set-cover on tiny tables). "
        "Default: closed.",
        ("closed", "frequent", "all"),
        "candidates {!r} are not known; choose closed, frequent, all",
    )
    beta: float | None = _option(
        None,
        "Use only itemsets that cost less than 1/beta of a suppressed record.",
        "NUMBER",
        float,
        lambda value: _is_real(value, 1),
        "beta {!r} is not a number of at least 1",
    )


@dataclass(frozen=True, slots=True)
class DirectCoverOptions(CoverOptions):
    """Options of a cover in the order of cost."""

    suppress_uncovered: bool = _option(
        False,
        "Leave out records that no itemset covers, within the suppression limit; beyond it "
        "suppress all their cells, as in the original paper, if they satisfy the policy as one "
        "class.",
    )

    def __post_init__(self) -> None:
        ClusterOptions.__post_init__(self)
        if self.candidates == "all":
            raise PolicyError("candidates 'all' belong to set-cover, not to direct-cover")


CUTS = ("best", "nodes", "median")


@dataclass(frozen=True, slots=True)
class PartOptions(AnnealingOptions):
    """Options of a partition from the top."""

    cuts: str = _one_of(
        "best",
        "Where to cut a set of records in two: where it saves most loss per bit of information "
        "given away (best), or in the widest column, between nodes of its hierarchy (nodes) or "
        "at its median (median). Default: best.",
        CUTS,
        "cuts {!r} are not known; choose best, nodes or median",
    )
    partitioning: str = _one_of(
        "strict",
        "Equal records stay together (strict), or may be put into either half, in tables that "
        "fit into memory (relaxed). Default: strict.",
        ("strict", "relaxed"),
        "partitioning {!r} is not known; choose strict or relaxed",
    )
    time_limit: float | None = _time_limit()

    def __post_init__(self) -> None:
        AnnealingOptions.__post_init__(self)
        if self.improve == "lns":
            raise PolicyError(
                "improve lns parts refined clusters anew, and mondrian refines none; choose "
                "direct-cover or another method that does, or leave it out"
            )


@dataclass(frozen=True, slots=True)
class AgglomerativeOptions(ClusterOptions):
    """Options of clusters that grow together."""

    distance: str = _one_of(
        "growth",
        "Which clusters to merge first: those whose union raises the loss least (growth), raises "
        "the cost of a record least compared with both clusters (closure), or the latter per "
        "logarithm of the union's size (closure-log). Default: growth.",
        CLUSTER_DISTANCES,
        "distance {!r} is not known; choose growth, closure or closure-log",
    )


@dataclass(frozen=True, slots=True)
class PatternOptions:
    """Options of an assignment of patterns."""

    patterns: Patterns | None = field(default=None, metadata={"option": PATTERNS})
    time_limit: float | None = _time_limit()


@dataclass(frozen=True, slots=True)
class SchemeOptions:
    """Options of a search for the best partition of each column's values."""

    scheme: Schemes | None = field(default=None, metadata={"option": SCHEME})
    direction: str | None = _one_of(
        None,
        "Enumerate recodings from single values upwards or from one group downwards. Default: "
        "the fastest search, column by column.",
        DIRECTIONS,
        "direction {!r} is not known; choose bottom-up or top-down",
    )
    time_limit: float | None = _time_limit()


@dataclass(frozen=True, slots=True)
class AutoOptions:
    """Options of the choice of a method.

    Args:
        candidates: The methods that take every option given and can be steered by the loss, with
            their own options.
    """

    consistent: bool = _option(
        False,
        ("With --method auto: publish each column at one level, so that equal values stay equal."),
    )
    time_limit: float | None = _time_limit()
    candidates: Mapping[str, Any] = field(default_factory=dict)
