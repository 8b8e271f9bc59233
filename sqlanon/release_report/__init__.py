"""The report of a release for a data protection officer: figures, page and charts."""
