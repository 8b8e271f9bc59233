"""Suggesting: a table is looked at, and a policy for it is drafted."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Unpack

from sqlglot import exp

from sqlanon.arguments import checked, is_whole_number
from sqlanon.engine.base import Engine, Opening, Use
from sqlanon.engine.open import ROW_NAMES, is_frame, open_source, owned
from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.microdata.binding import bind
from sqlanon.microdata.opening import told
from sqlanon.policy.policy import Policy
from sqlanon.progress import Progress, following, tell
from sqlanon.query.assess.profile import commonest, misfits
from sqlanon.query.classes.column_sets import set_counts
from sqlanon.suggestion.advice import Advice, Naming, Role
from sqlanon.suggestion.column import ColumnSuggestion
from sqlanon.suggestion.files import file_name
from sqlanon.suggestion.forms import Form
from sqlanon.suggestion.hierarchies import draft_hierarchy
from sqlanon.suggestion.persons import with_entity
from sqlanon.suggestion.profile import BATCH, ColumnProfile, TableProfile, profile_table
from sqlanon.suggestion.roles import advise, advise_row_names, is_telling
from sqlanon.suggestion.separating import CROWD, with_separating
from sqlanon.suggestion.suggestion import Suggestion
from sqlanon.wording import counted, listed, percent

SUPPRESSION_LIMIT = 0.02
"""Share of the records that may be suppressed where nothing is said."""
L = 2
"""Values of a sensitive column that each class is to hold, at least."""
FILES = 30
"""Hierarchy files that are to be filled in, at most."""
DAYS = tuple(f"%{one}{sign}%{two}{sign}%Y" for sign in "/-." for one, two in ("dm", "md"))
"""Ways to write dates that texts are held against."""
TWINS = 60
"""Quasi-identifiers that are held against each other, at most."""


@checked
def suggest(
    source: Any,
    *,
    table: Any = None,
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
        source: A frame, a connection or a path, as for `check`.
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
    if is_frame(source):
        if table is not None:
            raise PolicyError("a frame is the table itself; leave table out")
        source, table = owned(source)
    reading = open_source(source, table, read_only=True, use=lambda _: Use(), **opening)
    with following(progress), reading as opened, opened.engine.workspace():
        found = _Drafting(opened.engine, opened.table, k).drafted()
        opened.engine.refuse_changed()
        made = replace(
            found, suppression_limit=suppression_limit, seconds=time.monotonic() - started
        )
        return told(opened, made)


@dataclass(frozen=True, slots=True)
class _Drafting:
    """Drafts the columns of a table."""

    engine: Engine
    table: exp.Table
    k: int

    def drafted(self) -> Suggestion:
        """The suggestion, without a suppression limit."""
        tell("columns: names, types and values")
        profile = profile_table(self.engine, self.table, k=self.k)
        rows = _row_names(profile)
        advice = {
            each.name: (advise_row_names(each) if each is rows else None) or advise(each)
            for each in profile.columns
        }
        advice = with_entity(self.engine, profile, advice, table=self.table)
        settled = with_separating(self.engine, profile, advice)
        settled = self._with_twins(profile, settled)
        columns = self._with_models(profile, self._with_hierarchies(profile, settled))
        return Suggestion(
            columns=columns,
            records=profile.records,
            looked_at=profile.looked_at,
            k=self.k,
            suppression_limit=0.0,
            notes=(
                *_size_notes(profile, self.k),
                *_crowd_notes(columns),
                *_reading_notes(profile),
                *_telling_notes(profile, settled),
                *_day_notes(self._day_formats(profile)),
            ),
        )

    def _day_formats(self, profile: TableProfile) -> dict[str, tuple[str, ...]]:
        """Of columns of texts that look like dates, the formats that fit all of their values."""
        names = [each.name for each in profile.columns if each.looks_like("day")]
        found = {}
        for start in range(0, len(names), BATCH):
            batch = names[start : start + BATCH]
            counts = iter(self.engine.rows(misfits(self.table, batch, formats=DAYS))[0])
            for name in batch:
                found[name] = tuple([form for form in DAYS if not next(counts)])
        return found

    def _with_twins(self, profile: TableProfile, advice: dict[str, Advice]) -> dict[str, Advice]:
        """Advice with one of two quasi-identifiers each of whose values go with one another."""
        own = [one for one in profile.columns if advice[one.name].role is Role.QUASI_IDENTIFIER]
        pairs = [
            tuple(sorted(pair, key=lambda one: one.form is not Form.TEXT))
            for pair in combinations(own[:TWINS], 2)
            if pair[0].values == pair[1].values > 1
        ]
        told = dict(advice)
        for start in range(0, len(pairs), BATCH):
            batch = pairs[start : start + BATCH]
            names = [[one.name for one in pair] for pair in batch]
            counts = sorted(self.engine.rows(set_counts(profile.table, names)))
            for (kept, other), (_, classes, unique) in zip(batch, counts, strict=True):
                is_open = told[kept.name].role is told[other.name].role is Role.QUASI_IDENTIFIER
                is_chance = classes != kept.values or 2 * unique >= classes
                if is_open and not is_chance and self._go_together(profile, kept.name, other.name):
                    told[other.name] = Advice(
                        Role.DROP,
                        f"it says the same as {kept.name!r}: each value of one goes with one value "
                        "of the other, so one of them is enough. To publish this one instead, let "
                        "both change places in the policy",
                    )
        return told

    def _go_together(self, profile: TableProfile, one: str, other: str) -> bool:
        """Whether what a sample tells of two columns holds of the whole table."""
        if not profile.is_sampled:
            return True
        counts = self.engine.rows(set_counts(self.table, [[one], [other], [one, other]]))
        return len({classes for _, classes, _ in counts}) == 1

    def _with_models(
        self, profile: TableProfile, columns: Sequence[ColumnSuggestion]
    ) -> tuple[ColumnSuggestion, ...]:
        """The columns, sensitive ones with l-diversity where classes of k can have two values."""
        names = [each.name for each in columns if each.role is Role.SENSITIVE]
        share: dict[str, float] = {}
        for start in range(0, len(names), BATCH):
            batch = names[start : start + BATCH]
            counts = sorted(self.engine.rows(commonest(profile.table, batch)))
            for name, (_, most) in zip(batch, counts, strict=True):
                share[name] = most / profile.looked_at
        return tuple(
            _protected(each, share[each.name], self.k) if each.name in share else each
            for each in columns
        )

    def _with_hierarchies(
        self, profile: TableProfile, advice: dict[str, Advice]
    ) -> tuple[ColumnSuggestion, ...]:
        """The columns, quasi-identifiers with their hierarchies."""
        made = [_suggested(each, advice[each.name]) for each in profile.columns]
        made = _with_few_files(made)
        listed = [each.name for each in made if each.file is not None]
        if not listed:
            return tuple(made)
        tell("hierarchies: files to be filled in")
        subject = bind(self.engine, self.table, policy=Policy(listed))
        rows: dict[str, list[tuple[str | None, ...]]] = {
            name: [(leaf, leaf, top) for leaf, top in zip(*tree.labels, strict=True)]
            for name, tree in zip(subject.names, subject.trees, strict=True)
        }
        return _named(made, rows)


def _row_names(profile: TableProfile) -> ColumnProfile | None:
    """A first column that alone has its name from a reader; others have where no header was."""
    numbered = [each for each in profile.columns if re.fullmatch(r"column\d+", each.name)]
    first = profile.columns[0]
    return first if numbered == [first] and re.fullmatch(f"{ROW_NAMES}+", first.name) else None


def _suggested(profile: ColumnProfile, advice: Advice) -> ColumnSuggestion:
    """A column; where values are to be listed, with a file that has no name yet."""
    made = ColumnSuggestion(
        profile.name,
        profile.type,
        advice.role,
        advice.reason,
        figures=profile.to_dict(),
        is_entity=advice.is_entity,
        is_asked=advice.naming is Naming.ASKED,
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


def _protected(column: ColumnSuggestion, share: float, k: int) -> ColumnSuggestion:
    """A sensitive column with what its classes are to hold, by the share of its commonest value.

    Where fewer than one record of k has another value, most classes would grow for it.
    """
    most = f"{percent(share)} of the records have its most frequent value"
    if share <= 1 - 1 / k:
        return replace(column, l=L, remark=f"each class holds at least {L} values; {most}")
    if share == 1:
        return column
    return replace(
        column,
        remark=f"{most}, so that classes of {k} seldom hold another: l-diversity, by "
        f"{{ l = {L} }}, would make most of them larger",
    )


def _with_few_files(columns: Sequence[ColumnSuggestion]) -> list[ColumnSuggestion]:
    """Columns of which at most FILES have a file to fill in: nobody fills in more."""
    listed = [each.name for each in columns if each.file is not None]
    remark = f"each value is kept or suppressed; {FILES} files of others are to be filled in first"
    return [
        replace(each, file=None, remark=remark) if each.name in listed[FILES:] else each
        for each in columns
    ]


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


def _size_notes(profile: TableProfile, k: int) -> list[str]:
    """A note on a table that is too small for k."""
    if profile.records >= k:
        return []
    return [
        f"the table has {counted(profile.records, 'record')}, fewer than k = {k}: nothing of it "
        "can be published; take a table of more records, or a smaller k (--k) of at least 2"
    ]


def _crowd_notes(columns: Sequence[ColumnSuggestion]) -> list[str]:
    """A note on more quasi-identifiers than a useful table can be published with."""
    number = sum(each.role is Role.QUASI_IDENTIFIER for each in columns)
    if number <= CROWD:
        return []
    return [
        f"so many quasi-identifiers ({number}) leave little to publish, and a search over all "
        "their levels can take long: drop those that nobody needs, or that nobody can know"
    ]


def _telling_notes(profile: TableProfile, advice: Mapping[str, Advice]) -> list[str]:
    """A note on sensitive figures that lead to their record, as they are published as they are."""
    names = [
        repr(each.name)
        for each in profile.columns
        if advice[each.name].role is Role.SENSITIVE and is_telling(each)
    ]
    if not names:
        return []
    one = len(names) == 1
    return [
        f"{'column' if one else 'columns'} {listed(names)} would be published as "
        f"{'it is' if one else 'they are'}, and few records share a value: whoever knows one, as "
        "from another file of the same source, finds the record or a few; round the values first"
    ]


def _reading_notes(profile: TableProfile) -> list[str]:
    """Notes on the sample, and on columns that could be read otherwise."""
    notes = []
    if profile.is_sampled:
        notes.append(
            f"figures are of a sample of {profile.looked_at:,} of {profile.records:,} records, "
            "except the share of distinct values in columns with many, which is of all records"
        )
    numeric = [repr(each.name) for each in profile.columns if each.is_numeric_text]
    if numeric:
        notes.append(
            f"{'column' if len(numeric) == 1 else 'columns'} {listed(numeric)} would be numbers "
            "if a mark such as NA or ? did not stand for a missing value; name it with nullstr "
            "(--nullstr NA), and run this again"
        )
    marks = [repr(each.name) for each in profile.columns if each.looks_like("mark", 1)]
    if marks:
        hold = f"column {marks[0]} holds" if len(marks) == 1 else f"columns {listed(marks)} hold"
        notes.append(
            f"{hold} nothing but marks such as NA or ?; where they stand for a missing value, name "
            "them with nullstr (--nullstr NA), and run this again"
        )
    return notes


def _day_notes(formats: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Notes on texts that look like dates, by the formats that fit them."""
    notes = []
    for forms in dict.fromkeys(formats.values()):
        names = [repr(name) for name, own in formats.items() if own == forms]
        look = f"column {names[0]} looks" if len(names) == 1 else f"columns {listed(names)} look"
        advice = (
            f"; say how they are written with date_format (--date-format {' or '.join(forms)}), "
            "and run this again"
            if forms
            else ", but no one way of writing fits all their values; write them in one, and run "
            "this again"
        )
        notes.append(f"{look} like dates{advice}")
    return notes
