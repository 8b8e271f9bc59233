"""The command compare: several methods on one table, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from sqlanon.errors import PolicyError

from . import output
from .options import (
    OUTPUT,
    Input,
    Overwrite,
    RunOptions,
    repeatable,
)
from .policies import PolicyMaker, policy_document
from .progress import progress
from .search_options import WantedOfAll, method_settings

if TYPE_CHECKING:
    from sqlanon.comparison.report import Comparison, Sweep


@dataclass(frozen=True, slots=True)
class ComparedOptions:
    """What is compared, and where charts of it go."""

    panel: ClassVar[str] = "Comparison"
    methods: list[str] = repeatable(
        "METHOD,...",
        "The methods; auto stands for the one that it chooses. Default: all.",
    )
    losses: list[str] = repeatable(
        "LOSS,...",
        "The losses to minimize, one after the other. Default: that of the policy file, or lm.",
    )
    ks: list[str] = repeatable("K,...", "Values of k, in place of the policy's.")
    chart: list[Path] = repeatable(
        "FILE",
        "Draw loss and time by method, against k if there are several: a .svg file, or an .html "
        "file with bars beside the tables.",
        panel=OUTPUT,
    )
    overwrite: Overwrite = False


def compare(
    *,
    given: Input,
    wanted: WantedOfAll,
    compared: ComparedOptions,
    run: RunOptions,
) -> None:
    """Show the results of several methods side by side. Writes nothing but charts.

    Each row is what `sqlanon plan` reports with that method, or the reason why the method cannot be
    used. Without --time-limit it is a first look: clusters are refined in 8 passes only, and
    searches for a proven result end after a share of the time.
    """
    import sqlanon

    document = policy_document(wanted.policy.policy)
    charts = tried_charts(compared.chart, overwrite=compared.overwrite, bars=True)
    maker = PolicyMaker(document, wanted.policy, wanted.publishing)
    methods = _parted(compared.methods, "--methods")
    how: dict[str, Any] = method_settings(document, wanted.search, methods) | {"seed": run.seed}
    losses = _parted(compared.losses, "--losses") or [document.get("loss", "lm")]
    with progress(run) as tell:
        report = sqlanon.compare(
            given.source,
            maker,
            table=given.table,
            methods=methods or None,
            losses=losses,
            ks=_numbers(compared.ks) or None,
            progress=tell,
            **how,
            **run.opening(given.text),
        )
    show_drawn(run, report, command="compare", charts=charts, overwrite=compared.overwrite)


def show_drawn(
    run: RunOptions,
    report: Comparison | Sweep,
    *,
    command: str,
    charts: list[Path],
    overwrite: bool,
) -> None:
    """Draws and shows what was planned side by side; exits with 1 where nothing has a result."""
    if report.done:
        for path in charts:
            report.chart(path, overwrite=overwrite)
            output.say(run, f"chart written to {path}")
    output.timings(run, {command: report.seconds}, search={})
    output.show(run, report.to_dict(), text=report.to_text)
    if not report.done:
        raise typer.Exit(1)


def _parted(given: list[str], option: str) -> list[str]:
    """The names of lists, parted by commas.

    Raises:
        PolicyError: There are lists, but no name in them.
    """
    found = [name.strip() for text in given for name in text.split(",") if name.strip()]
    if given and not found:
        raise PolicyError(f"{option} is empty; name at least one, or leave it out")
    return found


def _numbers(given: list[str]) -> list[int]:
    """The numbers of lists.

    Raises:
        PolicyError: One is no whole number, or there is none.
    """
    names = _parted(given, "--ks")
    try:
        return [int(text) for text in names]
    except ValueError:
        raise PolicyError("--ks takes whole numbers parted by commas, such as 5,10,50") from None


def tried_charts(charts: list[Path], *, overwrite: bool, bars: bool = False) -> list[Path]:
    """The files to draw, each tried before any search; pages with bars need nothing that draws."""
    if charts:
        from sqlanon.comparison.drawing import refuse_chart  # most comparisons draw none

        for path in charts:
            refuse_chart(path, overwrite=overwrite, bars=bars)
    return charts
