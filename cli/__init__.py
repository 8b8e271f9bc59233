"""The command line: one command is one call of the library."""

from .main import app

__all__ = ["app"]
