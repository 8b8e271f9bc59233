"""Rules of hierarchies: explicit paths, intervals, prefixes, dates and expressions.

The top of a rule is a single node, `*`. Labels of nodes come from the rule's own grid, so that none
of them tells an extreme of the data. Its leaves are the values that a table holds: labels of groups
that name some (`group_labels`) leave the least and the greatest out where they can. A label that is
also a leaf is a value of the table, which nobody may have published: it names no level.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from itertools import chain, islice, pairwise
from typing import ClassVar

from sqlanon.errors import HierarchyError
from sqlanon.wording import counted

Path = tuple[str | None, ...]
"""Leaf, label of level 1, …, label of the top; a leaf of None is NULL."""

Number = int | float | str | Decimal

GRID_DIGITS = 15
"""Significant digits of a grid: as many as a DOUBLE keeps exactly."""

UNITS = ("day", "week", "month", "quarter", "year", "decade")
_COARSER = {
    "day": ("week", "month", "quarter", "year", "decade"),
    "week": (),
    "month": ("quarter", "year", "decade"),
    "quarter": ("year", "decade"),
    "year": ("decade",),
    "decade": (),
}


@dataclass(frozen=True, slots=True)
class Suppression:
    """Keep a value or replace it with `*`."""

    kind: ClassVar[str] = "suppression"
    height: ClassVar[int] = 1

    def describe(self) -> str:
        """One phrase for people."""
        return "suppression"

    def to_dict(self) -> dict[str, object]:
        """The form of a policy file."""
        return {"suppress": True}


@dataclass(frozen=True, slots=True)
class Rows:
    """One explicit path from leaf to top for each value.

    Args:
        paths: All of one width, in the order that the leaves shall have.
        name: Where the rows come from, such as a file's name, for messages.
        others: The labels from level 1 up of every value that has no row; None where there is to
            be no other value.
        lines: The line of each row in its file, for messages; empty where there is no file.
    """

    kind: ClassVar[str] = "rows"
    paths: tuple[Path, ...]
    name: str = ""
    others: tuple[str, ...] | None = None
    lines: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.paths[0]) - 1

    @property
    def is_ungrouped(self) -> bool:
        """Whether there are levels for groups, and each value is still alone in all of them."""
        if self.height == 1 or self.others is not None:
            return False
        return all(set(path[1:-1]) == {path[0]} for path in self.paths)

    def describe(self) -> str:
        """One phrase for people."""
        origin = f" of {self.name}" if self.name else ""
        leaves = counted(len(self.paths), "leaf", more="leaves")
        more = "" if self.others is None else " and a row for all other values"
        levels = "no groups yet" if self.is_ungrouped else counted(self.height, "level")
        return f"rows{origin} ({leaves}{more}, {levels})"

    def to_dict(self) -> dict[str, object]:
        """The form of a saved plan: the rows themselves, so that the file is not needed again."""
        name = {"name": self.name} if self.name else {}
        others = {} if self.others is None else {"others": list(self.others)}
        return {"rows": [list(path) for path in self.paths], **name, **others}


@dataclass(frozen=True, slots=True)
class Table:
    """Explicit paths that are stored in the database, not loaded yet."""

    kind: ClassVar[str] = "table"
    name: str

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise HierarchyError("hierarchy 'table' needs the name of a table")

    @property
    def height(self) -> int:
        """Unknown before the rows are loaded.

        Raises:
            HierarchyError: Always.
        """
        raise HierarchyError(f"hierarchy '{self.name}' must be loaded before its levels count")

    def describe(self) -> str:
        """One phrase for people."""
        return f"table '{self.name}'"

    def to_dict(self) -> dict[str, object]:
        """The form of a policy file."""
        return {"table": self.name}


@dataclass(frozen=True, slots=True)
class Intervals:
    """Half-open intervals `[origin + i·width, origin + (i+1)·width)`, one width for each level.

    Args:
        widths: Positive; each divides the next, or the levels would not nest.
        origin: A border of every level.
        low: All values below it are one node, `<low`.
        high: All values from it on are one node, `>=high`.
    """

    kind: ClassVar[str] = "intervals"
    widths: tuple[Decimal, ...]
    origin: Decimal = Decimal(0)
    low: Decimal | None = None
    high: Decimal | None = None

    def __post_init__(self) -> None:
        faults = [] if self.widths else ["hierarchy 'intervals' needs at least one width"]
        not_positive = sum(width <= 0 for width in self.widths)
        if not_positive:
            some = counted(not_positive, "width that is", more="widths that are")
            faults.append(f"hierarchy 'intervals' has {some} not positive")
        if self.scale > GRID_DIGITS or any(
            abs(self.units(n)) >= 10**GRID_DIGITS for n in self._numbers()
        ):
            faults.append(f"hierarchy 'intervals' needs more than {GRID_DIGITS} digits")
        elif not not_positive:
            faults.extend(self._nesting_faults())
        if self.low is not None and self.high is not None and self.low >= self.high:
            faults.append("hierarchy 'intervals' has a low that is not below its high")
        if faults:
            raise HierarchyError(faults)

    def _nesting_faults(self) -> list[str]:
        faults = []
        for level, (width, wider) in enumerate(pairwise(self.widths), start=1):
            if wider <= width:
                faults.append(
                    f"hierarchy 'intervals': width {_text(wider)} of level {level + 1} "
                    f"is not above width {_text(width)} of level {level}"
                )
            elif self.units(wider) % self.units(width):
                faults.append(
                    f"hierarchy 'intervals' does not nest: width {_text(width)} of level {level} "
                    f"does not divide width {_text(wider)} of level {level + 1}"
                )
        return faults

    def _numbers(self) -> list[Decimal]:
        ends = [end for end in (self.low, self.high) if end is not None]
        return [*self.widths, self.origin, *ends]

    @property
    def scale(self) -> int:
        """Decimals of the grid: every border is a whole number of units of 10^-scale."""
        return max(_scale(number) for number in self._numbers())

    def units(self, number: Decimal) -> int:
        """The number in units of 10^-scale."""
        return int(number.scaleb(self.scale))

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.widths) + 1

    def describe(self) -> str:
        """One phrase for people."""
        parts = ["intervals of " + ", ".join(_text(width) for width in self.widths)]
        if self.origin:
            parts.append(f"from {_text(self.origin)}")
        if self.low is not None:
            parts.append(f"open below {_text(self.low)}")
        if self.high is not None:
            parts.append(f"open from {_text(self.high)}")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, object]:
        """The form of a policy file."""
        options = {"origin": self.origin or None, "low": self.low, "high": self.high}
        return {
            "intervals": list(map(_plain, self.widths)),
            **{name: _plain(value) for name, value in options.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first characters of a value, every other one replaced by a mask.

    Args:
        lengths: Characters kept at level 1, 2, …; descending. Shorter values stay whole.
        mask: What stands for each removed character; may be empty.
    """

    kind: ClassVar[str] = "prefix"
    lengths: tuple[int, ...]
    mask: str = "*"

    def __post_init__(self) -> None:
        if not isinstance(self.mask, str):
            raise HierarchyError("hierarchy 'prefix' needs a mask that is a text")
        faults = [] if self.lengths else ["hierarchy 'prefix' needs at least one length"]
        not_positive = sum(length < 1 for length in self.lengths)
        if not_positive:
            some = counted(not_positive, "length that is", more="lengths that are")
            faults.append(f"hierarchy 'prefix' has {some} not positive")
        faults.extend(
            f"hierarchy 'prefix' does not nest: length {longer} of level {level + 1} "
            f"is not below length {length} of level {level}"
            for level, (length, longer) in enumerate(pairwise(self.lengths), start=1)
            if longer >= length
        )
        if faults:
            raise HierarchyError(faults)

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.lengths) + 1

    def describe(self) -> str:
        """One phrase for people."""
        return "prefixes of " + ", ".join(map(str, self.lengths)) + " characters"

    def to_dict(self) -> dict[str, object]:
        """The form of a policy file."""
        mask = {} if self.mask == "*" else {"mask": self.mask}
        return {"prefix": list(self.lengths), **mask}


