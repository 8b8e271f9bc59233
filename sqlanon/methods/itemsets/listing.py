"""Listing: the frequent generalized itemsets of a table, counted, or written to a table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.itemsets.mining import MiningRequest, mined
from sqlanon.microdata.binding import Subject, bind
from sqlanon.microdata.encoding import encode_subject
from sqlanon.microdata.places import place_of, try_place
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import KAnonymity
from sqlanon.query.itemsets.itemsets import SUPPORT
from sqlanon.query.publish.recode import create_table
from sqlanon.reports.document import Provenance, page
from sqlanon.reports.shown import SelfShown, ShownTable
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True, repr=False)
class MiningReport(SelfShown):
    """Number of frequent or closed generalized itemsets of a table.

    Args:
        kind: `closed` or `frequent`.
        k: Fewest records of an itemset.
        records: Records of the table.
        itemsets: Number of itemsets.
        memberships: Number of pairs of an itemset and a record of its support.
        output: The table they were written to, if any.
        seconds: How long it took.
        notes: What a reader should know besides.
        provenance: What it was made of and when.
    """

    kind: str
    k: int
    records: int
    itemsets: int
    memberships: int
    output: str | None = None
    seconds: float = field(default=0.0, compare=False)
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The document of `mine --json`."""
        return {
            **self.provenance.head(),
            "kind": self.kind,
            "k": self.k,
            "records": self.records,
            "itemsets": self.itemsets,
            "memberships": self.memberships,
            "output": self.output,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }

    def headline(self) -> str:
        """How many there are."""
        return f"{counted(self.itemsets, f'{self.kind} itemset')} of {self.k:,} records or more"

    def shown_tables(self) -> list[ShownTable]:
        """What was counted."""
        rows = [
            ["records", f"{self.records:,}"],
            ["itemsets", f"{self.itemsets:,}"],
            ["pairs of an itemset and a record", f"{self.memberships:,}"],
            ["written to", self.output or "no table"],
        ]
        return [ShownTable(rows)]

    def to_text(self) -> str:
        """A page for a reader."""
        kind = "closed frequent" if self.kind == "closed" else "frequent"
        lines = [
            f"{counted(self.itemsets, f'{kind} generalized itemset')} of at least {self.k:,} of "
            f"{counted(self.records, 'record')}; {counted(self.memberships, 'pair')} "
            "of an itemset and a record that has it"
        ]
        if self.output is not None:
            lines.append(f"written to table {self.output}")
        return page(lines, self.notes)


@dataclass(frozen=True, slots=True)
class Listed:
    """Which itemsets to list, and where.

    Args:
        kind: `closed` or `frequent`.
        into: Name of a new table for the itemsets; None where they are only counted.
        overwrite: Whether that table may be there already, and be replaced.
        progress: Called with a line that says how far the mining is.

    Raises:
        PolicyError: A table to be replaced, and none named.
    """

    kind: str = "closed"
    into: str | None = None
    overwrite: bool = False
    progress: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.overwrite and self.into is None:
            raise PolicyError(
                "itemsets are only counted, and no table is replaced; name one with into (--into "
                "TABLE), or leave overwrite (--overwrite) out"
            )


@phase("mining")
def list_itemsets(
    engine: Engine, table: exp.Table, *, policy: Policy, listed: Listed
) -> MiningReport:
    """Mines the itemsets of a table within the level bounds of its quasi-identifiers.

    Raises:
        PolicyError: No k, an entity, or an unknown kind.
        HierarchyError: A hierarchy does not fit the table.
        SourceError: The new table's name is taken.
        TimeLimitError: The engine's deadline came before the end.
    """
    started = time.monotonic()
    plain = _plain(policy)
    place: exp.Table | None = None
    if listed.into is not None:
        itself = "the mined table itself; choose another name"
        place = place_of(
            engine, listed.into, source=table, overwrite=listed.overwrite, itself=itself
        )
    subject = bind(engine, table, policy=plain)
    if place is not None:
        _refuse_named_support(subject)
        try_place(engine, place)
    wanted = MiningRequest(policy.k, listed.kind, subject.low, subject.high, listed.progress)
    with engine.workspace():
        encoded = encode_subject(engine, subject, plain)
        found = mined(engine, encoded, trees=subject.trees, wanted=wanted)
        if place is not None:
            rows = found.labelled(engine, subject.trees)
            if engine.exists(place):
                engine.drop(place)
            engine.run(create_table(place, rows, temporary=place.catalog == "temp"))
    return MiningReport(
        kind=listed.kind,
        k=policy.k,
        records=subject.records,
        itemsets=found.count,
        memberships=found.memberships,
        output=listed.into,
        seconds=time.monotonic() - started,
    )


def _plain(policy: Policy) -> Policy:
    """The quasi-identifiers alone: k may well be more than the number of records.

    Raises:
        PolicyError: No k, or an entity.
    """
    if not any(isinstance(model, KAnonymity) for model in policy.models):
        raise PolicyError("k says how many records an itemset has at least; give it with --k K")
    if policy.entity is not None:
        raise PolicyError("itemsets count records, not persons; leave the entity column out")
    nothing: Any = {"sensitive": (), "identifiers": (), "keep": (), "drop": ()}
    return replace(policy, models=(), **nothing)


def _refuse_named_support(subject: Subject) -> None:
    if any(name.lower() == SUPPORT for name in subject.names):
        raise PolicyError(
            f"a quasi-identifier is called {SUPPORT!r}, as the new table's column of counts is; "
            "rename it in a view of the table"
        )
