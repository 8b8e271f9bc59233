"""Refinement: clusters dissolved and covered anew."""
