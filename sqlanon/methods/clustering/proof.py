"""Proof: what every recoding of a table loses at least, as far as a method's search has found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.loss.cells import CellCosts
from sqlanon.methods.clustering.first import Begun
from sqlanon.methods.clustering.releases import Releases
from sqlanon.search.arrays import Numbers
from sqlanon.search.clustering.lower_bound import column_bounds
from sqlanon.wording import at_least


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proven of all recodings of a table.

    Args:
        least: What every recoding into nodes loses at least [units].
        by: What proves it: `columns`, `records`, or the effort by which records were priced.
        of_blocks: What clusters that cross no block lose at least, where there are several blocks
            of priced records and no cluster crosses them [units]; None otherwise.
        is_cut: Whether the time limit ended the search for prices.
        shares_limit: Whether blocks share a suppression limit.
    """

    least: int
    by: str
    of_blocks: int | None = None
    is_cut: bool = False
    shares_limit: bool = False

    @classmethod
    def of(cls, releases: Releases, begun: Sequence[Begun]) -> Proof:
        """By whatever the first clusters of blocks tell.

        What is known of a block is no bound: clusters of the whole table may cross its border. So
        where there are several, columns prove what holds for all recodings. A record that no
        cluster within the highest levels may hold is left out in any of them.
        """
        left = (releases.whole.records - len(releases.placeable)) * releases.problem.suppressed
        prices = [each.first.priced for each in begun if each.first.priced is not None]
        known = dict.fromkeys(each.effort.name.lower() for each in prices)
        is_cut = any(each.is_cut for each in prices) or any(e.first.is_unpriced for e in begun)
        least = int(least_by_record(releases, begun).sum())
        if not begun or len(prices) < len(begun):
            by_columns = left + int(column_bounds(releases.problem).sum())
            by = "records" if least > by_columns else "columns"
            return cls(least, by, is_cut=is_cut)
        total = left + sum(each.duals.total for each in prices)
        if len(begun) == 1:
            return cls(max(least, total), next(iter(known)), is_cut=is_cut)
        return cls(least, "columns", total, is_cut, shares_limit=releases.problem.allowance > 0)

    def block_bound(self, costs: CellCosts, records: int) -> float | None:
        """What clusters that stay within blocks lose at least, in the loss's own terms."""
        return None if self.of_blocks is None else costs.loss(self.of_blocks, records)

    def notes(self, costs: CellCosts, records: int) -> Iterator[str]:
        """What a reader should know of it."""
        least = self.block_bound(costs, records)
        if least is not None:
            limit = ", with the suppression limit shared among blocks by their records"
            yield (
                f"clusters that stay within these blocks lose at least {at_least(least)}"
                f"{limit if self.shares_limit else ''}"
            )
        if self.is_cut:
            yield "the share of the time limit for the bound ran out: a higher bound may hold"


def least_by_record(releases: Releases, begun: Sequence[Begun]) -> Numbers:
    """What each record costs at least, by itself [units]."""
    bounds = np.full(releases.whole.records, releases.problem.suppressed, np.int64)
    own = column_bounds(releases.problem)
    if len(begun) == 1 and begun[0].first.bounds is not None:
        own = np.maximum(own, begun[0].first.bounds)
    bounds[releases.placeable] = own
    return bounds
