"""Options of a search, and what it hands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError
from sqlanon.loss import checked_loss
from sqlanon.plan_report import Report
from sqlanon.recoding import Recoding

if TYPE_CHECKING:
    from sqlanon.masks import Masks, Patterns
    from sqlanon.release import Tallied

LOCAL_METHODS = ("set-cover", "direct-cover")
PATTERN_METHODS = ("pattern-greedy", "pattern-exact")
METHODS = ("auto", "incognito", *LOCAL_METHODS, *PATTERN_METHODS)
BLOCK_RECORDS = 250_000
RECORD_BYTES = 16_000
"""Memory that a cover takes for each record, mostly for its itemsets: some 30 to 80 of 100 bytes,
those of many columns more."""
CANDIDATES = ("closed", "frequent", "all")


def _is_real(number: object) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool)


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    Args:
        method: One of `METHODS`; `auto` chooses.
        loss: The loss to minimize.
        minimal_nodes: Whether to list every minimal node.
        time_limit: Seconds for the search, of covers for their refinement; None for no limit.
        progress: Called with a line that says how far the search is.
        candidates: What a cover is chosen from: one of `CANDIDATES`.
        beta: Candidates of a cover cost less than this part of a suppressed record: cost < 1/beta;
            None for all candidates.
        refine: Whether clusters are improved by a local search after they were found.
        block_records: Largest table that is covered as a whole; a larger one is cut into blocks
            along its hierarchies [records].
        memory: What a cover may take outside the database, about: smaller blocks are cut where it
            needs them [bytes]; None for no limit.
        seed: What the refinement draws its choices from.
        suppress_uncovered: Whether direct-cover suppresses all cells of what it leaves uncovered,
            as it was published, instead of putting it where it costs least. Those records are
            published, so no suppression limit bounds them.
        patterns: What pattern methods may suppress together: lists of the columns that a pattern
            keeps (`zip@2` at a level), or rules that all patterns must satisfy.

    Raises:
        PolicyError: An unknown method, loss or kind of candidates, an option of another method, or
            a number out of range.
    """

    method: str = "auto"
    loss: str = "lm"
    minimal_nodes: bool = False
    time_limit: float | None = None
    progress: Callable[[str], None] | None = None
    candidates: str = "closed"
    beta: float | None = None
    refine: bool = True
    block_records: int = BLOCK_RECORDS
    memory: int | None = None
    seed: int = 0
    suppress_uncovered: bool = False
    patterns: Patterns | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise PolicyError(
                f"method {self.method!r} is not known; choose one of {', '.join(METHODS)}"
            )
        checked_loss(self.loss, "incognito" if self.method == "auto" else self.method)
        if self.time_limit is not None and not (_is_real(self.time_limit) and self.time_limit > 0):
            raise PolicyError(f"time limit {self.time_limit!r} is not a number above 0 [seconds]")
        if not (type(self.seed) is int and self.seed >= 0):
            raise PolicyError(f"seed {self.seed!r} is not a whole number of at least 0")
        self._check_cover()
        self._check_time()
        if self.masks is not None and self.method not in PATTERN_METHODS:
            raise PolicyError(
                f"patterns belong to {' and '.join(PATTERN_METHODS)}, not to {self.method}"
            )

    @property
    def masks(self) -> Masks | None:
        """The patterns that are asked for."""
        if self.patterns is None:
            return None
        from sqlanon.masks import Masks  # the other methods do not need it

        return Masks.of(self.patterns)

    @property
    def largest_block(self) -> int:
        """Largest table that is covered as a whole, where memory counts, too [records]."""
        if self.memory is None:
            return self.block_records
        return min(self.block_records, max(1, self.memory // RECORD_BYTES))

    def _check_cover(self) -> None:
        if self.candidates not in CANDIDATES:
            raise PolicyError(
                f"candidates {self.candidates!r} are not known; choose {', '.join(CANDIDATES)}"
            )
        if not (type(self.block_records) is int and self.block_records >= 1):
            raise PolicyError(
                f"block_records is {self.block_records!r}; a block has 1 record or more"
            )
        if self.beta is not None and not (_is_real(self.beta) and self.beta >= 1):
            raise PolicyError(f"beta {self.beta!r} is not a number of at least 1")
        covering = {
            "candidates": self.candidates != "closed",
            "beta": self.beta is not None,
            "refine": not self.refine,
            "block_records": self.block_records != BLOCK_RECORDS,
        }
        foreign = [name for name, given in covering.items() if given]
        if self.method not in LOCAL_METHODS and foreign:
            raise PolicyError(
                f"{foreign[0]} belongs to {' and '.join(LOCAL_METHODS)}, not to {self.method}"
            )
        if self.candidates == "all" and self.method == "direct-cover":
            raise PolicyError("candidates 'all' belong to set-cover, not to direct-cover")
        if self.suppress_uncovered and self.method != "direct-cover":
            raise PolicyError(f"suppress_uncovered belongs to direct-cover, not to {self.method}")
        if self.minimal_nodes and self.method in (*LOCAL_METHODS, *PATTERN_METHODS):
            raise PolicyError(f"minimal nodes belong to incognito, not to {self.method}")

    def _check_time(self) -> None:
        """Refuses a time limit where nothing would look at it."""
        if self.time_limit is None:
            return
        if self.method == "pattern-greedy":
            raise PolicyError(
                "pattern-greedy tries every pattern once, whatever the time; leave time_limit out, "
                "or give fewer patterns"
            )
        if self.method in LOCAL_METHODS and not self.refine:
            raise PolicyError(
                f"time_limit bounds the refinement of {self.method}, which is switched off; leave "
                "one of them out"
            )


@dataclass(frozen=True, slots=True)
class Decided:
    """What a search decided.

    Args:
        recoding: How records are recoded.
        report: What is expected of it.
        encoded_at: When the table was encoded, by the monotonic clock [seconds].
        searched_at: When the search was over.
        rounds: How often suppression is looked at.
        tallied: What a recoding of single records publishes; None where all have one level.
    """

    recoding: Recoding
    report: Report
    encoded_at: float
    searched_at: float
    rounds: int = 1
    tallied: Tallied | None = None
