"""Pictures: what all charts have in common, how they are drawn, and where they may be written.

Altair and vl-convert are an extra; vl-convert holds all that draws, so no browser and no network is
asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlanon.arguments import path_of
from sqlanon.engine.files import refuse_folder
from sqlanon.errors import PolicyError, SourceError
from sqlanon.wording import drawable

# Okabe and Ito 2008, without the yellow that no white page shows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FONT = "Helvetica, Arial, sans-serif"


def refuse_undrawn() -> None:
    """Refuses to draw, by a `PolicyError`, where what draws is not installed."""
    if any(find_spec(name) is None for name in ("altair", "vl_convert")):
        raise PolicyError(
            "charts are drawn by altair and vl-convert, which are not installed: "
            "pip install 'sqlanon[report]'"
        )


def refuse_target(
    path: str | Path, what: str, *, endings: Sequence[str], overwrite: bool = False
) -> Path:
    """Refuses a file that no chart or page can be written to.

    Args:
        path: The file.
        what: What is written to it, such as `chart`.
        endings: Those that it may have.
        overwrite: Whether one that exists already may be replaced.

    Raises:
        SourceError: The file has another ending, exists already or cannot be written.
    """
    file = path_of(path, f"the {what}")
    if file.suffix.lower() not in endings:
        raise SourceError(
            f"{file.name!r} cannot be a {what}; give it the ending {' or '.join(endings)}"
        )
    if not file.parent.is_dir():
        raise SourceError(f"there is no folder {str(file.parent)!r}")
    if file.exists() and not file.is_file():
        raise SourceError(f"{str(file)!r} is not a regular file; name another")
    if file.exists() and not overwrite:
        raise SourceError(f"{str(file)!r} exists already; replace it with overwrite (--overwrite)")
    refuse_folder(file.resolve())
    return file


def svg_of(chart: Any) -> str:
    """A chart of altair as SVG, drawn without a browser or a network.

    What draws ends the process at characters that no XML may hold, so they are escaped here. No
    chart asks it to cut labels (a `limit`), as it would cut them within a character.
    """
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(_escaped(chart.to_dict()))
    return drawn


def _escaped(part: Any) -> Any:
    """A part of a chart's specification, its texts drawable."""
    if isinstance(part, str):
        return drawable(part)
    if isinstance(part, Mapping):
        return {_escaped(name): _escaped(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_escaped(value) for value in part]
    return part
