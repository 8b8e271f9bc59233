"""Programs of pools, solved with HiGHS.

The linear relaxation comes first. Variables that it prices above what is still to be gained are 0
in every better solution; without them the whole program is a small one, whose presolving would
otherwise take most of the time. Of those that are left the dearest are cut off even so where they
are many, so the best solution may be missed.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

from sqlanon.search.arrays import Flags, Reals
from sqlanon.search.clustering.repartition.programs import RepartitionProgram

NODES = 50
"""Most nodes of branch and bound."""
VARIABLES = 400
"""Most variables of a program beside those of its start, those of the least reduced costs."""
WORTH = 1e-7
"""Smallest part of what is lost whose gain is looked for, and the gap of branch and bound."""


def solved(program: RepartitionProgram, seconds: float) -> Reals:
    """The best solution found within `NODES` nodes and so many seconds; its start for none."""
    highspy: Any = import_module("highspy")  # heavy, and an extra
    every = np.ones(len(program.cost), np.bool_)
    solver = _solver(highspy, program, every, seconds=seconds)
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("solve_relaxation", True)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return program.start
    relaxed = solver.getSolution()
    values, reduced = np.array(relaxed.col_value), np.array(relaxed.col_dual)
    gap = 1 - solver.getInfo().objective_function_value
    if gap < WORTH:
        return program.start
    if np.abs(values - np.rint(values))[program.whole].max(initial=0) < 1e-6:
        found: Reals = np.rint(values)
        return found
    if len(reduced) > VARIABLES:
        gap = min(gap, float(np.partition(reduced, VARIABLES)[VARIABLES]))
    kept = (reduced <= gap) | (program.start > 0)
    solver = _solver(highspy, program, kept, seconds=seconds)
    places = np.flatnonzero(kept).astype(np.int32)
    solver.setSolution(len(places), np.arange(len(places), dtype=np.int32), program.start[kept])
    solver.run()
    if solver.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return program.start
    best = np.zeros(len(program.cost))
    best[places] = solver.getSolution().col_value
    return best


def _solver(highspy: Any, program: RepartitionProgram, kept: Flags, *, seconds: float) -> Any:
    """A solver with some variables of a program, whose start costs 1."""
    solver = highspy.Highs()
    settings: dict[str, bool | int | float] = {
        "output_flag": False,
        "threads": 1,  # the same result on every machine
        "mip_max_nodes": NODES,
        "mip_rel_gap": WORTH,
        "mip_abs_gap": WORTH,  # of a start that costs 1
        "mip_detect_symmetry": False,
        "mip_heuristic_run_feasibility_jump": False,
    }
    if seconds < math.inf:
        settings["time_limit"] = max(seconds, 0.0)
    for name, value in settings.items():
        solver.setOptionValue(name, value)
    scale = max(float(program.cost @ program.start), 1.0)
    own, place = kept[program.variable], np.cumsum(kept) - 1
    variable = place[program.variable[own]]
    variables, rows, none = int(kept.sum()), len(program.low), np.zeros(0, np.int32)
    starts = np.searchsorted(variable, np.arange(variables)).astype(np.int32)
    solver.passModel(
        *(variables, rows, len(variable), 0),
        *(1, 1, 1, 0.0),  # by variables, no squares, minimize, from 0
        *(program.cost[kept] / scale, np.zeros(variables), program.most[kept]),
        *(program.low, program.high),
        *(starts, program.row[own].astype(np.int32), program.value[own]),
        *(none, none, none.astype(np.float64)),
        program.whole[kept].astype(np.int32),
    )
    return solver
