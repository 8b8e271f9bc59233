"""Suggestion: a draft of a policy with a reason for every column, as text, document and page."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import KAnonymity, LDiversity
from sqlanon.policy.roles import Sensitive
from sqlanon.reports.document import Provenance, page
from sqlanon.reports.shown import SelfShown, ShownTable
from sqlanon.resources import plain_text
from sqlanon.suggestion.advice import Role
from sqlanon.suggestion.column import ColumnSuggestion
from sqlanon.suggestion.files import refuse_policy_file, settled_columns, write_policy
from sqlanon.suggestion.toml_text import comment, toml_key, toml_value
from sqlanon.wording import counted, did_you_mean, in_columns, listed, percent

ADVISORY = (
    "It is a draft, made from the names, types and values of the columns. Only you know what "
    "others know of these people: read each reason, change what is wrong, and ask whoever is "
    "responsible for data protection to agree."
)
MANY_NODES = 1_000_000
"""Nodes of a lattice that take too long to search for a first look at what publishing costs."""
_TITLES = {
    Role.IDENTIFIER: "These name a person, or single a record out alone; they are not published.",
    Role.KEEP: "These are published as they are.",
    Role.DROP: "These are not published.",
}
_HEADS = ("column", "role", "generalized by", "because")
_FLAT = {Role.SENSITIVE, Role.KEEP, Role.DROP, Role.UNDECIDED}
_KEYS = {Role.IDENTIFIER: "identifiers", Role.KEEP: "keep", Role.DROP: "drop"}


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
            each.name: each.hierarchy
            for each in self.of(Role.QUASI_IDENTIFIER)
            if each.hierarchy is not None
        }
        return Policy(
            quasi,
            sensitive={
                each.name: Sensitive([] if each.l is None else [LDiversity(each.l)])
                for each in self.of(Role.SENSITIVE)
            },
            identifiers=self._names(Role.IDENTIFIER),
            keep=self._names(Role.KEEP),
            drop=self._names(Role.DROP),
            models=[KAnonymity(self.k)],
            suppression_limit=self.suppression_limit,
            entity=self.entity,
        )

    @property
    def reasons(self) -> dict[str, str]:
        """Why each column has its role."""
        return {each.name: each.reason for each in self.columns}

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that need a role before anything is published."""
        return tuple(self._names(Role.UNDECIDED))

    @property
    def entity(self) -> str | None:
        """The column that says whose record it is, where persons have several."""
        return next((each.name for each in self.columns if each.is_entity), None)

    @property
    def asked(self) -> tuple[str, ...]:
        """The columns that may say whose record it is, which only the user can tell."""
        return tuple(each.name for each in self.columns if each.is_asked)

    @property
    def nodes(self) -> int:
        """The choices of one level per quasi-identifier, of which full-domain search takes one."""
        return math.prod(
            each.hierarchy.height + 1 for each in self.columns if each.hierarchy is not None
        )

    @property
    def method(self) -> str | None:
        """The method that is suggested; None where the default one serves."""
        return "mondrian" if self.nodes > MANY_NODES else None

    @property
    def files(self) -> dict[str, Hierarchy]:
        """The hierarchies that are to be filled in, by the names of their files."""
        return {
            each.file: each.hierarchy
            for each in self.columns
            if each.file is not None and each.hierarchy is not None
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
        return [each for each in self.columns if each.role is role]

    def with_column(
        self, name: str, role: Role | str, *, hierarchy: Hierarchy | None = None
    ) -> Suggestion:
        """This suggestion with another role of one column, or another hierarchy.

        Args:
            name: The column.
            role: Its role: `identifier`, `quasi-identifier`, `sensitive`, `keep`, `drop` or
                `undecided`.
            hierarchy: How it is generalized; as suggested where left out, else by suppression.

        Raises:
            PolicyError: There is no such column or role, or a hierarchy for another role.
            HierarchyError: The type of the column does not take the hierarchy.
        """
        known = {each.name: each for each in self.columns}
        if name not in known:
            raise PolicyError(f"the table has no column {name!r}{did_you_mean(name, known)}")
        roles = [each.value for each in Role]
        if not isinstance(role, Role) and role not in roles:
            raise PolicyError(f"role {role!r} is not known; roles are {listed(roles)}")
        own, chosen = known[name], Role(role)
        if chosen is not Role.QUASI_IDENTIFIER and hierarchy is not None:
            raise PolicyError(
                f"column {name!r} is to be {chosen.value}, and a hierarchy is for quasi-identifiers"
            )
        changed = replace(
            own,
            role=chosen,
            reason=own.reason if chosen is own.role else "as you decided",
            hierarchy=None,
            remark=own.remark if chosen is own.role is Role.SENSITIVE else "",
            file=None,
            is_entity=own.is_entity and chosen is Role.IDENTIFIER,
            is_asked=own.is_asked and chosen is own.role,
            l=own.l if chosen is Role.SENSITIVE else None,
        )
        if chosen is Role.QUASI_IDENTIFIER:
            if hierarchy is not None:
                own.refuse_unfit(hierarchy)
                changed = replace(changed, hierarchy=hierarchy)
            elif own.hierarchy is None:
                changed = replace(changed, hierarchy=Hierarchy.suppression())
            else:
                changed = replace(
                    changed, hierarchy=own.hierarchy, remark=own.remark, file=own.file
                )
        columns = tuple(changed if each.name == name else each for each in self.columns)
        return replace(self, columns=columns)

    def to_toml(self) -> str:
        """The text of policy.toml, with every reason as a comment."""
        lists = [
            {"key": key, "title": _TITLES[role], "columns": self.of(role)}
            for role, key in _KEYS.items()
        ]
        return (
            plain_text(
                "policy.toml",
                {"comment": comment, "key": toml_key, "value": toml_value},
                **self._remarks(),
                k=self.k,
                limit=self.suppression_limit,
                entity=self.entity,
                asked=self.asked,
                method=self.method,
                lists=lists,
                settled=bool(self.of(Role.DROP) or self.of(Role.KEEP)),
                undecided=self.of(Role.UNDECIDED),
                quasi=self.of(Role.QUASI_IDENTIFIER),
                sensitive=self.of(Role.SENSITIVE),
            ).rstrip("\n")
            + "\n"
        )

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
        columns, notes = settled_columns(self.columns, file)
        written = replace(self, columns=columns, notes=(*self.notes, *notes))
        left = write_policy(file, written.to_toml())
        return replace(written, notes=(*written.notes, *left))

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
            "columns": {each.name: each.to_dict() for each in self.columns},
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
            [self._head(), *in_columns([_HEADS, *shown.rows], "<<<<")], (ADVISORY, *self.notes)
        )

    def _head(self) -> str:
        return f"{counted(self.records, 'record')}, {counted(len(self.columns), 'column')}"

    def _names(self, role: Role) -> list[str]:
        return [each.name for each in self.of(role)]

    def _remarks(self) -> dict[str, str]:
        """What the policy file says of its parts."""
        source = "" if self.provenance.source is None else f" for {self.provenance.source}"
        return {
            "head": f"Suggested by sqlanon init{source}: {self._head()}{self._basis()}.",
            "advice": ADVISORY,
            "k_remark": f"Each published record is like at least {self.k - 1} others in all "
            "quasi-identifiers (k-anonymity). 3 is weak, 5 is usual, 10 or more suits data that "
            "anybody may download.",
            "limit_remark": "The share of the records that may be left out where they would make "
            f"everybody else's values coarser: here {percent(self.suppression_limit)}. 0 keeps "
            "everybody.",
            "models_remark": "k-anonymity alone does not hide a sensitive value that all records "
            "of a class share (a class: all records that are published with the same "
            "quasi-identifiers). l-diversity asks for l different values in each class: see the "
            "columns under [sensitive]. t-closeness asks for more, for classes whose values are "
            "distributed as in the whole table, up to a distance t; to ask for it, remove the #:",
            "method_remark": f"{self._ways()}mondrian generalizes part by part: values of a column "
            "come out at several levels, but far fewer of them are suppressed in most tables, and "
            "it soon ends.",
            "entity_remark": "Whose record it is: k counts persons, not records.",
            "asked_remark": self.question,
            "undecided_remark": "UNDECIDED: nothing is published before each of these has a role. "
            "Name each in identifiers, keep, drop, [quasi_identifiers] or [sensitive]. Remove the "
            "# of the lines below that you need; the last one leaves out all that have no role.",
            "quasi_remark": "Columns by which others may find a person, with their values from "
            "fine to coarse. {} keeps a value or suppresses it.",
            "sensitive_remark": "Columns that are published as they are, and whose values nobody "
            "should learn about a person.",
        }

    def _ways(self) -> str:
        """Why the method is suggested, or when it is worth a trial."""
        if self.method is None:
            return (
                "The default method chooses one level for each quasi-identifier. Where most "
                "columns come out as *, remove the # below. "
            )
        return (
            f"One level for each quasi-identifier can be chosen in {self.nodes:,} ways, which take "
            "long to search. "
        )

    def _basis(self) -> str:
        if self.looked_at == self.records:
            return ""
        return f", of which a sample of {self.looked_at:,} was looked at"
