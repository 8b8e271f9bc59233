"""Suggestions: a draft of a policy, made from the names, types and figures of a table's columns."""
