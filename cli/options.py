"""Options that several commands share, in groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from sqlanon.errors import PolicyError
from sqlanon.methods.options import Option
from sqlanon.methods.registry import METHODS, OPTIONS, listed, owners_of

MODELS = "Privacy models"
RESOURCES = "Resources"
OUTPUT = "Output"
METHOD = "Method"
TARGET = "Target"

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

    panel: ClassVar[str] = OUTPUT
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
        int | None,
        typer.Option(
            "--threads", rich_help_panel=RESOURCES, metavar="N", help="Threads of the database."
        ),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(
            "--memory-limit",
            rich_help_panel=RESOURCES,
            metavar="SIZE",
            help="Memory of the database: 2GB.",
        ),
    ] = None
    temp_directory: Annotated[
        Path | None,
        typer.Option(
            "--temp-directory",
            rich_help_panel=RESOURCES,
            metavar="DIR",
            help="Where the database may spill.",
        ),
    ] = None

    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            rich_help_panel=RESOURCES,
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


def _of_values(flag: str, about: str) -> Any:
    """An option for models of every sensitive column, or of the one named."""
    about = f"{about}; repeatable."
    return typer.Option(flag, rich_help_panel=MODELS, metavar="[COLUMN=]MODEL", help=about)


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """The policy: a file, and options that go before what it says."""

    panel: ClassVar[str] = "Policy"

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
        typer.Option(
            "--k",
            rich_help_panel=MODELS,
            metavar="K",
            help="k-anonymity: the smallest class allowed.",
        ),
    ] = None
    l: Annotated[  # noqa: E741
        list[str],
        _of_values(
            "--l",
            "l-diversity of every sensitive column, or of the one named: 3 (distinct values), "
            "entropy:3 or recursive:C:L",
        ),
    ] = field(default_factory=list)
    t: Annotated[
        list[str],
        _of_values(
            "--t",
            "t-closeness, likewise: 0.2 (equal), ordered:0.2, hierarchical:0.2, kl:0.2, "
            "scaled:0.2 or scaled-literal:0.2",
        ),
    ] = field(default_factory=list)
    alpha: Annotated[
        list[str],
        _of_values(
            "--alpha",
            "(alpha, k)-anonymity, likewise: 0.5, the greatest share of a class for one value",
        ),
    ] = field(default_factory=list)
    beta_likeness: Annotated[
        list[str],
        _of_values(
            "--beta-likeness",
            "beta-likeness, likewise: 2 or enhanced:2, how much more frequent values may become",
        ),
    ] = field(default_factory=list)
    delta_disclosure: Annotated[
        list[str],
        _of_values(
            "--delta-disclosure",
            "delta-disclosure privacy, likewise: 1.5, what |ln(p / q)| of all values stays below",
        ),
    ] = field(default_factory=list)
    nulls: Annotated[
        str | None,
        typer.Option(
            "--nulls",
            rich_help_panel=MODELS,
            metavar="value|none",
            help="Whether NULL counts as a value of sensitive columns; value where not given.",
        ),
    ] = None
    suppression_limit: Annotated[
        float | None,
        typer.Option(
            "--suppression-limit",
            rich_help_panel=MODELS,
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

    panel: ClassVar[str] = "Publishing"

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


def search_field(name: str, option: Option) -> str:
    """The name of a search's option on the command line: a switch says what is not the default.

    >>> search_field("refine", OPTIONS["refine"])
    'no_refine'
    """
    return f"no_{name}" if option.default is True else name


def _registered() -> Iterator[tuple[str, Any, Any]]:
    """The options of a search as fields of a group; what is not given is empty."""
    for name, option in OPTIONS.items():
        own = search_field(name, option)
        owners = owners_of(name)
        few = 0 < len(owners) <= len(METHODS) / 2
        flag = typer.Option(
            f"--{own.replace('_', '-')}",
            metavar=option.metavar,
            help=option.help,
            rich_help_panel=f"Only with {listed(owners)}" if few else METHOD,
        )
        if option.metavar is None:
            yield own, Annotated[bool, flag], False
        elif option.reads == list[str]:
            yield own, Annotated[list[str], flag], field(default_factory=list)
        else:
            yield own, Annotated[option.reads | None, flag], None


_PATTERN = typer.Option(
    "--pattern",
    metavar="COLUMN,...",
    rich_help_panel=f"Only with {listed(owners_of('patterns'))}",
    help="In place of --patterns: columns that records may keep together, zip@2 at a level, while "
    "all others are suppressed; repeatable.",
)
if TYPE_CHECKING:
    SearchOptions = Any  # a type checker cannot follow the registry
else:
    SearchOptions = make_dataclass(
        "SearchOptions",
        [
            *_registered(),
            ("pattern", Annotated[list[str], _PATTERN], field(default_factory=list)),
        ],
        frozen=True,
        namespace={"__doc__": "How the recoding is found."},
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Everything that a plan follows from, but the table."""

    policy: PolicyOptions
    publishing: PublishingOptions
    search: SearchOptions


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Where the table is published."""

    panel: ClassVar[str] = TARGET

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
