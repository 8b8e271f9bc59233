"""Failures: messages of runs that failed; light, so that it is there before all else."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # not from typing, which takes as long to load as all of this
    from collections.abc import Sequence
    from types import FrameType

INTERRUPTED = 130
VERSION = "0.1.0"
_INTERRUPTED = (
    '{"schema_version": 1, "version": "%s", "created": "%s", '
    '"error": {"kind": "Interrupted", "message": "interrupted"}, "exit_code": 130}'
)


def wants_json(words: Sequence[str]) -> bool:
    """Whether the words of a command line ask for JSON, right or wrong as the others may be."""
    words = list(words)
    return "--json" in words[: words.index("--") if "--" in words else None]


def document(kind: str, message: str, *, code: int) -> str:
    """The JSON document of a run that failed.

    >>> print(document("PolicyError", "k is 0", code=2))  # doctest: +ELLIPSIS
    {"schema_version": 1, "version": ..., "error": {"kind": "PolicyError", ...}, "exit_code": 2}
    """
    import json  # slow to import, and only this needs it

    error = {"kind": kind, "message": message}
    head = {"schema_version": 1, "version": VERSION, "created": _now()}
    return json.dumps({**head, "error": error, "exit_code": code})


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())


class LeaveAtOnce:
    """Ends the process when it is interrupted before it has begun: nothing needs to be closed.

    An exception would come up anywhere in an import, also where Python cannot raise but prints it.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.messages = [(2, "sqlanon: interrupted\n")]
        if wants_json(words):
            self.messages.append((1, _INTERRUPTED % (VERSION, _now()) + "\n"))

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Tells and leaves; `signal.signal` calls it."""
        for stream, text in self.messages:
            try:
                os.write(stream, text.encode())
            except OSError:  # closed or full
                continue
        os._exit(INTERRUPTED)
