"""Plans under every model, on random small tables, against brute force over the whole lattice."""

import math
from contextlib import ExitStack, closing
from dataclasses import replace
from unittest.mock import patch

import pytest
from databases import empty_database
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from oracles.lattice import Case, brute_force
from strategies import cases, whole_cases

import sqlanon
from sqlanon import (
    BetaLikeness,
    KAnonymity,
    LDiversity,
    Policy,
    TCloseness,
    UnsatisfiableError,
)
from sqlanon.engine.duckdb.connection import DuckDB
from sqlanon.hierarchy import layout
from sqlanon.loss import cells
from sqlanon.methods.fulldomain import frequency_sets, method, model_checks
from sqlanon.methods.registry import Options
from sqlanon.publishing.planner import make_plan
from sqlanon.search.lattice import descent, incognito

pytestmark = pytest.mark.slow

LITTLE = 0
k_alone = cases().map(lambda own: replace(own, models=[], persons=False, suppressed="drop"))


def published(connection, case):
    """The report of anonymizing the table into `released`."""
    return sqlanon.anonymize(
        connection, case.policy, table="people", loss=case.loss, into="released"
    )


def agrees(case, best):
    """Holds what is published against the best by brute force."""
    with closing(case.connection()) as connection:
        if best.node is None:
            with pytest.raises(UnsatisfiableError):
                published(connection, case)
            return
        report = published(connection, case)
        assert tuple(report.levels.values()) == best.node
        assert report.suppressed_records == best.released.suppressed
        assert report.search.proven
        assert all(model.holds for model in report.models)
        rows = connection.execute("SELECT * FROM released").fetchall()
        assert sorted(rows, key=repr) == sorted(best.released.rows.elements(), key=repr)


@settings(max_examples=25)
@given(cases())
def test_anonymize_equals_brute_force_under_every_model(case):
    best = brute_force(case)
    event(f"rounds: {best.released.rounds}" if best.released else "unsatisfiable")
    agrees(case, best)


@settings(max_examples=30)
@given(whole_cases())
def test_anonymize_equals_brute_force_under_models_of_all_classes(case):
    best = brute_force(case)
    event(f"rounds: {best.released.rounds}" if best.released else "unsatisfiable")
    agrees(case, best)


@settings(max_examples=25)
@given(k_alone)
def test_anonymize_equals_brute_force_for_k_alone(case):
    best = brute_force(case)
    agrees(case, best)
    if best.node is None:
        return
    with closing(case.connection()) as connection:
        run = {"loss": case.loss, "minimal_nodes": True}
        report = sqlanon.plan(connection, case.policy, table="people", **run).report
    assert sorted(tuple(node.values()) for node in report.minimal_nodes) == best.minimal
    assert report.search.checked <= report.search.nodes
    loss, cells_in_all = best.released.loss, len(best.node) * len(case.records)
    if case.loss == "average-class-size":
        loss = len(case.records) / (-loss * case.k) if loss else float("inf")
    elif case.loss == "suppressed-cells":
        loss *= cells_in_all
    assert report.to_dict()["loss"]["value"] == pytest.approx(float(loss), rel=1e-12)


# Classes by their jobs. What is left of the table has other shares, so other classes fail by it.
THREE_ROUNDS = {
    BetaLikeness(1): ({"u": "n", "v": "cb", "w": "nn", "x": "cn", "y": "b"}, 5),
    TCloseness(0.34): (
        {"u": "ccb", "v": "bbnn", "w": "ccn", "x": "nc", "y": "nbn"}, 8,
    ),
}  # fmt: skip


@pytest.mark.parametrize("model", THREE_ROUNDS, ids=lambda model: model.describe())
@pytest.mark.parametrize("enough", [True, False])
def test_what_suppression_brings_about_is_suppressed_within_the_limit(model, enough):
    """Three rounds at the level below: where the third goes beyond the limit, nothing is left."""
    places, gone = THREE_ROUNDS[model]
    jobs = {"n": "nurse", "c": "clerk", "b": "boss"}
    held = [(place, jobs[letter]) for place, letters in places.items() for letter in letters]
    records = [(place, job, 1, person) for person, (place, job) in enumerate(held)]
    limit = round((gone + (0.5 if enough else -0.5)) / len(records), 3)
    case = Case(
        trees=[[(place, "*") for place in places]], bounds=[(0, 1)], weights=[1.0],
        records=records, k=1, limit=limit, loss="lm", models=[(0, model)],
        nulls=("value", "value"), persons=False, suppressed="drop",
    )  # fmt: skip
    best = brute_force(case)
    assert (best.node, best.released.rounds) == (((0,), 3) if enough else ((1,), 1))
    assert best.released.suppressed == (gone if enough else 0)
    agrees(case, best)


