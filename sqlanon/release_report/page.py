"""Page: what a release report shows as HTML, in words and rounded numbers, and where it goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlanon.loss.measures import FORMULAS
from sqlanon.policy.policy import COUNTING_COLUMNS
from sqlanon.policy.privacy import figure_of
from sqlanon.policy.sizes import CLASS_FAMILIES
from sqlanon.publishing.target import writable_file
from sqlanon.release_report.figures import (
    LabelGroup,
    MethodFacts,
    ReleasedColumn,
    ValueShares,
    plain,
)
from sqlanon.release_report.gathering import Gathered
from sqlanon.reports.attacks import HEADS
from sqlanon.reports.check import ModelResult
from sqlanon.reports.document import ShownTable
from sqlanon.reports.kept import MAX_LISTED
from sqlanon.wording import FAILS, HOLDS, clipped, counted, part_of, percent

ENDINGS = (".html", ".htm")
CLASS_SIZES = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1000, None))
"""Class sizes that are told together: the least and the greatest [records]."""
MAX_SETS = 14
"""Most sets of columns that are shown."""
UNFOLDED_COLUMNS = 40
"""Most quasi-identifiers that are shown without being asked for."""
LABEL_LETTERS = 60
"""Longest label of a class that a sentence names [characters]."""


def refuse_page(path: str | Path, *, overwrite: bool = False) -> Path:
    """Refuses a file that no report can be written to.

    Raises:
        SourceError: The file has another ending, exists already or cannot be written.
    """
    return writable_file(path, "page", endings=ENDINGS, overwrite=overwrite)


@dataclass(frozen=True, slots=True)
class BarTable:
    """A table of figures with bars beside the names of its rows.

    Args:
        table: The figures.
        text: What they show.
        shares: The bars of each row, one or two, each a share in [0, 1]; empty where there are
            none. The second and the third column of the table tell what two bars are of.
        whole: The share that the longest bar stands for; the greatest one where left out.
    """

    table: ShownTable
    text: str = ""
    shares: Sequence[Sequence[float]] = ()
    whole: float | None = None

    @property
    def bars(self) -> list[list[float]]:
        """How long each bar is, by row [% of the longest one]."""
        longest = self.whole or max((max(row) for row in self.shares), default=0.0) or 1.0
        return [[100 * share / longest for share in row] for row in self.shares]


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column as a page shows it.

    Args:
        name: The column.
        lines: What is to be said of it.
        chart: Its figures.
    """

    name: str
    lines: Sequence[str]
    chart: BarTable


