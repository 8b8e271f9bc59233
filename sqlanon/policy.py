"""Policy: which columns play which role, and what the published table must satisfy."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sqlanon.errors import HierarchyError, PolicyError
from sqlanon.hierarchy import Hierarchy
from sqlanon.privacy import KAnonymity

Others = Literal["keep", "drop"]
COLUMN_KEYS = ("weight", "level", "min_level", "max_level")
SETTINGS = ("method", "loss")


@dataclass(frozen=True, slots=True)
class QuasiIdentifier:
    """A column that others may know a person by, and how it may be generalized.

    Args:
        hierarchy: The tree over its values.
        weight: How much its cells count in losses that add up over cells; above 0.
        min_level: Lowest level that may be published; 0 is the original value.
        max_level: Highest level that may be published; None for the top.

    Raises:
        PolicyError: A weight or a level out of range.
    """

    hierarchy: Hierarchy
    weight: float = 1.0
    min_level: int = 0
    max_level: int | None = None

    def __post_init__(self) -> None:
        number = isinstance(self.weight, int | float) and not isinstance(self.weight, bool)
        if not (number and 0 < self.weight < math.inf):
            raise PolicyError(f"weight {self.weight!r} is not a number above 0")
        for bound in (self.min_level, 0 if self.max_level is None else self.max_level):
            if isinstance(bound, bool) or not isinstance(bound, int) or bound < 0:
                raise PolicyError(f"level {bound!r} is not a whole number of at least 0")
        if self.max_level is not None and self.max_level < self.min_level:
            raise PolicyError(f"min_level {self.min_level} is above max_level {self.max_level}")


@dataclass(frozen=True, slots=True)
class Policy:
    """Roles of columns, privacy models and limits; it says nothing of how to reach them.

    Args:
        quasi_identifiers: Columns that are generalized, in the order that ties are broken in:
            names (suppression only), or a mapping to a `Hierarchy` or a `QuasiIdentifier`.
        sensitive: Columns published as they are whose link to a person must stay unknown.
        identifiers: Columns that name a person; dropped.
        keep: Columns published as they are, known to nobody who could use them.
        drop: Columns that are not published.
        others: What happens to columns in no role; None makes them an error before publishing.
        models: Privacy models; several of a kind count as the strictest.
        suppression_limit: Share of the records that may be suppressed, in [0, 1].
        suppressed: `drop` leaves suppressed records out; `keep` publishes them with every
            quasi-identifier replaced by `suppressed_label`.
        suppressed_label: What stands for a suppressed value.

    Raises:
        PolicyError: A column in two roles, or a figure out of range; all mistakes at once.
    """

    quasi_identifiers: Mapping[str, Hierarchy | QuasiIdentifier] | Sequence[str]
    sensitive: Sequence[str] = ()
    identifiers: Sequence[str] = ()
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    others: Others | None = None
    models: Sequence[KAnonymity] = ()
    suppression_limit: float = 0.0
    suppressed: Literal["drop", "keep"] = "drop"
    suppressed_label: str = "*"

    def __post_init__(self) -> None:
        faults = self._kind_faults() or [*self._role_faults(), *self._figure_faults()]
        if faults:
            raise PolicyError("; ".join(faults))

    @property
    def attributes(self) -> dict[str, QuasiIdentifier]:
        """The quasi-identifiers in order, each with its hierarchy, weight and level bounds."""
        given = self.quasi_identifiers
        if not isinstance(given, Mapping):
            return {name: QuasiIdentifier(Hierarchy.suppression()) for name in given}
        return {
            name: value if isinstance(value, QuasiIdentifier) else QuasiIdentifier(value)
            for name, value in given.items()
        }

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns of each role, by the role's name."""
        return {
            "quasi-identifier": tuple(self.quasi_identifiers),
            "sensitive": tuple(self.sensitive),
            "identifier": tuple(self.identifiers),
            "keep": tuple(self.keep),
            "drop": tuple(self.drop),
        }

    @property
    def k(self) -> int:
        """The smallest class size that the models allow; 1 where none says anything."""
        return max((model.k for model in self.models), default=1)

    def _kind_faults(self) -> list[str]:
        """Arguments of another kind than they must be; nothing else can be said of them."""
        faults = []
        for role, columns in _given_roles(self).items():
            listed = isinstance(columns, Iterable) and not isinstance(columns, str)
            if not listed or not all(isinstance(column, str) for column in columns):
                faults.append(f"{role} must be a list of column names")
        given = self.quasi_identifiers
        if isinstance(given, Mapping):
            wrong = [
                name
                for name, value in given.items()
                if not isinstance(value, Hierarchy | QuasiIdentifier)
            ]
            if wrong:
                names = ", ".join(map(repr, wrong))
                faults.append(f"quasi-identifiers without a Hierarchy or QuasiIdentifier: {names}")
        if not isinstance(self.models, Sequence) or not all(
            isinstance(model, KAnonymity) for model in self.models
        ):
            faults.append("models must be a list of privacy models, such as [KAnonymity(5)]")
        return faults

    def _role_faults(self) -> list[str]:
        seen: dict[str, str] = {}
        faults = []
        for role, columns in self.roles.items():
            for column in columns:
                if column in seen:
                    faults.append(
                        f"column {column!r} is both {seen[column]} and {role}; give it one role"
                        if seen[column] != role
                        else f"column {column!r} is named twice as {role}"
                    )
                seen[column] = role
        return faults

    def _figure_faults(self) -> list[str]:
        limit, faults = self.suppression_limit, []
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= 1:
            faults.append(f"suppression_limit {limit!r} is not a share between 0 and 1")
        if self.others not in (None, "keep", "drop"):
            faults.append(f"others is {self.others!r}; it must be 'keep' or 'drop'")
        if not isinstance(self.suppressed_label, str):
            faults.append(f"suppressed_label {self.suppressed_label!r} is not text")
        if self.suppressed not in ("drop", "keep"):
            faults.append(f"suppressed is {self.suppressed!r}; it must be 'drop' or 'keep'")
        return faults

    def allowance(self, records: int) -> int:
        """How many of so many records may be suppressed [records].

        The share is taken as the decimal number that was written, so 0.29 of 100 allows 29.
        """
        return math.floor(Fraction(str(self.suppression_limit)) * records)

    def check_columns(self, columns: Sequence[str], *, publish: bool = False) -> None:
        """Holds the roles against the columns of a table.

        Args:
            columns: The table's columns.
            publish: Whether every column needs a role.

        Raises:
            PolicyError: Columns that the table does not have, or columns in no role, all at once.
        """
        named = [column for role in self.roles.values() for column in role]
        faults = [_missing(column, columns) for column in named if column not in columns]
        unassigned = [column for column in columns if column not in named]
        if publish and unassigned and self.others is None:
            faults.append(
                f"{len(unassigned)} columns have no role: {', '.join(map(repr, unassigned))}; "
                "publish them with --keep COLUMN, leave them out with --drop COLUMN, "
                "or settle all at once with --others keep|drop"
            )
        if faults:
            raise PolicyError("; ".join(faults))

    def published(self, columns: Sequence[str]) -> list[str]:
        """The columns of a table that are published, in the table's order."""
        left_out = {*self.identifiers, *self.drop}
        if self.others == "drop":
            left_out |= {column for column in columns if column not in self._kept()}
        return [column for column in columns if column not in left_out]

    def _kept(self) -> set[str]:
        return {*self.quasi_identifiers, *self.sensitive, *self.keep}

    def with_attributes(self, attributes: Mapping[str, QuasiIdentifier]) -> Policy:
        """The same policy with other hierarchies, weights or bounds."""
        return replace(self, quasi_identifiers=dict(attributes))

    def to_dict(self) -> dict[str, Any]:
        """The policy as `policy.toml` would write it; `from_dict` reads it back."""
        result: dict[str, Any] = {
            **({"k": self.k} if self.models else {}),
            "suppression_limit": self.suppression_limit,
            "suppressed": self.suppressed,
            "suppressed_label": self.suppressed_label,
            "identifiers": list(self.identifiers),
            "keep": list(self.keep),
            "drop": list(self.drop),
            "quasi_identifiers": {},
            "sensitive": {column: {} for column in self.sensitive},
        }
        if self.others is not None:
            result["others"] = self.others
        for name, attribute in self.attributes.items():
            entry = {**attribute.hierarchy.to_dict(), "weight": attribute.weight}
            entry["min_level"] = attribute.min_level
            if attribute.max_level is not None:
                entry["max_level"] = attribute.max_level
            result["quasi_identifiers"][name] = entry
        return result

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], folder: Path | None = None) -> Policy:
        """Reads a policy from the keys of `policy.toml`.

        Args:
            document: The keys; `method` and `loss` are no part of a policy, see `split`.
            folder: Where relative paths of hierarchy files start.

        Raises:
            PolicyError: Unknown keys, all at once, or a value of the wrong kind.
            HierarchyError: A hierarchy that cannot be read.
        """
        known = {"k", "quasi_identifiers", *(f.name for f in fields(cls))} - {"models"}
        _refuse_unknown(document, known, "the policy")
        options = {key: value for key, value in document.items() if key in known}
        k = options.pop("k", None)
        for key in ("identifiers", "keep", "drop"):
            options[key] = tuple(_texts(options.get(key, ()), key))
        sensitive = options.pop("sensitive", {})
        if isinstance(sensitive, Mapping):
            for column, entry in sensitive.items():
                _refuse_unknown(entry, set(), f"sensitive column {column!r}")
        quasi = options.pop("quasi_identifiers", {})
        if not isinstance(quasi, Mapping):
            quasi = {name: {} for name in _texts(quasi, "quasi_identifiers")}
        return cls(
            quasi_identifiers={
                name: _attribute(name, entry, folder) for name, entry in quasi.items()
            },
            sensitive=tuple(_texts(sensitive, "sensitive")),
            models=() if k is None else (KAnonymity(k),),
            **options,
        )

    @classmethod
    def from_toml(cls, path: str | Path) -> Policy:
        """Reads a policy file; its `method` and `loss` are left to `read_document`."""
        document = read_document(path)
        return cls.from_dict(
            {key: value for key, value in document.items() if key not in SETTINGS},
            Path(path).parent,
        )


