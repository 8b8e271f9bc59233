"""Random hierarchies, records, policies and tables that several tests draw."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from oracles.covers import Distinct, limited, problem_of
from oracles.lattice import JOBS, LOSSES, Case
from oracles.models import DRAWN, OF_ALL

from sqlanon import (
    Hierarchy,
    KAnonymity,
    Policy,
    QuasiIdentifier,
    Sensitive,
    SubsetAnonymity,
)
from sqlanon.hierarchy.tree import Tree
from sqlanon.policy.privacy import LDiversity, TCloseness
from sqlanon.search.privacy import Demands, ValueDemand

ROOT = "*"
weights = st.sampled_from([1.0, 2.0, 0.5, 0.1, 3.7])


@st.composite
def hierarchies(draw, name="v", *, leaves=5, height=3, nulls=True, repeats=True, shared=False):
    """Rows of a random laminar tree whose nodes join neighbouring leaves.

    Args:
        name: What leaves and nodes are called by.
        leaves: At most so many.
        height: At most so many levels above the leaves.
        nulls: Whether a leaf may be NULL.
        repeats: Whether a node that nothing joins may keep its label a level up.
        shared: Whether nodes of two levels bear one label where they begin at the same leaf.
    """
    rows = [[f"{name}{leaf}"] for leaf in range(draw(st.integers(1, leaves)))]
    if nulls and draw(st.booleans()):
        rows[draw(st.integers(0, len(rows) - 1))] = [None]
    groups = [[leaf] for leaf in range(len(rows))]
    for level in range(1, draw(st.integers(1, height))):
        merged = []
        for group in groups:
            if merged and draw(st.booleans()):
                merged[-1] += group
            else:
                merged.append([*group])
        groups = merged
        for group in groups:
            below = {rows[leaf][-1] for leaf in group}
            same = repeats and len(below) == 1 and None not in below and draw(st.booleans())
            own = f"{name} from {group[0]}" if shared else f"{name} {level} {group[0]}"
            label = below.pop() if same else own
            for leaf in group:
                rows[leaf].append(label)
    return [(*row, ROOT) for row in rows]


def trees(leaves=8):
    """Random trees; nodes of two levels may bear one label."""
    rows = hierarchies(leaves=leaves, nulls=False, repeats=False, shared=True)
    return rows.map(lambda drawn: Tree.grow("any", drawn))


def records_of(hierarchies, *beside, least=1, most=12):
    """Records over the leaves of hierarchies, with further cells beside."""
    leaves = [st.sampled_from([row[0] for row in rows]) for rows in hierarchies]
    return st.lists(st.tuples(*leaves, *beside), min_size=least, max_size=most)


@st.composite
def level_bounds(draw, rows):
    """The lowest and the highest level allowed of a hierarchy, mostly all of it."""
    height = len(rows[0]) - 1
    low = draw(st.sampled_from([0, 0, 0, 1]))
    return low, draw(st.sampled_from([height, height, max(low, height - 1)]))


@st.composite
def demands(draw):
    """A model and what it is about: 0 for job, 1 for pay, which has no hierarchy."""
    model = draw(DRAWN)
    about = draw(st.sampled_from([0, 1]))
    in_tree = isinstance(model, TCloseness) and model.distance == "hierarchical"
    return (0 if in_tree else about), model


@st.composite
def cases(draw):
    """Tables of up to 14 records, with one or two models beyond k."""
    columns = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    jobs = st.sampled_from([*(row[0] for row in JOBS), "boss"])
    pays = st.sampled_from([1, 2, 3, 3, 7, None])
    records = draw(records_of(columns, jobs, pays, st.integers(0, 5), most=14))
    return Case(
        trees=columns,
        bounds=[draw(level_bounds(rows)) for rows in columns],
        weights=[draw(weights) for _ in columns],
        records=records,
        k=draw(st.integers(1, min(3, len(records)))),
        limit=draw(st.sampled_from([0.0, 0.0, 0.1, 0.25, 0.5, 0.9, 1.0])),
        loss=draw(st.sampled_from(LOSSES)),
        models=draw(st.lists(demands(), min_size=1, max_size=2)),
        nulls=tuple(draw(st.sampled_from(["value", "value", "none"])) for _ in range(2)),
        persons=draw(st.sampled_from([False, False, True])),
        suppressed=draw(st.sampled_from(["drop", "drop", "keep"])),
    )


@st.composite
def whole_cases(draw):
    """Such tables of up to 28 records, with one or two models of all classes together.

    Beside these are none to two others.
    """
    case, whole = draw(cases()), draw(st.lists(OF_ALL, min_size=1, max_size=2))
    again = draw(st.lists(st.sampled_from(case.records), max_size=14))
    width = len(case.trees)
    whole = [
        SubsetAnonymity(min(each.subsets, width), each.k) if hasattr(each, "subsets") else each
        for each in whole
    ]
    others = draw(st.sampled_from([[], [], case.models]))
    k = draw(st.sampled_from([1, 1, case.k]))
    limit = draw(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]))
    own = replace(case, whole=tuple(whole), models=others, persons=False, k=k, limit=limit)
    return replace(own, records=[*case.records, *again])


@st.composite
def tables(draw, *, repeats=True):
    """A table: its trees, weights, records, and values of attributes beside them."""
    columns = [
        draw(hierarchies(name, repeats=repeats)) for name in "abc"[: draw(st.integers(1, 3))]
    ]
    records = draw(records_of(columns))
    values = st.sampled_from(["flu", "cough", "fever", None])
    attributes = draw(st.integers(0, 2))
    return {
        "trees": columns,
        "weights": [draw(weights) for _ in columns],
        "records": records,
        "sensitive": [[draw(values) for _ in records] for _ in range(attributes)],
        "nulls": [draw(st.sampled_from(["value", "none"])) for _ in range(attributes)],
        "classes": [draw(values) for _ in records],
        "k": draw(st.integers(1, min(4, len(records)))),
    }


@st.composite
def problems(draw, most=9, *, demanding=False):
    """Tables to cluster of two or three columns, of k to nine records."""
    k = draw(st.integers(1, 3))
    columns = draw(st.lists(hierarchies(leaves=4, height=2, nulls=False), min_size=2, max_size=3))
    rows = draw(records_of(columns, least=k, most=most))
    grown = [Tree.grow(f"column {place}", drawn) for place, drawn in enumerate(columns)]
    demand = None
    if demanding:
        demand = Distinct([draw(st.integers(0, 2)) for _ in rows], 2)
    return problem_of(rows, k, grown, draw(st.sampled_from(["lm", "tree"])), demand)


def as_model(problem):
    """The same problem, its demand of distinct values as the model that it is."""
    values = np.array(problem.demand.values)
    asked = ValueDemand(0, LDiversity(problem.demand.least), np.bincount(values, minlength=1))
    return replace(problem, demand=Demands(values[:, np.newaxis], (asked,)))


@st.composite
def bounded(draw, *, demanding=False):
    """Tables of up to seven records with highest levels and an allowance."""
    problem = draw(problems(most=7, demanding=demanding))
    tops = [len(taxonomy.ancestors) - 1 for taxonomy in problem.taxonomies]
    highest = tuple(draw(st.sampled_from([top, max(top - 1, 0)])) for top in tops)
    return limited(problem, highest, draw(st.integers(0, 3)))


def policy_of(table, node=None, **options):
    """The policy of a table, its levels fixed where a node is given."""
    attributes = {
        f"c{i}": QuasiIdentifier(
            Hierarchy.from_rows(tree),
            weight,
            *(() if node is None else (node[i], node[i])),
        )
        for i, (tree, weight) in enumerate(zip(table["trees"], table["weights"], strict=True))
    }
    sensitive = {f"s{i}": Sensitive(nulls=nulls) for i, nulls in enumerate(table["nulls"])}
    return Policy(
        attributes,
        sensitive=sensitive,
        keep=["class"],
        models=[KAnonymity(table["k"])],
        suppression_limit=1.0,
        **options,
    )
