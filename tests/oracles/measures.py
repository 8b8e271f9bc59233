"""Every measure by its formula alone, over lists of records."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from databases import insert

from sqlanon.loss.cells import CELL_MEASURES

STAR = "*"


def label(tree, value, level):
    """The label of a value's node."""
    return next(row[level] for row in tree if row[0] == value)


def values_under(tree, value, level):
    """The set of values of a value's node."""
    return frozenset(row[0] for row in tree if row[level] == label(tree, value, level))


def full_domain(table, node):
    """Per record the levels that a node of the lattice publishes it at; None where suppressed."""
    rows = [
        tuple(label(t, v, n) for t, v, n in zip(table["trees"], record, node, strict=True))
        for record in table["records"]
    ]
    sizes = Counter(rows)
    return [node if sizes[row] >= table["k"] else None for row in rows]


def in_groups(table, groups):
    """A table that is published in groups of values: its trees, and the levels of each record.

    A column whose published groups all are nodes keeps its tree; any other has one of its groups.

    Args:
        table: The table.
        groups: Per column the group of each value, as a set of values.

    Returns:
        The table with these trees, the levels of each record (None where suppressed), and whether
        any column has another tree.
    """
    rows = [tuple(own[v] for own, v in zip(groups, r, strict=True)) for r in table["records"]]
    sizes = Counter(rows)
    kept = [sizes[row] >= table["k"] for row in rows]
    trees, at = [], []
    for column, (tree, own) in enumerate(zip(table["trees"], groups, strict=True)):
        nodes = {
            values_under(tree, path[0], level): level
            for level in reversed(range(len(tree[0])))
            for path in tree
        }
        if {row[column] for row, is_kept in zip(rows, kept, strict=True) if is_kept} <= set(nodes):
            trees.append(tree)
            at.append(nodes)
        else:
            numbers = {group: str(n) for n, group in enumerate(dict.fromkeys(own.values()))}
            trees.append([(path[0], numbers[own[path[0]]], STAR) for path in tree])
            at.append({group: int(len(group) > 1) for group in numbers})
    levels = [
        tuple(own[group] for own, group in zip(at, row, strict=True)) if is_kept else None
        for row, is_kept in zip(rows, kept, strict=True)
    ]
    return {**table, "trees": trees}, levels, trees != table["trees"]


def released_rows(table, levels):
    """The labels of each record as published; None where suppressed."""
    return [
        None
        if place is None
        else tuple(label(t, v, n) for t, v, n in zip(table["trees"], record, place, strict=True))
        for record, place in zip(table["records"], levels, strict=True)
    ]


def entropy(values):
    """Entropy of a list of values [bits]."""
    total = len(values)
    return -math.fsum(c / total * math.log2(c / total) for c in Counter(values).values())


def cell_loss(name, tree, under, level, *, value=None, held=()):
    """What a published cell loses: the one formula of each loss that adds up over cells.

    Args:
        name: The loss.
        tree: The rows of the hierarchy.
        under: The values that it stands for.
        level: Its level; of a group that is no node whether it is more than a value.
        value: What it held.
        held: What all cells of the column held.
    """
    if name == "lm":
        return Fraction(len(under) - 1, len(tree) - 1) if len(tree) > 1 else Fraction(0)
    if name in ("tree", "precision"):
        return Fraction(level, len(tree[0]) - 1)
    if name == "suppressed-cells":
        return Fraction(level > 0 and len(under) == len(tree))
    if name == "entropy":
        return entropy([v for v in held if v in under])
    if name == "monotone-entropy":
        return min(
            entropy([v for v in held if v in values_under(tree, value, above)])
            for above in range(level, len(tree[0]))
        )
    assert name == "hdm"
    rest = len(held) - held.count(value)
    return Fraction(sum(v in under for v in held) - held.count(value), rest) if rest else 0


def cell(table, name, column, value, level):
    """What one published cell loses."""
    tree, held = table["trees"][column], [record[column] for record in table["records"]]
    return cell_loss(name, tree, values_under(tree, value, level), level, value=value, held=held)


def lost_cell(table, name, column):
    """What one cell of a suppressed record loses."""
    if "entropy" in name:
        return entropy([record[column] for record in table["records"]])
    return 1


