"""Recodings: every record once, as numbers that a file can hold."""

from __future__ import annotations

import json
from array import array

import pytest

from sqlanon.errors import PolicyError
from sqlanon.recoding import Clusters, ColumnMap, FullDomain, Group, Run, ValueMap
from sqlanon.regions import Regions

NODES = ((0, 1), (1, 1), (0, 0), None)
RUNS = (Run(0, 1, 0), Run(0, 2, 1), Run(1, 1, 2), Run(2, 3, 3))
REGIONS = Regions(((0, 1), None), (5, 2), (3, 2), array("q", [2, 1, 1]), array("q", [0, 1, 0]))
WORK = ColumnMap((Group("{a, c}", ("a", "c")), Group("b", ("b",)), Group(None, (None,))), (0, 2))
SEX = ColumnMap((Group("*", ("f", "m")),), (1,))


def test_clusters_know_their_records_and_levels():
    clusters = Clusters(NODES, RUNS)
    assert (clusters.records, clusters.levels) == (7, ((0, 1), (0, 1)))


def test_records_that_are_not_published_have_no_level():
    assert Clusters(NODES, RUNS).per_level([1, 2]) == [[2, 2], [1, 3, 0]]


def test_a_node_is_one_level_for_each_column():
    node = FullDomain((0, 2))
    assert (node.node, node.levels) == ((0, 2), ((0,), (2,)))


def test_a_map_is_of_the_levels_of_its_groups():
    found = ValueMap((WORK, SEX))
    assert (found.levels, found.node, found.records) == (((0, 2), (1,)), None, None)
    assert found.published_records is None


def test_a_map_of_one_level_for_each_column_is_a_node():
    assert ValueMap((SEX, SEX)).node == (1, 1)


@pytest.mark.parametrize(
    ("groups", "levels"),
    [
        ((Group("{a, b}", ("a", "b")), Group("b", ("b",))), (0,)),  # a value in two groups
        ((Group("x", ("a", "b")), Group("x", ("c",))), (0,)),  # two groups of one label
        ((Group("c", ("a", "b")), Group("c", ("c",))), (0,)),
        ((Group("c", ("a", "b")), Group("d", ("c",))), (0,)),  # the label is a value elsewhere
        ((Group(None, ("a",)),), (0,)),  # NULL that is none
        ((Group("x", ()),), (0,)),  # no values
        ((Group("x", (1,)),), (0,)),  # no text
        ((Group("a", ("a",)),), ()),  # no level
        ((Group("a", ("a",)),), (1, 0)),
    ],
)
def test_maps_that_do_not_recode_every_value_once_are_refused(groups, levels):
    with pytest.raises(PolicyError):
        ColumnMap(groups, levels)


@pytest.mark.parametrize(
    "recoding",
    [FullDomain((0, 2)), Clusters(NODES, RUNS, ("diagnosis",)), ValueMap((WORK, SEX)), REGIONS],
)
def test_recodings_survive_a_file(recoding):
    assert type(recoding).from_document(json.loads(json.dumps(recoding.to_document()))) == recoding


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


def test_regions_know_their_records_and_levels():
    assert (REGIONS.records, REGIONS.published_records) == (7, 5)
    assert (REGIONS.levels, REGIONS.per_level([1, 2])) == (((0,), (1,)), [[5, 0], [0, 5, 0]])


@pytest.mark.parametrize(
    ("nodes", "sizes", "values", "runs"),
    [
        (((0,),), (1,), (1,), ([1, 1], [0])),  # a run without a node
        (((0,),), (1,), (1,), ([1], [1])),  # no such node
        (((0,), (1,)), (1, 1), (1,), ([1], [0])),  # a node without a run
        (((0,),), (1,), (1,), ([0], [0])),  # an empty run
        (((0,),), (0,), (1,), ([1], [0])),  # a node without a record
        (((0,),), (1, 1), (1,), ([1], [0])),
        (((0,), (0, 0)), (1, 1), (1,), ([1, 1], [0, 1])),  # of other quasi-identifiers
        ((None,), (1,), (1,), ([1], [0])),  # nothing is published
        (((0,),), (1,), (0,), ([1], [0])),  # a column without a value
    ],
)
def test_regions_that_do_not_recode_every_combination_once_are_refused(nodes, sizes, values, runs):
    with pytest.raises(PolicyError):
        Regions(nodes, sizes, values, *(array("q", own) for own in runs))
