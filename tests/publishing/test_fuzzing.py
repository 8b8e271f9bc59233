"""Random tables and policies end to end, and faults that the check of releases must notice."""

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.fuzzed import Case, bound_of, bounding, misfits, outcome_of, releasing, violations

from sqlanon import Hierarchy, KAnonymity, LDiversity, Policy, Sensitive, TCloseness
from sqlanon.methods.fulldomain import method as fulldomain

pytestmark = pytest.mark.slow

SEEDS = st.integers(0, 2**32).map(random.Random)


@settings(max_examples=60, derandomize=True, database=None)
@given(SEEDS)
def test_a_random_table_is_published_as_promised_or_refused_without_a_value(draw):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # What is lent to other methods is the first node: benchmarks/fuzzing.py searches on.
        patch.setattr(fulldomain, "MAX_QUICK_LOOKS", 0)
        patch.setattr(fulldomain, "MIN_NODES", 1)
        outcome_of(releasing(draw), Path(folder))


@settings(max_examples=60, derandomize=True, database=None)
@given(SEEDS)
def test_a_bound_is_never_above_the_least_loss_of_all_partitions(draw):
    bound_of(bounding(draw))


KINDS = {"age": "INTEGER", "sex": "VARCHAR", "ill": "VARCHAR"}
TABLE = [["21", "f", "flu"], ["22", "f", "cold"], ["31", "m", "flu"], ["32", "m", "cold"]]
LABELS = [("20-29", "f"), ("20-29", "f"), ("30-39", "m"), ("30-39", "m")]
RELEASE = [(*labels, row[2]) for labels, row in zip(LABELS, TABLE, strict=True)]


def faults_of(release, *models, table=TABLE):
    """How many classes of a release violate its policy, and how many cells fit no record."""
    ill = Sensitive((), Hierarchy.from_rows([("flu", "*"), ("cold", "*")]), ["flu", "cold"])
    policy = Policy(
        {"age": Hierarchy.intervals(10), "sex": Hierarchy.suppression()},
        sensitive={"ill": ill},
        keep=["id"],
        models=[KAnonymity(2), *models],
    )
    case = Case(KINDS, table, policy, {"method": "incognito"})
    rows = {n: dict(zip(KINDS, row, strict=True)) for n, row in enumerate(release) if row}
    return len([*violations(case, rows)]), len([*misfits(case, rows)])


def test_a_release_that_keeps_its_promises_has_no_fault():
    assert faults_of(RELEASE, LDiversity(2), TCloseness(0.1)) == (0, 0)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (None, (1, 0)),  # a class of one is left
        (("20-29", "*", "flu"), (2, 0)),  # two classes of one
        (("30-39", "f", "flu"), (2, 1)),  # a label that does not hold the value
        (("20-29", "m", "flu"), (2, 1)),  # an original that its record does not have
        (("20-29", "f", "cold"), (0, 1)),  # another record's sensitive value
    ],
)
def test_the_check_of_a_release_notices_a_fault(row, found):
    assert faults_of([row, *RELEASE[1:]]) == found


@pytest.mark.parametrize("model", [LDiversity(2), TCloseness(0.4)])
def test_the_check_of_a_release_notices_a_class_whose_values_are_alike(model):
    table = [[age, sex, "flu" if sex == "f" else "cold"] for age, sex, _ in TABLE]
    release = [(*labels, row[2]) for labels, row in zip(LABELS, table, strict=True)]
    assert faults_of(release, model, table=table) == (2, 0)
