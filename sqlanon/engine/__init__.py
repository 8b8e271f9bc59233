"""Engines: the only code that executes statements."""
