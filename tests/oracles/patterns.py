"""Tables for pattern searches, and every assignment of patterns tried out."""

import numpy as np

from sqlanon.methods.patterns.pattern_problem import PatternProblem
from sqlanon.search.patterns import DistinctRows, pattern_order
from sqlanon.search.privacy import Demands, ValueDemand


def table_of(rows, kept, k, values=None, models=()):
    """A table of plain rows, with patterns given as sets of kept columns, and sensitive values."""
    numbers = [0] * len(rows) if values is None else np.unique(values, return_inverse=True)[1]
    records = list(zip(rows, map(int, numbers), strict=True))
    told = sorted(set(records))
    distinct = [row for row, _ in told]
    sizes = np.array([records.count(each) for each in told])
    whole = np.bincount(numbers)
    demands = Demands(
        np.array([[value] for _, value in told]),
        tuple(ValueDemand(0, model, whole) for model in models),
    )
    width = len(distinct[0])
    values = [sorted({row[c] for row in distinct}) for c in range(width)]
    leaves = np.array([[values[c].index(row[c]) for c in range(width)] for row in distinct])
    nodes = [tuple(int(c not in own) for c in range(width)) for own in kept]
    order = pattern_order(
        np.array(nodes), np.array([sum(node) for node in nodes]), tops=[1] * width
    )
    nodes = np.array(nodes)[order]
    # Eight bits a column, seven columns a word.
    words = (width - 1) // 7 + 1
    codes, masks = np.zeros((len(distinct), words), int), np.zeros((len(nodes), words), int)
    for c in range(width):
        codes[:, c // 7] |= leaves[:, c] << 8 * (c % 7)
        masks[:, c // 7] |= np.where(nodes[:, c] == 0, 255 << 8 * (c % 7), 0)
    costs = tuple(np.array([[0] * len(own), [1] * len(own)]) for own in values)
    own = DistinctRows(codes, sizes, demands if models else None)
    tops, one = np.ones(width, int), np.zeros(len(distinct), int)
    return PatternProblem(own, nodes, masks, costs, leaves, tops, one, k, width, width)


def assignment(parts, table):
    """Records left over, and suppressed cells of all records, of an assignment."""
    left = parts.pattern < 0
    stars = np.where(left, len(table.tops), table.nodes[parts.pattern].sum(axis=1))
    return int(parts.count[left].sum()), int((stars * parts.count).sum())


def brute_force(rows, kept, k, values=None, models=(), limit=0):
    """The fewest suppressed cells of all that may be published; None where nothing may be.

    A record goes to a pattern, loses all cells, or is left out, which at most `limit` records are.
    Every assignment is tried, record by record; those that agree on the classes that a later record
    may join are continued once, from the cheapest.
    """
    numbers = [0] * len(rows) if values is None else np.unique(values, return_inverse=True)[1]
    whole = np.bincount(numbers)
    demands = [ValueDemand(0, model, whole) for model in models]
    choices, width = {*kept, frozenset()}, len(rows[0])

    def joined(row):
        return {own: (own, tuple(row[c] for c in sorted(own))) for own in choices}

    def holds(counts):
        own = np.array(counts)
        return own.sum() >= k and all(demand.holds(own[np.newaxis])[0] for demand in demands)

    least = {(frozenset(), 0): 0}
    for place, (row, value) in enumerate(zip(rows, numbers, strict=True)):
        open_later = {key for later in rows[place + 1 :] for key in joined(later).values()}
        found = {}
        for (classes, dropped), stars in least.items():
            after = [(dict(classes), dropped + 1, stars + width)]
            for own, key in joined(row).items():
                counts = list(dict(classes).get(key, (0,) * len(whole)))
                counts[value] += 1
                after.append(
                    (dict(classes) | {key: tuple(counts)}, dropped, stars + width - len(own))
                )
            for sizes, gone, cost in after:
                closed = [counts for key, counts in sizes.items() if key not in open_later]
                if gone > min(limit, len(rows) - 1) or not all(map(holds, closed)):
                    continue
                state = frozenset(each for each in sizes.items() if each[0] in open_later), gone
                found[state] = min(cost, found.get(state, cost))
        least = found
    return min(least.values(), default=None)


def tight(m):
    """The table on which the heuristic is worst, of m columns and k = m, with its patterns.

    Those that suppress nothing, a single column or all of them. With all patterns the heuristic
    would suppress two columns of nearly every record, which makes k records alike already.
    """
    rows = [(0,) * m] * m
    for column in range(m):
        for number in range(1, m):
            rows.append(tuple(number if c == column else 0 for c in range(m)))
    every = frozenset(range(m))
    return rows, [every, *(every - {column} for column in range(m)), frozenset()]


def covering(sets, universe):
    """Rows and patterns for which few suppressed cells need few sets that cover a universe."""
    fresh = iter(range(1000, 10**6))
    rows = [(u, next(fresh), next(fresh)) for u in universe for _ in range(2)]
    rows += [(u, 500 + number, 500 + number) for number, own in enumerate(sets) for u in own]
    return rows, [frozenset({0}), frozenset({1, 2})]
