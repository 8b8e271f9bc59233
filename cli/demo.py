"""The command demo: from a made-up table to an anonymized one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import output
from .options import RunOptions
from .progress import progress


def demo(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or empty folder for the demo's files.")
    ] = Path("sqlanon-demo"),
    records: Annotated[int, typer.Option(metavar="N", help="How many people to make up.")] = 20_000,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help=("Replace the demo's files if the folder exists already.")
        ),
    ] = False,
    run: RunOptions,
) -> None:
    """Make up a census, anonymize it and show the result. Needs no data and under 10 seconds."""
    from sqlanon.demo.demo import Demo, run_demo

    wanted = Demo(folder, records, run.seed, overwrite)
    with progress(run) as tell:
        report = run_demo(wanted, tell, **run.resources)
    output.timings(run, report.published.seconds, search=report.published.search.to_dict())
    output.show(run, report.to_dict(), text=report.to_text)
