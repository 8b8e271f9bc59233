"""Declarations of hierarchies, made before any table is read: explicit rows, or a rule.

Bound to a column, a declaration becomes a `Tree`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from sqlanon.arguments import kind_of, path_of
from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.files import OTHERS, read_rows
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
from sqlanon.hierarchy.tree import Tree, lines_text, shape_faults
from sqlanon.wording import counted

__all__ = ["Hierarchy", "Path", "Tree"]

FORMS: Mapping[str, tuple[str, ...]] = {
    "suppress": (),
    "rows": ("name", "others"),
    "file": ("delimiter",),
    "table": (),
    "intervals": ("origin", "low", "high"),
    "prefix": ("mask",),
    "dates": (),
    "expressions": (),
    "sql": (),
}
"""For each kind of `Hierarchy.from_dict`, the keys that may stand beside it."""
_VALUES: Mapping[str, str] = {
    "rows": "a list of paths, each a list of labels",
    "file": "its path as a text",
    "table": "its name as a text",
    "intervals": "a list of numbers, such as [5, 10]",
    "prefix": "a list of numbers, such as [3, 1], and mask as a text",
    **dict.fromkeys(("dates", "expressions", "sql"), "a list of texts"),
}
"""For each kind, the value that it takes."""


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
    def from_rows(
        cls,
        rows: Iterable[Sequence[str | int | None]],
        *,
        name: str = "",
        others: Sequence[str] | None = None,
    ) -> Hierarchy:
        """Explicit paths from leaf to top, one for each value; a leaf of None is NULL.

        Args:
            rows: All of one width. Whether their levels nest is checked when the tree grows.
            name: Where the rows come from, for messages.
            others: The labels, from level 1 to the top, of every value but NULL that has no row;
                left out, such values are an error.

        Raises:
            HierarchyError: If rows are missing, ragged, without a level, or not of texts.
        """
        subject = f"hierarchy {name!r}" if name else "hierarchy of rows"
        if not isinstance(name, str):
            raise HierarchyError("the name of a hierarchy must be a text")
        try:
            paths: tuple[Any, ...] = tuple(map(tuple, rows))
        except TypeError:
            raise HierarchyError(f"{subject} needs rows that are lists of labels") from None
        foreign = set(map(type, chain.from_iterable(paths))) - {str, type(None)}
        if foreign - {int}:
            raise HierarchyError(f"{subject} has labels that are neither text nor integer")
        if foreign:
            paths = tuple(
                tuple(None if label is None else str(label) for label in path) for path in paths
            )
        if others is not None and not paths:
            raise HierarchyError(
                f"{subject} has only the row for all other values; give a value a row of its own"
            )
        faults = shape_faults(paths, subject) or _others_faults(others, paths[0], subject=subject)
        if faults:
            raise HierarchyError(faults)
        return cls(Rows(paths, name, None if others is None else tuple(others)))

    @classmethod
    def from_file(
        cls, file: str | FilePath, *, delimiter: str | None = None, name: str | None = None
    ) -> Hierarchy:
        """Read explicit paths from a file of lines `leaf;level 1;…;top`.

        The file is UTF-8, with `;` or `,` between fields and the quoting of CSV. An empty leaf
        is NULL, and `""` the empty text. A leaf `*` is the row of all values that have none, and
        `"*"` the value of one star. A first line `leaf;level1;…;level<height>` is a header.

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
            raise HierarchyError(f"hierarchy {name!r}: the delimiter must be one character")
        numbered = read_rows(path, name, delimiter=delimiter)
        rest = [(line, row) for line, row in numbered if row[0] is OTHERS]
        numbered = [(line, row) for line, row in numbered if row[0] is not OTHERS]
        others: Sequence[Any] | None = rest[0][1][1:] if rest else None
        try:
            made = cls.from_rows((row for _, row in numbered), name=name, others=others)
            faults = []
        except HierarchyError as error:
            faults = [*error.faults]
        if len(rest) > 1:
            lines = lines_text([line for line, _ in rest])
            faults.append(f"hierarchy {name!r} has {len(rest)} rows for all other values; {lines}")
        if not faults:
            assert isinstance(made.rule, Rows)
            return cls(replace(made.rule, lines=tuple(line for line, _ in numbered)))
        width = len(numbered[0][1]) if numbered else 0
        ragged = [line for line, row in numbered if len(row) != width]
        if ragged:
            faults[0] += f"; {lines_text(ragged)}"
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
            raise HierarchyError(f"a hierarchy in words must be a text, not {kind_of(text)}")
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
            raise HierarchyError(f"the form of a hierarchy must be a table, not {kind_of(form)}")
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
            fault = f"hierarchy '{kind}' has a value of the wrong type; give {_VALUES[kind]}"
            raise HierarchyError(fault) from None

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
    def others(self) -> tuple[str, ...] | None:
        """The labels, from level 1 up, of every value without an explicit row, where it has any."""
        return self.rule.others if isinstance(self.rule, Rows) else None

    @property
    def is_listed(self) -> bool:
        """Whether the user wrote every leaf, so that none of them is made of the table."""
        return self.rows is not None and self.others is None

    @property
    def lines(self) -> tuple[int, ...]:
        """The line of each explicit row in its file; empty where there is none."""
        return self.rule.lines if isinstance(self.rule, Rows) else ()

    @property
    def name(self) -> str:
        """Where explicit rows come from, such as a file's name; empty for rules."""
        return self.rule.name if isinstance(self.rule, Rows | Table) else ""

    def describe(self) -> str:
        """A phrase such as `intervals of 5, 10, 20`."""
        return self.rule.describe()


