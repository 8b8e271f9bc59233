"""Plan report: loss, classes and models of the table that a plan expects, or that was published."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from sqlanon.classes import ClassStatistics
from sqlanon.reports.bound import bound_clause, is_useless
from sqlanon.reports.check import ModelResult, counted_by, model_table, verdicts
from sqlanon.reports.document import (
    Provenance,
    SelfShown,
    ShownTable,
    bound_figure,
    finite,
    size_line,
)
from sqlanon.reports.earlier import Intersection, Together
from sqlanon.reports.findings import Finding, finding_page
from sqlanon.reports.kept import NOT_COUNTED, KeptColumns
from sqlanon.reports.search import SearchFigures, search_of
from sqlanon.wording import (
    at_least,
    counted,
    figure,
    in_columns,
    key,
    padded,
    part_of,
    percent,
    width_of,
    without_noise,
)

_AS_WRITTEN = (
    "method",
    "lower_bound",
    "records",
    "suppressed_records",
    "silent_records",
    "suppressed_cells",
    "output",
    "seconds",
)


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """A group of a column's values, or all groups that no published record is in.

    Args:
        label: What it is published as, where that may be shown; None also for NULL.
        values: How many values it has.
        records: How many published records are in it [records].
        is_shown: Whether the label may be shown.
    """

    label: str | None
    values: int
    records: int
    is_shown: bool = False

    @classmethod
    def for_report(cls, groups: Iterable[GroupFigures]) -> tuple[GroupFigures, ...]:
        """The groups as a report tells them: without names the larger first, in no order else.

        The order of groups without names would tell which of the values they are. Groups without a
        published record are told as one, the last: each for itself would tell the values of
        suppressed records.
        """
        every = list(groups)
        published = [group for group in every if group.records]
        is_shown = any(group.label is not None for group in published)
        if not all(group.is_shown for group in every):
            bare = [cls(None, group.values, group.records) for group in published]
            published = sorted(bare, key=lambda group: (-group.values, -group.records))
            is_shown = False
        left = sum(group.values for group in every if not group.records)
        return (*published, cls(None, left, 0, is_shown)) if left else tuple(published)

    def to_dict(self) -> dict[str, Any]:
        """The group in a document."""
        return {"label": self.label, "values": self.values, "records": self.records}


@dataclass(frozen=True, slots=True, repr=False)
class Report(SelfShown):
    """A published table, or the one that a plan expects: loss, classes and models.

    Args:
        method: Name of the search.
        loss_name: The loss that it minimized.
        loss: Every measure that applies, by its name.
        lower_bound: Proven lower bound on `loss[loss_name]` over what the method may choose from.
        levels: Level per quasi-identifier; empty where each record has levels of its own.
        heights: Highest level per quasi-identifier.
        records: Records of the original.
        suppressed_records: Records that are not published, or that lose all cells as one class of
            the published table; as `measure` counts them.
        silent_records: Those of them that are published in classes whose every cell is suppressed,
            which the suppression limit does not count.
        suppressed_cells: Cells that say nothing any more, those of suppressed records included.
        statistics: The published table's equivalence classes, that of records that lose all cells
            included.
        models: The policy's models and whether they hold.
        minimal_nodes: All minimal nodes, on request.
        search: What the search did, by the family of its method.
        output: Where the table was published; None for a plan.
        notes: What a reader should know besides.
        seconds: How long each part took.
        entity: The column whose persons are counted by classes and models; None for records.
        suppression_tradeoff: Where most cells say nothing, what a higher suppression limit would
            give: per node that was looked at the least `suppression_limit` that allows for it,
            `suppressed_records`, `loss` and `levels`.
        level_names: Per quasi-identifier what each level is called, from 0 up.
        minimal_node_figures: Per minimal node its `loss` and `suppressed_records`.
        records_per_level: Where each record has levels of its own, the records at each level from
            0 up, per quasi-identifier.
        schemes: Where values are put into groups, which of them each column's scheme may merge.
        groups: Then the groups of each column.
        kept_columns: Whom columns that are published as they are single out; None without any.
        alternatives: On request, for each column that a full-domain recoding generalizes, and the
            levels below that, the best recoding with the column at `max_level` at most: `column`,
            `loss`, `lower_bound`, `suppressed_records`, `levels` (None where there is none),
            whether it is `proven` best, and nodes that had to be `checked` besides. Levels that a
            row does not name have the best recoding of the next level that one does.
        findings: What `lint` finds about the published table; none of a plan.
        provenance: What it was made of and when.
        against: What is left of candidates beside earlier releases, of one that is published.
        together: What its models are of besides, where they hold with earlier releases alone.
    """

    method: str
    loss_name: str
    loss: Mapping[str, float]
    lower_bound: float | None
    levels: Mapping[str, int]
    heights: Mapping[str, int]
    records: int
    suppressed_records: int
    suppressed_cells: int
    statistics: ClassStatistics
    models: tuple[ModelResult, ...]
    minimal_nodes: tuple[Mapping[str, int], ...] | None = None
    search: SearchFigures = field(default_factory=SearchFigures)
    output: str | None = None
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    entity: str | None = None
    records_per_level: Mapping[str, Sequence[int]] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)
    suppression_tradeoff: tuple[Mapping[str, Any], ...] = ()
    level_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    minimal_node_figures: tuple[Mapping[str, Any], ...] = ()
    kept_columns: KeptColumns | None = None
    schemes: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, Sequence[GroupFigures]] = field(default_factory=dict)
    silent_records: int = 0
    alternatives: tuple[Mapping[str, Any], ...] | None = None
    findings: tuple[Finding, ...] = ()
    against: tuple[Intersection, ...] = ()
    together: Together | None = None

    def keeping(self, kept: KeptColumns | None) -> Report:
        """The report with what kept columns single out, in place of what was known before."""
        known = {NOT_COUNTED, *(self.kept_columns.notes() if self.kept_columns else ())}
        notes = [note for note in self.notes if note not in known]
        return replace(self, kept_columns=kept, notes=(*(kept.notes() if kept else ()), *notes))

    @property
    def holds(self) -> bool:
        """Whether every model of the policy holds."""
        return all(result.holds for result in self.models)

    @property
    def ratio(self) -> float | None:
        """How many times its lower bound the loss is; None without a bound, or where that is 0."""
        if not self.lower_bound or not without_noise(self.lower_bound):
            return None
        return self.loss[key(self.loss_name)] / self.lower_bound

    @property
    def is_cut(self) -> bool:
        """Whether a time limit ended a part of the search, so that with more it may lose less."""
        return self.search.is_cut

    @property
    def bounds_every_recoding(self) -> bool:
        """Whether `lower_bound` holds for every recoding into nodes of the hierarchies.

        That of one level per column, of schemes or of patterns holds for recodings of its own kind.
        """
        return self.search.bounds_every

    def to_dict(self) -> dict[str, Any]:
        """The document of `plan --json` and `anonymize --json`."""
        statistics = self.statistics.to_dict()
        document: dict[str, Any] = {
            **self.provenance.head(),
            "method": self.method,
            "loss": {
                "name": self.loss_name,
                "value": finite(self.loss[key(self.loss_name)]),
                **{name: finite(value) for name, value in self.loss.items()},
            },
            "lower_bound": bound_figure(self.lower_bound),
            "ratio": finite(self.ratio),
            "records": self.records,
            "suppressed_records": self.suppressed_records,
            "silent_records": self.silent_records,
            "suppressed_cells": self.suppressed_cells,
            "published_records": statistics.pop("records"),
            **statistics,
            "entity": self.entity,
            "levels": dict(self.levels) or None,
            "level_names": {name: list(names) for name, names in self.level_names.items()},
            "records_per_level": {n: list(r) for n, r in self.records_per_level.items()} or None,
            "scheme": dict(self.schemes) or None,
            "groups": {
                name: [group.to_dict() for group in groups] for name, groups in self.groups.items()
            }
            or None,
            "suppression_tradeoff": [dict(entry) for entry in self.suppression_tradeoff],
            "output": self.output,
            "models": [result.to_dict() for result in self.models],
            "against": [intersection.to_dict() for intersection in self.against],
            "holds": self.holds,
            "search": self.search.to_dict(),
            "kept_columns": None if self.kept_columns is None else self.kept_columns.to_dict(),
            "notes": list(self.notes),
            "seconds": dict(self.seconds),
        }
        if self.minimal_nodes is not None:
            document["minimal_nodes"] = [dict(node) for node in self.minimal_nodes]
            document["minimal_node_figures"] = [
                {**entry, "loss": finite(entry["loss"])} for entry in self.minimal_node_figures
            ]
        if self.output is not None:
            document["findings"] = [finding.to_dict() for finding in self.findings]
        if self.alternatives is not None:
            document["alternatives"] = [
                {
                    **entry,
                    "loss": finite(entry["loss"]),
                    "lower_bound": finite(entry["lower_bound"]),
                }
                for entry in self.alternatives
            ]
        return document

    @classmethod
    def from_dict(
        cls,
        document: Mapping[str, Any],
        heights: Mapping[str, int],
        *,
        histogram: Iterable[Sequence[int]],
    ) -> Report:
        """Reads back a document of `to_dict`, with rows of class size and number of classes."""
        measures = {
            name: math.inf if value is None else value
            for name, value in document["loss"].items()
            if name not in ("name", "value")
        }
        nodes, kept = document.get("minimal_nodes"), document["kept_columns"]
        alternatives = document.get("alternatives")
        return cls(
            loss_name=document["loss"]["name"],
            loss=measures,
            levels=document["levels"] or {},
            records_per_level=document["records_per_level"] or {},
            heights=heights,
            statistics=ClassStatistics.of(histogram).with_records(document["published_records"]),
            models=tuple(ModelResult.from_dict(result) for result in document["models"]),
            minimal_nodes=None if nodes is None else tuple(nodes),
            search=search_of(document["search"]),
            notes=tuple(document["notes"]),
            entity=document["entity"],
            suppression_tradeoff=tuple(document["suppression_tradeoff"]),
            level_names=document["level_names"],
            minimal_node_figures=tuple(
                {**entry, "loss": math.inf if entry["loss"] is None else entry["loss"]}
                for entry in document.get("minimal_node_figures", ())
            ),
            schemes=document["scheme"] or {},
            groups={name: _groups(entries) for name, entries in (document["groups"] or {}).items()},
            kept_columns=None if kept is None else KeptColumns.from_dict(kept),
            provenance=Provenance.from_dict(document),
            alternatives=None if alternatives is None else tuple(map(_alternative, alternatives)),
            **{name: document[name] for name in _AS_WRITTEN},
        )

    def _level_lines(self) -> Iterator[str]:
        """Generalization level of each column, or the shares of records at each level."""
        width = max(map(width_of, self.heights), default=0)
        highest = max(self.heights.values(), default=0)
        if self.records_per_level:
            yield "  share of records at each level, from the original value up"
            for column, records in self.records_per_level.items():
                names = ["", *self.level_names.get(column, [])[1:]]
                shares = zip_longest((percent(n, self.records) for n in records), names)
                text = "  ".join(f"{share} {name or ''}".rstrip() for share, name in shares)
                yield f"    {padded(column, width)}  {text}"
            return
        if self.groups:
            yield from self._group_lines()
            return
        yield "  levels (0 is the original value)"
        for column, level in self.levels.items():
            bar = "#" * level + "." * (self.heights[column] - level)
            text = f"{level} of {self.heights[column]}  {bar:<{highest}}"
            name = self.level_names.get(column, {level: ""} if level else [""])[level]
            yield f"    {padded(column, width)}  {text}  {name}".rstrip()

    def _group_lines(self) -> Iterator[str]:
        """A line for each column, and one for each group of several values that may be named."""
        yield "  groups of values that are published as one"
        width = max(map(width_of, self.groups))
        for name, groups in self.groups.items():
            values = sum(group.values for group in groups if group.records)
            others = sum(group.values for group in groups if not group.records)
            scheme = f" ({self.schemes[name]})" if name in self.schemes else ""
            number = sum(group.records > 0 for group in groups)
            parts = f"{counted(number, 'group')} of {counted(values, 'value')}"
            unpublished = f"; {counted(others, 'value')} in no published record" if others else ""
            yield f"    {padded(name, width)}  {parts}{scheme}{unpublished}"
            for group in groups:
                if group.is_shown and group.label is not None and group.values > 1:
                    yield f"    {'':<{width}}    {group.label}  {counted(group.values, 'value')}"

    def _minimal_lines(self, nodes: Sequence[Mapping[str, int]]) -> Iterator[str]:
        """Every minimal node, with what it loses and suppresses."""
        listed = map(_levels_text, nodes)
        if len(self.minimal_node_figures) < len(nodes):
            yield from (f"    {levels}" for levels in listed)
            return
        rows = [(self.loss_name, "suppressed", "levels")]
        for levels, entry in zip(listed, self.minimal_node_figures, strict=True):
            suppressed = part_of(entry["suppressed_records"], self.records)
            rows.append((figure(entry["loss"]), suppressed, levels))
        yield from (f"  {line}" for line in in_columns(rows, ">><"))

    def _tradeoff_lines(self) -> Iterator[str]:
        """What a higher suppression limit would give."""
        if not self.suppression_tradeoff:
            return
        yield "  most cells are suppressed; a higher suppression limit allows these recodings"
        rows = [("limit", "suppressed", self.loss_name, "levels")]
        for entry in self.suppression_tradeoff:
            limit, lost = f"{entry['suppression_limit']:g}", figure(entry["loss"])
            suppressed = part_of(entry["suppressed_records"], self.records)
            rows.append((limit, suppressed, lost, _levels_text(entry["levels"])))
        yield from (f"  {line}" for line in in_columns(rows, ">>><"))

    def _alternative_lines(self, alternatives: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Each column at a lower level: what that would lose, and all levels."""
        if not alternatives:
            yield "  alternatives    no column is generalized, so none can be at a lower level"
            return
        yield "  alternatives    the best recodings with one column at a lower level"
        rows = [
            ("column", "at most", self.loss_name, "more", "suppressed", "levels of all columns")
        ]
        for entry in alternatives:
            column, most = entry["column"], entry["max_level"]
            names = self.level_names.get(column, ())
            level = f"{most} ({names[most]})" if most < len(names) else f"{most}"
            if entry["levels"] is None:
                why = (
                    "no recoding satisfies the policy" if entry["proven"] else "none found in time"
                )
                rows.append((column, level, "–", "–", "–", why))
                continue
            more = entry["loss"] - self.loss[key(self.loss_name)]
            rows.append(
                (
                    column,
                    level,
                    figure(entry["loss"]) + ("" if entry["proven"] else " or less"),
                    "0" if abs(more) < 1e-12 else f"{more:+.4g}",
                    part_of(entry["suppressed_records"], self.records),
                    _levels_text(entry["levels"]),
                )
            )
        yield from (f"  {line}" for line in in_columns(rows, "<<>>><"))

    def _bound_text(self) -> str:
        kind = self.search.kind
        if not self.records_per_level and self.search.proven:
            return f" (no {kind} loses less)"
        if self.lower_bound is None:
            return f" (nothing is proven of any other {kind})" if self.groups else ""
        if not self.records_per_level:
            return f" (every {kind} loses at least {at_least(self.lower_bound)})"
        every = "recoding that satisfies k" if self.bounds_every_recoding else kind
        lost = self.loss[key(self.loss_name)]
        more = ""
        if self.bounds_every_recoding and is_useless(lost, self.lower_bound):
            more = "; `sqlanon bound` may prove more"
        return f" ({bound_clause(every, lost, self.lower_bound)}{more})"

    def _suppressed_lines(self) -> Iterator[str]:
        """Records that the suppression limit counts, and others that say as little."""
        limited = self.suppressed_records - self.silent_records
        yield (
            f"  {'suppressed':<16}{counted(limited, 'record')} ({percent(limited, self.records)})"
        )
        if self.silent_records:
            yield (
                f"  {'say nothing':<16}{counted(self.silent_records, 'record')} "
                f"({percent(self.silent_records, self.records)}): all cells are suppressed in "
                "their class, and the suppression limit does not count them"
            )

    def headline(self) -> str:
        """Method, loss, classes, and whether the models hold."""
        lost = figure(self.loss[key(self.loss_name)])
        return (
            f"{self.method}, {self.loss_name} {lost}; {self.statistics.headline()}; "
            f"{verdicts(self.models)}"
        )

    def shown_tables(self) -> list[ShownTable]:
        """Models, loss beside its bound, and levels where columns have one."""
        bound = "not known" if self.lower_bound is None else at_least(self.lower_bound)
        rows = [
            [self.loss_name, figure(self.loss[key(self.loss_name)])],
            ["lower bound", bound],
            ["suppressed records", part_of(self.suppressed_records, self.records)],
            ["smallest class", f"{self.statistics.smallest:,}"],
        ]
        levels = [
            [name, f"{level} of {self.heights[name]}", *self.level_names.get(name, [])[level:][:1]]
            for name, level in self.levels.items()
        ]
        of_columns = ShownTable(levels, ["column", "level", "published as"])
        return [*model_table(self.models), ShownTable(rows), *([of_columns] if levels else [])]

    def to_text(self) -> str:
        """A page for a reader."""
        name, classes = self.loss_name, counted(self.statistics.classes, "class", more="classes")
        verb = "publish" if self.output is None else "published"
        lines = [
            f"{self.method}: {self.search.summary(classes)}",
            f"  {'loss':<16}{name} {figure(self.loss[key(name)])}{self._bound_text()}",
            f"  {verb:<16}{self.statistics.records:,} of {counted(self.records, 'record')} in "
            f"{classes}",
            *self._suppressed_lines(),
            *counted_by(self.entity),
            size_line(self.statistics),
        ]
        lines += self._level_lines()
        if self.minimal_nodes is not None:
            lines.append(f"  minimal nodes   {len(self.minimal_nodes):,}")
            lines += self._minimal_lines(self.minimal_nodes)
        lines += self._tradeoff_lines()
        if self.alternatives is not None:
            lines += self._alternative_lines(self.alternatives)
        lines += self.search.lines(self.loss_name)
        for result in self.models:
            lines.append(f"{result.verdict()}: {result.figure_text()}")
        lines += [intersection.to_line() for intersection in self.against]
        if self.output is not None:
            lines.append(f"output: {self.output}")
        return finding_page(lines, self.notes, self.findings)


def _levels_text(levels: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def _groups(entries: Sequence[Mapping[str, Any]]) -> tuple[GroupFigures, ...]:
    """Reads the groups of a column back."""
    is_shown = any(entry["label"] for entry in entries)
    return tuple(GroupFigures(**entry, is_shown=is_shown) for entry in entries)


def _alternative(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reads an alternative back, whose loss is infinite where there is a recoding and no figure."""
    is_infinite = entry["loss"] is None and entry["levels"] is not None
    return {**entry, "loss": math.inf} if is_infinite else entry
