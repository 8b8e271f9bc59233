"""Wording: small pieces of the sentences that messages and reports are made of."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from shlex import quote
from typing import Literal, Self

SLACK = 2
"""What stands before a table on its page besides [letters]."""
NARROWEST = 24
"""Least width of a last column whose texts are parted into lines [letters]."""
_page_width: ContextVar[int | None] = ContextVar("page_width", default=None)
_NARROW = "–—…→≥≤·"
"""Signs of reports beyond Latin letters."""
NOISE = 1e-12
"""Figures below it are what sums and logarithms of floating point leave of a zero."""
NoteCode = Literal["bound", "undemanded", "disclosed", "page unwritten", "crowded"]
HOLDS, FAILS = "holds", "does NOT hold"
"""What is said of a model, after its name."""
HOLDS_MARK, FAILS_MARK, OPEN_MARK = "✓", "✗", "?"
"""What stands before such a verdict, the last where nothing can be told."""
ALIKE = 0.65
"""Least likeness, from 0 to 1, of a name to the one that it may be a slip for."""
# XML 1.0, section 2.2: what is no Char. The controls from DEL on are, but nobody sees them.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Note(str):
    """A note of a report that is asked for by what it is about, whatever its words are.

    Args:
        text: The note.
        code: `undemanded`: no model asks for a sensitive column; `disclosed`: classes tell values
            of one; `bound`: what is proven of the loss; `page unwritten`: a release has been
            published without its report. None of a note that nobody asks for.
    """

    __slots__ = ("code",)
    code: NoteCode | None

    def __new__(cls, text: str, code: NoteCode | None = None) -> Self:
        """A note with its code."""
        note = super().__new__(cls, text)
        note.code = code
        return note


def shell_word(text: str) -> str:
    r"""A text as a word of a command line, on one line: for advice that names a column.

    >>> print(shell_word("age"), shell_word("home town"), shell_word("a'b\nc"))
    age 'home town' $'a\'b\x0ac'
    """
    if text.isprintable():
        return quote(text)
    escaped = text.replace("\\", r"\\").replace("'", r"\'")
    shown = (
        letter
        if letter.isprintable()
        else "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", "surrogatepass"))
        for letter in escaped
    )
    return f"$'{''.join(shown)}'"


def is_about(note: str, *codes: NoteCode) -> bool:
    """Whether a note has one of the codes.

    >>> is_about(Note("a text", "disclosed"), "undemanded", "disclosed"), is_about("a text")
    (True, False)
    """
    return isinstance(note, Note) and note.code in codes


def counted(count: int, one: str, *, more: str = "") -> str:
    """A number of things, in figures and in the right number; with an s where `more` is left out.

    >>> counted(1, "value"), counted(1200, "class", more="classes")
    ('1 value', '1,200 classes')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def many(count: int) -> str:
    """A number that may be too large to read.

    >>> many(4_950), many(2**300 - 1)
    ('4,950', 'about 2 x 10^90')
    """
    digits = str(count)
    if len(digits) <= 12:
        return f"{count:,}"
    return f"about {digits[0]} x 10^{len(digits) - 1}"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def columns_named(names: Sequence[str]) -> str:
    """Columns by their names, in the right number.

    >>> columns_named(["a"]), columns_named(["a", "b"])
    ("column 'a'", "columns 'a', 'b'")
    """
    return f"column{'s' if names[1:] else ''} {', '.join(map(repr, names))}"


def width_of(text: str) -> int:
    """How many letters wide a terminal shows a text: some scripts' letters are twice as wide.

    >>> width_of("age"), width_of("年齢"), width_of("e\u0301")
    (3, 4, 1)
    """
    if text.isascii() or all(letter < "\u0300" or letter in _NARROW for letter in text):
        return len(text)
    from rich.cells import cell_len  # slow to import, and most names are ASCII

    return cell_len(text)


def drawable(text: str) -> str:
    r"""The text with its control characters, and all that no page may hold, as escapes.

    >>> print(drawable("\x1b[31mred"))
    \x1b[31mred
    """
    return _NO_TEXT.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def _on_one_line(cell: str) -> str:
    return drawable(cell).replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")


def padded(text: str, width: int, side: str = "<") -> str:
    """A text with blanks to a width, at the left ("<") or right (">") end of it.

    >>> padded("年齢", 6), padded("7", 3, ">")
    ('年齢  ', '  7')
    """
    blanks = " " * (width - width_of(text))
    return blanks + text if side == ">" else text + blanks


@contextmanager
def fitting(width: int | None) -> Iterator[None]:
    """While it lasts, tables are made no wider than a page, as far as their cells allow.

    Args:
        width: Width of the page [letters]; None for any.
    """
    token = _page_width.set(width)
    try:
        yield
    finally:
        _page_width.reset(token)


def in_columns(rows: Sequence[Sequence[str]], aligned: str) -> list[str]:
    r"""Rows of cells as lines of columns, each aligned by "<" or ">".

    On a page that is too narrow (`fitting`), a long text in the last column goes on in lines of its
    own, and columns without room follow below, beside the first one again.

    Line breaks in cells and what else no page may hold become escapes, so that a row stays one.

    >>> in_columns([["age", "12"], ["sex", "7"]], "<>")
    ['  age  12', '  sex   7']
    >>> in_columns([["a\nb", "1"], ["c", "2"]], "<>")
    ['  a\\nb  1', '  c     2']
    """
    rows = [[_on_one_line(cell) for cell in row] for row in rows]
    widths = [max(map(width_of, cells)) for cells in zip(*rows, strict=True)]
    page, lines = _page_width.get(), list[str]()
    room = math.inf if page is None else page - SLACK
    for columns in _parts(widths, aligned, room=room):
        column_widths = [widths[column] for column in columns]
        others = sum(column_widths[:-1]) + 2 * len(column_widths)
        is_text = columns[-1] == len(widths) - 1 and aligned[-1] == "<"
        if is_text and others + column_widths[-1] > room:
            column_widths[-1] = max(int(room) - others, NARROWEST)
        sides = "".join(aligned[column] for column in columns)
        lines.append("")
        for row in rows:
            lines += _lines([row[column] for column in columns], sides, widths=column_widths)
    return lines[1:]