@dataclass(frozen=True, slots=True)
class PageViews:
    """The tables and the facts of a report's page.

    Args:
        facts: What both tables tell.
        method: How the release was made; None where no plan tells.
    """

    facts: Gathered
    method: MethodFacts | None = None

    @property
    def cards(self) -> list[tuple[str, str, str]]:
        """The most important figures: a heading, the figure, and what it is compared with."""
        facts, loss = self.facts, self.facts.loss
        before, after = facts.before, facts.after
        lost = "not measured" if loss.value is None else plain(round(loss.value, 4))
        bound = "0 keeps everything, 1 nothing" if FORMULAS[loss.name].is_share else loss.name
        return [
            ("Records released", f"{facts.records - facts.left_out:,}", f"of {facts.records:,}"),
            (
                "Smallest class",
                f"{after.statistics.smallest:,}",
                f"original {before.statistics.smallest:,}",
            ),
            (
                f"Unique {facts.unit}",
                percent(after.by_unit.unique, after.by_unit.members),
                f"original {percent(before.by_unit.unique, before.by_unit.members)}",
            ),
            (
                "Highest risk",
                percent(after.statistics.highest_risk),
                f"original {percent(before.statistics.highest_risk)}",
            ),
            (f"Loss ({loss.name})", lost, bound),
        ]

    @property
    def models(self) -> ShownTable:
        """The models of the policy, held against both tables."""
        before = {(result.model, result.column): result for result in self.facts.before.models}
        rows = []
        for counted_model, model in zip(self.facts.after.models, self.facts.models, strict=True):
            original = before.get((counted_model.model, counted_model.column))
            rows.append(
                [
                    model_text(model),
                    f"{model.threshold:,}",
                    "–" if original is None else original.figure_text(),
                    model.figure_text(),
                    HOLDS if model.holds else FAILS,
                ]
            )
        heads = ["model", "asked for", "original has", "release has", "in the release"]
        return ShownTable(rows, heads, "Privacy models of the policy")

    @property
    def roles(self) -> ShownTable:
        """The columns of the policy, their roles and what becomes of them."""
        policy, rows = self.facts.policy, []
        hierarchies = {column.name: column.hierarchy for column in self.facts.columns}
        for name, attribute in policy.attributes.items():
            low, high = attribute.min_level, attribute.max_level
            bounds = f"levels {low} to {high}" if high else ""
            if low and not bounds:
                bounds = f"level {low} and above"
            how = hierarchies.get(name, attribute.hierarchy.kind)
            how = "; ".join(filter(None, [how, bounds]))
            rows.append([name, "quasi-identifier", how, f"{attribute.weight:g}"])
        others = (
            (policy.sensitive_attributes, "sensitive", "released unchanged"),
            (policy.identifiers, "identifier", "dropped"),
            (policy.keep, "kept", "released unchanged"),
            (policy.drop, "dropped", "dropped"),
            *(
                ([name], key, f"says {why}; dropped")
                for key, why in COUNTING_COLUMNS.items()
                if (name := getattr(policy, key)) is not None and name not in policy.keep
            ),
        )
        rows += [[name, role, how, "–"] for names, role, how in others for name in names]
        heads = ["column", "role", "what happens to it", "weight"]
        return ShownTable(rows, heads, "Columns and their roles", is_text=True)

    @property
    def settings(self) -> list[tuple[str, str]]:
        """The rest of the policy, and the method."""
        policy, method = self.facts.policy, self.method
        others = {"keep": "released unchanged", "drop": "left out", None: "none left"}
        kept = f"kept, every cell as {policy.suppressed_label}"
        facts = [
            ("Suppression limit", f"{percent(policy.suppression_limit)} of the records"),
            ("Suppressed records", "left out" if policy.suppressed == "drop" else kept),
            ("Columns without a role", others[policy.others]),
        ]
        if method is None:
            return [*facts, ("Method", "not known: no plan was given")]
        facts.append(("Method", method.name))
        if method.guarantee:
            facts.append(("What the method guarantees", method.guarantee))
        return [*facts, *((title.capitalize(), text) for title, text in method.search)]

    @property
    def attacks(self) -> ShownTable | None:
        """What attacks on the release find; None where none was run."""
        attacks = self.facts.attacks
        if attacks is None:
            return None
        return ShownTable([*attacks.rows()], HEADS, "Attacks on the release that succeed")

    @property
    def sizes(self) -> BarTable:
        """Shares of records in classes of each size."""
        gathered, rows, shares = self.facts, [], []
        before, after = gathered.before, gathered.after
        members = before.by_unit.members, after.by_unit.members
        for low, high in CLASS_SIZES:
            numbers = [side.in_classes(low, high) for side in (before, after)]
            if any(numbers):
                parts = list(zip(numbers, members, strict=True))
                rows.append([_size_text(low, high), *(part_of(n, whole) for n, whole in parts)])
                shares.append([n / whole if whole else 0.0 for n, whole in parts])
        whose = "smallest class" if after.persons else "class"
        title = f"{gathered.unit.capitalize()} by the size of their {whose}"
        text = (
            f"{percent(before.by_unit.unique, members[0])} of the original's {before.unit} are "
            "alone in their class; the smallest class of the release has "
            f"{after.statistics.smallest:,}."
        )
        heads = ["class size", *gathered.heads("original", "release")]
        return BarTable(ShownTable(rows, heads, title), text, shares)

    @property
    def identifying(self) -> BarTable | None:
        """Columns and sets of columns by the records that they make unique."""
        subsets, unit = self.facts.identifying, self.facts.before.unit
        if subsets is None:
            return None
        alone = [((one.name,), one.unique, one.total) for one in subsets.columns]
        larger = (*subsets.minimal, *subsets.strongest, subsets.whole)
        sets = [(one.columns, one.unique, one.total) for one in larger]
        counts = {columns: (unique, total) for columns, unique, total in [*alone, *sets]}
        ranked = sorted(counts.items(), key=lambda one: (-one[1][0], len(one[0])))[:MAX_SETS]
        rows, shares = [], []
        for columns, (unique, total) in ranked:
            name = " + ".join(columns)
            if columns == subsets.whole.columns and len(columns) > 2:
                name = f"all {len(columns):,} together"
            rows.append([name, f"{unique:,}", percent(unique, total)])
            shares.append([unique / total if total else 0.0])
        title = f"{unit.capitalize()} of the original that columns make unique"
        text = (
            "Single columns, the smallest sets that make at least "
            f"{percent(subsets.identifying)} of the {unit} unique, and the sets of each size "
            "that make the most unique."
        )
        table = ShownTable(rows, ["columns", "unique", "share"], title)
        return BarTable(table, text, shares, whole=1.0)

    @property
    def kept(self) -> ShownTable | None:
        """Columns that are released unchanged."""
        kept = self.facts.kept
        if kept is None:
            return None
        rows = [
            [column.name, f"{column.values:,}", part_of(column.unique, kept.records)]
            for column in kept.columns[:MAX_LISTED]
        ]
        heads = ["kept column", "different values", "records unique by it alone"]
        return ShownTable(rows, heads, "Columns that are released unchanged")

    @property
    def columns(self) -> list[ColumnView]:
        """The quasi-identifiers before and after."""
        return [
            ColumnView(column.name, list(column_lines(column, self.facts)), self._labels(column))
            for column in self.facts.columns
        ]

    def _labels(self, column: ReleasedColumn) -> BarTable:
        """The labels of a column with the records of both tables; no bars where it says nothing."""
        rows = [group_row(group, self.facts) for group in column.groups]
        rest = column.unpublished
        if rest and not column.is_silent:
            cells = [part_of(rest, self.facts.records), "0 (0%)"]
            name = "values without a label of their own"
            rows.append(([name, *cells], (rest / self.facts.records, 0.0)))
        heads = ["label", "original", "release"]
        table = ShownTable([cells for cells, _ in rows], heads, f"Labels of {column.name}")
        if column.is_silent:
            return BarTable(table)
        text = f"Shares of records by published label of {column.name}, original beside release."
        return BarTable(table, text, [shares for _, shares in rows])

    @property
    def sensitive(self) -> list[ColumnView]:
        """The sensitive columns, beside the class that is furthest from the table."""
        return [_shares_view(shares) for shares in self.facts.sensitive]

    @property
    def losses(self) -> ShownTable:
        """Every measure that is known."""
        measures = {
            name.replace("_", "-"): value for name, value in self.facts.loss.measures.items()
        }
        rows = [
            [name, _measured(value), FORMULAS[name].meaning] for name, value in measures.items()
        ]
        return ShownTable(rows, ["measure", "release", "meaning"], "Information loss by measure")

    @property
    def use(self) -> list[ShownTable]:
        """Errors of the tables, means and quantiles that are counted by the release."""
        return [] if self.facts.loss.use is None else list(self.facts.loss.use.shown_tables())

    @property
    def loss_by_column(self) -> BarTable | None:
        """What each column loses."""
        if not self.facts.columns:
            return None
        ranked = sorted(self.facts.columns, key=lambda column: -column.loss["lm"])
        rows = [
            [
                column.name,
                plain(round(column.loss["lm"], 6)),
                percent(column.loss["suppressed_cells"]),
                plain(column.loss["monotone_entropy"], digits=3),
            ]
            for column in ranked
        ]
        heads = ["column", "lm", "cells suppressed or left out", "bits lost per cell"]
        text = (
            "lm of each column: 0 where every cell keeps its value, 1 where every cell could be "
            "any value. Records left out count as 1."
        )
        table = ShownTable(rows, heads, "Information loss by column")
        return BarTable(table, text, [[column.loss["lm"]] for column in ranked], whole=1.0)

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """Records that are not released."""
        gathered, limit = self.facts, self.facts.policy.suppression_limit
        missing = gathered.records - gathered.released
        bare = max(gathered.left_out - missing, 0)
        allowed = gathered.policy.allowance(gathered.records)
        return [
            ("Records of the original", f"{gathered.records:,}"),
            ("Not in the release", part_of(missing, gathered.records)),
            ("In the release without any quasi-identifier", part_of(bare, gathered.records)),
            ("Allowed by the policy", f"{allowed:,} ({percent(limit)})"),
        ]


