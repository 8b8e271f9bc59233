"""Clusterings: covers by itemsets, their conversion, and lower bounds."""
