"""Reported: what a page needs to know of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sqlanon.release_report.figures import MethodFacts
from sqlanon.release_report.gathering import Gathered
from sqlanon.reports.check import ModelResult
from sqlanon.reports.document import Provenance


class ReportedRelease(Protocol):
    """A report of a release, as its page asks for it."""

    @property
    def found(self) -> Gathered:
        """What both tables tell."""

    @property
    def method(self) -> MethodFacts | None:
        """How the release was made."""

    @property
    def models(self) -> tuple[ModelResult, ...]:
        """The policy's models and whether they hold in the release."""

    @property
    def left_out(self) -> int:
        """Records that the release does not hold, or holds without any quasi-identifier."""

    @property
    def provenance(self) -> Provenance:
        """What it was made of and when."""

    def hashes(self) -> Mapping[str, str | None]:
        """SHA-256 of the released table, the policy and the plan."""
        ...