def column_lines(column: ReleasedColumn, gathered: Gathered) -> Iterator[str]:
    """What is to be said of a quasi-identifier, a sentence each."""
    yield f"Hierarchy: {column.hierarchy}."
    if not column.levels:
        yield f"Values are merged into {counted(column.labels, 'group')}."
    elif len(column.levels) == 1:
        use = column.levels[0]
        yield f"Level used: {use.level} of {column.height} ({use.name})."
    else:
        shares = "; ".join(
            f"level {use.level} ({use.name}) {percent(use.records, gathered.released)}"
            for use in column.levels
        )
        yield f"Levels used, by share of the released records: {shares}."
    if column.is_silent:
        yield "Every released cell is fully suppressed, so the release says nothing of this column."
        return
    silent = percent(column.silent, gathered.released) if column.silent else "none"
    yield (
        f"{counted(column.labels, 'label')} published; {silent} of the released cells are fully "
        "suppressed."
    )
    lm = plain(column.loss["lm"], digits=3)
    left = (gathered.records - gathered.released) / gathered.records
    also = f", of which {plain(left, digits=3)} for records that are left out" if left else ""
    yield f"Loss (lm) {lm}{also}."


def group_row(group: LabelGroup, gathered: Gathered) -> tuple[list[str], tuple[float, float]]:
    """The cells of a label, and its shares in both tables; that of the original 0 where hidden."""
    name, share = _label(group.label, group.groups), group.after / gathered.released
    released = part_of(group.after, gathered.released)
    if group.is_top:
        return [f"{name} (fully suppressed)", "–", released], (0.0, share)
    if group.before is None:
        return [name, "difference not shown", released], (0.0, share)
    original = part_of(group.before, gathered.records)
    return [name, original, released], (group.before / gathered.records, share)


