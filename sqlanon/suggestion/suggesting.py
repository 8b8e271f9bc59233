"""Suggesting: a table is looked at, and a policy for it is drafted."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from sqlglot import exp

from sqlanon.arguments import checked, is_whole_number
from sqlanon.assessment.subset_codes import code_table
from sqlanon.assessment.subsets import SubsetOptions, largest_within, subset_risk
from sqlanon.engine.base import Engine, Opening, Use
from sqlanon.engine.open import is_frame, open_source, owned
from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.microdata.binding import bind
from sqlanon.microdata.opening import told
from sqlanon.policy.policy import Policy
from sqlanon.progress import Progress, following, tell
from sqlanon.reports.separation import SubsetRisk
from sqlanon.suggestion.column import ColumnSuggestion
from sqlanon.suggestion.files import file_name
from sqlanon.suggestion.hierarchies import draft_hierarchy
from sqlanon.suggestion.profile import ColumnProfile, TableProfile, profile_table
from sqlanon.suggestion.roles import (
    IDENTIFYING,
    Advice,
    Role,
    advise,
    advise_by_sets,
    unknown,
)
from sqlanon.suggestion.suggestion import Suggestion
from sqlanon.wording import listed

SUPPRESSION_LIMIT = 0.02
"""Share of the records that may be suppressed where nothing is said."""
SETS = 500
"""Sets of columns that are counted, at most."""
LARGEST = 4
"""Columns of such a set, at most."""
CANDIDATES = 60
"""Columns among which sets are looked for, at most: those of most values."""


@checked
def suggest(
    connection: Any,
    table: Any = None,
    *,
    k: int = 5,
    suppression_limit: float = SUPPRESSION_LIMIT,
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> Suggestion:
    """Drafts a policy for a table: a role for every column, with a reason, and hierarchies.

    It is advice. What it cannot tell is left undecided, so that nothing is published by default;
    no value of a column of which nearly every record has its own is in it anywhere. Of tables with
    more than 200,000 records a sample is looked at, by a hash of the records.

    Args:
        connection: A frame, a connection or a path, as for `check`.
        table: As for `check`.
        k: The smallest class to suggest, at least 1.
        suppression_limit: The share of the records that may be suppressed to suggest, in [0, 1].
        progress: Called with a line that says how far it is.
        opening: As for `check`.

    Raises:
        SqlanonError: The source is at fault, or a figure is out of range; the message says how.
    """
    if not (is_whole_number(k) and k >= 1):
        raise PolicyError(f"k {k!r} is not a whole number of at least 1")
    Policy((), suppression_limit=suppression_limit)
    started = time.monotonic()
    if is_frame(connection):
        if table is not None:
            raise PolicyError("a frame is the table itself; give suggest(frame)")
        connection, table = owned(connection)
    opened = open_source(connection, table, read_only=True, use=lambda _: Use(), **opening)
    with following(progress), opened as source, source.engine.workspace():
        found = _Drafting(source.engine, source.table, k).drafted()
        source.engine.refuse_changed()
        made = replace(
            found, suppression_limit=suppression_limit, seconds=time.monotonic() - started
        )
        return told(source, made)


@dataclass(frozen=True, slots=True)
class _Drafting:
    """Drafts the columns of a table."""

    engine: Engine
    table: exp.Table
    k: int

    def drafted(self) -> Suggestion:
        """The suggestion, without a suppression limit."""
        tell("look at the columns")
        profile = profile_table(self.engine, self.table, k=self.k)
        advice = {each.name: advise(each) for each in profile.columns}
        settled, notes = self._settled(profile, advice)
        columns = self._with_hierarchies(profile, _one_entity(settled))
        return Suggestion(
            columns=columns,
            records=profile.records,
            looked_at=profile.looked_at,
            k=self.k,
            suppression_limit=0.0,
            notes=(*_reading_notes(profile), *notes),
        )

    def _settled(
        self, profile: TableProfile, advice: Mapping[str, Advice | None]
    ) -> tuple[dict[str, Advice], list[str]]:
        """Advice for every column, by sets of columns where a column by itself tells nothing.

        Sets are looked for among columns that others may know. Only where a column is in none of
        them, it is held against all others, sensitive ones among them.
        """
        roles = {Role.QUASI_IDENTIFIER: LARGEST, Role.SENSITIVE: 1}
        settled = {name: own for name, own in advice.items() if own is not None}
        notes: list[str] = []
        for most in roles.values():
            asked = [name for name in advice if name not in settled]
            known = [role for role, least in roles.items() if least >= most]
            names = [n for n in advice if n in asked or settled[n].role in known]
            if not asked:
                break
            counted = _of_most_values(profile, names)
            if len(counted) < len(names):
                notes.append(_left_out(len(names)))
            risk = self._risk(profile, counted, largest=most)
            found = {n: advise_by_sets(n, risk) for n in asked if n in counted}
            settled |= {name: own for name, own in found.items() if own is not None}
        settled |= {name: unknown() for name in advice if name not in settled}
        return settled, list(dict.fromkeys(notes))

    def _risk(self, profile: TableProfile, names: Sequence[str], *, largest: int) -> SubsetRisk:
        """What sets of columns tell, of as many columns as keep their number within SETS."""
        tell("sets of columns")
        coded = code_table(self.engine, profile.table, names=names, entity=None)
        most = min(largest, largest_within(len(names), SETS))
        options = SubsetOptions(IDENTIFYING, most, tell=tell, budget=SETS)
        return subset_risk(self.engine, coded, options=options)

    def _with_hierarchies(
        self, profile: TableProfile, advice: dict[str, Advice]
    ) -> tuple[ColumnSuggestion, ...]:
        """The columns, quasi-identifiers with their hierarchies."""
        made = [_suggested(each, advice[each.name]) for each in profile.columns]
        listed = [each.name for each in made if each.file is not None]
        if not listed:
            return tuple(made)
        tell("list values to be put into groups")
        subject = bind(self.engine, self.table, policy=Policy(listed))
        rows: dict[str, list[tuple[str | None, ...]]] = {
            name: [(leaf, leaf, top) for leaf, top in zip(*tree.labels, strict=True)]
            for name, tree in zip(subject.names, subject.trees, strict=True)
        }
        return _named(made, rows)


def _of_most_values(profile: TableProfile, names: Sequence[str]) -> list[str]:
    """The columns of most values among those named, at most CANDIDATES, in the table's order."""
    own = sorted(
        (each for each in profile.columns if each.name in names), key=lambda each: -each.distinct
    )
    chosen = {each.name for each in own[:CANDIDATES]}
    return [name for name in names if name in chosen]


