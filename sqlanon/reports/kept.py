"""Kept columns in figures: which may tell people apart though nothing protects them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlanon.reports.findings import RULES, Finding
from sqlanon.wording import counted, in_columns, listed, part_of

MAX_NAMED = 5  # columns or pairs that a note names
MAX_LISTED = 10  # columns of a table for a reader
NOT_COUNTED = "kept columns were not counted for lack of time; apply counts them in any case"
"""Note of a plan that had no time left for it."""


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """A column that is published as it is.

    Args:
        name: The column.
        values: Distinct values, NULL among them.
        unique: Records with a value that no other has.
        unique_with_quasi_identifiers: Records that are alone once the quasi-identifiers are known,
            too; None where that was not counted.
        joined: Records whose value stands in other records of the same person, and in nobody
            else's; None where no column says whose records they are.
        one_to_one: Whether each person has one value, and each value one person.
    """

    name: str
    values: int
    unique: int
    unique_with_quasi_identifiers: int | None = None
    joined: int | None = None
    one_to_one: bool = False


@dataclass(frozen=True, slots=True)
class KeptPair:
    """Two kept columns.

    Args:
        columns: The columns.
        unique: Records that are alone with their values.
    """

    columns: tuple[str, str]
    unique: int


@dataclass(frozen=True, slots=True)
class KeptColumns:
    """The columns of a table that are published as they are, and whom they single out.

    Args:
        records: Records of the table.
        k: Records that a class must have; 1 where nothing is asked.
        columns: The columns.
        unique_by_quasi_identifiers: Records that the quasi-identifiers alone single out.
        unique_together: Records that quasi-identifiers and all these columns single out.
        pairs: The pairs that were counted, those that single most out first.
        possible_pairs: How many pairs there are of columns that are neither constant nor single
            every record out by themselves.
        entity: The column that says whose records they are, where it is known.
        joinable: Records of persons who have several.
        weight: The column of survey weights, where it is one of them.
    """

    records: int
    k: int
    columns: tuple[KeptColumn, ...]
    unique_by_quasi_identifiers: int
    unique_together: int
    pairs: tuple[KeptPair, ...]
    possible_pairs: int
    entity: str | None = None
    joinable: int = 0
    weight: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The key `kept_columns` of the JSON documents."""
        return {
            "records": self.records,
            "k": self.k,
            "unique_by_quasi_identifiers": self.unique_by_quasi_identifiers,
            "unique_together": self.unique_together,
            "columns": [
                {**asdict(one), "unique_share": one.unique / self.records} for one in self.columns
            ],
            "pairs": [
                {
                    "columns": list(one.columns),
                    "unique": one.unique,
                    "unique_share": one.unique / self.records,
                }
                for one in self.pairs
            ],
            "possible_pairs": self.possible_pairs,
            "entity": self.entity,
            "joinable": self.joinable,
            "weight": self.weight,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> KeptColumns:
        """Reads back what `to_dict` wrote."""
        columns, pairs = (
            [{name: value for name, value in one.items() if name != "unique_share"} for one in rows]
            for rows in (document["columns"], document["pairs"])
        )
        given = {
            **document,
            "columns": tuple(KeptColumn(**one) for one in columns),
            "pairs": tuple(KeptPair(tuple(one["columns"]), one["unique"]) for one in pairs),
        }
        return cls(**given)

    @property
    def identifying(self) -> list[KeptColumn]:
        """Columns that single records out, or have more values than classes of k records have."""
        columns = [
            one
            for one in self.columns
            if one.name != self.weight and (one.unique or one.values * self.k > self.records)
        ]
        return sorted(columns, key=lambda one: (-one.unique, -one.values))

    @property
    def beside_quasi_identifiers(self) -> list[tuple[str, int]]:
        """Columns that single more records out beside quasi-identifiers, and how many more."""
        columns = [
            (one.name, one.unique_with_quasi_identifiers - self.unique_by_quasi_identifiers)
            for one in self.columns
            if one.unique_with_quasi_identifiers is not None
            and one.unique_with_quasi_identifiers > one.unique
        ]
        return sorted((entry for entry in columns if entry[1]), key=lambda entry: -entry[1])

    @property
    def telling_pairs(self) -> list[KeptPair]:
        """Pairs that single out more records than either column does."""
        alone = {one.name: one.unique for one in self.columns}
        return [
            pair for pair in self.pairs if pair.unique > max(alone[name] for name in pair.columns)
        ]

    @property
    def joining(self) -> list[KeptColumn]:
        """Columns that join most of what the entity joins."""
        return [one for one in self.columns if one.joined and 2 * one.joined >= self.joinable]

    def findings(self) -> list[Finding]:
        """Whom they single out, as findings about a release."""
        return [*self._weighing(), *self._identifying(), *self._joining(), *self._together()]

    def notes(self) -> list[str]:
        """What a reader should know."""
        return [finding.note for finding in self.findings()]

    def to_lines(self) -> list[str]:
        """A table for a reader."""
        rows = [("", "values", "records unique by it alone")]
        for one in self.columns[:MAX_LISTED]:
            rows.append((one.name, f"{one.values:,}", part_of(one.unique, self.records)))
        lines = [
            "not counted: kept columns, which are published as they are",
            *in_columns(rows, "<>>"),
        ]
        if len(self.columns) > MAX_LISTED:
            lines.append(f"  and {len(self.columns) - MAX_LISTED:,} more, which --json lists")
        return lines

    def _weighing(self) -> Iterable[Finding]:
        for one in self.columns:
            if one.name == self.weight:
                hold = "has" if one.unique == 1 else "have"
                yield RULES["kept-weight"].finding(
                    f"survey weight {one.name!r} is published: it has "
                    f"{counted(one.values, 'distinct value')}, and "
                    f"{part_of(one.unique, self.records)} of the records {hold} one that no other "
                    "record has",
                    column=one.name,
                )

    def _identifying(self) -> Iterable[Finding]:
        columns, rule = self.identifying, RULES["kept-identifies"]
        for one in columns[:MAX_NAMED]:
            many = one.values * self.k > self.records
            more = f", more than one for every {self.k} records" if many and self.k > 1 else ""
            hold = "has" if one.unique == 1 else "have"
            yield rule.finding(
                f"kept column {one.name!r} has {counted(one.values, 'distinct value')}{more}, and "
                f"{part_of(one.unique, self.records)} of the records {hold} a value that no other "
                "record has: it may identify people",
                column=one.name,
            )
        if columns[MAX_NAMED:]:
            yield rule.finding(
                f"{counted(len(columns) - MAX_NAMED, 'more kept column')} may identify people by "
                "themselves",
                remedy="--json lists them (kept_columns)",
            )

    def _joining(self) -> Iterable[Finding]:
        for one in self.joining[:MAX_NAMED]:
            how = "is one-to-one with" if one.one_to_one else "joins the same records as"
            share = "shares" if one.joined == 1 else "share"
            yield RULES["kept-joins"].finding(
                f"kept column {one.name!r} {how} the entity {self.entity!r}: "
                f"{part_of(one.joined or 0, self.records)} of the records {share} its value with "
                "others of the same person and with nobody else's, and all records of a person "
                "together single the person out",
                column=one.name,
            )

    def _together(self) -> Iterable[Finding]:
        beside, rule = self.beside_quasi_identifiers, RULES["kept-beside"]
        if beside:
            shown = [f"{name!r} {part_of(more, self.records)}" for name, more in beside[:MAX_NAMED]]
            more = [counted(len(beside) - MAX_NAMED, "more column")] if beside[MAX_NAMED:] else []
            yield rule.finding(
                "kept columns single out more records for whoever knows the quasi-identifiers, "
                f"too: {listed([*shown, *more])}"
            )
        elif self.unique_together > max(
            self.unique_by_quasi_identifiers, *(one.unique for one in self.columns)
        ):
            yield rule.finding(
                "all kept columns and quasi-identifiers together single out "
                f"{part_of(self.unique_together, self.records)} of the records"
            )
        pairs = self.telling_pairs
        if pairs:
            shown = [
                f"{listed([repr(name) for name in pair.columns])} "
                f"{part_of(pair.unique, self.records)}"
                for pair in pairs[:MAX_NAMED]
            ]
            left = self.possible_pairs - len(self.pairs)
            rest = f" ({left:,} of {self.possible_pairs:,} pairs were not counted)" if left else ""
            yield rule.finding(
                "pairs of kept columns single out records that neither column does alone: "
                f"{'; '.join(shown)}{rest}"
            )
