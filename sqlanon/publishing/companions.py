"""Companions: files of a release that are written while it is published, and named with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from errno import EEXIST
from pathlib import Path

from sqlglot import exp

from sqlanon.engine.base import Engine
from sqlanon.engine.files import DraftFile
from sqlanon.errors import SourceError
from sqlanon.publishing.plan import Plan
from sqlanon.reports.plan import Report

Text = Callable[[Report], str]
Look = Callable[[Engine, Plan, exp.Table], Text]
"""Looks at a published table before anybody sees it; what it gives makes the text of the file."""


@dataclass(slots=True)
class Companion:
    """A file that is written beside its place while a release is published, as `Witnessing` has it.

    Args:
        path: Where it goes.
        what: What it is, such as `manifest`.
        look: What it says of a release.
        overwrite: Whether the file may be there already.
    """

    path: Path
    what: str
    look: Look
    overwrite: bool = False
    _text: Text | None = field(default=None, init=False)
    _draft: DraftFile | None = field(default=None, init=False)

    def __call__(self, engine: Engine, plan: Plan, original: exp.Table, table: exp.Table) -> None:
        """Looks at a release; what it was made of tells the file nothing."""
        self._text = self.look(engine, plan, table)

    def draw(self, report: Report) -> None:
        """Writes the file beside its place.

        Raises:
            SourceError: It cannot be written.
        """
        assert self._text is not None
        try:
            self._draft = DraftFile.make(self.path, self._text(report))
        except OSError as error:
            reason = error.strerror or type(error).__name__
        else:
            return
        raise SourceError(
            f"the {self.what} {str(self.path)!r} cannot be written: {reason}; name a file in "
            "another folder"
        )

    def write(self, report: Report) -> tuple[str, ...]:
        """Gives the file its name; a note where that fails."""
        assert self._draft is not None
        try:
            if not self.overwrite and self.path.exists():
                raise FileExistsError(EEXIST, "it is there by now")
            self._draft.publish()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            return (
                f"the release is published, but not its {self.what} {str(self.path)!r}: {reason}",
            )
        finally:
            self._draft.discard()
        return ()

    def discard(self) -> None:
        """Removes a file that did not get its name."""
        if self._draft is not None:
            self._draft.discard()
