"""The program as `python -m sqlanon`."""

from sqlanon.cli import app  # type: ignore[import-not-found]

app()