def _lines(row: Sequence[str], aligned: str, *, widths: Sequence[int]) -> Iterator[str]:
    """A row of a table; a last cell that is too wide goes on in lines of its own."""
    *cells, last = row
    pieces = [last]
    if width_of(last) > widths[-1]:
        from textwrap import wrap  # slow to import, and few tables are too wide

        pieces = wrap(last, widths[-1], break_long_words=False, break_on_hyphens=False)
    for number, piece in enumerate(pieces):
        shown = [*cells, piece] if number == 0 else [*([""] * len(cells)), piece]
        parts = zip(shown, widths, aligned, strict=True)
        yield ("  " + "  ".join(padded(*part) for part in parts)).rstrip()


def _parts(widths: Sequence[int], aligned: str, *, room: float) -> list[list[int]]:
    """Which columns stand beside each other: the first one in front of each part."""
    parts, used = [[0]], widths[0] + 2
    for column, width in enumerate(widths[1:], start=1):
        is_text = column == len(widths) - 1 and aligned[-1] == "<"
        needed = 2 + (min(width, NARROWEST) if is_text else width)
        if used + needed > room and len(parts[-1]) > 1:
            parts.append([0])
            used = widths[0] + 2
        parts[-1].append(column)
        used += needed
    return parts


def part_of(part: int, whole: int) -> str:
    """A count and its share.

    >>> part_of(1, 3)
    '1 (33.33%)'
    """
    return f"{part:,} ({percent(part, whole)})"


def percent(part: float, whole: float = 1) -> str:
    """A share in per cent, to two places; only what is nothing or all reads so.

    >>> [percent(part) for part in (0, 1e-6, 0.2, 1 / 3, 0.99999, 1)]
    ['0%', '<0.01%', '20%', '33.33%', '>99.99%', '100%']
    >>> percent(1, 8), percent(0, 0)
    ('12.5%', '0%')
    """
    share = part / whole if whole else 0.0
    if 0 < share < 0.0001:
        return "<0.01%"
    if 0.9999 < share < 1:
        return ">99.99%"
    return f"{share * 100:.2f}".rstrip("0").rstrip(".") + "%"


def figure(value: float) -> str:
    """A measure for a reader: totals in full, others to six digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 and value.is_integer() else f"{value:.6g}"


def without_noise(value: float) -> float:
    """A figure as it is, and 0 where it is what rounding leaves of a zero.

    >>> without_noise(1e-17), without_noise(0.25)
    (0.0, 0.25)
    """
    return 0.0 if abs(value) < NOISE else value


def at_least(value: float) -> str:
    """A lower bound for a reader: `figure`, rounded down.

    >>> at_least(0.45876289), at_least(12.0), at_least(1e-17)
    ('0.458762', '12', '0')
    """
    from decimal import ROUND_FLOOR, Context  # slow to import, and few reports need it

    value = without_noise(value)
    if value.is_integer():
        return figure(value)
    return figure(float(Context(prec=6, rounding=ROUND_FLOOR).create_decimal_from_float(value)))


def clipped(text: str, most: int) -> str:
    """A text, cut where it is longer.

    >>> clipped("abcdef", 4), clipped("abc", 4)
    ('abc…', 'abc')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def short(number: float) -> str:
    """A number for people: no more digits than were meant."""
    return str(number) if isinstance(number, int) else f"{number:.12g}"


def shown(value: str | None) -> str:
    """A value or label for a reader."""
    return "NULL" if value is None else value


def key(loss_name: str) -> str:
    """A loss's name as a JSON key."""
    return loss_name.replace("-", "_")


def alike(text: str, names: Iterable[str], *, most: int = 1, likeness: float = ALIKE) -> list[str]:
    """The names that a text may be a slip for, the likest first, whatever their letters' case.

    >>> alike("Agee", ["sex", "age"])
    ['age']
    """
    from difflib import get_close_matches  # slow to import, and only errors need it

    by_lower = {name.lower(): name for name in names}
    matches = get_close_matches(text.lower(), by_lower, n=most, cutoff=likeness)
    return [by_lower[lower] for lower in matches]


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """The end of a message that says which name was probably meant, if any was.

    >>> did_you_mean("agee", ["age", "sex"]), did_you_mean("zzz", ["age", "sex"])
    ("; did you mean 'age'?", '')
    """
    return "".join(f"; did you mean {name!r}?" for name in alike(text, names))


def split_list(
    text: str, names: Iterable[str], *, is_item: Callable[[str], bool] | None = None
) -> list[str]:
    """The items of a list: a comma parts them where it is not part of a known one.

    Args:
        text: The list.
        names: Names that items begin with.
        is_item: Whether an item is known; where left out, if it is one of the names.

    >>> split_list("age,zip, home", ["age", "zip, home"])
    ['age', 'zip, home']
    """
    known = set(names)
    is_known = is_item or known.__contains__
    longest = 1 + max((name.count(",") for name in known), default=0)
    pieces = text.split(",")
    items = []
    while pieces:
        for length in range(min(longest, len(pieces)), 0, -1):
            piece = ",".join(pieces[:length])
            item = piece if is_known(piece) else piece.strip()
            if length == 1 or is_known(item):
                items.append(item)
                del pieces[:length]
                break
    return items
