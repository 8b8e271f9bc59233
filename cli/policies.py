"""From a policy file and options to a policy: an option goes before the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.policy.policy import OF_METHODS, SETTINGS, Policy
from sqlanon.policy.population import POPULATION_FAMILIES
from sqlanon.policy.privacy import FAMILIES, TABLE_FAMILIES
from sqlanon.policy.toml import (
    COLUMN_KEYS,
    SENSITIVE_KEYS,
    blaming,
    inline_table,
    model_form,
    model_of,
    number,
    read_document,
    spelled_out,
    toml_value,
)
from sqlanon.wording import split_list

from .options import PolicyOptions, PublishingOptions, given
from .output import note

Document = dict[str, Any]
Columns = Sequence[str]

_NOT_SENSITIVE = "is not a sensitive column; name it with --sensitive"
_ROLES = {
    "quasi_identifiers": "--qi",
    "sensitive": "--sensitive",
    "identifiers": "--identifier",
    "keep": "--keep",
    "drop": "--drop",
}


def policy_document(path: Path | None) -> Document:
    """The keys of a policy file, roles as mappings of columns; empty where there is none.

    Raises:
        PolicyError: The file is missing or no TOML, or its method or loss is no text.
    """
    document = {} if path is None else read_document(path)
    for name in SETTINGS:
        if not isinstance(document.get(name, ""), str):
            raise PolicyError(f"policy file {str(path)!r}: {name} must be a text in quotes")
    for role in _ROLES:
        entry = document.get(role, {})
        # What is no list of different names is left for the policy to refuse.
        if isinstance(entry, list) and all(isinstance(name, str) for name in entry):
            named: Document = {name: {} for name in entry}
            document[role] = named if len(named) == len(entry) else entry
    quasi = document.get("quasi_identifiers", {})
    if isinstance(quasi, Mapping) and quasi:
        document["quasi_identifiers"] = {n: spelled_out(entry) for n, entry in quasi.items()}
    return document


@dataclass(frozen=True, slots=True)
class PolicyMaker:
    """Makes the policy as soon as the table's columns are known.

    Only they tell whether `a,b` is one column or two, and where the column ends in `a=b=2`.

    Args:
        options: What goes before the policy file, and its name.
        publishing: What goes before it, where a table is to be published.
        complete: Whether every column needs a role.
        reads_hierarchies: Whether hierarchy files of the policy file are read; a command that
            generalizes nothing only checks all else that is said of quasi-identifiers, unless it
            generalizes a population.
        compares: Whether a population is for risk where no model asks for it, and a weight or
            household that an option names is for risk of this very table.
        judges: Whether models of a population are asked at all.
        varies: Figures of the policy that take values of their own later.
        document: The policy file.

    Raises:
        PolicyError: The file is missing or no TOML, or its method or loss is no text.
    """

    options: PolicyOptions
    publishing: PublishingOptions = field(default_factory=PublishingOptions)
    complete: bool = False
    reads_hierarchies: bool = True
    compares: bool = False
    judges: bool = True
    varies: Iterable[str] = ()
    document: Document = field(init=False)

    def __post_init__(self) -> None:
        document = policy_document(self.options.policy)
        object.__setattr__(self, "document", document)
        if not self.judges and self._of_population:
            note(
                "k_map and delta_presence (--k-map, --delta-presence) change nothing here; ask "
                "check for these models, or the command that publishes"
            )
        quasi = document.get("quasi_identifiers")
        is_read = self.reads_hierarchies or self.asks_population
        if isinstance(quasi, Mapping) and not is_read:
            document["quasi_identifiers"] = {name: _unread(entry) for name, entry in quasi.items()}

    def __call__(self, columns: Columns) -> Policy:
        """The policy for a table of these columns.

        Raises:
            PolicyError: Contradictions, unknown columns and figures out of range.
            HierarchyError: A hierarchy that cannot be read.
            SourceError: A hierarchy file that cannot be read.
        """
        left_out = () if self.judges else (*POPULATION_FAMILIES, "population")
        kept = {key: value for key, value in self.document.items() if key not in left_out}
        document = {**kept, **self._figures()}
        document |= self._roles(document, columns)
        _Refinement(self.options).refine(document)
        file = self.options.policy
        if file is None:
            policy = Policy.from_dict(_listed(document))
        else:
            options = "" if document == self.document else " with the options given"
            with blaming(f"policy file {str(file)!r}{options}"):
                policy = Policy.from_dict(_listed(document), file.parent)
        if self.complete:
            policy.check_columns(columns, publish=True)
        if self.compares:  # A release has no weight any more; who asks for one wants its risk.
            asked = self.options
            Policy([], weight=asked.weight_column, household=asked.household).check_columns(columns)
        return policy

    @property
    def said(self) -> Document:
        """What the policy file says besides: method, loss and options of methods."""
        names = (*SETTINGS, *OF_METHODS)
        return {name: self.document[name] for name in names if name in self.document}

    @property
    def asks_population(self) -> bool:
        """Whether a model compares classes with a population, so that hierarchies are needed."""
        return self.judges and self._of_population

    @property
    def _of_population(self) -> bool:
        named = {key.strip().replace("-", "_") for key in (*self.document, *self.varies)}
        return bool(self._asked(POPULATION_FAMILIES) or named & {*POPULATION_FAMILIES})

    @property
    def compared(self) -> dict[str, str]:
        """The population that risk is of, where no model asks for it, as the library takes it."""
        return {} if self.asks_population else given(self.options, "population")

    def _asked(self, families: Iterable[str]) -> Document:
        """The models of some families that options ask for."""
        return {key: model for key in families if (model := getattr(self.options.models, key))}

    def _figures(self) -> Document:
        figures = given(self.options, "k", "entity", "household", "suppression_limit")
        if self.options.weight_column is not None:
            figures["weight"] = self.options.weight_column
        if self.asks_population:
            figures |= given(self.options, "population")
        elif self.options.population is not None and not (self.compares or self._of_population):
            raise PolicyError(
                "--population is for --k-map and --delta-presence, and neither is asked for; give "
                "one of them, or leave it out"
            )
        left_out = () if self.judges else POPULATION_FAMILIES
        figures |= self._asked(key for key in TABLE_FAMILIES if key not in left_out)
        return figures | given(self.publishing, "others", "suppressed", "suppressed_label")

    def _roles(self, document: Document, columns: Columns) -> Document:
        """The roles: a list that is given replaces the file's, a column leaves its old role."""
        policy, published = self.options, self.publishing
        lists = (policy.qi, policy.sensitive, policy.identifier, published.keep, published.drop)
        said = {
            role: [name for text in texts for name in split_list(text, columns)]
            for role, texts in zip(_ROLES, lists, strict=True)
        }
        for role, names in said.items():
            _refuse_repeated(_ROLES[role], names)
        named = {name for names in said.values() for name in names}
        roles: Document = {}
        for role, names in said.items():
            old = document.get(role)
            if names:
                entries = old if isinstance(old, Mapping) else {}
                roles[role] = {name: entries.get(name, {}) for name in names}
                _tell_set_aside(role, [name for name in entries if name not in named])
            elif isinstance(old, Mapping):
                roles[role] = {name: entry for name, entry in old.items() if name not in named}
        return roles


