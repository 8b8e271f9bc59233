"""Listing: the frequent generalized itemsets of a table, counted, or written to a table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from sqlanon.deadline import phase
from sqlanon.engine.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.itemsets.mining import MiningRequest, mined
from sqlanon.microdata.binding import Subject, bind
from sqlanon.microdata.encoding import encode_subject
from sqlanon.microdata.tables import place_of, try_place
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import KAnonymity
from sqlanon.query.itemsets.itemsets import SUPPORT
from sqlanon.query.publish.recode import create_table
from sqlanon.reports.itemsets import MiningReport


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
