"""Separating: which columns of unknown meaning make records unique, beside which others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlanon.assessment.subset_codes import code_table
from sqlanon.assessment.subsets import SubsetOptions, largest_within, subset_risk
from sqlanon.engine.base import Engine
from sqlanon.progress import tell
from sqlanon.query.classes.column_sets import set_counts
from sqlanon.reports.separation import SubsetRisk
from sqlanon.suggestion.advice import Advice, Role
from sqlanon.suggestion.by_figures import (
    IDENTIFYING,
    advise_by_sets,
    beside_undecided,
    item,
    left_undecided,
    together,
    unknown,
)
from sqlanon.suggestion.forms import Form
from sqlanon.suggestion.profile import BATCH, TableProfile
from sqlanon.suggestion.vocabulary import is_item

SETS = 500
"""Sets of columns that are counted, at most."""
LARGEST = 4
"""Columns of such a set, at most."""
ENOUGH = 3
"""The same from which nothing else needs to be tried."""
CANDIDATES = 30
"""Columns among which sets are looked for, at most: those of most values."""
FEW = 6
"""Columns beside which each of many others is looked at, at most."""
CROWD = 12
"""Quasi-identifiers up to which columns become some by figures alone; with more of them, little is
left to publish."""
LEAST_COUNTED = 5
"""Columns that may become some by figures alone, however many there are."""
CROWDED = 0.3
"""Share of unique records that such columns make at most, so that others can add to it."""


@dataclass(frozen=True, slots=True)
class Separating:
    """Settles what columns are taken for whose names and values tell nothing.

    Args:
        engine: Where the table lives.
        profile: The table.
    """

    engine: Engine
    profile: TableProfile

    def settled(self, advice: Mapping[str, Advice | None]) -> dict[str, Advice]:
        """Advice for every column.

        Sets of columns are looked for among those that others may know. What is in none of the
        smallest that identify is held against all others, sensitive ones among them; and where
        there are too many columns for sets of `ENOUGH`, against the few of most values.

        Args:
            advice: That of each column by itself; None where it has none.
        """
        settled = {name: own for name, own in advice.items() if own is not None}
        if any(own.role is Role.QUASI_IDENTIFIER for own in settled.values()):
            settled |= {
                one.name: item()
                for one in self.profile.columns
                if one.name not in settled and is_item(one.name)
            }
        left = dict.fromkeys(advice, unknown())
        for step in (self._by_sets, self._beside_all, self._beside_few):
            asked = [name for name in advice if name not in settled]
            found = step(asked, settled) if asked else {}
            for name, own in found.items():
                (left if own.role is Role.UNDECIDED else settled)[name] = own
        found = {name: settled.get(name, left[name]) for name in advice}
        made = self._with_few_counted(found)
        undecided = {name for name, own in made.items() if own.role is Role.UNDECIDED}
        return {name: beside_undecided(own, undecided) for name, own in made.items()}

    def _by_sets(self, asked: Sequence[str], settled: Mapping[str, Advice]) -> dict[str, Advice]:
        names = self._of_most_values(self._beside(asked, settled))
        risk = self._risk(names, largest=min(LARGEST, largest_within(len(names), SETS)))
        return self._decided(asked, settled, risk)

    def _beside_all(self, asked: Sequence[str], settled: Mapping[str, Advice]) -> dict[str, Advice]:
        names = self._beside(asked, settled, Role.QUASI_IDENTIFIER, Role.SENSITIVE)
        risk = self._risk(self._of_most_values(names), largest=1)
        return self._decided(asked, settled, risk)

    def _beside_few(self, asked: Sequence[str], settled: Mapping[str, Advice]) -> dict[str, Advice]:
        names = self._beside(asked, settled)
        if largest_within(len(names), SETS) >= ENOUGH:
            return {}
        few = self._few(names)
        others = {name: [one for one in few if one != name] for name in asked}
        sets = [each for name in asked for each in ([*others[name], name], others[name] or [name])]
        unique = list(self._unique(sets))
        found = {}
        for number, name in enumerate(asked):
            both, without = unique[2 * number], unique[2 * number + 1]
            added = both - (without if others[name] else 0)
            if added >= IDENTIFYING * self.profile.looked_at:
                found[name] = together(others[name], both, self.profile.looked_at)
        return found

    def _with_few_counted(self, advice: Mapping[str, Advice]) -> dict[str, Advice]:
        """Advice with few quasi-identifiers that figures alone speak for, where there are many.

        They are those that make most records unique, or part the table into most classes, beside
        the columns of which others know by their names.
        """
        quasi = [name for name, own in advice.items() if own.role is Role.QUASI_IDENTIFIER]
        counted = [name for name in quasi if advice[name].is_counted]
        named = [name for name in quasi if name not in counted]
        room = max(CROWD - len(named), LEAST_COUNTED)
        if len(counted) <= room:
            return dict(advice)
        few = self._few(named)
        told = dict(zip(counted, self._counts([[*few, name] for name in counted]), strict=True))
        ranked = sorted(counted, key=lambda name: told[name], reverse=True)
        left = {name: left_undecided(advice[name], room, len(counted)) for name in ranked[room:]}
        return {**advice, **left}

    def _decided(
        self, asked: Sequence[str], settled: Mapping[str, Advice], risk: SubsetRisk
    ) -> dict[str, Advice]:
        """Advice by sets for the columns that they speak of."""
        counted = {one.name for one in risk.columns}
        known = [name for name in counted if name in settled and not settled[name].is_counted]
        found = {
            one.name: advise_by_sets(
                one.name, risk, among=known if one.form is Form.NUMBER else None
            )
            for one in self.profile.columns
            if one.name in asked and one.name in counted
        }
        return {name: own for name, own in found.items() if own is not None}

    def _few(self, names: Sequence[str]) -> list[str]:
        """The columns of most values that leave enough records for others to make unique."""
        near = {one.name for one in self.profile.columns if one.uniqueness >= CROWDED}
        ranked = [one for one in self._of_most_values(names, ranked=True) if one not in near]
        prefixes = [ranked[:size] for size in range(1, FEW + 1) if len(ranked) >= size]
        most = CROWDED * self.profile.looked_at
        fitting = [
            prefix
            for prefix, unique in zip(prefixes, self._unique(prefixes), strict=True)
            if unique <= most
        ]
        return fitting[-1] if fitting else []

    def _unique(self, sets: Sequence[Sequence[str]]) -> Iterator[int]:
        """Records that are alone by each set of columns."""
        yield from (unique for unique, _ in self._counts(sets))

    def _counts(self, sets: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
        """Records that are alone by each set of columns, and classes."""
        for start in range(0, len(sets), BATCH):
            query = set_counts(self.profile.table, sets[start : start + BATCH])
            yield from ((unique, classes) for _, classes, unique in sorted(self.engine.rows(query)))

    def _risk(self, names: Sequence[str], *, largest: int) -> SubsetRisk:
        """What sets of columns tell, all together and those of up to so many."""
        tell("sets of columns")
        coded = code_table(self.engine, self.profile.table, names=names, entity=None)
        options = SubsetOptions(IDENTIFYING, largest, tell=tell, budget=SETS)
        return subset_risk(self.engine, coded, options=options)

    def _beside(
        self, asked: Sequence[str], settled: Mapping[str, Advice], *roles: Role
    ) -> list[str]:
        """The columns that are asked for, and those of some roles, in the table's order."""
        known = roles or (Role.QUASI_IDENTIFIER,)
        return [
            one.name
            for one in self.profile.columns
            if one.name in asked or (one.name in settled and settled[one.name].role in known)
        ]

    def _of_most_values(self, names: Sequence[str], *, ranked: bool = False) -> list[str]:
        """The columns of most values, at most CANDIDATES: in the table's order, or most first."""
        values = {one.name: one.distinct for one in self.profile.columns}
        chosen = sorted(names, key=lambda name: -values[name])[:CANDIDATES]
        return chosen if ranked else [name for name in names if name in chosen]