def _refuse_repeated(flag: str, names: Sequence[str]) -> None:
    """Refuses a column that an option names twice: another one was probably meant."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PolicyError(f"{flag} names {', '.join(map(repr, twice))} twice; name each once")


def _tell_set_aside(role: str, names: Sequence[str]) -> None:
    """Tells which columns of the policy file an option leaves without a role."""
    if names:
        columns = "1 column is" if len(names) == 1 else f"{len(names)} columns are"
        listed = ", ".join(map(repr, names))
        note(
            f"{_ROLES[role]} takes the place of {role} in the policy file; "
            f"{columns} set aside: {listed}"
        )


class _Refinement:
    """Puts options about single columns into their entries of a policy document."""

    def __init__(self, options: PolicyOptions) -> None:
        self.options = options
        self.changes: dict[str, Document] = {}
        self.faults: list[str] = []

    def refine(self, document: Document) -> None:
        """Puts hierarchies, weights, bounds and models into the document.

        Raises:
            PolicyError: All that is wrong with these options.
        """
        quasi, sensitive = (document.get(role, {}) for role in ("quasi_identifiers", "sensitive"))
        if not (isinstance(quasi, Mapping) and isinstance(sensitive, Mapping)):
            return
        otherwise = "is neither quasi-identifier nor sensitive; name it with --qi or --sensitive"
        self._single("hierarchy", [*quasi, *sensitive], otherwise=otherwise, read=_form)
        for option, read in _REFINEMENTS.items():
            self._single(
                option,
                quasi,
                otherwise="is not a quasi-identifier; name it with --qi",
                read=read,
                alone=_ALONE.get(option),
            )
        for family in FAMILIES:
            common = self._models(family, sensitive)
            if common:
                document[family] = common
                changed = {name: _without(entry, family) for name, entry in sensitive.items()}
                overruled = [repr(n) for n in sensitive if changed[n] != sensitive[n]]
                if overruled:
                    flag = f"--{family.replace('_', '-')}"
                    columns = ", ".join(overruled)
                    note(f"{flag} takes the place of {family} of {columns} in the policy file")
                sensitive = changed
        self._single("order", [*quasi, *sensitive], otherwise=otherwise, read=_order)
        self._nulls(sensitive)
        if self.faults:
            raise PolicyError("; ".join(self.faults))
        for role, entries in (("quasi_identifiers", quasi), ("sensitive", sensitive)):
            if role in document:
                document[role] = {
                    name: _refined(entry, self.changes.get(name, {}))
                    for name, entry in entries.items()
                }

    def _single(
        self,
        option: str,
        columns: Iterable[str],
        *,
        otherwise: str,
        read: Callable[[str], object],
        alone: str | None = None,
    ) -> None:
        """Reads an option that says one thing of a column; `alone` is what it says by itself."""
        flag = f"--{option.replace('_', '-')}"
        known = list(columns)
        for said in getattr(self.options, option):
            is_alone = alone is not None and (said in known or "=" not in said)
            text = f"{said}={alone}" if is_alone else said
            with self._collected():
                name, value = divide(text, known, flag=flag, otherwise=otherwise)
                with blaming(f"{flag} of column {name!r}"):
                    form = read(value)
                self._change(name, option, value=form, flag=flag)

    def _change(self, name: str, option: str, *, value: object, flag: str) -> None:
        entry = self.changes.setdefault(name, {})
        if entry.setdefault(option, value) != value:
            raise PolicyError(f"{flag} is given twice for column {name!r}; keep one of them")

    def _models(self, family: str, columns: Iterable[str]) -> list[Document]:
        """Reads --l and its like: returns models of all sensitive columns, notes those of one."""
        flag = f"--{family.replace('_', '-')}"
        common: list[Document] = []
        for text in getattr(self.options.models, family):
            with self._collected():
                if "=" not in text or text.lstrip().startswith("{"):
                    with blaming(flag):
                        common.append(_model(family, text))
                    continue
                name, value = divide(text, columns, flag=flag, otherwise=_NOT_SENSITIVE)
                with blaming(f"{flag} of column {name!r}"):
                    form = _model(family, value)
                self.changes.setdefault(name, {}).setdefault(family, []).append(form)
        return common

    def _nulls(self, columns: Iterable[str]) -> None:
        """Reads --nulls, of every sensitive column or of one, which goes before."""
        common: list[str] = []
        for text in self.options.nulls:
            with self._collected():
                if "=" in text:
                    name, value = divide(text, columns, flag="--nulls", otherwise=_NOT_SENSITIVE)
                    self._change(name, "nulls", value=value, flag="--nulls")
                else:
                    common.append(text)
        if len(set(common)) > 1:
            self.faults.append("--nulls is given twice; keep one of them, or say COLUMN=value|none")
        if common and not columns:
            self.faults.append("--nulls is about sensitive columns; name one with --sensitive")
        for name in columns if common else ():
            self.changes.setdefault(name, {}).setdefault("nulls", common[0])

    @contextmanager
    def _collected(self) -> Iterator[None]:
        try:
            yield
        except (PolicyError, HierarchyError, SourceError) as error:
            self.faults.append(str(error))


def divide(text: str, columns: Iterable[str], *, flag: str, otherwise: str) -> tuple[str, str]:
    """Parts `COLUMN=VALUE` behind the longest column that it starts with.

    Args:
        text: What was given.
        columns: The columns that it may start with.
        flag: The option, for messages.
        otherwise: What to say of any other column.

    Raises:
        PolicyError: There is no value, or none of the columns.

    >>> divide("a=b=2", ["a", "a=b"], flag="--weight", otherwise="is not known")
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
    """A column's entry of the file with what options say about it."""
    if not isinstance(entry, Mapping) or not change:
        return entry
    change = dict(change)
    form = change.pop("hierarchy", None)
    left_out = {"min_level", "max_level"} if "level" in change else set()
    left_out |= {"level"} if change.keys() & {"min_level", "max_level"} else set()
    kept = {key: value for key, value in entry.items() if key not in left_out}
    if form is not None:
        keys = {*COLUMN_KEYS, *SENSITIVE_KEYS}
        kept = {key: value for key, value in kept.items() if key in keys} | form
    return kept | change


