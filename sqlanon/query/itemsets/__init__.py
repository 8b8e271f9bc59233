"""Queries that mine generalized itemsets."""
