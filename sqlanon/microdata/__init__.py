"""Microdata: a policy bound to a table, and the table in codes."""
