"""The registry of methods: what each is called, promises and takes, and where it lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlanon.errors import PolicyError
from sqlanon.loss.cells import CELL_LOSSES, LOSSES, MEASURES
from sqlanon.methods.options import (
    DirectCoverOptions,
    ExactPatternOptions,
    GreedyPatternOptions,
    LatticeOptions,
    Option,
    SetCoverOptions,
    described,
)
from sqlanon.policy.thresholds import near

if TYPE_CHECKING:
    from sqlanon.loss.release import Tallied
    from sqlanon.recoding import Recoding
    from sqlanon.reports.plan import Report

Own = TypeVar("Own")
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Method:
    """A way to find a recoding: a row of the registry.

    Args:
        name: What users call it.
        home: The module that offers its `decide(engine, subject, policy, options)`, imported
            when the method is asked for.
        recoding: What every record of a value shares: `full-domain` or `local`.
        guarantee: What is proven of what it finds.
        losses: The losses that can steer it.
        options: The dataclass of what it takes besides what every method does.
        refusals: Why it does not take an option, where that is worth saying, by the option's name.
    """

    name: str
    home: str
    recoding: str
    guarantee: str
    losses: tuple[str, ...]
    options: type
    refusals: Mapping[str, str] = field(default_factory=dict)

    def takes(self, option: str) -> bool:
        """Whether an option is one of this method."""
        return option in described(self.options)

    def check_loss(self, name: str) -> None:
        """Refuses a loss that cannot steer this method.

        Raises:
            PolicyError: It is not known, or it is measured only.
        """
        if name in self.losses:
            return
        if name in MEASURES:
            fault, meant = f"is measured, but cannot steer {self.name}", ""
        else:
            fault, meant = "is not known", meaning(name, self.losses)
        raise PolicyError(f"loss {name!r} {fault}; choose one of {', '.join(self.losses)}{meant}")

    def settled(self, settings: Mapping[str, Any]) -> Any:
        """The options of this method.

        Args:
            settings: Options of any method; those of others must have their defaults.

        Raises:
            PolicyError: One belongs to other methods, or has a value that cannot be.
        """
        for name, value in settings.items():
            OPTIONS[name].check(value)
            if not self.takes(name) and value != OPTIONS[name].default:
                verb = "belong" if name.endswith("s") else "belongs"
                foreign = f"{name} {verb} to {listed(owners_of(name))}, not to {self.name}"
                raise PolicyError(self.refusals.get(name, foreign))
        return self.options(**{n: value for n, value in settings.items() if self.takes(n)})


CELLS = tuple(CELL_LOSSES)
METHODS: Mapping[str, Method] = {
    row.name: row
    for row in (
        Method(
            "incognito",
            "sqlanon.methods.fulldomain.method",
            "full-domain",
            "the least loss of all nodes of the lattice, proven",
            (*LOSSES, "utility"),
            LatticeOptions,
        ),
        Method(
            "set-cover",
            "sqlanon.methods.clustering.set_cover",
            "local",
            "with k alone a loss of at most 2 (1 + ln 2k) times the least possible",
            CELLS,
            SetCoverOptions,
        ),
        Method(
            "direct-cover",
            "sqlanon.methods.clustering.direct_cover",
            "local",
            "every model of the policy, for every record",
            CELLS,
            DirectCoverOptions,
        ),
        Method(
            "pattern-greedy",
            "sqlanon.methods.patterns.method",
            "local",
            "every model of the policy",
            CELLS,
            GreedyPatternOptions,
            {
                "time_limit": "pattern-greedy tries every pattern once, whatever the time; leave "
                "time_limit out, or give fewer patterns"
            },
        ),
        Method(
            "pattern-exact",
            "sqlanon.methods.patterns.optimum",
            "local",
            "nothing that your patterns and the policy allow to publish loses less, proven",
            CELLS,
            ExactPatternOptions,
        ),
    )
}
DEFAULT = METHODS["incognito"]
"""What `auto` chooses."""


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def meaning(text: str, choices: Sequence[str]) -> str:
    """The end of a message that says what was probably meant, if anything was."""
    meant = near(text, choices)
    return "" if meant is None else f"; did you mean {meant!r}?"


def method_named(name: str) -> Method:
    """A method by what users call it.

    Raises:
        PolicyError: None is called so.
    """
    if name == AUTO:
        return DEFAULT
    if name not in METHODS:
        known = [AUTO, *METHODS]
        raise PolicyError(
            f"method {name!r} is not known; choose one of {', '.join(known)}"
            f"{meaning(str(name), known)}"
        )
    return METHODS[name]


def _method_help() -> str:
    rows = [f"{row.name} ({row.recoding}; {row.guarantee})" for row in METHODS.values()]
    return f"{'; '.join(rows)}. {AUTO} chooses {DEFAULT.name}."


def _loss_help() -> str:
    """The losses that steer every method, and what single ones minimize besides."""
    common = [loss for loss in MEASURES if all(loss in row.losses for row in METHODS.values())]
    more = [
        f"; of {row.name} also {', '.join(own)}"
        for row in METHODS.values()
        if (own := [loss for loss in row.losses if loss not in common])
    ]
    return f"What is lost least: {', '.join(common)}{''.join(more)}."


OPTIONS: Mapping[str, Option] = {
    "method": Option(AUTO, _method_help(), "METHOD"),
    "loss": Option("lm", _loss_help(), "LOSS"),
    **{name: option for row in METHODS.values() for name, option in described(row.options).items()},
}
"""All that users set of a search, by name."""


def owners_of(option: str) -> list[str]:
    """The names of the methods that take an option."""
    return [row.name for row in METHODS.values() if row.takes(option)]


@dataclass(frozen=True, slots=True)
class Options(Generic[Own]):
    """How to search.

    Args:
        method: The method.
        own: What it takes besides what every method does.
        loss: The loss to minimize.
        seed: What is left to chance is drawn from it.
        progress: Called with a line that says how far the search is.
        memory: What a search may take outside the database, about [bytes]; None for no limit.

    Raises:
        PolicyError: The loss cannot steer the method, or the seed is none.
    """

    method: Method
    own: Own
    loss: str = "lm"
    seed: int = 0
    progress: Callable[[str], None] | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        self.method.check_loss(self.loss)
        if not (type(self.seed) is int and self.seed >= 0):
            raise PolicyError(f"seed {self.seed!r} is not a whole number of at least 0")

    @classmethod
    def of(cls, method: str = AUTO, **settings: Any) -> Options[Any]:
        """How to search, as `plan` takes it.

        Raises:
            PolicyError: An unknown method or loss, an option of another method, or a value that
                cannot be.
        """
        row = method_named(method)
        own = {name: value for name, value in settings.items() if name in OPTIONS.keys() - {"loss"}}
        common = {name: value for name, value in settings.items() if name not in own}
        return Options(row, row.settled(own), **common)

    def tell(self, line: str) -> None:
        """Says how far the search is."""
        if self.progress is not None:
            self.progress(line)


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
