"""Random columns and tables under schemes, each also as its definition has it."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from oracles.schemes import FIGURE_1, Table, Values
from strategies import hierarchies

from benchmarks.prunings import Prunings
from sqlanon import AlphaAnonymity, LDiversity
from sqlanon.hierarchy.tree import Tree
from sqlanon.policy.schemes import SCHEMES
from sqlanon.search.lattice.schemes.domain import Domain
from sqlanon.search.lattice.schemes.scheme_problem import CellPrices, SchemeProblem
from sqlanon.search.privacy import Demands, ValueDemand


def figure_1(scheme):
    """The source's Figure 1, each value held by a record."""
    return domain_of(Values(FIGURE_1, [1] * 8, (0, 2)), scheme)


def flat(scheme, units):
    """So many values below one node."""
    return domain_of(line(units, [1] * units), scheme)


def line(units, counts):
    """So many values below one node, with their records."""
    return Values([(str(unit), "*") for unit in range(units)], counts, (0, 1))


def domain_of(values, scheme):
    """The domain of a column's values."""
    tree = Tree.grow("any", values.rows)
    return Domain.of(scheme, tree, values.counts, levels=values.levels)


@st.composite
def columns(draw, most=7, height=3):
    """The values of a column; some are not held, and levels may be left out."""
    rows = draw(hierarchies(leaves=most, height=height, nulls=False))
    counts = [draw(st.sampled_from([1, 1, 1, 2, 5, 0])) for _ in rows]
    counts[draw(st.integers(0, len(rows) - 1))] = 3
    top = len(rows[0]) - 1
    low = draw(st.sampled_from([0, 0, 0, 1]))
    high = draw(st.sampled_from([top, top, max(low, top - 1)]))
    return Values(rows, counts, (low, high))


@st.composite
def tables(draw, most=4, columns_most=3, schemes=tuple(SCHEMES)):
    """A table of up to three columns, some records, and what must hold of it."""
    drawn = draw(st.lists(columns(most=most, height=3), min_size=1, max_size=columns_most))
    units = [st.integers(0, len(column.units) - 1) for column in drawn]
    records = draw(
        st.lists(
            st.tuples(*units, st.integers(0, 2)), min_size=2, max_size=draw(st.integers(4, 14))
        )
    )
    held = [counted(column, records, number) for number, column in enumerate(drawn)]
    kept = [sorted({record[number] for record in records}) for number in range(len(drawn))]
    places = [{unit: place for place, unit in enumerate(own)} for own in kept]
    return Table(
        held,
        [draw(st.sampled_from(schemes)) for _ in drawn],
        [(*(p[u] for p, u in zip(places, r, strict=False)), r[-1]) for r in records],
        k=draw(st.integers(1, 4)),
        allowance=int(draw(st.sampled_from([0, 0.2, 1])) * len(records)),
        diverse=draw(st.sampled_from([1, 1, 2])),
        share=draw(st.sampled_from([1, 1, 0.75, 0.5])),
    )


def counted(values, records, number):
    """A column with the records of a table: each unit's at the first of its leaves."""
    low, _ = values.levels
    first = {}
    for place, (row, count) in enumerate(zip(values.rows, values.counts, strict=True)):
        if count:
            first.setdefault(tuple(row[low:]), place)
    counts = [0] * len(values.rows)
    for unit, path in enumerate(values.units):
        counts[first[path]] = sum(record[number] == unit for record in records)
    return Values(values.rows, counts, values.levels)


def problem_of(table, loss):
    """The same as a problem."""
    pairs = zip(table.columns, table.schemes, strict=True)
    domains = tuple(domain_of(column, scheme) for column, scheme in pairs)
    share = Fraction(1, len(domains))
    n = len(table.records)
    prices = (
        None
        if loss == "discernibility"
        else CellPrices.of(loss, shares=[share] * len(domains), records=n)
    )
    distinct, sizes = np.unique(np.array(table.records), axis=0, return_counts=True)
    return SchemeProblem(
        domains,
        distinct[:, :-1],
        sizes,
        table.k,
        table.allowance,
        prices,
        demands_of(distinct[:, -1:], sizes, table=table),
    )


def demands_of(values, sizes, *, table):
    """The models beyond k; the second does not survive records that are added to a class."""
    models = [LDiversity(table.diverse)] if table.diverse > 1 else []
    models += [AlphaAnonymity(table.share)] if table.share < 1 else []
    if not models:
        return None
    numbers = np.unique(values, return_inverse=True)[1].reshape(values.shape)
    held = np.bincount(numbers[:, 0], sizes).astype(np.int64)
    return Demands(numbers, tuple(ValueDemand(0, model, held) for model in models))


prunings = st.builds(
    Prunings,
    node=st.booleans(),
    useless=st.booleans(),
    useful=st.booleans(),
    random=st.sampled_from([0, 3]),
    simpler=st.booleans(),
    again=st.booleans(),
    nodes=st.booleans(),
    applicators=st.booleans(),
)
