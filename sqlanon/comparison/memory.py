"""Memory of this process: what the kernel knows of its peak, and how to have it begin anew."""

from __future__ import annotations

import gc
from pathlib import Path

_STATUS = Path("/proc/self/status")
_PEAK = Path("/proc/self/clear_refs")
_RESET = "5"  # proc(5): the peak resident set becomes the present one


def begin_peak() -> bool:
    """Has the peak begin at what the process holds now; whether the kernel can do that."""
    gc.collect()
    try:
        _PEAK.write_text(_RESET)
    except OSError:
        return False
    return _figure("VmHWM") is not None


def peak() -> int | None:
    """Most memory that the process has held since `begin_peak` [bytes]; None where unknown."""
    return _figure("VmHWM")


def held() -> int | None:
    """Memory that the process holds [bytes]; None where unknown."""
    return _figure("VmRSS")


def _figure(name: str) -> int | None:
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024  # the kernel counts in kB
    return None
