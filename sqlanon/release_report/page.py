"""Page: a release report as one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from sqlanon.arguments import path_of
from sqlanon.errors import SourceError
from sqlanon.pictures import refuse_place, refuse_undrawn
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
    file = path_of(path, "the report")
    if file.suffix.lower() not in ENDINGS:
        raise SourceError(
            f"{file.name!r} cannot be a page; give the report's file the ending .html"
        )
    refuse_undrawn()
    refuse_place(file, overwrite=overwrite)
    return file


def html_of(report: ReportedRelease) -> str:
    """The page of a report.

    Raises:
        PolicyError: What draws the charts is not installed.
    """
    refuse_undrawn()
    return html_page("release", report=report, views=PageViews(report, Pictures()))
