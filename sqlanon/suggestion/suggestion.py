"""Suggestion: a draft of a policy with a reason for every column, as text, document and page."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from textwrap import wrap
from typing import Any

from sqlglot import exp

from sqlanon.arguments import path_of
from sqlanon.engine.files import refuse_folder, write_private
from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.rules import Path as Labels
from sqlanon.microdata.inspect import write_paths
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import LDiversity
from sqlanon.policy.roles import QuasiIdentifier, Sensitive
from sqlanon.policy.sizes import KAnonymity
from sqlanon.query.hierarchy.value_labels import level_labels
from sqlanon.query.syntax import column as column_of
from sqlanon.reports.document import Provenance, SelfShown, ShownTable, page
from sqlanon.resources import plain_text
from sqlanon.suggestion.roles import Role
from sqlanon.wording import counted, did_you_mean, in_columns, listed, percent

ADVISORY = (
    "It is a draft, made from the names, types and values of the columns. Only you know what "
    "others know of these people: read each reason, change what is wrong, and ask whoever is "
    "responsible for data protection to agree."
)
MANY_NODES = 1_000_000
"""Nodes of a lattice that take too long to search for a first look at what publishing costs."""
_HEADS = ("column", "role", "generalized by", "because")
_FLAT = {Role.SENSITIVE, Role.KEEP, Role.DROP, Role.WEIGHT, Role.UNDECIDED}


@dataclass(frozen=True, slots=True)
class ColumnSuggestion:
    """What is suggested for one column.

    Args:
        name: The column.
        type: The name of its type.
        role: Its role.
        reason: Why, without a value of the table.
        hierarchy: How it may be generalized, where it is a quasi-identifier.
        remark: What is to be said of the hierarchy.
        file: The hierarchy file that is to be filled in, beside the policy; None for none.
        figures: `values`, `uniqueness` and `nulls`, the latter two as shares.
        is_entity: Whether it says whose record it is.
        is_asked: Whether it may do so, which only the user can tell.
        l: How many different values each class is to hold at least, of a sensitive column; None
            where that is not suggested.
        kind: Its type; None where it is not known.
        min_level: The lowest level that may be published.
    """

    name: str
    type: str
    role: Role
    reason: str
    hierarchy: Hierarchy | None = None
    remark: str = ""
    file: str | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    is_entity: bool = False
    is_asked: bool = False
    l: int | None = None  # noqa: E741  the model's own name
    kind: exp.DataType | None = field(default=None, compare=False, repr=False)
    min_level: int = 0

    @property
    def entry(self) -> dict[str, object]:
        """The column as the policy file has it."""
        return self.form | ({"min_level": self.min_level} if self.min_level else {})

    @property
    def form(self) -> dict[str, object]:
        """The hierarchy as the policy file names it."""
        if self.file is not None:
            return {"file": self.file}
        if self.hierarchy is None or self.hierarchy.kind == "suppression":
            return {}
        return self.hierarchy.to_dict()

    @property
    def spec(self) -> str:
        """The hierarchy as the command line names it; empty for no quasi-identifier."""
        if self.hierarchy is None:
            return ""
        (kind, value), *options = [*self.form.items()] or [("suppress", True)]
        parts = [] if value is True else value if isinstance(value, list) else [value]
        separator = ";" if kind in ("sql", "expressions") else ","
        named = "".join(f";{key}={option}" for key, option in options)
        kind = "sql" if kind == "expressions" else kind
        return f"{kind}{':' if parts else ''}{separator.join(map(str, parts))}{named}"

    def refuse_unfit(self, hierarchy: Hierarchy) -> None:
        """Refuses a hierarchy that the type of the column does not take.

        Raises:
            HierarchyError: As the rule says.
        """
        if self.kind is not None and hierarchy.rows is None and hierarchy.kind != "table":
            level_labels(hierarchy, column_of(self.name), column_type=self.kind)

    def described(self) -> str:
        """The hierarchy in a few words; empty for no quasi-identifier."""
        if self.hierarchy is None:
            return ""
        if self.file is not None:
            return f"{self.file}, to be filled in"
        return self.hierarchy.describe()

    def to_dict(self) -> dict[str, Any]:
        """By the keys of `columns` in the JSON document."""
        document: dict[str, Any] = {
            "role": self.role.value,
            "reason": self.reason,
            "type": self.type,
        }
        if self.is_entity:
            document["entity"] = True
        if self.l is not None:
            document["l"] = self.l
        if self.hierarchy is not None:
            document["hierarchy"] = self.form if self.form else {"suppress": True}
            document["remark"] = self.remark
        if self.min_level:
            document["min_level"] = self.min_level
        return document | {"figures": dict(self.figures)}


@dataclass(frozen=True, slots=True, repr=False)
class Suggestion(SelfShown):
    """A draft of a policy for a table. It is advice, and says nothing of the table's values.

    Where values are to be put into groups by hand, the policy holds them as the rows of a
    hierarchy, and `write` writes them into a file; `to_toml` and `to_dict` name that file alone.

    Args:
        columns: Every column of the table, in its order.
        records: Records of the table.
        looked_at: How many of them figures are of.
        k: The smallest class that is suggested.
        suppression_limit: The share of the records that may be suppressed, in [0, 1].
        notes: What to know of the source and of the figures.
        seconds: How long it took [seconds].
        provenance: What it was made of.
    """

    columns: tuple[ColumnSuggestion, ...]
    records: int
    looked_at: int
    k: int
    suppression_limit: float
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    provenance: Provenance = field(default_factory=Provenance)

    def headline(self) -> str:
        """How many columns have each role."""
        counts = ((len(self.of(role)), role.value, "" if role in _FLAT else "s") for role in Role)
        return ", ".join(
            counted(count, name, more=f"{name}{plural}") for count, name, plural in counts if count
        )

    def shown_tables(self) -> list[ShownTable]:
        """Role, hierarchy and reason of every column."""
        rows = [(one.name, one.role.value, one.described(), one.reason) for one in self.columns]
        return [ShownTable(rows, _HEADS)]

    @property
    def policy(self) -> Policy:
        """The policy, which publishes nothing as long as columns are undecided."""
        quasi = {
            column.name: QuasiIdentifier(column.hierarchy, min_level=column.min_level)
            for column in self.of(Role.QUASI_IDENTIFIER)
            if column.hierarchy is not None
        }
        return Policy(
            quasi,
            sensitive={
                column.name: Sensitive([] if column.l is None else [LDiversity(column.l)])
                for column in self.of(Role.SENSITIVE)
            },
            identifiers=self._names(Role.IDENTIFIER),
            keep=self._names(Role.KEEP),
            drop=self._names(Role.DROP),
            models=[KAnonymity(self.k)],
            suppression_limit=self.suppression_limit,
            entity=self.entity,
            weight=self.weight,
        )

    @property
    def reasons(self) -> dict[str, str]:
        """Why each column has its role."""
        return {column.name: column.reason for column in self.columns}

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that need a role before anything is published."""
        return tuple(self._names(Role.UNDECIDED))

    @property
    def entity(self) -> str | None:
        """The column that says whose record it is, where persons have several."""
        return next((column.name for column in self.columns if column.is_entity), None)

    @property
    def weight(self) -> str | None:
        """The column of survey weights, if any."""
        return next(iter(self._names(Role.WEIGHT)), None)

    @property
    def asked(self) -> tuple[str, ...]:
        """The columns that may say whose record it is, which only the user can tell."""
        return tuple(column.name for column in self.columns if column.is_asked)

    @property
    def nodes(self) -> int:
        """The choices of one level per quasi-identifier, of which full-domain search takes one."""
        return math.prod(
            column.hierarchy.height + 1 for column in self.columns if column.hierarchy is not None
        )

    @property
    def method(self) -> str | None:
        """The method that is suggested; None where the default one serves."""
        return "mondrian" if self.nodes > MANY_NODES else None

    @property
    def files(self) -> dict[str, Hierarchy]:
        """The hierarchies that are to be filled in, by the names of their files."""
        return {
            column.file: column.hierarchy
            for column in self.columns
            if column.file is not None and column.hierarchy is not None
        }

    @property
    def is_too_small(self) -> bool:
        """Whether the table has fewer records than a class must have, so none can be published."""
        return self.records < self.k

    @property
    def question(self) -> str:
        """What the user is asked about columns that may say whose record it is; empty for none."""
        if not self.asked:
            return ""
        names = [repr(name) for name in self.asked]
        return (
            f"WHOSE RECORDS ARE THESE? Values of {listed(names)} repeat, and may stand for persons "
            "who have several records. Name the column that does as entity and among identifiers, "
            "or make one of those that do so together; until then models count records, and the "
            "records of one person can fill a class alone."
        )

    def of(self, role: Role) -> list[ColumnSuggestion]:
        """The columns of a role."""
        return [column for column in self.columns if column.role is role]

    def with_column(
        self, name: str, role: Role | str, *, hierarchy: Hierarchy | None = None
    ) -> Suggestion:
        """This suggestion with another role of one column, or another hierarchy.

        Args:
            name: The column.
            role: Its role: `identifier`, `quasi-identifier`, `sensitive`, `keep`, `drop`,
                `weight` (another column that was it is undecided then) or `undecided`.
            hierarchy: How it is generalized; as suggested where left out, else by suppression.

        Raises:
            PolicyError: There is no such column or role, or a hierarchy for another role.
            HierarchyError: The type of the column does not take the hierarchy.
        """
        known = {column.name: column for column in self.columns}
        if name not in known:
            raise PolicyError(f"the table has no column {name!r}{did_you_mean(name, known)}")
        roles = [one.value for one in Role]
        if not isinstance(role, Role) and role not in roles:
            raise PolicyError(f"role {role!r} is not known; roles are {listed(roles)}")
        current, chosen = known[name], Role(role)
        if chosen is not Role.QUASI_IDENTIFIER and hierarchy is not None:
            raise PolicyError(
                f"column {name!r} is to be {chosen.value}, and a hierarchy is for quasi-identifiers"
            )
        if hierarchy is not None:
            current.refuse_unfit(hierarchy)
        is_same = hierarchy is None and chosen is current.role
        if hierarchy is None and chosen is Role.QUASI_IDENTIFIER:
            hierarchy = current.hierarchy or Hierarchy.suppression()
        changed = replace(
            current,
            role=chosen,
            reason=current.reason if chosen is current.role else "as you decided",
            hierarchy=hierarchy,
            remark=current.remark if is_same else "",
            file=current.file if is_same else None,
            is_entity=current.is_entity and chosen is Role.IDENTIFIER,
            is_asked=current.is_asked and chosen is current.role,
            l=current.l if chosen is Role.SENSITIVE else None,
            min_level=current.min_level if is_same else 0,
        )
        others = self.columns
        if chosen is Role.WEIGHT:
            now = f"{name!r} is the survey weight"
            others = tuple(
                replace(other, role=Role.UNDECIDED, reason=now) if other.role is chosen else other
                for other in others
            )
        columns = tuple(changed if column.name == name else column for column in others)
        return replace(self, columns=columns)

    def to_toml(self) -> str:
        """The text of policy.toml, with every reason as a comment."""
        text = plain_text(
            "policy.toml",
            {"comment": comment, "key": toml_key, "value": toml_value},
            draft=self,
            source="" if self.provenance.source is None else f" for {self.provenance.source}",
            size=self._size(),
            share=percent(self.suppression_limit),
            advisory=ADVISORY,
            **{role.name.lower(): self.of(role) for role in Role},
        )
        return text.rstrip("\n") + "\n"

    def write(self, path: str | Path, *, overwrite: bool = False) -> Suggestion:
        """Writes the policy file, and beside it the hierarchies that are to be filled in.

        A hierarchy file that exists already is never replaced: where it covers the column it
        serves as it is, else the new one has another name.

        Args:
            path: The policy file.
            overwrite: Whether a policy file that exists already may be replaced.

        Returns:
            The suggestion as it was written, with the names of its files and notes of them.

        Raises:
            SourceError: The file exists already, or cannot be written.
        """
        file = refuse_policy_file(path, overwrite=overwrite)
        columns, notes = with_files(self.columns, file)
        written = replace(self, columns=columns, notes=(*self.notes, *notes))
        try:
            leftovers = write_private(file, written.to_toml())
        except OSError as error:
            raise SourceError(f"policy file {str(file)!r}: {error.strerror}") from None
        return replace(written, notes=(*written.notes, *leftovers))

    def to_dict(self) -> dict[str, Any]:
        """The JSON document: no value of the table is in it."""
        return {
            **replace(self.provenance, policy=self.policy).head(),
            "records": self.records,
            "looked_at": self.looked_at,
            "k": self.k,
            "suppression_limit": self.suppression_limit,
            "entity": self.entity,
            "asked": list(self.asked),
            "method": self.method,
            "columns": {column.name: column.to_dict() for column in self.columns},
            "undecided": list(self.undecided),
            "files": list(self.files),
            "advisory": ADVISORY,
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def to_text(self) -> str:
        """A page for a reader."""
        [shown] = self.shown_tables()
        return page(
            [self._size(), *in_columns([_HEADS, *shown.rows], "<<<<")], (ADVISORY, *self.notes)
        )

    def _size(self) -> str:
        return f"{counted(self.records, 'record')}, {counted(len(self.columns), 'column')}"

    def _names(self, role: Role) -> list[str]:
        return [column.name for column in self.of(role)]


MAX_NAMED_FILES = 3
"""Files that a note names; of more it says how many there are."""
MAX_FILE_NAME = 60  # characters of the column


def file_name(column: str, taken: Collection[str]) -> str:
    """The name of a column's hierarchy file, other than those taken.

    >>> file_name("job title", []), file_name("job/title", ["hierarchy_job_title.csv"])
    ('hierarchy_job_title.csv', 'hierarchy_job_title_2.csv')
    """
    plain = re.sub(r"\W+", "_", column)[:MAX_FILE_NAME].strip("_") or "column"
    lower = {name.lower() for name in taken}
    names = (f"hierarchy_{plain}{f'_{number}' if number > 1 else ''}.csv" for number in count(1))
    return next(name for name in names if name.lower() not in lower)


def refuse_policy_file(path: str | Path, *, overwrite: bool = False) -> Path:
    """The policy file that is to be written.

    Raises:
        SourceError: It exists already, is a folder, or cannot be written.
    """
    file = path_of(path, "the policy file")
    if file.is_dir():
        raise SourceError(f"{str(file)!r} is a folder; name a file")
    if file.exists() and not overwrite:
        raise SourceError(
            f"{str(file)!r} exists already; replace it with overwrite (--overwrite), or name "
            "another with --output FILE"
        )
    refuse_folder(file.resolve())
    return file


def with_files(
    columns: Sequence[ColumnSuggestion], policy: Path
) -> tuple[tuple[ColumnSuggestion, ...], list[str]]:
    """Columns with the hierarchy files that are written beside a policy file, or lie there.

    Returns:
        The columns, and notes of these files.

    Raises:
        SourceError: A file cannot be written.
    """
    settled: list[ColumnSuggestion] = []
    notes: list[str] = []
    written: list[str] = []
    taken = [policy.name]
    for column in columns:
        if column.file is None:
            settled.append(column)
            continue
        assert column.hierarchy is not None
        rows = column.hierarchy.rows
        assert rows is not None
        name = file_name(column.name, taken)
        filled_in = _covering(policy.parent / name, rows)
        if filled_in is not None:
            notes.append(
                f"{name} exists already and covers column {column.name!r}: it serves as it is"
            )
            settled.append(replace(column, hierarchy=filled_in, file=name))
        else:
            others = list(taken)
            while (policy.parent / name).exists():
                others.append(name)
                name = file_name(column.name, others)
            notes += write_paths(rows, policy.parent / name)
            written.append(name)
            hierarchy = Hierarchy.from_rows(rows, name=name)
            settled.append(replace(column, hierarchy=hierarchy, file=name))
        taken.append(name)
    if written:
        files = (
            listed(written)
            if len(written) <= MAX_NAMED_FILES
            else f"the {len(written)} hierarchy files beside it"
        )
        notes.append(
            f"{files} {'holds' if len(written) == 1 else 'hold'} values of the table, to be "
            "put into groups: keep them as safe as the table"
        )
    return tuple(settled), notes


def _covering(file: Path, rows: Sequence[Labels]) -> Hierarchy | None:
    """The hierarchy of a file that covers some rows, as somebody may have filled it in."""
    try:
        hierarchy = Hierarchy.from_file(file)
    except (HierarchyError, SourceError):
        return None
    covered = {row[0] for row in hierarchy.rows or ()}
    return hierarchy if {row[0] for row in rows} <= covered else None


COMMENT_WIDTH = 96  # characters
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """A key, in quotes where it needs them.

    >>> toml_key("age"), toml_key("date of birth")
    ('age', '"date of birth"')
    """
    return name if _BARE.fullmatch(name) else toml_text(name)


def toml_text(text: str) -> str:
    r"""A text in quotes.

    >>> print(toml_text('a "b"\n'))
    "a \"b\"\n"
    """
    # JSON writes texts as TOML does, but for DEL, which TOML takes only as an escape.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: object) -> str:
    """A value on one line.

    >>> toml_value({"intervals": [5, 10], "low": 0.5, "x y": True})
    '{ intervals = [5, 10], low = 0.5, "x y" = true }'

    Raises:
        PolicyError: TOML has no such value.
    """
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            return toml_text(value)
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case Mapping():
            pairs = (f"{toml_key(str(key))} = {toml_value(item)}" for key, item in value.items())
            return f"{{ {', '.join(pairs)} }}" if value else "{}"
    raise PolicyError(f"a policy file cannot hold a value of type {type(value).__name__}")


def comment(text: str, indent: int = 0) -> str:
    """A text as lines of a comment, whatever names of columns it holds.

    Args:
        text: The text.
        indent: Blanks before each line.
    """
    plain = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
    margin = f"{' ' * indent}# "
    lines = wrap(
        plain,
        COMMENT_WIDTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_on_hyphens=False,
    )
    return "\n".join(lines)
