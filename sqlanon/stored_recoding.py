"""Stored recodings: those of saved plans, read by their kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlanon.recoding import Clusters, FullDomain, Recoding, ValueMap
from sqlanon.regions import Regions

READERS: Mapping[str, Callable[[Any], Recoding]] = {
    FullDomain.kind: FullDomain.from_document,
    ValueMap.kind: ValueMap.from_document,
    Clusters.kind: Clusters.from_document,
    Regions.kind: Regions.from_document,
}


def recoding_of(document: Any) -> Recoding:
    """Reads the recoding of a saved plan.

    A document names its `kind`, but for the two oldest: a node is a list of levels, and clusters
    have no name.

    Raises:
        LookupError: Something is missing, or the kind is not known.
        TypeError: A run has too few or too many numbers.
        PolicyError: It is no recoding.
    """
    named = isinstance(document, Mapping)
    return READERS[document.get("kind", Clusters.kind) if named else FullDomain.kind](document)
