"""Wordings: models and measures in plain words, where a page first names them."""

from __future__ import annotations

MEASURES = {
    "lm": "share of the values that a cell could be, over cells; 0 none lost, 1 all",
    "tree": "level over the height of the hierarchy, over cells",
    "precision": "the same as tree: one minus the precision of Sweeney",
    "suppressed_cells": "cells that say nothing any more",
    "monotone_entropy": "bits lost per cell, counted so that going up never helps",
    "entropy": "bits lost per cell",
    "hdm": "records that a cell can be mistaken for, over cells",
    "ambiguity": "combinations of values that a record could be, on average",
    "discernibility": "sum of the squared class sizes; records left out cost the table's size",
    "average_class_size": "records per class, over k",
    "row_types": "different rows of quasi-identifiers",
    "average_row_type": "records per different row",
    "maximum_row_type": "records of the most frequent row",
    "usefulness": "values that the cells of a row could be, as shares; lower is better",
    "classification": "records that are not of their class's majority",
    "purity": "how much of a class agrees in its sensitive values; higher tells more",
    "purity_gain": "purity less that of the whole table",
    "utility": "Khaitan's E: loss over purity gained",
}
"""What each measure is, by its JSON name."""
_MODELS = {
    "k)-anonymity": "greatest share of a class for one value",
    "k-anonymity": "every class has at least k members",
    "distinct": "different sensitive values in a class",
    "entropy": "how evenly a class holds sensitive values",
    "recursive": "how frequent a class's most frequent value may be",
    "closeness": "how far a class may be from the table",
    "likeness": "how much more frequent a value may be in a class",
    "disclosure": "how much more or less frequent a value may be in a class",
}


def model_text(name: str) -> str:
    """A model's name with what it means.

    >>> model_text("k-anonymity")
    'k-anonymity: every class has at least k members'
    """
    meaning = next((text for part, text in _MODELS.items() if part in name), "")
    return f"{name}: {meaning}" if meaning else name
