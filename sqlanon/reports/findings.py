"""Findings: what of a release endangers people or its use, each a case of one rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlanon.reports.document import Provenance, SelfShown, ShownTable, page
from sqlanon.wording import counted

Severity = Literal["error", "warning", "info"]
SEVERITIES: Mapping[Severity, str] = {
    "error": "must be solved",
    "warning": "caution",
    "info": "to know",
}
"""How grave a finding is, the gravest first, and how a page says so."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a reader of a release should know or do.

    Args:
        id: The rule that it is a case of.
        severity: `error` where the release breaks its policy or certainly leaks, `warning` where
            people may be at risk all the same, `info` for what a reader should know.
        title: What it is, in a few words.
        message: What was found: names and counts, no value.
        remedy: What to do about it; empty where nothing is to be done.
        column: The column that it is about; None for several, or the whole release.
    """

    id: str
    severity: Severity
    title: str
    message: str
    remedy: str = ""
    column: str | None = None

    @property
    def tag(self) -> str:
        """The severity in a word or two."""
        return SEVERITIES[self.severity]

    @property
    def note(self) -> str:
        """The finding on one line, as reports have it among their notes."""
        return f"{self.message}; {self.remedy}" if self.remedy else self.message

    def to_dict(self) -> dict[str, Any]:
        """An entry of `findings` in the JSON documents."""
        return {
            "id": self.id,
            "severity": self.severity,
            "column": self.column,
            "title": self.title,
            "message": self.message,
            "remedy": self.remedy or None,
        }


@dataclass(frozen=True, slots=True)
class LintRule:
    """What is asked of a release.

    Args:
        id: What its findings are known by.
        severity: How grave they are.
        title: What is wrong, in a few words.
        asked: What is looked for, as a part of a table.
        explanation: Why it matters.
        remedy: What to do, as the end of a note.
    """

    id: str
    severity: Severity
    title: str
    asked: str
    explanation: str
    remedy: str

    def finding(self, message: str, *, column: str | None = None, remedy: str = "") -> Finding:
        """A finding of this rule, with a remedy of its own where one is given."""
        return Finding(self.id, self.severity, self.title, message, remedy or self.remedy, column)


_LEAVE_OUT = "make it a quasi-identifier (--qi) or leave it out (--drop)"
_SAFE_HARBOR = "45 CFR 164.514(b)(2)"
_RULES = (
    LintRule(
        "extra-columns",
        "error",
        "Columns are released that the policy leaves out",
        "columns that the policy drops",
        "What names a person, or whose record it is, undoes all that was done to other columns.",
        "drop these columns, or give them another role in the policy",
    ),
    LintRule(
        "unassigned-columns",
        "warning",
        "Columns have no role in the policy",
        "columns that the policy gives no role",
        "No model covers them, and nobody has said that they may be published.",
        "give them a role in the policy, or drop them",
    ),
    LintRule(
        "index-column",
        "warning",
        "A column numbers the records",
        "an index of a data frame, a file name, or whole numbers that count the records",
        "It names single records, often in the order of the original.",
        "leave it out (--drop)",
    ),
    LintRule(
        "kept-identifies",
        "warning",
        "A kept column may identify people",
        "kept columns with unique values, or more of them than classes of k records have",
        "Whoever knows the value finds the record; no model covers kept columns.",
        _LEAVE_OUT,
    ),
    LintRule(
        "kept-joins",
        "warning",
        "A kept column joins the records of a person",
        "kept columns that join records as the entity does",
        "All records of a person together are easier to recognize than one.",
        "leave it out (--drop)",
    ),
    LintRule(
        "kept-weight",
        "warning",
        "A survey weight is released",
        "the survey weight among kept columns",
        "Weights follow from where and how people were drawn: who knows the design learns of which "
        "stratum a record is, and a rare weight singles it out.",
        "leave it out (--drop), or round it and publish few different weights",
    ),
    LintRule(
        "kept-beside",
        "warning",
        "Kept columns tell people apart beside the quasi-identifiers",
        "records that kept columns single out together, or beside the quasi-identifiers",
        "Whoever knows them as well as the quasi-identifiers finds more records.",
        "make them quasi-identifiers (--qi) if others may know them, or leave them out (--drop)",
    ),
    LintRule(
        "sensitive-identifies",
        "warning",
        "Exact values of a sensitive column single records out",
        "sensitive columns of which a tenth of the records, or more, have a value of their own",
        "They are released unchanged: whoever knows one from elsewhere finds the record in any "
        "class.",
        "round the values before the table is anonymized, unless nobody else can know them",
    ),
    LintRule(
        "null-pattern",
        "warning",
        "NULL sets suppressed records apart",
        "records with NULL in every quasi-identifier, more of them than in the original",
        "Suppressed records are those of unusual people, and here they are a class of their own.",
        "leave them out, or publish them with one label where they satisfy the models as a class",
    ),
    LintRule(
        "spellings",
        "warning",
        "Values stand there in several spellings",
        "values that differ in case, blanks, Unicode form, or in the last digits alone",
        "They are one value for people and several for every count.",
        "make them one in the table before it is anonymized",
    ),
    LintRule(
        "data-extremes",
        "warning",
        "Labels show the least and the greatest value",
        "ranges that begin at the least and end at the greatest number of the original "
        "(with --against)",
        "Such a label is made from the records: it tells the exact value of the outermost two.",
        "give the column a hierarchy with borders of its own, such as intervals:5,10",
    ),
    LintRule(
        "row-order",
        "error",
        "The rows stand in the order of the original",
        "a rank correlation of 0.9 or more between the places of rows here and in the original, "
        "where no column explains it (with --against)",
        "Whoever knows the order of the original, such as by date or name, finds each record.",
        "sort the rows by what is published before they are written",
    ),
    LintRule(
        "unused-labels",
        "warning",
        "A type or a dictionary holds values that no row has",
        "labels of ENUM types, and values of dictionaries in Parquet and Arrow files",
        "They are values of records that were suppressed or generalized.",
        "write the column as text",
    ),
    LintRule(
        "file-statistics",
        "error",
        "Statistics of the file go beyond its rows",
        "least and greatest values in a Parquet file that no row has",
        "They are values of records that are not published.",
        "write the file anew from its rows",
    ),
    LintRule(
        "file-metadata",
        "info",
        "The file holds metadata",
        "keys and values beside the rows of a Parquet or Arrow file",
        "Programs note there how a table was made: its index, its source, its user.",
        "read the metadata, or write the file without",
    ),
    LintRule(
        "original-beside",
        "info",
        "The database holds the original, too",
        "the original, in the DuckDB file of the release (when a table is published, and with "
        "--against)",
        "That may be on purpose, but then the file tells all that the release hides.",
        "hand out the table alone (--output FILE), never the database file",
    ),
    LintRule(
        "catalogue",
        "warning",
        "The database holds more than the table",
        "other tables, views, macros, sequences, defaults, checks, comments of a DuckDB file",
        "They may quote values of the original, and go wherever the file goes.",
        "publish to a file of its own (--output FILE.duckdb), or drop what is not to be handed out",
    ),
    LintRule(
        "free-blocks",
        "warning",
        "The database has free blocks",
        "blocks of a DuckDB file that no table uses any more",
        "DuckDB never clears them: they hold the rows of tables that were replaced or dropped.",
        "copy the database into a fresh file (sqlanon rewrite)",
    ),
    LintRule(
        "original-bytes",
        "error",
        "The file holds values of the original",
        "texts of the original in the bytes of the file that are in no published cell (with "
        "--against)",
        "Whoever has the file can read them, whatever the table shows.",
        "publish to a file of its own (--output), or copy the database into a fresh one (sqlanon "
        "rewrite)",
    ),
    LintRule(
        "safe-harbor-identifier",
        "error",
        "Safe Harbor: a column holds identifiers",
        "columns named like, or with texts that look like, names, numbers, addresses and codes of "
        f"{_SAFE_HARBOR}(i)(A), (D) to (R) (with --profile hipaa-safe-harbor)",
        "Safe Harbor removes these of the person, relatives, employers and household members.",
        "leave it out (--identifier or --drop)",
    ),
    LintRule(
        "safe-harbor-place",
        "error",
        "Safe Harbor: a column holds places smaller than a state",
        f"places and ZIP codes of {_SAFE_HARBOR}(i)(B): all digits beyond the third, and those "
        "three of an area of 20,000 people or fewer (with --profile hipaa-safe-harbor)",
        "Safe Harbor allows states, and three digits of a ZIP code where enough people live.",
        "leave it out (--drop), or publish three digits, and 000 for small areas, as sqlanon init "
        "--profile hipaa-safe-harbor drafts it",
    ),
    LintRule(
        "safe-harbor-date",
        "error",
        "Safe Harbor: a column holds dates or ages above 89",
        f"dates finer than a year, and ages above 89 or years of birth that tell them, of "
        f"{_SAFE_HARBOR}(i)(C) (with --profile hipaa-safe-harbor)",
        "Safe Harbor allows years, and one category of all who are 90 or older.",
        "publish years (dates:year), and one label of all from 90 on (intervals:1,5;high=90)",
    ),
    LintRule(
        "safe-harbor-text",
        "warning",
        "Safe Harbor: free text may name people",
        "columns named like free text, or with texts of four words or more (with --profile "
        "hipaa-safe-harbor)",
        "Names, dates and places in sentences count like those in columns, and no program finds "
        "all of them.",
        "leave it out (--drop), or have a person read it",
    ),
    LintRule(
        "safe-harbor-unjudged",
        "info",
        "Safe Harbor: what no program can judge",
        "always, with --profile hipaa-safe-harbor",
        "The rule also asks what the holder of the data knows.",
        "have whoever answers for the release decide on it",
    ),
)
RULES: Mapping[str, LintRule] = {rule.id: rule for rule in _RULES}
"""What `lint` asks of a release, by id."""


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, the gravest first."""
    return tuple(sorted(findings, key=lambda finding: [*SEVERITIES].index(finding.severity)))


