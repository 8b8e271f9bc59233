"""Options that several commands share, in groups."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from sqlanon.classes import IDENTIFYING_SHARE, RISK_THRESHOLD
from sqlanon.engine.endings import READ_FORMATS, WRITTEN_LISTED
from sqlanon.errors import PolicyError
from sqlanon.policy.privacy import FAMILIES, TABLE_FAMILIES

RESOURCES = "Resources"
OUTPUT = "Output"
TARGET = "Target"
GENERALIZATION = "Generalization"
MODELS = "Privacy models"
SUPPRESSION = "Suppression"
TEXT_FILE = "Text files"
ELSEWHERE = "A database elsewhere"
PREVIEW = (
    "Also show the first N records as they are and as they will be published; this prints values "
    "of the table."
)
"""What --preview does."""

SOURCE = (
    f"A DuckDB file, a {READ_FORMATS} file, a postgresql:// URL, or with --engine the name of a "
    "table there; of spark also a folder of data."
)
"""What a source may be."""
TABLE = "The table to read; needed with a URL, and if a DuckDB file holds more than one."
"""Which table of a source is read."""
OVERWRITE = "Replace the table or file if it exists already."
"""What --overwrite does."""
CONTROL = (
    "Records of the same population that were not released, as the original has them: attacks are "
    "run on these, too, and tell what the release adds to what is known of everybody."
)
"""What --control does."""
LONGEST = "Longest time from the start of the command to its result."
"""What --time-limit says."""


def argument(metavar: str, text: str, **default: Any) -> Any:
    """A field of a group that is an argument, told apart by its place; required without default."""
    info = typer.Argument(metavar=metavar, help=text)
    return field(**default, metadata={"option": info})


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


def switch(text: str, *names: str, panel: str | None = None) -> Any:
    """A field of a group that is a switch, with a short form such as `-q`."""
    info = typer.Option(*names, help=text, rich_help_panel=panel)
    return field(default=False, metadata={"option": info})


def given(group: Any, *names: str) -> dict[str, Any]:
    """The values of a group's options that were given, by name; of some of them or of all."""
    asked = names or [option.name for option in fields(group)]
    values = {name: getattr(group, name) for name in asked}
    return {name: value for name, value in values.items() if value is not None and value != []}


@dataclass(frozen=True, slots=True)
class RiskFigures:
    """Whom records are found among, and from which share on that counts as a risk."""

    panel: ClassVar[str] = "Risk"
    threshold: float | None = option(
        "RISK",
        "Records with a higher risk count as at risk; above 0 and at most 1. Default: "
        f"{RISK_THRESHOLD}.",
        names=("--risk-threshold",),
    )
    identifying: float | None = option(
        "SHARE",
        "Share of unique records from which on a set of columns counts as identifying; 1 finds "
        f"keys. Default: {IDENTIFYING_SHARE}.",
    )


@dataclass(frozen=True, slots=True)
class TextFileOptions:
    """How a source is written, where it is a text file."""

    panel: ClassVar[str] = TEXT_FILE
    date_format: str | None = option(
        "FORMAT",
        "How dates are written in a CSV or JSON file, such as %d/%m/%Y. Default: as in ISO 8601 "
        "(2000-12-31).",
    )
    nullstr: list[str] = repeatable(
        "TEXT", "A text that means NULL in a CSV or JSON file, as an empty field does."
    )
    delimiter: str | None = option(
        "CHARACTER",
        "The character between the fields of a CSV file. Default: detected from its header.",
    )
    encoding: str | None = option(
        "NAME", "Encoding of a CSV file, such as latin-1 or utf-16. Default: utf-8."
    )
    engine: str | None = option(
        "spark|postgres",
        "The database elsewhere whose table SOURCE names; a folder of data for spark.",
        panel=ELSEWHERE,
    )
    remote: str | None = option(
        "ADDRESS",
        "Where that is: sc://host:port, sail (in this process, without Java) or local[4], or a URL "
        "of PostgreSQL. Default for spark: where it finds itself.",
        panel=ELSEWHERE,
    )
    spark_config: list[str] = repeatable(
        "KEY=VALUE", "A setting of the session that is begun.", panel=ELSEWHERE
    )
    local_rows: int | None = option(
        "N",
        "Most rows of an intermediate that goes on in this process. Default: what a quarter of "
        "--memory-limit holds.",
        panel=ELSEWHERE,
    )
    materialize: str | None = option(
        "parquet|table|checkpoint",
        "How larger intermediates are stored there. Default: parquet where Spark is on this "
        "machine, else table.",
        panel=ELSEWHERE,
    )
    scratch: str | None = option("PLACE", "The folder or schema of intermediates.", panel=ELSEWHERE)

    @property
    def asked(self) -> dict[str, Any]:
        """What was given, as the library takes it."""
        if not all("=" in setting for setting in self.spark_config):
            raise PolicyError("--spark-config is KEY=VALUE")
        asked = given(self)
        if self.spark_config:
            asked["spark_config"] = dict(setting.split("=", 1) for setting in self.spark_config)
        return asked