@dataclass(frozen=True, slots=True)
class Dates:
    """Calendar units of a date or timestamp, finest first.

    Args:
        units: Of `UNITS`, each coarser than the one before. A week crosses the borders of months,
            quarters, years and decades: only a day may come before it, and nothing after it.
    """

    kind: ClassVar[str] = "dates"
    units: tuple[str, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(unit, str) for unit in self.units):
            raise HierarchyError("hierarchy 'dates' needs units that are texts")
        faults = [] if self.units else ["hierarchy 'dates' needs at least one unit"]
        unknown = [unit for unit in self.units if unit not in _COARSER]
        if unknown:
            faults.append(
                f"hierarchy 'dates' has {counted(len(unknown), 'unknown unit')} "
                f"({', '.join(unknown)}); choose from {', '.join(UNITS)}"
            )
        for level, (unit, wider) in enumerate(pairwise(self.units), start=1):
            if unit in unknown or wider in unknown or wider in _COARSER[unit]:
                continue
            faults.append(
                f"hierarchy 'dates' does not nest: a week of level {level} can lie in two units "
                f"of level {level + 1} ({wider}); let the week be the last unit"
                if unit == "week"
                else f"hierarchy 'dates': {wider} of level {level + 1} is not coarser than {unit} "
                f"of level {level}"
            )
        if faults:
            raise HierarchyError(faults)

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.units) + 1

    def describe(self) -> str:
        """One phrase for people."""
        return "dates by " + ", ".join(self.units)

    def to_dict(self) -> dict[str, object]:
        """The form of a policy file."""
        return {"dates": list(self.units)}


