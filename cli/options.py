"""Options that several commands share, in groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from sqlanon.errors import PolicyError

RESOURCES = "Resources"
OUTPUT = "Output"
TARGET = "Target"
GENERALIZATION = "Generalization"
MODELS = "Privacy models"
SUPPRESSION = "Suppression"
TEXT_FILE = "Text files"
PREVIEW = (
    "Also show the first N records as they are and as they will be published, with values of the "
    "table."
)
"""What --preview does."""

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A DuckDB file, or a CSV, CSV.gz, Parquet, JSON or Arrow IPC file."
    ),
]
Table = Annotated[
    str | None,
    typer.Argument(
        metavar="TABLE", help="Its table; needed where a DuckDB file holds more than one."
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace a table or file that is there already.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Seconds from the start of the command to its result."),
]


def option(metavar: str, text: str, *, panel: str | None = None, **default: Any) -> Any:
    """A field of a group that is an option with one value.

    Args:
        metavar: What stands for its value.
        text: Its help.
        panel: The heading that it stands below; that of its group where left out.
        default: `default`, or `default_factory`, None where left out; `names`, where there are
            several.
    """
    info = typer.Option(
        *default.pop("names", ()), metavar=metavar, help=text, rich_help_panel=panel
    )
    return field(**(default or {"default": None}), metadata={"option": info})


def repeatable(metavar: str, text: str, *, panel: str | None = None) -> Any:
    """A field of a group that is an option with any number of values."""
    return option(metavar, f"{text} Repeatable.", panel=panel, default_factory=list)


def switch(text: str, short: str = "", *, panel: str | None = None) -> Any:
    """A field of a group that is a switch, with a short form such as `-q`."""
    info = typer.Option(*filter(None, [short]), help=text, rich_help_panel=panel)
    return field(default=False, metadata={"option": info})


def given(group: Any, *names: str) -> dict[str, Any]:
    """The values of a group's options that were given, by name."""
    values = {name: getattr(group, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class TextFileOptions:
    """How a source is written, where it is a text file."""

    panel: ClassVar[str] = TEXT_FILE
    date_format: str | None = option(
        "FORMAT",
        "Texts of a CSV or JSON file that are dates, such as %d/%m/%Y; where not given, only those "
        "of ISO 8601 (2000-12-31) are.",
    )
    nullstr: list[str] = repeatable(
        "TEXT", "A text of a CSV or JSON file that stands for NULL, besides the empty field."
    )
    delimiter: str | None = option(
        "CHARACTER", "What stands between fields of a CSV file; as its header where not given."
    )
    encoding: str | None = option(
        "NAME", "Encoding of a CSV file, such as latin-1 or utf-16; utf-8 where not given."
    )

    @property
    def asked(self) -> dict[str, Any]:
        """What was given, as the library takes it."""
        nulls = {"nullstr": self.nullstr} if self.nullstr else {}
        return nulls | given(self, "date_format", "delimiter", "encoding")


@dataclass(frozen=True, slots=True)
class Input:
    """The table that a command reads."""

    source: Source
    table: Table = None
    text: TextFileOptions = field(default_factory=TextFileOptions)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of every command: output, and limits of the database."""

    panel: ClassVar[str] = OUTPUT
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on standard output.")
    ] = False
    quiet: bool = switch("Print errors only, and what --json or --sql asks for.", "-q")
    verbose: bool = switch("Print on standard error how long each part took.", "-v")
    threads: int | None = option("N", "Threads of the database.", panel=RESOURCES)
    memory_limit: str | None = option(
        "SIZE", "Memory of the database, such as 2GB.", panel=RESOURCES
    )
    temp_directory: Path | None = option(
        "DIR", "Where the database writes what its memory does not hold.", panel=RESOURCES
    )
    temp_limit: str | None = option(
        "SIZE",
        "Most that it writes there, such as 10GB; what is free where not given.",
        panel=RESOURCES,
    )
    seed: int = option(
        "N",
        "Seed of what is left to chance: the demo's people, and how clusters are refined. No other "
        "command or method leaves anything to it.",
        panel=RESOURCES,
        default=0,
    )

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise PolicyError("--quiet and --verbose contradict each other; give one of them")

    @property
    def resources(self) -> dict[str, Any]:
        """The limits of the database that were given, as the library takes them."""
        return given(self, "threads", "memory_limit", "temp_directory", "temp_limit")

    def opening(self, text: TextFileOptions) -> dict[str, Any]:
        """All that was given of how a source is opened, as the library takes it."""
        return text.asked | self.resources


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """The policy: a file, and options that go before what it says."""

    panel: ClassVar[str] = "Policy"
    policy: Path | None = option("FILE", "A policy.toml; options go before what it says.")
    qi: list[str] = repeatable(
        "COLUMN,...", "All quasi-identifiers, in place of those of the policy file."
    )
    sensitive: list[str] = repeatable(
        "COLUMN",
        "A column that is published as it is and protected by privacy models, in place of those of "
        "the policy file.",
    )
    identifier: list[str] = repeatable(
        "COLUMN",
        "A column that names a person and is dropped, in place of those of the policy file.",
    )
    entity: str | None = option(
        "COLUMN",
        "The column that says whose record it is, so that models count persons; records without "
        "a value there count as one person's. It is never published; where a table that is judged "
        "holds it, trajectories are counted, too.",
    )
    hierarchy: list[str] = repeatable(
        "COLUMN=SPEC",
        "How a quasi-identifier is generalized: a file (leaf;level1;...), suppress, "
        "intervals:5,10,20, prefix:4,3,2, dates:month,quarter,year, sql:EXPR;EXPR or table:NAME; "
        'suppress where not given. As in a policy file, \'{ file = "age.txt", delimiter = "|" }\', '
        "too. Of a sensitive column: how far its values are apart for --t.",
        panel=GENERALIZATION,
    )
    k: int | None = option("K", "k-anonymity: the smallest class allowed.", panel=MODELS)
    l: list[str] = repeatable(  # noqa: E741
        "[COLUMN=]MODEL",
        "l-diversity of every sensitive column, or of the one named: 3 (distinct values), "
        "entropy:3 or recursive:C:L.",
        panel=MODELS,
    )
    t: list[str] = repeatable(
        "[COLUMN=]MODEL",
        "t-closeness, likewise: 0.2 (equal), ordered:0.2, hierarchical:0.2, kl:0.2, scaled:0.2 or "
        "scaled-literal:0.2.",
        panel=MODELS,
    )
    alpha: list[str] = repeatable(
        "[COLUMN=]MODEL",
        "(alpha, k)-anonymity, likewise: 0.5, the greatest share of a class for one value.",
        panel=MODELS,
    )
    beta_likeness: list[str] = repeatable(
        "[COLUMN=]MODEL",
        "beta-likeness, likewise: 2 or enhanced:2, how much more frequent values may become.",
        panel=MODELS,
    )
    delta_disclosure: list[str] = repeatable(
        "[COLUMN=]MODEL",
        "delta-disclosure privacy, likewise: 1.5, what |ln(p / q)| of all values stays below.",
        panel=MODELS,
    )
    nulls: list[str] = repeatable(
        "[COLUMN=]value|none",
        "Whether NULL counts as a value of sensitive columns; value where not given.",
        panel=MODELS,
    )
    order: list[str] = repeatable(
        "COLUMN=A,B,...",
        "The values of a column from the lowest to the highest: of a sensitive one for --t "
        "ordered, of a quasi-identifier for --scheme ops and gops; numbers and dates have an order "
        "of their own.",
        panel=MODELS,
    )
    suppression_limit: float | None = option(
        "SHARE", "Share of the records that may be suppressed, 0 to 1.", panel=SUPPRESSION
    )
    level: list[str] = repeatable(
        "COLUMN=LEVEL", "The only level allowed; 0 is the original value.", panel=GENERALIZATION
    )
    min_level: list[str] = repeatable(
        "COLUMN=LEVEL", "The lowest level allowed.", panel=GENERALIZATION
    )
    max_level: list[str] = repeatable(
        "COLUMN=LEVEL", "The highest level allowed.", panel=GENERALIZATION
    )
    weight: list[str] = repeatable(
        "COLUMN=NUMBER",
        "How much the column's cells count in the loss, such as 2.",
        panel=GENERALIZATION,
    )


@dataclass(frozen=True, slots=True)
class PublishingOptions:
    """Columns besides those of the policy, and suppressed records."""

    panel: ClassVar[str] = "Policy"
    keep: list[str] = repeatable("COLUMN", "A column to publish as it is.")
    drop: list[str] = repeatable("COLUMN", "A column to leave out.")
    others: str | None = option("keep|drop", "What happens to columns without a role.")
    suppressed: str | None = option(
        "drop|keep",
        "Leave suppressed records out, or keep them without their quasi-identifiers, where "
        "together they satisfy the models as one class.",
        panel=SUPPRESSION,
    )
    suppressed_label: str | None = option(
        "TEXT", "What stands for a suppressed value; * where not given.", panel=SUPPRESSION
    )


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Target of a publication: a table, the original or a file."""

    panel: ClassVar[str] = TARGET
    into: str | None = option("TABLE", "A new table beside the original.")
    in_place: bool = switch("Replace the original, after a question.")
    yes: bool = switch("Replace the original without a question.")
    output: Path | None = option("FILE", "A file: .csv, .csv.gz, .parquet, .arrow or .duckdb.")
    overwrite: Overwrite = False
    report: Path | None = option(
        "FILE",
        "Also write a report of the release for a data protection officer: a page .html that needs "
        "nothing else (pip install 'sqlanon[report]').",
        panel=OUTPUT,
    )

    @property
    def is_given(self) -> bool:
        """Whether any place is named."""
        return self.in_place or self.into is not None or self.output is not None

    @property
    def place(self) -> dict[str, Any]:
        """The target as the library takes it."""
        return given(self, "into", "in_place", "output", "overwrite")


@dataclass(frozen=True, slots=True)
class PlanOutput:
    """Output of a plan: a file, or SQL on standard output."""

    panel: ClassVar[str] = OUTPUT
    sql: bool = switch("Print the SQL that publishes the table.")
    dialect: str | None = option(
        "NAME",
        "Dialect of --sql: duckdb where not given, postgres and spark are tested, others say so.",
    )
    into: str | None = option(
        "TABLE", "Name of the published table in --sql; anonymized where not given."
    )
    save: Path | None = option("FILE", "Store the plan for `sqlanon apply`.")
    preview: int | None = option("N", PREVIEW)
