"""Recodings: every record once, as numbers that a file can hold."""

from __future__ import annotations

import json

import pytest

from sqlanon.errors import PolicyError
from sqlanon.recoding import Clusters, FullDomain, Run, recoding_of

NODES = ((0, 1), (1, 1), (0, 0), None)
RUNS = (Run(0, 1, 0), Run(0, 2, 1), Run(1, 1, 2), Run(2, 3, 3))


def test_clusters_know_their_records_and_levels():
    clusters = Clusters(NODES, RUNS)
    assert (clusters.records, clusters.levels) == (7, ((0, 1), (0, 1)))


def test_records_that_are_not_published_have_no_level():
    assert Clusters(NODES, RUNS).per_level([1, 2]) == [[2, 2], [1, 3, 0]]


def test_a_node_is_one_level_for_each_column():
    node = FullDomain((0, 2))
    assert (node.node, node.levels) == ((0, 2), ((0,), (2,)))


@pytest.mark.parametrize("recoding", [FullDomain((0, 2)), Clusters(NODES, RUNS, ("diagnosis",))])
def test_recodings_survive_a_file(recoding):
    assert recoding_of(json.loads(json.dumps(recoding.to_document()))) == recoding


def test_a_document_is_read_by_its_kind():
    document = Clusters(NODES, RUNS).to_document()
    assert recoding_of({**document, "kind": "clusters"}) == Clusters(NODES, RUNS)
    with pytest.raises(LookupError):
        recoding_of({**document, "kind": "unheard of"})


@pytest.mark.parametrize(
    ("nodes", "runs"),
    [
        (((0,),), (Run(1, 1, 0),)),  # the first unit is missing
        (((0,),), (Run(0, 1, 0), Run(2, 1, 0))),  # the second one
        (((0,),), (Run(0, 1, 0), Run(1, 1, 0), Run(0, 1, 0))),  # the first one comes twice
        (((0,),), (Run(0, 0, 0),)),  # no record
        (((0,),), (Run(0, 1, 1),)),  # no such node
        (((0,), (0, 0)), (Run(0, 1, 0), Run(1, 1, 1))),  # of other quasi-identifiers
        ((None,), (Run(0, 1, 0),)),  # nothing is published
    ],
)
def test_clusters_that_do_not_recode_every_record_once_are_refused(nodes, runs):
    with pytest.raises(PolicyError):
        Clusters(nodes, runs)


def test_levels_of_clusters_are_worked_out_once():
    clusters = Clusters(((0, 1), (2, 1), None), (Run(0, 2, 0), Run(1, 1, 1), Run(1, 4, 2)))
    assert clusters.levels == ((0, 2), (1,))
    assert clusters.levels is clusters.levels
    assert (clusters.records, clusters.published_records) == (7, 3)
