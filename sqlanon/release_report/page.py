"""Page: a release report as one HTML file that needs nothing else."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlanon.errors import EngineError, SourceError
from sqlanon.pictures import refuse_file, refuse_undrawn
from sqlanon.release_report.charts import Pictures
from sqlanon.release_report.reported import ReportedRelease
from sqlanon.release_report.views import PageViews
from sqlanon.resources import html_page

ENDINGS = (".html", ".htm")


def refuse_page(path: str | Path, *, overwrite: bool = False) -> Path:
    """Refuses a file that no report can be written to.

    Raises:
        PolicyError: What draws is not installed.
        SourceError: The file has another ending, exists already or cannot be written.
    """
    return refuse_file(path, "page", endings=ENDINGS, overwrite=overwrite)


def html_of(report: ReportedRelease) -> str:
    """The page of a report.

    Raises:
        PolicyError: What draws the charts is not installed.
        EngineError: What draws the charts fails.
    """
    refuse_undrawn()
    try:
        return html_page("release", report=report, views=PageViews(report, Pictures()))
    except (ValueError, RuntimeError) as error:  # of what draws, whose messages may quote labels
        kind = type(error).__name__
    raise EngineError(
        f"the page of the report cannot be drawn ({kind} of altair or vl-convert); leave it out "
        "(--report), or update them: pip install --upgrade 'sqlanon[report]'"
    )


@contextmanager
def on_disk(file: Path) -> Iterator[None]:
    """Tells errors of the disk as a `SourceError` that names the page and the way out."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if error.errno == errno.ENOSPC:
            reason += ", so make room there"
    else:
        return
    raise SourceError(
        f"the report {str(file)!r} cannot be written: {reason}; name a file in another folder"
    )
