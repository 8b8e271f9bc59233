"""Queries about a table as it stands, and about a release."""
