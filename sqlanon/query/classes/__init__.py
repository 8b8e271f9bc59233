"""Queries that count equivalence classes of lattice nodes and patterns."""
