"""Plans for k alone, on random small tables, against brute force over the whole lattice."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.lattice import brute_force
from strategies import cases

import sqlanon
from sqlanon import UnsatisfiableError

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
k_alone = cases().map(lambda own: replace(own, models=[], persons=False, suppressed="drop"))


@settings(max_examples=50, **SLOW)
@given(k_alone)
def test_anonymize_equals_brute_force_over_the_whole_lattice(case):
    best = brute_force(case)
    run = {"loss": case.loss, "minimal_nodes": True, "into": "released"}
    with closing(case.connection()) as connection:
        if best.node is None:
            with pytest.raises(UnsatisfiableError):
                sqlanon.anonymize(connection, "people", case.policy, **run)
            return
        report = sqlanon.anonymize(connection, "people", case.policy, **run)
        assert Counter(connection.execute("SELECT * FROM released").fetchall()) == (
            best.released.rows
        )
    assert tuple(report.levels.values()) == best.node
    assert report.suppressed_records == best.released.suppressed
    assert sorted(tuple(node.values()) for node in report.minimal_nodes) == best.minimal
    assert report.search["proven"]
    assert report.search["checked"] <= report.search["nodes"]
    loss, cells = best.released.loss, len(best.node) * len(case.records)
    if case.loss == "average-class-size":
        loss = len(case.records) / (-loss * case.k) if loss else float("inf")
    elif case.loss == "suppressed-cells":
        loss *= cells
    assert report.to_dict()["loss"]["value"] == pytest.approx(float(loss), rel=1e-12)


@pytest.mark.slow
@settings(max_examples=5, **SLOW)
@given(k_alone, st.randoms(use_true_random=False))
def test_a_plan_depends_neither_on_the_order_of_rows_nor_on_threads(case, seed):
    shuffled = replace(case, records=seed.sample(case.records, len(case.records)))
    plans = []
    for variant, threads in ((case, 1), (case, 4), (shuffled, 2)):
        with closing(variant.connection(threads)) as connection:
            try:
                plan = sqlanon.plan(connection, "people", variant.policy, loss=case.loss)
            except UnsatisfiableError as error:
                plans.append(str(error))
                continue
        document = plan.to_dict()
        del document["seconds"], document["created"]
        plans.append((document, plan.fingerprint))
    assert plans[0] == plans[1] == plans[2]
