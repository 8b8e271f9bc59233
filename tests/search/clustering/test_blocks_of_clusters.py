"""Blocks of whole clusters: what they hold, what they may leave out, and who improves them."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from threading import Timer

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.covers import (
    Distinct,
    candidates_of,
    check,
    least_loss,
    optimum,
    problem_of,
    random_table,
)
from strategies import bounded, problems

from sqlanon import workers
from sqlanon.deadline import Deadline
from sqlanon.errors import UnsatisfiableError
from sqlanon.hierarchy.tree import Tree
from sqlanon.search.clustering import blocks_of_clusters as home
from sqlanon.search.clustering.blocks_of_clusters import (
    Task,
    blocks_of_clusters,
    improved_in_blocks,
    put_together,
)
from sqlanon.search.clustering.clustering_problem import NOWHERE, Clustering, members
from sqlanon.search.clustering.direct_cover import direct_cover
from sqlanon.search.clustering.mondrian import cut_clusters
from sqlanon.workers import Process, processes

pytestmark = pytest.mark.slow

FEW = settings(max_examples=40)
most_records = st.integers(4, 10)


def at_most(count):
    """So many processes."""
    return lambda most, until: processes(min(count, most))


def task_of(problem, clusters, *, passes=3, turns=2, seed=0):
    return Task(problem, clusters, passes, turns, seed)


@st.composite
def clustered(draw, **options):
    """A table, and clusters of it of any records, some of which may be left out."""
    problem = draw(problems(**options))
    label = draw(st.lists(st.integers(-1, 3), min_size=problem.records, max_size=problem.records))
    return problem, Clustering.of(problem, np.array(label))


@FEW
@given(clustered(most=150), most_records, st.integers(0, 4))
def test_blocks_are_unions_of_whole_clusters_and_no_larger_than_asked(case, most, border):
    problem, clusters = case
    blocks = blocks_of_clusters(problem, clusters, most=most, border=border)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(problem.records))
    for cluster in members(clusters):
        assert sum(bool(np.isin(cluster, block).any()) for block in blocks) == 1
    largest = max(1, *clusters.sizes.tolist(), 1)
    assert all(len(block) <= max(most, largest) for block in blocks)


@FEW
@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 3))
def test_blocks_of_small_clusters_are_of_about_equal_size(records, most, border):
    random = np.random.default_rng(records)
    problem = problem_of([tuple(map(str, row)) for row in random.integers(0, 9, (records, 3))], 1)
    alone = Clustering(np.full(records, NOWHERE), problem.leaves[:0])
    sizes = [len(block) for block in blocks_of_clusters(problem, alone, most=most, border=border)]
    assert len(sizes) == -(-records // most)
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 2


def test_clusters_that_are_all_alike_are_parted_too():
    problem = problem_of([("a", "b")] * 12, 2)
    alike = Clustering(np.arange(12) // 2, np.repeat(problem.leaves[:1], 6, axis=0))
    assert [len(block) for block in blocks_of_clusters(problem, alike, most=4)] == [4, 4, 4]


def test_other_borders_are_those_of_other_columns():
    """City tells more than sex: blocks are cut between cities first, then between the sexes."""
    rows = [(city, sex) for sex in "fm" for city in ("a1", "a2", "b1", "b2") for _ in range(4)]
    problem = problem_of(rows, 4)
    clusters = Clustering.of(problem, np.arange(32) // 4)
    found = [
        {tuple(block) for block in blocks_of_clusters(problem, clusters, most=16, border=border)}
        for border in (0, 1, 2)
    ]
    sexes = {tuple(range(16)), tuple(range(16, 32))}
    assert found[0] == found[2] != found[1]
    assert sexes in found


@FEW
@given(problems(most=150), st.integers(0, 3), most_records)
def test_clusters_of_blocks_lose_no_more_than_the_start(problem, seed, most):
    start = cut_clusters(problem)
    found, _ = improved_in_blocks(task_of(problem, start, seed=seed), most=most)
    check(problem, found)
    assert found.loss(problem) <= start.loss(problem)
    if problem.records < 10:
        assert least_loss(problem) <= found.loss(problem)


@FEW
@given(problems(most=150, demanding=True), st.integers(0, 3), most_records)
def test_clusters_of_blocks_keep_the_demand(problem, seed, most):
    assume(problem.satisfies(np.arange(problem.records)))
    start = direct_cover(problem, candidates_of(problem))
    found, _ = improved_in_blocks(task_of(problem, start, seed=seed), most=most)
    check(problem, found)
    assert found.loss(problem) <= start.loss(problem)


@FEW
@given(
    st.one_of(problems(most=150), problems(most=150, demanding=True), bounded(demanding=True)),
    st.integers(0, 3),
    most_records,
)
def test_combinations_stay_whole_at_no_loss(problem, seed, most):
    """Records alike in all columns are in one cluster before, and so they are after."""
    problem = replace(problem, allowance=0)
    assume(problem.demand is None or problem.demand.union_closed)
    whole = Clustering.of(problem, problem.division)
    start = cut_clusters(problem) if problem.demand is None else whole
    assume(all(problem.satisfies(records) for records in members(start)))
    _, combination = np.unique(problem.leaves, axis=0, return_inverse=True)
    task = replace(task_of(problem, start, seed=seed), combination=combination.ravel())
    found, _ = improved_in_blocks(task, most=most)
    check(problem, found)
    assert found.loss(problem) <= start.loss(problem)
    pairs = np.unique(np.stack([combination.ravel(), found.label]), axis=1)
    assert pairs.shape[1] == combination.max() + 1


@pytest.mark.parametrize("most", [20, 60])
def test_time_that_is_left_for_combinations_ends_the_search_too(monkeypatch, most):
    now, problem = [0.0], random_table(60, 2)

    def late(problem, clusters, **_):
        now[0] = 0.85
        return clusters

    monkeypatch.setattr(home, "improved", late)
    problem = replace(problem, deadline=Deadline(1.0, lambda: now[0]))
    start = cut_clusters(problem)
    assert not improved_in_blocks(task_of(problem, start), most=60)[1]
    now[0] = 0.0
    task = replace(task_of(problem, start), combination=np.arange(60))
    assert improved_in_blocks(task, most=most)[1]


def test_combinations_go_where_most_of_their_records_are():
    """Of four of one value three stay in their cluster, which then takes the other one."""
    problem = problem_of([("a",)] * 4 + [("b",)] * 2 + [("c",)] * 3, 3)
    _, combination = np.unique(problem.leaves, axis=0, return_inverse=True)
    before = Clustering.of(problem, np.zeros(9, np.int64))
    parted = Clustering.of(problem, np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]))
    found = put_together(problem, parted, combination.ravel(), before=before)
    assert found.label.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert found.loss(problem) < before.loss(problem)


@FEW
@given(bounded(demanding=True), st.integers(0, 3), st.integers(2, 4), st.booleans())
def test_blocks_keep_highest_levels_and_never_leave_out_more(problem, seed, most, may_leave):
    """Not even where the start leaves out more than the search may."""
    try:
        start = direct_cover(problem, candidates_of(problem))
    except UnsatisfiableError:
        assume(False)
    assume(len(start.nodes))
    allowed = problem if may_leave else replace(problem, allowance=0)
    found, _ = improved_in_blocks(task_of(allowed, start, seed=seed), most=most)
    check(problem, found)
    assert optimum(problem) <= found.loss(problem) <= start.loss(problem)
    if not may_leave:
        assert (found.label == NOWHERE).sum() <= (start.label == NOWHERE).sum()


def test_other_borders_let_clusters_cross_those_before(monkeypatch):
    tree = Tree.grow(
        "any", [(f"{n:02}", f"by 4: {n // 4}", f"by 8: {n // 8}", "*") for n in range(16)]
    )
    random = np.random.default_rng(1)
    rows = [tuple(f"{value:02}" for value in row) for row in random.integers(0, 16, (400, 2))]
    problem = problem_of(rows, 4, [tree, tree], "lm")
    start, crossing, losses = cut_clusters(problem), [], []
    blocks = blocks_of_clusters(problem, start, most=130)
    for borders in (1, 2):
        monkeypatch.setattr(home, "BORDERS", borders)
        found, _ = improved_in_blocks(task_of(problem, start, passes=6, turns=0), most=130)
        within = [np.isin(own, block).all() for own in members(found) for block in blocks]
        crossing.append(len(found.nodes) - sum(within))
        losses.append(found.loss(problem))
    assert crossing[0] == 0 < crossing[1]
    assert losses[1] < losses[0] < start.loss(problem)


@pytest.mark.parametrize("demand", [None, Distinct(np.arange(400) % 3, 2)])
def test_equal_seeds_give_equal_clusters_in_any_number_of_processes(demand, monkeypatch):
    """Also where a process has died, whose work this one does."""
    problem = random_table(400, 5, demand=demand, values=8)
    start = direct_cover(problem, candidates_of(problem))
    whole = task_of(problem, start, passes=1, seed=7)
    first = improved_in_blocks(whole, most=150)[0].label.tolist()
    for count in (2, 3):
        other, _ = improved_in_blocks(whole, most=150, workers=at_most(count))
        assert other.label.tolist() == first
    assert improved_in_blocks(replace(whole, seed=8), most=150)[0].label.tolist() != first

    made = Process.__init__

    def dying(own):
        made(own)
        own.kill()

    monkeypatch.setattr(Process, "__init__", dying)
    assert improved_in_blocks(whole, most=150, workers=at_most(2))[0].label.tolist() == first


def test_another_process_does_the_work(monkeypatch):
    problem = random_table(60, 3)
    task = task_of(problem, cut_clusters(problem))
    expected = task.run()
    worker = Process()
    try:
        monkeypatch.setattr(Task, "run", lambda _: pytest.fail("done in this process"))
        for _ in range(2):
            assert worker.run(task).label.tolist() == expected.label.tolist()
        worker.kill()
        assert worker.run(task) is None
    finally:
        worker.end()


def test_a_worker_that_answers_anything_else_is_asked_no_more(tmp_path, monkeypatch):
    """Its next answer would be that to the task before: clusters of other records."""
    says = "import pickle, sys; pickle.dump('words', sys.stdout.buffer); sys.stdout.flush()"
    (tmp_path / "sitecustomize.py").write_text(says)
    monkeypatch.syspath_prepend(tmp_path)
    problem = random_table(60, 3)
    task = task_of(problem, cut_clusters(problem))
    worker = Process()
    try:
        assert worker.run(task) is None
        assert worker.run(replace(task, seed=1)) is None
    finally:
        worker.end()


def test_where_no_process_can_be_started_this_one_does_the_work(monkeypatch):
    problem = random_table(60, 3)
    whole = task_of(problem, cut_clusters(problem))
    expected = improved_in_blocks(whole, most=20)[0].label.tolist()
    monkeypatch.setattr(workers.sys, "executable", "/nowhere/python")
    assert improved_in_blocks(whole, most=20, workers=at_most(2))[0].label.tolist() == expected


@pytest.mark.parametrize(
    ("program", "is_frozen"),
    [("/opt/editor", False), ("/opt/python-tool", True), ("", False), (None, False)],
)
def test_a_program_that_is_not_python_is_not_started(program, is_frozen, monkeypatch):
    problem = random_table(60, 3)
    whole = task_of(problem, cut_clusters(problem))
    expected = improved_in_blocks(whole, most=20)[0].label.tolist()
    monkeypatch.setattr(workers.sys, "executable", program)
    monkeypatch.setattr(workers.sys, "frozen", is_frozen, raising=False)
    monkeypatch.setattr(workers, "Process", lambda: pytest.fail("started"))
    assert improved_in_blocks(whole, most=20, workers=at_most(2))[0].label.tolist() == expected


def test_workers_import_nothing_from_the_folder_they_are_started_in(tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("open('imported', 'w')")
    monkeypatch.chdir(tmp_path)
    problem = random_table(60, 3)
    worker = Process()
    try:
        assert worker.run(task_of(problem, cut_clusters(problem))) is not None
    finally:
        worker.end()
    assert not (tmp_path / "imported").exists()


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_ends_the_work_at_once_and_every_process(count, monkeypatch):
    problem, ended = random_table(400, 3), []
    end = Process.end

    def watched(own):
        end(own)
        ended.append(own._process.returncode)

    monkeypatch.setattr(Process, "end", watched)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    endless = task_of(problem, cut_clusters(problem), passes=1e6)
    try:
        with pytest.raises(KeyboardInterrupt):
            improved_in_blocks(endless, most=100, workers=at_most(count))
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert len(ended) == (count if count > 1 else 0)
    assert None not in ended


def test_no_time_leaves_clusters_as_they_are_and_little_leaves_them_valid():
    problem = random_table(200, 4)
    start = cut_clusters(problem)
    late = replace(problem, deadline=Deadline(0))
    found, _ = improved_in_blocks(task_of(late, start), most=60)
    assert found.label.tolist() == start.label.tolist()
    soon = replace(problem, deadline=Deadline.after(0.2))
    found, _ = improved_in_blocks(task_of(soon, start, passes=1e6), most=60, workers=at_most(2))
    check(problem, found)
    assert found.loss(problem) <= start.loss(problem)


@pytest.mark.parametrize(("used", "expected"), [(0.9, False), (1.0, True)])
def test_a_block_that_its_share_of_the_time_ended_is_told(used, expected):
    """The first block alone takes time, which is over for none but it."""
    now, problem = [0.0], random_table(200, 4)
    start = cut_clusters(problem)
    limited = replace(problem, deadline=Deadline(100.0, lambda: now[0]))

    class Slow(Task):
        def run(self):
            now[0] = now[0] or used * self.problem.deadline.end
            return self.clusters

    found, is_cut = improved_in_blocks(Slow(limited, start, 3, 2, 0), most=60)
    assert (found.loss(problem), is_cut) == (start.loss(problem), expected)
    assert 0 < now[0] < 50


@pytest.mark.parametrize("most", [60, 200])
def test_a_search_without_time_is_told_as_cut_and_one_without_limit_never(most):
    problem = random_table(200, 4)
    start = cut_clusters(problem)
    for deadline, expected in ((Deadline(0), True), (Deadline(), False)):
        task = task_of(replace(problem, deadline=deadline), start, passes=1)
        assert improved_in_blocks(task, most=most)[1] is expected
