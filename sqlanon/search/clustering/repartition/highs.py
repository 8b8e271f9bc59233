"""Programs of pools, solved with HiGHS."""

from __future__ import annotations

import math
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from sqlanon.search.arrays import Reals
from sqlanon.search.clustering.repartition.programs import RepartitionProgram

NODES = 50
"""Most nodes of branch and bound; the time is for the solver's share of a deadline alone."""


def has_solver() -> bool:
    """Whether HiGHS is installed."""
    return find_spec("highspy") is not None


def solved(program: RepartitionProgram, seconds: float) -> Reals:
    """The best solution found within `NODES` nodes and so many seconds; its start for none."""
    highspy: Any = import_module("highspy")  # heavy, and an extra
    solver = highspy.Highs()
    settings: dict[str, bool | int | float] = {
        "output_flag": False,
        "threads": 1,  # the same result on every machine
        "mip_max_nodes": NODES,
        "mip_detect_symmetry": False,
        "mip_heuristic_run_feasibility_jump": False,
    }
    if seconds < math.inf:
        settings["time_limit"] = max(seconds, 0.0)
    for name, value in settings.items():
        solver.setOptionValue(name, value)
    scale = max(float(program.cost @ program.start), 1.0)
    variables, rows, none = len(program.cost), len(program.low), np.zeros(0)
    starts = np.searchsorted(program.variable, np.arange(variables)).astype(np.int32)
    solver.passModel(
        *(variables, rows, len(program.value), 0),
        *(1, 1, 1, 0.0),  # by variables, no squares, minimize, from 0
        *(program.cost / scale, np.zeros(variables), program.most, program.low, program.high),
        *(starts, program.row.astype(np.int32), program.value),
        *(none.astype(np.int32), none.astype(np.int32), none),
        program.whole.astype(np.int32),
    )
    solver.setSolution(variables, np.arange(variables, dtype=np.int32), program.start)
    solver.run()
    info = solver.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return program.start
    return np.array(solver.getSolution().col_value)
