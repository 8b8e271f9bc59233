"""Published counts of closed frequent generalized itemsets.

Nursery: Kenig 2009, table 9.3. Adult: counted by an itemset miner, too, from transactions that hold
every ancestor of their values.
"""

import pytest
from public import ADULT, DATA, read

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy

NURSERY = (
    "parents", "has_nurs", "form", "children", "housing", "finance", "social", "health",
)  # fmt: skip
TAXONOMIES = ("has_nurs", "form")


def count(connection, hierarchies, k):
    """Closed frequent itemsets, and their memberships."""
    policy = Policy(hierarchies, models=[KAnonymity(k)])
    report = sqlanon.mine(connection, policy, table="people")
    return report.itemsets, report.memberships


@pytest.fixture(scope="module")
def nursery():
    connection = read("nursery.csv.gz", NURSERY)
    yield connection
    connection.close()


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "expected"), [(50, (765_152, 185_502_137)), (5, (2_221_353, 213_579_392))]
)
def test_adult_has_the_known_number_of_itemsets_and_memberships(adult, k, expected):
    folder = DATA / "adult_hierarchies"
    hierarchies = {name: Hierarchy.from_file(folder / f"{name}.csv") for name in ADULT}
    assert count(adult, hierarchies, k) == expected
