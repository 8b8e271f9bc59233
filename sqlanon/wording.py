"""Wording: small pieces of the sentences that messages and reports are made of."""

from __future__ import annotations


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
