"""Views: the tables and figures of a release report's page, in words and rounded numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sqlanon.release_report.charts import BarRow, Pictures
from sqlanon.release_report.column_views import ShownColumn, shown_columns, shown_shares
from sqlanon.release_report.figures import OF_RECORDS
from sqlanon.release_report.reported import ReportedRelease
from sqlanon.release_report.shown import Picture
from sqlanon.release_report.units import heads_of, unit_of
from sqlanon.release_report.wordings import MEASURES, least_text, model_text, plain
from sqlanon.reports.kept import LISTED
from sqlanon.reports.shown import ShownTable
from sqlanon.wording import clipped, counted, part_of, percent

SIZES = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1000, None))
"""Class sizes that are told together: the least and the greatest [records]."""
SETS = 14
"""Most sets of columns that are shown."""
UNFOLDED = 40
"""Most quasi-identifiers that are shown without being asked for."""


@dataclass
class PageViews:
    """What the page of a report shows.

    Args:
        report: The report.
        pictures: What draws.
    """

    report: ReportedRelease
    pictures: Pictures

    @property
    def unit(self) -> str:
        """What is counted in the original."""
        return self.report.found.before.unit

    @property
    def unfolded(self) -> int:
        """Most quasi-identifiers that are not folded."""
        return UNFOLDED

    @property
    def cards(self) -> list[tuple[str, str, str]]:
        """The most important figures: a heading, the figure, and what it is compared with."""
        report, found = self.report, self.report.found
        before, after = found.before, found.after
        kept = found.records - report.left_out
        loss = found.loss
        lost = "not measured" if loss.value is None else plain(round(loss.value, 4))
        bound = "0 keeps everything, 1 nothing" if loss.name in ("lm", "tree", "hdm") else loss.name
        return [
            ("Records released", f"{kept:,}", f"of {found.records:,}"),
            (
                "Smallest class",
                f"{after.statistics.smallest:,}",
                f"original {before.statistics.smallest:,}",
            ),
            (
                f"Unique {unit_of(found)}",
                percent(after.unique, after.members),
                f"original {percent(before.unique, before.members)}",
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
        before = {(each.model, each.column): each for each in self.report.found.before.models}
        rows = []
        for each in self.report.models:
            original = before.get((each.model.removesuffix(OF_RECORDS), each.column))
            rows.append(
                [
                    model_text(each.model),
                    each.column or "all quasi-identifiers",
                    f"{each.threshold:,}",
                    "–" if original is None else original.found(),
                    each.found(),
                    "holds" if each.holds else "does NOT hold",
                ]
            )
        heads = ["model", "about", "asked for", "original has", "release has", "in the release"]
        return ShownTable(rows, heads, "Privacy models of the policy")

    @property
    def roles(self) -> ShownTable:
        """The columns of the policy, their roles and what becomes of them."""
        policy, rows = self.report.found.policy, []
        shown = {each.name: each.hierarchy for each in self.report.found.columns}
        for name, each in policy.attributes.items():
            bounds = f"levels {each.min_level} to {each.max_level}" if each.max_level else ""
            if each.min_level and not bounds:
                bounds = f"level {each.min_level} and above"
            how = "; ".join(filter(None, [shown.get(name, each.hierarchy.kind), bounds]))
            rows.append([name, "quasi-identifier", how, f"{each.weight:g}"])
        for name in policy.sensitive_attributes:
            rows.append([name, "sensitive", "released unchanged", "–"])
        for name in policy.identifiers:
            rows.append([name, "identifier", "dropped", "–"])
        for name in policy.keep:
            rows.append([name, "kept", "released unchanged", "–"])
        for name in policy.drop:
            rows.append([name, "dropped", "dropped", "–"])
        if policy.entity is not None:
            rows.append([policy.entity, "entity", "says whose record it is; dropped", "–"])
        heads = ["column", "role", "what happens to it", "weight"]
        return ShownTable(rows, heads, "Columns and their roles", is_text=True)

    @property
    def settings(self) -> list[tuple[str, str]]:
        """The rest of the policy, and the method."""
        policy, method = self.report.found.policy, self.report.method
        others = {"keep": "released unchanged", "drop": "left out", None: "none left"}
        label = policy.suppressed_label
        facts = [
            ("Suppression limit", f"{percent(policy.suppression_limit)} of the records"),
            (
                "Suppressed records",
                "left out" if policy.suppressed == "drop" else f"kept, every cell as {label}",
            ),
            ("Columns without a role", others[policy.others]),
        ]
        if method is None:
            return [*facts, ("Method", "not known: no plan was given")]
        facts.append(("Method", method.name))
        if method.guarantee:
            facts.append(("What the method guarantees", method.guarantee))
        return [*facts, *((title.capitalize(), text) for title, text in method.search)]

    @property
    def risks(self) -> ShownTable:
        """Classes and risks of both tables."""
        found = self.report.found
        sides = (found.before, found.after)
        rows = [[name, *map(of, sides)] for name, of in _STATISTICS]
        rows += [
            [f"unique {unit_of(found)}", *(part_of(s.unique, s.members) for s in sides)],
            ["prosecutor risk, highest", *(percent(s.statistics.highest_risk) for s in sides)],
            ["prosecutor risk, mean", *(percent(s.mean_risk) for s in sides)],
            [
                f"{unit_of(found)} above {percent(found.options.threshold)} risk",
                *(part_of(s.at_risk(found.options.threshold), s.members) for s in sides),
            ],
            *self._of_others(),
        ]
        heads = ["", *heads_of(found, ["original", "release"])]
        return ShownTable(rows, heads, "Classes and risk before and after")

    def _of_others(self) -> Iterator[list[str]]:
        """Journalist and marketer risk: of a population, or what they are at most."""
        found, against = self.report.found, self.report.found.population
        before, after = found.before, found.after
        if against is None:
            highest = [f"at most {percent(s.statistics.highest_risk)}" for s in (before, after)]
            yield ["journalist risk, highest", *highest]
            yield [
                "marketer risk",
                *(f"at most {percent(s.marketer_risk)}" for s in (before, after)),
            ]
            return
        own = f"at most {percent(before.statistics.highest_risk)}"
        yield ["journalist risk, highest", own, percent(against.journalist_max)]
        mean = f"at most {percent(before.mean_risk)}"
        yield ["journalist risk, mean", mean, percent(against.journalist_mean)]
        yield ["marketer risk", mean, percent(against.journalist_mean)]

    @cached_property
    def sizes(self) -> Picture:
        """Shares of records in classes of each size."""
        found, rows, cells = self.report.found, [], []
        for low, high in SIZES:
            held = [side.in_classes(low, high) for side in (found.before, found.after)]
            if any(held):
                name = _size_text(low, high)
                members = (found.before.members, found.after.members)
                shares = [n / all_ if all_ else 0.0 for n, all_ in zip(held, members, strict=True)]
                rows.append(BarRow(name, tuple(shares)))
                texts = [part_of(n, all_) for n, all_ in zip(held, members, strict=True)]
                cells.append([name, *texts])
        whose = "smallest class" if found.after.persons else "class"
        title = f"{unit_of(found).capitalize()} by the size of their {whose}"
        alone = percent(found.before.unique, found.before.members)
        told = (
            f"{alone} of the original's {self.unit} are alone in their class; the smallest class "
            f"of the release has {found.after.statistics.smallest:,}."
        )
        heads = ["class size", *heads_of(found, ["original", "release"])]
        table = ShownTable(cells, heads, title)
        return Picture(self.pictures.bars(rows), title, told, table, is_pair=True)

    @cached_property
    def identifying(self) -> Picture | None:
        """Columns and sets of columns by the records that they make unique."""
        subsets = self.report.found.identifying
        if subsets is None:
            return None
        alone = [((one.name,), one.unique, one.total) for one in subsets.columns]
        larger = (*subsets.minimal, *subsets.strongest, subsets.whole)
        sets = [(one.columns, one.unique, one.total) for one in larger]
        found = {columns: (unique, total) for columns, unique, total in [*alone, *sets]}
        ranked = sorted(found.items(), key=lambda each: (-each[1][0], len(each[0])))[:SETS]
        rows, cells = [], []
        for columns, (unique, total) in ranked:
            name = " + ".join(columns)
            if columns == subsets.whole.columns and len(columns) > 2:
                name = f"all {len(columns):,} together"
            rows.append(BarRow(name, (unique / total if total else 0.0,)))
            cells.append([name, f"{unique:,}", percent(unique, total)])
        title = f"{self.unit.capitalize()} of the original that columns make unique"
        told = (
            "Single columns, the smallest sets that make at least "
            f"{percent(subsets.identifying)} of the {self.unit} unique, and the sets of each size "
            "that make the most unique."
        )
        table = ShownTable(cells, ["columns", "unique", "share"], title)
        return Picture(self.pictures.bars(rows, whole=1.0, labels=186, lines=3), title, told, table)

    @property
    def kept(self) -> ShownTable | None:
        """Columns that are released unchanged."""
        kept = self.report.found.kept
        if kept is None:
            return None
        rows = [
            [one.name, f"{one.values:,}", part_of(one.unique, kept.records)]
            for one in kept.columns[:LISTED]
        ]
        heads = ["kept column", "different values", "records unique by it alone"]
        return ShownTable(rows, heads, "Columns that are released unchanged")

    @cached_property
    def columns(self) -> list[ShownColumn]:
        """The quasi-identifiers before and after."""
        return list(shown_columns(self.report.found, self.pictures))

    @cached_property
    def sensitive(self) -> list[ShownColumn]:
        """The sensitive columns, beside the class that is furthest from the table."""
        return [shown_shares(each, self.pictures) for each in self.report.found.sensitive]

    @property
    def losses(self) -> ShownTable:
        """Every measure that is known."""
        measures = self.report.found.loss.measures
        rows = [
            [name.replace("_", "-"), _measured(value), MEASURES.get(name, "")]
            for name, value in measures.items()
        ]
        return ShownTable(rows, ["measure", "release", "meaning"], "Information loss by measure")

    @property
    def bound(self) -> str:
        """What is known of every other recoding."""
        loss = self.report.found.loss
        bound = least_text(loss)
        if loss.value is None or not bound or loss.is_void or loss.is_useless:
            return bound
        told = f"this release loses {plain(loss.value)}"
        if loss.is_reached:
            told = "this release loses exactly that, the least possible"
        elif loss.ratio is not None:
            told = f"{told}, which is {plain(loss.ratio, digits=3)} times as much"
        return f"{bound[0].upper()}{bound[1:]}; {told}."

    @cached_property
    def loss_by_column(self) -> Picture | None:
        """What each column loses."""
        columns = self.report.found.columns
        if not columns:
            return None
        ranked = sorted(columns, key=lambda each: -each.loss["lm"])
        rows = [BarRow(clipped(each.name, 40), (each.loss["lm"],)) for each in ranked[:30]]
        cells = [
            [
                each.name,
                plain(round(each.loss["lm"], 6)),
                percent(each.loss["suppressed_cells"]),
                plain(each.loss["monotone_entropy"], digits=3),
            ]
            for each in ranked
        ]
        heads = ["column", "lm", "cells suppressed or left out", "bits lost per cell"]
        title = "Information loss by column"
        told = (
            "lm of each column: 0 where every cell keeps its value, 1 where every cell could be "
            "any value. Records left out count as 1."
        )
        picture = self.pictures.bars(rows, whole=1.0)
        return Picture(picture, title, told, ShownTable(cells, heads, title))

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """Records that are not released."""
        report, found = self.report, self.report.found
        missing = found.records - found.released
        allowed = found.policy.allowance(found.records)
        return [
            ("Records of the original", f"{found.records:,}"),
            ("Not in the release", part_of(missing, found.records)),
            (
                "In the release without any quasi-identifier",
                part_of(max(report.left_out - missing, 0), found.records),
            ),
            ("Allowed by the policy", f"{allowed:,} ({percent(found.policy.suppression_limit)})"),
        ]

    @property
    def hashes(self) -> list[tuple[str, str]]:
        """SHA-256 of what the report is about."""
        names = {"released": "released table", "policy": "policy", "plan": "plan"}
        found = self.report.hashes().items()
        return [(names[name], text) for name, text in found if text is not None]

    @property
    def source(self) -> str:
        """The file of the original, without its folder."""
        name = self.report.provenance.source
        return "" if name is None else name.replace("\\", "/").rsplit("/", 1)[-1]

    def count(self, number: int, one: str) -> str:
        """A number of things."""
        return counted(number, one)


_STATISTICS = (
    ("records", lambda side: f"{side.statistics.records:,}"),
    ("classes", lambda side: f"{side.statistics.classes:,}"),
    ("smallest class", lambda side: f"{side.statistics.smallest:,}"),
    ("median class", lambda side: _short(side.statistics.median)),
    ("mean class", lambda side: _short(side.statistics.mean)),
    ("largest class", lambda side: f"{side.statistics.largest:,}"),
)


def _short(size: float) -> str:
    """A class size to one place, a whole one without.

    >>> _short(1.0), _short(1.25)
    ('1', '1.2')
    """
    return f"{size:,.1f}".removesuffix(".0")


def _measured(value: float) -> str:
    """A measure for a reader, large ones without places."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else plain(value)


def _size_text(low: int, high: int | None) -> str:
    """Class sizes for a reader.

    >>> _size_text(1, 1), _size_text(2, 4), _size_text(1000, None)
    ('1 (unique)', '2 to 4', '1,000 or more')
    """
    if high == 1:
        return "1 (unique)"
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"
