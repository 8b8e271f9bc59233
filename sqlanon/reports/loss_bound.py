"""Loss bound: a loss beside the least that others lose, as reports tell of both."""

from __future__ import annotations

from sqlanon.wording import at_least, without_noise

USELESS = 100
"""Times a lower bound above which a loss is so far from it that it says next to nothing."""


def is_reached(loss: float, bound: float | None) -> bool:
    """Whether a loss is its lower bound, but for rounding."""
    return bound is not None and loss <= bound * (1 + 1e-9)


def is_useless(loss: float, bound: float) -> bool:
    """Whether a lower bound is so far below a loss that it says next to nothing.

    >>> is_useless(0.5, 0.25), is_useless(0.5, 1e-6), is_useless(0.0, 0.0)
    (False, True, False)
    """
    return loss > USELESS * without_noise(bound)


def bound_clause(every: str, loss: float, bound: float) -> str:
    """What is known of every other recoding, of which `bound` is a lower bound.

    >>> bound_clause("recoding", 0.5, 0.25)
    'no recoding loses less than 0.25; this is 2 times as much'
    >>> bound_clause("recoding", 0.5, 0.5), bound_clause("recoding", 0.5, 1e-6)
    ('no recoding loses less', 'no useful lower bound was found')
    """
    if is_reached(loss, bound):
        return f"no {every} loses less"
    if is_useless(loss, bound):
        return "no useful lower bound was found"
    return f"no {every} loses less than {at_least(bound)}; this is {loss / bound:.3g} times as much"
