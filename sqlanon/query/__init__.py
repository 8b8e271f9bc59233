"""Builders of syntax trees: what to ask the database."""
