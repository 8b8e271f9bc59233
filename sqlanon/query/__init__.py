"""Queries: builders of sqlglot trees."""
