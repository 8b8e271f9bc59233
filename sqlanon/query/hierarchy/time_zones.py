"""Time zones: what of a hierarchy would mean another thing in another session's time zone.

A session's zone decides what text, day or hour an instant has, and what instant a text without an
offset means. Nobody could publish the same table twice by such a rule, so it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.text import is_zoned, type_name
from sqlanon.wording import counted

_TIME_WITH_ZONE = exp.DataType.Type.TIMETZ
_MAKES_INSTANTS = {"make_timestamptz", "uuid_extract_timestamp"}
_COUNTS_TIME = {"epoch_us", "epoch_ns", "isfinite", "isinf"}
_READS_TIMES = {"strptime", "try_strptime"}
_READS_TYPES = {"from_json", "from_json_strict", "json_transform", "json_transform_strict"}
_OFFSET = re.compile(
    r"-?infinity|.*:\d\d.*(?:Z|[+-]\d\d(?::?\d\d){0,2}| [A-Za-z_]+(?:/[A-Za-z_]+)*)"
)


def leaf_faults(leaves: Sequence[str | None], column_type: exp.DataType, *, name: str) -> list[str]:
    """Faults of listed values of a column: texts that mean no instant without a time zone."""
    if not is_zoned(column_type) and column_type.this != _TIME_WITH_ZONE:
        return []
    bare = sum(leaf is not None and not _OFFSET.fullmatch(leaf) for leaf in leaves)
    if not bare:
        return []
    return [
        f"{counted(bare, 'leaf', more='leaves')} of column {name!r} ({type_name(column_type)}) "
        f"{'has' if bare == 1 else 'have'} no offset from UTC, so that the session's time zone "
        "would decide what is meant; write one, as in 2020-01-31 12:00:00+00"
    ]


def depends_on_zone(tree: exp.Expr, column_type: exp.DataType) -> bool:
    """Whether an expression over a column may have another result in another time zone."""
    return any(_is_zoned_part(node, column_type) for node in tree.walk())


def _is_zoned_part(node: exp.Expr, column_type: exp.DataType) -> bool:
    match node:
        case exp.Column():
            return _is_bare(node, column_type)
        case exp.Cast() | exp.TryCast():
            parts = node.to.find_all(exp.DataType)
            found = any(is_zoned(part) or part.this == _TIME_WITH_ZONE for part in parts)
        case exp.UnixToTime():
            # With a scale it is EPOCH_MS, which makes no instant.
            found = node.args.get("scale") is None and not _is_placed(node)
        case exp.AtTimeZone():
            found = not _is_instant(node.this, column_type)
        case exp.StrToTime():
            found = _reads_offsets(node)
        case exp.Anonymous():
            found = _is_zoned_call(node, column_type)
        case _:
            found = False
    return found


def _is_bare(column: exp.Column, column_type: exp.DataType) -> bool:
    """Whether a column of instants stands without a zone, or one of times with more than a cast."""
    if is_zoned(column_type):
        return not _is_placed(column)
    is_time = column_type.this == _TIME_WITH_ZONE
    return is_time and not isinstance(column.parent, exp.Cast | exp.TryCast)


def _is_zoned_call(call: exp.Anonymous, column_type: exp.DataType) -> bool:
    name, arguments = call.name.lower(), call.expressions
    if name == "timezone":
        return len(arguments) != 2 or not _is_instant(arguments[1], column_type)
    if name in _READS_TIMES:
        return _reads_offsets(call)
    if name in _READS_TYPES:
        return any("ZONE" in text or "TZ" in text for text in _texts(call))
    return name in _MAKES_INSTANTS and not _is_placed(call)


def _is_placed(instant: exp.Expr) -> bool:
    """Whether an instant is at once taken to a time zone that is named, or to its epoch."""
    parent = instant.parent
    while isinstance(parent, exp.Paren):
        instant, parent = parent, parent.parent
    match parent:
        case exp.AtTimeZone():
            return parent.this is instant and isinstance(parent.args["zone"], exp.Literal)
        case exp.Anonymous() if parent.name.lower() == "timezone":
            zone, *others = parent.expressions
            return isinstance(zone, exp.Literal) and others == [instant]
        case exp.Anonymous():
            return parent.name.lower() in _COUNTS_TIME
        case exp.UnixToTime():
            return parent.args.get("scale") is not None
    return isinstance(parent, exp.TimeToUnix)


def _is_instant(tree: exp.Expr, column_type: exp.DataType) -> bool:
    """Whether it is one that AT TIME ZONE takes to a zone, not a time that it makes one of."""
    inner = tree.unnest()
    if isinstance(inner, exp.Column):
        return is_zoned(column_type)
    is_made = isinstance(inner, exp.Anonymous) and inner.name.lower() in _MAKES_INSTANTS
    return is_made or (isinstance(inner, exp.UnixToTime) and inner.args.get("scale") is None)


def _reads_offsets(call: exp.Expr) -> bool:
    """Whether a reader of times knows the sign of an offset or zone, or its formats are hidden."""
    texts = _texts(call)
    return not texts or any("%Z" in text for text in texts)


def _texts(call: exp.Expr) -> list[str]:
    return [literal.this.upper() for literal in call.find_all(exp.Literal) if literal.is_string]