@dataclass(frozen=True, slots=True)
class Expressions:
    """One SQL expression for each level, over the column's own name or the word `value`."""

    kind: ClassVar[str] = "expressions"
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.texts:
            raise HierarchyError("hierarchy 'expressions' needs at least one expression")
        if not all(isinstance(text, str) for text in self.texts):
            raise HierarchyError("hierarchy 'expressions' needs expressions that are texts")
        empty = sum(not text.strip() for text in self.texts)
        if empty:
            raise HierarchyError(f"hierarchy 'expressions' has {empty} empty expressions")

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return len(self.texts) + 1

    def describe(self) -> str:
        """One phrase for people."""
        return "expressions " + "; ".join(self.texts)

    def to_dict(self) -> dict[str, object]:
        """The form of a policy file."""
        return {"expressions": list(self.texts)}


Rule = Suppression | Rows | Table | Intervals | Prefix | Dates | Expressions


def exact(number: Number) -> Decimal:
    """The number as it is written: 0.1 is a tenth, also when it comes as a float.

    Raises:
        HierarchyError: If it is not a finite number, or is too long to count exactly with.
    """
    try:
        if isinstance(number, bool):
            raise InvalidOperation
        decimal = Decimal(str(number).strip())
    except InvalidOperation:
        raise HierarchyError(f"hierarchy 'intervals': {number!r} is not a number") from None
    if not decimal.is_finite():
        raise HierarchyError(f"hierarchy 'intervals': {number!r} is not finite")
    if not decimal:
        return Decimal(0)
    if -GRID_DIGITS <= decimal.adjusted() < GRID_DIGITS:
        plain = decimal.normalize(Context(prec=len(decimal.as_tuple().digits)))
        if _scale(plain) <= GRID_DIGITS:
            return plain
    raise HierarchyError(f"hierarchy 'intervals': {number} needs more than {GRID_DIGITS} digits")


def whole(numbers: Sequence[Number]) -> tuple[int, ...]:
    """The numbers as integers.

    Raises:
        HierarchyError: If one of them is not an integer.
    """
    try:
        if any(isinstance(number, bool | float | Decimal) for number in numbers):
            raise ValueError
        return tuple(int(number) for number in numbers)
    except (TypeError, ValueError):
        raise HierarchyError("hierarchy 'prefix' needs lengths that are integers") from None


def _scale(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _text(number: Decimal) -> str:
    return f"{number:f}"


def _plain(number: Decimal) -> int | float | str:
    """The number for JSON and TOML: the shortest type from which it can be read back exactly."""
    if number == number.to_integral_value():
        return int(number)
    return float(number) if Decimal(repr(float(number))) == number else _text(number)


ORIGINAL = "original value"
TOP = "*"
EXAMPLES = 2
"""Labels that tell a level of explicit rows."""
UNGROUPED = "no groups yet"
"""What the levels are called of rows that put no value into a group."""


def level_names(rule: Rule) -> list[str]:
    """What each level of a rule is called, from the original values to the top.

    >>> level_names(Prefix((3, 1)))
    ['original value', 'first 3 characters', 'first character', '*']
    """
    match rule:
        case Rows():
            leaves = {path[0] for path in rule.paths}
            between = [_labels(rule, level, leaves) for level in range(1, rule.height)]
            return [ORIGINAL, *between, str(rule.paths[0][-1])]
        case Intervals():
            between = [f"intervals of {width:f}" for width in rule.widths]
        case Prefix():
            between = [
                "first character" if length == 1 else f"first {counted(length, 'character')}"
                for length in rule.lengths
            ]
        case Dates():
            between = list(rule.units)
        case Expressions():
            between = list(rule.texts)
        case _:
            between = []
    return [ORIGINAL, *between, TOP]


def _labels(rule: Rows, level: int, leaves: Collection[str | None]) -> str:
    """The first labels of a level that are no leaves; where there are none, how many it has."""
    if rule.is_ungrouped:
        return UNGROUPED
    listed = (path[level] for path in rule.paths if path[level] is not None)
    labels = dict.fromkeys(chain(listed, (rule.others or ())[level - 1 : level]))
    first = list(islice((str(label) for label in labels if label not in leaves), EXAMPLES))
    if not first:
        return f"level {level} ({counted(len(labels), 'group')})"
    return ", ".join([*first, *(["…"] if len(labels) > len(first) else [])])
