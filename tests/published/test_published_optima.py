"""Public data: the optima that a mature tool finds on the same files, with fewer node checks."""

import pytest
from public import ADULT, policy_of, read

import sqlanon
from sqlanon import LDiversity, TCloseness

IHIS = ("year", "quarter", "region", "pernum", "age", "marstat", "sex", "racea", "educ")

# k, limit, levels, loss and nodes checked, as a mature in-memory tool reports them.
ADULT_OPTIMA = [
    (2, 0.0, (0, 4, 1, 1, 3, 2, 0, 2, 0), 0.603685, 217),
    (5, 0.0, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0.635544, 181),
    (5, 0.05, (0, 3, 0, 0, 2, 1, 1, 2, 0), 0.269635, 1050),
    (5, 1.0, (0, 3, 0, 0, 2, 1, 1, 1, 0), 0.227700, 3449),
]
# The same with occupation sensitive instead; those at limit 0 are the same tool's figures, too.
WITHOUT_OCCUPATION = tuple(name for name in ADULT if name != "occupation")
ENTROPY, CLOSE = LDiversity(3, "entropy"), TCloseness(0.2, "equal")
OCCUPATION_OPTIMA = [
    (ENTROPY, 0.0, (0, 4, 1, 1, 3, 2, 2, 0), 0.679145),
    (CLOSE, 0.0, (1, 4, 1, 1, 3, 2, 2, 1), 0.929145),
    (ENTROPY, 0.05, (0, 3, 0, 1, 2, 1, 1, 0), 0.225558),
    (CLOSE, 0.05, (1, 4, 1, 1, 3, 1, 2, 1), 0.839694),
]
IHIS_OPTIMUM = (5, 0.0, (2, 0, 0, 3, 4, 1, 0, 0, 1), 0.414279)


@pytest.fixture(scope="module")
def adult_plans(adult):
    """One plan per policy, made when it is first asked for."""
    plans = {}

    def plan(k, limit):
        if (k, limit) not in plans:
            policy = policy_of("adult_hierarchies", ADULT, k, limit)
            plans[k, limit] = sqlanon.plan(adult, policy, table="people", loss="lm").report
        return plans[k, limit]

    return plan


@pytest.fixture(scope="module")
def ihis_plan():
    """The plan over 1.2 million records at a limit of 0."""
    k, limit, _, _ = IHIS_OPTIMUM
    connection = read("ihis_like.csv.gz", IHIS)
    policy = policy_of("ihis_like_hierarchies", IHIS, k, limit)
    report = sqlanon.plan(connection, policy, table="people", loss="lm").report
    connection.close()
    return report


def test_adult_has_30162_complete_records(adult):
    assert adult.execute("SELECT count(*) FROM people").fetchone() == (30_162,)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "limit", "levels", "lm", "checked"), ADULT_OPTIMA)
def test_adult_optimum_is_the_published_node(adult_plans, k, limit, levels, lm, checked):
    assert tuple(adult_plans(k, limit).levels.values()) == levels


@pytest.mark.slow
@pytest.mark.parametrize(("k", "limit", "levels", "lm", "checked"), ADULT_OPTIMA)
def test_adult_loss_is_the_published_one(adult_plans, k, limit, levels, lm, checked):
    assert round(adult_plans(k, limit).loss["lm"], 6) == lm


@pytest.mark.slow
@pytest.mark.parametrize(("k", "limit", "levels", "lm", "checked"), ADULT_OPTIMA)
def test_adult_optimum_is_proven(adult_plans, k, limit, levels, lm, checked):
    report = adult_plans(k, limit)
    assert report.search.proven
    assert report.lower_bound == report.loss["lm"]


@pytest.mark.slow
@pytest.mark.parametrize(("k", "limit", "levels", "lm", "checked"), ADULT_OPTIMA)
def test_adult_search_checks_no_more_nodes_than_published(
    adult_plans, k, limit, levels, lm, checked
):
    report = adult_plans(k, limit)
    assert report.search.nodes == 12_960
    assert report.search.checked <= checked


@pytest.mark.slow
@pytest.mark.parametrize(("model", "limit", "levels", "lm"), OCCUPATION_OPTIMA, ids=str)
def test_adult_optimum_with_occupation_sensitive_is_the_published_one(
    adult, model, limit, levels, lm
):
    columns, folder = WITHOUT_OCCUPATION, "adult_hierarchies"
    policy = policy_of(folder, columns, 5, limit, model, sensitive=["occupation"])
    report = sqlanon.plan(adult, policy, table="people", loss="lm").report
    assert tuple(report.levels.values()) == levels
    assert round(report.loss["lm"], 6) == lm
    assert report.search.proven
    assert all(result.holds for result in report.models)


@pytest.mark.slow
def test_ihis_like_optimum_is_the_published_node(ihis_plan):
    assert tuple(ihis_plan.levels.values()) == IHIS_OPTIMUM[2]


@pytest.mark.slow
def test_ihis_like_loss_is_the_published_one(ihis_plan):
    assert round(ihis_plan.loss["lm"], 6) == IHIS_OPTIMUM[3]
