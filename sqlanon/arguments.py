"""Arguments of public functions, held against what they must be before any work."""

from __future__ import annotations

import errno
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sqlanon.errors import PolicyError, SourceError
from sqlanon.wording import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Given = ParamSpec("Given")
Result = TypeVar("Result")


def is_whole_number(value: object) -> bool:
    """Whether it is an integer, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def plain(value: object) -> object:
    """A number of another library, such as numpy, as Python's own; all else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def plain_numbers(made: DataclassInstance) -> None:
    """Makes numbers of other libraries, such as numpy, Python's own in fields of a dataclass."""
    for field in fields(made):
        object.__setattr__(made, field.name, plain(getattr(made, field.name)))


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, float) and math.isfinite(value)


def is_whole(value: object) -> bool:
    """Whether it is a whole number of at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_path(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, PathLike) and isinstance(value.__fspath__(), str)
    )


def _is_texts(value: object) -> bool:
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return listed and all(isinstance(text, str) for text in value)  # type: ignore[attr-defined]


def _is_whole_numbers(value: object) -> bool:
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return listed and all(map(is_whole_number, value))  # type: ignore[call-overload]


_Kind = tuple[str, Callable[[object], bool]]
_WHOLE: _Kind = ("a whole number", is_whole_number)
_WHOLES: _Kind = ("a list of whole numbers", _is_whole_numbers)
_NUMBER: _Kind = ("a number", _is_number)
_FUNCTION: _Kind = ("a function", callable)
_KINDS: Mapping[str, _Kind] = {
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "str": ("a text", lambda value: isinstance(value, str)),
    "int": _WHOLE,
    "float": _NUMBER,
    "str | Path": ("a path", _is_path),
    "Sequence[str]": ("a list of texts", _is_texts),
    "Sequence[int]": _WHOLES,
    "Sequence[Any]": (
        "a list",
        lambda value: isinstance(value, Sequence) and not isinstance(value, str | bytes),
    ),
    "Columns": (
        "a list of texts, or a function",
        lambda value: callable(value) or _is_texts(value),
    ),
    "str | Sequence[str]": (
        "a text or a list of texts",
        lambda value: isinstance(value, str) or _is_texts(value),
    ),
    **dict.fromkeys(("Progress", "Confirm", "Callable[..., object]"), _FUNCTION),
    "Mapping[str, str]": (
        "a mapping of texts to texts",
        lambda value: isinstance(value, Mapping) and _is_texts([*value, *value.values()]),
    ),
    "Mapping[str, Iterable[Any]]": (
        "a mapping of figures to their values",
        lambda value: isinstance(value, Mapping),
    ),
    "Schemes": (
        "a scheme, or schemes by column",
        lambda value: isinstance(value, str | Mapping) or _is_texts(value),
    ),
}
"""Kinds by how they are annotated; what has another annotation is held against nothing here."""


def kinds_of(annotations: Mapping[str, Any]) -> dict[str, tuple[_Kind, bool]]:
    """Per keyword its kind, and whether it may be None, as a function or `TypedDict` says."""
    texts = {name: getattr(hint, "__forward_arg__", hint) for name, hint in annotations.items()}
    types = {name: text.removesuffix(" | None") for name, text in texts.items()}
    return {
        name: (_KINDS[written], written != texts[name])
        for name, written in types.items()
        if written in _KINDS
    }


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A function that refuses keywords of another kind than they must be by a `PolicyError`.

    Its annotations are texts, in the words of `_KINDS`; its last one may be those of a
    `TypedDict`: where it is called `opening`, other keywords are refused, too.
    """
    *_, last = signature(function).parameters.values()
    hints = dict(function.__annotations__)
    others: Mapping[str, Any] = {}
    if last.kind is Parameter.VAR_KEYWORD:
        settings = hints.pop(last.name).removeprefix("Unpack[").removesuffix("]")
        others = function.__globals__[settings].__annotations__
    kinds = kinds_of({**others, **hints})
    known = [*(name for name in signature(function).parameters if name != last.name), *others]

    @wraps(function)
    def called(*given: Given.args, **named: Given.kwargs) -> Result:
        of_known = {name: kinds[name] for name in named if name in kinds}
        faults = [
            f"{name} must be {expected}, not {kind_of(named[name])}"
            for name, ((expected, fits), may_be_none) in of_known.items()
            if not (fits(named[name]) or (may_be_none and named[name] is None))
        ]
        if faults:
            raise PolicyError("; ".join(faults))
        named.update({name: _converted(kind, named[name]) for name, (kind, _) in of_known.items()})
        unknown = [name for name in named if last.name == "opening" and name not in known]
        if unknown:
            meant = did_you_mean(unknown[0], known)
            raise PolicyError(
                f"{unknown[0]!r} is not known; keywords are {', '.join(known)}{meant}"
            )
        return function(*given, **named)

    return called


def _converted(kind: _Kind, value: Any) -> Any:
    """A value of a kind, with numbers of other libraries as Python's own."""
    if kind is _WHOLES and value is not None:
        return [plain(number) for number in value]
    return plain(value) if kind in (_WHOLE, _NUMBER) else value


def kind_of(value: object) -> str:
    """The kind of a value, for a message.

    >>> kind_of("2"), kind_of(None), kind_of(0.5)
    ('a text', 'None', 'a float')
    """
    if value is None:
        return "None"
    if isinstance(value, str):
        return "a text"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeio' else 'a'} {name}"


def path_of(value: object, what: str) -> Path:
    """A path that a file may have, whether or not there is one.

    Raises:
        SourceError: It is none, or one that no file system takes.
    """
    if not _is_path(value):
        raise SourceError(f"{what} must be a path, not {kind_of(value)}")
    path = Path(value)  # type: ignore[arg-type]
    try:
        path.lstat()
    except ValueError:
        fault = "holds a character that no name of a file may; leave it out"
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            return path
        fault = "has a name that is too long for a file; choose a shorter one"
    else:
        return path
    raise SourceError(f"{what} {fault}")


def is_file(value: str | Path) -> bool:
    """Whether there is a file of that name, which may also be the name of something else."""
    try:
        return Path(value).is_file()
    except (OSError, ValueError):
        return False