def _without(entry: object, key: str) -> object:
    return {k: v for k, v in entry.items() if k != key} if isinstance(entry, Mapping) else entry


def _unread(entry: object) -> object:
    """A quasi-identifier's entry with a hierarchy that is named as the file is but not read."""
    from sqlanon.hierarchy.declaration import form_of_spec

    if not isinstance(entry, Mapping):
        return entry
    file, spec = entry.get("file"), entry.get("hierarchy")
    if isinstance(spec, str):
        with suppress(HierarchyError):  # told of when the policy is read
            file = form_of_spec(spec).get("file")
    if file is None:
        return entry
    kept = {k: v for k, v in entry.items() if k not in ("file", "delimiter", "hierarchy")}
    return {**kept, "table": file}


def _form(text: str) -> Document:
    """The form of a policy file for a hierarchy that an option names, in words or as a table."""
    written = inline_table(text)
    made = Hierarchy.from_spec(text) if written is None else Hierarchy.from_dict(written)
    return made.to_dict()


def _model(key: str, text: str) -> Document:
    """The form of a policy file for a model that an option names."""
    form = model_form(key, text)
    model_of(key, form)
    return form


def _order(text: str) -> list[str]:
    """The values of a column, lowest first: parted by commas, or a list as TOML writes it."""
    if not text.lstrip().startswith("["):
        return text.split(",")
    values = toml_value(text)
    if values is not None:
        return list(values)
    raise PolicyError("the order is not a list as TOML writes it, such as ['low', 'high']")


def _level(text: str) -> int | float:
    try:
        return number(text, (int,))
    except PolicyError:
        if not text.strip():
            raise PolicyError("no level is given; give a whole number") from None
        raise PolicyError(f"level {text!r} is not a whole number") from None


_REFINEMENTS: Mapping[str, Callable[[str], object]] = {
    "weight": lambda text: number(text, (float,)),
    "level": _level,
    "min_level": _level,
    "max_level": _level,
    "class_mean": str,
}
_ALONE = {"class_mean": "mean"}
"""What options say of a column where nothing stands behind it."""


def _listed(document: Document) -> Document:
    """The document as `policy.toml` has it: plain roles are lists of columns."""
    plain = ("identifiers", "keep", "drop")
    return {
        key: list(value) if key in plain and isinstance(value, Mapping) else value
        for key, value in document.items()
    }
