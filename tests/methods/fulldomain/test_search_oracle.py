"""Plans on random small tables against brute force over the whole lattice."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import pytest
from databases import empty_database, insert
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.lattice import LOSSES
from strategies import hierarchies, level_bounds, records_of, weights

import sqlanon
from sqlanon import Hierarchy, KAnonymity, Policy, QuasiIdentifier, UnsatisfiableError


@st.composite
def cases(draw):
    trees = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    records = draw(records_of(trees))
    return {
        "trees": trees,
        "records": records,
        "bounds": [draw(level_bounds(rows)) for rows in trees],
        "weights": [draw(weights) for _ in trees],
        "k": draw(st.integers(1, min(4, len(records)))),
        "limit": draw(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])),
        "loss": draw(st.sampled_from(LOSSES)),
    }


def generalize(case, node):
    """The generalized records of a node."""
    maps = [
        {row[0]: row[level] for row in tree}
        for tree, level in zip(case["trees"], node, strict=True)
    ]
    return [tuple(m[v] for m, v in zip(maps, record, strict=True)) for record in case["records"]]


def cell(case, column, level, value):
    """What a cell of a published record loses."""
    tree = case["trees"][column]
    label = next(row[level] for row in tree if row[0] == value)
    under = sum(row[level] == label for row in tree)
    if case["loss"] == "lm":
        return Fraction(under - 1, len(tree) - 1) if len(tree) > 1 else Fraction(0)
    if case["loss"] == "precision":
        return Fraction(level, len(tree[0]) - 1)
    return Fraction(int(level > 0 and under == len(tree)))


def evaluate(case, node):
    """Loss and suppressed records of a node, by the formulas alone."""
    generalized, k, n = generalize(case, node), case["k"], len(case["records"])
    sizes = Counter(generalized)
    suppressed = sum(size for size in sizes.values() if size < k)
    kept = [size for size in sizes.values() if size >= k]
    if case["loss"] == "discernibility":
        return Fraction(sum(size * size for size in kept) + suppressed * n), suppressed
    if case["loss"] == "average-class-size":
        return Fraction(-len(kept)), suppressed
    weights = [Fraction(str(weight)) for weight in case["weights"]]
    loss = Fraction(0)
    for record, row in zip(case["records"], generalized, strict=True):
        for column, weight in enumerate(weights):
            lost = sizes[row] < k
            loss += weight * (1 if lost else cell(case, column, node[column], record[column]))
    return loss / sum(weights) / n, suppressed


def brute_force(case):
    """The best node by loss, suppressed records, levels from the last on; the minimal ones."""
    allowance = Fraction(str(case["limit"])) * len(case["records"])
    nodes = list(itertools.product(*(range(a, b + 1) for a, b in case["bounds"])))
    found = {node: evaluate(case, node) for node in nodes}
    feasible = [node for node in nodes if found[node][1] <= allowance]
    minimal = [
        node
        for node in feasible
        if not any(
            other != node and all(a <= b for a, b in zip(other, node, strict=True))
            for other in feasible
        )
    ]
    publishable = [node for node in feasible if found[node][1] < len(case["records"])]
    best = min(publishable, key=lambda node: (*found[node], node[::-1]), default=None)
    return best, found.get(best), minimal


def policy_of(case):
    attributes = {
        f"c{i}": QuasiIdentifier(Hierarchy.from_rows(tree), weight, *bounds)
        for i, (tree, weight, bounds) in enumerate(
            zip(case["trees"], case["weights"], case["bounds"], strict=True)
        )
    }
    return Policy(attributes, models=[KAnonymity(case["k"])], suppression_limit=case["limit"])


def table_of(case, threads=1):
    connection = empty_database(threads)
    columns = ", ".join(f"c{i} VARCHAR" for i in range(len(case["trees"])))
    connection.execute(f"CREATE TABLE people ({columns})")
    insert(connection, "people", case["records"])
    return connection


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_anonymize_equals_brute_force_over_the_whole_lattice(case):
    best, found, minimal = brute_force(case)
    connection, policy = table_of(case), policy_of(case)
    run = {"loss": case["loss"], "minimal_nodes": True, "into": "released"}
    if best is None:
        with pytest.raises(UnsatisfiableError):
            sqlanon.anonymize(connection, policy, table="people", **run)
        return
    report = sqlanon.anonymize(connection, policy, table="people", **run)
    assert tuple(report.levels.values()) == best
    assert report.suppressed_records == found[1]
    assert sorted(tuple(node.values()) for node in report.minimal_nodes) == minimal
    assert report.search["proven"]
    assert report.search["checked"] <= report.search["nodes"]
    value = report.to_dict()["loss"]["value"]
    if case["loss"] == "average-class-size":
        expected = len(case["records"]) / (-found[0] * case["k"]) if found[0] else float("inf")
        assert value == pytest.approx(expected)
    elif case["loss"] == "suppressed-cells":
        assert value == pytest.approx(float(found[0] * len(best) * len(case["records"])))
    else:
        assert value == pytest.approx(float(found[0]), rel=1e-12)
    rows = generalize(case, best)
    sizes = Counter(rows)
    published = Counter(row for row in rows if sizes[row] >= case["k"])
    assert Counter(connection.execute("SELECT * FROM released").fetchall()) == published
    connection.close()


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases(), seed=st.randoms(use_true_random=False))
def test_a_plan_depends_neither_on_the_order_of_rows_nor_on_threads(case, seed):
    shuffled = {**case, "records": seed.sample(case["records"], len(case["records"]))}
    plans = []
    for variant, threads in ((case, 1), (case, 4), (shuffled, 2)):
        connection = table_of(variant, threads)
        try:
            plan = sqlanon.plan(connection, policy_of(variant), table="people", loss=case["loss"])
        except UnsatisfiableError as error:
            plans.append(str(error))
            continue
        document = plan.to_dict()
        del document["seconds"], document["created"]
        plans.append((document, plan.fingerprint))
    assert plans[0] == plans[1] == plans[2]
