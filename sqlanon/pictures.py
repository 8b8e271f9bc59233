"""Pictures: what all charts have in common, how they are drawn, and where they may be written.

Altair and vl-convert are an extra; vl-convert holds all that draws, so no browser and no network is
asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

from sqlanon.arguments import path_of
from sqlanon.engine.files import refuse_folder
from sqlanon.errors import PolicyError, SourceError
from sqlanon.wording import drawable, width_of

# Okabe and Ito 2008, without the yellow that no white page shows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Widths of Helvetica's and Arial's letters [sizes of the font]; others are at most as wide.
_WIDTHS = dict.fromkeys("ijl'|", 0.27) | dict.fromkeys("ft I![]/\\.,:;()r-`", 0.34)
_WIDTHS |= dict.fromkeys("abcdeghknopqsuvxyzJ0123456789_?$#*", 0.56) | dict.fromkeys("+=<>~", 0.59)
_LETTER, _WIDE, _PICTOGRAM = 0.83, 1.0, 1.3
_JOINER, _FIRST_PICTOGRAM, _TONES = "\u200d", "\U0001f000", "🏻🏼🏽🏾🏿"
# Names inside a picture, as against the same letters in its texts.
_NAMED = re.compile(r'(<clipPath id="|="url\(#)clip')
FONT = "Helvetica, Arial, sans-serif"


def refuse_undrawn() -> None:
    """Refuses to draw, by a `PolicyError`, where what draws is not installed."""
    if not can_draw():
        raise PolicyError(
            "charts are drawn by altair and vl-convert, which are not installed: "
            "pip install 'sqlanon[report]'"
        )


def can_draw() -> bool:
    """Whether what draws is installed."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))


def refuse_file(
    path: str | Path, what: str, *, endings: Sequence[str], overwrite: bool = False
) -> Path:
    """Refuses a file that nothing drawn can be written to.

    Args:
        path: The file.
        what: What is written to it, such as `chart`.
        endings: Those that it may have.
        overwrite: Whether one that exists already may be replaced.

    Raises:
        PolicyError: What draws is not installed.
        SourceError: The file has another ending, exists already or cannot be written.
    """
    file = path_of(path, f"the {what}")
    if file.suffix.lower() not in endings:
        raise SourceError(
            f"{file.name!r} cannot be a {what}; give it the ending {' or '.join(endings)}"
        )
    refuse_undrawn()
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
        return {_escaped(name): _escaped(each) for name, each in part.items()}
    if isinstance(part, list | tuple):
        return [_escaped(each) for each in part]
    return part


def apart(picture: str, number: int) -> str:
    """A picture whose names inside are not those inside another one on the same page."""
    return _NAMED.sub(rf"\1picture{number}clip", picture)


def lines_of(text: str, width: float, *, size: float, most: int = 1) -> list[str]:
    """A text in lines that are no wider than there is room, with an ellipsis where it is cut.

    Lines end between words where they can, and never within what is seen as one letter.

    Args:
        text: The text.
        width: The room [points].
        size: Size of the font [points].
        most: Most lines.

    >>> lines_of("education + occupation + race", 90, size=12, most=2)
    ['education +', 'occupation +…']
    """
    letters = _letters(drawable(text))
    lines: list[str] = []
    while letters:
        last = len(lines) == most - 1
        held = _held(letters, width / size)
        if held < len(letters) and last:
            kept = letters[: _held(letters, width / size - _WIDE)]
            return [*lines, "".join(kept).rstrip() + "…"]
        blanks = [place for place in range(1, held) if letters[place] == " "]
        cut = blanks[-1] if blanks and held < len(letters) else held
        lines.append("".join(letters[:cut]))
        letters = letters[cut + 1 :] if letters[cut : cut + 1] == [" "] else letters[cut:]
    return lines or [""]


def _letters(text: str) -> list[str]:
    """What is seen as a letter each, with the marks on it and what is joined to it."""
    found: list[str] = []
    for sign in text:
        is_mark = sign in _TONES or not width_of(sign)
        if found and (is_mark or found[-1].endswith(_JOINER)):
            found[-1] += sign
        else:
            found.append(sign)
    return found


def _held(letters: Sequence[str], room: float) -> int:
    """How many letters the room has place for, one at least."""
    widths = accumulate(_width(letter[0]) for letter in letters)
    return max(1, sum(1 for _ in takewhile(lambda width: width <= room, widths)))


def _width(sign: str) -> float:
    """Width of a letter [sizes of the font]."""
    if sign >= _FIRST_PICTOGRAM:
        return _PICTOGRAM
    return _WIDTHS.get(sign, _WIDE if width_of(sign) > 1 or sign in "W@…—%" else _LETTER)
