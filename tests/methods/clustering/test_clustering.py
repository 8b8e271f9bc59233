"""Local recoding end to end: what is published, on random small tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from databases import empty_database, insert
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import hierarchies, records_of, weights

import sqlanon
from sqlanon import (
    Hierarchy,
    KAnonymity,
    LDiversity,
    Policy,
    QuasiIdentifier,
)
from sqlanon.errors import HierarchyError, UnsatisfiableError
from sqlanon.methods.clustering.first import largest_block
from sqlanon.methods.registry import Options

pytestmark = pytest.mark.slow

COVERS = ("set-cover", "direct-cover")
BRIEFLY = {"passes": 1}  # what refinement is worth is looked at elsewhere
WAYS = [BRIEFLY, {"refine": False}, {}, *({"block_records": most, **BRIEFLY} for most in (1, 4))]


@st.composite
def tables(draw):
    """Hierarchies without a label for two nodes, records over their leaves, k and weights."""
    trees = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    records = draw(records_of(trees, st.sampled_from("abc"), least=2))
    k = draw(st.integers(1, min(4, len(records))))
    return trees, records, k, [draw(weights) for _ in trees]


def connected(records, width):
    connection = empty_database()
    columns = [f"q{i}" for i in range(width)]
    listed = ", ".join(f"{name} VARCHAR" for name in [*columns, "job"])
    connection.execute(f"CREATE TABLE people ({listed})")
    insert(connection, "people", records)
    return connection, columns


def policy_of(trees, columns, k, weights, **more):
    quasi = {
        name: QuasiIdentifier(Hierarchy.from_rows(rows), weight=weight)
        for name, rows, weight in zip(columns, trees, weights, strict=True)
    }
    return Policy(quasi, models=[KAnonymity(k), *more.pop("models", [])], **more)


def cell_loss(rows, label):
    """Loss Metric of a cell: leaves of the smallest node of the label, over the domain."""
    if len(rows) == 1:
        return Fraction(0)
    held = {frozenset(r[0] for r in rows if r[at] == label) for at in range(len(rows[0]))}
    size = min(len(node) for node in held if node)
    return Fraction(size - 1, len(rows) - 1)


@settings(max_examples=8)
@given(tables(), st.sampled_from(COVERS), st.sampled_from(WAYS))
def test_every_record_is_published_by_ancestors_of_its_values(case, method, way):
    trees, records, k, weights = case
    connection, columns = connected(records, len(trees))
    policy = policy_of(trees, columns, k, weights, keep=["job"])
    with connection:
        report = sqlanon.anonymize(
            connection, policy, table="people", method=method, **way, into="released"
        )
        rows = connection.execute("SELECT * FROM released").fetchall()
    assert Counter(row[-1] for row in rows) == Counter(record[-1] for record in records)
    assert min(Counter(row[:-1] for row in rows).values()) >= k
    assert matched(trees, records, rows)
    share = [Fraction(str(weight)) / sum(map(Fraction, map(str, weights))) for weight in weights]
    lost = sum(
        part * cell_loss(tree, cell)
        for row in rows
        for part, tree, cell in zip(share, trees, row, strict=False)
    )
    assert report.loss["lm"] == pytest.approx(float(lost / len(records)))
    assert report.lower_bound <= report.loss["lm"] + 1e-12


@pytest.mark.parametrize("method", COVERS)
def test_plan_and_anonymize_cut_a_large_table_alike(people, method):
    """Two f and two m can each be a block; NULL goes with one of them."""
    policy = policy_of([SEX], ["q0"], 2, [1.0], drop=["job"])
    settings = {"method": method, "block_records": 3, **BRIEFLY}
    plan = sqlanon.plan(people, policy, table="people", **settings)
    report = sqlanon.anonymize(people, policy, table="people", **settings, into="released")
    assert (report.loss, report.notes) == (plan.report.loss, plan.report.notes)
    assert report.lower_bound == pytest.approx(0.2)  # of the only column, by itself
    assert report.search.blocks == 2
    assert "the table was cut into 2 blocks of up to 3 records, each" in report.notes[0]


def test_a_memory_limit_makes_blocks_smaller(people, tmp_path, monkeypatch):
    """Five records of 100 MB each do not fit where three do."""
    monkeypatch.setattr("sqlanon.methods.clustering.first.RECORD_BYTES", 100_000_000)
    people.execute(f"COPY people TO '{tmp_path / 'people.csv'}'")
    policy = policy_of([SEX], ["q0"], 2, [1.0], drop=["job"])
    plan = sqlanon.plan(
        tmp_path / "people.csv", policy, method="direct-cover", memory_limit="300MB"
    )
    assert plan.report.search.blocks == 2
    assert "3 records, as the memory limit allows" in plan.report.notes[0]
    assert "clusters from 3 candidates, in 2 blocks" in plan.report.to_text()


@pytest.mark.parametrize(
    ("memory", "most"), [(None, 250_000), (10**9, 62_500), (10**12, 250_000), (1, 1)]
)
def test_the_largest_block_is_what_memory_holds(memory, most):
    assert largest_block(Options.of("set-cover", memory=memory)) == most


def matched(trees, records, rows):
    """Whether each published row can be given a record of its own that it generalizes."""
    paths = [{row[0]: set(row) for row in tree} for tree in trees]
    partner = {}

    def fits(record, row):
        alike = zip(paths, record, row, strict=False)
        return record[-1] == row[-1] and all(cell in path[value] for path, value, cell in alike)

    def found(number, seen):
        for place, row in enumerate(rows):
            if place not in seen and fits(records[number], row):
                seen.add(place)
                if place not in partner or found(partner[place], seen):
                    partner[place] = number
                    return True
        return False

    return all(found(number, set()) for number in range(len(records)))


RECORDS = [("f", "a"), ("f", "b"), ("m", "a"), ("m", "b"), (None, "c")]
SEX = [("f", "*"), ("m", "*")]


@pytest.fixture
def people():
    with connected(RECORDS, 1)[0] as connection:
        yield connection


@pytest.mark.parametrize("method", COVERS)
@pytest.mark.parametrize("name", ["size", "Size", "sqlanon_unit", "sqlanon_position", "records"])
def test_columns_may_be_called_like_ours(people, method, name):
    people.execute("CREATE TABLE other AS SELECT q0, job, length(job) + 0.5 AS kept FROM people")
    people.execute(f'ALTER TABLE other RENAME q0 TO "{name}"')
    people.execute("ALTER TABLE other RENAME kept TO sqlanon_unit_")
    policy = Policy(
        {name: Hierarchy.from_rows(SEX)},
        sensitive=["job"],
        models=[KAnonymity(2), LDiversity(2)],
        keep=["sqlanon_unit_"],
    )
    asked = {"method": method, "refine": False}
    report = sqlanon.anonymize(people, policy, table="other", **asked, into="released")
    assert (report.loss["lm"], report.lower_bound) == with_other_names(**asked)


@cache
def with_other_names(**asked):
    """The loss and the bound of those records in columns of names that nothing else has."""
    policy = policy_of([SEX], ["q0"], 2, [1.0], sensitive=["job"], models=[LDiversity(2)])
    with connected(RECORDS, 1)[0] as connection:
        report = sqlanon.plan(connection, policy, table="people", **asked).report
    return report.loss["lm"], report.lower_bound


def test_a_plan_survives_a_file_and_publishes_the_same(people, tmp_path):
    policy = policy_of([SEX], ["q0"], 2, [1.0], keep=["job"])
    plan = sqlanon.plan(people, policy, table="people", method="direct-cover")
    plan.save(tmp_path / "plan.json")
    assert sqlanon.Plan.load(tmp_path / "plan.json") == plan
    sqlanon.apply(people, sqlanon.Plan.load(tmp_path / "plan.json"), into="released")
    people.execute(plan.sql(into="printed"))
    assert people.execute("FROM released").fetchall() == people.execute("FROM printed").fetchall()


def test_the_lowest_level_is_kept_by_every_record(people):
    tree = [("f", "sex", "*"), ("m", "sex", "*")]
    quasi = {"q0": QuasiIdentifier(Hierarchy.from_rows(tree), min_level=1)}
    policy = Policy(quasi, models=[KAnonymity(1)], drop=["job"])
    report = sqlanon.anonymize(
        people, policy, table="people", method="direct-cover", into="released"
    )
    rows = people.execute("SELECT DISTINCT q0 FROM released ORDER BY 1").fetchall()
    assert rows == [("sex",), (None,)]
    assert report.holds


ALONE = {"method": "direct-cover", "suppress_uncovered": True, "refine": False}


def test_what_is_not_covered_is_suppressed_where_that_is_asked(people):
    people.execute("INSERT INTO people VALUES ('x', 'c')")
    policy = policy_of([[*SEX, ("x", "*")]], ["q0"], 2, [1.0], drop=["job"])
    plan = sqlanon.plan(people, policy, table="people", **ALONE)
    assert plan.report.records_per_level == {"q0": [4, 2]}


def test_what_is_suppressed_without_a_limit_is_noted(people):
    people.execute("INSERT INTO people VALUES ('x', 'c')")
    policy = policy_of([[*SEX, ("x", "*")]], ["q0"], 2, [1.0], drop=["job"])
    notes = sqlanon.plan(people, policy, table="people", beta=1.0, **ALONE).report.notes
    assert any("covers 2 records: all their cells are suppressed" in note for note in notes)


def test_what_there_is_one_of_is_told_as_one():
    said = []
    with empty_database() as connection:
        connection.execute("CREATE TABLE people AS SELECT 0 AS a FROM range(2)")
        policy = Policy(["a"], models=[KAnonymity(2)])
        sqlanon.plan(connection, policy, table="people", method="set-cover", progress=said.append)
    assert {"cover: 1 candidate", "refine: 1 cluster"} <= set(said)


@pytest.fixture
def lonely():
    """Two blocks of six, by the first column; in each two records alike and four all different."""
    rows = [(a, f"{a}{n}", "c") for a in "xy" for n in (0, 0, 1, 2, 3, 4)]
    trees = [[(a, "*") for a in "xy"], [(f"{a}{n}", "*") for a in "xy" for n in range(5)]]
    connection, columns = connected(rows, 2)
    with connection:
        yield connection, policy_of(trees, columns, 2, [1.0, 1.0], drop=["job"])


BETA = {"beta": 2.0, "block_records": 6}


def test_what_blocks_suppress_is_noted_once_with_all_records(lonely):
    plan = sqlanon.plan(lonely[0], lonely[1], table="people", **{**ALONE, **BETA})
    assert plan.report.search.blocks == 2
    assert [note for note in plan.report.notes if "covers" in note] == [
        "no itemset covers 8 records: all their cells are suppressed, and no suppression limit "
        "bounds how many they are"
    ]


def test_what_no_candidate_of_blocks_covers_is_noted_once_with_all_records(lonely):
    plan = sqlanon.plan(lonely[0], lonely[1], table="people", method="set-cover", **BETA)
    assert [note for note in plan.report.notes if "covers" in note] == [
        "no candidate below 1/beta of a suppressed record covers 8 records; they went where they "
        "cost least"
    ]


@pytest.mark.parametrize(("most", "ending"), [(6, " within the same blocks"), (12, "")])
def test_the_guarantee_of_set_cover_is_told_for_what_it_holds(lonely, most, ending):
    plan = sqlanon.plan(
        lonely[0], lonely[1], table="people", method="set-cover", block_records=most
    )
    [told] = [note for note in plan.report.notes if "at most 2 (1 + ln 2k)" in note]
    assert told.endswith(f"the best recoding of single records{ending}")


@pytest.fixture
def odd(people):
    """Three f, and two m whom no itemset of three covers but that of all."""
    people.execute("INSERT INTO people VALUES ('f', 'c')")
    people.execute("DELETE FROM people WHERE q0 IS NULL")
    return people


def test_too_few_uncovered_records_go_where_they_cost_least(odd):
    policy = policy_of([SEX], ["q0"], 3, [1.0], drop=["job"])
    plan = sqlanon.plan(odd, policy, table="people", beta=1.0, **ALONE)
    assert plan.report.records_per_level == {"q0": [0, 5]}


def test_uncovered_records_are_left_out_within_the_limit(odd):
    policy = policy_of([SEX], ["q0"], 3, [1.0], drop=["job"], suppression_limit=0.4)
    report = sqlanon.anonymize(odd, policy, table="people", beta=1.0, into="released", **ALONE)
    assert odd.execute("FROM released").fetchall() == [("f",)] * 3
    assert report.suppressed_records == 2
    assert "2 records are left out within the suppression limit" in report.notes


def test_a_label_for_two_nodes_is_refused_where_levels_mix(people):
    tree = [("f", "m", "*"), ("m", "x", "*")]
    policy = policy_of([tree], ["q0"], 2, [1.0], drop=["job"])
    with pytest.raises(HierarchyError, match="levels mix"):
        sqlanon.plan(people, policy, table="people", method="set-cover")


def test_a_record_is_left_out_within_the_limit_where_that_loses_less(people):
    """NULL alone: with two others at the top it would lose three times as much."""
    policy = policy_of([SEX], ["q0"], 2, [1.0], drop=["job"], suppression_limit=0.2)
    report = sqlanon.anonymize(
        people, policy, table="people", method="direct-cover", into="released"
    )
    assert people.execute("FROM released").fetchall() == [("f",), ("f",), ("m",), ("m",)]
    assert (report.loss["lm"], report.suppressed_records) == (pytest.approx(0.2), 1)
    assert "1 record is left out within the suppression limit" in report.notes


def test_nobody_is_left_out_where_clusters_stay_as_they_were_found(people):
    policy = policy_of([SEX], ["q0"], 2, [1.0], drop=["job"], suppression_limit=0.2)
    plan = sqlanon.plan(people, policy, table="people", method="direct-cover", refine=False)
    assert plan.report.search.left_out == 0


def test_kept_records_are_left_out_only_as_a_class_that_satisfies_the_policy(people):
    """NULL alone would lose less outside, but one record is no class of two."""
    more = {"suppression_limit": 0.4, "suppressed": "keep", "suppressed_label": "gone"}
    policy = policy_of([SEX], ["q0"], 2, [1.0], drop=["job"], **more)
    alone = sqlanon.plan(people, policy, table="people", method="direct-cover")
    assert alone.report.suppressed_records == 0
    people.execute("INSERT INTO people VALUES (NULL, 'c')")
    capped = {"q0": QuasiIdentifier(Hierarchy.from_rows(SEX), max_level=0)}
    policy = Policy(capped, models=[KAnonymity(3)], drop=["job"], **more)
    with pytest.raises(UnsatisfiableError, match="highest levels 6 of 6 records"):
        sqlanon.plan(people, policy, table="people", method="direct-cover")
    people.execute("INSERT INTO people SELECT 'f', 'a' FROM range(4)")
    report = sqlanon.anonymize(
        people, policy, table="people", method="direct-cover", into="released"
    )
    rows = people.execute("SELECT q0, count(*) FROM released GROUP BY 1 ORDER BY 1").fetchall()
    assert rows == [("f", 6), ("gone", 4)]
    assert (report.suppressed_records, report.statistics.smallest) == (4, 4)


@pytest.mark.parametrize("method", COVERS)
@pytest.mark.parametrize("most", [4, 6, 9])
def test_blocks_keep_to_levels_and_share_the_limit(lonely, method, most):
    connection, policy = lonely
    tops = {"q0": 0, "q1": 1}
    capped = {n: replace(each, max_level=tops[n]) for n, each in policy.attributes.items()}
    policy = replace(policy.with_attributes(capped), suppression_limit=0.2)
    report = sqlanon.anonymize(
        connection, policy, table="people", method=method, block_records=most, into="released"
    )
    rows = connection.execute("SELECT * FROM released").fetchall()
    assert {row[0] for row in rows} <= {"x", "y"}
    assert min(Counter(rows).values()) >= 2
    assert len(rows) >= 10
    assert report.lower_bound <= report.loss["lm"] + 1e-12


CAPPED = {
    "q0": QuasiIdentifier(Hierarchy.from_rows([("f", "sex", "*"), ("m", "sex", "*")]), max_level=1)
}


def test_records_that_no_class_within_the_levels_can_hold_are_counted(people):
    policy = Policy(CAPPED, models=[KAnonymity(2)], drop=["job"])
    with pytest.raises(UnsatisfiableError, match="highest levels 1 of 5 records is in classes"):
        sqlanon.plan(people, policy, table="people", method="set-cover")


@pytest.mark.parametrize("method", COVERS)
def test_records_that_no_class_within_the_levels_can_hold_are_left_out(people, method):
    people.execute("INSERT INTO people VALUES ('f', 'c')")
    policy = Policy(CAPPED, models=[KAnonymity(3)], drop=["job"], suppression_limit=0.2)
    report = sqlanon.anonymize(people, policy, table="people", method=method, into="released")
    assert people.execute("FROM released").fetchall() == [("sex",)] * 5
    [note] = [note for note in report.notes if "left out" in note]
    assert "1 of them since no class within the highest levels can hold them" in note
    assert report.lower_bound <= report.loss["lm"]


@pytest.mark.parametrize("candidates", ["closed", "frequent", "all"])
@pytest.mark.parametrize("beta", [None, 1.0])
def test_every_kind_of_candidates_covers(people, candidates, beta):
    policy = policy_of([SEX], ["q0"], 2, [1.0], drop=["job"])
    plan = sqlanon.plan(
        people, policy, table="people", method="set-cover", candidates=candidates, beta=beta
    )
    assert plan.report.statistics.smallest >= 2
