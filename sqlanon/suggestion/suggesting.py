"""Suggesting: a table is looked at, and a policy for it is drafted."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Unpack

from sqlglot import exp

from sqlanon.arguments import checked, is_whole_number
from sqlanon.assessment.codes import code_table
from sqlanon.assessment.subsets import RiskOptions, subset_risk
from sqlanon.engine.base import Engine, Opening, Use
from sqlanon.engine.open import ROW_NAMES, is_frame, open_source, owned
from sqlanon.errors import PolicyError, SourceError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.microdata.binding import bind
from sqlanon.microdata.opening import with_provenance
from sqlanon.policy.policy import SUGGESTED_K, SUGGESTED_LIMIT, Policy
from sqlanon.progress import Progress, following, tell
from sqlanon.query.assess.profile import commonest, misfits
from sqlanon.query.classes.table_classes import set_counts
from sqlanon.sqltext import DIALECT
from sqlanon.suggestion.hierarchies import draft_hierarchy
from sqlanon.suggestion.persons import with_entity
from sqlanon.suggestion.profile import (
    ColumnProfile,
    Form,
    TableProfile,
    in_batches,
    profile_table,
)
from sqlanon.suggestion.roles import (
    Advice,
    Naming,
    Role,
    advise,
    advise_row_names,
    is_telling,
    second_weight,
)
from sqlanon.suggestion.safe_harbor import HIPAA, UNJUDGED, drafted, refuse_profile
from sqlanon.suggestion.suggestion import ColumnSuggestion, Suggestion, file_name
from sqlanon.wording import counted, listed, percent

MAX_QUASI_IDENTIFIERS = 12
"""Quasi-identifiers with which a table is still worth publishing; figures alone make no more."""


@checked
def suggest(
    source: Any,
    *,
    table: Any = None,
    k: int = SUGGESTED_K,
    suppression_limit: float = SUGGESTED_LIMIT,
    profile: str | None = None,
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
        profile: `hipaa-safe-harbor` for what that rule allows at most; None for none.
        progress: Called with a line that says how far it is.
        opening: As for `check`.

    Raises:
        SqlanonError: The source is at fault, or a figure is out of range; the message says how.
    """
    if not (is_whole_number(k) and k >= 1):
        raise PolicyError(f"k {k!r} is not a whole number of at least 1")
    Policy((), suppression_limit=suppression_limit)
    refuse_profile(profile)
    started = time.monotonic()
    if is_frame(source):
        if table is not None:
            raise PolicyError("a frame is the table itself; leave table out")
        source, table = owned(source)
    reading = open_source(source, table, read_only=True, use=lambda _: Use(), **opening)
    with following(progress), reading as opened, opened.engine.workspace():
        draft = _draft(
            opened.engine,
            opened.table,
            k=k,
            suppression_limit=suppression_limit,
            is_safe_harbor=profile == HIPAA,
        )
        opened.engine.opened.refuse_changed()
        return with_provenance(opened, replace(draft, seconds=time.monotonic() - started))


def _draft(
    engine: Engine, table: exp.Table, *, k: int, suppression_limit: float, is_safe_harbor: bool
) -> Suggestion:
    """The suggestion for a table that is open."""
    if engine.dialect != DIALECT:
        raise SourceError(
            f"no policy is drafted on {engine.dialect}; draft it for a sample in a file, such as "
            "some thousand records as Parquet"
        )
    tell("columns: names, types and values")
    profile = profile_table(engine, table, k=k)
    advice = {column.name: advise(column) for column in profile.columns}
    first = profile.columns[0]
    if _has_name_of_reader(profile):
        advice[first.name] = advise_row_names(first) or advice[first.name]
    advice = with_entity(engine, profile, advice, table=table)
    weights = [name for name, one in advice.items() if one and one.role is Role.WEIGHT]
    advice |= {name: second_weight(weights[0]) for name in weights[1:]}
    settled = _with_separating(engine, profile, advice)
    settled = _without_twins(engine, profile, settled, table=table)
    columns = [_suggested(column, settled[column.name]) for column in profile.columns]
    if is_safe_harbor:
        pairs = zip(columns, profile.columns, strict=True)
        columns = [drafted(column, column_profile) for column, column_profile in pairs]
    columns = _with_files(engine, table, columns)
    columns = _with_models(engine, profile, columns, k=k)
    notes = [
        *_size_notes(profile, k),
        *_crowd_notes(columns),
        *_reading_notes(profile),
        *_telling_notes(profile, settled),
        *_day_notes(engine, profile, table=table),
        *([UNJUDGED] if is_safe_harbor else []),
    ]
    return Suggestion(
        columns=tuple(columns),
        records=profile.records,
        looked_at=profile.looked_at,
        k=k,
        suppression_limit=suppression_limit,
        notes=tuple(notes),
    )


