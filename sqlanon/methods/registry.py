"""The registry of methods: name, home, guarantee, losses and options of each."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlanon.deadline import NEVER, Deadline
from sqlanon.errors import PolicyError
from sqlanon.loss.cells import CELL_LOSSES, DEFAULT_LOSS, GROUP_LOSSES, LOSSES
from sqlanon.loss.measures import MEASURES
from sqlanon.methods.options import (
    AgglomerativeOptions,
    AutoOptions,
    ClusterOptions,
    CoverOptions,
    DirectCoverOptions,
    LatticeOptions,
    Option,
    PartOptions,
    PatternOptions,
    SchemeOptions,
    described,
)
from sqlanon.wording import did_you_mean, listed

if TYPE_CHECKING:
    from sqlanon.loss.release import Tallied
    from sqlanon.policy.policy import Policy
    from sqlanon.recoding import Recoding
    from sqlanon.reports.plan import Report
    from sqlanon.workers import Worker, Workers

Result = TypeVar("Result")
Specific_co = TypeVar("Specific_co", covariant=True)
AUTO = "auto"
PROCESS_BYTES = 300_000_000
"""Memory of a process that improves blocks of a table, about."""
MAX_METHODS_NAMED = 5
"""Methods that an error does not name twice."""


FIRST, LAST = "mondrian", "anytime"
"""The methods whose result stands before a method begins, and that have the time it leaves."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """What there is under a time limit beside a method's own result.

    Args:
        cut_beyond: Records beyond which cuts from the top stand first; infinite for never.
        share: Share of the time left then that the method has; `LAST` has the rest, if any, where
            the method has no result or one that was cut short.
        always: Whether `LAST` has the rest, and may be the result, where nothing was cut, too.
        replaces: Whether these are the result, too, where the method's own was cut short and loses
            more, which a recoding of the same kind alone may; else only where the method has none,
            and what stands first has a share of the time.
    """

    cut_beyond: float = 0
    share: float = 1.0
    always: bool = False
    replaces: bool = True


NODES = Fallback(cut_beyond=math.inf)
"""Full-domain recodings alone."""
CUTS = Fallback(share=0.8)
"""Cuts from the top first, and `anytime` where the method has no result of its own in time."""
SLOW = Fallback(share=0.5, always=True)
"""Of methods that lose more than `anytime` does in as long: else more time would lose more."""
LARGE = Fallback(cut_beyond=250_000)
"""Of what begins with cuts itself, once all records are read one by one."""
USERS = Fallback(replaces=False)
"""Patterns are the user's own, and may well be faster than cuts."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to find a recoding: a row of the registry.

    Args:
        name: Its name in the interface.
        home: The module of its `decide(engine, subject, policy, options)`, imported late; that of
            the choice has `settled(subject, policy, options)` instead.
        guarantee: What is proven of a recoding that it finds.
        options: The dataclass of its own options.
        recoding: `full-domain`, `global` or `local`.
        losses: The losses that can steer it.
        refusals: Per option of other methods a reason why it is refused, where one is known.
        takes_all: Whether it takes the options of every other method, too.
        fallback: What there is besides under a time limit; None for a method that begins with a
            result.
    """

    name: str
    home: str
    guarantee: str
    options: type
    recoding: str = "local"
    losses: tuple[str, ...] = tuple(CELL_LOSSES)
    refusals: Mapping[str, str] = field(default_factory=dict)
    takes_all: bool = False
    fallback: Fallback | None = CUTS

    def takes(self, option: str) -> bool:
        """Whether the method has an option."""
        return self.takes_all or option in described(self.options)

    def refuse_models(self, policy: Policy) -> None:
        """Refuses models that look beyond classes where it does not, by a `PolicyError`."""
        if policy.of_labels and self is not DEFAULT:
            asked = " and ".join(model.describe() for model in policy.of_labels)
            implied = ", or for k of all quasi-identifiers (--k without --k-subsets)"
            raise PolicyError(
                f"{self.name} does not take {asked}: it judges each class by the records that it "
                "puts together, and not by whom else their labels hold; ask for "
                f"{DEFAULT.name} (--method {DEFAULT.name}), which counts those, too, at every "
                f"choice of levels{implied if policy.of_subsets else ''}"
            )

    def check_loss(self, name: str) -> None:
        """Refuses a loss that cannot steer the method, by a `PolicyError`."""
        if name in self.losses:
            return
        if name in MEASURES:
            fault, meant = f"is measured, but cannot steer {self.name}", ""
        else:
            fault, meant = "is not known", did_you_mean(name, self.losses)
        raise PolicyError(f"loss {name!r} {fault}; choose one of {', '.join(self.losses)}{meant}")

    def settled(self, settings: Mapping[str, Any]) -> Any:
        """The method's own options, from options of any method.

        Raises:
            PolicyError: An option of another method is given, or a value is invalid.
        """
        for name, value in settings.items():
            OPTIONS[name].check(value)
            said = value is not None and not isinstance(value, bool)
            if not self.takes(name) and (said or value != OPTIONS[name].default):
                raise PolicyError(self.refusals.get(name) or _foreign(name, self.name))
        return self.options(**{n: value for n, value in settings.items() if self.takes(n)})


def _foreign(option: str, method: str) -> str:
    """Why a method refuses an option of others, and the way out."""
    verb, owners = "belong" if option.endswith("s") else "belongs", owners_of(option)
    one = "it" if len(owners) == 1 else "one of them"
    names = f" {' or '.join(owners)}" if len(owners) < MAX_METHODS_NAMED else ""
    ask = f"ask for {one} with --method{names}"
    more = "; `sqlanon bound` proves one for every method" if option == "bound" else ""
    return f"{option} {verb} to {listed(owners)}, not to {method}; {ask}{more}"


METHODS: Mapping[str, Method] = {
    row.name: row
    for row in (
        Method(
            "incognito",
            "sqlanon.methods.fulldomain.method",
            "proven least loss of all choices of one level per column",
            LatticeOptions,
            "full-domain",
            (*LOSSES, "utility"),
            {"consistent": "incognito keeps one level per column anyway; leave consistent out"},
            fallback=None,
        ),
        Method(
            "scheme",
            "sqlanon.methods.schemes",
            "proven least loss of all recodings that the schemes allow, or how far it may be "
            "from that",
            SchemeOptions,
            "global",
            (*GROUP_LOSSES, "discernibility"),
            fallback=NODES,
        ),
        Method(
            "set-cover",
            "sqlanon.methods.clustering.covers",
            "without other models than k a loss of at most 2 (1 + ln 2k) times the least possible",
            CoverOptions,
        ),
        Method(
            "direct-cover",
            "sqlanon.methods.clustering.covers",
            "every model of the policy, for every record",
            DirectCoverOptions,
        ),
        Method(
            "mondrian",
            "sqlanon.methods.clustering.mondrian",
            "every model of the policy, for any number of records",
            PartOptions,
            fallback=None,
        ),
        Method(
            "anytime",
            "sqlanon.methods.clustering.anytime",
            "every model of the policy, for every record and any number of them",
            ClusterOptions,
            fallback=LARGE,
        ),
        Method(
            "forest",
            "sqlanon.methods.clustering.linkage",
            "without other models than k a loss of at most 3 (k - 1) times the least possible",
            ClusterOptions,
            fallback=SLOW,
        ),
        Method(
            "agglomerative",
            "sqlanon.methods.clustering.linkage",
            "every model of the policy, for every record",
            AgglomerativeOptions,
            fallback=SLOW,
        ),
        Method(
            "agglomerative-modified",
            "sqlanon.methods.clustering.linkage",
            "every model of the policy, for every record",
            AgglomerativeOptions,
            fallback=SLOW,
        ),
        Method(
            "diameter-cover",
            "sqlanon.methods.clustering.linkage",
            "without other models than k a loss of at most 4k (1 + ln 2k) times the least possible",
            ClusterOptions,
            fallback=SLOW,
        ),
        Method(
            "partial-domain",
            "sqlanon.methods.clustering.partial_domain",
            "every model of the policy, for every record",
            ClusterOptions,
            fallback=SLOW,
        ),
        Method(
            "pattern-greedy",
            "sqlanon.methods.patterns.method",
            "every model of the policy",
            PatternOptions,
            fallback=USERS,
        ),
        Method(
            "pattern-exact",
            "sqlanon.methods.patterns.optimum",
            "proven least loss of all that your patterns and the policy allow",
            PatternOptions,
            fallback=USERS,
        ),
    )
}
DEFAULT = METHODS["incognito"]
"""The method where none is asked for."""
CHOICE = Method(
    AUTO,
    "sqlanon.methods.choice",
    "what the method that it chooses guarantees",
    AutoOptions,
    "any",
    tuple(dict.fromkeys(loss for row in METHODS.values() for loss in row.losses)),
    takes_all=True,
)
"""The method that chooses one of the others, where it is asked for by name."""


def method_named(name: str) -> Method:
    """A method by its name; a `PolicyError` where there is none."""
    known = {AUTO: CHOICE, **METHODS}
    if name not in known:
        meant = did_you_mean(str(name), known)
        raise PolicyError(f"method {name!r} is not known; choose one of {', '.join(known)}{meant}")
    return known[name]


def _choice_options(settings: Mapping[str, Any], loss: str) -> AutoOptions:
    """Options of a choice, from those of any method.

    Raises:
        PolicyError: No method takes them all and can be steered by the loss, or a value is invalid.
    """
    CHOICE.check_loss(loss)
    for name, value in settings.items():
        OPTIONS[name].check(value)
    options = {name: settings[name] for name in described(AutoOptions).keys() & settings}
    asked = {name: value for name, value in settings.items() if name != "consistent"}
    candidates, refused = {}, {}
    for name, row in METHODS.items():
        try:
            row.check_loss(loss)
            settled = row.settled(asked)
            if row.recoding == "full-domain" or not options.get("consistent"):
                candidates[name] = settled
            else:
                refused[name] = PolicyError(f"{name} publishes columns at more than one level")
        except PolicyError as error:
            refused[name] = error
    if not candidates:
        given = [name for name, value in settings.items() if value != OPTIONS[name].default]
        nearest = max(METHODS, key=lambda name: sum(METHODS[name].takes(key) for key in given))
        raise PolicyError(
            f"no method takes {listed([*given, f'loss {loss}'])} together: {refused[nearest]}"
        )
    return AutoOptions(**options, candidates=candidates)


def _method_help() -> str:
    rows = [f"{row.name} ({row.recoding}; {row.guarantee})" for row in METHODS.values()]
    return (
        f"{'; '.join(rows)}. Default: {DEFAULT.name}. {AUTO} chooses one by the table's size, the "
        "policy and the options given, and says why."
    )


def _loss_help() -> str:
    """The losses that steer every method, and what some minimize besides."""
    common = [loss for loss in MEASURES if all(loss in row.losses for row in METHODS.values())]
    alike: dict[str, list[str]] = {}
    for row in METHODS.values():
        losses = ", ".join(loss for loss in row.losses if loss not in common)
        alike.setdefault(losses, []).append(row.name)
    more = [f"; {listed(names)} also {others}" for others, names in alike.items() if others]
    every = f"with every method {', '.join(common)}{''.join(more)}"
    return f"The measure of loss to minimize: {every}. Default: {DEFAULT_LOSS}."


OPTIONS: Mapping[str, Option] = {
    "method": Option(DEFAULT.name, _method_help(), "METHOD"),
    "loss": Option(DEFAULT_LOSS, _loss_help(), "LOSS"),
    **{
        name: option
        for row in (*METHODS.values(), CHOICE)
        for name, option in described(row.options).items()
    },
}
"""Every option of a search by its name."""


def owners_of(option: str) -> list[str]:
    """The names of the methods that take an option, of `auto` where no other does."""
    return [row.name for row in METHODS.values() if row.takes(option)] or [
        CHOICE.name for _ in described(CHOICE.options).keys() & {option}
    ]


Name = tuple[str, *tuple[Hashable, ...]]
"""What something is and what it is of: of one name there is one thing."""


@dataclass(slots=True)
class SharedWork:
    """Things that one search found and the next ones need, too: codes, itemsets, near records.

    Whoever finds a thing here is told how long it took, and counts that, so that seconds are
    compared as if each search ran alone. A thing is known by its name and a digest of its records:
    blocks and divisions have each their own.

    Whoever runs several searches by one policy and loss hands the same on to each. By itself a
    search keeps nothing.

    Args:
        most: Records that things of one kind may be about in all, for the memory that they take;
            0 to keep nothing.
        stored: Things in temporary tables of the database by their names, where whoever shares has
            a workspace around all searches; None where none may outlive a search.
        borrowed: How long those took to find that were there already, each time that they were
            asked for [seconds].
    """

    most: int = 0
    stored: dict[Name, Any] | None = None
    borrowed: float = field(default=0.0, init=False)
    _table: Hashable = field(default=None, init=False)
    _kept: dict[Name, tuple[Any, float]] = field(default_factory=dict, init=False)
    _records: Counter[str] = field(default_factory=Counter, init=False)

    def read_from(self, table: Hashable) -> None:
        """Forgets everything where this is not the table, by its fingerprint, that it is about."""
        if self.stored is not None and self.stored.setdefault(("table",), table) != table:
            self.stored.clear()
            self.stored["table",] = table
        if table != self._table:
            self._table = table
            self._kept.clear()
            self._records.clear()

    def stored_once(self, name: Name, find: Callable[[], Result]) -> Result:
        """What is in temporary tables already, else what is put there now.

        Args:
            name: What it is, and of what: all that it depends on but the table and the loss.
            find: Puts it there.
        """
        if self.stored is None:
            return find()
        if name not in self.stored:
            self.stored[name] = find()
        stored: Result = self.stored[name]
        return stored

    def once(
        self,
        name: Name,
        find: Callable[[], Result],
        *,
        records: int,
        is_whole: Callable[[Result], bool] = lambda _: True,
    ) -> Result:
        """What was found before, else what is found now.

        Nothing is kept that an error ended. Nobody may change what is kept.

        Args:
            name: What it is, and of which records; what a policy and a loss say need not be there.
            find: Finds it.
            records: How many records it is about.
            is_whole: Whether it is all there is; else nobody gets it but who found it, as where a
                time limit cut it short.
        """
        if name in self._kept:
            kept, seconds = self._kept[name]
            self.borrowed += seconds
            result: Result = kept
            return result
        started = time.monotonic()
        result = find()
        kind = name[0]
        if self._records[kind] + records <= self.most and is_whole(result):
            self._records[kind] += records
            self._kept[name] = result, time.monotonic() - started
        return result


@dataclass(frozen=True, slots=True)
class Options(Generic[Specific_co]):
    """Options of a search.

    Args:
        method: The method.
        specific: Its own options.
        loss: The loss to minimize.
        seed: Seed of all random choices.
        progress: Receives lines about the progress of the search.
        memory: Memory for a search outside the database, about [bytes]; None for no limit.
        threads: Cores that a search may keep busy, where it is fewer than there are: as many as
            the database may; None for all.
        deadline: When every phase ends, and the best found so far is the result.
        shared: What other searches of the same table by the same policy and loss have found.
        cluster: Where there may be more workers than on this machine; None for nowhere.

    Raises:
        PolicyError: The loss cannot steer the method, or the seed is invalid.
    """

    method: Method
    specific: Specific_co
    loss: str = DEFAULT_LOSS
    seed: int = 0
    progress: Callable[[str], None] | None = None
    memory: int | None = None
    threads: int | None = None
    deadline: Deadline = NEVER
    shared: SharedWork = field(default_factory=SharedWork, compare=False)
    cluster: Workers | None = None

    def __post_init__(self) -> None:
        self.method.check_loss(self.loss)
        if not (type(self.seed) is int and self.seed >= 0):
            raise PolicyError(f"seed {self.seed!r} is not a whole number of at least 0")

    @classmethod
    def of(cls, method: str = DEFAULT.name, **settings: Any) -> Options[Any]:
        """Options from the keywords of `plan`; a time limit among them runs from now on.

        Raises:
            PolicyError: A name is unknown, an option belongs to another method, or a value is
                invalid.
        """
        row, names = method_named(method), OPTIONS.keys() - {"loss"}
        options = {name: value for name, value in settings.items() if name in names}
        common = {name: value for name, value in settings.items() if name not in names}
        if row is CHOICE:
            settled: Any = _choice_options(options, common.get("loss", DEFAULT_LOSS))
        else:
            settled = row.settled(options)
        common.setdefault("deadline", Deadline.after(options.get("time_limit")))
        return Options(row, settled, **common)

    @property
    def processes(self) -> int:
        """How many processes a search may have, one for each core, as far as memory holds them."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        most = min(self.threads or cores or 1, cores or 1)
        return most if self.memory is None else max(1, min(most, self.memory // PROCESS_BYTES))

    @contextmanager
    def workers(self, most: int, until: Deadline) -> Iterator[Sequence[Worker]]:
        """Those of the cluster, where they are more than this machine's: see `Workers`."""
        from sqlanon.workers import processes  # few searches have any

        local = min(self.processes, most)
        with ExitStack() as stack:
            far: Sequence[Worker] = ()
            if self.cluster is not None and local < most:
                far = stack.enter_context(self.cluster(most, until))
            yield far if len(far) > local else stack.enter_context(processes(local))


@dataclass(frozen=True, slots=True)
class Decided:
    """The result of a method.

    Args:
        recoding: The recoding found.
        report: Its expected report.
        encoded_at: End of encoding, by the monotonic clock [seconds].
        searched_at: End of the search.
        rounds: Rounds of suppression up to the fixpoint.
        smallest: The least size of a class that is not suppressed for its size [records, or
            persons]; None for k.
        tallied: Counts of a recoding of groups or single records; None for a node.
    """

    recoding: Recoding
    report: Report
    encoded_at: float
    searched_at: float
    rounds: int = 1
    smallest: int | None = None
    tallied: Tallied | None = None
