"""How many of the machine's cores a benchmark uses, however many the engines in it count."""

import os
from contextlib import contextmanager

CAN_LIMIT = hasattr(os, "sched_setaffinity")


def available():
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if CAN_LIMIT else os.cpu_count() or 1


@contextmanager
def limited(cores):
    """Keeps threads and programs that begin inside to so many cores, where the system can."""
    if cores > available():
        raise SystemExit(f"--cores {cores}: this process may use {available()}")
    if not CAN_LIMIT:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