def finding_page(lines: Iterable[str], notes: Iterable[str], findings: Sequence[Finding]) -> str:
    """A page for a reader: its lines, errors and warnings, and the notes that these do not say."""
    said = {finding.note for finding in findings}
    grave = [
        f"{finding.severity}: {finding.note}" for finding in findings if finding.severity != "info"
    ]
    return page([*lines, *grave], [note for note in notes if note not in said])


@dataclass(frozen=True, slots=True, repr=False)
class LintReport(SelfShown):
    """What is found about a release.

    Args:
        findings: The findings, the gravest first.
        records: Its records.
        notes: What a reader should know besides.
        seconds: How long it took.
        provenance: What it was made of and when.
    """

    findings: tuple[Finding, ...]
    records: int
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    provenance: Provenance = field(default_factory=Provenance, compare=False, repr=False)

    def passes(self, fail_on: Severity = "error") -> bool:
        """Whether no finding is as grave as that, or graver."""
        grave = [*SEVERITIES][: [*SEVERITIES].index(fail_on) + 1]
        return not any(finding.severity in grave for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The document of `lint --json`."""
        return {
            **self.provenance.head(),
            "records": self.records,
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def headline(self) -> str:
        """Records, and how many findings there are of each severity."""
        numbers = [
            counted(len(findings), severity, more="info" if severity == "info" else "")
            for severity in SEVERITIES
            if (findings := [finding for finding in self.findings if finding.severity == severity])
        ]
        return f"{counted(self.records, 'record')}; {', '.join(numbers) or 'nothing was found'}"

    def shown_tables(self) -> list[ShownTable]:
        """The findings, a row each."""
        rows = [[finding.severity, finding.id, finding.message] for finding in self.findings]
        return [ShownTable(rows, is_text=True)] if rows else []

    def to_text(self) -> str:
        """A page for a reader."""
        lines = [self.headline()]
        for finding in self.findings:
            lines += [
                f"{finding.severity}: {finding.message} [{finding.id}]",
                f"  What to do: {finding.remedy}",
            ]
        return page(lines, self.notes)
