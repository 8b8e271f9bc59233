"""Wording: small pieces of the sentences that messages and reports are made of."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, one: str, more: str = "") -> str:
    """A number of things, in figures and in the right number.

    Args:
        count: How many.
        one: What one of them is called.
        more: What several are called; with an s where left out.

    >>> counted(1, "value"), counted(1200, "class", "classes")
    ('1 value', '1,200 classes')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def in_columns(rows: Sequence[Sequence[str]], aligned: str) -> list[str]:
    """Rows as lines of aligned columns.

    Args:
        rows: The cells.
        aligned: Per column "<" or ">".
    """
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
    return f"{part:,} ({percent(part / whole if whole else 0.0)})"


def percent(value: float) -> str:
    """A share in per cent, to two places; only what is nothing or all reads so.

    >>> [percent(value) for value in (0, 1e-6, 0.2, 1 / 3, 0.99999, 1)]
    ['0%', '<0.01%', '20%', '33.33%', '>99.99%', '100%']
    """
    if 0 < value < 0.0001:
        return "<0.01%"
    if 0.9999 < value < 1:
        return ">99.99%"
    return f"{value * 100:.2f}".rstrip("0").rstrip(".") + "%"


def figure(value: float) -> str:
    """A measure for a reader: totals in full, others to six digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 and value.is_integer() else f"{value:.6g}"


def key(loss_name: str) -> str:
    """A loss's name as a JSON key."""
    return loss_name.replace("-", "_")


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent."""
    if not part or not whole:
        return "0%"
    return f"{part / whole:.2%}" if part / whole >= 0.0001 else "<0.01%"