@settings(max_examples=18)
@given(st.one_of(cases(), whole_cases()))
def test_minimal_nodes_equal_brute_force_under_every_model(case):
    """Minimal are the lowest nodes that suppress no more than the limit; all of them are found."""
    best = brute_force(replace(case, suppressed="drop"))
    with closing(case.connection()) as connection:
        policy = replace(case, suppressed="drop").policy
        try:
            plan = sqlanon.plan(
                connection, policy, table="people", loss=case.loss, minimal_nodes=True
            )
        except UnsatisfiableError:
            assert best.node is None
            return
        found = [tuple(node.values()) for node in plan.report.minimal_nodes]
        assert sorted(found) == sorted(best.minimal)


@settings(max_examples=20)
@given(cases())
def test_a_search_that_starts_in_memory_ends_at_the_same_node(case):
    """Whatever the start believes of a model, only what is counted exactly is published."""
    with (
        patch.object(incognito, "LARGEST_BOX", 1),
        patch.object(descent, "MAX_SORTED_ROWS", 100_000),
    ):
        agrees(case, brute_force(case))


WAYS = {
    "one box at a time": [(incognito, "LARGEST_BOX", 4), (descent, "MAX_SORTED_ROWS", 0)],
    "everything rolled up": [
        (frequency_sets, "ROLLED_UP", LITTLE), (frequency_sets, "_work", lambda *_: -1),
        (frequency_sets, "PLANNING", -1),
    ],
    "a query per node": [
        (frequency_sets, "JOINED_AT_ONCE", 1), (frequency_sets, "SIDE_BY_SIDE", 1),
    ],
    "several words": [(layout, "WORD_BITS", 3)],
    "side by side": [
        (module, "LARGE_SET_ROWS", LITTLE)
        for module in (frequency_sets, model_checks)
    ],
}  # fmt: skip


def plan_of(case, *patches, threads=2, records=None):
    """The chosen plan as a document, or the error, with some constants replaced."""
    case = replace(case, records=records or case.records)
    with closing(case.connection(threads)) as connection, ExitStack() as stack:
        for module, name, value in patches:
            stack.enter_context(patch.object(module, name, value))
        try:
            plan = sqlanon.plan(connection, case.policy, table="people", loss=case.loss)
        except UnsatisfiableError as error:
            return str(error)
        document = plan.to_dict()
        del document["seconds"], document["created"]
        return document


@settings(max_examples=22)
@given(cases(), st.lists(st.sampled_from(sorted(WAYS)), unique=True))
def test_the_same_is_chosen_however_it_is_counted(case, ways):
    patches = [change for way in ways for change in WAYS[way]]
    best, found = brute_force(case), plan_of(case, *patches)
    if best.node is None:
        assert isinstance(found, str)
        return
    assert tuple(found["levels"].values()) == best.node
    assert found["suppressed_records"] == best.released.suppressed


def of_places(rows, model, **more):
    """Records of a city of six in two regions, an age of three, a pay and a job: by utility."""
    cities = [(f"{a}{b}", f"{a}*", "*") for a in "ab" for b in "123"]
    ages = [("20", "2-", "*"), ("25", "2-", "*"), ("31", "3-", "*")]
    told = {"n": "nurse", "c": "clerk", "b": "boss", "1": 1, "2": 2, "-": None}
    records = [
        (row[:2], row[2:4], told[row[5]], told[row[4]], person)
        for person, row in enumerate(rows.split())
    ]
    return Case(
        trees=[cities, ages], bounds=[(0, 2), (0, 2)], records=records, loss="utility",
        models=[(0, model)], persons=False, suppressed="drop", **more,
    )  # fmt: skip