def _shares_view(shares: ValueShares) -> ColumnView:
    size, records = max(shares.class_size, 1), max(shares.records, 1)
    rows = [
        [
            _label(row.label, row.values),
            part_of(row.furthest, shares.class_size),
            part_of(row.records, shares.records),
        ]
        for row in shares.rows
    ]
    what = "values, in ranges" if shares.is_ranged else "value"
    heads = [what, "furthest class", "whole release"]
    labels = ", ".join(
        f"{name} {clipped(_label(label), LABEL_LETTERS)}"
        for name, label in shares.class_labels.items()
    )
    lines = [
        f"{counted(shares.values, 'different value')} in {counted(shares.records, 'record')}.",
        f"The class that is furthest from the table has {counted(shares.class_size, 'record')}; "
        f"to look like the whole table, {shares.apart_text()}.",
        *([f"It is the class of {labels}."] if labels else []),
    ]
    text = (
        f"Shares of the values of {shares.name} in the class that is furthest from the released "
        "table, beside the whole table."
    )
    table = ShownTable(rows, heads, f"Values of {shares.name}")
    bars = [(row.furthest / size, row.records / records) for row in shares.rows]
    return ColumnView(shares.name, lines, BarTable(table, text, bars))


def model_text(model: ModelResult) -> str:
    """A model and what it is about, with what it means.

    >>> model_text(ModelResult("k-anonymity", 5, 5, holds=True))
    'k-anonymity by all quasi-identifiers: every class has at least k members'
    """
    said, about = figure_of(model.model), f" of {model.column}"
    if model.column is None:
        is_of_table = any(said in family.reported for family in CLASS_FAMILIES.values())
        about = "" if is_of_table else " by all quasi-identifiers"
    return f"{model.model}{about}: {said.meaning}"


def _label(label: str | None, several: int = 1) -> str:
    """A label for a reader; several that are shown as one by their number.

    >>> _label(None), _label(""), _label("", 3), _label("a")
    ('NULL (no value)', '(empty text)', '3 others', 'a')
    """
    if several > 1:
        return f"{several:,} others"
    if label is None:
        return "NULL (no value)"
    return label or "(empty text)"


def _size_text(low: int, high: int | None) -> str:
    """Class sizes for a reader.

    >>> _size_text(1, 1), _size_text(2, 4), _size_text(1000, None)
    ('1 (unique)', '2 to 4', '1,000 or more')
    """
    if high == 1:
        return "1 (unique)"
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"


def _measured(value: float) -> str:
    """A measure for a reader, large ones without places."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else plain(value)