def _given_roles(policy: Policy) -> dict[str, Any]:
    """What was given as the columns of each role, by the argument's name."""
    names = ("quasi_identifiers", "sensitive", "identifiers", "keep", "drop")
    return {name: getattr(policy, name) for name in names}


def read_document(path: str | Path) -> dict[str, Any]:
    """The keys of a policy file.

    Raises:
        PolicyError: The file is missing or no TOML.
    """
    try:
        return tomllib.loads(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise PolicyError(f"policy file {str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"policy file {str(path)!r} is no valid TOML: {error}") from None


def _attribute(name: str, entry: object, folder: Path | None) -> QuasiIdentifier:
    if not isinstance(entry, Mapping):
        raise PolicyError(f"quasi-identifier {name!r} must be a table such as {{ prefix = [3] }}")
    bounds = {key: entry[key] for key in COLUMN_KEYS if key in entry}
    rule = {key: value for key, value in entry.items() if key not in COLUMN_KEYS}
    if "level" in bounds:
        level = bounds.pop("level")
        if bounds.keys() & {"min_level", "max_level"}:
            raise PolicyError(f"quasi-identifier {name!r} has level beside min_level or max_level")
        bounds |= {"min_level": level, "max_level": level}
    try:
        return QuasiIdentifier(Hierarchy.from_dict(rule, folder=folder), **bounds)
    except PolicyError as error:
        raise PolicyError(f"quasi-identifier {name!r}: {error}") from None
    except HierarchyError as error:
        faults = [f"quasi-identifier {name!r}: {fault}" for fault in error.faults]
        raise HierarchyError(faults) from None


def _texts(value: object, key: str) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise PolicyError(f"{key} must be a list of column names")
    names = list(value)
    if not all(isinstance(name, str) for name in names):
        raise PolicyError(f"{key} must be a list of column names")
    return names


def _missing(column: str, columns: Sequence[str]) -> str:
    near = difflib.get_close_matches(column.lower(), [name.lower() for name in columns], n=1)
    hint = next((f"; did you mean {c!r}?" for c in columns if near and c.lower() == near[0]), "")
    return f"the table has no column {column!r}{hint}"


def _refuse_unknown(entry: object, known: set[str], where: str) -> None:
    if not isinstance(entry, Mapping):
        raise PolicyError(f"{where} must be a table of keys")
    unknown = sorted(set(entry) - known)
    if unknown:
        raise PolicyError(
            f"unknown keys in {where}: {', '.join(unknown)}"
            + (f"; known are {', '.join(sorted(known))}" if known else "")
        )
