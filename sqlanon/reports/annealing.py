"""Annealing, as reports of a plan show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlanon.wording import figure, part_of


def annealing_lines(told: Mapping[str, Any]) -> Iterator[str]:
    """What the exchange of records came to; nothing where there was none.

    Args:
        told: `annealing` of a report's `search`, or nothing.
    """
    if not told:
        return
    loss = {name: figure(value) for name, value in told["loss"].items()}
    accepted = part_of(told["accepted"], told["iterations"]) if told["iterations"] else "0"
    yield f"  annealed        {told['iterations']:,} exchanges tried, {accepted} accepted"
    for each in told["models"]:
        before, after = each["before"], each["after"]
        persons = " by persons" if each["persons"] else ""
        yield (
            f"    {each['model']} of {each['column']}{persons}: {before['failing']:,} of "
            f"{each['clusters']:,} clusters failed, {after['failing']:,} after it; worst "
            f"{figure(before['worst'])}, then {figure(after['worst'])}; mean "
            f"{figure(before['mean'])}, then {figure(after['mean'])}"
        )
    kept = "kept" if told["kept"] else "not kept"
    yield (
        f"    loss {loss['clusters_of_k']} of clusters for k alone, {loss['exchanged']} after the "
        f"exchanges, {loss['annealed']} with every model ({kept}); "
        f"without annealing {loss['ordinary']}"
    )
