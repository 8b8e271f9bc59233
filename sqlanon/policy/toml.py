"""TOML: policies as `policy.toml` has them, read and written, and in words as on a command line."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from sqlanon.errors import HierarchyError, PolicyError, SourceError
from sqlanon.hierarchy.declaration import FORMS, Hierarchy
from sqlanon.policy.privacy import FAMILIES, TABLE_FAMILIES, Model, TableModel, ValueModel
from sqlanon.policy.roles import QuasiIdentifier, Sensitive, all_of
from sqlanon.policy.sizes import KAnonymity, SubsetAnonymity
from sqlanon.wording import alike

COLUMN_KEYS = ("weight", "level", "min_level", "max_level", "order", "class_mean")
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
    """The models of `k` and of all families.

    All but `k` are each in a form of `table_form` or `model_of`, or a list of them. Where
    `k_subsets` says no k of its own, `k` is asked of subsets alone.
    """
    k, subsets = document.get("k"), SubsetAnonymity.family
    tables = {key: [table_form(key, f) for f in _entries(document, key)] for key in TABLE_FAMILIES}
    open_ended = [form for form in tables[subsets] if form.keys() == {"subsets"}]
    if open_ended and k is None:
        raise PolicyError(
            f"{subsets} says how many quasi-identifiers are combined and not how many records "
            "share a combination; say k, too (--k)"
        )
    models: list[Model] = [] if k is None or open_ended else [KAnonymity(k)]
    for form in open_ended:
        form["k"] = k
    models += [_table_model(key, form) for key, forms in tables.items() for form in forms]
    models += [model_of(key, form) for key in FAMILIES for form in _entries(document, key)]
    return tuple(models)


def _entries(document: Mapping[str, Any], key: str) -> Sequence[Any]:
    forms = document.get(key, [])
    return forms if isinstance(forms, list | tuple) else [forms]


def table_form(key: str, form: object) -> dict[str, Any]:
    """The fields of a model of no values: a figure, the command line's words, or themselves.

    Raises:
        PolicyError: Unknown keys, or more figures than the model has.

    >>> table_form("share_at_risk", "0.2:0.01"), table_form("k_subsets", 2)
    ({'risk': 0.2, 'share': 0.01}, {'subsets': 2})
    """
    family = TABLE_FAMILIES[key]
    figures: list[object] = [form]
    if isinstance(form, str):
        with blaming(key):
            written = inline_table(form)
            figures = [number(part) for part in form.split(":")] if written is None else []
        form = form if written is None else written
    if isinstance(form, Mapping):
        refuse_unknown(form, family.keys, where=key)
        return dict(form)
    if len(figures) > len(family.keys):
        raise PolicyError(f"{key} {form!r} must have the form {family.written}")
    return dict(zip(family.keys, figures, strict=False))


def _table_model(key: str, form: Mapping[str, Any]) -> TableModel:
    family = TABLE_FAMILIES[key]
    missing = [name for name in family.keys if name not in form]
    if missing:
        raise PolicyError(f"{key} lacks {' and '.join(missing)}; it has the form {family.written}")
    built: TableModel = family.build(**form)
    return built


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


def _written(model: TableModel | ValueModel) -> Any:
    """A model as a policy file writes it: by its keys, or its figure alone.

    >>> _written(FAMILIES["l"].build(3)), _written(FAMILIES["alpha"].build(0.5))
    ({'value': 3, 'kind': 'distinct'}, 0.5)
    """
    value, *others = ((field.name, getattr(model, field.name)) for field in fields(model))
    if isinstance(model, TableModel) and others:
        return dict([value, *others])
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


def number(text: str, kinds: Sequence[type[int | float]] = (int, float)) -> int | float:
    """A finite number of the first kind that reads the text.

    Raises:
        PolicyError: The text is no number, or one that is not finite.

    >>> number("3"), number("0.5")
    (3, 0.5)
    """
    if not text.strip():
        raise PolicyError("no number is given")
    parsed = next(filter(None, (_read(text, kind) for kind in kinds)), None)
    if parsed is None:
        raise PolicyError(f"{text!r} is not a number")
    if not math.isfinite(parsed[0]):
        raise PolicyError(f"{text!r} is not a finite number")
    return parsed[0]


def _read(text: str, kind: type[int | float]) -> tuple[int | float] | None:
    try:
        return (kind(text),)
    except ValueError:
        return None


def model_form(key: str, text: str) -> dict[str, Any]:
    """The table of a policy file for `3`, `entropy:3`, `recursive:2:3` (c before l), or itself.

    Raises:
        PolicyError: The text is none of these.

    >>> model_form("l", "recursive:2:3")
    {'value': 3, 'kind': 'recursive', 'c': 2}
    >>> model_form("t", '{ value = 0.2, distance = "ordered" }')
    {'value': 0.2, 'distance': 'ordered'}
    """
    written = inline_table(text)
    if written is not None:
        return written
    family = FAMILIES[key]
    before, parted, value = text.rpartition(":")
    said = before.split(":") if family.figures else [before]
    kind, *figures = said if parted else [*family.kinds, ""][:1]
    names = family.figures.get(kind, ())
    if len(figures) != len(names) or (parted and not family.kinds):
        raise PolicyError(f"{text!r} must have the form {family.written}")
    form: dict[str, Any] = {"value": number(value)}
    form |= {family.keys[0]: kind} if family.kinds else {}
    form |= {name: number(figure) for name, figure in zip(names, figures, strict=True)}
    return form


def toml_value(text: str) -> Any:
    """The value that a text is in TOML; None where it is none, or more than one.

    >>> toml_value("['low', 'high']"), toml_value("low")
    (['low', 'high'], None)
    """
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        document = tomllib.loads(f"it = {text.strip()}")
        if document.keys() == {"it"}:
            return document["it"]
    return None


def inline_table(text: str) -> dict[str, Any] | None:
    """The table that a text in braces is in TOML; None for any other text.

    Raises:
        PolicyError: The text begins as one and is none.

    >>> inline_table("{ intervals = [5, 10] }"), inline_table("intervals:5,10")
    ({'intervals': [5, 10]}, None)
    """
    if not text.lstrip().startswith("{"):
        return None
    written = toml_value(text)
    if written is not None:
        return dict(written)
    raise PolicyError(
        f"{text!r} is not a table as policy.toml has it, such as {{ prefix = [3, 2] }}"
    )
