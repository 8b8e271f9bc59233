"""Report document: the common parts of pages, JSON documents and notebook views of all reports."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from typing import Any, Protocol, TypeVar

from sqlanon.classes import ClassStatistics
from sqlanon.policy.policy import Policy
from sqlanon.wording import without_noise

SCHEMA_VERSION = 1


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a report was made of and when: the head of its document.

    Args:
        source: The file as it was named; None for a connection.
        policy: The policy; None where there was none.
        source_sha256: Digest of the source's content, where it is known.
        output_sha256: Digest of what was published: of a file's bytes, of a table's content.
        created: When, in UTC, as ISO 8601 writes it.
    """

    source: str | None = None
    policy: Policy | None = None
    source_sha256: str | None = None
    output_sha256: str | None = None
    created: str = field(default_factory=_now)

    def head(self) -> dict[str, Any]:
        """The keys that every document begins with."""
        policy = None if self.policy is None else self.policy.to_dict()
        hashes = {
            "policy": None if policy is None else _digest(policy),
            "source": self.source_sha256,
            "output": self.output_sha256,
        }
        return {
            **stamp(self.created),
            "source": self.source,
            "policy": None if policy is None else _without_values(policy),
            "hashes": hashes,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Provenance:
        """What a document tells of its source; its policy is kept elsewhere."""
        known = {name: document[name] for name in ("source", "created") if name in document}
        return cls(**known, source_sha256=document.get("hashes", {}).get("source"))


class _Reported(Protocol):
    """A report, whatever it tells."""

    @property
    def provenance(self) -> Provenance: ...

    @property
    def notes(self) -> tuple[str, ...]: ...


R = TypeVar("R", bound=_Reported)


def stamp(created: str | None = None) -> dict[str, Any]:
    """The keys of any document, also of one that is about no table."""
    from importlib.metadata import version  # slow to import, and only documents need it

    return {
        "schema_version": SCHEMA_VERSION,
        "version": version("sqlanon"),
        "created": created or _now(),
    }


def _digest(policy: Mapping[str, Any]) -> str:
    """SHA-256 of a policy with all that belongs to it, such as the rows of its hierarchies."""
    text = json.dumps(policy, sort_keys=True, separators=(",", ":"), default=str)
    return sha256(text.encode()).hexdigest()


def _without_values(policy: Mapping[str, Any]) -> dict[str, Any]:
    """A policy in which lists that may be values of a column are told by their lengths."""
    columns = {
        role: {
            name: {
                key: len(value) if key in ("rows", "order") else value
                for key, value in entry.items()
            }
            for name, entry in policy[role].items()
        }
        for role in ("quasi_identifiers", "sensitive")
    }
    return {**policy, **columns}


def rounded(value: float) -> float | None:
    """A figure for JSON: counts as they are, others to twelve digits, and no infinity."""
    if isinstance(value, int):
        return value
    return finite(float(f"{without_noise(value):.12g}"))


def bound_figure(value: float | None) -> float | None:
    """A lower bound for JSON: as it was proved, 0 where it is none, and no infinity."""
    return None if value is None else finite(without_noise(value))


def page(lines: Iterable[str], notes: Iterable[str] = ()) -> str:
    """A page for a reader: its lines, then the notes."""
    return "\n".join([*lines, *(f"note: {note}" for note in notes)])


def size_line(statistics: ClassStatistics) -> str:
    """The sizes of the equivalence classes, as a line of a page."""
    return (
        f"  class size      smallest {statistics.smallest:,}, median {statistics.median:,.1f}, "
        f"mean {statistics.mean:,.1f}, largest {statistics.largest:,}"
    )


def finite(value: float | None) -> float | None:
    """A figure for JSON, which knows no infinity."""
    return value if value is not None and math.isfinite(value) else None


_FRAME = (
    "border:1px solid rgba(128,128,128,.4);border-radius:4px;padding:.6em .8em;"
    "max-width:60em;overflow-x:auto;line-height:1.4"
)
_CELL = "padding:.1em 1em .1em 0;text-align:{};white-space:nowrap;vertical-align:top"


@dataclass(frozen=True, slots=True)
class ShownTable:
    """Figures to be shown in a notebook or on a page.

    Args:
        rows: Cells, the first of each row its name.
        heads: Names of the columns; empty for rows of a name and a figure.
        caption: What it is of.
        is_text: Whether its cells are texts, not figures.
    """

    rows: Sequence[Sequence[str]]
    heads: Sequence[str] = ()
    caption: str = ""
    is_text: bool = False


class SelfShown:
    """A report that shows itself: short as a text, as a table in a notebook.

    Neither holds a value of the table that `to_text` would not print.
    """

    __slots__ = ()

    def headline(self) -> str:
        """What it found, in a line."""
        raise NotImplementedError

    def shown_tables(self) -> Sequence[ShownTable]:
        """The figures that come first."""
        raise NotImplementedError

    def to_text(self) -> str:
        """A page for a reader."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline()}>"

    def _repr_html_(self) -> str:
        notes: Sequence[str] = getattr(self, "notes", ())
        listed = "".join(f'<li style="margin:.2em 0">{escape(note)}</li>' for note in notes)
        return (
            f'<div style="{_FRAME}">'
            f"<div><strong>{escape(type(self).__name__)}</strong> {escape(self.headline())}</div>"
            f"{''.join(map(_table, self.shown_tables()))}"
            f"{_folded(f'notes ({len(notes)})', f'<ul>{listed}</ul>') if listed else ''}"
            f"{_folded('as text', f'<pre>{escape(self.to_text())}</pre>')}"
            "</div>"
        )


def _table(table: ShownTable) -> str:
    heads = "".join(
        f'<th scope="col" style="{_CELL.format("right" if number else "left")}">{escape(head)}</th>'
        for number, head in enumerate(table.heads)
    )
    rows = "".join(
        f'<tr style="background:none"><th scope="row" style="{_CELL.format("left")};'
        f'font-weight:normal">{escape(first)}</th>'
        + "".join(f'<td style="{_CELL.format("right")}">{escape(cell)}</td>' for cell in others)
        + "</tr>"
        for first, *others in table.rows
    )
    caption = f'<caption style="text-align:left">{escape(table.caption)}</caption>'
    return (
        f'<table style="border-collapse:collapse;font-size:inherit;margin:.5em 0 0">'
        f"{caption if table.caption else ''}"
        f"{f'<thead><tr>{heads}</tr></thead>' if heads else ''}<tbody>{rows}</tbody></table>"
    )


def _folded(title: str, content: str) -> str:
    return f'<details style="margin-top:.5em"><summary>{escape(title)}</summary>{content}</details>'
