"""An anonymized frame beside the report of it."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from sqlanon.reports.plan import Report

T = TypeVar("T")


class Anonymized(NamedTuple, Generic[T]):
    """A frame that is published, and what was proved on it: `frame, report = ...`.

    Args:
        frame: The published rows, as a frame of the same kind as the original.
        report: Loss, classes, and the models, which hold.
    """

    frame: T
    report: Report
