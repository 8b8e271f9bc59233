"""Patterns of kept columns: the greedy heuristic, and cuts for the integer program."""
