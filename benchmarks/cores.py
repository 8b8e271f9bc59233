"""How many of the machine's cores a benchmark uses, and what the programs that it begins take."""

import os
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

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


def followed(call, cores):
    """The end of a program, and the most memory that it and its children had at once [GB]."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as told:
        with limited(cores):
            begun, most = subprocess.Popen(call, stdout=out, stderr=told), 0
        while begun.poll() is None:
            most = max(most, sum(map(memory_of, family(begun.pid))))
            time.sleep(1.0)
        out.seek(0)
        told.seek(0)
        return begun.returncode, out.read(), told.read(), most / 2**20


def family(pid):
    """A process and its descendants."""
    yield pid
    try:
        threads = Path(f"/proc/{pid}/task").iterdir()
        children = " ".join((each / "children").read_text() for each in threads)
    except OSError:
        return
    for child in children.split():
        yield from family(int(child))


def processor(pid):
    """Processor seconds of a process and its descendants, ended ones included."""
    total = 0
    for each in family(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def memory_of(pid):
    """Memory of a process, its share of what it has in common with others [kB]."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
