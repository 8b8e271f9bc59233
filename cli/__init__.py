"""The command line: one command is one call of the library."""

from __future__ import annotations

import signal
import sys

from .failures import LeaveAtOnce

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["app"]


def app(arguments: Sequence[str] | None = None) -> None:
    """Runs the program with these arguments, or those of the process, and exits with its status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Loading the commands takes a tenth of a second, in which one may change one's mind.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, LeaveAtOnce(words))
    from .main import run

    run(words)
