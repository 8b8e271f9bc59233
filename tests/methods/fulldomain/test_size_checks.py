"""Counting in DuckDB against brute force, straight from the codes and from roll-ups."""

import itertools
from contextlib import closing, contextmanager
from unittest.mock import patch

import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.class_counts import class_counts, objective_of, price_at
from strategies import hierarchies, records_of, weights

from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.hierarchy import layout
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.hierarchy.layout import WORD_BITS
from sqlanon.loss.cells import CELL_LOSSES, LOSSES, CellCosts
from sqlanon.methods.fulldomain import frequency_sets
from sqlanon.methods.fulldomain.frequency_sets import LARGE_SET_ROWS, FrequencySets, Pricing
from sqlanon.methods.fulldomain.size_checks import SizeChecks
from sqlanon.microdata.binding import bind
from sqlanon.microdata.encoding import encode_subject
from sqlanon.policy.policy import Policy, QuasiIdentifier


@st.composite
def cases(draw):
    """Hierarchies, records and k; the lowest level allowed is 0 or 1."""
    trees = draw(st.lists(hierarchies(shared=True), min_size=1, max_size=3))
    return {
        "trees": trees,
        "records": draw(records_of(trees, most=20)),
        "low": [draw(st.sampled_from([0, 0, 1])) for _ in trees],
        "weights": [draw(weights) for _ in trees],
        "k": draw(st.integers(1, 4)),
        "loss": draw(st.sampled_from(LOSSES)),
    }


def table_of(case):
    connection = empty_database()
    names = [f"c{number}" for number in range(len(case["trees"]))]
    connection.execute(f"CREATE TABLE people ({', '.join(f'{name} VARCHAR' for name in names)})")
    insert(connection, "people", case["records"])
    return connection


def checks_of(connection, case, bits=WORD_BITS):
    """Checks over the case's table whose codes are packed in words of so many bits."""
    engine = DuckDB(connection)
    attributes = {
        f"c{number}": QuasiIdentifier(Hierarchy.from_rows(rows), weight, low)
        for number, (rows, weight, low) in enumerate(
            zip(case["trees"], case["weights"], case["low"], strict=True)
        )
    }
    policy = Policy(attributes)
    subject = bind(engine, engine.tables.resolve("people"), policy=policy)
    with patch.object(layout, "WORD_BITS", bits):
        encoded = encode_subject(engine, subject, policy)
    objective, costs = loss_of(case, subject)
    sets = FrequencySets(
        engine,
        encoded,
        subject.low,
        encoded.entropies(subject.trees),
        pricing_of(engine, encoded, subject, costs),
    )
    return SizeChecks(sets, case["k"], objective)


def pricing_of(engine, encoded, subject, costs):
    if costs is None:
        return None
    return Pricing(engine, encoded.layout, subject.trees, costs, subject.low, subject.high)


def loss_of(case, subject):
    """The loss, its floor left at nothing, and the costs of its cells."""
    records, floor = subject.records, tuple((0,) * (tree.height + 1) for tree in subject.trees)
    costs = None
    if case["loss"] in CELL_LOSSES:
        costs = CellCosts.of(case["loss"], subject.trees, weights=subject.weights, records=records)
    return objective_of(case["loss"], records, k=case["k"], floor=floor, costs=costs), costs


def nodes_of(case):
    """Every node at or above the lowest."""
    levels = [
        range(low, len(rows[0])) for low, rows in zip(case["low"], case["trees"], strict=True)
    ]
    return list(itertools.product(*levels))


def brute_force(case, checks, node):
    """The node's records suppressed, up, down and value from the generalized records alone."""
    maps = [
        {row[0]: row[level] for row in rows}
        for rows, level in zip(case["trees"], node, strict=True)
    ]
    labels = [
        tuple(m[value] for m, value in zip(maps, record, strict=True)) for record in case["records"]
    ]
    pricing = checks.sets.pricing

    def price(label):
        trees = zip(pricing.trees, node, label, strict=True)
        places = [tree.node_labels(level).index(text) for tree, level, text in trees]
        return price_at(node, pricing.costs.costs)(places)

    counts = class_counts(labels, case["k"], price if pricing else None)
    objective = checks.objective
    return (
        node,
        counts.small_records,
        objective.up(node, counts),
        objective.down(counts.suppressed),
        objective.value(node, counts),
    )


