"""Declarations of hierarchies, made before any table is read: explicit rows, or a rule.

Bound to a column, a declaration becomes a `Tree`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from sqlanon.arguments import kind_of, path_of
from sqlanon.errors import HierarchyError, SourceError
from sqlanon.hierarchy.rules import (
    Dates,
    Expressions,
    Intervals,
    Number,
    Path,
    Prefix,
    Rows,
    Rule,
    Suppression,
    Table,
    exact,
    whole,
)
from sqlanon.hierarchy.tree import Tree, shape_faults

__all__ = ["Hierarchy", "Path", "Tree"]

FORMS: Mapping[str, tuple[str, ...]] = {
    "suppress": (),
    "rows": ("name",),
    "file": ("delimiter",),
    "table": (),
    "intervals": ("origin", "low", "high"),
    "prefix": ("mask",),
    "dates": (),
    "expressions": (),
    "sql": (),
}
"""For each kind of `Hierarchy.from_dict`, the keys that may stand beside it."""
_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|[^;'"]+""")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A laminar tree over the values of a column, balanced or not, as a declaration.

    Build one with a constructor: `suppression`, `from_rows`, `from_file`, `intervals`, `prefix`,
    `dates`, `expressions`, `table`, or from text with `from_spec`.

    Example:
        >>> Hierarchy.intervals(5, 10, 20).height
        4
        >>> Hierarchy.from_spec("prefix:4,3,2").describe()
        'prefixes of 4, 3, 2 characters'
    """

    rule: Rule = field(default_factory=Suppression)

    @classmethod
    def suppression(cls) -> Hierarchy:
        """Keep a value or replace it with `*`: the tree of height one."""
        return cls(Suppression())

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str | int | None]], *, name: str = "") -> Hierarchy:
        """Explicit paths from leaf to top, one for each value; a leaf of None is NULL.

        Args:
            rows: All of one width. Whether their levels nest is checked when the tree grows.
            name: Where the rows come from, for messages.

        Raises:
            HierarchyError: If rows are missing, ragged, without a level, or not of texts.
        """
        subject = f"hierarchy '{name}'" if name else "hierarchy of rows"
        if not isinstance(name, str):
            raise HierarchyError(["the name of a hierarchy must be a text"])
        try:
            paths: tuple[Any, ...] = tuple(map(tuple, rows))
        except TypeError:
            raise HierarchyError([f"{subject} needs rows that are lists of labels"]) from None
        foreign = set(map(type, chain.from_iterable(paths))) - {str, type(None)}
        if foreign - {int}:
            raise HierarchyError([f"{subject} has labels that are neither text nor integer"])
        if foreign:
            paths = tuple(
                tuple(None if label is None else str(label) for label in path) for path in paths
            )
        faults = shape_faults(paths, subject)
        if faults:
            raise HierarchyError(faults)
        return cls(Rows(paths, name))

    @classmethod
    def from_file(
        cls, file: str | FilePath, *, delimiter: str | None = None, name: str | None = None
    ) -> Hierarchy:
        """Read explicit paths from a file of lines `leaf;level 1;…;top`.

        The file is UTF-8, with `;` or `,` between fields and the quoting of CSV. An empty leaf
        is NULL. A first line `leaf;level1;…;level<height>` is a header.

        Args:
            file: Its path.
            delimiter: One character; left out, `;` where the first line has one, else `,`.
            name: How messages call the hierarchy; the file's name where left out.

        Raises:
            SourceError: If the file cannot be read.
            HierarchyError: As for `from_rows`, or if the file is not UTF-8 or not CSV.
        """
        path = path_of(file, "hierarchy file")
        name = path.name if name is None else name
        if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
            raise HierarchyError([f"hierarchy '{name}': the delimiter must be one character"])
        try:
            with path.open(encoding="utf-8-sig", newline="") as stream:
                first = re.sub(r'"[^"]*("|$)', "", stream.readline())
                stream.seek(0)
                separator = delimiter or (";" if ";" in first else ",")
                reader = csv.reader(stream, delimiter=separator)
                numbered = [(reader.line_num, row) for row in reader if row]
        except OSError as error:
            raise SourceError(f"hierarchy file '{path}': {error.strerror}") from None
        except UnicodeDecodeError:
            raise HierarchyError([f"hierarchy '{name}' is not a UTF-8 file"]) from None
        except csv.Error:
            where = f" from line {reader.line_num} on"
            raise HierarchyError([f"hierarchy '{name}' is not a CSV file{where}"]) from None
        if numbered and _is_header(numbered[0][1]):
            del numbered[0]
        try:
            return cls.from_rows((_nullable(row) for _, row in numbered), name=name)
        except HierarchyError as error:
            faults = [*error.faults]
        width = len(numbered[0][1]) if numbered else 0
        ragged = [line for line, row in numbered if len(row) != width]
        if ragged:
            faults[0] += f"; see {_lines(ragged)}"
        raise HierarchyError(faults)

    @classmethod
    def intervals(
        cls,
        *widths: Number,
        origin: Number = 0,
        low: Number | None = None,
        high: Number | None = None,
    ) -> Hierarchy:
        """Half-open intervals of a number, one width for each level, on a grid through `origin`.

        Values below `low` are one node, and so are values from `high` on, at every level.

        Raises:
            HierarchyError: If a width does not divide the next, or is not positive.
        """
        rule = Intervals(
            tuple(map(exact, widths)),
            exact(origin),
            None if low is None else exact(low),
            None if high is None else exact(high),
        )
        return cls(rule)

    @classmethod
    def prefix(cls, *lengths: int, mask: str = "*") -> Hierarchy:
        """The first characters of a text, each removed one replaced by the mask: `1234*`.

        Raises:
            HierarchyError: If the lengths are not positive and descending.
        """
        return cls(Prefix(whole(lengths), mask))

    @classmethod
    def dates(cls, *units: str) -> Hierarchy:
        """Calendar units of a date: `day`, `week`, `month`, `quarter`, `year`, `decade`.

        Raises:
            HierarchyError: If a unit is unknown or does not hold the one before it.
        """
        return cls(Dates(units))

    @classmethod
    def expressions(cls, *texts: str) -> Hierarchy:
        """One SQL expression for each level, over the column's name or the word `value`."""
        return cls(Expressions(texts))

    @classmethod
    def table(cls, name: str) -> Hierarchy:
        """A hierarchy kept in the database, stored under the name or as a plain table of it."""
        return cls(Table(name))

    @classmethod
    def from_spec(cls, text: str, *, folder: FilePath | None = None) -> Hierarchy:
        """Read a hierarchy from the text of a command-line option.

        The forms are `suppress`; `intervals:5,10,20` with `;origin=0`, `;low=0`, `;high=100` as
        wanted; `prefix:4,3,2` with `;mask=#`; `dates:month,quarter,year`; `sql:expression;…`,
        one for each level, where a semicolon inside quotes separates nothing; `table:name`;
        `file:path`. Everything else is the path of a file.

        Args:
            text: The option's text, without the column.
            folder: What a relative path starts from; the working directory where left out.

        Raises:
            HierarchyError: If the text names no hierarchy.
            SourceError: If the file cannot be read.
        """
        if not isinstance(text, str):
            raise HierarchyError([f"a hierarchy in words must be a text, not {kind_of(text)}"])
        return cls.from_dict(form_of_spec(text), folder=folder)

    @classmethod
    def from_dict(cls, form: Mapping[str, Any], *, folder: FilePath | None = None) -> Hierarchy:
        """Read a hierarchy from the form of a policy file or a saved plan.

        The forms are `{}` or `{suppress = true}`; `{intervals = […], origin, low, high}`;
        `{prefix = […], mask}`; `{dates = […]}`; `{sql = […]}` or `{expressions = […]}`;
        `{table = "name"}`; `{file = "path", delimiter}`; `{rows = [[…], …], name}`.

        Args:
            form: One kind and its own options.
            folder: What a relative path starts from; the working directory where left out.

        Raises:
            HierarchyError: If keys are unknown, kinds compete, or a value does not fit its key.
            SourceError: If the file cannot be read.
        """
        if not isinstance(form, Mapping):
            raise HierarchyError([f"the form of a hierarchy must be a table, not {kind_of(form)}"])
        kinds = [kind for kind in FORMS if kind in form]
        kind = kinds[0] if kinds else "suppress"
        unknown = sorted(set(map(str, form)) - {*kinds, *FORMS[kind]})
        faults = []
        if len(kinds) > 1:
            faults.append(f"hierarchy has {len(kinds)} kinds ({', '.join(kinds)}); keep one")
        if unknown:
            faults.append(f"hierarchy '{kind}' has unknown keys: {', '.join(unknown)}")
        if faults:
            raise HierarchyError(faults)
        options = {key: form[key] for key in FORMS[kind] if key in form}
        try:
            return _builders(folder)[kind](form.get(kind, True), options)
        except TypeError:
            raise HierarchyError([f"hierarchy '{kind}' has a value of the wrong type"]) from None

    def to_dict(self) -> dict[str, object]:
        """The form that `from_dict` reads: JSON and TOML can carry it, rows and all."""
        return self.rule.to_dict()

    @property
    def kind(self) -> str:
        """The rule's kind: suppression, rows, table, intervals, prefix, dates or expressions."""
        return self.rule.kind

    @property
    def height(self) -> int:
        """Number of levels above the leaves."""
        return self.rule.height

    @property
    def rows(self) -> tuple[Path, ...] | None:
        """The explicit rows; None for a rule, whose leaves are the values of the column."""
        return self.rule.paths if isinstance(self.rule, Rows) else None

    @property
    def name(self) -> str:
        """Where explicit rows come from, such as a file's name; empty for rules."""
        return self.rule.name if isinstance(self.rule, Rows | Table) else ""

    def describe(self) -> str:
        """A phrase such as `intervals of 5, 10, 20`."""
        return self.rule.describe()


