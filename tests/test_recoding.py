"""Recodings: every record once, as numbers that a file can hold."""

from __future__ import annotations

import json

import pytest

from sqlanon.errors import PolicyError
from sqlanon.recoding import Clusters, Run

RUNS = (Run(0, 0, 0, (0, 1)), Run(0, 1, 2, (1, 1)), Run(1, 0, 0, (0, 0)))


def test_clusters_know_their_records_and_levels():
    clusters = Clusters(RUNS)
    assert (clusters.records, clusters.lowest, clusters.highest) == (4, (0, 0), (1, 1))


def test_clusters_survive_a_file():
    clusters = Clusters(RUNS, ("diagnosis",))
    assert Clusters.from_dict(json.loads(json.dumps(clusters.to_dict()))) == clusters


@pytest.mark.parametrize(
    "runs",
    [
        (Run(0, 1, 1, (0,)),),  # the first record is missing
        (Run(0, 0, 1, (0,)), Run(0, 1, 2, (0,))),  # the second one twice
        (Run(0, 0, 0, (0,)), Run(2, 0, 0, (0,))),  # a unit is missing
        (Run(0, 0, -1, (0,)),),  # none
        (Run(0, 0, 0, (0,)), Run(1, 0, 0, (0, 0))),  # of other quasi-identifiers
    ],
)
def test_clusters_that_do_not_recode_every_record_once_are_refused(runs):
    with pytest.raises(PolicyError):
        Clusters(runs)