def _left_out(columns: int) -> str:
    return (
        f"of {columns} columns the {CANDIDATES} of most values were held against each other; the "
        "others that nothing is known of are undecided"
    )


def _suggested(profile: ColumnProfile, advice: Advice) -> ColumnSuggestion:
    """A column; where values are to be listed, with a file that has no name yet."""
    made = ColumnSuggestion(
        profile.name,
        profile.type,
        advice.role,
        advice.reason,
        figures=profile.to_dict(),
        is_entity=advice.is_entity,
        kind=profile.kind,
    )
    if advice.role is not Role.QUASI_IDENTIFIER:
        return made
    draft = draft_hierarchy(profile)
    return replace(
        made,
        hierarchy=draft.hierarchy,
        remark=draft.remark,
        file="" if draft.is_listed else None,
    )


def _named(
    columns: Sequence[ColumnSuggestion], rows: dict[str, list[tuple[str | None, ...]]]
) -> tuple[ColumnSuggestion, ...]:
    """Columns with the rows of their hierarchies, and names of the files for them."""
    taken: list[str] = []
    made = []
    for each in columns:
        if each.name in rows:
            name = file_name(each.name, taken)
            taken.append(name)
            hierarchy = Hierarchy.from_rows(rows[each.name], name=name)
            made.append(replace(each, hierarchy=hierarchy, file=name))
        else:
            made.append(each)
    return tuple(made)


def _one_entity(advice: dict[str, Advice]) -> dict[str, Advice]:
    """Advice with one column at most that says whose record it is: the first."""
    entities = [name for name, own in advice.items() if own.is_entity]
    return {
        name: replace(own, is_entity=own.is_entity and name == entities[0])
        for name, own in advice.items()
    }


def _reading_notes(profile: TableProfile) -> list[str]:
    """Notes on the sample, and on columns that could be read otherwise."""
    notes = []
    if profile.is_sampled:
        notes.append(
            f"figures are of a sample of {profile.looked_at:,} of {profile.records:,} records, but "
            "for the share of distinct values in columns of many, which is of all"
        )
    numeric = [repr(each.name) for each in profile.columns if each.is_numeric_text]
    if numeric:
        notes.append(
            f"column {listed(numeric)} would be numbers, but for a mark that stands for no value, "
            "such as NA or ?; name it with nullstr (--nullstr NA), and look again"
        )
    days = [repr(each.name) for each in profile.columns if each.looks_like("day")]
    if days:
        notes.append(
            f"column {listed(days)} looks like dates; name how they are written with date_format "
            "(--date-format %d/%m/%Y or %m/%d/%Y), and look again"
        )
    return notes
