"""Queries that label values, and that store hierarchies."""
