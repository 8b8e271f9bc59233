"""Forms: what the type of a column holds, and what its texts look like."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum

from sqlglot import exp

from sqlanon.query.text import is_nested, is_zoned

_Type = exp.DataType.Type

SHAPES: Mapping[str, str] = {
    "email": r"^[^@\s]+@[^@\s]+[.][^@\s]+$",
    "url": r"^(https?|ftp)://",
    "ip": r"^([0-9]{1,3}[.]){3}[0-9]{1,3}$|^[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){5,7}$",
    "uuid": r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
    "phone": r"^([+(]|00)[0-9][0-9 ()/.-]{6,}[0-9]$|^[0-9]{3}[-. ][0-9]{3}[-. ][0-9]{4}$",
    "iban": r"^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){3,}",
    "number": r"^\s*[-+]?[0-9]+([.,][0-9]+)?\s*$",
    "mark": r"^(NA|N/A|n/a|na|NaN|nan|NULL|null|None|none|missing|unknown|[?.]|-+)$",
    "day": r"^[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}$",
    "month": r"^[0-9]{4}[-/.](0[1-9]|1[0-2])$",
    "code": r"^[A-Za-z]{0,4}[0-9][0-9A-Za-z.\-/]*$",
    "name": r"^\p{Lu}[\p{L}'’.-]*(,? (\p{Lu}[\p{L}'’.-]*|d[aeiu]|del|den|der|dos|l[ae]|v[ao]n))*,? "
    r"\p{Lu}[\p{L}'’-]+$",
    "digit": r"[0-9]",
    "prose": r"\S+\s+\S+\s+\S+\s+\S+",
}
"""What texts look like, as regular expressions."""


class Form(Enum):
    """What the type of a column holds."""

    NUMBER = "numbers"
    TEXT = "texts"
    DATE = "dates"
    INSTANT = "moments in a time zone"
    TIME = "times of day"
    BOOLEAN = "yes or no"
    UUID = "universally unique identifiers"
    OTHER = "values that cannot be generalized"


_FORMS: Mapping[Form, Collection[exp.DType]] = {
    Form.NUMBER: exp.DataType.NUMERIC_TYPES,
    Form.TEXT: exp.DataType.TEXT_TYPES,
    Form.TIME: {_Type.TIME, _Type.TIMETZ},
    Form.DATE: exp.DataType.TEMPORAL_TYPES,
    Form.BOOLEAN: {_Type.BOOLEAN},
    Form.UUID: {_Type.UUID},
}


def form_of(kind: exp.DataType) -> Form:
    """What a type holds."""
    if is_nested(kind) or kind.this in (_Type.INTERVAL, _Type.JSON, _Type.BIT):
        return Form.OTHER
    if is_zoned(kind):
        return Form.INSTANT
    if kind.sql("duckdb") == "TIME_NS":  # not every version of sqlglot knows it
        return Form.TIME
    return next((form for form, kinds in _FORMS.items() if kind.this in kinds), Form.OTHER)
