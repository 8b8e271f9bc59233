"""TOML: policies as `policy.toml` has them, read and written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy.declaration import FORMS, Hierarchy
from sqlanon.policy.privacy import FAMILIES, KAnonymity, Model, ValueModel
from sqlanon.policy.roles import QuasiIdentifier, Sensitive, all_of
from sqlanon.policy.words import model_form
from sqlanon.wording import alike

COLUMN_KEYS = ("weight", "level", "min_level", "max_level", "order")
SPEC = "hierarchy"
"""The key of a hierarchy as the command line writes it, such as `intervals:5,10`."""
SENSITIVE_KEYS = (*FAMILIES, "order", "nulls")


@contextmanager
def blaming(culprit: str) -> Iterator[None]:
    """Puts what is at fault before the message of an error."""
    try:
        yield
    except HierarchyError as error:
        raise HierarchyError([f"{culprit}: {fault}" for fault in error.faults]) from None
    except (PolicyError, SourceError) as error:
        raise type(error)(f"{culprit}: {error}") from None


def read_document(path: str | Path) -> dict[str, Any]:
    """The keys of a policy file.

    Raises:
        PolicyError: The file is missing or no TOML.
    """
    try:
        return tomllib.loads(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise PolicyError(f"policy file {str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PolicyError(f"policy file {str(path)!r} is not valid TOML: {error}") from None


_HIERARCHY_KEYS = sorted({*FORMS, SPEC, *(key for keys in FORMS.values() for key in keys)})


def spelled_out(entry: object) -> object:
    """The entry of a quasi-identifier; a text is its hierarchy.

    >>> spelled_out("prefix:3")
    {'hierarchy': 'prefix:3'}
    """
    return {SPEC: entry} if isinstance(entry, str) else entry


def _hierarchy(rule: Mapping[str, Any], folder: Path | None) -> Hierarchy:
    """A hierarchy from the keys of a policy file, or from the words of the command line."""
    if SPEC not in rule:
        return Hierarchy.from_dict(rule, folder=folder)
    others = [key for key in rule if key != SPEC]
    if others:
        raise PolicyError(f"{SPEC} stands beside {', '.join(others)}; keep one")
    if not isinstance(rule[SPEC], str):
        raise PolicyError(f"{SPEC} must be a text such as 'prefix:3' or the name of a file")
    return Hierarchy.from_spec(rule[SPEC], folder=folder)


def read_quasi_identifier(name: str, entry: object, *, folder: Path | None) -> QuasiIdentifier:
    """A quasi-identifier from its entry in a document; paths in it start at the folder.

    Raises:
        PolicyError: Unknown keys, or a value of the wrong kind.
        HierarchyError: A hierarchy that cannot be read.
        SourceError: A hierarchy file that cannot be read.
    """
    where = f"quasi-identifier {name!r}"
    entry = spelled_out(entry)
    if not isinstance(entry, Mapping):
        raise PolicyError(
            f"{where} must be a table such as {{ prefix = [3] }}, or a text such as 'prefix:3'"
        )
    refuse_unknown(entry, [*COLUMN_KEYS, *_HIERARCHY_KEYS], where=where)
    bounds = {key: entry[key] for key in COLUMN_KEYS if key in entry}
    rule = {key: value for key, value in entry.items() if key not in COLUMN_KEYS}
    if "level" in bounds:
        level = bounds.pop("level")
        if bounds.keys() & {"min_level", "max_level"}:
            raise PolicyError(f"{where} has level beside min_level or max_level")
        bounds |= {"min_level": level, "max_level": level}
    with blaming(where):
        return QuasiIdentifier(_hierarchy(rule, folder), **bounds)


def read_sensitive(name: str, entry: object, *, folder: Path | None) -> Sensitive:
    """A sensitive column from its entry in a document; as `read_quasi_identifier`."""
    if not isinstance(entry, Mapping):
        raise PolicyError(f"sensitive column {name!r} must be a table such as {{ l = 3 }}")
    where = f"sensitive column {name!r}"
    refuse_unknown(entry, [*SENSITIVE_KEYS, *_HIERARCHY_KEYS], where=where)
    rule = {key: value for key, value in entry.items() if key not in SENSITIVE_KEYS}
    with blaming(where):
        return Sensitive(
            models=models_of({key: entry[key] for key in FAMILIES if key in entry}),
            hierarchy=_hierarchy(rule, folder) if rule else None,
            order=entry.get("order"),
            nulls=entry.get("nulls", "value"),
        )


def sensitive_form(attribute: Sensitive) -> dict[str, Any]:
    """A sensitive column as `policy.toml` would write it."""
    return {
        **model_forms(attribute.models),
        **({} if attribute.hierarchy is None else attribute.hierarchy.to_dict()),
        **({} if attribute.order is None else {"order": list(attribute.order)}),
        **({} if attribute.nulls == "value" else {"nulls": attribute.nulls}),
    }


def models_of(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """The models of `k` and all families: each in a form of `model_of`, or a list of them."""
    k = document.get("k")
    models: list[Model] = [] if k is None else [KAnonymity(k)]
    for key in FAMILIES:
        forms = document.get(key, [])
        models += [
            model_of(key, f) for f in (forms if isinstance(forms, list | tuple) else [forms])
        ]
    return tuple(models)


def model_of(key: str, form: object) -> ValueModel:
    """The model of a family: a figure, a table of its own keys, or the command line's words.

    Raises:
        PolicyError: Unknown keys, no value, or figures out of range.
    """
    family = FAMILIES[key]
    if isinstance(form, str):
        with blaming(key):
            return model_of(key, model_form(key, form))
    entry: dict[str, Any] = dict(form) if isinstance(form, Mapping) else {"value": form}
    refuse_unknown(entry, ["value", *family.keys], where=key)
    if "value" not in entry:
        raise PolicyError(f"{key} has no value, such as {key} = {{ value = 1 }}")
    return family.build(entry.pop("value"), **entry)


def model_forms(models: Iterable[Model]) -> dict[str, Any]:
    """The keys that `models_of` reads."""
    forms: dict[str, Any] = {}
    for model in models:
        if isinstance(model, KAnonymity):
            forms["k"] = model.k
        else:
            forms.setdefault(model.family, []).append(_written(model))
    return {
        key: form[0] if isinstance(form, list) and len(form) == 1 else form
        for key, form in forms.items()
    }


def _written(model: ValueModel) -> Any:
    """A model as a policy file writes it: by its keys, or its figure alone.

    >>> _written(FAMILIES["l"].build(3)), _written(FAMILIES["alpha"].build(0.5))
    ({'value': 3, 'kind': 'distinct'}, 0.5)
    """
    value, *others = ((each.name, getattr(model, each.name)) for each in fields(model))
    kind = {name: given for name, given in others if given is not None}
    return {"value": value[1], **kind} if kind else value[1]


def entries(given: object, key: str) -> dict[str, Any]:
    """Entries of the columns of a role, empty ones for a list of names."""
    if isinstance(given, Mapping):
        return dict(given)
    names = texts(given, key)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PolicyError(f"{key} names {', '.join(map(repr, twice))} twice; name each once")
    return {name: {} for name in names}


def texts(value: Any, key: str) -> list[str]:
    """The column names that a key lists.

    Raises:
        PolicyError: It lists something else.
    """
    if not all_of(value, str):
        raise PolicyError(f"{key} must be a list of column names")
    return list(value)


def refuse_unknown(entry: object, known: Sequence[str], *, where: str) -> None:
    """Refuses keys that nobody knows.

    Raises:
        PolicyError: There are some, all at once, with what was probably meant.
    """
    if not isinstance(entry, Mapping):
        raise PolicyError(f"{where} must be a table of keys")
    unknown = sorted(str(key) for key in entry if key not in known)
    if unknown:
        named = ", ".join(
            " ".join([key, *(f"(did you mean {other}?)" for other in alike(key, known))])
            for key in unknown
        )
        raise PolicyError(
            f"unknown {'key' if len(unknown) == 1 else 'keys'} in {where}: {named}; "
            f"known are {', '.join(known)}"
        )
