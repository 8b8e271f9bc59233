"""Specs: hierarchies as the command line writes them."""

from __future__ import annotations

import re
from typing import Any

from sqlanon.errors import HierarchyError

_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|[^;'"]+""")


def form_of_spec(text: str) -> dict[str, Any]:
    """The form of a policy file for a hierarchy that the command line names.

    Raises:
        HierarchyError: If the text names no hierarchy.

    >>> form_of_spec("intervals:5,10;low=0")
    {'intervals': ['5', '10'], 'low': '0'}
    """
    if text == "suppress":
        return {"suppress": True}
    kind, colon, rest = text.partition(":")
    if colon and kind in ("table", "file"):
        return {kind: rest}
    if colon and kind in ("sql", "expressions"):
        return {"expressions": _split_expressions(rest)}
    if colon and kind in ("intervals", "prefix", "dates"):
        return _read_options(kind, rest)
    if not text or (colon and kind.isalpha() and len(kind) > 1):
        known = "suppress, intervals:, prefix:, dates:, sql:, table:, file:"
        raise HierarchyError([f"hierarchy '{text}' has an unknown kind; choose from {known}"])
    return {"file": text}


def _read_options(kind: str, text: str) -> dict[str, Any]:
    """Read `5,10,20;low=0` as the form of a policy file."""
    values, *options = text.split(";")
    form: dict[str, Any] = {kind: [value.strip() for value in values.split(",")]}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise HierarchyError([f"hierarchy '{kind}': '{option}' is no option of the form a=b"])
        form[key.strip()] = value
    return form


def _split_expressions(text: str) -> list[str]:
    """Split at the semicolons that stand outside quotes."""
    parts = [""]
    end = 0
    for match in _QUOTED.finditer(text):
        between = text[end : match.start()]
        if between.strip(";"):
            break
        parts.extend([""] * len(between))
        parts[-1] += match.group()
        end = match.end()
    if text[end:]:
        raise HierarchyError(["hierarchy 'sql' has an open quote or an empty expression"])
    return [part.strip() for part in parts]
