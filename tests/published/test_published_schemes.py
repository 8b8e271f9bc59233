"""Generalization schemes on Adult: the least discernibility, and what `measure` makes of groups.

Source: Li and Li 2007, "Towards optimal k-anonymization", section 5: 30,162 complete records, age
in fifteen intervals of five years in groups of three. The figures are optima worked out for this
project, since the source shows its own in plots alone.
"""

from __future__ import annotations

import pytest
from public import COMPLETE, DATA, read

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy

FILES = ("marital_status", "race", "sex")
AGES = Hierarchy.from_rows([(str(n), f"group {n // 3}", "*") for n in range(15)])
OPTIMA = {
    "bhs": 54_959_468,
    "ghs": 35_108_416,
    "gops": 31_444_674,
    "ops": 31_444_674,
    "sps": 28_087_630,
}


@pytest.fixture(scope="module")
def adult():
    age = "CAST((least(age, 89) - 15) // 5 AS INTEGER) AS age"
    with read("adult.csv.gz", (age, *FILES), COMPLETE) as connection:
        yield connection


def policy():
    folder = DATA / "adult_hierarchies"
    hierarchies = {name: Hierarchy.from_file(folder / f"{name}.csv") for name in FILES}
    return Policy({"age": AGES, **hierarchies}, models=[KAnonymity(5)])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", OPTIMA)
def test_the_least_discernibility_falls_with_flexibility(adult, scheme):
    """With `sps`, ages are ordered, as numbers are where it is asked for all columns."""
    settings = {"method": "scheme", "scheme": scheme, "loss": "discernibility"}
    plan = sqlanon.plan(adult, policy(), table="people", **settings)
    assert plan.report.search.proven
    assert plan.report.loss["discernibility"] == OPTIMA[scheme]
    sqlanon.apply(adult, plan, into="released", overwrite=True)
    assert sqlanon.measure(adult, "released", policy(), table="people").loss == pytest.approx(
        plan.report.loss
    )