@dataclass(frozen=True, slots=True)
class Input:
    """The table that a command reads."""

    source: str = argument("SOURCE", SOURCE)
    table: str | None = argument("TABLE", TABLE, default=None)
    text: TextFileOptions = field(default_factory=TextFileOptions)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of every command: output, and limits of the database."""

    panel: ClassVar[str] = OUTPUT
    as_json: bool = switch("Print one JSON document on standard output.", "--json")
    quiet: bool = switch("Print only errors, and the output of --json or --sql.", "-q")
    verbose: bool = switch("Print on standard error how long each part took.", "-v")
    threads: int | None = option(
        "N",
        "Number of threads that the database uses, and of processes that refine large tables.",
        panel=RESOURCES,
    )
    memory_limit: str | None = option(
        "SIZE", "Most memory that the database uses, such as 2GB.", panel=RESOURCES
    )
    temp_directory: Path | None = option(
        "DIR",
        "Folder where the database writes what does not fit into its memory.",
        panel=RESOURCES,
    )
    temp_limit: str | None = option(
        "SIZE",
        "Most that the database writes there, such as 10GB. Default: all free space.",
        panel=RESOURCES,
    )
    seed: int = option(
        "N",
        "Seed of the random numbers by which the demo makes up people, clusters are refined and "
        "searches of many columns and of schemes begin. Nothing else is random.",
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


if TYPE_CHECKING:
    ModelOptions = Any  # a type checker cannot follow the families
else:
    ModelOptions = make_dataclass(
        "ModelOptions",
        [
            *(
                (key, list[str], repeatable("MODEL", family.help))
                for key, family in TABLE_FAMILIES.items()
            ),
            *(
                (key, list[str], repeatable("[COLUMN=]MODEL", family.help))
                for key, family in FAMILIES.items()
            ),
        ],
        frozen=True,
        namespace={
            "__doc__": "Models of all classes, of a population and of sensitive columns.",
            "panel": MODELS,
        },
    )


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """The policy: a file, and options that go before what it says."""

    panel: ClassVar[str] = "Policy"
    policy: Path | None = option("FILE", "A policy.toml. Options take precedence over it.")
    qi: list[str] = repeatable(
        "COLUMN,...",
        "All quasi-identifiers (columns by which others may recognize a person), in place of "
        "those of the policy file.",
    )
    sensitive: list[str] = repeatable(
        "COLUMN",
        "A sensitive column (published unchanged, and protected by privacy models), in place of "
        "those of the policy file.",
    )
    identifier: list[str] = repeatable(
        "COLUMN",
        "An identifier (a column that names a person, and is dropped), in place of those of the "
        "policy file.",
    )
    entity: str | None = option(
        "COLUMN",
        "The column that tells whose record each one is, so that models count persons in place "
        "of records; records without a value there count as those of one person. It is never "
        "published. If a table to be judged contains it, all records of a person together (a "
        "trajectory) are compared, too.",
    )
    weight_column: str | None = option(
        "COLUMN",
        "The column of survey weights: how many people of the population a record stands for. Risk "
        "is estimated by it; it is published only with --keep.",
    )
    household: str | None = option(
        "COLUMN",
        "The column that tells which records are of one household, for household risk; it is "
        "published only with --keep.",
    )
    hierarchy: list[str] = repeatable(
        "COLUMN=SPEC",
        "How a quasi-identifier is generalized: a file (leaf;level1;...), suppress, "
        "intervals:5,10,20, prefix:4,3,2, dates:month,quarter,year, sql:EXPR;EXPR or table:NAME. "
        'Default: suppress. The form of a policy file works as well: \'{ file = "age.txt", '
        'delimiter = "|" }\'. For a sensitive column: how far apart its values are, for --t.',
        panel=GENERALIZATION,
    )
    k: int | None = option(
        "K",
        "k-anonymity: the smallest class allowed. A class is all records with the same "
        "quasi-identifiers as published.",
        panel=MODELS,
    )
    population: str | None = option(
        "FILE|TABLE",
        "The whole population from which the records were drawn: a table of the source, or a "
        f"{READ_FORMATS} file. For --k-map and --delta-presence with values as they were before "
        "anything was generalized; in risk and report without these generalized like the released "
        "table, for journalist risk.",
        panel=MODELS,
    )
    models: ModelOptions = field(default_factory=ModelOptions)
    nulls: list[str] = repeatable(
        "[COLUMN=]value|none",
        "Whether NULL counts as a value of sensitive columns. Default: value.",
        panel=MODELS,
    )
    order: list[str] = repeatable(
        "COLUMN=A,B,...",
        "The values of a column from lowest to highest: of a sensitive column for --t ordered, "
        "of a quasi-identifier for --scheme ops and gops. Numbers and dates need none.",
        panel=MODELS,
    )
    suppression_limit: float | None = option(
        "SHARE",
        "Share of the records that may be suppressed (left out, or published without their "
        "quasi-identifiers), 0 to 1.",
        panel=SUPPRESSION,
    )
    level: list[str] = repeatable(
        "COLUMN=LEVEL",
        "The only level of generalization allowed; 0 is the original value.",
        panel=GENERALIZATION,
    )
    min_level: list[str] = repeatable(
        "COLUMN=LEVEL", "The lowest level allowed.", panel=GENERALIZATION
    )
    max_level: list[str] = repeatable(
        "COLUMN=LEVEL", "The highest level allowed.", panel=GENERALIZATION
    )
    class_mean: list[str] = repeatable(
        "COLUMN[=mean|median][:STEP]",
        "Publish the mean or median of each class, rounded to STEP, in place of a number's label.",
        panel=GENERALIZATION,
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
    others: str | None = option(
        "keep|drop", "Whether columns without a role are published as they are or left out."
    )
    suppressed: str | None = option(
        "drop|keep",
        "Leave suppressed records out, or publish them without their quasi-identifiers if "
        "together they satisfy the models as one class.",
        panel=SUPPRESSION,
    )
    suppressed_label: str | None = option(
        "TEXT", "The text published in place of a suppressed value. Default: *", panel=SUPPRESSION
    )


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Target of a publication: a table, the original or a file."""

    panel: ClassVar[str] = TARGET
    into: str | None = option(
        "TABLE",
        "Publish as a new table beside the original; of Spark also as a folder: ./FOLDER.",
    )
    in_place: bool = switch("Replace the original, after asking.")
    yes: bool = switch("With --in-place: do not ask.")
    output: Path | None = option("FILE", f"Publish as a file: {WRITTEN_LISTED}.")
    overwrite: bool = switch(OVERWRITE)
    report: Path | None = option(
        "FILE",
        "Also write a report on the release for a data protection officer: one .html file that "
        "can be read offline.",
        panel=OUTPUT,
    )
    manifest: Path | None = option(
        "FILE",
        "Also write a manifest, such as release.manifest.json, by which `sqlanon verify` checks "
        "the release later without the original.",
        panel=OUTPUT,
    )
    labels: Path | None = option(
        "FILE",
        "Also write which label stands for which values, as .csv or .json, from the hierarchies "
        "alone.",
        panel=OUTPUT,
    )

    against: list[str] = repeatable(
        "FILE|TABLE",
        "An earlier release of the same table: publish nothing, and exit with 1, if both together "
        "leave a record fewer candidates than the policy asks for.",
    )

    @property
    def beside(self) -> dict[str, Any]:
        """What is written and looked at besides, as the library takes it."""
        return given(self, "report", "manifest", "labels", "against")

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
        "Dialect of --sql. Default: duckdb. Postgres and spark are tested; of others, a note "
        "says that they are not.",
    )
    into: str | None = option("TABLE", "Name of the published table in --sql. Default: anonymized.")
    save: Path | None = option("FILE", "Store the plan for `sqlanon apply`.")
    preview: int | None = option("N", PREVIEW)
