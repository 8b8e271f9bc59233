"""Brute force: what every method must agree with on small tables, in few lines of Python."""
