"""Separating: which columns of unknown meaning tell records apart, beside which others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.assessment.subset_codes import code_table
from sqlanon.assessment.subsets import SubsetOptions, subset_risk
from sqlanon.engine.base import Engine
from sqlanon.progress import tell
from sqlanon.query.classes.column_sets import set_counts
from sqlanon.suggestion.advice import Advice, Role
from sqlanon.suggestion.profile import BATCH, TableProfile
from sqlanon.wording import listed, percent

CROWD = 12
"""Quasi-identifiers with which a table is still worth publishing; figures alone make no more."""
IDENTIFYING = 0.05
"""Share of the records that a column makes unique beside known ones, from which it counts."""
MOSTLY = 0.5
"""The same beside all other columns, which nobody knows together."""
MAX_UNIQUE = 0.3
"""Share of the records that known columns alone make unique, so that others can add to it."""
MAX_KNOWN = 6
"""Known columns that are put together, at most: those of most values."""
MAX_TOGETHER = 30
"""Columns that are all put together, at most: those of most values."""


def with_separating(
    engine: Engine, profile: TableProfile, advice: Mapping[str, Advice | None]
) -> dict[str, Advice]:
    """Advice for every column: those without any tell records apart, or are left undecided.

    Args:
        engine: Where the table lives.
        profile: The table.
        advice: That of each column by itself; None where it has none.
    """
    settled = {name: one for name, one in advice.items() if one is not None}
    asked = [name for name in advice if name not in settled]
    undecided = Advice(
        Role.UNDECIDED,
        "neither its name nor its figures say what it is; may others know it (quasi-identifier), "
        "is it sensitive, may it be published as it is (keep), or is it not needed (drop)?",
    )
    complete = {name: settled.get(name, undecided) for name in advice}
    if not asked:
        return complete
    tell("sets of columns")
    records = profile.looked_at
    by_values = sorted(profile.columns, key=lambda column: -column.distinct)
    quasi = [one for one in by_values if complete[one.name].role is Role.QUASI_IDENTIFIER]
    known = _leaving_room(
        engine, profile, [one.name for one in quasi if one.uniqueness < MAX_UNIQUE][:MAX_KNOWN]
    )
    beside = f"together with {listed(list(map(repr, known)))}" if known else "alone"
    chosen: dict[str, tuple[int, str]] = {}
    sets = [[*known, name] for name in asked]
    unique_before = _unique(engine, profile, [known])[0] if known else 0
    for name, unique in zip(asked, _unique(engine, profile, sets), strict=True):
        if unique - unique_before >= IDENTIFYING * records:
            reason = f"{beside} it makes {percent(unique, records)} of the records unique"
            chosen[name] = (unique, reason)
    together = [
        one.name
        for one in by_values
        if one.name in asked or complete[one.name].role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    ][:MAX_TOGETHER]
    coded = code_table(engine, profile.table, names=together, entity=None)
    risk = subset_risk(engine, coded, options=SubsetOptions(IDENTIFYING, largest=1, tell=tell))
    for figures in risk.columns:
        if figures.name in {*asked} - {*chosen} and figures.lost >= MOSTLY * records:
            share = percent(figures.lost, records)
            reason = f"beside all other columns it makes another {share} of the records unique"
            chosen[figures.name] = (figures.lost, reason)
    ranked = sorted(chosen, key=lambda name: chosen[name][0], reverse=True)
    for name in ranked[: max(CROWD - len(quasi), 0)]:
        complete[name] = Advice(Role.QUASI_IDENTIFIER, chosen[name][1])
    return complete


def _leaving_room(engine: Engine, profile: TableProfile, names: Sequence[str]) -> list[str]:
    """The first of some columns that leave enough records for others to make unique."""
    prefixes = [[*names[:size]] for size in range(1, len(names) + 1)]
    unique = _unique(engine, profile, prefixes)
    most = MAX_UNIQUE * profile.looked_at
    fitting = [one for one, count in zip(prefixes, unique, strict=True) if count <= most]
    return fitting[-1] if fitting else []


def _unique(engine: Engine, profile: TableProfile, sets: Sequence[Sequence[str]]) -> list[int]:
    """Records that are alone by each set of columns."""
    counts: list[int] = []
    for start in range(0, len(sets), BATCH):
        query = set_counts(profile.table, sets[start : start + BATCH])
        counts += [unique for _, _, unique in sorted(engine.rows(query))]
    return counts
