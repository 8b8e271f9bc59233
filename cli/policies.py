"""From a policy file and options to a policy: an option goes before the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.errors import HierarchyError, PolicyError

from .options import PolicyOptions, PublishingOptions, SearchOptions

if TYPE_CHECKING:
    from sqlanon.policy import Policy

Document = dict[str, Any]
Columns = Sequence[str]

_ROLES = ("quasi_identifiers", "sensitive", "identifiers", "keep", "drop")
_NO_QUASI_IDENTIFIER = "is no quasi-identifier; name it with --qi"


def policy_document(path: Path | None) -> Document:
    """The keys of a policy file, roles as mappings of columns; empty where there is none.

    Raises:
        PolicyError: The file is missing or no TOML.
    """
    from sqlanon.policy import read_document

    document = {} if path is None else read_document(path)
    for role in _ROLES:
        entry = document.get(role, {})
        if isinstance(entry, list) and all(isinstance(name, str) for name in entry):
            document[role] = {name: {} for name in entry}
    return document


def search_settings(document: Mapping[str, Any], search: SearchOptions) -> dict[str, Any]:
    """How to search, as the library takes it: options, then the file, then the defaults.

    Raises:
        PolicyError: The file's method or loss is no text.
    """
    settings: dict[str, Any] = {
        "minimal_nodes": search.minimal_nodes,
        "time_limit": search.time_limit,
    }
    for name, option in (("method", search.method), ("loss", search.loss)):
        value = document.get(name) if option is None else option
        if value is not None and not isinstance(value, str):
            raise PolicyError(f"{name} of the policy file must be a text in quotes")
        if value is not None:
            settings[name] = value
    return settings


@dataclass(frozen=True, slots=True)
class PolicyMaker:
    """Makes the policy as soon as the table's columns are known.

    Only they tell whether `a,b` is one column or two, and where the column ends in `a=b=2`.

    Args:
        document: The policy file.
        options: What goes before it.
        publishing: What goes before it, where a table is to be published.
        complete: Whether every column needs a role.
    """

    document: Mapping[str, Any]
    options: PolicyOptions
    publishing: PublishingOptions
    complete: bool = False

    @classmethod
    def for_check(cls, document: Mapping[str, Any], options: PolicyOptions) -> PolicyMaker:
        """For a command that looks at classes alone, so that no hierarchy file is read."""
        quasi = document.get("quasi_identifiers")
        if isinstance(quasi, Mapping):
            names: Document = {name: {} for name in quasi}
            document = {**document, "quasi_identifiers": names}
        return cls(document, options, PublishingOptions())

    def __call__(self, columns: Columns) -> Policy:
        """The policy for a table of these columns.

        Raises:
            PolicyError: Contradictions, unknown columns and figures out of range.
            HierarchyError: A hierarchy that cannot be read.
        """
        from sqlanon.policy import SETTINGS, Policy

        document = {key: value for key, value in self.document.items() if key not in SETTINGS}
        document |= self._figures()
        document |= self._roles(document, columns)
        self._refine(document)
        file = self.options.policy
        policy = Policy.from_dict(_listed(document), None if file is None else file.parent)
        if self.complete:
            policy.check_columns(columns, publish=True)
        return policy

    def _figures(self) -> Document:
        given = {
            "k": self.options.k,
            "suppression_limit": self.options.suppression_limit,
            "others": self.publishing.others,
            "suppressed": self.publishing.suppressed,
            "suppressed_label": self.publishing.suppressed_label,
        }
        return {key: value for key, value in given.items() if value is not None}

    def _roles(self, document: Document, columns: Columns) -> Document:
        """The roles: a list that is given replaces the file's, a column leaves its old role."""
        options = (
            self.options.qi,
            self.options.sensitive,
            self.options.identifier,
            self.publishing.keep,
            self.publishing.drop,
        )
        given = {
            role: [name for text in texts for name in split_columns(text, columns)]
            for role, texts in zip(_ROLES, options, strict=True)
        }
        named = {name for names in given.values() for name in names}
        roles: Document = {}
        for role, names in given.items():
            old = document.get(role)
            if names:
                entries = old if isinstance(old, Mapping) else {}
                roles[role] = {name: entries.get(name, {}) for name in names}
            elif isinstance(old, Mapping):
                roles[role] = {name: entry for name, entry in old.items() if name not in named}
        return roles

    def _refine(self, document: Document) -> None:
        """Puts hierarchies, weights and bounds into the entries of the quasi-identifiers."""
        quasi = document.get("quasi_identifiers", {})
        if not isinstance(quasi, Mapping):
            return
        changes: dict[str, Document] = {}
        faults: list[str] = []
        for option, read in _REFINEMENTS.items():
            flag = f"--{option.replace('_', '-')}"
            for text in getattr(self.options, option):
                try:
                    name, value = divide(text, quasi, flag, _NO_QUASI_IDENTIFIER)
                    changes.setdefault(name, {})[option] = read(value)
                except HierarchyError as error:
                    faults += [f"{flag} of column {name!r}: {fault}" for fault in error.faults]
                except PolicyError as error:
                    faults.append(str(error))
        if faults:
            raise PolicyError("; ".join(faults))
        document["quasi_identifiers"] = {
            name: _refined(entry, changes[name]) if name in changes else entry
            for name, entry in quasi.items()
        }


