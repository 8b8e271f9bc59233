"""Fewer random examples in the quick loop; the modules that tests share."""