def figures(check):
    return check.node, check.suppressed, check.up, check.down, check.value


@contextmanager
def rolling_up_always():
    """Within, writing a frequency set seems to cost less than nothing."""
    with (
        patch.object(frequency_sets, "ROLLED_UP", 0),
        patch.object(frequency_sets, "_work", lambda *_: -1),
    ):
        yield


@settings(max_examples=20)
@given(
    cases(),
    st.sampled_from([3, 5, WORD_BITS]),
    st.sampled_from([0, LARGE_SET_ROWS]),
)
def test_counts_equal_brute_force(case, bits, large):
    with (
        closing(table_of(case)) as connection,
        patch.object(frequency_sets, "LARGE_SET_ROWS", large),
    ):
        checks = checks_of(connection, case, bits)
        nodes = nodes_of(case)
        found = [figures(check) for check in checks.ask(nodes)]
        assert found == [brute_force(case, checks, node) for node in nodes]


@settings(max_examples=25)
@given(st.data(), cases(), st.sampled_from([3, WORD_BITS]))
def test_counts_from_roll_ups_equal_counts_from_the_codes(data, case, bits):
    nodes = nodes_of(case)
    batches = data.draw(st.lists(st.lists(st.sampled_from(nodes), max_size=4), max_size=3))
    with closing(table_of(case)) as connection:
        plain, rolling = (checks_of(connection, case, bits) for _ in range(2))
        expected = [list(map(figures, plain.ask(batch))) for batch in batches]
        with rolling_up_always():
            assert [list(map(figures, rolling.ask(batch))) for batch in batches] == expected


# 400 records of two columns that hold 20 values each: at (1, 1) 16 classes are left.
GRID = {
    "trees": [[(f"v{i}", f"from {i // 5}", "*") for i in range(20)]] * 2,
    "records": [(f"v{i}", f"v{j}") for i in range(20) for j in range(20)],
    "low": [0, 0],
    "weights": [1.0, 1.0],
    "k": 6,
    "loss": "lm",
}
ABOVE = [(1, 1), (1, 2), (2, 1), (2, 2)]


@pytest.fixture
def grid():
    with closing(table_of(GRID)) as connection:
        yield checks_of(connection, GRID)


def test_nodes_are_counted_from_a_roll_up_where_that_saves_rows(grid):
    with patch.object(frequency_sets, "ROLLED_UP", 0), patch.object(frequency_sets, "NEW_CLASS", 3):
        grid.ask([(1, 1)])
        found = [figures(check) for check in grid.ask(ABOVE)]
    assert [(one.node, one.rows) for one in grid.sets.kept] == [((0, 0), 400), ((1, 1), 16)]
    assert grid.sets.rolled_up == 1
    assert found == [brute_force(GRID, grid, node) for node in ABOVE]


def test_small_tables_are_not_rolled_up(grid):
    grid.ask([(1, 1)])
    grid.ask(ABOVE)
    assert grid.sets.rolled_up == 0


def test_the_lowest_node_is_rolled_up_first():
    with closing(table_of(GRID)) as connection:
        checks = checks_of(connection, {**GRID, "low": [1, 0]})
    assert [(one.node, one.rows) for one in checks.sets.kept] == [((1, 0), 80)]


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_many_columns_in_several_words_are_counted(loss):
    """30 columns of 8 values need 90 bits, two words."""
    columns = 30
    rows = [(f"v{i}", f"from {i // 2}", "*") for i in range(8)]
    case = {
        "trees": [rows] * columns,
        "records": [tuple(f"v{(i * j) % 8}" for j in range(columns)) for i in range(24)],
        "low": [0] * columns,
        "weights": [1.0] * columns,
        "k": 4,
        "loss": loss,
    }
    nodes = [tuple((i + j) % 3 for j in range(columns)) for i in range(3)]
    nodes += [(level,) * columns for level in range(3)]
    with closing(table_of(case)) as connection:
        checks = checks_of(connection, case)
        assert checks.sets.encoded.layout.words == 2
        found = [figures(check) for check in checks.ask(nodes)]
        assert found == [brute_force(case, checks, node) for node in nodes]
