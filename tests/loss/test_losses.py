"""Losses: worked examples with their formulas, exact units, and bounds that hold."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.class_counts import cell_floor, class_counts, objective_of, places_of, price_at
from strategies import trees, weights

from sqlanon.errors import PolicyError
from sqlanon.hierarchy.tree import Tree
from sqlanon.loss.cells import (
    CELL_LOSSES,
    CELL_MEASURES,
    LOSSES,
    PARTS_PER_BIT,
    CellCosts,
    entropy_cost,
    lm_cost,
    monotone_entropy_cost,
    suppressed_cost,
)
from sqlanon.loss.measures import MEASURES
from sqlanon.loss.objectives import (
    CellObjective,
    ClassCounts,
    ClassSizeObjective,
    DiscernibilityObjective,
)
from sqlanon.methods.registry import METHODS, Options
from sqlanon.search.lattice.bounds import at_node, combine

# Five leaves; level 1 has nodes of 3, 1 and 1 leaves, level 2 of 3 and 2, level 3 is the top.
UNEVEN = Tree.grow(
    "job",
    [
        ("nurse", "care", "health", "*"),
        ("carer", "care", "health", "*"),
        ("medic", "care", "health", "*"),
        ("clerk", "clerk", "office", "*"),
        ("boss", "boss", "office", "*"),
    ],
)
SEX = Tree.grow("sex", [("f", "*"), ("m", "*")])
ONE_VALUE = Tree.grow("country", [("here", "*")])

# Seven records of (job, sex) by leaf number. At k = 2 and node (1, 0) the classes are
# (care, f) 3, (care, m) 2, (clerk, m) 1 and (boss, f) 1: two records are suppressed.
TREES = (UNEVEN, SEX)
RECORDS = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (3, 1), (4, 0)]
K = 2


def counted(trees, records, node, k, costs=None):
    """What a query would count of a node."""
    nodes = [tree.nodes for tree in trees]
    labels = [places_of(nodes, record, node) for record in records]
    return class_counts(labels, k, None if costs is None else price_at(node, costs.costs))


def cell_objective(costs, trees, records):
    """The objective of a cell loss: its floor is the cost of every column published alone."""
    floor = cell_floor(costs.costs, [tree.nodes for tree in trees], records)
    return CellObjective(costs.unit, len(records), floor)


def cell_loss(name, node, weights=(1.0, 1.0)):
    """The average over all cells of the seven records."""
    costs = CellCosts.of(name, TREES, weights=weights, records=len(RECORDS))
    objective = cell_objective(costs, TREES, RECORDS)
    return objective.loss(objective.value(node, counted(TREES, RECORDS, node, K, costs)))


def test_lm_of_a_cell_is_the_other_leaves_of_its_node_over_the_other_leaves_of_all():
    assert lm_cost(UNEVEN, 0) == [0] * 5
    assert lm_cost(UNEVEN, 1) == [Fraction(3 - 1, 5 - 1), 0, 0]
    assert lm_cost(UNEVEN, 2) == [Fraction(3 - 1, 5 - 1), Fraction(2 - 1, 5 - 1)]
    assert lm_cost(UNEVEN, 3) == [1]


def test_suppressed_cells_counts_the_root_alone():
    assert suppressed_cost(UNEVEN, 2) == [0, 0]
    assert suppressed_cost(UNEVEN, 3) == [1]
    assert suppressed_cost(ONE_VALUE, 0) == [0]
    assert suppressed_cost(ONE_VALUE, 1) == [1]


def test_lm_of_a_table_averages_over_cells_and_charges_1_for_those_of_suppressed_records():
    # 5 published records lose 2/4 for the job and 0 for the sex, 2 suppressed ones 1 and 1.
    assert cell_loss("lm", (1, 0)) == pytest.approx((5 * (2 / 4 + 0) + 2 * (1 + 1)) / (7 * 2))


def test_suppressed_cells_is_a_total_with_its_scale():
    costs = CellCosts.of("suppressed-cells", TREES, weights=(1.0, 1.0), records=len(RECORDS))
    objective = CellObjective(costs.unit, 7, ((0, 0, 0, 7 * costs.unit // 2), (0, 0)), scale=14)
    assert objective.loss(objective.value((3, 0), ClassCounts(2, 0, 0))) == pytest.approx(7)


def test_weights_of_columns_are_shares_of_a_record():
    # weights 3 and 1: the job counts 3/4 of a record.
    expected = (5 * (3 / 4 * 2 / 4) + 2 * 1) / 7
    assert cell_loss("lm", (1, 0), weights=(3.0, 1.0)) == pytest.approx(expected)


def test_discernibility_charges_the_class_size_and_the_whole_table_for_a_suppressed_record():
    objective = DiscernibilityObjective(7, ((7,) * 4, (0, 0)))
    value = objective.value((1, 0), counted(TREES, RECORDS, (1, 0), K))
    assert objective.loss(value) == 3 * 3 + 2 * 2 + 2 * 7


def test_average_class_size_is_records_per_published_class_over_k():
    objective = ClassSizeObjective(7, K, ((-3,) * 4, (-3, -3)))
    value = objective.value((1, 0), counted(TREES, RECORDS, (1, 0), K))
    assert objective.loss(value) == pytest.approx(7 / 2 / K)


def test_average_class_size_without_a_published_class_is_infinite():
    objective = ClassSizeObjective(7, 7, ((-1,) * 4, (-1, -1)))
    value = objective.value((0, 0), counted(TREES, RECORDS, (0, 0), 7))
    assert objective.loss(value) == float("inf")


def test_an_unknown_loss_is_refused_with_a_list_of_the_known():
    known = ", ".join(LOSSES)
    with pytest.raises(PolicyError, match=f"'ilm' is not known; choose one of {known}"):
        Options.of(loss="ilm")
    assert [Options.of(loss=name).loss for name in LOSSES] == list(LOSSES)


@pytest.mark.parametrize(
    "name", [name for name in MEASURES if name not in METHODS["incognito"].losses]
)
def test_a_loss_that_is_measured_but_cannot_steer_is_refused(name):
    with pytest.raises(PolicyError, match=f"'{name}' is measured, but cannot steer incognito; "):
        Options.of("incognito", loss=name)


# Records per leaf of UNEVEN: level 1 has nodes of 4, 1 and 3 records, level 2 of 4 and 4.
HELD = (2, 1, 1, 1, 3)


def test_entropy_of_a_cell_is_that_of_the_original_within_its_node():
    assert entropy_cost(UNEVEN, 0, HELD) == [0] * 5
    assert entropy_cost(UNEVEN, 1, HELD) == [Fraction(3, 2), 0, 0]
    office = entropy_cost(UNEVEN, 2, HELD)[1]
    assert float(office) == pytest.approx(2 - 3 / 4 * math.log2(3))
    assert float(entropy_cost(UNEVEN, 3, HELD)[0]) == pytest.approx(
        2 / 8 * 2 + 3 * 3 / 8 + 3 / 8 * math.log2(8 / 3)
    )


def test_entropy_of_a_node_without_records_is_0():
    assert entropy_cost(UNEVEN, 1, (0, 0, 0, 1, 3))[0] == 0


def test_monotone_entropy_is_the_least_from_the_node_to_the_top():
    rare = (1, 1, 1, 1, 996)
    own = entropy_cost(UNEVEN, 1, rare)[0]
    top = entropy_cost(UNEVEN, 3, rare)[0]
    assert float(own) == pytest.approx(math.log2(3))
    assert top < own
    assert monotone_entropy_cost(UNEVEN, 1, rare)[0] == top
    assert monotone_entropy_cost(UNEVEN, 2, rare)[1] == entropy_cost(UNEVEN, 2, rare)[1]


def test_a_suppressed_cell_loses_1_or_the_entropy_of_its_column():
    assert [CELL_LOSSES[name].suppressed(ONE_VALUE, ()) for name in ("lm", "tree")] == [1, 1]
    lost = CELL_MEASURES["entropy"].suppressed(SEX, (1, 3))
    assert lost == entropy_cost(SEX, 1, (1, 3))[0]
    assert CELL_LOSSES["monotone-entropy"].suppressed(ONE_VALUE, (5,)) == 0


def chain(leaves):
    """A column of so many values under one top."""
    return Tree.grow(f"of {leaves}", [(str(leaf), "*") for leaf in range(leaves)])


@given(
    st.sampled_from([name for name in CELL_LOSSES if name != "monotone-entropy"]),
    st.lists(st.tuples(trees(), weights), min_size=1, max_size=4),
    st.integers(1, 10**6),
)
def test_cell_costs_are_exact_where_a_common_denominator_fits(name, columns, records):
    grown, shares = zip(*columns, strict=True)
    costs = CellCosts.of(name, grown, weights=shares, records=records)
    whole = sum(Fraction(str(share)) for share in shares)
    for tree, share, column in zip(grown, shares, costs.costs, strict=True):
        exact = Fraction(str(share)) / whole
        for level, places in enumerate(column):
            expected = [exact * cost for cost in CELL_LOSSES[name].cost(tree, level, ())]
            assert [Fraction(cost, costs.unit) for cost in places] == expected


@st.composite
def held(draw):
    """Random columns: trees, weights, and records per leaf."""
    columns = draw(st.lists(st.tuples(trees(), weights), min_size=1, max_size=4))
    counts = [
        draw(st.lists(st.integers(0, 1000), min_size=n, max_size=n))
        for n in (len(tree.leaves) for tree, _ in columns)
    ]
    return *zip(*columns, strict=True), counts


@given(held(), st.integers(1, 10**9))
def test_monotone_entropy_in_units_is_within_rounding_of_its_bits(columns, records):
    grown, shares, counts = columns
    costs = CellCosts.of("monotone-entropy", grown, weights=shares, records=records, counts=counts)
    whole = sum(shares)
    for tree, share, leaves, column in zip(grown, shares, counts, costs.costs, strict=True):
        for level, places in enumerate(column):
            for cost, bits in zip(places, monotone_entropy_cost(tree, level, leaves), strict=True):
                found = costs.scale * cost / costs.unit
                assert found == pytest.approx(share / whole * float(bits), rel=1e-9, abs=1e-8)
    top = sum(
        share / whole * float(entropy_cost(tree, tree.height, leaves)[0])
        for tree, share, leaves in zip(grown, shares, counts, strict=True)
    )
    assert costs.scale == pytest.approx(top, rel=1e-9, abs=1e-8)


@given(held(), st.integers(1, 10**9))
def test_monotone_entropy_in_units_never_shrinks_on_the_way_up(columns, records):
    grown, shares, counts = columns
    costs = CellCosts.of("monotone-entropy", grown, weights=shares, records=records, counts=counts)
    for tree, column in zip(grown, costs.costs, strict=True):
        for level in range(tree.height):
            above = [column[level + 1][parent] for parent in tree.parents(level)]
            assert all(low <= high for low, high in zip(column[level], above, strict=True))
    assert sum(column[-1][0] for column in costs.costs) <= costs.unit
    assert records * costs.unit < 2**62


def test_entropies_are_rounded_to_a_stated_part_of_a_bit():
    cost = monotone_entropy_cost(SEX, 1, (1, 2))[0]
    assert PARTS_PER_BIT % cost.denominator == 0
    assert float(cost) == pytest.approx(math.log2(3) - 2 / 3, abs=1 / PARTS_PER_BIT)


def test_scale_of_suppressed_cells_is_the_number_of_cells():
    assert CellCosts.of("suppressed-cells", TREES, weights=(1.0, 1.0), records=7).scale == 14
    assert CellCosts.of("lm", TREES, weights=(1.0, 3.0), records=7).scale == 1


@given(st.lists(st.tuples(st.integers(2, 9), weights), min_size=1, max_size=6))
def test_cells_of_a_suppressed_record_cost_one_unit(columns):
    grown = [chain(leaves) for leaves, _ in columns]
    costs = CellCosts.of("lm", grown, weights=[weight for _, weight in columns], records=10**6)
    assert sum(column[-1][0] for column in costs.costs) == costs.unit


def node_of(sizes):
    """A tree with a level of nodes of the given sizes below the top."""
    rows = [
        (f"{place}:{leaf}", str(place), "*")
        for place, size in enumerate(sizes)
        for leaf in range(size)
    ]
    return Tree.grow("any", rows)


# Domains of a prime number of other leaves: no common denominator is small.
PRIMES = [node_of([2, prime - 1]) for prime in (499, 503, 509, 521, 523, 541, 547)]


def test_cell_costs_without_a_common_denominator_are_rounded_below_1e_9_of_a_unit():
    costs = CellCosts.of("lm", PRIMES, weights=[1.0] * 7, records=10**6)
    for tree, column in zip(PRIMES, costs.costs, strict=True):
        for level, places in enumerate(column):
            for cost, exact in zip(places, lm_cost(tree, level), strict=True):
                assert abs(Fraction(cost, costs.unit) - exact / 7) < Fraction(1, 10**9)


@pytest.mark.parametrize("records", [1, 2, 3, 7, 1000, 10**6])
@pytest.mark.parametrize("columns", [5, 6, 7])
def test_cells_of_a_suppressed_record_cost_no_more_than_one_unit_when_rounded(columns, records):
    costs = CellCosts.of("lm", PRIMES[:columns], weights=[1.0] * columns, records=records)
    assert sum(column[-1][0] for column in costs.costs) <= costs.unit


@pytest.mark.parametrize("records", [1, 7, 1024, 10**6, 2**20, 10**9])
def test_totals_of_rounded_costs_stay_below_2_to_the_62(records):
    costs = CellCosts.of("lm", PRIMES, weights=[1.0] * 7, records=records)
    assert records * max(costs.unit, sum(column[-1][0] for column in costs.costs)) < 2**62


def test_totals_of_exact_costs_stay_below_2_to_the_62():
    costs = CellCosts.of("lm", [SEX, SEX], weights=[1, 2**42 - 1], records=2**20)
    assert 2**20 * costs.unit < 2**62


@st.composite
def tables(draw):
    """Random columns, records, k and weights."""
    grown = [draw(trees()) for _ in range(draw(st.integers(1, 3)))]
    leaves = st.tuples(*(st.integers(0, len(tree.leaves) - 1) for tree in grown))
    records = draw(st.lists(leaves, min_size=1, max_size=12))
    return grown, records, draw(st.integers(1, 4)), [draw(weights) for _ in grown]


def objectives(name, grown, records, k, shares):
    """The objective of a loss, and the costs that its counts need."""
    if name in CELL_LOSSES:
        costs = CellCosts.of(name, grown, weights=shares, records=len(records))
        return cell_objective(costs, grown, records), costs
    widths = [tree.height + 1 for tree in grown]
    if name == "discernibility":
        floor = [(len(records) * (number == 0),) * width for number, width in enumerate(widths)]
    else:
        floor = [(-(len(records) // k),) * width for width in widths]
    return objective_of(name, len(records), k=k, floor=tuple(floor)), None


def parts(name, table):
    """Per node of the whole lattice: up, down, value, and the bound that needs no check."""
    grown, records, k, _ = table
    objective, costs = objectives(name, *table)
    result = {}
    for node in itertools.product(*(range(tree.height + 1) for tree in grown)):
        counts = counted(grown, records, node, k, costs)
        result[node] = (
            objective.up(node, counts),
            objective.down(counts.suppressed),
            objective.value(node, counts),
            at_node(node, objective.floor, additive=objective.additive),
        )
    return objective, result


def pairs(nodes):
    """Every pair of a node and one above it."""
    for low, high in itertools.product(nodes, repeat=2):
        if all(a <= b for a, b in zip(low, high, strict=True)):
            yield low, high


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=40)
@given(table=tables())
def test_a_loss_has_a_part_that_never_shrinks_and_one_that_never_grows_on_the_way_up(name, table):
    objective, found = parts(name, table)
    for low, high in pairs(found):
        assert found[low][0] <= found[high][0]
        assert found[low][1] >= found[high][1]
    for node, (up, down, value, lowest) in found.items():
        assert combine(up, down, additive=objective.additive) <= value
        floors = [levels[level] for levels, level in zip(objective.floor, node, strict=True)]
        assert lowest == (sum(floors) if objective.additive else max(floors))
        assert lowest <= up


@pytest.mark.parametrize("name", CELL_LOSSES)
@settings(max_examples=40)
@given(table=tables())
def test_suppression_never_gains(name, table):
    """A search takes 0 for the least that suppression adds."""
    _, found = parts(name, table)
    assert all(down >= 0 for _, down, _, _ in found.values())


def test_suppression_never_gains_where_costs_are_rounded():
    _, found = parts("lm", (PRIMES, [(0,) * 7], 2, [1.0] * 7))
    assert min(down for _, down, _, _ in found.values()) >= 0
