"""What a check proves about the nodes below: no more records have to go than are said to.

A class is given by its records per value, the table by those and the records of other classes.
"""

import itertools
from collections import Counter

import pytest
from databases import empty_database, insert
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.lattice import fails
from oracles.models import DRAWN
from sqlglot import exp

from sqlanon.engine.base import render
from sqlanon.methods.fulldomain.model_checks import SuppressionScope
from sqlanon.microdata.sensitive import SensitiveCodes
from sqlanon.policy.privacy import (
    DISTANCES,
    AlphaAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    TCloseness,
)
from sqlanon.query.privacy.figures import Reference, class_figures, listed_order, reference
from sqlanon.query.privacy.models import needed_by, violates
from sqlanon.query.syntax import table
from sqlanon.sqltext import expression

JOBS = ("nurse", "clerk", "boss")
NODES = {job: number for number, job in enumerate(JOBS)} | {"boss": 1}  # clerk and boss share one
TREE = listed_order(
    [(job, rank, NODES[job]) for rank, job in enumerate(JOBS)],
    exp.DataType.build("VARCHAR"),
    levels=[1],
)
counts = st.tuples(*[st.integers(0, 4)] * 3)
allowances = st.integers(0, 3)


def spelled(numbers):
    """The values of so many records each."""
    return list(Counter(dict(zip(JOBS, numbers, strict=True))).elements())


def codes_of(model, own, others):
    """The attribute with the distribution of the table."""
    held = [(job, a + b) for job, a, b in zip(JOBS, own, others, strict=True) if a + b]
    return SensitiveCodes(
        0,
        (model,),
        needed_by([model]),
        Reference.of(table("reference"), height=2),
        TREE,
        tuple(records for _, records in held),
        nodes=(tuple(NODES[job] for job, _ in held),),
    )


def ask(connection, query):
    return connection.execute(render(query, "duckdb")).fetchall()


def by_figures(own, others, model, scope):
    """What of a class is required to go, of its details; None where it violates nothing."""
    codes = codes_of(model, own, others)
    rows = [(number, job, 1) for number in (0, 1) for job in spelled((own, others)[number])]
    with empty_database() as connection:
        connection.execute("CREATE TABLE source (class INTEGER, value VARCHAR, size BIGINT)")
        insert(connection, "source", rows)
        counted = reference(table("source"), order=TREE, height=2)
        connection.execute(f"CREATE TABLE reference AS {counted.text}")
        needed = scope.needed(codes)
        figures = class_figures(
            table("source"), ["class"], needed=needed, reference=codes.reference
        )
        query = expression(
            "SELECT {{ fails }}, {{ required }} FROM {{ figures }} AS figures WHERE class = 0",
            fails=violates(model),
            required=scope.required(codes, model),
            figures=figures,
        )
        [(fails_it, required)] = ask(connection, query)
        return required if fails_it else None


def parts(numbers):
    """Every choice of some of the records of each value."""
    return itertools.product(*(range(n + 1) for n in numbers))


def least_gone(own, others, model, scope):
    """The fewest records without which the rest of a class can be published, by trying all."""
    fewest = sum(own)
    for kept in parts(own):
        gone = sum(own) - sum(kept)
        if sum(kept) and gone < fewest:
            tables = references(own, kept, others, scope, model.relative)
            if any(not fails(model, spelled(kept), values) for values in tables):
                fewest = gone
    return fewest


def references(own, kept, others, scope, moving):
    """The values of every table that a part of a class may be published in."""
    if scope.keeping or not moving:
        return [spelled(own) + spelled(others)]
    room = scope.allowance - (sum(own) - sum(kept))
    return [spelled(kept) + spelled(rest) for rest in within(others, room)]


def within(numbers, room):
    """What may be left of other records where so many more may be suppressed."""
    return (rest for rest in parts(numbers) if sum(numbers) - sum(rest) <= room)


@settings(max_examples=50)
@example((2, 1, 1), (1, 2, 2), DeltaDisclosure(0.3), 2, False)
@example((2, 1, 0), (4, 2, 1), DeltaDisclosure(1), 1, False)
@given(counts.filter(any), counts, DRAWN, allowances, st.booleans())
def test_no_fewer_records_of_a_class_have_to_go_than_required(
    own, others, model, allowance, keeping
):
    records = sum(own) + sum(others)
    scope = SuppressionScope(None, 1, 1, records, min(allowance, records), keeping)
    required = by_figures(own, others, model, scope)
    assert min(required or 0, sum(own)) <= least_gone(own, others, model, scope)


@pytest.mark.parametrize("distance", ["scaled", "scaled-literal"])
def test_unions_of_scaled_close_classes_may_be_far(distance):
    """Nine records of a are at 0.693 and {a, b} at 0, but their union is at 0.697 or 1.187."""
    model = TCloseness(0.694, distance)
    whole = spelled((50, 50, 0))
    assert not fails(model, spelled((9, 0, 0)), whole)
    assert not fails(model, spelled((1, 1, 0)), whole)
    assert fails(model, spelled((10, 1, 0)), whole)
    assert not model.union_closed


def test_more_records_may_break_what_is_not_monotone():
    """{a, b} is diverse and close; with 98 more records of a it is neither."""
    pair, swollen, whole = spelled((1, 1, 0)), spelled((99, 1, 0)), spelled((500, 500, 0))
    for model in (
        LDiversity(2, "entropy"),
        LDiversity(2, "recursive", 2),
        AlphaAnonymity(0.5),
        BetaLikeness(0.5),
        BetaLikeness(0.9, "enhanced"),
        DeltaDisclosure(1),
        *[TCloseness(0.1, distance) for distance in DISTANCES],
    ):
        assert not fails(model, pair, whole)
        assert fails(model, swollen, whole)
        assert not model.superset_monotone
