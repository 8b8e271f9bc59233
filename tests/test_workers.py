"""That what goes to another process means the same there."""

import pickle
import time

import pytest

from sqlanon.deadline import NEVER, Deadline


@pytest.mark.parametrize("clock", [time.monotonic, time.process_time])
def test_a_deadline_elsewhere_comes_after_the_time_that_is_left(clock, monkeypatch):
    assert pickle.loads(pickle.dumps(NEVER)) == NEVER
    sent = pickle.dumps(Deadline(clock() + 50.0, clock))
    monkeypatch.setattr(time, clock.__name__, lambda: 1e6)  # that of another machine
    assert 49.0 < pickle.loads(sent).left() <= 50.0
