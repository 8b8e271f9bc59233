"""The command plan with --sweep: what plans cost over a grid of figures of the policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sqlanon.errors import PolicyError
from sqlanon.policy.privacy import FAMILIES
from sqlanon.wording import listed

from .comparing import show_drawn, tried_charts
from .options import Input, Overwrite, PlanOutput, RunOptions, repeatable
from .progress import progress
from .search_options import Wanted, search_and_policy

SWEPT = ("k", *FAMILIES, "suppression_limit")
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
    overwrite: Overwrite = False


def sweep(
    given: Input, wanted: Wanted, written: PlanOutput, *, swept: SweepOptions, run: RunOptions
) -> None:
    """Plans at each point of a grid, shows what that costs and draws it; exits as `compare`."""
    import sqlanon

    if not swept.sweep:
        raise PolicyError("--chart and --overwrite belong to --sweep; add --sweep k=2,5,10")
    _refuse_single(wanted, written)
    over = swept_values(swept.sweep)
    charts = tried_charts(swept.chart, overwrite=swept.overwrite)
    how, maker = search_and_policy(wanted, run)
    with progress(run) as tell:
        report = sqlanon.sweep(
            given.source,
            maker,
            table=given.table,
            over=over,
            progress=tell,
            **how,
            **run.opening(given.text),
        )
    show_drawn(run, report, command="sweep", charts=charts, overwrite=swept.overwrite)


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
