"""Every error that sqlanon raises on purpose.

A message names the column, the count and the way out, and never quotes a value of the table.
The command line prints it as one line and exits with `exit_code`.
"""

from __future__ import annotations

from collections.abc import Sequence


class SqlanonError(Exception):
    """Base of all errors raised on purpose."""

    exit_code = 2


class PolicyError(SqlanonError, ValueError):
    """A policy, or an argument, that contradicts itself or the table."""


class HierarchyError(SqlanonError, ValueError):
    """A hierarchy that is no laminar tree, or that does not fit its column.

    Args:
        faults: A sentence, or one per fault, each naming hierarchy, column, level and count.
    """

    def __init__(self, faults: str | Sequence[str]) -> None:
        self.faults = (faults,) if isinstance(faults, str) else tuple(faults)
        super().__init__("; ".join(self.faults))


class SourceError(SqlanonError, ValueError):
    """A file, database, table or column that is missing, in the way or unreadable."""


class MissingTableError(SourceError):
    """A name that no table of the source has."""


class ReleaseError(SqlanonError):
    """A table about to leave the house that holds columns which its policy does not let out."""

    exit_code = 1


class EngineError(SqlanonError):
    """The database could not carry a statement out."""


class StalePlanError(SqlanonError):
    """The table changed after the plan was made."""


class UnsatisfiableError(SqlanonError):
    """No recoding within the policy's bounds satisfies its privacy models."""

    exit_code = 1


class TimeLimitError(SqlanonError):
    """A time limit that ended a search before it had anything to publish.

    Args:
        phase: The part of the search that it ended; None where only the caller knows.
    """

    exit_code = 1

    def __init__(self, phase: str | None = None) -> None:
        self.phase = phase
        where = "" if phase is None else f" during {phase}"
        super().__init__(
            f"the time limit came{where}, before there was a result; allow more time with "
            "time_limit (--time-limit)"
        )


class VerificationError(SqlanonError):
    """A table about to be published that failed its own check; nothing was published."""

    exit_code = 1