def form_of_spec(text: str) -> dict[str, Any]:
    """The form of a policy file for a hierarchy that the command line names.

    Raises:
        HierarchyError: If the text names no hierarchy.

    >>> form_of_spec("intervals:5,10;low=0")
    {'intervals': ['5', '10'], 'low': '0'}
    """
    if text == "suppress":
        return {"suppress": True}
    kind, colon, rest = text.partition(":")
    if colon and kind in ("table", "file"):
        return {kind: rest}
    if colon and kind in ("sql", "expressions"):
        return {"expressions": _split_expressions(rest)}
    if colon and kind in ("intervals", "prefix", "dates"):
        return _read_options(kind, rest)
    if not text or (colon and kind.isalpha() and len(kind) > 1):
        known = "suppress, intervals:, prefix:, dates:, sql:, table:, file:"
        raise HierarchyError([f"hierarchy '{text}' has an unknown kind; choose from {known}"])
    return {"file": text}


def _builders(
    folder: FilePath | None,
) -> dict[str, Callable[[Any, dict[str, Any]], Hierarchy]]:
    """For each kind of `from_dict`, the constructor that takes its value and its options."""

    def read(file: object, options: dict[str, Any]) -> Hierarchy:
        path = folder / _text(file) if folder else FilePath(_text(file))
        return Hierarchy.from_file(path, **options)

    def suppress(wanted: object, _: object) -> Hierarchy:
        if wanted is not True:
            raise HierarchyError(["hierarchy 'suppress' can only be true; leave the key out"])
        return Hierarchy.suppression()

    return {
        "suppress": suppress,
        "rows": lambda rows, options: Hierarchy.from_rows(_list(rows), **options),
        "file": read,
        "table": lambda name, _: Hierarchy.table(_text(name)),
        "intervals": lambda widths, options: Hierarchy.intervals(*_list(widths), **options),
        "prefix": lambda lengths, options: Hierarchy.prefix(
            *_list(lengths), **{key: _text(option) for key, option in options.items()}
        ),
        "dates": lambda units, _: Hierarchy.dates(*map(_text, _list(units))),
        **dict.fromkeys(
            ("expressions", "sql"),
            lambda texts, _: Hierarchy.expressions(*map(_text, _list(texts))),
        ),
    }