def split_columns(text: str, columns: Columns) -> list[str]:
    """The columns that an option names: a comma parts them where no column has that very name.

    >>> split_columns("age,zip, home", ["age", "zip, home"])
    ['age', 'zip, home']
    """
    known = set(columns)
    longest = 1 + max((name.count(",") for name in columns), default=0)
    pieces = text.split(",")
    names = []
    start = 0
    while start < len(pieces):
        for end in range(min(start + longest, len(pieces)), start, -1):
            part = ",".join(pieces[start:end])
            name = part if part in known else part.strip()
            if name in known or end == start + 1:
                names.append(name)
                start = end
                break
    return list(dict.fromkeys(names))


def divide(text: str, columns: Iterable[str], flag: str, otherwise: str) -> tuple[str, str]:
    """Parts `COLUMN=VALUE` behind the longest column that it starts with.

    Args:
        text: What was given.
        columns: The columns that it may start with.
        flag: The option, for messages.
        otherwise: What to say of any other column.

    Raises:
        PolicyError: There is no value, or none of the columns.

    >>> divide("a=b=2", ["a", "a=b"], "--weight", "is not known")
    ('a=b', '2')
    """
    fitting = [name for name in columns if text.startswith(f"{name}=")]
    if fitting:
        name = max(fitting, key=len)
        return name, text[len(name) + 1 :]
    name, equals, _ = text.partition("=")
    if not equals:
        raise PolicyError(f"{flag} {text!r} must have the form COLUMN=VALUE")
    raise PolicyError(f"{flag}: {name!r} {otherwise}")


def _refined(entry: object, change: Document) -> object:
    """A quasi-identifier's entry of the file with what options say about it."""
    from sqlanon.policy import COLUMN_KEYS

    if not isinstance(entry, Mapping):
        return entry
    form = change.pop("hierarchy", None)
    left_out = {"min_level", "max_level"} if "level" in change else set()
    left_out |= {"level"} if change.keys() & {"min_level", "max_level"} else set()
    kept = {key: value for key, value in entry.items() if key not in left_out}
    if form is not None:
        kept = {key: value for key, value in kept.items() if key in COLUMN_KEYS} | form
    return kept | change


def _form(text: str) -> Document:
    from sqlanon.hierarchy import Hierarchy

    return Hierarchy.from_spec(text).to_dict()


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise PolicyError(f"--weight: {text!r} is not a number") from None


def _level(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise PolicyError(f"level {text!r} is not a whole number") from None


_REFINEMENTS: Mapping[str, Callable[[str], object]] = {
    "hierarchy": _form,
    "weight": _weight,
    "level": _level,
    "min_level": _level,
    "max_level": _level,
}


def _listed(document: Document) -> Document:
    """The document as `policy.toml` has it: plain roles are lists of columns."""
    plain = ("identifiers", "keep", "drop")
    return {
        key: list(value) if key in plain and isinstance(value, Mapping) else value
        for key, value in document.items()
    }
