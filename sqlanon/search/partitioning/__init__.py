"""Partitioning from the top: all records are one part at first, and parts are cut and cut again."""
