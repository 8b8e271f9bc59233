"""Policy: which columns play which role, and what the published table must satisfy."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy import FORMS, Hierarchy
from sqlanon.privacy import KAnonymity, LDiversity, Model, TCloseness, near, strictest
from sqlanon.wording import counted

Others = Literal["keep", "drop"]
Nulls = Literal["value", "none"]
COLUMN_KEYS = ("weight", "level", "min_level", "max_level")
SENSITIVE_KEYS = ("l", "t", "order", "nulls")
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
class Sensitive:
    """A column whose link to a person must stay unknown, and how its values are told apart.

    Args:
        models: Its own l-diversity and t-closeness; they replace the policy's of the same family.
        hierarchy: The tree over its values, for the hierarchical distance; the order of its
            leaves is that of the ordered one.
        order: The values as texts, lowest first, for the ordered distance; None stands for NULL,
            which comes last where it is not listed.
        nulls: `value` takes NULL for a value like any other; `none` leaves records with NULL out
            of the column's distribution, not out of the size of their class.

    Raises:
        PolicyError: An argument of another kind, or an order that names a value twice.
    """

    models: Sequence[LDiversity | TCloseness] = ()
    hierarchy: Hierarchy | None = None
    order: Sequence[str | None] | None = None
    nulls: Nulls = "value"

    def __post_init__(self) -> None:
        faults = self._faults()
        if faults:
            raise PolicyError("; ".join(faults))
        object.__setattr__(self, "models", strictest(self.models))
        object.__setattr__(self, "order", None if self.order is None else tuple(self.order))

    def _faults(self) -> list[str]:
        faults = []
        if not _all_of(self.models, LDiversity | TCloseness):
            faults.append(
                "models of a sensitive column must be a list of l-diversity and t-closeness, "
                "such as [LDiversity(3)]"
            )
        if not isinstance(self.hierarchy, Hierarchy | None):
            faults.append("hierarchy of a sensitive column must be a Hierarchy")
        if self.order is not None:
            texts = isinstance(self.order, Sequence) and _all_of(self.order, str | None)
            if not (texts and self.order):
                faults.append("order must be a list of values as texts, lowest first")
            elif again := len(self.order) - len(set(self.order)):
                faults.append(f"order repeats {counted(again, 'value', 'values')}; keep one each")
        if self.nulls not in ("value", "none"):
            faults.append(f"nulls is {self.nulls!r}; it must be 'value' or 'none'")
        return faults


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked of one sensitive column."""

    column: str
    model: LDiversity | TCloseness


