"""Records set aside: those that fit no class at the highest levels allowed, before the search.

What is left out changes the distribution that relative models refer to, so no search can weigh it
record by record. But where a class fails at the highest levels, not all of its records can be
published, for what its parts satisfy their union does, too (where the model is closed under unions;
elsewhere it is a way to publish the rest). Such classes are left out as a whole: first those that
fail whatever the reference is, then the smallest that is too far from what is left, and so on until
none fails. Where suppressed records are kept, they are a class that must satisfy the models itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sqlanon.methods.patterns.problem import PatternProblem, allowed, is_shifting
from sqlanon.policy.policy import Policy
from sqlanon.search.arrays import Flags, Numbers
from sqlanon.search.patterns.rows import DistinctRows
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True)
class SetAside:
    """A table without the records that were set aside.

    Args:
        table: The table, where these rows have no records.
        rows: Their numbers.
        records: The records of each.
        kept: Whether they are published with every cell suppressed, instead of left out.
    """

    table: PatternProblem
    rows: Numbers
    records: Numbers
    kept: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What became of them."""
        records = int(self.records.sum())
        if not records:
            return ()
        how = "kept with every quasi-identifier suppressed" if self.kept else "left out"
        verb = "is" if records == 1 else "are"
        return (
            f"{counted(records, 'record')} {verb} {how} within the suppression limit: even at the "
            "highest levels allowed their classes fail",
        )


def set_aside(table: PatternProblem, policy: Policy) -> SetAside:
    """The table without the records whose classes fail at the highest levels allowed.

    Nothing is set aside where the search itself leaves records out, or where these are too many:
    then it finds out whether there is another way.
    """
    kept, most = policy.suppressed == "keep", allowed(table, policy)
    none = SetAside(table, np.empty(0, np.int64), np.empty(0, np.int64))
    if not is_shifting(table, policy):
        return none
    whole, gone = table.rows, np.zeros(len(table.highest), bool)
    while True:
        rest = _rest(whole, gone, kept=kept)
        more = _failing(table, _fixed(rest))
        if not more.any():
            more = _smallest(table, rest, among=_failing(table, rest))
        if kept and not more.any() and gone.any() and not _is_class(table, gone):
            more = _smallest(table, rest, among=rest.sizes > 0)
        gone |= more
        if int(whole.sizes[gone].sum()) > most:
            return none
        if not more.any():
            break
    rows = np.flatnonzero(gone)
    lost = int(whole.sizes[rows].sum()) * table.dropped
    return SetAside(replace(table, rows=rest, lost=lost), rows, whole.sizes[rows], kept)


def _rest(whole: DistinctRows, gone: Flags, *, kept: bool) -> DistinctRows:
    """The rows with records of those that are not gone, by the reference that is published."""
    sizes = np.where(gone, 0, whole.sizes)
    demands = whole.demands
    if demands is not None and not kept:
        demands = demands.referring(np.repeat(np.arange(len(sizes)), sizes))
    return replace(whole, sizes=sizes, demands=demands)


def _fixed(rest: DistinctRows) -> DistinctRows:
    """The rows with those demands alone that refer to no distribution."""
    if rest.demands is None:
        return rest
    every = tuple(each for each in rest.demands.every if not each.model.relative)
    return replace(rest, demands=replace(rest.demands, every=every))


def _failing(table: PatternProblem, rest: DistinctRows) -> Flags:
    """The rows with records whose classes at the highest levels fail."""
    rows, groups = np.flatnonzero(rest.sizes), int(table.highest.max()) + 1
    holds = rest.holding(rows, table.highest[rows], groups=groups, k=table.k)
    failing: Flags = ~holds[table.highest] & (rest.sizes > 0)
    return failing


def _is_class(table: PatternProblem, gone: Flags) -> bool:
    """Whether what is set aside may be kept as one class."""
    rows = np.flatnonzero(gone)
    alike = np.zeros(len(rows), np.int64)
    return bool(table.rows.holding(rows, alike, groups=1, k=table.k)[0])


def _smallest(table: PatternProblem, rest: DistinctRows, *, among: Flags) -> Flags:
    """The rows of the smallest class at the highest levels among those of some rows."""
    if not among.any():
        return among
    sizes = np.bincount(table.highest[among], rest.sizes[among])
    smallest = np.where(sizes > 0, sizes, np.inf).argmin()
    found: Flags = among & (table.highest == smallest)
    return found
