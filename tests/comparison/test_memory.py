"""Peak memory is what the kernel says, from the point on where it is begun anew."""

import numpy as np
import pytest

from sqlanon.comparison import memory

MB = 1_000_000


@pytest.fixture
def begun():
    if not memory.begin_peak():
        pytest.skip("the system's kernel cannot begin a peak anew")


@pytest.mark.slow
def test_a_peak_holds_what_was_given_back(begun):
    before = memory.peak()
    block = np.ones(100 * MB, np.int8)
    del block
    assert 80 * MB < memory.peak() - before < 150 * MB
    assert memory.held() < before + 50 * MB


@pytest.mark.slow
def test_a_peak_that_is_begun_anew_forgets(begun):
    before = memory.held()
    block = np.ones(100 * MB, np.int8)
    del block
    memory.begin_peak()
    assert memory.peak() < before + 50 * MB


def test_a_system_that_does_not_tell_gives_no_figure(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_PEAK", tmp_path / "missing" / "clear_refs")
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "status")
    assert memory.begin_peak() is False
    assert (memory.peak(), memory.held()) == (None, None)
