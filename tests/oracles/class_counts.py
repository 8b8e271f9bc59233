"""The classes of a node, counted from its labels alone, and the objective of a loss."""

from collections import Counter

from sqlanon.loss.objectives import (
    CellObjective,
    ClassCounts,
    ClassSizeObjective,
    DiscernibilityObjective,
)


def places_of(nodes, record, node):
    """The places of a record's nodes: what leaves become, `nodes[column][level][leaf]`."""
    return tuple(
        column[level][leaf] for column, level, leaf in zip(nodes, node, record, strict=True)
    )


def price_at(node, costs):
    """What a record costs at a node by the places of its nodes, `costs[column][level][place]`."""

    def price(places):
        cells = zip(costs, node, places, strict=True)
        return sum(column[level][place] for column, level, place in cells)

    return price


def class_counts(labels, k, price=None):
    """What a query counts of a node.

    Args:
        labels: The generalized record of every record.
        k: Smallest class size allowed.
        price: What a record with these labels costs; None for losses that count no cells.
    """
    sizes = Counter(labels)
    small = {label: size for label, size in sizes.items() if size < k}
    return ClassCounts(
        classes=len(sizes),
        small_classes=len(small),
        small_records=sum(small.values()),
        squares=sum(size * size for size in sizes.values()),
        small_squares=sum(size * size for size in small.values()),
        small_cost=sum(size * price(label) for label, size in small.items()) if price else 0,
    )


def cell_floor(costs, nodes, records):
    """Per column and level what its cells cost where no other column is published.

    Args:
        costs: What a cell costs, `costs[column][level][place]`.
        nodes: What leaves become, `nodes[column][level][leaf]`.
        records: The leaves of every record.
    """
    return tuple(
        tuple(
            sum(prices[places[record[number]]] for record in records)
            for prices, places in zip(column, levels, strict=True)
        )
        for number, (column, levels) in enumerate(zip(costs, nodes, strict=True))
    )


def objective_of(loss, records, *, k, floor, costs=None):
    """The objective of a loss.

    Args:
        loss: Its name.
        records: How many there are.
        k: Smallest class size allowed.
        floor: Per column and level what the loss is never less than.
        costs: The `CellCosts` of a loss of cells.
    """
    if costs is not None:
        return CellObjective(costs.unit, records, floor, costs.scale)
    if loss == "discernibility":
        return DiscernibilityObjective(records, floor)
    return ClassSizeObjective(records, k, floor)
