"""Generalized itemsets of a table, mined in the database."""
