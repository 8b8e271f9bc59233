"""What each method takes, described once for Python and for the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.policy.patterns import Masks, Patterns


def _is_real(number: object, least: float) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and number >= least


@dataclass(frozen=True, slots=True)
class Option:
    """What can be set of a search, described once for Python and for the command line.

    Args:
        default: Its value where it is not given.
        help: What it does.
        metavar: What stands for its value; None for a switch.
        reads: What the command line reads it as.
        is_valid: Whether a value can be; None for any.
        fault: What is said of a value that cannot.
    """

    default: Any
    help: str
    metavar: str | None = None
    reads: Any = str
    is_valid: Callable[[Any], bool] | None = None
    fault: str = ""

    def check(self, value: object) -> None:
        """Refuses a value that cannot be.

        Raises:
            PolicyError: It cannot.
        """
        if self.is_valid is not None and value is not self.default and not self.is_valid(value):
            raise PolicyError(self.fault.format(value))


TIME_LIMIT = Option(
    None,
    "Return the best found by then, with its gap; of covers: refine no longer.",
    "SECONDS",
    float,
    lambda value: _is_real(value, 0) and value > 0,
    "time limit {!r} is not a number above 0 [seconds]",
)
MINIMAL_NODES = Option(False, "Also list every minimal node of the lattice.")
CANDIDATES = Option(
    "closed",
    "Cover by closed, frequent or (set-cover, tiny tables) all itemsets: closed.",
    "KIND",
    is_valid=("closed", "frequent", "all").__contains__,
    fault="candidates {!r} are not known; choose closed, frequent, all",
)
BETA = Option(
    None,
    "Only itemsets that cost below 1/beta of a suppressed record.",
    "NUMBER",
    float,
    lambda value: _is_real(value, 1),
    "beta {!r} is not a number of at least 1",
)
REFINE = Option(True, "Leave clusters as they were found.")
BLOCK_RECORDS = Option(
    250_000,
    "Cut a larger table into blocks along its hierarchies: 250000.",
    "N",
    int,
    lambda value: type(value) is int and value >= 1,
    "block_records is {!r}; a block has 1 record or more",
)
SUPPRESS_UNCOVERED = Option(
    False,
    "Suppress all cells of what no itemset covers, as it was published, where these records "
    "satisfy the policy as one class. No suppression limit bounds how many they are.",
)
PATTERNS = Option(
    None,
    "All patterns, or those that satisfy every rule: 'at most 3 suppressed', 'zip never with "
    "birth date'; repeatable.",
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


def _field(option: Option) -> Any:
    return field(default=option.default, metadata={"option": option})


def described(options: type) -> dict[str, Option]:
    """The options that a dataclass holds, by name."""
    return {each.name: each.metadata["option"] for each in fields(options)}


@dataclass(frozen=True, slots=True)
class LatticeOptions:
    """What a search of the generalization lattice takes."""

    minimal_nodes: bool = _field(MINIMAL_NODES)
    time_limit: float | None = _field(TIME_LIMIT)


@dataclass(frozen=True, slots=True)
class SetCoverOptions:
    """What a greedy cover takes."""

    candidates: str = _field(CANDIDATES)
    beta: float | None = _field(BETA)
    refine: bool = _field(REFINE)
    block_records: int = _field(BLOCK_RECORDS)
    time_limit: float | None = _field(TIME_LIMIT)

    def __post_init__(self) -> None:
        _check_time(self)


@dataclass(frozen=True, slots=True)
class DirectCoverOptions:
    """What a cover in the order of cost takes."""

    candidates: str = _field(CANDIDATES)
    beta: float | None = _field(BETA)
    refine: bool = _field(REFINE)
    block_records: int = _field(BLOCK_RECORDS)
    time_limit: float | None = _field(TIME_LIMIT)
    suppress_uncovered: bool = _field(SUPPRESS_UNCOVERED)

    def __post_init__(self) -> None:
        _check_time(self)
        if self.candidates == "all":
            raise PolicyError("candidates 'all' belong to set-cover, not to direct-cover")


CoverOptions = SetCoverOptions | DirectCoverOptions


def _check_time(options: CoverOptions) -> None:
    if options.time_limit is not None and not options.refine:
        raise PolicyError(
            "time_limit bounds the refinement of clusters, which is switched off; leave one of "
            "them out"
        )


@dataclass(frozen=True, slots=True)
class GreedyPatternOptions:
    """What a greedy assignment of patterns takes."""

    patterns: Patterns | None = field(default=None, metadata={"option": PATTERNS})


@dataclass(frozen=True, slots=True)
class ExactPatternOptions:
    """What an optimal assignment of patterns takes."""

    patterns: Patterns | None = field(default=None, metadata={"option": PATTERNS})
    time_limit: float | None = _field(TIME_LIMIT)
