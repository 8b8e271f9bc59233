"""What a check proves about the nodes below: no more records have to go than are said to.

A class is given by its records per value, the table by those and the records of other classes.
"""

import itertools
from collections import Counter

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattice_oracle import JOB_PATHS, closenesses, diversities, fails
from sqlglot import exp

from sqlanon.details import SensitiveCodes
from sqlanon.engine.base import render
from sqlanon.privacy import LDiversity, TCloseness
from sqlanon.query import profiles, sensitive
from sqlanon.query.names import create_temporary, nested, table
from sqlanon.query.profiles import Condition, Distribution
from sqlanon.query.sensitive import Needed, Reference
from sqlanon.query.values import listed
from sqlanon.violations import Scope

JOBS = ("nurse", "clerk", "boss")
NODES = {job: number for number, job in enumerate(JOBS)} | {"boss": 1}  # clerk and boss share one
TREE = listed(
    [(job, rank, NODES[job]) for rank, job in enumerate(JOBS)],
    exp.DataType.build("VARCHAR"),
    [1],
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
        Needed.of([model]),
        Reference.of(table("reference"), height=2),
        TREE,
        tuple(records for _, records in held),
        nodes=(tuple(NODES[job] for job, _ in held),),
    )


def answers(own, others, model, scope):
    """What of a class is required to go, None where it violates nothing: by groups, and by row."""
    codes = codes_of(model, own, others)
    violates, required = sensitive.violates(model), scope.required(codes, model)
    with duckdb.connect() as connection:

        def ask(query):
            return connection.execute(render(query, "duckdb"))

        connection.execute("CREATE TABLE source (class INTEGER, value VARCHAR, size BIGINT)")
        rows = [(number, job, 1) for number in (0, 1) for job in spelled((own, others)[number])]
        connection.executemany("INSERT INTO source VALUES (?, ?, ?)", rows)
        reference = sensitive.reference(table("source"), order=TREE, height=2)
        ask(create_temporary(table("reference"), reference))
        figures = sensitive.class_figures(
            table("source"), ["class"], codes.needed, codes.reference
        ).where("class = 0")
        figures = sensitive.class_figures(
            table("source"), ["class"], codes.needed, codes.reference
        )
        found = ask(
            exp.select("class", violates, required.copy()).from_(nested(figures, "figures"))
        ).fetchall()
        grouped = next(row[2] if row[1] else None for row in found if row[0] == 0)

        present = [a for a, b in zip(own, others, strict=True) if a + b]
        held = ", ".join(f"{n} AS held_0_{rank}" for rank, n in enumerate(present))
        connection.execute(f"CREATE TABLE held AS SELECT {sum(own)} AS class_size, {held}")
        condition = Condition(Distribution(0, codes.counts, codes.nodes), violates, required)
        judged = profiles.judged(exp.select("*").from_(table("held")), 0, [condition], [])
        [(by_row,)] = ask(judged).fetchall()
        return grouped, None if by_row == profiles.KEPT else by_row


def parts(numbers):
    """Every choice of some of the records of each value."""
    return itertools.product(*(range(n + 1) for n in numbers))


def least_gone(own, others, model, scope):
    """The fewest records without which the rest of a class can be published, by trying all."""
    fewest = sum(own)
    for kept in parts(own):
        gone = sum(own) - sum(kept)
        if not sum(kept) or gone >= fewest:
            continue
        room = -1 if scope.keeping else scope.allowance - gone
        wholes = [spelled(own) + spelled(others)] if scope.keeping else []
        wholes += [spelled(kept) + spelled(rest) for rest in within(others, room)]
        if any(not fails(model, spelled(kept), whole) for whole in wholes):
            fewest = gone
    return fewest


def within(numbers, room):
    """What may be left of other records where so many more may be suppressed."""
    return (rest for rest in parts(numbers) if sum(numbers) - sum(rest) <= room)


@settings(max_examples=150, deadline=None)
@given(counts.filter(any), counts, st.one_of(diversities, closenesses), allowances, st.booleans())
def test_no_fewer_records_of_a_class_have_to_go_than_required(
    own, others, model, allowance, keeping
):
    records = sum(own) + sum(others)
    scope = Scope(None, 1, 1, records, min(allowance, records), keeping)
    required, _ = answers(own, others, model, scope)
    if not keeping and isinstance(model, TCloseness) and required is not None:
        # More than the allowance is not suppressed anywhere that is published.
        required = min(required, scope.allowance + 1)
    if model == LDiversity(model.l) if isinstance(model, LDiversity) else False:
        required = None if required is None else min(required, sum(own))
    fewest = least_gone(own, others, model, scope)
    if not keeping and fewest > scope.allowance:
        return
    assert (required or 0) <= fewest


@settings(max_examples=150, deadline=None)
@given(counts.filter(any), counts, st.one_of(diversities, closenesses), allowances, st.booleans())
def test_a_profile_requires_what_groups_require(own, others, model, allowance, keeping):
    if isinstance(model, LDiversity) and model.kind == "recursive" and model.l > 2:
        model = LDiversity(2, "recursive", model.c)  # longer tails are not profiled
    records = sum(own) + sum(others)
    scope = Scope(None, 1, 1, records, min(allowance, records), keeping)
    grouped, by_row = answers(own, others, model, scope)
    assert by_row == (None if grouped is None else min(grouped, sum(own)))
