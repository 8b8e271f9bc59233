"""Generalization schemes: one partition of each column's values, searched to the optimum."""
