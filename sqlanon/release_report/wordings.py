"""Wordings: models and measures in plain words, where a page first names them."""

from __future__ import annotations

from sqlanon.release_report.figures import LossFigures, ValueShares
from sqlanon.wording import at_least, figure, percent

MEASURES = {
    "lm": "share of the values that a cell may stand for, averaged; 0: nothing lost, 1: all",
    "tree": "level divided by the height of the hierarchy, averaged over cells",
    "precision": "the same as tree: one minus Sweeney's precision",
    "suppressed_cells": "cells that are fully suppressed",
    "monotone_entropy": "bits lost per cell, counted so that a coarser label never loses less",
    "entropy": "bits lost per cell",
    "hdm": "share of the records that a cell can be mistaken for, averaged over cells",
    "ambiguity": "combinations of values that a record may stand for, on average",
    "discernibility": "sum of the squared class sizes; each record left out adds the table's size",
    "average_class_size": "records per class, divided by k",
    "row_types": "distinct rows of quasi-identifiers",
    "average_row_type": "records per distinct row",
    "maximum_row_type": "records with the most frequent row",
    "usefulness": "share of the values that the cells of a row may stand for; lower is better",
    "classification": "records whose class attribute is not that of the majority in their class",
    "purity": "how far the sensitive values of a class agree; higher gives more away",
    "purity_gain": "purity minus that of the whole table",
    "utility": "Khaitan's E: loss in relation to the purity gained",
}
"""What each measure is, by its JSON name."""
_MODELS = {
    "k)-anonymity": "greatest share of a class that one value may have",
    "k-anonymity": "every class has at least k members",
    "distinct": "different sensitive values in a class",
    "entropy": "how evenly a class holds sensitive values",
    "recursive": "how frequent a class's most frequent value may be",
    "closeness": "how far the values of a class may be from those of the table",
    "likeness": "how much more frequent a value may be in a class",
    "disclosure": "how much more or less frequent a value may be in a class",
}


UNPROVED = "There was no time to prove how much other recodings lose at least."
"""What stands for a bound that says next to nothing."""
USELESS = "No useful lower bound on the loss was found; `sqlanon bound` may prove more."
"""What stands for such a bound where time was not short."""


def least_text(loss: LossFigures) -> str:
    """What is proven of other recodings, a clause; empty where nothing is."""
    if loss.value is None or loss.lower_bound is None:
        return ""
    if loss.is_void:
        return UNPROVED
    if loss.is_useless:
        return USELESS
    least = plain(loss.value) if loss.is_reached else figure_below(loss.lower_bound)
    return f"{loss.bound_of} loses less than {least}"


def plain(value: float, *, digits: int = 6) -> str:
    """A measure for a reader: as `figure`, but never as a power of ten.

    >>> plain(0.0000147737), plain(27918.9, digits=3), plain(0.25), plain(12345.0)
    ('0.0000147737', '27,900', '0.25', '12,345')
    """
    from decimal import Decimal  # slow to import, and few reports need it

    text = figure(value) if digits == 6 else f"{value:.{digits}g}"
    return f"{Decimal(text):,f}" if "e" in text else text


def figure_below(bound: float) -> str:
    """A lower bound for a reader: rounded down, and never as a power of ten.

    >>> figure_below(0.0000147737789), figure_below(12.0)
    ('0.0000147737', '12')
    """
    return plain(float(at_least(bound).replace(",", "")))


def apart_text(shares: ValueShares) -> str:
    """How far the furthest class of a sensitive column is from the table, as a part of a sentence.

    >>> apart_text(ValueShares("pay", 20, 40, (), 0.25, 4, {}, is_ranged=True))
    'its values would have to move past 25% of all different values on average (ordered distance)'
    """
    share = percent(shares.distance)
    if shares.is_ranged:
        return (
            f"its values would have to move past {share} of all different values on average "
            "(ordered distance)"
        )
    return f"{share} of its records would have to hold another value (equal distance)"


def model_text(name: str) -> str:
    """A model's name with what it means.

    >>> model_text("k-anonymity")
    'k-anonymity: every class has at least k members'
    """
    meaning = next((text for part, text in _MODELS.items() if part in name), "")
    return f"{name}: {meaning}" if meaning else name
