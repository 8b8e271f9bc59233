"""Patterns: sets of columns that records keep while all others are suppressed.

`zip@2` keeps a column at level 2 of its hierarchy. Rules stand for all patterns that they allow.
Where a policy sets a column a highest level below the top, no pattern can suppress it: a pattern
that does not keep it publishes it at that level, as the one that tells least. So a column of a
single level is at that level in every pattern, whether it is kept or not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from sqlanon.errors import PolicyError
from sqlanon.policy.roles import all_of
from sqlanon.recoding import Node
from sqlanon.wording import counted, did_you_mean, split_list

Patterns = str | Sequence[str | Sequence[str]]
ALL = "all"
NONE = "none"
MOST_PATTERNS = 2**20
_AT_MOST = re.compile(r"at most (\d+) suppressed")
_NEVER = re.compile(r"(.+) never with (.+)", re.DOTALL)
_FORMS = "'all', 'at most 3 suppressed' or 'zip never with birth date'"


@dataclass(frozen=True, slots=True)
class MaskColumn:
    """A quasi-identifier that patterns keep or suppress.

    Args:
        name: The column.
        low: Its lowest level allowed, at which a pattern keeps it.
        high: Its highest level allowed, at which a pattern publishes it that does not keep it.
        capped: Whether that is below the top, so that it tells something.
    """

    name: str
    low: int
    high: int
    capped: bool = False


@dataclass(frozen=True, slots=True)
class Masks:
    """The patterns that are asked for.

    Args:
        kept: Per pattern the columns that it keeps, each a name or `name@level`; commas part
            columns where no column has that very name. `none` alone keeps nothing.
        rules: Else what every pattern must satisfy: `all` of them, `at most 3 suppressed`, or
            `zip never with birth date`, which keeps at most one of both.

    Raises:
        PolicyError: Neither or both are given, or a rule is not known or names a column twice.
    """

    kept: tuple[tuple[str, ...], ...] = ()
    rules: tuple[str, ...] = ()
    _never: tuple[tuple[str, str], ...] = field(init=False, default=())
    _most: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.kept and self.rules:
            raise PolicyError("patterns are lists of kept columns or rules, not both")
        if not (self.kept or self.rules):
            raise PolicyError("no pattern is given; say which columns one keeps, or 'all'")
        never, limits = [], []
        for rule in self.rules:
            if match := _AT_MOST.fullmatch(rule):
                limits.append(int(match[1]))
            elif match := _NEVER.fullmatch(rule):
                if match[1] == match[2]:
                    raise PolicyError(
                        f"rule {rule!r} of patterns names one column twice; name two columns"
                    )
                never.append((match[1], match[2]))
            elif rule != ALL:
                raise PolicyError(f"rule {rule!r} of patterns is not known; write {_FORMS}")
        object.__setattr__(self, "_never", tuple(never))
        object.__setattr__(self, "_most", min(limits, default=None))

    @classmethod
    def of(cls, given: Patterns) -> Masks:
        """Reads a rule, a list of rules, or a list of patterns.

        Raises:
            PolicyError: It is something else.

        >>> Masks.of("all").rules, Masks.of([["age", "sex"], ["zip@2"]]).kept
        (('all',), (('age', 'sex'), ('zip@2',)))
        """
        if isinstance(given, str):
            return cls(rules=(given,))
        if isinstance(given, Sequence):
            if all(isinstance(item, str) for item in given):
                return cls(rules=tuple(map(str, given)))
            if all(all_of(item, str) for item in given):
                return cls(kept=tuple(map(tuple, given)))
        raise PolicyError(
            f"patterns must be lists of kept columns, such as [['age', 'sex']], or rules: {_FORMS}"
        )

    def nodes(self, columns: Sequence[MaskColumn]) -> list[Node]:
        """The patterns as one level per column: the highest allowed where it is not kept.

        Patterns that only the levels allowed make the same are one.

        Raises:
            PolicyError: Unknown columns, levels out of range, patterns that keep nothing or are
                there twice, all at once; or more patterns than can be tried.
        """
        if self.rules:
            return self._ruled(columns)
        faults: list[str] = []
        known: dict[frozenset[tuple[str, int]], int] = {}
        for number, texts in enumerate(self.kept, start=1):
            try:
                levels = frozenset(_levels(texts, columns).items())
            except PolicyError as error:
                faults.append(f"pattern {number}: {error}")
                continue
            if levels in known:
                faults.append(f"patterns {known[levels]} and {number} are the same")
            known.setdefault(levels, number)
        if faults:
            raise PolicyError("; ".join(faults))
        kept = map(dict, known)
        nodes = (tuple(levels.get(mask.name, mask.high) for mask in columns) for levels in kept)
        return list(dict.fromkeys(nodes))

    @property
    def excludes(self) -> bool:
        """Whether rules exclude that two columns are kept."""
        return bool(self._never)

    def number(self, columns: Sequence[MaskColumn]) -> int:
        """How many patterns there are, without listing them; with `excludes` that many at most."""
        if not self.rules:
            return len(self.kept)
        # A column of a single level is the same, kept or not.
        width = sum(column.low < column.high for column in columns)
        most = width if self._most is None else min(self._most, width)
        return sum(math.comb(width, suppressed) for suppressed in range(most + 1))

    def _ruled(self, columns: Sequence[MaskColumn]) -> list[Node]:
        width = len(columns)
        names = [column.name for column in columns]
        unknown = [n for n in dict.fromkeys(sum(self._never, ())) if n not in names]
        if unknown:
            raise PolicyError("; ".join(_unknown(name, names) for name in unknown))
        most = width if self._most is None else min(self._most, width)
        number = sum(math.comb(width, suppressed) for suppressed in range(most + 1))
        if number > MOST_PATTERNS:
            raise PolicyError(
                f"{number:,} patterns of {counted(width, 'column')} are too many to try; "
                "add a rule such as 'at most 3 suppressed'"
            )
        apart = [{names.index(one), names.index(other)} for one, other in self._never]
        nodes = (
            _keeping(columns, kept)
            for suppressed in range(most + 1)
            for kept in combinations(range(width), width - suppressed)
            if not any(pair.issubset(kept) for pair in apart)
        )
        patterns = list(dict.fromkeys(nodes))  # a column may have a single level
        if not patterns:
            raise PolicyError("no pattern satisfies the rules; leave one out")
        return patterns


def _keeping(columns: Sequence[MaskColumn], kept: Sequence[int]) -> Node:
    """The levels of the pattern that keeps some columns, by their numbers."""
    levels = [column.high for column in columns]
    for number in kept:
        levels[number] = columns[number].low
    return tuple(levels)


def _levels(texts: Sequence[str], columns: Sequence[MaskColumn]) -> dict[str, int]:
    """The levels of the columns that a pattern keeps, of the texts that name them."""
    names = [column.name for column in columns]
    if list(texts) == [NONE] and NONE not in names:
        return {}
    levels: dict[str, int] = {}
    for name, level in (term for text in texts for term in _terms(text, names)):
        column = columns[names.index(name)]
        if name in levels:
            raise PolicyError(f"column {name!r} is kept twice")
        if level is not None and not column.low <= level < column.high + column.capped:
            raise PolicyError(
                f"level {level} of column {name!r} is none that a pattern keeps; {_kept(column)}"
            )
        levels[name] = column.low if level is None else level
    if not levels:
        raise PolicyError(f"it names no column; write {NONE!r} to suppress them all")
    return levels


def _kept(column: MaskColumn) -> str:
    """Which levels a pattern may keep."""
    last = column.high if column.capped else column.high - 1
    if column.low > last:
        return "its lowest level allowed is the top, so no pattern keeps it"
    if column.low == last:
        return f"the only one is {column.low}"
    return f"they are {column.low} to {last}"


def _terms(text: str, names: Sequence[str]) -> Iterator[tuple[str, int | None]]:
    """The columns that a text names, each with its level, None where not given."""
    for item in split_list(
        text, names, is_item=lambda item: item in names or _parted(item)[0] in names
    ):
        name, level = _parted(item)
        if item in names:
            yield item, None
        elif name not in names and item:
            raise PolicyError(_unknown(item.partition("@")[0], names))
        elif item and not level.isdecimal():
            raise PolicyError(
                f"{level!r} is not a level of column {name!r}; a level is a whole number"
            )
        elif item:
            yield name, int(level)


def _parted(item: str) -> tuple[str, str]:
    """Column and level of `column@level`."""
    name, _, level = item.rpartition("@")
    return ("", level) if "," in level else (name, level)


def _unknown(name: str, names: Sequence[str]) -> str:
    return f"{name!r} is not a quasi-identifier{did_you_mean(name, names)}"
