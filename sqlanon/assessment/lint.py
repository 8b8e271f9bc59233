"""Lint: what a release gives away beside its classes, rule by rule.

A rule that cannot be asked of a release, since its format has no statistics or no original is
given, is not asked. Nothing that is found quotes a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from operator import itemgetter
from pathlib import Path

from sqlglot import exp

from sqlanon.assessment.check import judged_columns
from sqlanon.engine import files
from sqlanon.engine.base import Engine
from sqlanon.engine.open import embedded, is_database
from sqlanon.hierarchy.number_ranges import NumberRange
from sqlanon.microdata.binding import column_types
from sqlanon.microdata.spellings import spelling_findings
from sqlanon.policy.policy import Policy
from sqlanon.query import lint as query
from sqlanon.query.assess.profile import counts
from sqlanon.query.classes.table_classes import set_counts
from sqlanon.query.encode import distinct_values
from sqlanon.query.syntax import TEXT, rows_of
from sqlanon.reports.findings import RULES, Finding, by_severity
from sqlanon.reports.kept import KeptColumns
from sqlanon.wording import counted, listed, part_of

MANY_UNIQUE = 0.1
"""Share of records with a sensitive value of their own from which a reader is told."""
LEAST_GROUPS, LEAST_AGREEMENT = 30, 0.9
"""Matched groups of records, and how far their places agree, from which the order is told."""
MOST_LABELS = 100_000  # of a column, of which ranges are read
TEXT_LENGTHS, MOST_TEXTS = (8, 200), 32  # texts of a column that are looked for among bytes
_INDEX = re.compile(
    r"__index_level_\d+__|unnamed: ?\d+|index|level_0|row_?(id|num|number)|file_?name|_c0",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Linted:
    """A release, and what it is held against.

    Args:
        engine: Where it is.
        table: The table.
        policy: Roles of its columns; one without any where nobody knows them.
        kept: Whom its kept columns single out; None without any.
        original: The original, on the same engine; None where it is not given.
        path: The file that it is in; None for a table of a connection, or a frame.
        place: Where it stands, or will, in a database file; None where only the table is looked at.
    """

    engine: Engine
    table: exp.Table
    policy: Policy
    kept: KeptColumns | None
    original: exp.Table | None = None
    path: Path | None = None
    place: exp.Table | None = None

    @cached_property
    def types(self) -> dict[str, exp.DataType]:
        """The columns that are published, and their types."""
        return self.engine.columns(self.table)

    @cached_property
    def attributes(self) -> list[str]:
        """The quasi-identifiers that are published."""
        return [name for name in self.policy.attributes if name in self.types]

    @cached_property
    def sensitive(self) -> list[str]:
        """The sensitive columns that are published."""
        return [name for name in self.policy.sensitive_attributes if name in self.types]

    @cached_property
    def records(self) -> int:
        """Its records."""
        [(records,)] = self.engine.rows(rows_of(self.table))
        return int(records)


def lint_table(
    engine: Engine,
    table: exp.Table,
    *,
    policy: Policy,
    kept: KeptColumns | None = None,
    original: exp.Table | None = None,
    path: Path | None = None,
    place: exp.Table | None = None,
) -> tuple[Finding, ...]:
    """All findings about a release, the gravest first.

    Args:
        engine: Where it is.
        table: The table.
        policy: Roles of its columns; what of it is not published need not be there.
        kept: Whom its kept columns single out, where that is known.
        original: Its original, on the same engine, where it is there.
        path: The file that it is in; the database with all its parts is then the release.
        place: The place in a database that it is about to be moved to; None for no such place.
    """
    if kept is None:
        kept = judged_columns(engine, table, policy=policy)
    if path is not None and is_database(path):
        place = table
    if place is not None and (engine.can.stages_beside or files.file_of(engine, place) is None):
        place = None  # in memory, or elsewhere, where no file is handed out
    linted = Linted(engine, table, policy, kept, original, path, place)
    return by_severity(finding for ask in _ASKED for finding in ask(linted))


def _extra(one: Linted) -> Iterator[Finding]:
    names, policy = list(one.types), one.policy
    if not any(policy.roles.values()):
        return
    published = policy.published(names)
    extra = [name for name in names if name not in published]
    unassigned = [name for name in policy.unassigned(names) if name in published]
    if extra:
        yield RULES["extra-columns"].finding(f"the release has {_named(extra)}")
    if unassigned:
        yield RULES["unassigned-columns"].finding(
            f"the policy has no role for {_named(unassigned)}"
        )


def _index(one: Linted) -> Iterator[Finding]:
    covered = {*one.attributes, *one.sensitive}
    for name in one.types:
        if name not in covered and _INDEX.fullmatch(name):
            yield RULES["index-column"].finding(
                f"column {name!r} is named like an index of records or files", column=name
            )
    for figures in one.kept.columns if one.kept is not None else ():
        name, records = figures.name, figures.unique
        is_key, kind = figures.unique == figures.values > 1, one.types[name]
        # sqlglot counts strings of bits among whole numbers.
        if not is_key or not kind.is_type(*exp.DataType.INTEGER_TYPES) or kind.is_type("bit"):
            continue
        [(least, greatest)] = one.engine.rows(query.extremes(one.table, name))
        if greatest - least == records - 1 and not _INDEX.fullmatch(name):
            yield RULES["index-column"].finding(
                f"column {name!r} counts the records, a whole number each without a gap",
                column=name,
            )


def _kept(one: Linted) -> Iterator[Finding]:
    if one.kept is not None:
        yield from one.kept.findings()


def _sensitive(one: Linted) -> Iterator[Finding]:
    for name in one.sensitive:
        [(_, _, unique)] = one.engine.rows(set_counts(one.table, [[name]]))
        if unique >= max(MANY_UNIQUE * one.records, 1):
            yield RULES["sensitive-identifies"].finding(
                f"{part_of(unique, one.records)} of the records have a value of sensitive column "
                f"{name!r} that no other record has",
                column=name,
            )


def _nulls(one: Linted) -> Iterator[Finding]:
    names = one.attributes
    if len(names) < 2:
        return
    [(records,)] = one.engine.rows(query.null_records(one.table, names))
    before = 0
    if records and one.original is not None and {*names} <= {*one.engine.columns(one.original)}:
        [(before,)] = one.engine.rows(query.null_records(one.original, names))
    if before < records < one.records:
        more = f", where the original has {before:,}" if one.original is not None else ""
        hold = "has" if records == 1 else "have"
        yield RULES["null-pattern"].finding(
            f"{counted(records, 'record')} {hold} NULL in every quasi-identifier{more}"
        )


def _spellings(one: Linted) -> Iterator[Finding]:
    columns = one.kept.columns if one.kept is not None else ()
    roles = {
        "quasi-identifier": one.attributes,
        "sensitive": one.sensitive,
        # Of what is nearly unique there are no spellings that would be worth the time.
        "kept": [column.name for column in columns if 2 * column.values <= one.records],
    }
    types = column_types(one.engine, one.table)
    yield from spelling_findings(one.engine, one.table, columns=types, roles=roles)


def _extremes(one: Linted) -> Iterator[Finding]:
    if one.original is None:
        return
    there = one.engine.columns(one.original)
    for name in one.attributes:
        is_text = one.types[name].is_type(*exp.DataType.TEXT_TYPES)
        if not (is_text and name in there and there[name].is_type(*exp.DataType.NUMERIC_TYPES)):
            continue
        labels = one.engine.rows(distinct_values(one.table, name).limit(MOST_LABELS))
        [ends] = one.engine.rows(query.extremes(one.original, name))
        if None not in ends and _shown_by(
            [label for (label,) in labels if label is not None], ends
        ):
            yield RULES["data-extremes"].finding(
                f"ranges of column {name!r} begin at the least and end at the greatest value of "
                "the original",
                column=name,
            )


def _shown_by(labels: Sequence[str], ends: tuple[object, object]) -> bool:
    """Whether the outermost of some ranges begin and end with a table's numbers, and on no grid.

    A range from a grid such as 20-39 begins at a multiple of its width, whatever the numbers are.
    """
    read = [span for label in labels if (span := NumberRange.read(label)) is not None]
    ranges = [
        (Decimal(span.low), Decimal(span.high))
        for span in read
        if span.low is not None and span.high is not None and span.has_high
    ]
    if not ranges or len(ranges) < len(read) or any(low > high for low, high in ranges):
        return False
    first, last = min(ranges), max(ranges, key=itemgetter(1))
    if (first[0], last[1]) != tuple(Decimal(str(end)) for end in ends):
        return False
    return all(low % (high - low + 1) for low, high in (first, last))


def _order(one: Linted) -> Iterator[Finding]:
    # Rows have an order where they are kept in this process, or in a file that it reads.
    if one.original is None or embedded(one.engine) is not one.engine or not one.records:
        return
    names, there = list(one.types), one.engine.columns(one.original)
    [(down, _)] = one.engine.rows(query.row_steps(one.table, [names]))
    # Suppressed records that are kept come first, whatever their label.
    if down <= 1:
        return
    same = [
        name
        for name in names
        if name in there
        if not one.engine.rows(query.foreign_values(one.table, one.original, name))[0][0]
    ]
    if not same:
        return
    [steps] = one.engine.rows(query.row_steps(one.table, [[name] for name in names]))
    pairs = zip(names, steps[::2], steps[1::2], strict=True)
    blocks = [name for name, descending, differing in pairs if differing and not descending]
    places = query.row_places(one.table, one.original, columns=same, blocks=blocks)
    [(groups, agreement)] = one.engine.rows(places)
    if groups >= LEAST_GROUPS and abs(agreement or 0.0) >= LEAST_AGREEMENT:
        yield RULES["row-order"].finding(
            f"the places of rows agree with those of the original ({agreement:.2f} by rank, 1 is "
            f"the same order), by {_named(same)}"
        )


def _enums(one: Linted) -> Iterator[Finding]:
    labelled = {n: len(kind.expressions) for n, kind in one.types.items() if kind.is_type("enum")}
    if labelled:
        [(_, *figures)] = one.engine.rows(counts(one.table, list(labelled)))
        left = zip(labelled, labelled.values(), figures[1::2], strict=True)
        yield from _unused({name: labels - seen for name, labels, seen in left if labels > seen})


def _unused(columns: Mapping[str, int]) -> Iterator[Finding]:
    for name, values in columns.items():
        yield RULES["unused-labels"].finding(
            f"the type or dictionary of column {name!r} has {counted(values, 'value')} that no row "
            "has",
            column=name,
        )


def _file(one: Linted) -> Iterator[Finding]:
    if one.path is not None:
        yield from lint_file(one.path)


def lint_file(path: Path) -> Iterator[Finding]:
    """Findings about what a Parquet or Arrow file holds beside its cells; none of other files."""
    traces = files.file_traces(path)
    yield from _unused(traces.unused)
    for name in traces.beyond:
        yield RULES["file-statistics"].finding(
            f"statistics of column {name!r} have a least or greatest value that no row has",
            column=name,
        )
    if traces.metadata:
        yield RULES["file-metadata"].finding(
            f"the file has {counted(traces.metadata, 'entry', more='entries')} of metadata"
        )


def _database(one: Linted) -> Iterator[Finding]:
    engine, place, original = one.engine, one.place, one.original
    if place is None:
        return
    if original is not None and original.catalog != place.catalog:
        original = None
    phrases = files.beside(engine, place, original=original)
    free = files.free_blocks(engine, place)
    if original is not None:
        message = f"the database holds the original, {original.name!r}"
        if one.path is None:
            # It is not handed out, then, whatever else is in it: that is said in one line.
            blocks = [counted(free, "free block")] if free else []
            yield RULES["original-beside"].finding("; ".join([message, *phrases, *blocks]))
            return
        yield RULES["original-beside"].finding(message)
    for phrase in phrases:
        yield RULES["catalogue"].finding(f"the database holds {phrase}")
    if free:
        yield RULES["free-blocks"].finding(
            f"{counted(free, 'block')} of the database {'is' if free == 1 else 'are'} free"
        )


def _bytes(one: Linted) -> Iterator[Finding]:
    if one.path is None or one.original is None:
        return
    if is_database(one.path) and one.original.catalog == one.table.catalog:
        return  # the original is another table of the database, which is told
    there = one.engine.columns(one.original)
    names = [name for name, kind in there.items() if kind.is_type(*exp.DataType.TEXT_TYPES)]
    if not names:
        return
    wanted = query.texts(
        one.original,
        names,
        released=one.table,
        published=one.types,
        lengths=TEXT_LENGTHS,
        most=MOST_TEXTS,
    )
    texts = files.texts_in(one.path, [text for (text,) in one.engine.rows(wanted)])
    if not texts:
        return
    with one.engine.workspace():
        text_table = one.engine.load_rows("texts", {"text": sorted(texts)}, {"text": TEXT})
        [(count,)] = one.engine.rows(query.unpublished(text_table, one.table, list(one.types)))
    if count:
        stand = "stands" if count == 1 else "stand"
        yield RULES["original-bytes"].finding(
            f"{counted(count, 'text')} of the original {stand} in the file and in no published cell"
        )


def _named(names: Sequence[str]) -> str:
    return listed([repr(name) for name in names])


_ASKED: Sequence[Callable[[Linted], Iterator[Finding]]] = (
    *(_extra, _index, _kept, _sensitive, _nulls, _spellings, _extremes, _order),
    *(_enums, _file, _database, _bytes),
)
