"""That the executors of Spark do jobs as this process does, and end them with it."""

import threading
import time
from dataclasses import dataclass

import numpy as np
import pyarrow
import pytest
from oracles.covers import problem_of
from spark_kind import IS_SAIL

import sqlanon
import sqlanon.engine.spark.workers as home
from sqlanon import Hierarchy, KAnonymity, Policy
from sqlanon.deadline import NEVER, Deadline
from sqlanon.engine.spark.calls import Calls
from sqlanon.engine.spark.workers import SparkWorker, SparkWorkers
from sqlanon.methods.registry import Options
from sqlanon.search.clustering.blocks_of_clusters import Task, improved_in_blocks
from sqlanon.search.clustering.mondrian import cut_clusters

pytestmark = pytest.mark.slow


def refined(records=300):
    """Clusters to refine, in blocks."""
    random = np.random.default_rng(1)
    rows = [tuple(map(str, row)) for row in random.integers(0, 8, (records, 4))]
    problem = problem_of(sorted(rows), 5)
    return Task(problem, cut_clusters(problem), 1, 1, 7)


@dataclass(frozen=True, slots=True)
class Asleep:
    """A job that takes so long."""

    seconds: float

    def run(self):
        time.sleep(self.seconds)
        return "awake"


class Failing:
    """A job that does not come to anything."""

    def run(self):
        raise ValueError("Wagner77")


def test_equal_seeds_give_equal_clusters_on_executors(session, monkeypatch):
    notes, whole = [], refined()
    here = improved_in_blocks(whole, most=150)[0].label.tolist()
    there = SparkWorkers(session, notes)
    if not IS_SAIL:  # which does them in this process
        monkeypatch.setattr(Task, "run", lambda _: pytest.fail("done in this process"))
    assert improved_in_blocks(whole, most=150, workers=there)[0].label.tolist() == here
    assert notes == []


def test_a_job_that_fails_is_done_by_the_caller(session, capfd):
    with SparkWorkers(session, [])(2, NEVER) as (worker, *_):
        assert worker.run(Failing()) is None
        assert worker.run(Asleep(0)) == "awake"
    assert "Wagner77" not in "".join(capfd.readouterr())


def test_other_versions_on_executors_are_noted_once(session, monkeypatch):
    notes = []
    workers = SparkWorkers(session, notes)
    monkeypatch.setattr(home, "_versions", lambda: "sqlanon 0.0.1")
    monkeypatch.setattr(home, "_probed", home._done)  # as where sqlanon is not there, it fails
    for _ in range(2):
        with workers(2, NEVER) as found:
            assert found == []
    (note,) = notes
    assert "sqlanon 0.0.1" in note


def test_a_deadline_ends_what_executors_do(session):
    workers = SparkWorkers(session, [])
    with workers(1, NEVER):
        pass  # they are counted
    begin = time.monotonic()
    with workers(1, Deadline.after(0.5)) as (worker,):
        assert worker.run(Asleep(16)) is None
        assert time.monotonic() - begin < 10
    with workers(1, Deadline.after(-5)) as (worker,):
        assert worker.run(Asleep(0)) is None


def test_killed_workers_end_at_once_and_do_nothing_more(session):
    with SparkWorkers(session, [])(1, NEVER) as (worker,):
        begin = time.monotonic()
        threading.Timer(2.0, worker.kill).start()
        assert worker.run(Asleep(16)) is None
        assert worker.run(Asleep(0)) is None
    assert time.monotonic() - begin < 14


@pytest.mark.skipif(not IS_SAIL, reason="is of Sail")
def test_sail_has_no_workers_since_its_tasks_share_one_process(remote):
    assert remote.can.workers is None


@pytest.mark.parametrize("cores", [1, 10_000])
def test_a_plan_refines_on_executors_where_they_have_more_cores(session, monkeypatch, cores):
    random, done = np.random.default_rng(1), []
    columns = {name: random.integers(0, 9, 400) for name in ("age", "children")}
    rows = pyarrow.table(columns)
    hierarchies = dict.fromkeys(columns, Hierarchy.intervals(3, 9))
    policy = Policy(quasi_identifiers=hierarchies, models=[KAnonymity(2)])
    asked = {"method": "anytime", "block_records": 128, "seed": 3}
    here = sqlanon.plan(rows, policy, **asked)

    run = SparkWorker.run
    monkeypatch.setattr(SparkWorker, "run", lambda own, job: done.append(job) or run(own, job))
    monkeypatch.setattr(Calls, "is_sail", False)
    monkeypatch.setattr(SparkWorkers, "_counted", lambda *_: 2)
    monkeypatch.setattr(Options, "processes", cores)
    there = sqlanon.plan(session, policy, table=session.createDataFrame(rows), **asked)
    assert bool(done) == (cores == 1)
    assert there.report.loss == here.report.loss
    assert there.report.search.clusters == here.report.search.clusters


def test_blocks_of_a_table_that_does_not_come_here_are_improved_on_executors(session, monkeypatch):
    random, done = np.random.default_rng(1), []
    columns = {name: random.integers(0, 15, 200) for name in ("age", "children")}
    frame = session.createDataFrame(pyarrow.table(columns))
    policy = Policy(dict.fromkeys(columns, Hierarchy.intervals(3, 9)), models=[KAnonymity(2)])
    asked = {"method": "anytime", "block_records": 150, "passes": 4, "local_rows": 100}
    monkeypatch.setattr("sqlanon.methods.clustering.first.REFINED_RECORDS", 32)
    here = sqlanon.plan(session, policy, table=frame, **asked)

    run = SparkWorker.run
    monkeypatch.setattr(SparkWorker, "run", lambda own, job: done.append(job) or run(own, job))
    monkeypatch.setattr(Calls, "is_sail", False)
    monkeypatch.setattr(SparkWorkers, "_counted", lambda *_: 2)
    monkeypatch.setattr(Options, "processes", 1)
    there = sqlanon.plan(session, policy, table=frame, **asked)
    assert len(done) > 4
    assert all(task.combination is not None for task in done)
    assert there.recoding == here.recoding