# What the published classes gain decides, not what all classes would.
SUPPRESSED = of_places(
    "b2312b b3311n a2312b b325-n b1312b b3312c b325-b a3312b b2251n a2201b a3202b b3252b",
    LDiversity(2), k=2, limit=1, weights=[1, 1], nulls=("value", "value"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("case", "memory"),
    [
        (replace(SUPPRESSED, loss="lm"), 1),
        (replace(SUPPRESSED, loss="lm", persons=True), None),
        (SUPPRESSED, None),
    ],
    ids=["no memory", "persons", "gains"],
)
def test_what_memory_cannot_hold_or_count_is_searched_without_a_start(case, memory):
    never = patch.object(method, "_good_node", side_effect=AssertionError)
    with closing(case.connection()) as connection, patch.object(incognito, "LARGEST_BOX", 1):
        engine, options = DuckDB(connection), Options.of("incognito", loss=case.loss, memory=memory)
        with never:
            plan = make_plan(engine, engine.tables.resolve("people"), case.policy, options)
    assert tuple(plan.report.levels.values()) == brute_force(case).node


@pytest.mark.parametrize("loss", ["lm", "utility"])
def test_a_word_without_bits_tells_no_classes_of_a_large_set_apart(loss):
    case = replace(SUPPRESSED, loss=loss)
    words_side_by_side = [*WAYS["several words"], *WAYS["side by side"]]
    alike = ("levels", "loss", "suppressed_records", "lower_bound")
    expected, found = plan_of(case), plan_of(case, *words_side_by_side)
    assert [found[key] for key in alike] == [expected[key] for key in alike]


# Half of what the classes of a node gain is no bound: it would rule the best node out.
PRUNED = of_places(
    "b2252b a225-b b1202n b325-b b3311c b2252b a331-c a2202c a2202b b1312b b225-c a3202b "
    "b325-n a1311n",
    LDiversity(2), k=2, limit=0.5, weights=[1, 3], nulls=("value", "none"),
)  # fmt: skip
# Suppressed classes gain less than nothing: without them others gain more than all together.
RELIEVED = of_places(
    "b1202n b2202n b2252n a3312n a3202n b2202n b1202n a1312n b1312c a3252n b1202n a1252n "
    "b3252n b2312n",
    TCloseness(0.4), k=3, limit=0.5, weights=[1, 3], nulls=("value", "value"),
)  # fmt: skip


@settings(max_examples=14)
@example(SUPPRESSED, "one box at a time")
@example(PRUNED, "side by side")
@example(RELIEVED, "one box at a time")
@given(cases().map(lambda own: replace(own, loss="utility")), st.sampled_from(sorted(WAYS)))
def test_utility_steers_to_the_node_that_brute_force_finds(case, way):
    best, found = brute_force(case), plan_of(case, *WAYS[way])
    if best.node is None:
        assert isinstance(found, str)
        return
    assert tuple(found["levels"].values()) == best.node
    assert found["suppressed_records"] == best.released.suppressed
    assert found["search"]["proven"]
    loss = found["loss"]["value"]
    assert (math.inf if loss is None else loss) == pytest.approx(float(best.released.loss))
    assert found["lower_bound"] == loss


@settings(max_examples=5)
@given(cases(), st.sampled_from([2**12, 2**20]))
def test_roll_ups_choose_the_same_with_rounded_costs(case, largest):
    rounded = (cells, "MAX_TOTAL", largest)
    rolling = plan_of(case, rounded, *WAYS["everything rolled up"])
    assert decided(plan_of(case, rounded)) == decided(rolling)


def decided(document):
    """What a plan decides, whatever the work was."""
    return document if isinstance(document, str) else {**document, "search": None}


@settings(max_examples=6)
@given(st.one_of(cases(), k_alone), st.randoms(use_true_random=False))
def test_a_plan_depends_neither_on_the_order_of_rows_nor_on_threads(case, rng):
    shuffled = rng.sample(case.records, len(case.records))
    one = plan_of(case, threads=1)
    assert plan_of(case, threads=2, records=shuffled) == one
    assert plan_of(case, threads=8) == one


# One person has three records of job "clerk", in a class of three persons.
SEVERAL_RECORDS = Case(
    trees=[[("x", "*"), ("y", "*")]],
    bounds=[(0, 1)],
    weights=[1.0],
    records=[
        ("x", "nurse", 1, 1), ("x", "clerk", 1, 2), ("x", "boss", 1, 3),
        ("x", "clerk", 2, 2), ("x", "clerk", 3, 2),
        ("y", "nurse", 1, 4), ("y", "clerk", 1, 5), ("y", "boss", 1, 6),
    ],
    k=1, limit=0.0, loss="lm", models=[], nulls=("value", "value"), persons=True,
    suppressed="drop",
)  # fmt: skip


@pytest.mark.parametrize(
    ("model", "levels"),
    [
        (LDiversity(3), (0,)),
        (LDiversity(2.9, "entropy"), None),
        (LDiversity(2, "recursive", 1.5), (1,)),
        (TCloseness(0.2), (0,)),
        (TCloseness(0.05), (1,)),
    ],
    ids=lambda value: value.describe() if hasattr(value, "describe") else "",
)
def test_what_more_records_can_break_holds_for_persons_and_for_records(model, levels):
    """Each class has one person of each job, and x five records of which three say clerk."""
    case = replace(SEVERAL_RECORDS, models=[(0, model)])
    found = plan_of(case)
    assert brute_force(case).node == levels
    assert (None if isinstance(found, str) else tuple(found["levels"].values())) == levels


def test_entropy_is_right_to_the_last_digits_however_many_values_there_are():
    """Two classes of 60,000 values, each of three records: as diverse as can be."""
    values = 60_000
    with empty_database() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT c AS a, v AS ill "
            f"FROM range(2) AS classes(c), range({values}) AS ills(v), range(3)"
        )
        policy = Policy(["a"], ["ill"], models=[KAnonymity(2), LDiversity(values, "entropy")])
        assert sqlanon.plan(connection, policy, table="people").report.levels == {"a": 0}
