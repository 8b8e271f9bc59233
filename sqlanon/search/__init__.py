"""Search: the algorithms, over numbers and small arrays."""
