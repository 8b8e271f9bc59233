"""Report document: the common parts of pages and JSON documents of all reports."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
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
