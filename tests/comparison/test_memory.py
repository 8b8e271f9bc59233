"""Peak memory is what the kernel says, from the point on where it is begun anew."""

import numpy as np
import pytest

from sqlanon.comparison import comparing

MB = 1_000_000


@pytest.fixture
def begun():
    if not comparing.begin_peak():
        pytest.skip("the system's kernel cannot begin a peak anew")


@pytest.mark.slow
def test_a_peak_holds_what_was_given_back(begun):
    before = comparing.memory("VmHWM")
    block = np.ones(100 * MB, np.int8)
    del block
    assert 80 * MB < comparing.memory("VmHWM") - before < 150 * MB
    assert comparing.memory("VmRSS") < before + 50 * MB


@pytest.mark.slow
def test_a_peak_that_is_begun_anew_forgets(begun):
    before = comparing.memory("VmRSS")
    block = np.ones(100 * MB, np.int8)
    del block
    comparing.begin_peak()
    assert comparing.memory("VmHWM") < before + 50 * MB


def test_a_system_that_does_not_tell_gives_no_figure(monkeypatch, tmp_path):
    monkeypatch.setattr(comparing, "_PEAK", tmp_path / "missing" / "clear_refs")
    monkeypatch.setattr(comparing, "_STATUS", tmp_path / "status")
    assert comparing.begin_peak() is False
    assert (comparing.memory("VmHWM"), comparing.memory("VmRSS")) == (None, None)
