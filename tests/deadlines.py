"""Deadlines that come after so many looks at the clock, however long these take."""

from dataclasses import replace
from itertools import count

from sqlanon.deadline import Deadline


def deadline_after(looks):
    """A deadline that comes after so many looks at the clock."""
    return Deadline(looks, count(1).__next__)


def until(problem, looks):
    """A problem, or a rule of parts, with such a deadline."""
    return replace(problem, deadline=deadline_after(looks))