@dataclass(frozen=True, slots=True)
class Policy:
    """Roles of columns, privacy models and limits; it says nothing of how to reach them.

    Args:
        quasi_identifiers: Columns that are generalized: names (suppression only), or a mapping to
            a `Hierarchy` or a `QuasiIdentifier`; of recodings that lose the same, the one that
            leaves the last columns lower is taken.
        sensitive: Columns published as they are whose link to a person must stay unknown: names,
            or a mapping to a `Sensitive`.
        identifiers: Columns that name a person; dropped.
        keep: Columns published as they are, known to nobody who could use them.
        drop: Columns that are not published.
        others: What happens to columns in no role; None makes them an error before publishing.
        models: Privacy models; several of a kind count as the strictest. Those of sensitive
            columns hold for each of them that has none of the family of its own.
        suppression_limit: Share of the records that may be suppressed, in [0, 1].
        suppressed: `drop` leaves suppressed records out; `keep` publishes them with every
            quasi-identifier replaced by `suppressed_label`.
        suppressed_label: What stands for a suppressed value.
        entity: A column that says whose record it is; models count its distinct values, persons,
            instead of records. It is not published, unless it is among `keep`.

    Raises:
        PolicyError: A column in two roles, a figure out of range, or l-diversity or t-closeness
            without a sensitive column; all mistakes at once.
    """

    quasi_identifiers: Mapping[str, Hierarchy | QuasiIdentifier] | Sequence[str]
    sensitive: Mapping[str, Sensitive] | Sequence[str] = ()
    identifiers: Sequence[str] = ()
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    others: Others | None = None
    models: Sequence[Model] = ()
    suppression_limit: float = 0.0
    suppressed: Literal["drop", "keep"] = "drop"
    suppressed_label: str = "*"
    entity: str | None = None

    def __post_init__(self) -> None:
        faults = self._kind_faults() or [
            *self._role_faults(),
            *self._entity_faults(),
            *self._model_faults(),
            *self._figure_faults(),
        ]
        if faults:
            raise PolicyError("; ".join(faults))
        # What the caller changes later must not change what was checked.
        settled = {
            "quasi_identifiers": self.attributes,
            "sensitive": self.sensitive_attributes,
            "identifiers": tuple(self.identifiers),
            "keep": tuple(self.keep),
            "drop": tuple(self.drop),
            "models": strictest(self.models),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

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
    def sensitive_attributes(self) -> dict[str, Sensitive]:
        """The sensitive columns in order, each with its own models and how its values differ."""
        given = self.sensitive
        if isinstance(given, Mapping):
            return dict(given)
        return {name: Sensitive() for name in given}

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What is asked of each sensitive column, in the order of columns; l before t."""
        common = [model for model in self.models if not isinstance(model, KAnonymity)]
        demands = []
        for column, attribute in self.sensitive_attributes.items():
            own = {model.family for model in attribute.models}
            models = [model for model in common if model.family not in own]
            demands += [Demand(column, model) for model in strictest([*models, *attribute.models])]
        return tuple(demands)

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
        return max((model.k for model in self.models if isinstance(model, KAnonymity)), default=1)

    def _kind_faults(self) -> list[str]:
        """Arguments of another kind than they must be; nothing else can be said of them."""
        faults = []
        for role, columns in _given_roles(self).items():
            if not _all_of(columns, str):
                faults.append(f"{role} must be a list of column names")
        for role, given, kinds, names in (
            ("quasi-identifiers", self.quasi_identifiers, _QUASI, "Hierarchy or QuasiIdentifier"),
            ("sensitive columns", self.sensitive, Sensitive, "Sensitive"),
        ):
            if isinstance(given, Mapping):
                wrong = [name for name, value in given.items() if not isinstance(value, kinds)]
                if wrong:
                    faults.append(f"{role} without a {names}: {', '.join(map(repr, wrong))}")
        if not _all_of(self.models, Model):
            faults.append("models must be a list of privacy models, such as [KAnonymity(5)]")
        if not isinstance(self.entity, str | None):
            faults.append("entity must be the name of a column")
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

    def _entity_faults(self) -> list[str]:
        return [
            f"column {self.entity!r} is both entity and {role}; the column that says whose record "
            "it is cannot be published so, leave it out of the other role"
            for role in ("quasi-identifier", "sensitive")
            if self.entity in self.roles[role]
        ]

    def _model_faults(self) -> list[str]:
        lost = [model for model in self.models if not isinstance(model, KAnonymity)]
        if not lost or self.sensitive:
            return []
        return [
            f"{' and '.join(model.describe() for model in lost)} needs a sensitive column; "
            "name it with sensitive (--sensitive COLUMN)"
        ]

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
        if self.entity is not None and self.entity not in named:
            named.append(self.entity)
        faults = [_missing(column, columns) for column in named if column not in columns]
        unassigned = [column for column in columns if column not in named]
        if publish and unassigned and self.others is None:
            faults.append(
                f"{counted(len(unassigned), 'column has', 'columns have')} no role: "
                f"{', '.join(map(repr, unassigned))}; publish with keep (--keep COLUMN), leave out "
                "with drop (--drop COLUMN), or settle all at once with others (--others keep|drop)"
            )
        if faults:
            raise PolicyError("; ".join(faults))

    def published(self, columns: Sequence[str]) -> list[str]:
        """The columns of a table that are published, in the table's order."""
        left_out = {*self.identifiers, *self.drop, self.entity} - set(self.keep)
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
            **_model_forms(self.models),
            "suppression_limit": self.suppression_limit,
            "suppressed": self.suppressed,
            "suppressed_label": self.suppressed_label,
            "identifiers": list(self.identifiers),
            "keep": list(self.keep),
            "drop": list(self.drop),
            "quasi_identifiers": {},
            "sensitive": {
                column: _sensitive_form(attribute)
                for column, attribute in self.sensitive_attributes.items()
            },
        }
        for key in ("others", "entity"):
            if getattr(self, key) is not None:
                result[key] = getattr(self, key)
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
            document: The keys; `method` and `loss` are no part of a policy and are left out.
            folder: Where relative paths of hierarchy files start.

        Raises:
            PolicyError: Unknown keys, all at once, or a value of the wrong kind.
            HierarchyError: A hierarchy that cannot be read.
            SourceError: A hierarchy file that cannot be read.
        """
        own = [field.name for field in fields(cls) if field.name != "models"]
        _refuse_unknown(document, ["k", "l", "t", *own, *SETTINGS], "the policy")
        options = {key: document[key] for key in own if key in document}
        for key in ("identifiers", "keep", "drop"):
            options[key] = tuple(_texts(options.get(key, ()), key))
        quasi = _entries(options.pop("quasi_identifiers", {}), "quasi_identifiers")
        sensitive = _entries(options.pop("sensitive", {}), "sensitive")
        return cls(
            quasi_identifiers={
                name: _attribute(name, entry, folder) for name, entry in quasi.items()
            },
            sensitive={name: _sensitive(name, entry, folder) for name, entry in sensitive.items()},
            models=_models(document),
            **options,
        )

    @classmethod
    def from_toml(cls, path: str | Path) -> Policy:
        """Reads a policy file; its `method` and `loss` are left to `read_document`."""
        document = read_document(path)
        with blaming(f"policy file {str(path)!r}"):
            return cls.from_dict(document, Path(path).parent)


@contextmanager
def blaming(culprit: str) -> Iterator[None]:
    """Puts what is at fault before the message of an error."""
    try:
        yield
    except HierarchyError as error:
        raise HierarchyError([f"{culprit}: {fault}" for fault in error.faults]) from None
    except (PolicyError, SourceError) as error:
        raise type(error)(f"{culprit}: {error}") from None


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


_QUASI = (Hierarchy, QuasiIdentifier)
_HIERARCHY_KEYS = sorted({*FORMS, *(key for keys in FORMS.values() for key in keys)})


def _attribute(name: str, entry: object, folder: Path | None) -> QuasiIdentifier:
    if not isinstance(entry, Mapping):
        raise PolicyError(f"quasi-identifier {name!r} must be a table such as {{ prefix = [3] }}")
    where = f"quasi-identifier {name!r}"
    _refuse_unknown(entry, [*COLUMN_KEYS, *_HIERARCHY_KEYS], where)
    bounds = {key: entry[key] for key in COLUMN_KEYS if key in entry}
    rule = {key: value for key, value in entry.items() if key not in COLUMN_KEYS}
    if "level" in bounds:
        level = bounds.pop("level")
        if bounds.keys() & {"min_level", "max_level"}:
            raise PolicyError(f"{where} has level beside min_level or max_level")
        bounds |= {"min_level": level, "max_level": level}
    with blaming(where):
        return QuasiIdentifier(Hierarchy.from_dict(rule, folder=folder), **bounds)


def _sensitive(name: str, entry: object, folder: Path | None) -> Sensitive:
    if not isinstance(entry, Mapping):
        raise PolicyError(f"sensitive column {name!r} must be a table such as {{ l = 3 }}")
    where = f"sensitive column {name!r}"
    _refuse_unknown(entry, [*SENSITIVE_KEYS, *_HIERARCHY_KEYS], where)
    rule = {key: value for key, value in entry.items() if key not in SENSITIVE_KEYS}
    with blaming(where):
        return Sensitive(
            models=_models({key: entry[key] for key in ("l", "t") if key in entry}),
            hierarchy=Hierarchy.from_dict(rule, folder=folder) if rule else None,
            order=entry.get("order"),
            nulls=entry.get("nulls", "value"),
        )


def _sensitive_form(attribute: Sensitive) -> dict[str, Any]:
    """A sensitive column as `policy.toml` would write it."""
    return {
        **_model_forms(attribute.models),
        **({} if attribute.hierarchy is None else attribute.hierarchy.to_dict()),
        **({} if attribute.order is None else {"order": list(attribute.order)}),
        **({} if attribute.nulls == "value" else {"nulls": attribute.nulls}),
    }


_BUILDERS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "l": (LDiversity, ("kind", "c")),
    "t": (TCloseness, ("distance",)),
}


def _models(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """The models of `k`, `l` and `t`: each a figure, a table of its own keys, or a list of them."""
    k = document.get("k")
    models: list[Model] = [] if k is None else [KAnonymity(k)]
    for family, (build, keys) in _BUILDERS.items():
        forms = document.get(family, [])
        for form in forms if isinstance(forms, list | tuple) else [forms]:
            entry = form if isinstance(form, Mapping) else {"value": form}
            _refuse_unknown(entry, ["value", *keys], family)
            if "value" not in entry:
                raise PolicyError(f"{family} has no value, such as {family} = {{ value = 1 }}")
            models.append(
                build(entry["value"], **{key: entry[key] for key in entry if key in keys})
            )
    return tuple(models)


def _model_forms(models: Iterable[Model]) -> dict[str, Any]:
    """The keys `k`, `l` and `t` that `_models` reads."""
    forms: dict[str, Any] = {}
    for model in models:
        if isinstance(model, KAnonymity):
            forms["k"] = model.k
        elif isinstance(model, LDiversity):
            c = {} if model.c is None else {"c": model.c}
            forms.setdefault("l", []).append({"value": model.l, "kind": model.kind, **c})
        else:
            forms.setdefault("t", []).append({"value": model.t, "distance": model.distance})
    return {
        key: form[0] if isinstance(form, list) and len(form) == 1 else form
        for key, form in forms.items()
    }


def _entries(given: object, key: str) -> dict[str, Any]:
    """What is said of each column of a role: of a list of names, nothing."""
    if isinstance(given, Mapping):
        return dict(given)
    names = _texts(given, key)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PolicyError(f"{key} names {', '.join(map(repr, twice))} twice; name each once")
    return {name: {} for name in names}


def _texts(value: Any, key: str) -> list[str]:
    if not _all_of(value, str):
        raise PolicyError(f"{key} must be a list of column names")
    return list(value)


def _all_of(value: object, kinds: Any) -> bool:
    """Whether it is a collection, no text, of these kinds alone."""
    return (
        isinstance(value, Collection)
        and not isinstance(value, str | bytes)
        and all(isinstance(item, kinds) for item in value)
    )


def _missing(column: str, columns: Sequence[str]) -> str:
    meant = near(column, columns)
    hint = "" if meant is None else f"; did you mean {meant!r}?"
    return f"the table has no column {column!r}{hint}"


def _refuse_unknown(entry: object, known: Sequence[str], where: str) -> None:
    if not isinstance(entry, Mapping):
        raise PolicyError(f"{where} must be a table of keys")
    unknown = sorted(str(key) for key in entry if key not in known)
    if unknown:
        meant = {key: near(key, known) for key in unknown}
        named = ", ".join(
            f"{key} (did you mean {other}?)" if other else key for key, other in meant.items()
        )
        raise PolicyError(
            f"unknown {'key' if len(unknown) == 1 else 'keys'} in {where}: {named}; "
            f"known are {', '.join(known)}"
        )
