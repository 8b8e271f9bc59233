"""Recodings: what a search decides.

A full-domain recoding is a node of the generalization lattice: every value of a column goes to the
same level, 0 for the original values, the height of the hierarchy for its top.

Source: Samarati 2001, "Protecting respondents' identities in microdata release".
"""

from __future__ import annotations

Node = tuple[int, ...]
