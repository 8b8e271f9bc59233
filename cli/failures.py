"""Failures: messages of runs that failed; light, so that it is there before all else."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # not from typing, which takes as long to load as all of this
    from collections.abc import Sequence
    from types import FrameType

INTERRUPTED = 130
_INTERRUPTED = (
    '{"schema_version": 1, "error": {"kind": "Interrupted", "message": "interrupted"}, '
    '"exit_code": 130}'
)


def wants_json(words: Sequence[str]) -> bool:
    """Whether the words of a command line ask for JSON, right or wrong as the others may be."""
    words = list(words)
    return "--json" in words[: words.index("--") if "--" in words else None]


def document(kind: str, message: str, code: int) -> str:
    """The JSON document of a run that failed.

    >>> print(document("PolicyError", "k is 0", 2))
    {"schema_version": 1, "error": {"kind": "PolicyError", "message": "k is 0"}, "exit_code": 2}
    """
    import json  # slow to import, and only this needs it

    error = {"kind": kind, "message": message}
    return json.dumps({"schema_version": 1, "error": error, "exit_code": code})


class LeaveAtOnce:
    """Ends the process when it is interrupted before it has begun: nothing needs to be closed.

    An exception would come up anywhere in an import, also where Python cannot raise but prints it.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.told = [(2, "sqlanon: interrupted\n")]
        if wants_json(words):
            self.told.append((1, f"{_INTERRUPTED}\n"))

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Tells and leaves; `signal.signal` calls it."""
        for stream, text in self.told:
            try:
                os.write(stream, text.encode())
            except OSError:  # closed or full
                continue
        os._exit(INTERRUPTED)
