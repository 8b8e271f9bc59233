"""Arguments of public functions, held against what they must be before any work."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sqlanon.errors import PolicyError, SourceError
from sqlanon.wording import did_you_mean

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


def _is_path(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, PathLike) and isinstance(value.__fspath__(), str)
    )


def _is_texts(value: object) -> bool:
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return listed and all(isinstance(each, str) for each in value)  # type: ignore[attr-defined]


def _is_whole_numbers(value: object) -> bool:
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return listed and all(map(is_whole_number, value))  # type: ignore[call-overload]


_Kind = tuple[str, Callable[[object], bool]]
_BOOLEAN: _Kind = ("True or False", lambda value: isinstance(value, bool))
_TEXT: _Kind = ("a text", lambda value: isinstance(value, str))
_TEXTS: _Kind = ("a list of texts", _is_texts)
_WHOLE: _Kind = ("a whole number", is_whole_number)
_WHOLES: _Kind = ("a list of whole numbers", _is_whole_numbers)
_NUMBER: _Kind = ("a number", _is_number)
_PATH: _Kind = ("a path", _is_path)
_FUNCTION: _Kind = ("a function", callable)
_MARKS: _Kind = ("a text or a list of texts", lambda value: _is_texts(value) or _TEXT[1](value))
_SCHEMES: _Kind = (
    "a scheme, or schemes by column",
    lambda value: isinstance(value, str | Mapping) or _is_texts(value),
)

OPENING = (
    *("threads", "memory_limit", "temp_directory", "temp_limit"),
    *("date_format", "nullstr", "delimiter", "encoding"),
)
"""Keywords of how a source is opened, which `engine.base.Opening` describes."""
_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(("in_place", "overwrite", "every_subset", "with_report", "released"), _BOOLEAN),
    **dict.fromkeys(("method", "loss", "kind", "into", "effort"), _TEXT),
    **dict.fromkeys(("released_table", "class_attribute", "memory_limit", "temp_limit"), _TEXT),
    **dict.fromkeys(("date_format", "delimiter", "encoding"), _TEXT),
    **dict.fromkeys(("threads", "max_columns", "max_sets", "seed", "preview", "k"), _WHOLE),
    **dict.fromkeys(("threshold", "identifying", "time_limit", "suppression_limit"), _NUMBER),
    **dict.fromkeys(("temp_directory", "output", "path", "report"), _PATH),
    **dict.fromkeys(("progress", "confirm"), _FUNCTION),
    **dict.fromkeys(("losses", "methods"), _TEXTS),
    "ks": _WHOLES,
    "over": ("a mapping of figures to their values", lambda value: isinstance(value, Mapping)),
    "nullstr": _MARKS,
}
_MAY_BE_NONE = {
    *("into", "released_table", "class_attribute", "memory_limit", "threads", "max_columns"),
    *("time_limit", "temp_directory", "output", "progress", "confirm"),
    *("temp_limit", "date_format", "delimiter", "encoding", "nullstr", "max_sets"),
    *("preview", "methods", "ks", "effort", "loss", "report"),
}
_OF_TYPES: Mapping[str, _Kind] = {
    **{"bool": _BOOLEAN, "str": _TEXT, "int": _WHOLE, "float": _NUMBER},
    "Schemes": _SCHEMES,
}
_Kinds = Mapping[str, tuple[_Kind, bool]]
"""Per keyword its kind, and whether it may be None."""
_OWN: _Kinds = {name: (kind, name in _MAY_BE_NONE) for name, kind in _KINDS.items()}


def kinds_of(settings: type) -> _Kinds:
    """The kinds of keywords, those of a `TypedDict` by their types; any other type takes all."""
    typed = {
        name: hint.__forward_arg__.split(" | ") for name, hint in settings.__annotations__.items()
    }
    of_settings = {
        name: (_OF_TYPES[types[0]], "None" in types)
        for name, types in typed.items()
        if types[0] in _OF_TYPES
    }
    return {**of_settings, **_OWN}


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A function that refuses keywords of another kind than they must be by a `PolicyError`."""
    return _checked(function, _OWN)


def checked_by(
    settings: type,
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """The same of a function that takes the settings of a `TypedDict`, too."""
    kinds = kinds_of(settings)
    return lambda function: _checked(function, kinds)


def _checked(function: Callable[Given, Result], kinds: _Kinds) -> Callable[Given, Result]:
    keywords = {
        each.name: each.kind is Parameter.VAR_KEYWORD
        for each in signature(function).parameters.values()
    }

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
        named.update({name: _own(kind, named[name]) for name, (kind, _) in of_known.items()})
        if keywords.get("opening"):
            _refuse_unknown(named, [name for name, is_rest in keywords.items() if not is_rest])
        return function(*given, **named)

    return called


def _own(kind: _Kind, value: Any) -> Any:
    """A value of a kind, with numbers of other libraries as Python's own."""
    if kind is _WHOLES and value is not None:
        return [plain(each) for each in value]
    return plain(value) if kind in (_WHOLE, _NUMBER) else value


def _refuse_unknown(named: Iterable[str], own: Sequence[str]) -> None:
    """Refuses, by a `PolicyError`, a keyword that is neither a function's own nor of an opening."""
    known = [*own, *OPENING]
    for name in named:
        if name not in known:
            meant = did_you_mean(name, known)
            raise PolicyError(f"{name!r} is not known; keywords are {', '.join(known)}{meant}")


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