def cell_average(table, levels, name, penalty=None):
    """A measure of cells as the weighted average over all cells."""
    weights, total = table["weights"], []
    for number, (record, place) in enumerate(zip(table["records"], levels, strict=True)):
        for column, weight in enumerate(weights):
            if place is None:
                loss = lost_cell(table, name, column)
            elif penalty is not None:
                loss = penalty(number, column)
            else:
                loss = cell(table, name, column, record[column], place[column])
            total.append(weight * float(loss))
    return math.fsum(total) / sum(weights) / len(levels)


def purity_parts(rows, values, nulls):
    """Purity of the published classes, and of the table as one class."""
    counted = [(r, v) for r, v in zip(rows, values, strict=True) if nulls == "value" or v]
    if not counted:
        return 0.0, 0.0

    def pure(group):
        return sum((c / len(group)) ** 2 for c in Counter(group).values())

    whole = pure([v for _, v in counted])
    classes = {}
    for row, value in counted:
        classes.setdefault(row, []).append(value)
    lost = len(classes.pop(None, []))
    total = sum(len(group) * pure(group) for group in classes.values()) + lost * whole
    return total / len(counted), whole


def every_measure(table, levels, penalty=None):
    """All measures that apply, by name.

    Args:
        table: The table.
        levels: Per record the level of each column; None where suppressed.
        penalty: What a cell loses by hdm, where the release does not tell its value.
    """
    rows = released_rows(table, levels)
    sizes = Counter(row for row in rows if row is not None)
    n, lost, r = len(rows), rows.count(None), len(table["trees"])
    found = {name.replace("-", "_"): cell_average(table, levels, name) for name in CELL_MEASURES}
    found["suppressed_cells"] *= n * r
    found["hdm"] = cell_average(table, levels, "hdm", penalty)
    found["ambiguity"] = (
        sum(
            math.prod(
                len(tree) if place is None else len(values_under(tree, v, place[column]))
                for column, (tree, v) in enumerate(zip(table["trees"], record, strict=True))
            )
            for record, place in zip(table["records"], levels, strict=True)
        )
        / n
    )
    found["discernibility"] = sum(size * size for size in sizes.values()) + lost * n
    found["average_class_size"] = n / (len(sizes) * table["k"]) if sizes else math.inf
    types = [*sizes.values(), *([lost] if lost else [])]
    found["row_types"], found["average_row_type"] = len(types), n / len(types)
    found["maximum_row_type"] = max(types)
    found["usefulness"] = usefulness(table, levels, rows)
    found["classification"] = (
        n
        - sum(
            max(
                Counter(
                    c for c, own in zip(table["classes"], rows, strict=True) if own == row
                ).values()
            )
            for row in sizes
        )
    ) / n
    if table["sensitive"]:
        parts = [
            purity_parts(rows, values, nulls)
            for values, nulls in zip(table["sensitive"], table["nulls"], strict=True)
        ]
        found["purity"] = sum(pure for pure, _ in parts) / len(parts)
        gain = sum(pure - whole for pure, whole in parts) / len(parts)
        found["purity_gain"] = gain
        cost = found["tree"]
        found["utility"] = 0 if not cost else cost / gain if gain > 1e-12 else math.inf
    return found


def usefulness(table, levels, rows):
    """Average tuple diversity of the row types, suppressed records being one of them."""
    weights = table["weights"]
    types = {}
    for record, place, row in zip(table["records"], levels, rows, strict=True):
        if row is None:
            types[None] = len(weights)
            continue
        parts = [
            weight * len(values_under(tree, v, n)) / len(tree)
            for weight, tree, v, n in zip(weights, table["trees"], record, place, strict=True)
        ]
        types[row] = len(weights) * sum(parts) / sum(weights)
    return sum(types.values()) / len(types)


def create(connection, name, table, rows):
    """Writes a table of quasi-identifiers c0, c1, ... and the attributes beside them.

    Args:
        connection: Where to.
        name: The table.
        table: What is beside the quasi-identifiers.
        rows: Per record its quasi-identifiers; None for a record that is left out.
    """
    columns = [f"c{i}" for i in range(len(table["trees"]))]
    columns += [f"s{i}" for i in range(len(table["sensitive"]))] + ["class"]
    typed = ", ".join(f'"{column}" VARCHAR' for column in columns)
    connection.execute(f'CREATE OR REPLACE TABLE "{name}" ({typed})')
    beside = [*table["sensitive"], table["classes"]]
    kept = [
        [*row, *(values[i] for values in beside)] for i, row in enumerate(rows) if row is not None
    ]
    insert(connection, f'"{name}"', kept)
