"""Verifying: a release held against its manifest, whoever has the two, without the original."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from sqlanon.arguments import checked
from sqlanon.assessment.check import TableResults
from sqlanon.engine.base import Opening, Use
from sqlanon.engine.endings import COMPRESSED, CSV
from sqlanon.engine.open import OpenedSource, open_source, second_table
from sqlanon.errors import PolicyError
from sqlanon.microdata.binding import column_types
from sqlanon.microdata.calls import AnyPolicy, Frame, Source, asked
from sqlanon.microdata.opening import beside, with_provenance
from sqlanon.policy.policy import Policy
from sqlanon.progress import Progress, following, tell
from sqlanon.publishing.earlier import judged_columns, judged_together, typed_rows
from sqlanon.publishing.formats import content
from sqlanon.publishing.manifest import (
    Manifest,
    refuse_unverifiable,
    released_results,
)
from sqlanon.query.publish.formats import Written
from sqlanon.query.syntax import column, rows_of, type_name
from sqlanon.reports.check import ModelResult
from sqlanon.reports.document import Provenance, SelfShown, ShownTable, page
from sqlanon.reports.earlier import Together
from sqlanon.wording import counted


@dataclass(frozen=True, slots=True, repr=False)
class Verification(SelfShown):
    """Whether a release is what its manifest says.

    Args:
        differences: A line for each thing that is not; none where all are.
        records: Records of the release [records].
        models: The policy's models, counted again on the release; empty where its columns differ.
        seconds: How long it took.
        notes: What a reader should know.
        provenance: The release, and when it was verified.
    """

    differences: tuple[str, ...]
    records: int
    models: tuple[ModelResult, ...]
    seconds: float
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    @property
    def holds(self) -> bool:
        """Whether the release is what its manifest says."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """The document of `verify --json`."""
        return {
            **self.provenance.head(),
            "records": self.records,
            "models": [result.to_dict() for result in self.models],
            "differences": list(self.differences),
            "holds": self.holds,
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def headline(self) -> str:
        """The verdict."""
        if self.holds:
            return f"the release is what its manifest says, {counted(self.records, 'record')}"
        differences = counted(len(self.differences), "difference")
        return f"the release is not what its manifest says: {differences}"

    def shown_tables(self) -> list[ShownTable]:
        """The differences."""
        rows = [[str(number), text] for number, text in enumerate(self.differences, 1)]
        return [ShownTable(rows, ["", "difference"], is_text=True)] if rows else []

    def to_text(self) -> str:
        """A page for a reader."""
        models = [f"  {result.verdict()}" for result in self.models]
        return page(
            [self.headline(), *(f"  {difference}" for difference in self.differences), *models],
            self.notes,
        )


@checked
def verify(
    released: Source | Frame,
    manifest: str | Path,
    *,
    table: Any = None,
    policy: AnyPolicy | None = None,
    earlier: Sequence[Any] = (),
    progress: Progress | None = None,
    **opening: Unpack[Opening],
) -> Verification:
    """Holds a release against its manifest: columns, types, records, content and models.

    Nothing of a manifest is trusted: the models of its policy are counted again on the release.
    Values are compared as the types that the manifest names, which CSV files and frames lose.

    Args:
        released: The release: a path, an open connection, or a frame.
        manifest: The file that was written with it.
        table: The table, where the release is a database with more than one.
        policy: The policy of the release, where a model refers to an order or a hierarchy: a
            manifest has digests of these, since they list values.
        earlier: Where its models hold together with earlier releases, all of these: tables of the
            same connection, frames or paths.
        progress: As for `check`.

    Raises:
        PolicyError: A model refers to such a list, and none or another one is given; or earlier
            releases are given and the release needs none, or the other way round.
        SourceError: The release or the manifest is missing or cannot be read.
    """
    started = time.monotonic()
    known = Manifest.read(manifest)
    call = asked(released, Policy({}) if policy is None else policy, table=table)
    given = call.policy(list(known.columns)) if callable(call.policy) else call.policy
    demanded = known.completed(given)
    refuse_unverifiable(demanded)
    _refuse_number(known, len(earlier))
    use = Use(by_value=frozenset())  # a CSV file is read as it is written
    reading = open_source(call.source, call.table, read_only=True, use=lambda _: use, **opening)
    with following(progress), reading as opened, ExitStack() as stack:
        tell("verifying: the release")
        engine, place = opened.engine, opened.table
        how = beside(opened, demanded, is_alike=True)
        before = [
            stack.enter_context(second_table(engine, call.alike(one), how=how)) for one in earlier
        ]
        stack.enter_context(engine.transaction())
        [(records,)] = engine.rows(rows_of(place))
        differences = ["the manifest was changed after it was written"] if known.is_changed else []
        models: tuple[ModelResult, ...] = ()
        types = column_types(engine, place)
        if list(types) != list(known.columns):
            differences.append(_other_columns(list(known.columns), list(types)))
        else:
            with engine.workspace():
                if not _is_typed(opened):
                    place = engine.materialize("typed", typed_rows(place, known.columns))
                    types = column_types(engine, place)
                differences += [
                    f"column {name!r} is {type_name(types[name])}, where the manifest says "
                    f"{type_name(kind)}"
                    for name, kind in known.columns.items()
                    if types[name] != kind
                ]
                columns = {name: Written(column(name), kind) for name, kind in types.items()}
                if content(engine, place, columns=columns)[1] != known.content:
                    differences.append("its records are not those that the manifest tells of")
                if records:
                    results = released_results(engine, place, policy=demanded)
                    models = results.models
                    differences += _other_figures(results, known)
                if known.together is not None:
                    kinds = {name: types[name] for name in judged_columns(demanded)}
                    all_of_it = judged_together(
                        engine, place, policy=demanded, earlier=before, types=kinds
                    )
                    models = all_of_it.models
                    differences += _other_together(all_of_it, known.together)
        if records != known.records:
            differences.append(f"it has {counted(records, 'record')}, not {known.records:,}")
        engine.opened.refuse_changed()
        made = Verification(tuple(differences), records, models, time.monotonic() - started)
        return with_provenance(opened, made)


def _refuse_number(known: Manifest, count: int) -> None:
    """Refuses earlier releases that are not as many as a manifest tells of.

    Raises:
        PolicyError: There are more or fewer of them than it tells of.
    """
    wanted = 0 if known.together is None else len(known.together.releases)
    if count != wanted:
        condition = f"with {counted(wanted, 'earlier release')}" if wanted else "by itself"
        raise PolicyError(
            f"the manifest tells of a release that satisfies its models {condition}, and {count:,} "
            "are named; name all of these and no other (--earlier EARLIER)"
        )


def _is_typed(opened: OpenedSource) -> bool:
    """Whether the columns of a release have the types that they were published with."""
    if opened.kind != "file":
        return opened.kind != "frame"
    path = Path(str(opened.name).lower().removesuffix(COMPRESSED))
    return path.suffix not in CSV


def _other_columns(wanted: list[str], names: list[str]) -> str:
    missing = [name for name in wanted if name not in names]
    new = [name for name in names if name not in wanted]
    parts = [
        f"{what} {', '.join(map(repr, those))}"
        for what, those in (("it lacks", missing), ("it has besides", new))
        if those
    ]
    return (
        f"its columns are others: {'; '.join(parts)}"
        if parts
        else "its columns are in another order"
    )


def _other_figures(results: TableResults, known: Manifest) -> Iterator[str]:
    """Classes and models that are not those of the manifest, or do not hold though they must."""
    statistics = results.statistics
    if statistics.classes != known.classes:
        yield f"the number of classes is {statistics.classes:,}, not {known.classes:,}"
    if statistics.smallest != known.smallest:
        yield f"the size of the smallest class is {statistics.smallest:,}, not {known.smallest:,}"
    yield from _other_models(results.models, known.models, must_hold=known.together is None)


def _other_models(
    results: Sequence[ModelResult], wanted: Sequence[ModelResult], *, must_hold: bool
) -> Iterator[str]:
    if len(results) != len(wanted):
        yield "the manifest tells of other models than its policy has"
        return
    for result, expected in zip(results, wanted, strict=True):
        if result.to_dict() != expected.to_dict() or (must_hold and not result.holds):
            yield f"{result.verdict()}: the release has {result.figure_text()}"


def _other_together(together: Together, wanted: Together) -> Iterator[str]:
    """What of the release together with earlier ones is not what the manifest says."""
    if together.releases != wanted.releases:
        yield "the earlier releases are not those that the manifest tells of"
    yield from _other_models(together.models, wanted.models, must_hold=True)
