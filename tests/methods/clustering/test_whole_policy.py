"""The whole policy with clusters: levels, persons, weights, limits and models, on random tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cases

import sqlanon
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.options import ClusterOptions
from sqlanon.methods.registry import METHODS

CLUSTERS = [name for name, row in METHODS.items() if issubclass(row.options, ClusterOptions)]
WHOLE = [*CLUSTERS, "mondrian", "mondrian relaxed"]
CELLS = ("lm", "precision", "suppressed-cells")
LEAST = 1e-9


@st.composite
def bounded(draw):
    """Cases steered by a loss of cells, some without models beyond k.

    Every column has two leaves or more: where one has a single leaf, its cells cost nothing at the
    top, but all where the top of every column reads as a suppressed record.
    """
    case = draw(cases().filter(lambda case: all(len(rows) > 1 for rows in case.trees)))
    case = replace(case, loss=draw(st.sampled_from(CELLS)))
    return replace(case, models=case.models if draw(st.booleans()) else [])


@settings(max_examples=25)
@given(
    bounded(),
    st.sampled_from(WHOLE),
    st.sampled_from([{}, {}, {"improve": "anneal"}]),
    st.sampled_from([1, 1, 12]),
)
def test_what_is_published_keeps_to_the_whole_policy_and_is_no_worse_than_full_domain(
    case, method, improved, passes
):
    name, *relaxed = method.split()
    takes = METHODS[name].takes("improve") and case.policy.demands
    improved = improved if takes else {}
    improved = {**improved, "partitioning": "relaxed"} if relaxed else improved
    asked = {"method": name, "loss": case.loss, **improved}
    asked |= {"passes": passes} if METHODS[name].takes("passes") else {}
    with case.connection() as connection:
        try:
            best = sqlanon.plan(connection, case.policy, table="people", loss=case.loss).report
        except UnsatisfiableError:
            best = None
        try:
            report = sqlanon.anonymize(
                connection, case.policy, table="people", into="released", **asked
            )
        except UnsatisfiableError:
            # Clusters leave something; a node may leave nothing, where the limit is all records.
            assert best is None or best.suppressed_records == len(case.records)
            return
        rows = connection.execute("SELECT * FROM released").fetchall()
        if rows:
            assert sqlanon.check(connection, case.published_policy, table="released").holds
    assert report.holds
    value = report.loss[case.loss.replace("-", "_")]
    if best is not None:
        assert value <= best.loss[case.loss.replace("-", "_")] + LEAST
    assert report.lower_bound <= value + LEAST
    assert len(case.records) - len(rows) <= case.policy.allowance(len(case.records))
    for column, (tree, (low, high)) in enumerate(zip(case.trees, case.bounds, strict=True)):
        allowed = {label for row in tree for label in row[low : high + 1]}
        allowed |= {case.policy.suppressed_label} if case.suppressed == "keep" else set()
        assert {row[column] for row in rows} <= allowed
    beside = Counter(tuple(row[len(case.trees) :]) for row in rows)
    assert beside <= Counter(record[len(case.trees) : -1] for record in case.records)
