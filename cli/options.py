"""Options that several commands share, in groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from sqlanon.errors import PolicyError

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A DuckDB file, or a CSV, CSV.gz, Parquet, JSON or Arrow IPC file.",
        show_default=False,
    ),
]
Table = Annotated[
    str | None,
    typer.Argument(
        metavar="TABLE",
        help="Its table; needed where a DuckDB file holds more than one.",
        show_default=False,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a table or file that is there already.")
]


@dataclass(frozen=True, slots=True)
class Input:
    """The table that a command reads."""

    source: Source
    table: Table = None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What every command takes: how it reports and what it may use."""

    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on standard output.")
    ] = False
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print errors and what was asked for, no more.")
    ] = False
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Tell on standard error how time was spent.")
    ] = False
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", help="Threads of the database.")
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option("--memory-limit", metavar="SIZE", help="Memory of the database: 2GB."),
    ] = None
    temp_directory: Annotated[
        Path | None,
        typer.Option("--temp-directory", metavar="DIR", help="Where the database may spill."),
    ] = None

    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            help="Seeds what is left to chance: the people of the demo, how clusters are refined.",
        ),
    ] = 0

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise PolicyError("--quiet and --verbose contradict each other; give one of them")

    @property
    def resources(self) -> dict[str, Any]:
        """What the database may use, as the library takes it: only what was given."""
        given = {
            "threads": self.threads,
            "memory_limit": self.memory_limit,
            "temp_directory": self.temp_directory,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """The policy: a file, and options that go before what it says."""

    policy: Annotated[
        Path | None,
        typer.Option("--policy", metavar="FILE", help="The policy; options go before it."),
    ] = None
    qi: Annotated[
        list[str],
        typer.Option(
            "--qi",
            metavar="COLUMN,...",
            help="Quasi-identifiers; repeatable; all of them, in place of the policy file's.",
        ),
    ] = field(default_factory=list)
    sensitive: Annotated[
        list[str],
        typer.Option(
            "--sensitive",
            metavar="COLUMN",
            help="Published as it is, with models to protect it; repeatable; in place of the "
            "policy file's.",
        ),
    ] = field(default_factory=list)
    identifier: Annotated[
        list[str],
        typer.Option(
            "--identifier",
            metavar="COLUMN",
            help="Dropped; repeatable; in place of the policy file's.",
        ),
    ] = field(default_factory=list)
    entity: Annotated[
        str | None,
        typer.Option(
            "--entity",
            metavar="COLUMN",
            help="Says whose record it is: k, l and t count persons; records without a value "
            "count as one person's; dropped unless kept.",
        ),
    ] = None
    hierarchy: Annotated[
        list[str],
        typer.Option(
            "--hierarchy",
            metavar="COLUMN=SPEC",
            help="How a quasi-identifier is generalized: a file (leaf;level1;...), suppress, "
            "intervals:5,10,20, prefix:4,3,2, dates:month,quarter,year, sql:EXPR;EXPR or "
            "table:NAME; suppress where not given. Of a sensitive column: how far its values are "
            "apart for --t. Repeatable; `check` reads it but generalizes nothing.",
        ),
    ] = field(default_factory=list)
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="K", help="k-anonymity: the smallest class allowed."),
    ] = None
    l: Annotated[  # noqa: E741
        list[str],
        typer.Option(
            "--l",
            metavar="[COLUMN=]MODEL",
            help="l-diversity of every sensitive column, or of the one named: 3 (distinct values), "
            "entropy:3 or recursive:C:L; repeatable.",
        ),
    ] = field(default_factory=list)
    t: Annotated[
        list[str],
        typer.Option(
            "--t",
            metavar="[COLUMN=]MODEL",
            help="t-closeness, likewise: 0.2 (equal), ordered:0.2, hierarchical:0.2, kl:0.2, "
            "scaled:0.2 or scaled-literal:0.2; repeatable.",
        ),
    ] = field(default_factory=list)
    nulls: Annotated[
        str | None,
        typer.Option(
            "--nulls",
            metavar="value|none",
            help="Whether NULL counts as a value of sensitive columns; value where not given.",
        ),
    ] = None
    suppression_limit: Annotated[
        float | None,
        typer.Option(
            "--suppression-limit",
            metavar="SHARE",
            help="Share of the records that may be suppressed, 0 to 1; `check` does not use it.",
        ),
    ] = None
    weight: Annotated[
        list[str],
        typer.Option(
            "--weight",
            metavar="COLUMN=NUMBER",
            help="How much its cells count in the loss; repeatable; `check` does not use it.",
        ),
    ] = field(default_factory=list)
    level: Annotated[
        list[str],
        typer.Option(
            "--level",
            metavar="COLUMN=LEVEL",
            help="Its only level; repeatable; `check` does not use it.",
        ),
    ] = field(default_factory=list)
    min_level: Annotated[
        list[str],
        typer.Option(
            "--min-level",
            metavar="COLUMN=LEVEL",
            help="Its lowest level; repeatable; `check` does not use it.",
        ),
    ] = field(default_factory=list)
    max_level: Annotated[
        list[str],
        typer.Option(
            "--max-level",
            metavar="COLUMN=LEVEL",
            help="Its highest level; repeatable; `check` does not use it.",
        ),
    ] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PublishingOptions:
    """What the published table holds besides."""

    keep: Annotated[
        list[str],
        typer.Option("--keep", metavar="COLUMN", help="Publish it as it is; repeatable."),
    ] = field(default_factory=list)
    drop: Annotated[
        list[str], typer.Option("--drop", metavar="COLUMN", help="Leave it out; repeatable.")
    ] = field(default_factory=list)
    others: Annotated[
        str | None,
        typer.Option(
            "--others", metavar="keep|drop", help="What happens to columns that have no role."
        ),
    ] = None
    suppressed: Annotated[
        str | None,
        typer.Option(
            "--suppressed",
            metavar="drop|keep",
            help="Leave suppressed records out, or keep them without their quasi-identifiers, "
            "where together they satisfy the models as one class.",
        ),
    ] = None
    suppressed_label: Annotated[
        str | None,
        typer.Option(
            "--suppressed-label", metavar="TEXT", help="What stands for a suppressed value: *."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How the recoding is found."""

    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="auto, incognito, set-cover, direct-cover, pattern-greedy or pattern-exact.",
        ),
    ] = None
    loss: Annotated[
        str | None,
        typer.Option(
            "--loss",
            metavar="LOSS",
            help="lm, tree, precision, suppressed-cells, monotone-entropy, discernibility, "
            "average-class-size or utility.",
        ),
    ] = None
    minimal_nodes: Annotated[
        bool,
        typer.Option("--minimal-nodes", help="Also list every minimal node of the lattice."),
    ] = False
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="Return the best found by then, with its gap; of covers: refine no longer.",
        ),
    ] = None
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates", metavar="KIND", help="Of covers: closed, frequent or all itemsets."
        ),
    ] = None
    beta: Annotated[
        float | None,
        typer.Option(
            "--beta", metavar="NUMBER", help="Of covers: only itemsets that cost below 1/beta."
        ),
    ] = None
    block_records: Annotated[
        int | None,
        typer.Option(
            "--block-records",
            metavar="N",
            help="Of covers: cut a larger table into blocks along its hierarchies: 250000.",
        ),
    ] = None
    no_refine: Annotated[
        bool, typer.Option("--no-refine", help="Of covers: leave clusters as they were found.")
    ] = False
    suppress_uncovered: Annotated[
        bool,
        typer.Option(
            "--suppress-uncovered",
            help="Of direct-cover: suppress all cells of what no itemset covers, as it was "
            "published, where these records satisfy the policy as one class.",
        ),
    ] = False
    pattern: Annotated[
        list[str],
        typer.Option(
            "--pattern",
            metavar="COLUMN,...",
            help="Of pattern methods: columns that records may keep together, zip@2 at a level, "
            "while all others are suppressed; repeatable.",
        ),
    ] = field(default_factory=list)
    patterns: Annotated[
        list[str],
        typer.Option(
            "--patterns",
            metavar="all|RULE",
            help="Of pattern methods: all patterns, or those that satisfy every rule: 'at most 3 "
            "suppressed', 'zip never with birth date'; repeatable.",
        ),
    ] = field(default_factory=list)

    @property
    def asked_patterns(self) -> list[str] | list[list[str]] | None:
        """The patterns as the library takes them; None where none is given."""
        if self.pattern and self.patterns:
            raise PolicyError("--pattern and --patterns exclude each other; give one of them")
        return [[text] for text in self.pattern] or self.patterns or None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Everything that a plan follows from, but the table."""

    policy: PolicyOptions
    publishing: PublishingOptions
    search: SearchOptions


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Where the table is published."""

    into: Annotated[
        str | None, typer.Option("--into", metavar="TABLE", help="A new table beside the original.")
    ] = None
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Replace the original; asks before.")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", help="Answer what --in-place asks.")] = False
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="A file: .csv, .csv.gz, .parquet, .arrow or .duckdb.",
        ),
    ] = None
    overwrite: Overwrite = False

    @property
    def place(self) -> dict[str, Any]:
        """The target as the library takes it."""
        return {
            "into": self.into,
            "in_place": self.in_place,
            "output": self.output,
            "overwrite": self.overwrite,
        }