def _has_name_of_reader(profile: TableProfile) -> bool:
    """Whether the first column alone has its name from a reader; all have where no header was."""
    numbered = [one for one in profile.columns if re.fullmatch(r"column\d+", one.name)]
    first = profile.columns[0]
    return numbered == [first] and re.fullmatch(f"{ROW_NAMES}+", first.name) is not None


IDENTIFYING = 0.05
"""Share of the records that a column makes unique beside known ones, from which it counts."""
IDENTIFYING_TOGETHER = 0.5
"""The same beside all other columns, which nobody knows together."""
MAX_UNIQUE = 0.3
"""Share of the records that known columns alone make unique, so that others can add to it."""
MAX_KNOWN = 6
"""Known columns that are put together, at most: those of most values."""
MAX_TOGETHER = 30
"""Columns that are all put together, at most: those of most values."""


def _with_separating(
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
    risk = subset_risk(engine, coded, options=RiskOptions(), largest=1)
    for figures in risk.columns:
        if figures.name in {*asked} - {*chosen} and figures.lost >= IDENTIFYING_TOGETHER * records:
            share = percent(figures.lost, records)
            reason = f"beside all other columns it makes another {share} of the records unique"
            chosen[figures.name] = (figures.lost, reason)
    ranked = sorted(chosen, key=lambda name: chosen[name][0], reverse=True)
    for name in ranked[: max(MAX_QUASI_IDENTIFIERS - len(quasi), 0)]:
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
    return [
        unique
        for batch in in_batches(sets)
        for _, _, unique in sorted(engine.rows(set_counts(profile.table, batch)))
    ]


MAX_TWINS = 60
"""Quasi-identifiers that are compared with each other, at most."""


def _without_twins(
    engine: Engine, profile: TableProfile, advice: Mapping[str, Advice], *, table: exp.Table
) -> dict[str, Advice]:
    """Advice with one of two quasi-identifiers each of whose values go with one another."""
    quasi = [one for one in profile.columns if advice[one.name].role is Role.QUASI_IDENTIFIER]
    pairs = [
        tuple(sorted(pair, key=lambda one: one.form is not Form.TEXT))
        for pair in combinations(quasi[:MAX_TWINS], 2)
        if pair[0].values == pair[1].values > 1
    ]
    left = dict(advice)
    for batch in in_batches(pairs):
        names = [[one.name for one in pair] for pair in batch]
        counts = sorted(engine.rows(set_counts(profile.table, names)))
        for (kept, other), (_, classes, unique) in zip(batch, counts, strict=True):
            is_open = left[kept.name].role is left[other.name].role is Role.QUASI_IDENTIFIER
            is_chance = classes != kept.values or 2 * unique >= classes
            if not is_open or is_chance:
                continue
            if profile.is_sampled and not _go_together(engine, table, kept.name, other.name):
                continue
            left[other.name] = Advice(
                Role.DROP,
                f"it says the same as {kept.name!r}: each value of one goes with one value of the "
                "other, so one of them is enough. To publish this one instead, let both change "
                "places in the policy",
            )
    return left


def _go_together(engine: Engine, table: exp.Table, one: str, other: str) -> bool:
    """Whether each value of one column goes with one value of the other in the whole table."""
    counts = engine.rows(set_counts(table, [[one], [other], [one, other]]))
    return len({classes for _, classes, _ in counts}) == 1


def _suggested(profile: ColumnProfile, advice: Advice) -> ColumnSuggestion:
    """A column; where values are to be listed, with a file that has no name yet."""
    suggested = ColumnSuggestion(
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
        return suggested
    draft = draft_hierarchy(profile)
    file = "" if draft.is_listed else None
    return replace(suggested, hierarchy=draft.hierarchy, remark=draft.remark, file=file)


MAX_FILES = 30
"""Hierarchy files that are to be filled in, at most: nobody fills in more."""


def _with_files(
    engine: Engine, table: exp.Table, columns: Sequence[ColumnSuggestion]
) -> list[ColumnSuggestion]:
    """Columns with the names of their hierarchy files and the rows that these are to have."""
    listed = [one.name for one in columns if one.file is not None]
    names, left = listed[:MAX_FILES], listed[MAX_FILES:]
    if not names:
        return list(columns)
    tell("hierarchies: files to be filled in")
    subject = bind(engine, table, policy=Policy(names))
    trees = dict(zip(subject.names, subject.trees, strict=True))
    remark = (
        f"each value is kept or suppressed; {MAX_FILES} files of others are to be filled in first"
    )
    taken: list[str] = []
    suggested = []
    for column in columns:
        if column.name in left:
            suggested.append(replace(column, file=None, remark=remark))
        elif column.name in trees:
            labels = zip(*trees[column.name].labels, strict=True)
            file = file_name(column.name, taken)
            taken.append(file)
            hierarchy = Hierarchy.from_rows([(leaf, leaf, top) for leaf, top in labels], name=file)
            suggested.append(replace(column, hierarchy=hierarchy, file=file))
        else:
            suggested.append(column)
    return suggested


MIN_DIVERSITY = 2
"""Values of a sensitive column that each class is to hold, at least."""


def _with_models(
    engine: Engine, profile: TableProfile, columns: Sequence[ColumnSuggestion], *, k: int
) -> list[ColumnSuggestion]:
    """The columns, sensitive ones with l-diversity where classes of k can have two values.

    Where fewer than one record of k has another value than the most frequent one, most classes
    would grow for it.
    """
    names = [one.name for one in columns if one.role is Role.SENSITIVE]
    shares = [
        records / profile.looked_at
        for batch in in_batches(names)
        for _, records in sorted(engine.rows(commonest(profile.table, batch)))
    ]
    share_of = dict(zip(names, shares, strict=True))
    suggested = []
    for column in columns:
        share = share_of.get(column.name, 1.0)
        most = f"{percent(share)} of the records have its most frequent value"
        if share == 1:
            suggested.append(column)
        elif share <= 1 - 1 / k:
            remark = f"each class holds at least {MIN_DIVERSITY} values; {most}"
            suggested.append(replace(column, l=MIN_DIVERSITY, remark=remark))
        else:
            remark = (
                f"{most}, so that classes of {k} seldom hold another: l-diversity, by "
                f"{{ l = {MIN_DIVERSITY} }}, would make most of them larger"
            )
            suggested.append(replace(column, remark=remark))
    return suggested


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
    number = sum(one.role is Role.QUASI_IDENTIFIER for one in columns)
    if number <= MAX_QUASI_IDENTIFIERS:
        return []
    return [
        f"so many quasi-identifiers ({number}) leave little to publish, and a search over all "
        "their levels can take long: drop those that nobody needs, or that nobody can know"
    ]


def _telling_notes(profile: TableProfile, advice: Mapping[str, Advice]) -> list[str]:
    """A note on sensitive figures that lead to their record, as they are published as they are."""
    names = [
        repr(one.name)
        for one in profile.columns
        if advice[one.name].role is Role.SENSITIVE and is_telling(one)
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
    numeric = [repr(one.name) for one in profile.columns if one.is_numeric_text]
    if numeric:
        notes.append(
            f"{'column' if len(numeric) == 1 else 'columns'} {listed(numeric)} would be numbers "
            "if a mark such as NA or ? did not stand for a missing value; name it with nullstr "
            "(--nullstr NA), and run this again"
        )
    marks = [repr(one.name) for one in profile.columns if one.looks_like("mark", 1)]
    if marks:
        hold = f"column {marks[0]} holds" if len(marks) == 1 else f"columns {listed(marks)} hold"
        notes.append(
            f"{hold} nothing but marks such as NA or ?; where they stand for a missing value, name "
            "them with nullstr (--nullstr NA), and run this again"
        )
    return notes


DAY_FORMATS = tuple(f"%{one}{sign}%{two}{sign}%Y" for sign in "/-." for one, two in ("dm", "md"))
"""Ways to write dates that texts are compared with."""


def _day_notes(engine: Engine, profile: TableProfile, *, table: exp.Table) -> list[str]:
    """Notes on texts that look like dates, by the formats that fit all of their values."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for batch in in_batches([one.name for one in profile.columns if one.looks_like("day")]):
        counts = iter(engine.rows(misfits(table, batch, formats=DAY_FORMATS))[0])
        for name in batch:
            fitting = tuple([form for form in DAY_FORMATS if not next(counts)])
            columns.setdefault(fitting, []).append(repr(name))
    notes = []
    for formats, names in columns.items():
        look = f"column {names[0]} looks" if len(names) == 1 else f"columns {listed(names)} look"
        advice = (
            f"; say how they are written with date_format (--date-format {' or '.join(formats)}), "
            "and run this again"
            if formats
            else ", but no one way of writing fits all their values; write them in one, and run "
            "this again"
        )
        notes.append(f"{look} like dates{advice}")
    return notes
