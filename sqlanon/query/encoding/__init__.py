"""Queries that turn a table into codes."""
