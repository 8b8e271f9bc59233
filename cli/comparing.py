"""The command compare, and plan with --sweep: several plans of one table, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sqlanon.errors import PolicyError
from sqlanon.loss.cells import DEFAULT_LOSS
from sqlanon.policy.privacy import FAMILIES, TABLE_FAMILIES
from sqlanon.wording import listed

from . import output
from .options import OUTPUT, OVERWRITE, Input, PlanOutput, RunOptions, repeatable, switch
from .policies import PolicyMaker
from .progress import reported
from .search_options import OF_ONE, Wanted, WantedOfAll, search_and_policy, search_settings

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
        "The losses to minimize, one after the other. Default: that of the policy file, or "
        f"{DEFAULT_LOSS}.",
    )
    ks: list[str] = repeatable("K,...", "Values of k, in place of the policy's.")
    chart: list[Path] = repeatable(
        "FILE",
        "Draw loss and time by method, against k if there are several: a .svg file, or an .html "
        "file with bars beside the tables.",
        panel=OUTPUT,
    )
    overwrite: bool = switch(OVERWRITE)


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

    maker = PolicyMaker(wanted.policy, wanted.publishing)
    charts = _tried_charts(compared.chart, overwrite=compared.overwrite, bars=True)
    methods = _parted(compared.methods, "--methods")
    report = reported(
        sqlanon.compare,
        given,
        maker,
        run=run,
        methods=methods or None,
        losses=_parted(compared.losses, "--losses") or None,
        ks=_numbers(compared.ks) or None,
        seed=run.seed,
        **search_settings(wanted.search, *OF_ONE),
    )
    _show_drawn(run, report, command="compare", charts=charts, overwrite=compared.overwrite)


def _show_drawn(
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
    output.present(run, report, command)
    output.leave_unless(bool(report.done))


def _parted(given: list[str], option: str) -> list[str]:
    """The names of lists, parted by commas.

    Raises:
        PolicyError: There are lists, but no name in them.
    """
    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    if given and not names:
        raise PolicyError(f"{option} is empty; name at least one, or leave it out")
    return names


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


def _tried_charts(charts: list[Path], *, overwrite: bool, bars: bool = False) -> list[Path]:
    """The files to draw, each tried before any search; pages with bars need nothing that draws."""
    if charts:
        from sqlanon.comparison.drawing import refuse_chart  # most comparisons draw none

        for path in charts:
            refuse_chart(path, overwrite=overwrite, bars=bars)
    return charts


SWEPT = ("k", *TABLE_FAMILIES, *FAMILIES, "suppression_limit")
"""Figures of a policy that can be swept; that they are all of `policy.varied`, a test holds."""


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """Figures of the policy that are swept, and where charts of them go."""

    panel: ClassVar[str] = "Sweep"
    sweep: list[str] = repeatable(
        "KEY=VALUE,...",
        "Plan for several values of a threshold of the policy, such as k=2,5,10 or "
        f"l=2,entropy:3 ({', '.join(SWEPT)}); given repeatedly, for each combination.",
    )
    chart: list[Path] = repeatable(
        "FILE",
        "Draw the loss and suppressed records of --sweep: a .svg file, or an .html file with the "
        "tables beside the charts.",
    )
    overwrite: bool = switch(OVERWRITE)


def sweep(
    given: Input, wanted: Wanted, written: PlanOutput, *, swept: SweepOptions, run: RunOptions
) -> None:
    """Plans at each point of a grid, shows what that costs and draws it; exits as `compare`."""
    import sqlanon

    if not swept.sweep:
        raise PolicyError("--chart and --overwrite belong to --sweep; add --sweep k=2,5,10")
    _refuse_single(wanted, written)
    over = swept_values(swept.sweep)
    charts = _tried_charts(swept.chart, overwrite=swept.overwrite)
    how, maker = search_and_policy(wanted, run, varies=over)
    report = reported(sqlanon.sweep, given, maker, run=run, over=over, **how)
    _show_drawn(run, report, command="sweep", charts=charts, overwrite=swept.overwrite)


def _refuse_single(wanted: Wanted, written: PlanOutput) -> None:
    """Refuses, by a `PolicyError`, what belongs to a single plan."""
    of_one = {
        "--sql": written.sql,
        "--save": written.save is not None,
        "--preview": written.preview is not None,
        "--into": written.into is not None,
        "--dialect": written.dialect is not None,
        "--alternatives": wanted.search.alternatives,
        "--minimal-nodes": wanted.search.minimal_nodes,
    }
    named = [name for name, is_given in of_one.items() if is_given]
    if named:
        verb = "is" if len(named) == 1 else "are"
        raise PolicyError(
            f"{listed(named)} {verb} about one plan, and --sweep makes several; choose a point, "
            "and plan it without --sweep"
        )


def swept_values(given: Sequence[str]) -> dict[str, list[str]]:
    """The values by figure, parted by commas.

    Raises:
        PolicyError: A text names no figure, or no values, or a figure is named twice.

    >>> swept_values(["k=2, 5", "suppression-limit=0,0.01"])
    {'k': ['2', '5'], 'suppression-limit': ['0', '0.01']}
    """
    over: dict[str, list[str]] = {}
    for text in given:
        key, is_given, values = text.partition("=")
        parts = [part.strip() for part in values.split(",") if part.strip()]
        if not (is_given and key.strip() and parts):
            raise PolicyError(f"--sweep {text!r} must be KEY=VALUE,..., such as k=2,5,10")
        if key.strip() in over:
            raise PolicyError(
                f"--sweep names {key.strip()} twice; put all its values into one list"
            )
        over[key.strip()] = parts
    return over