def _builders(
    folder: FilePath | None,
) -> dict[str, Callable[[Any, dict[str, Any]], Hierarchy]]:
    """For each kind of `from_dict`, the constructor that takes its value and its options."""

    def read(file: object, options: dict[str, Any]) -> Hierarchy:
        path = folder / _text(file) if folder else FilePath(_text(file))
        return Hierarchy.from_file(path, **options)

    def suppress(wanted: object, _: object) -> Hierarchy:
        if wanted is not True:
            raise HierarchyError("hierarchy 'suppress' can only be true; leave the key out")
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


def _others_faults(others: object, path: Path, *, subject: str) -> list[str]:
    """Faults of the row for all other values, beside the path of one that has a row."""
    if others is None:
        return []
    what = f"{subject}: the row for all other values"
    if isinstance(others, str) or not isinstance(others, Sequence):
        return [f"{what} must be a list of labels, from level 1 to the top"]
    if len(others) != len(path) - 1:
        return [f"{what} has {counted(len(others), 'label')}, the others {len(path) - 1}"]
    if not all(isinstance(label, str) for label in others):
        return [f"{what} has labels that are empty or no text"]
    return [] if others[-1] == path[-1] else [f"{what} has another top than the others"]


def _list(value: object) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError
    return list(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|[^;'"]+""")


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
        raise HierarchyError(f"hierarchy '{text}' has an unknown kind; choose from {known}")
    return {"file": text}


def _read_options(kind: str, text: str) -> dict[str, Any]:
    """Read `5,10,20;low=0` as the form of a policy file."""
    values, *options = text.split(";")
    form: dict[str, Any] = {kind: [value.strip() for value in values.split(",")]}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise HierarchyError(f"hierarchy '{kind}': '{option}' is no option of the form a=b")
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
        raise HierarchyError("hierarchy 'sql' has an open quote or an empty expression")
    return [part.strip() for part in parts]


def grown(hierarchy: Hierarchy, column: str = "", *, name: str = "") -> Tree:
    """The tree of explicit rows alone, with a leaf that stands for all values without a row.

    Args:
        hierarchy: The rows.
        column: The column that they belong to; empty for none.
        name: What messages call the hierarchy, where not by its own name.

    Raises:
        HierarchyError: The rows are no tree.
    """
    rows = list(hierarchy.rows or ())
    if hierarchy.others is not None:
        longest = max((path[0] or "" for path in rows), key=len)
        rows.append((f"{longest}*", *hierarchy.others))  # longer than any leaf
    return Tree.grow(column, rows, name=name or hierarchy.name, lines=hierarchy.lines)
