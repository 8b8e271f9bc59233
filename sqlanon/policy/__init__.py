"""Policies: roles of columns, privacy models, patterns, and what a policy does not protect from."""
