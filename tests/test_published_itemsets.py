"""Published counts of closed frequent generalized itemsets.

Nursery: Kenig 2009, table 9.3. Adult: counted by an itemset miner, too, from transactions that hold
every ancestor of their values.
"""

import pytest
from test_published import ADULT, DATA, read

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.binding import bind
from sqlanon.encoding import encode_subject
from sqlanon.engine.duckdb import DuckDB
from sqlanon.loss import CellCosts
from sqlanon.mined import lower_bound
from sqlanon.mining import Wanted, mined
from sqlanon.search.taxonomy import Taxonomy

NURSERY = (
    "parents", "has_nurs", "form", "children", "housing", "finance", "social", "health",
)  # fmt: skip
TAXONOMIES = ("has_nurs", "form")


def count(connection, hierarchies, k):
    """Closed frequent itemsets, and their memberships."""
    policy = Policy(hierarchies, models=[KAnonymity(k)])
    report = sqlanon.mine(connection, "people", policy)
    return report.itemsets, report.memberships


def bound(connection, hierarchies, k, loss):
    """The lower bound, in records that are suppressed."""
    engine, policy = DuckDB(connection), Policy(hierarchies)
    with engine.workspace():
        subject = bind(engine, engine.resolve("people"), policy)
        encoded = encode_subject(engine, subject, policy)
        wanted = Wanted(k, "closed", subject.low, subject.high, keeps_members=True)
        found = mined(engine, encoded, subject.trees, wanted)
        units = CellCosts.of(loss, subject.trees, subject.weights, subject.records)
        taxonomies = map(Taxonomy.of, subject.trees, units.costs)
        best = found.cheapest(engine, [taxonomy.cost.tolist() for taxonomy in taxonomies])
        return lower_bound(engine, best) / units.unit


@pytest.fixture(scope="module")
def nursery():
    connection = read("nursery.csv.gz", NURSERY)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def adult():
    complete = " AND ".join(f"{c} <> '?'" for c in ("workclass", "occupation", "native_country"))
    connection = read("adult.csv.gz", ADULT, complete)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("k", "itemsets"), [(50, 28_575), (75, 17_301), (100, 13_685), (150, 7_421), (200, 5_604)]
)
def test_nursery_has_the_published_number_of_itemsets(nursery, k, itemsets):
    folder = DATA / "nursery_hierarchies"
    hierarchies = {
        name: Hierarchy.from_file(folder / f"{name}.csv")
        if name in TAXONOMIES
        else Hierarchy.suppression()
        for name in NURSERY
    }
    assert count(nursery, hierarchies, k)[0] == itemsets


@pytest.mark.parametrize(
    ("k", "expected"), [(50, (765_152, 185_502_137)), (5, (2_221_353, 213_579_392))]
)
def test_adult_has_the_known_number_of_itemsets_and_memberships(adult, k, expected):
    folder = DATA / "adult_hierarchies"
    hierarchies = {name: Hierarchy.from_file(folder / f"{name}.csv") for name in ADULT}
    assert count(adult, hierarchies, k) == expected


def test_adult_has_the_known_lower_bound_on_lm(adult):
    folder = DATA / "adult_hierarchies"
    hierarchies = {name: Hierarchy.from_file(folder / f"{name}.csv") for name in ADULT}
    assert round(bound(adult, hierarchies, 50, "lm") / 30_162, 4) == 0.0846


@pytest.fixture(scope="module")
def both():
    """The 45,222 complete records of both files."""
    complete = " AND ".join(f"{c} <> '?'" for c in ("workclass", "occupation", "native_country"))
    connection = read("adult.csv.gz", ADULT, complete)
    connection.execute(
        f"INSERT INTO people SELECT {', '.join(ADULT)} FROM read_csv(?) WHERE {complete}",
        [str(DATA / "adult_test.csv.gz")],
    )
    yield connection
    connection.close()


@pytest.mark.parametrize(("k", "cells"), [(4, 38_514), (32, 71_297)])
def test_adult_has_the_known_lower_bound_on_suppressed_cells(both, k, cells):
    hierarchies = dict.fromkeys(ADULT, Hierarchy.suppression())
    assert round(bound(both, hierarchies, k, "suppressed-cells") * len(ADULT), 6) == cells
