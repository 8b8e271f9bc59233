"""The command measure: information loss of a released table against its original."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import typer

from . import output
from .options import (
    PolicyOptions,
    PublishingOptions,
    RunOptions,
    TextFileOptions,
    option,
    repeatable,
)
from .policies import PolicyMaker, policy_document
from .progress import progress


@dataclass(frozen=True, slots=True)
class Compared:
    """The two tables that are compared."""

    panel: ClassVar[str] = "Tables"

    original: Annotated[
        str,
        typer.Argument(
            metavar="ORIGINAL",
            help="A DuckDB file, or a CSV, CSV.gz, Parquet, JSON or Arrow IPC file.",
        ),
    ]
    released: Annotated[
        str,
        typer.Argument(
            metavar="RELEASED",
            help="A table of the database ORIGINAL, or another file of any of these kinds.",
        ),
    ]
    table: str | None = option(
        "TABLE", "The original's table; needed if ORIGINAL holds more than one."
    )
    released_table: str | None = option(
        "TABLE", "The released table; needed if RELEASED is a database with more than one."
    )
    text: TextFileOptions = field(default_factory=TextFileOptions)


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """The measures wanted, and the columns and labels that they need."""

    panel: ClassVar[str] = "Measures"
    class_attribute: str | None = option(
        "COLUMN", "The column whose values the classification metric wants to be predictable."
    )
    loss: list[str] = repeatable("LOSS", "Only this measure, such as lm or utility. Default: all.")
    suppressed_label: str | None = option(
        "TEXT", "The text that stands for a suppressed value. Default: *"
    )


def measure(
    *, compared: Compared, asked: MeasureOptions, policy: PolicyOptions, run: RunOptions
) -> None:
    """Measure what a release has lost against its original. Writes nothing.

    The release may come from any tool: only the two tables and the hierarchies matter. Levels,
    limits and models of the policy are ignored, except k. The options for text files apply to
    ORIGINAL; RELEASED is read in the form that sqlanon writes.
    """
    import sqlanon

    publishing = PublishingOptions(suppressed_label=asked.suppressed_label)
    maker = PolicyMaker(policy_document(policy.policy), policy, publishing)
    with progress(run) as tell:
        report = sqlanon.measure(
            compared.original,
            compared.released,
            maker,
            table=compared.table,
            released_table=compared.released_table,
            class_attribute=asked.class_attribute,
            losses=asked.loss,
            progress=tell,
            **compared.text.asked,
            **run.resources,
        )
    output.timings(run, {"measure": report.seconds}, search={})
    output.show(run, report.to_dict(), text=report.to_text)
