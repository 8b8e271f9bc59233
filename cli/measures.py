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
        "TABLE", "The original's table; needed where ORIGINAL holds more than one."
    )
    released_table: str | None = option(
        "TABLE", "The released table; needed where RELEASED is a database that holds more than one."
    )
    text: TextFileOptions = field(default_factory=TextFileOptions)


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """The measures wanted, and the columns and labels that they need."""

    panel: ClassVar[str] = "Measures"
    class_attribute: str | None = option(
        "COLUMN", "The column that the classification metric is about."
    )
    loss: list[str] = repeatable(
        "LOSS", "Only this measure, such as lm or utility; all where not given."
    )
    suppressed_label: str | None = option(
        "TEXT", "What stands for a suppressed value; * where not given."
    )


def measure(
    *, compared: Compared, asked: MeasureOptions, policy: PolicyOptions, run: RunOptions
) -> None:
    """Tell what a released table loses against its original, by every measure; writes nothing.

    Whoever anonymized it: the two tables and the hierarchies are all that counts. Levels, limits
    and models of the policy are not looked at, except k. What is said of text files is said of
    ORIGINAL; RELEASED is read as sqlanon writes it.
    """
    import sqlanon

    publishing = PublishingOptions(suppressed_label=asked.suppressed_label)
    maker = PolicyMaker(policy_document(policy.policy), policy, publishing)
    with progress(run) as tell:
        report = sqlanon.measure(
            compared.original,
            compared.table,
            compared.released,
            maker,
            released_table=compared.released_table,
            class_attribute=asked.class_attribute,
            losses=asked.loss,
            progress=tell,
            **compared.text.asked,
            **run.resources,
        )
    output.timings(run, {"measure": report.seconds}, search={})
    output.show(run, report.to_dict(), text=report.to_text)
