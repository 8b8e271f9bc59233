"""The page of findings: a row for each rule that `lint` asks."""

from __future__ import annotations

from sqlanon.reports.findings import RULES, SEVERITIES

_HEAD = """# Findings about a release

`sqlanon lint RELEASED` looks at a table or a file as it is about to be handed out, whoever made it,
and tells what it gives away beside its classes. `anonymize` and `apply` ask the same of what they
publish, `check --released` and `report` of what they judge. A finding has an `id`, a `severity`,
the `column` where it is about one, a `message` and a `remedy`; it names columns and counts, never a
value. `lint` exits with 1 if there is an error; with `--fail-on warning` or `info` also if there is
anything that is less grave. [Reports](../how-to/read-the-report.md) have findings of their own
besides, about models and use.

`lint`, `check --released` and `report` look at a file as a whole: metadata, statistics and
dictionaries of Parquet and Arrow files, every object and the free blocks of a DuckDB file. What is
published to a file gets the first three; what is published to a table of a DuckDB file, the last
two: in one line where the original stands in that file, since it is then not handed out. The order
of rows is that of a file, or of a table in DuckDB. Texts of the original are looked for as they are
written: what DuckDB has compressed is not found by them, but by its free blocks.

Rules that begin with `safe-harbor` are asked by `lint --profile hipaa-safe-harbor` alone.
"""


def page() -> str:
    """The rules by severity, the gravest first."""
    parts = [_HEAD]
    for severity in SEVERITIES:
        parts.append(f"## {severity}\n\n| id | looks for | why | what to do |\n|---|---|---|---|")
        parts += [
            f"| `{rule.id}` | {rule.asked} | {rule.explanation} | {rule.remedy} |"
            for rule in RULES.values()
            if rule.severity == severity
        ]
        parts.append("")
    return "\n".join(parts)
