"""Queries about sensitive values of classes, and which classes violate a model."""
