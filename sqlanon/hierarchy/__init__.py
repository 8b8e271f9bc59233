"""Hierarchies: how the values of a column generalize, as rules, trees, labels and bits."""
