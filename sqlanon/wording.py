"""Wording: small pieces of the sentences that messages and reports are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

ALIKE = 0.65
"""Least likeness, from 0 to 1, of a name to the one that it may be a slip for."""


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


def in_columns(rows: Sequence[Sequence[str]], aligned: str) -> list[str]:
    """Rows of cells as lines of columns, each aligned by "<" or ">"."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, aligned, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


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


def at_least(value: float) -> str:
    """A lower bound for a reader: `figure`, rounded down.

    >>> at_least(0.45876289), at_least(12.0), at_least(0.0)
    ('0.458762', '12', '0')
    """
    from decimal import ROUND_FLOOR, Context  # slow to import, and few reports need it

    if value.is_integer():
        return figure(value)
    return figure(float(Context(prec=6, rounding=ROUND_FLOOR).create_decimal_from_float(value)))


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
    found = get_close_matches(text.lower(), by_lower, n=most, cutoff=likeness)
    return [by_lower[lower] for lower in found]


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
