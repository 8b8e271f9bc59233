"""The generalization lattice: its best node, and what checks prove of the others."""