def _is_header(row: Sequence[str]) -> bool:
    return list(row) == ["leaf", *(f"level{level}" for level in range(1, len(row)))]


def _lines(numbers: Sequence[int], most: int = 5) -> str:
    """Lines of a file by their numbers, the first ones of many."""
    shown = ", ".join(map(str, numbers[:most]))
    more = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return f"line {shown}" if len(numbers) == 1 else f"lines {shown}{more}"


def _list(value: object) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError
    return list(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _nullable(row: list[str]) -> Path:
    """The path of a line: where the leaf is empty, it is NULL, and empty labels are NULL too."""
    return tuple(row) if row[0] and all(row) else tuple(label or None for label in row)


def _read_options(kind: str, text: str) -> dict[str, Any]:
    """Read `5,10,20;low=0` as the form of a policy file."""
    values, *options = text.split(";")
    form: dict[str, Any] = {kind: [value.strip() for value in values.split(",")]}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise HierarchyError([f"hierarchy '{kind}': '{option}' is no option of the form a=b"])
        form[key.strip()] = value
    return form


def _split_expressions(text: str) -> list[str]:
    """Split at the semicolons that stand outside quotes."""
    parts = [""]
    end = 0
    for match in _QUOTED.finditer(text):
        between = text[end : match.start()]
        if between.strip(";"):
            break
        parts.extend([""] * len(between))
        parts[-1] += match.group()
        end = match.end()
    if text[end:]:
        raise HierarchyError(["hierarchy 'sql' has an open quote or an empty expression"])
    return [part.strip() for part in parts]
